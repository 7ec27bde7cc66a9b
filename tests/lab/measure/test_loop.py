"""The block loop on made-up arms with a clock of their own."""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pytest

from sealift_lab.measure.loop import Block, Ending, GroupTask, Task, measure
from sealift_lab.model.arm import Sample, Value, WrongResultError


@dataclass
class World:
    """The time that passes, and which arm was sampled for how many seconds."""

    now_s: float = 0.0
    sampled: list[tuple[str, float]] = field(default_factory=list)

    def clock_s(self) -> float:
        return self.now_s

    def timed(self) -> list[str]:
        """The samples that count: every second one, after its lead-in."""
        return [name for name, _ in self.sampled[1::2]]


@dataclass
class MadeUpArm:
    """Takes as long as it should, or some times longer."""

    world: World
    name: str
    overrun: float = 1.0
    wrong_at: int | None = None
    interrupt_at: int | None = None

    def sample(self, seconds: float) -> Sample:
        """One sample; its number of operations counts the samples of this arm."""
        count = sum(name == self.name for name, _ in self.world.sampled)
        if count == self.interrupt_at:
            raise KeyboardInterrupt
        self.world.sampled.append((self.name, seconds))
        self.world.now_s += seconds * self.overrun
        if count == self.wrong_at:
            raise WrongResultError(f"{self.name}: tag 3 differs")
        return Sample(round(seconds * self.overrun * 1e9), count + 1, 0, 0, 1.0, 0)

    def report(self) -> Mapping[str, Value]:
        return {}


@dataclass
class Stored:
    """Listens."""

    blocks: list[tuple[int, int, Block]] = field(default_factory=list)
    wrongs: list[tuple[int, int, str]] = field(default_factory=list)

    def block(self, group: int, number: int, block: Block) -> None:
        self.blocks.append((group, number, block))

    def wrong(self, group: int, arm: int, reason: str) -> None:
        self.wrongs.append((group, arm, reason))


Change = Callable[[MadeUpArm], None]


def slower(times: float) -> Change:
    return lambda arm: setattr(arm, "overrun", times)


def wrong(name: str, at: int) -> Change:
    return lambda arm: setattr(arm, "wrong_at", at if arm.name == name else None)


def run(
    *groups: str,
    blocks: int = 30,
    first_block: int = 0,
    seconds: float = 60.0,
    seconds_max: float = math.inf,
    seed: str = "1",
    change: Change = lambda _: None,
) -> tuple[Ending, Stored, World]:
    """Measures groups of arms; each letter of a group is an arm."""
    world, stored = World(), Stored()
    arms = [[MadeUpArm(world, name) for name in group] for group in groups]
    for arm in (arm for group in arms for arm in group):
        change(arm)
    tasks = [GroupTask(group, first_block, blocks) for group in arms]
    task = Task(tasks, seconds, seconds_max, seed)
    return measure(task, stored, clock_s=world.clock_s), stored, world


TWENTY_S = {"seconds": 20.0, "seconds_max": 20.0}


def test_each_block_runs_every_arm_once_and_the_next_one_twice() -> None:
    ending, stored, world = run("abc", "def")
    assert ending is Ending.COMPLETE
    timed = world.timed()
    blocks = [timed[at : at + 4] for at in range(0, len(timed), 4)]
    assert len(blocks) == len(stored.blocks) == 60
    for names, (group, number, block) in zip(blocks, stored.blocks, strict=True):
        arms = ("abc", "def")[group]
        twice = arms[number % 3]
        assert Counter(names) == {**dict.fromkeys(arms, 1), twice: 2}
        assert arms[block.aa_arm] == twice
        assert None not in block.samples
    assert len({tuple(block) for block in blocks[::2]}) > 6


def test_the_order_is_fair_to_every_arm() -> None:
    timed = run("abcd", blocks=400, seconds=400.0)[2].timed()
    firsts = Counter(timed[::5])
    assert all(70 < firsts[name] < 130 for name in "abcd")
    assert set(Counter(timed).values()) == {500}


def test_every_sample_follows_a_lead_in_of_the_same_arm_that_is_not_stored() -> None:
    _, stored, world = run("ab", "cde", blocks=8)
    for (name, lead_s), (timed, sample_s) in zip(
        world.sampled[::2], world.sampled[1::2], strict=True
    ):
        assert name == timed
        assert lead_s == pytest.approx(0.25 * sample_s)
    samples = sum(len(block.samples) + 1 for _, _, block in stored.blocks)
    assert 2 * samples == len(world.sampled)


def test_the_seed_decides_the_order() -> None:
    assert run("abc", seed="1")[2].sampled == run("abc", seed="1")[2].sampled
    assert run("abc", seed="1")[2].sampled != run("abc", seed="2")[2].sampled


@pytest.mark.parametrize("seconds", [3.0, 10.0, 60.0])
def test_samples_are_as_long_as_the_time_allows_with_all_blocks_done(seconds: float) -> None:
    ending, stored, world = run("ab", "cd", "ef", seconds=seconds)
    assert ending is Ending.COMPLETE
    assert len(stored.blocks) == 90
    assert 0.8 * seconds < world.now_s <= seconds


@pytest.mark.parametrize(
    ("seconds", "lead_s", "sample_s"),
    [(0.001, 0.005, 0.002), (1e6, 0.0625, 0.250), (math.inf, 0.005, 0.003)],
)
def test_samples_have_a_least_a_greatest_and_a_usual_length(
    seconds: float, lead_s: float, sample_s: float
) -> None:
    _, _, world = run("ab", seconds=seconds)
    assert {seconds for _, seconds in world.sampled[::2]} == {lead_s}
    assert {seconds for _, seconds in world.sampled[1::2]} == {sample_s}


def test_where_time_is_short_the_most_wanted_groups_are_finished_in_time() -> None:
    ending, stored, world = run(
        "ab", "cd", seconds=20.0, seconds_max=20.0, change=slower(12.0), blocks=60
    )
    assert ending is Ending.TIME_UP
    assert world.now_s <= 20
    done = Counter(group for group, _, _ in stored.blocks)
    assert done[0] == 60 > done[1] >= 1


def test_samples_get_shorter_when_they_take_longer_than_planned_and_all_blocks_are_done() -> None:
    ending, stored, world = run("ab", "cd", change=slower(2.0))
    assert ending is Ending.COMPLETE
    assert len(stored.blocks) == 60
    assert 40 < world.now_s <= 60
    assert world.sampled[1][1] > world.sampled[-1][1] > 0.002


def test_a_block_that_takes_too_long_is_given_up_with_the_sample_that_does() -> None:
    ending, stored, world = run("abcdef", "gh", seconds=1.0, seconds_max=1.0, change=slower(30.0))
    assert ending is Ending.TIME_UP
    assert stored.blocks == []
    last_s = sum(30.0 * seconds for _, seconds in world.sampled[-2:])
    assert 1.0 < world.now_s <= 1.0 + last_s


@pytest.mark.parametrize("call", [6, 7])
def test_an_arm_that_computes_wrong_is_reported_once_and_left_out(call: int) -> None:
    # Its fourth lead-in or its fourth sample: either way its third block lacks it, because it was
    # the A/A arm of the second one.
    ending, stored, world = run("abc", blocks=8, change=wrong("b", call))
    assert ending is Ending.COMPLETE
    assert stored.wrongs == [(0, 1, "b: tag 3 differs")]
    there = [block.samples[1] is not None for _, _, block in stored.blocks]
    assert there == [True] * 2 + [False] * 6
    assert all(block.samples[place] for _, _, block in stored.blocks for place in (0, 2))
    assert sum(name == "b" for name, _ in world.sampled) == call + 1


def test_a_block_whose_aa_arm_computes_wrong_is_measured_again_without_it() -> None:
    ending, stored, _ = run("abc", blocks=8, change=wrong("b", 5))
    assert ending is Ending.COMPLETE
    assert [number for _, number, _ in stored.blocks] == list(range(8))
    there = [block.samples[1] is not None for _, _, block in stored.blocks]
    assert there == [True] + [False] * 7
    assert {block.aa_arm for _, _, block in stored.blocks[1:]} == {0, 2}


def test_a_reference_that_computes_wrong_ends_its_group_and_no_other() -> None:
    ending, stored, _ = run("ab", "cd", blocks=8, change=wrong("a", 5))
    assert ending is Ending.COMPLETE
    assert stored.wrongs == [(0, 0, "a: tag 3 differs")]
    assert Counter(group for group, _, _ in stored.blocks) == {0: 1, 1: 8}


def test_ctrl_c_leaves_what_is_complete() -> None:
    ending, stored, _ = run(
        "ab", change=lambda arm: setattr(arm, "interrupt_at", 7 if arm.name == "b" else None)
    )
    assert ending is Ending.INTERRUPTED
    assert [number for _, number, _ in stored.blocks] == [0, 1]
