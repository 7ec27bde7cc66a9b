"""The plan of a run: which device does which work, how often, and for how long."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sealift.lab.stats import blocks_needed, verdict_confidence
from sealift.lab.workload import Workload

# At least 1 ms a sample, or the timer and the wake-up weigh in; over a quarter of a second a
# sample buys less than another block does.
SAMPLE_S_MIN, SAMPLE_S_MAX = 0.001, 0.250
# The rest goes to finding the number of rounds, to cold starts and to slow last samples.
USABLE_SHARE = 0.85
QUICK_BUDGET_S = 60.0
BLOCKS = 30


@dataclass(frozen=True)
class Cell:
    """One piece of work that every device of the cell does.

    Attributes:
        workload: The messages.
        threads: How many threads each work all of them.
        batch: Messages handed over at once.
        devices: Who does it; the first is the reference, and the arm that is doubled.
    """

    workload: Workload
    threads: int
    batch: int
    devices: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuses a cell that can't be run."""
        if not self.devices:
            raise ValueError(f"no devices for {self.workload.name!r}; name at least one")
        if len(set(self.devices)) != len(self.devices):
            raise ValueError(f"a device is named twice in {', '.join(self.devices)}")
        for name, value in (("threads", self.threads), ("batch", self.batch)):
            if value < 1:
                raise ValueError(f"{name} of {value}; right would be 1 or more")


@dataclass(frozen=True)
class Arm:
    """One device on one cell; its place in `Plan.arms` is the number a sampler knows it by."""

    cell: Cell
    device: str


@dataclass(frozen=True)
class Plan:
    """A run that was thought through: what, how often, how long.

    Attributes:
        cells: The pieces of work, in the order of the result.
        blocks: How many blocks each cell gets when the time allows.
        sample_s: Seconds a sample.
        budget_s: Seconds after which no block is begun that would not end in time.
        seed: Of the order of the arms and of the bootstrap.
    """

    cells: tuple[Cell, ...]
    blocks: int
    sample_s: float
    budget_s: float
    seed: int

    @property
    def arms(self) -> tuple[Arm, ...]:
        """All arms, cell by cell."""
        return tuple(Arm(cell, device) for cell in self.cells for device in cell.devices)


def make_plan(
    cells: Sequence[Cell], *, budget_s: float = QUICK_BUDGET_S, blocks: int = BLOCKS, seed: int = 1
) -> Plan:
    """Shares a time budget out over cells, arms and blocks.

    Args:
        cells: What to run.
        budget_s: Seconds for everything that `measure` does.
        blocks: Blocks for each cell; fewer are planned where the samples would get too short.
        seed: Of the order of the arms and of the bootstrap.

    Returns:
        A plan whose samples last between 1 and 250 ms.

    Raises:
        ValueError: If there is nothing to run, or the budget is no time above 0 or can't hold the
            blocks that a verdict needs; the message then names the budget that would do.
    """
    if not cells:
        raise ValueError("no work to measure; name at least one size or workload and one device")
    if not 0 < budget_s < math.inf:
        raise ValueError(f"{budget_s:g} s of measuring; right would be a finite time above 0")
    if blocks < 1:
        raise ValueError(f"{blocks} blocks; right would be 1 or more, and 30 by default")
    samples_a_block = sum(len(cell.devices) + 1 for cell in cells)
    usable_s = budget_s * USABLE_SHARE
    fitting = int(usable_s / (samples_a_block * SAMPLE_S_MIN))
    least = min(blocks, blocks_needed(verdict_confidence(max(len(c.devices) for c in cells) - 1)))
    if fitting < least:
        needed_s = samples_a_block * SAMPLE_S_MIN * least / USABLE_SHARE
        raise ValueError(
            f"{budget_s:g} s is too short for {least} blocks of {samples_a_block:,} samples; "
            f"allow {needed_s:.1f} s, or name fewer sizes or devices"
        )
    blocks = min(blocks, fitting)
    sample_s = min(SAMPLE_S_MAX, usable_s / (samples_a_block * blocks))
    return Plan(tuple(cells), blocks, sample_s, budget_s, seed)
