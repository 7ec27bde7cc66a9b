"""The loop: takes interleaved samples of prepared arms, block by block, until the time is up.

Each block runs every arm of a group once, in an order drawn by the seed, and one of them once more:
those two runs of the same code are the A/A pair that prices the noise. Arms take turns to be the
doubled one: an arm that always ran twice would find more of its data in the caches than the others.
Groups take turns, too, so that a run that ends early has measured all of them equally far.

Each sample follows a lead-in that is not timed, after which caches hold the arm's own data.
"""

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from sealift.lab.spec import Arm, Sample, WrongResultError

# In shorter samples the timer, the wake-up and cold caches weigh in; over a quarter of a second a
# sample buys less than another block does.
SAMPLE_S_MIN, SAMPLE_S_MAX = 0.002, 0.250
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
    """The samples of a group's arms that were taken in turn.

    Attributes:
        samples: One for each arm, in the group's order; None for an arm that ended before, because
            it computed something wrong.
        doubled: Place of the arm that ran once more.
        again: What that gave.
    """

    samples: tuple[Sample | None, ...]
    doubled: int
    again: Sample

    @property
    def taken(self) -> list[Sample]:
        """All samples that there are."""
        return [*(sample for sample in self.samples if sample), self.again]

    @property
    def pair(self) -> tuple[Sample, Sample]:
        """The two samples of the doubled arm."""
        first = self.samples[self.doubled]
        assert first is not None, "only an arm that ran can run once more"
        return first, self.again

    def of(self, arm: int) -> tuple[Sample, ...]:
        """The samples of an arm: none, one, or both of the doubled one."""
        sample = self.samples[arm]
        if sample is None:
            return ()
        return (sample, self.again) if arm == self.doubled else (sample,)


class Ending(StrEnum):
    """How a run ended."""

    COMPLETE = "complete"
    TIME_UP = "time was up"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Task:
    """What the loop is to do.

    Attributes:
        arms: For each group its arms, the reference first; None for one that ended before.
        done: For each group how many blocks it has already.
        blocks: How many blocks each group is to have.
        seconds: After which no block is begun that would not end in time. A group that has fewer
            than `blocks_least` goes on nevertheless, so that there is something to say about it.
        blocks_least: How many blocks a verdict needs.
        seed: Of the order of the arms in each block.
        seconds_most: After which no sample is begun, whatever the groups lack; a block that is not
            complete then is lost.
    """

    arms: Sequence[Sequence[Arm | None]]
    done: Sequence[int]
    blocks: int
    seconds: float
    blocks_least: int
    seed: str
    seconds_most: float = math.inf

    @property
    def sample_s(self) -> float:
        """Seconds a sample, without its lead-in, to begin with."""
        return _clamped(self.seconds * USABLE_SHARE / self.samples_left(self.done))

    def samples_left(self, done: Sequence[int]) -> int:
        """How many samples are still to be taken when groups have so many blocks; 1 at least."""
        return max(
            1,
            sum(
                (len(group) + 1) * max(0, self.blocks - blocks)
                for group, blocks in zip(self.arms, done, strict=True)
            ),
        )


class Listener(Protocol):
    """Keeps what the loop finds."""

    def block(self, group: int, block: int, samples: Block) -> None:
        """A block is complete."""

    def wrong(self, group: int, arm: int, what: str) -> None:
        """An arm computed something wrong, and is not asked again."""


def measure(
    task: Task, listener: Listener, *, clock_s: Callable[[], float] = time.monotonic
) -> Ending:
    """Takes the samples of a task; Ctrl-C (KeyboardInterrupt) and the end of the time stop it.

    A block is complete or is not there. An arm that computes something wrong is left out from then
    on; without its reference a group ends.

    Args:
        task: What to do.
        listener: Is told of every complete block at once.
        clock_s: Seconds of a monotonic clock.
    """
    try:
        return _Loop(task, listener, clock_s).run()
    except KeyboardInterrupt:
        return Ending.INTERRUPTED


def lead_in_s(sample_s: float) -> float:
    """How long an arm runs before a sample of such a length begins."""
    return max(LEAD_IN_S_MIN, sample_s * LEAD_IN_SHARE)


class _Loop:
    """The state of `measure`: which arms still run, blocks so far, and what a block costs."""

    def __init__(self, task: Task, listener: Listener, clock_s: Callable[[], float]) -> None:
        self._task = task
        self._listener = listener
        self._clock_s = clock_s
        self._arms = [list(group) for group in task.arms]
        self._done = list(task.done)
        self._last_s = [0.0] * len(self._arms)
        self._order = random.Random(task.seed)
        self._sample_s = task.sample_s
        self._round_s = clock_s()
        self._end_s = self._round_s + task.seconds
        self._latest_s = self._round_s + task.seconds_most
        # Of this round: what was asked for, without all that is between samples.
        self._asked_s = 0.0

    def run(self) -> Ending:
        while wanting := [group for group in range(len(self._arms)) if self._wants(group)]:
            ready = [group for group in wanting if self._has_time(group)]
            if not ready:
                return Ending.TIME_UP
            for group in ready:
                if self._wants(group) and self._has_time(group):
                    self._block(group)
            self._pace()
        return Ending.COMPLETE

    def _pace(self) -> None:
        """Sets the samples' length by what a round took, with all that is between samples."""
        now_s = self._clock_s()
        asked_share = self._asked_s / max(now_s - self._round_s, self._asked_s)
        left_s = (self._end_s - now_s) * PACED_SHARE
        self._sample_s = _clamped(asked_share * left_s / self._task.samples_left(self._done))
        self._round_s, self._asked_s = now_s, 0.0

    def _wants(self, group: int) -> bool:
        # Without the reference there is nothing to compare with, and no A/A pair.
        return self._done[group] < self._task.blocks and self._arms[group][0] is not None

    def _has_time(self, group: int) -> bool:
        lacks = self._done[group] < min(self._task.blocks_least, self._task.blocks)
        end_s = self._latest_s if lacks else min(self._end_s, self._latest_s)
        return self._clock_s() + self._last_s[group] <= end_s

    def _block(self, group: int) -> None:
        begin_s = self._clock_s()
        arms = self._arms[group]
        places = [place for place, arm in enumerate(arms) if arm is not None]
        doubled = places[self._done[group] % len(places)]
        places.append(doubled)
        self._order.shuffle(places)
        taken: dict[int, list[Sample]] = {place: [] for place in places}
        for place in places:
            if self._clock_s() > self._latest_s:
                return
            if sample := self._sample(group, place):
                taken[place].append(sample)
        # Without its reference a block says nothing, and without an A/A pair nothing of the noise.
        if not taken[0] or len(taken[doubled]) < 2:
            return
        samples = tuple(next(iter(taken.get(place, ())), None) for place in range(len(arms)))
        block = Block(samples, doubled, taken[doubled][1])
        self._listener.block(group, self._done[group], block)
        self._done[group] += 1
        self._last_s[group] = self._clock_s() - begin_s

    def _sample(self, group: int, place: int) -> Sample | None:
        arm = self._arms[group][place]
        if arm is None:
            return None
        self._asked_s += self._sample_s + lead_in_s(self._sample_s)
        try:
            arm.sample(lead_in_s(self._sample_s))
            return arm.sample(self._sample_s)
        except WrongResultError as error:
            self._arms[group][place] = None
            self._listener.wrong(group, place, str(error))
            return None


def _clamped(with_lead_in_s: float) -> float:
    """The length of a sample that takes so long with its lead-in, in the bounds of samples."""
    sample_s = min(with_lead_in_s / (1 + LEAD_IN_SHARE), with_lead_in_s - LEAD_IN_S_MIN)
    return min(SAMPLE_S_MAX, max(SAMPLE_S_MIN, sample_s))
