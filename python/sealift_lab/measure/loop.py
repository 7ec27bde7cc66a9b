"""The block loop: takes interleaved samples of prepared arms until the time is up.

Each block runs every arm of a group once, in an order drawn by the seed, and one of them once more:
those two runs of the same code are the A/A pair that measures noise. The A/A arm is another one in
each block: an arm that always ran twice would find more of its data in the caches than the others.
Groups take turns, too; where time is short, the most wanted ones are finished.

Each sample follows a lead-in that is not timed, after which caches hold the arm's own data.
"""

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from sealift_lab.model.arm import Arm, Sample, WrongResultError

# In shorter samples the timer, the wake-up and cold caches weigh in; over a quarter of a second a
# sample buys less than another block does.
SAMPLE_S_MIN, SAMPLE_S_MAX = 0.002, 0.250
# Where no time is given: many short samples know a ratio better than few long ones.
SAMPLE_S_USUAL = 0.003
# The rest goes to what is between samples, until a round has shown how much that is.
USABLE_SHARE = 0.85
# The rest goes to slow last samples.
PACED_SHARE = 0.97
# Of a sample's length, and at least: after another arm's turn AWS-LC is slow for milliseconds.
# With a shorter lead-in short samples are slower than long ones, and a run whose samples get longer
# seems to drift.
LEAD_IN_SHARE, LEAD_IN_S_MIN = 0.25, 0.005


@dataclass(frozen=True)
class Block:
    """A sample of each arm of a group, None for those that computed something wrong before.

    The arm at the place `aa_arm` ran once more, and has a second sample.
    """

    samples: tuple[Sample | None, ...]
    aa_arm: int
    aa_sample: Sample


class Ending(StrEnum):
    """How the loop ended."""

    COMPLETE = "complete"
    TIME_UP = "time was up"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class GroupTask:
    """What is to be measured of a group: its arms, the reference first, and how many blocks."""

    arms: Sequence[Arm]
    first_block: int
    blocks: int


@dataclass(frozen=True)
class Task:
    """What the loop is to do.

    Attributes:
        groups: What is measured.
        seconds: What it should take, which decides the length of samples; infinity for samples of
            the usual length.
        seconds_max: No sample is begun afterwards, and no block that would not end before; one
            that is not complete then is lost.
        seed: Of the order of the arms in each block.
    """

    groups: Sequence[GroupTask]
    seconds: float
    seconds_max: float
    seed: str


class Listener(Protocol):
    """Stores what the loop measures."""

    def block(self, group: int, number: int, block: Block) -> None:
        """Stores a complete block."""

    def wrong(self, group: int, arm: int, reason: str) -> None:
        """Stores that an arm computed something wrong; it is not run again."""


def measure(
    task: Task, listener: Listener, *, clock_s: Callable[[], float] = time.monotonic
) -> Ending:
    """Takes the samples of a task; Ctrl-C (KeyboardInterrupt) and the end of the time stop it.

    A block is complete or is not there. An arm that computes something wrong is left out from then
    on; without its reference a group ends.
    """
    try:
        return _Loop(task, listener, clock_s).run()
    except KeyboardInterrupt:
        return Ending.INTERRUPTED


def lead_in_s(sample_s: float) -> float:
    """How long an arm runs before a sample of such a length begins."""
    return max(LEAD_IN_S_MIN, sample_s * LEAD_IN_SHARE)


class _Group:
    """The state of a group: arms that still run, blocks so far, and how long a block takes."""

    def __init__(self, task: GroupTask) -> None:
        self.task = task
        self.arms: list[Arm | None] = list(task.arms)
        self.done, self.block_s = 0, 0.0

    @property
    def blocks_left(self) -> int:
        # Without the reference there is nothing to compare with.
        return 0 if self.arms[0] is None else self.task.blocks - self.done


class _Loop:
    def __init__(self, task: Task, listener: Listener, clock_s: Callable[[], float]) -> None:
        self._groups = [_Group(each) for each in task.groups]
        self._listener = listener
        self._clock_s = clock_s
        self._order = random.Random(task.seed)
        self._round_s = clock_s()
        self._end_s = self._round_s + task.seconds
        self._latest_s = self._round_s + task.seconds_max
        self._sample_s = self._fitting_s(task.seconds * USABLE_SHARE)
        # Of this round: the length of its samples and lead-ins, without all that is between.
        self._sampled_s = 0.0

    def run(self) -> Ending:
        while left := [place for place, each in enumerate(self._groups) if each.blocks_left > 0]:
            begun = False
            for place in self._affordable(left):
                if self._clock_s() + self._groups[place].block_s <= self._latest_s:
                    self._block(place)
                    begun = True
            if not begun:
                return Ending.TIME_UP
            self._pace()
        return Ending.COMPLETE

    def _affordable(self, left: Sequence[int]) -> Sequence[int]:
        """What can be finished in time, most wanted first; one group at least."""
        time_s = self._latest_s - self._clock_s()
        for count, place in enumerate(left):
            time_s -= self._groups[place].blocks_left * self._groups[place].block_s
            if count and time_s < 0:
                return left[:count]
        return left

    def _pace(self) -> None:
        """Sets the samples' length by the time of the last round, with all between samples."""
        now_s = self._clock_s()
        sampled_share = self._sampled_s / max(now_s - self._round_s, self._sampled_s)
        self._sample_s = self._fitting_s(sampled_share * (self._end_s - now_s) * PACED_SHARE)
        self._round_s, self._sampled_s = now_s, 0.0

    def _fitting_s(self, left_s: float) -> float:
        """The length of samples that are all taken in a time, with their lead-ins."""
        if math.isinf(self._end_s):
            return SAMPLE_S_USUAL
        samples = sum((len(each.arms) + 1) * each.blocks_left for each in self._groups)
        each_s = left_s / max(1, samples)
        sample_s = min(each_s / (1 + LEAD_IN_SHARE), each_s - LEAD_IN_S_MIN)
        return min(SAMPLE_S_MAX, max(SAMPLE_S_MIN, sample_s))

    def _block(self, place: int) -> None:
        begin_s = self._clock_s()
        group = self._groups[place]
        arms = [arm for arm, each in enumerate(group.arms) if each is not None]
        number = group.task.first_block + group.done
        aa_arm = arms[number % len(arms)]
        order = [*arms, aa_arm]
        self._order.shuffle(order)
        taken: dict[int, list[Sample]] = {arm: [] for arm in arms}
        for arm in order:
            if self._clock_s() > self._latest_s:
                return
            if sample := self._sample(place, arm):
                taken[arm].append(sample)
        # Without its reference a block compares nothing; without its A/A pair noise is unknown.
        if not taken[0] or len(taken[aa_arm]) < 2:
            return
        samples = tuple(next(iter(taken.get(arm, ())), None) for arm in range(len(group.arms)))
        self._listener.block(place, number, Block(samples, aa_arm, taken[aa_arm][1]))
        group.done += 1
        group.block_s = self._clock_s() - begin_s

    def _sample(self, place: int, number: int) -> Sample | None:
        arm = self._groups[place].arms[number]
        if arm is None:
            return None
        self._sampled_s += self._sample_s + lead_in_s(self._sample_s)
        try:
            arm.sample(lead_in_s(self._sample_s))
            return arm.sample(self._sample_s)
        except WrongResultError as error:
            self._groups[place].arms[number] = None
            self._listener.wrong(place, number, str(error))
            return None
