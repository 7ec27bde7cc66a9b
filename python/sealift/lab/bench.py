"""The bench: takes the interleaved samples of a plan until the time is up, and sums them up.

The native code comes in through `Sampler` alone, so that tests run the same loop on made-up
clocks. Each block runs every arm of a piece of work once, in an order drawn by the seed, and its
first arm once more: those two runs of the same code are the A/A pair that prices the noise.
"""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from sealift.lab.plan import Arm, Cell, Plan
from sealift.lab.result import Ending, Result, Row
from sealift.lab.stats import (
    Flags,
    keep_clean,
    median_interval,
    noise_floor,
    speed_ratio,
    verdict,
    verdict_confidence,
    winners,
)


@dataclass(frozen=True)
class Sample:
    """What one timed sample of an arm gave.

    Attributes:
        ns: Wall-clock nanoseconds from the first thread's start to the last one's end.
        messages: How many messages were done in that time, by all threads together.
        bytes: Their text bytes.
        involuntary_switches: Times a measuring thread was taken off its core.
        cpu_share: Thread CPU time over wall time, the least of the threads.
        steal_ns: Time the hypervisor took meanwhile, in nanoseconds.
    """

    ns: int
    messages: int
    bytes: int
    involuntary_switches: int
    cpu_share: float
    steal_ns: int

    def __post_init__(self) -> None:
        """Refuses a sample from which no time a message follows."""
        for name, value in (("ns", self.ns), ("messages", self.messages)):
            if value <= 0:
                raise ValueError(f"a sample with {name} = {value}; the sampler must give above 0")

    @property
    def ns_per_message(self) -> float:
        """Wall-clock nanoseconds a message."""
        return self.ns / self.messages

    @property
    def flags(self) -> Flags:
        """What the system did to it; says when it is clean."""
        return Flags(self.ns, self.involuntary_switches, self.cpu_share, self.steal_ns)


class Sampler(Protocol):
    """The native side: holds the messages of every arm, checked and warm, ready to run."""

    def sample(self, arm: int, seconds: float) -> Sample:
        """Runs an arm for about `seconds` (at least a millisecond) and says how it went.

        Args:
            arm: Its place in `Plan.arms`.
            seconds: Seconds to run; how many rounds that takes is calibrated natively.
        """


@dataclass(frozen=True)
class Progress:
    """How far a run has come.

    Attributes:
        done: Samples taken.
        planned: Samples in the plan.
        left_s: Seconds until the plan is done or the time is up.
        arm: The arm that was sampled last.
    """

    done: int
    planned: int
    left_s: float
    arm: Arm


Block = tuple[Sample, ...]
"""One sample for each arm of a cell, in its order, and last the doubled first arm."""


@dataclass(frozen=True)
class Run:
    """The samples of a run.

    Attributes:
        plan: What was to be run.
        blocks: For each cell of the plan its complete blocks.
        ending: Whether it came to its planned end.
    """

    plan: Plan
    blocks: tuple[tuple[Block, ...], ...]
    ending: Ending


def measure(
    plan: Plan,
    sampler: Sampler,
    *,
    progress: Callable[[Progress], None] = lambda _: None,
    clock_s: Callable[[], float] = time.monotonic,
) -> Run:
    """Takes the samples of a plan, all cells block by block.

    Cells take turns, so that a run that ends early has measured all of them equally far. Ctrl-C
    (KeyboardInterrupt) and the end of the budget stop it; only complete blocks are kept.

    Args:
        plan: From `make_plan`.
        sampler: Knows the arms of `plan.arms` by number. Its errors end the run unchanged.
        progress: Called after every sample.
        clock_s: Seconds of a monotonic clock.
    """
    loop = _Loop(plan, sampler, progress, clock_s)
    try:
        ending = loop.run()
    except KeyboardInterrupt:
        ending = Ending.INTERRUPTED
    return Run(plan, tuple(tuple(blocks) for blocks in loop.blocks), ending)


def summarise(run: Run) -> Result:
    """Turns samples into rows: medians, ratios, noise floors and verdicts.

    Raises:
        ValueError: If not one block is complete.
    """
    plan = run.plan
    if not any(run.blocks):
        if run.ending is Ending.INTERRUPTED:
            raise ValueError("interrupted before the first block was complete; nothing to show")
        raise ValueError(
            f"no block was complete after {plan.budget_s:g} s ({run.ending.value}): "
            "allow more time, or name fewer sizes"
        )
    measured = [
        (cell, blocks) for cell, blocks in zip(plan.cells, run.blocks, strict=True) if blocks
    ]
    return Result(
        rows=tuple(row for cell, blocks in measured for row in _cell_rows(cell, blocks, plan.seed)),
        ending=run.ending,
        blocks_done=sum(len(blocks) for blocks in run.blocks),
        blocks_planned=plan.blocks * len(plan.cells),
        unmeasured=tuple(
            cell for cell, blocks in zip(plan.cells, run.blocks, strict=True) if not blocks
        ),
        sample_s=plan.sample_s,
        seed=plan.seed,
    )


class _Loop:
    """The state of `measure`: complete blocks so far, and what a block costs."""

    def __init__(
        self,
        plan: Plan,
        sampler: Sampler,
        progress: Callable[[Progress], None],
        clock_s: Callable[[], float],
    ) -> None:
        self.blocks: list[list[Block]] = [[] for _ in plan.cells]
        self._plan = plan
        self._sampler = sampler
        self._progress = progress
        self._clock_s = clock_s
        self._order = random.Random(plan.seed)
        self._arms = plan.arms
        self._first_arm = list(_first_arms(plan.cells))
        self._longest_s = [0.0] * len(plan.cells)
        self._done = 0
        self._planned = plan.blocks * sum(len(cell.devices) + 1 for cell in plan.cells)
        self._start_s = clock_s()

    def run(self) -> Ending:
        for _ in range(self._plan.blocks):
            for cell in range(len(self._plan.cells)):
                begin_s = self._clock_s()
                if begin_s + self._longest_s[cell] > self._start_s + self._plan.budget_s:
                    return Ending.TIME_UP
                self.blocks[cell].append(self._block(cell))
                took_s = self._clock_s() - begin_s
                self._longest_s[cell] = max(self._longest_s[cell], took_s)
        return Ending.COMPLETE

    def _block(self, cell: int) -> Block:
        arms = len(self._plan.cells[cell].devices)
        places = list(range(arms + 1))
        self._order.shuffle(places)
        samples: dict[int, Sample] = {}
        for place in places:
            # The place after the last arm is the doubled first one.
            samples[place] = self._sample(self._first_arm[cell] + place % arms)
        return tuple(samples[place] for place in range(arms + 1))

    def _sample(self, arm: int) -> Sample:
        sample = self._sampler.sample(arm, self._plan.sample_s)
        self._done += 1
        self._progress(Progress(self._done, self._planned, self._left_s(), self._arms[arm]))
        return sample

    def _left_s(self) -> float:
        passed_s = self._clock_s() - self._start_s
        by_plan_s = passed_s / self._done * (self._planned - self._done)
        return max(0.0, min(by_plan_s, self._plan.budget_s - passed_s))


def _first_arms(cells: Sequence[Cell]) -> Iterator[int]:
    first = 0
    for cell in cells:
        yield first
        first += len(cell.devices)


def _cell_rows(cell: Cell, blocks: Sequence[Block], seed: int) -> Iterator[Row]:
    together = keep_clean([all(sample.flags.clean for sample in block) for block in blocks])
    arms = len(cell.devices)
    paired = [
        [blocks[block][place].ns_per_message for block in together.blocks]
        for place in range(arms + 1)
    ]
    # Of all samples: that a block of many devices is clean as a whole is rare on any machine.
    busy = keep_clean([sample.flags.clean for block in blocks for sample in block]).busy
    floor = noise_floor(paired[0], paired[arms], seed=seed)
    best = winners(paired[:arms], floor, seed=seed)
    confidence = verdict_confidence(arms - 1)
    for arm, device in enumerate(cell.devices):
        alone = keep_clean([block[arm].flags.clean for block in blocks])
        times_ns = [blocks[block][arm].ns_per_message for block in alone.blocks]
        judged = speed_ratio(paired[arm], paired[0], confidence=confidence, seed=seed)
        yield Row(
            workload=cell.workload.name,
            device=device,
            size_bytes=cell.workload.text_len_mean,
            keys=str(cell.workload.regime),
            mix=str(cell.workload.mix),
            threads=cell.threads,
            batch=cell.batch,
            ns_per_message=median_interval(times_ns, seed=seed),
            reference=cell.devices[0],
            ratio=speed_ratio(paired[arm], paired[0], seed=seed) if arm else None,
            verdict=verdict(judged, floor) if arm else None,
            winner=arm in best,
            noise_floor=floor,
            clean_share=alone.clean_share,
            machine_busy=alone.busy or busy,
            blocks=len(blocks),
        )
