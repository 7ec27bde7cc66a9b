"""The loop on made-up arms with a clock of their own."""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pytest

from sealift.lab.measure import Block, Ending, Task, measure
from sealift.lab.spec import Sample, WrongResultError
from sealift.lab.values import Value


@dataclass
class World:
    """The time that passes, and who was asked for a sample of how many seconds."""

    now_s: float = 0.0
    asked: list[tuple[str, float]] = field(default_factory=list)

    def clock_s(self) -> float:
        return self.now_s

    def timed(self) -> list[str]:
        """Who gave the samples that count: every second one, after its lead-in."""
        return [name for name, _ in self.asked[1::2]]


@dataclass
class MadeUpArm:
    """Takes as long as it is asked to, or some times longer."""

    world: World
    name: str
    overrun: float = 1.0
    wrong_at: int | None = None
    interrupt_at: int | None = None

    def sample(self, seconds: float) -> Sample:
        """One sample; its number of operations is what was asked of this arm so far."""
        count = sum(name == self.name for name, _ in self.world.asked)
        if count == self.interrupt_at:
            raise KeyboardInterrupt
        self.world.asked.append((self.name, seconds))
        self.world.now_s += seconds * self.overrun
        if count == self.wrong_at:
            raise WrongResultError(f"{self.name}: tag 3 differs")
        return Sample(round(seconds * self.overrun * 1e9), count + 1, 0, 0, 1.0, 0)

    def verified(self) -> Mapping[str, Value]:
        """Nothing."""
        return {}


@dataclass
class Kept:
    """Listens."""

    blocks: list[tuple[int, int, Block]] = field(default_factory=list)
    wrongs: list[tuple[int, int, str]] = field(default_factory=list)

    def block(self, group: int, block: int, samples: Block) -> None:
        self.blocks.append((group, block, samples))

    def wrong(self, group: int, arm: int, what: str) -> None:
        self.wrongs.append((group, arm, what))


Change = Callable[[MadeUpArm], None]


def ran(
    *groups: str,
    blocks: int = 30,
    seconds: float = 60.0,
    seconds_most: float = math.inf,
    seed: str = "1",
    done: list[int] | None = None,
    change: Change = lambda _: None,
) -> tuple[Ending, Kept, World]:
    """Measures groups of arms; each letter of a group is an arm, a dot one that ended before."""
    world, kept = World(), Kept()
    arms = [[None if name == "." else MadeUpArm(world, name) for name in group] for group in groups]
    for arm in (arm for group in arms for arm in group if arm):
        change(arm)
    task = Task(arms, done or [0] * len(groups), blocks, seconds, 8, seed, seconds_most)
    return measure(task, kept, clock_s=world.clock_s), kept, world


def test_each_block_runs_every_arm_once_and_the_next_one_twice() -> None:
    ending, kept, world = ran("abc", "def")
    assert ending is Ending.COMPLETE
    timed = world.timed()
    blocks = [timed[at : at + 4] for at in range(0, len(timed), 4)]
    assert len(blocks) == len(kept.blocks) == 60
    for block, (group, number, samples) in zip(blocks, kept.blocks, strict=True):
        arms = ("abc", "def")[group]
        doubled = arms[number % 3]
        assert Counter(block) == {**dict.fromkeys(arms, 1), doubled: 2}
        assert arms[samples.doubled] == doubled
        assert len(samples.taken) == 4
        assert number < 30
    assert len({tuple(block) for block in blocks[::2]}) > 6


def test_groups_take_turns() -> None:
    _, kept, _ = ran("ab", "cd")
    assert [(group, block) for group, block, _ in kept.blocks] == [
        (group, block) for block in range(30) for group in range(2)
    ]


def test_samples_stand_in_the_places_of_their_arms() -> None:
    _, kept, world = ran("ab", blocks=1)
    block = kept.blocks[0][2]
    first, second = block.samples
    assert first
    assert second
    # The number of operations counts what was asked of an arm: lead-in, sample, lead-in, sample.
    assert (first.operations, block.again.operations) == (2, 4)
    assert second.operations == 2
    assert len(world.asked) == 6


def test_every_sample_follows_a_lead_in_of_the_same_arm_that_is_not_kept() -> None:
    _, kept, world = ran("ab", "cde", blocks=8)
    for (name, lead_s), (timed, sample_s) in zip(world.asked[::2], world.asked[1::2], strict=True):
        assert name == timed
        assert lead_s == pytest.approx(0.25 * sample_s)
    assert 2 * sum(len(samples.taken) for _, _, samples in kept.blocks) == len(world.asked)


def test_a_lead_in_is_long_enough_to_learn_again_however_short_the_sample_is() -> None:
    _, _, world = ran("ab", seconds=0.001)
    assert set(world.asked[::2]) == {("a", 0.005), ("b", 0.005)}
    assert {sample_s for _, sample_s in world.asked[1::2]} == {0.002}


def test_the_seed_decides_the_order() -> None:
    assert ran("abc", seed="1")[2].asked == ran("abc", seed="1")[2].asked
    assert ran("abc", seed="1")[2].asked != ran("abc", seed="2")[2].asked


@pytest.mark.parametrize("seconds", [3.0, 10.0, 60.0])
def test_samples_are_as_long_as_the_time_allows_with_all_blocks_done(seconds: float) -> None:
    ending, kept, world = ran("ab", "cd", "ef", seconds=seconds)
    assert ending is Ending.COMPLETE
    assert len(kept.blocks) == 90
    assert 0.8 * seconds < world.now_s <= seconds


def test_samples_are_neither_under_two_milliseconds_nor_over_a_quarter_of_a_second() -> None:
    for seconds, sample_s in ((0.001, 0.002), (1e6, 0.250)):
        _, _, world = ran("ab", seconds=seconds)
        assert world.asked[1][1] == sample_s


def test_slow_arms_end_in_time_with_complete_blocks_and_all_groups_equally_far() -> None:
    def slow(arm: MadeUpArm) -> None:
        arm.overrun = 30.0

    ending, kept, world = ran("ab", "cd", seconds=20.0, change=slow, blocks=60)
    assert ending is Ending.TIME_UP
    assert world.now_s <= 20
    done = Counter(group for group, _, _ in kept.blocks)
    assert 8 <= done[1] <= done[0] <= done[1] + 1 < 60


def test_samples_get_shorter_when_they_take_longer_than_asked_and_all_blocks_are_done() -> None:
    def slow(arm: MadeUpArm) -> None:
        arm.overrun = 2.0

    ending, kept, world = ran("ab", "cd", change=slow)
    assert ending is Ending.COMPLETE
    assert len(kept.blocks) == 60
    assert 40 < world.now_s <= 60
    assert world.asked[1][1] > world.asked[-1][1] > 0.002


def test_what_a_verdict_needs_is_measured_even_when_it_takes_longer() -> None:
    def slow(arm: MadeUpArm) -> None:
        arm.overrun = 4_000.0

    ending, kept, world = ran("ab", seconds=20.0, change=slow)
    assert ending is Ending.TIME_UP
    assert len(kept.blocks) == 8
    assert world.now_s > 20


def test_no_block_is_begun_that_would_not_end_at_the_latest() -> None:
    def slow(arm: MadeUpArm) -> None:
        arm.overrun = 30.0

    ending, kept, world = ran("ab", seconds=3.0, seconds_most=4.0, change=slow)
    assert ending is Ending.TIME_UP
    assert len(kept.blocks) == 1
    assert world.now_s < 3.0


def test_a_block_that_takes_too_long_is_given_up_with_the_sample_that_does() -> None:
    def slow(arm: MadeUpArm) -> None:
        arm.overrun = 30.0

    ending, kept, world = ran("abcdef", "gh", seconds=1.0, seconds_most=1.0, change=slow)
    assert ending is Ending.TIME_UP
    assert kept.blocks == []
    last_s = sum(30.0 * seconds for _, seconds in world.asked[-2:])
    assert 1.0 < world.now_s <= 1.0 + last_s


def test_blocks_that_are_done_are_not_measured_again() -> None:
    ending, kept, _ = ran("ab", "cd", done=[28, 30])
    assert ending is Ending.COMPLETE
    assert [(group, block) for group, block, _ in kept.blocks] == [(0, 28), (0, 29)]


def test_an_arm_that_ended_before_has_a_place_and_no_sample() -> None:
    _, kept, world = ran("a.c", blocks=8)
    assert all(samples.samples[1] is None for _, _, samples in kept.blocks)
    assert {name for name, _ in world.asked} == {"a", "c"}


def test_a_group_without_its_reference_is_not_measured() -> None:
    ending, kept, _ = ran(".b", "cd", blocks=8)
    assert ending is Ending.COMPLETE
    assert {group for group, _, _ in kept.blocks} == {1}


@pytest.mark.parametrize("call", [6, 7])
def test_an_arm_that_computes_wrong_is_told_once_and_left_out(call: int) -> None:
    # Its fourth lead-in or its fourth sample: either way its third block lacks it, because it was
    # doubled in the second one.
    def wrong(arm: MadeUpArm) -> None:
        arm.wrong_at = call if arm.name == "b" else None

    ending, kept, world = ran("abc", blocks=8, change=wrong)
    assert ending is Ending.COMPLETE
    assert kept.wrongs == [(0, 1, "b: tag 3 differs")]
    there = [block.samples[1] is not None for _, _, block in kept.blocks]
    assert there == [True] * 2 + [False] * 6
    assert all(block.samples[place] for _, _, block in kept.blocks for place in (0, 2))
    assert sum(name == "b" for name, _ in world.asked) == call + 1


def test_a_block_whose_doubled_arm_computes_wrong_is_measured_again_without_it() -> None:
    def wrong(arm: MadeUpArm) -> None:
        arm.wrong_at = 5 if arm.name == "b" else None

    ending, kept, _ = ran("abc", blocks=8, change=wrong)
    assert ending is Ending.COMPLETE
    assert [number for _, number, _ in kept.blocks] == list(range(8))
    there = [block.samples[1] is not None for _, _, block in kept.blocks]
    assert there == [True] + [False] * 7
    assert {block.doubled for _, _, block in kept.blocks[1:]} == {0, 2}


def test_a_reference_that_computes_wrong_ends_its_group_and_no_other() -> None:
    def wrong(arm: MadeUpArm) -> None:
        arm.wrong_at = 5 if arm.name == "a" else None

    ending, kept, _ = ran("ab", "cd", blocks=8, change=wrong)
    assert ending is Ending.COMPLETE
    assert kept.wrongs == [(0, 0, "a: tag 3 differs")]
    assert [block for group, block, _ in kept.blocks if group == 0] == [0]
    assert len([block for group, block, _ in kept.blocks if group == 1]) == 8


def test_ctrl_c_leaves_what_is_complete() -> None:
    def interrupted(arm: MadeUpArm) -> None:
        arm.interrupt_at = 7 if arm.name == "b" else None

    ending, kept, _ = ran("ab", change=interrupted)
    assert ending is Ending.INTERRUPTED
    assert [block for _, block, _ in kept.blocks] == [0, 1]


def test_an_error_of_an_arm_ends_the_measuring_unchanged() -> None:
    class Broken(MadeUpArm):
        def sample(self, seconds: float) -> Sample:
            raise RuntimeError(f"the device is gone after {seconds:g} s")

    arms = [[Broken(World(), "a")]]
    with pytest.raises(RuntimeError, match="the device is gone"):
        measure(Task(arms, [0], 8, 1.0, 8, "1"), Kept())


def test_a_sample_without_time_or_operations_is_refused() -> None:
    for ns, operations in ((0, 1), (1, 0)):
        with pytest.raises(ValueError, match=r"=0; right would be an int of 1 or more"):
            Sample(ns, operations, 0, 0, 1.0, 0)


def test_the_order_is_fair_to_every_place() -> None:
    _, _, world = ran("abcd", blocks=400, seconds=400.0)
    timed = world.timed()
    firsts = Counter(timed[::5])
    assert all(70 < firsts[name] < 130 for name in "abcd")
    assert set(Counter(timed).values()) == {500}
