"""The loop on a made-up sampler with its own clock."""

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from sealift.lab.bench import Progress, Run, Sample, measure, summarise
from sealift.lab.plan import Cell, Plan, make_plan
from sealift.lab.result import Ending, Result
from sealift.lab.stats import Interval, Verdict
from sealift.lab.workload import ONE_KEY, SEAL_ONLY, of_size


def cell(*devices: str, size_bytes: int = 128) -> Cell:
    """A cell of 16 messages of one size."""
    work = of_size(size_bytes, ONE_KEY, SEAL_ONLY, messages=16)
    return Cell(work, threads=1, batch=16, devices=devices)


@dataclass
class MadeUpSampler:
    """Gives each device its time a message, with noise; the clock moves as it samples."""

    plan: Plan
    ns_by_device: dict[str, float]
    noise: float = 0.005
    overrun: float = 1.0
    dirty: Callable[[int], bool] = lambda _: False
    interrupt_at: int | None = None
    now_s: float = 0.0
    taken: list[int] = field(default_factory=list)
    generator: random.Random = field(default_factory=lambda: random.Random(1))

    def sample(self, arm: int, seconds: float) -> Sample:
        """One sample of the arm's planted speed."""
        if len(self.taken) == self.interrupt_at:
            raise KeyboardInterrupt
        self.taken.append(arm)
        self.now_s += seconds * self.overrun
        device = self.plan.arms[arm].device
        ns = self.ns_by_device[device] * (1 + abs(self.generator.gauss(0, self.noise)))
        messages = 100_000
        switches = 1_000_000 * int(self.dirty(len(self.taken)))
        return Sample(int(ns * messages), messages, messages * 128, switches, 1.0, 0)

    def clock_s(self) -> float:
        """The sampler's own time."""
        return self.now_s


def ran(sampler: MadeUpSampler) -> Result:
    return summarise(measure(sampler.plan, sampler, clock_s=sampler.clock_s))


def test_a_budget_is_shared_out_and_holds_8_sizes_of_2_devices_in_60_s() -> None:
    made = make_plan([cell("library", "cpu", size_bytes=16 * 2**k) for k in range(8)])
    samples = made.blocks * 3 * 8
    assert made.blocks == 30
    assert 0.001 <= made.sample_s <= 0.25
    assert samples * made.sample_s <= 60


def test_a_small_budget_gives_fewer_blocks_before_shorter_samples_than_1_ms() -> None:
    made = make_plan([cell("library", "cpu")], budget_s=0.05)
    assert 8 <= made.blocks < 30
    assert made.sample_s >= 0.001


def test_a_budget_that_allows_no_verdict_is_refused_with_one_that_would_do() -> None:
    cells = [cell("library", "cpu", size_bytes=size) for size in (16, 64)]
    with pytest.raises(ValueError, match=r"0\.01 s is too short for 8 blocks .* allow 0\.1 s"):
        make_plan(cells, budget_s=0.01)
    with pytest.raises(ValueError, match="no work to measure"):
        make_plan([])
    with pytest.raises(ValueError, match="0 blocks"):
        make_plan(cells, blocks=0)
    for budget_s in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match=r"s of measuring; right would be a finite time above"):
            make_plan(cells, budget_s=budget_s)


def test_a_cell_that_cannot_run_is_refused() -> None:
    work = of_size(16, ONE_KEY, SEAL_ONLY, messages=1)
    with pytest.raises(ValueError, match="no devices for 'AES-128'"):
        Cell(work, 1, 1, ())
    with pytest.raises(ValueError, match="named twice in cpu, cpu"):
        Cell(work, 1, 1, ("cpu", "cpu"))
    with pytest.raises(ValueError, match="threads of 0"):
        Cell(work, 0, 1, ("cpu",))


def test_each_block_runs_every_arm_once_and_the_first_one_twice() -> None:
    made = make_plan([cell("a", "b", "c", size_bytes=16), cell("a", "b", "c", size_bytes=64)])
    sampler = MadeUpSampler(made, {"a": 1.0, "b": 2.0, "c": 3.0})
    measure(made, sampler, clock_s=sampler.clock_s)
    blocks = [sampler.taken[at : at + 4] for at in range(0, len(sampler.taken), 4)]
    assert len(blocks) == 60
    for number, block in enumerate(blocks):
        first = 3 * (number % 2)
        assert Counter(block) == {first: 2, first + 1: 1, first + 2: 1}
    assert len({tuple(block) for block in blocks[::2]}) > 6


def test_the_seed_decides_the_order() -> None:
    def order(seed: int) -> list[int]:
        made = make_plan([cell("a", "b")], seed=seed)
        sampler = MadeUpSampler(made, {"a": 1.0, "b": 2.0})
        measure(made, sampler, clock_s=sampler.clock_s)
        return sampler.taken

    assert order(1) == order(1)
    assert order(1) != order(2)


def test_planted_speeds_come_out_as_rows() -> None:
    made = make_plan([cell("library", "cpu")])
    result = ran(MadeUpSampler(made, {"library": 30.0, "cpu": 10.0}))
    library, cpu = result.rows
    assert (result.ending, result.note) == (Ending.COMPLETE, "")
    assert library.ns_per_message.median == pytest.approx(30, rel=0.01)
    assert (library.ratio, library.verdict, library.winner) == (None, None, False)
    assert cpu.ratio is not None
    assert cpu.ratio.low <= 3.0 * 1.005
    assert cpu.ratio.high >= 3.0 * 0.995
    assert (cpu.verdict, cpu.winner, cpu.reference) == (Verdict.FASTER, True, "library")
    assert cpu.messages_per_s == pytest.approx(1e8, rel=0.01)
    assert cpu.payload_gb_per_s == pytest.approx(12.8, rel=0.01)
    assert (cpu.blocks, cpu.clean_share, cpu.origin) == (30, 1.0, "measured")


def test_a_device_alone_has_figures_and_no_verdict() -> None:
    (row,) = ran(MadeUpSampler(make_plan([cell("cpu")]), {"cpu": 10.0})).rows
    assert (row.verdict, row.ratio, row.winner) == (None, None, True)
    assert row.noise_floor < 0.01


def test_disturbed_samples_are_left_out_of_figures_and_ratios() -> None:
    made = make_plan([cell("library", "cpu")], blocks=20)

    def block(number: int) -> tuple[Sample, ...]:
        # In 9 of 20 blocks everything is switched; then cpu takes 40 times as long.
        switches = int(number % 20 >= 11)
        cpu_ns = 4_000 if switches else 100
        return tuple(Sample(ns, 10, 1_280, switches, 1.0, 0) for ns in (300, cpu_ns, 300))

    run = Run(made, (tuple(block(number) for number in range(20)),), Ending.COMPLETE)
    library, cpu = summarise(run).rows
    assert (library.clean_share, library.machine_busy, library.blocks) == (0.55, False, 20)
    assert (cpu.ns_per_message.low, cpu.ns_per_message.high) == (10, 10)
    assert cpu.ratio == Interval(3.0, 3.0, 3.0, 0.95, 11)
    assert cpu.verdict is Verdict.FASTER


def test_a_busy_machine_is_measured_and_called_busy() -> None:
    made = make_plan([cell("library", "cpu")])
    result = ran(MadeUpSampler(made, {"library": 30.0, "cpu": 10.0}, dirty=lambda n: n % 3 != 0))
    assert all(row.machine_busy for row in result.rows)
    assert all(row.clean_share < 0.5 for row in result.rows)


def test_many_devices_on_a_fairly_quiet_machine_do_not_make_it_busy() -> None:
    made = make_plan([cell("a", "b", "c", "d", "e")])
    sampler = MadeUpSampler(made, dict.fromkeys("abcde", 10.0), dirty=lambda n: n % 4 == 0)
    result = ran(sampler)
    # With a quarter of the samples dirty, no block of six is clean as a whole.
    assert not any(row.machine_busy for row in result.rows)


def test_a_slow_sampler_ends_at_the_budget_with_complete_blocks_only() -> None:
    made = make_plan([cell("library", "cpu", size_bytes=16), cell("library", "cpu", size_bytes=64)])
    sampler = MadeUpSampler(made, {"library": 30.0, "cpu": 10.0}, overrun=10.0)
    run = measure(made, sampler, clock_s=sampler.clock_s)
    assert run.ending is Ending.TIME_UP
    assert sampler.now_s <= made.budget_s
    done = [len(blocks) for blocks in run.blocks]
    assert 0 <= done[0] - done[1] <= 1
    assert summarise(run).note == f"Partial (time was up): {sum(done)} of 60 blocks."


def test_ctrl_c_gives_what_is_complete_and_says_it_is_partial() -> None:
    made = make_plan([cell("library", "cpu", size_bytes=16), cell("library", "cpu", size_bytes=64)])
    sampler = MadeUpSampler(made, {"library": 30.0, "cpu": 10.0}, interrupt_at=5)
    result = ran(sampler)
    assert result.ending is Ending.INTERRUPTED
    assert [row.size_bytes for row in result.rows] == [16, 16]
    assert [cell.workload.text_len_mean for cell in result.unmeasured] == [64]
    assert result.rows[1].verdict is Verdict.UNSURE
    assert result.note == (
        "Partial (interrupted): 1 of 60 blocks; "
        "work without a complete block, and so without a row: 1."
    )


def test_ctrl_c_before_the_first_block_is_a_clear_error() -> None:
    made = make_plan([cell("library", "cpu")])
    with pytest.raises(ValueError, match="interrupted before the first block was complete"):
        ran(MadeUpSampler(made, {"library": 30.0, "cpu": 10.0}, interrupt_at=1))


def test_an_error_of_the_sampler_ends_the_run_unchanged() -> None:
    made = make_plan([cell("library", "cpu")])

    class Broken:
        def sample(self, arm: int, seconds: float) -> Sample:
            raise RuntimeError(f"arm {arm}: wrong tag after {seconds:.3f} s")

    with pytest.raises(RuntimeError, match="wrong tag"):
        measure(made, Broken())


def test_a_sample_without_time_or_messages_is_refused() -> None:
    for ns, messages in ((0, 1), (1, 0)):
        with pytest.raises(ValueError, match=r"= 0; the sampler must give above 0"):
            Sample(ns, messages, 0, 0, 1.0, 0)


def test_progress_counts_to_the_end_and_its_time_left_falls_to_zero() -> None:
    made: Plan = make_plan([cell("library", "cpu")], budget_s=10)
    sampler = MadeUpSampler(made, {"library": 30.0, "cpu": 10.0})
    seen: list[Progress] = []
    measure(made, sampler, progress=seen.append, clock_s=sampler.clock_s)
    assert [step.done for step in seen] == list(range(1, 91))
    assert {step.planned for step in seen} == {90}
    left = [step.left_s for step in seen]
    assert all(later < earlier for earlier, later in itertools.pairwise(left))
    assert left[0] == pytest.approx(89 * made.sample_s)
    assert left[-1] == pytest.approx(0, abs=1e-9)
