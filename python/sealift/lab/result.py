"""What a run found: one row for each device on each piece of work."""

from dataclasses import dataclass
from enum import StrEnum

from sealift.lab.plan import Cell
from sealift.lab.stats import Interval, Trust, Verdict, trust
from sealift.lab.units import messages_per_s, payload_gb_per_s


class Origin(StrEnum):
    """Where a number comes from; the kinds are never mixed."""

    MEASURED = "measured"
    SIMULATED = "simulated"
    PROJECTED = "projected"
    PUBLISHED = "published"


@dataclass(frozen=True)
class Row:
    """What one device did with one piece of work.

    Attributes:
        workload: Name of the workload.
        device: Name of the device.
        size_bytes: Mean length of a text.
        keys: Key regime, as in `sessions:1024`.
        mix: Per cent of seals, opens and failing opens, as in `50/25/25`.
        threads: How many threads each worked all messages.
        batch: Messages handed over at once.
        ns_per_message: Wall-clock nanoseconds a message, all threads together; 95 % interval.
        reference: The device that this one is compared with, on the same work.
        ratio: Times as fast as the reference, paired by block, 95 % interval; None for the
            reference itself.
        verdict: On `ratio`, at the 99 % level; None for the reference itself.
        winner: No other device on this work was shown to be faster.
        noise_floor: A/A noise floor of this work, as a share.
        clean_share: Share of this device's samples that were clean, as `stats.Flags` has it; 0..1.
        machine_busy: Under half of the samples were clean, those of this device or those of all
            devices on this work.
        blocks: How many complete blocks were measured.
        origin: Where the numbers come from.
    """

    workload: str
    device: str
    size_bytes: float
    keys: str
    mix: str
    threads: int
    batch: int
    ns_per_message: Interval
    reference: str
    ratio: Interval | None
    verdict: Verdict | None
    winner: bool
    noise_floor: float
    clean_share: float
    machine_busy: bool
    blocks: int
    origin: Origin = Origin.MEASURED

    @property
    def messages_per_s(self) -> float:
        """Messages a second, all threads together."""
        return messages_per_s(self.ns_per_message.median)

    @property
    def payload_gb_per_s(self) -> float:
        """Text bytes a second in units of 10**9, all threads together."""
        return payload_gb_per_s(self.ns_per_message.median, self.size_bytes)

    @property
    def trust(self) -> Trust:
        """How far the noise floor lets the comparison be trusted."""
        return trust(self.noise_floor)

    @property
    def work(self) -> tuple[str, float, str, str, int, int]:
        """What tells one piece of work from another: equal for rows that may be compared."""
        return (self.workload, self.size_bytes, self.keys, self.mix, self.threads, self.batch)


class Ending(StrEnum):
    """How a run ended."""

    COMPLETE = "complete"
    TIME_UP = "time was up"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Result:
    """A run, summed up.

    Attributes:
        rows: One for each device and cell that has a complete block.
        ending: How the run ended.
        blocks_done: Complete blocks of all cells.
        blocks_planned: The same of the plan.
        unmeasured: Cells without a complete block: they have no rows.
        sample_s: Seconds a sample.
        seed: Of the order of the arms and of the bootstrap.
    """

    rows: tuple[Row, ...]
    ending: Ending
    blocks_done: int
    blocks_planned: int
    unmeasured: tuple[Cell, ...]
    sample_s: float
    seed: int

    @property
    def note(self) -> str:
        """What to say of a run that is partial; empty for a complete one."""
        if self.ending is Ending.COMPLETE:
            return ""
        blocks = f"{self.blocks_done:,} of {self.blocks_planned:,} blocks"
        missing = f"; work without a complete block, and so without a row: {len(self.unmeasured):,}"
        return f"Partial ({self.ending.value}): {blocks}{missing if self.unmeasured else ''}."
