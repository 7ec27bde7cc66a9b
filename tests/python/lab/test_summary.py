"""Rows from blocks whose truth is known."""

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest

from sealift.lab.crowding import Load
from sealift.lab.measure import Block
from sealift.lab.result import Row, Verified
from sealift.lab.spec import Sample
from sealift.lab.stats import Interval, Trust, Verdict
from sealift.lab.store import Plan, PlannedExperiment, Run, Surroundings
from sealift.lab.summary import Group, beside_others, groups, rows, series, summarise
from sealift.lab.values import Cell

OPERATIONS = 100_000


def sample(ns_per_operation: float, switches: int = 0, clock_ghz: float | None = None) -> Sample:
    ns = round(ns_per_operation * OPERATIONS)
    return Sample(ns, OPERATIONS, OPERATIONS * 128, switches, 1.0, 0, clock_ghz)


def cells(*devices: str) -> list[Cell]:
    return [{"size_bytes": 128, "device": device} for device in devices]


def block(*samples: Sample | None, doubled: int = 0) -> Block:
    """The samples of all arms, and last the second one of the doubled arm."""
    *singles, again = samples
    assert again is not None
    return Block(tuple(singles), doubled, again)


def blocks(
    *ns: float | None, count: int = 30, noise: float = 0.005, seed: int = 1
) -> list[tuple[int, Block]]:
    """Blocks of one restart; arms that take None are not there."""
    there = [arm for arm, mean in enumerate(ns) if mean is not None]
    generator = random.Random(seed)

    def one(mean: float | None) -> Sample | None:
        return None if mean is None else sample(mean * (1 + abs(generator.gauss(0, noise))))

    def taken(doubled: int) -> Block:
        return block(*(one(mean) for mean in (*ns, ns[doubled])), doubled=doubled)

    return [(0, taken(there[at % len(there)])) for at in range(count)]


def group(taken: Sequence[tuple[int, Block]], **changes: object) -> Group:
    arms = len(taken[0][1].samples)
    usual = {"cells": cells(*"abcdefgh"[:arms]), "blocks": taken}
    return Group(experiment="seal", compare="device", **(usual | changes))  # type: ignore[arg-type]


def test_planted_speeds_come_out_as_rows() -> None:
    library, cpu = rows(group(blocks(30.0, 10.0), cells=cells("library", "cpu")))
    assert (library.experiment, library.compare, library.subject) == ("seal", "device", "library")
    assert library.ns_per_operation.median == pytest.approx(30, rel=0.01)
    assert (library.ratio, library.verdict, library.winner) == (None, None, False)
    assert cpu.ratio is not None
    assert cpu.ratio.low <= 3.0 * 1.005
    assert cpu.ratio.high >= 3.0 * 0.995
    assert (cpu.verdict, cpu.winner, cpu.reference) == (Verdict.FASTER, True, "library")
    assert (cpu.payload_bytes, cpu.origin) == (128, "measured")
    assert (cpu.blocks, cpu.clean_share, cpu.steady, cpu.machine_busy) == (30, 1.0, True, False)


def test_an_arm_alone_has_figures_and_no_verdict() -> None:
    (row,) = rows(group(blocks(10.0)))
    assert (row.verdict, row.ratio, row.winner, row.reference) == (None, None, True, "a")
    assert row.noise_floor < 0.01


def test_disturbed_samples_are_left_out_of_figures_and_ratios() -> None:
    def taken(number: int) -> Block:
        # In 9 of 20 blocks everything is switched; then b takes 40 times as long.
        switched = 1_000 * (number >= 11)
        slow = sample(400 if switched else 10, switched)
        return block(sample(30, switched), slow, sample(30, switched))

    first, second = rows(group([(0, taken(number)) for number in range(20)]))
    assert (first.clean_share, first.machine_busy, first.blocks) == (0.55, False, 20)
    assert (second.ns_per_operation.low, second.ns_per_operation.high) == (10, 10)
    assert second.ratio == Interval(3.0, 3.0, 3.0, 0.95, 11)
    assert second.verdict is Verdict.FASTER


def test_disturbed_samples_at_the_start_are_cold_with_those_around_them() -> None:
    taken = [
        (0, block(sample(30), sample(20 if at < 6 else 10, 1_000 * (at % 3 == 2)), sample(30)))
        for at in range(24)
    ]
    _, second = series(group(taken))
    assert second.blocks == tuple(at for at in range(6, 24) if at % 3 != 2)


def test_a_block_serves_a_pair_although_a_third_arm_was_disturbed_in_it() -> None:
    taken = [
        (0, block(sample(30), sample(10), sample(10, 1_000 * (at < 9)), sample(30)))
        for at in range(20)
    ]
    _, second, third = rows(group(taken))
    assert second.ratio == Interval(3.0, 3.0, 3.0, 0.95, 20)
    assert third.ratio == Interval(3.0, 3.0, 3.0, 0.95, 11)


def test_figures_beside_each_other_are_of_one_choice_of_samples() -> None:
    def taken(number: int) -> Block:
        # Disturbed samples take twice as long: of a nearly all, of b two of three.
        disturbed = [number % 10 > 0, number % 3 > 0]
        a, b = (sample(20.0 if hit else 10.0, 1_000 * hit) for hit in disturbed)
        return block(a, b, sample(20.0, 1_000))

    a, b = rows(group([(0, taken(number)) for number in range(30)]))
    assert a.ns_per_operation.median == b.ns_per_operation.median == 20.0


def test_a_busy_machine_is_measured_and_called_busy() -> None:
    taken = [(0, block(*(sample(30, 1_000 * (at % 3 != 0)) for _ in range(3)))) for at in range(30)]
    for row in rows(group(taken)):
        assert row.machine_busy
        assert row.clean_share == pytest.approx(1 / 3)


@pytest.mark.parametrize("load", Load)
def test_what_threads_that_share_cores_do_to_each_other_is_no_busy_machine(load: Load) -> None:
    def taken(ns: float) -> Sample:
        return replace(sample(ns, 1_000, clock_ghz=next(clocks)), cpu_share=0.4)

    clocks = cycle([1.0, 2.0, 3.0])
    there = [(0, block(taken(30), taken(10), taken(30))) for _ in range(30)]
    shared = [{**cell, "load": load} for cell in cells("a", "b")]
    for row in rows(group(there, cells=shared)):
        assert row.machine_busy == (load != Load.OVER)
        assert row.clean_share == float(load == Load.OVER)
        assert row.verdict in (None, Verdict.FASTER if load == Load.OVER else Verdict.UNSURE)


def test_rows_of_threads_that_share_cores_are_doubted_where_most_others_are() -> None:
    shared: list[Cell] = [{**cell, "load": Load.OVER} for cell in cells("a", "b")]
    crowded = rows(group(blocks(30.0, 10.0), cells=shared))
    quiet = rows(group(blocks(30.0, 10.0)))
    busy = tuple(replace(row, machine_busy=True) for row in quiet)
    assert beside_others([*crowded, *quiet, *busy]) == (*crowded, *quiet, *busy)
    assert beside_others(crowded) == crowded
    first, second, *others = beside_others([*crowded, *quiet[:1], *busy])
    assert (first.machine_busy, first.verdict, first.winner) == (True, None, True)
    assert (second.machine_busy, second.verdict, second.winner) == (True, Verdict.UNSURE, True)
    assert others == [*quiet[:1], *busy]


def test_steal_makes_samples_of_threads_that_share_cores_unclean() -> None:
    stolen = replace(sample(30), steal_ns=50_000_000)
    shared = [{**cell, "load": Load.OVER} for cell in cells("a", "b")]
    for row in rows(group([(0, block(stolen, stolen, stolen))] * 30, cells=shared)):
        assert (row.machine_busy, row.clean_share) == (True, 0.0)


def test_8_clean_pairs_carry_a_ratio_and_fewer_a_warning() -> None:
    def taken(clean: int) -> list[tuple[int, Block]]:
        # Each arm is disturbed in under half of the blocks, and never both at once. Then b is slow.
        return [
            (0, block(first, second, first))
            for at in range(30)
            for first in [sample(30, 1_000 * (clean <= at < 18))]
            for second in [sample(40, 1_000) if at >= 18 else sample(10)]
        ]

    enough, few = rows(group(taken(8)))[1], rows(group(taken(7)))[1]
    assert enough.ratio == Interval(3.0, 3.0, 3.0, 0.95, 8)
    assert (enough.verdict, enough.machine_busy) == (Verdict.FASTER, False)
    assert few.ratio is not None
    assert (few.ratio.blocks, few.clean_share) == (30, 0.6)
    assert (few.verdict, few.machine_busy, few.winner) == (Verdict.UNSURE, True, True)


def test_too_few_clean_pairs_make_no_arm_slower_than_the_best() -> None:
    # As above, but the best arm is the reference, and b is 3 times as slow in every block.
    taken = [
        (0, block(first, sample(30, 1_000 * (at >= 18)), first))
        for at in range(30)
        for first in [sample(10, 1_000 * (7 <= at < 18))]
    ]
    first, second = rows(group(taken))
    assert (second.verdict, second.winner, first.winner) == (Verdict.UNSURE, True, True)


def test_many_arms_on_a_fairly_quiet_machine_do_not_make_it_busy() -> None:
    # A quarter of the samples is disturbed, so no block of five arms is clean as a whole.
    taken = [
        (0, block(*(sample(30, 1_000 * ((at + place) % 4 == 0)) for place in (0, 1, 2, 3, 4, 0))))
        for at in range(30)
    ]
    assert not any(row.machine_busy for row in rows(group(taken)))


def test_an_arm_that_throttles_for_good_is_not_judged_by_its_fast_beginning() -> None:
    generator = random.Random(4)

    def one(ns: float, clock_ghz: float) -> Sample:
        return sample(ns * generator.gauss(1, 0.002), clock_ghz=clock_ghz)

    def taken(at: int) -> Block:
        arm = one(30 / 1.06, 3.9) if at < 18 else one(30 / 0.95, 3.5)
        return block(one(30, 3.9), arm, one(30, 3.9))

    first, second = rows(group([(0, taken(at)) for at in range(30)]))
    assert second.ratio is not None
    assert second.ratio.low < 0.96 < 1.05 < second.ratio.high
    assert (second.verdict, second.ratio.blocks, second.clean_share) == (Verdict.UNSURE, 30, 1.0)
    assert (first.steady, second.steady) == (True, False)


def test_a_block_in_which_all_arms_are_off_the_clock_is_not_clean() -> None:
    # Arm b always runs at a lower clock; in the first 5 blocks the whole machine does, too.
    taken = [
        (
            0,
            block(
                *(
                    sample(50 if at < 5 else 30, clock_ghz=usual_ghz - (at < 5) / 2)
                    for usual_ghz in (3.7, 3.0, 3.7)
                )
            ),
        )
        for at in range(20)
    ]
    for row in rows(group(taken)):
        assert (row.clean_share, row.steady) == (0.75, True)
        assert row.ns_per_operation == Interval(30.0, 30.0, 30.0, 0.95, 15)


def test_an_arm_alone_or_a_clock_that_is_unknown_drops_no_sample_for_the_clock() -> None:
    alone = [(0, block(*[sample(30, clock_ghz=3.7 - (at < 5))] * 2)) for at in range(20)]
    assert rows(group(alone))[0].clean_share == 1.0
    unknown = [
        (0, block(sample(30, clock_ghz=3.7 - (at < 5)), sample(30), sample(30, clock_ghz=3.7)))
        for at in range(20)
    ]
    assert [row.clean_share for row in rows(group(unknown))] == [1.0, 1.0]


def test_clocks_that_are_off_here_and_there_in_all_arms_are_no_ones_doing() -> None:
    generator, clocks_ghz = random.Random(5), (3.7, 3.7, 3.7, 3.5)
    taken = [
        (0, block(*(sample(30, clock_ghz=each) for each in generator.choices(clocks_ghz, k=5))))
        for _ in range(30)
    ]
    assert [row.steady for row in rows(group(taken))] == [True] * 4


def test_what_something_else_took_time_from_is_no_drift_and_hides_none() -> None:
    def taken(ns: float, switches: int) -> tuple[int, Block]:
        return 0, block(sample(30), sample(ns, switches), sample(30))

    later = [taken(10 * 1.03 ** max(0, at - 14), 1_000 * (at > 14)) for at in range(30)]
    _, disturbed = rows(group(later))
    assert (disturbed.steady, disturbed.clean_share) == (True, 0.5)
    often = [taken(10 * 1.01**at, 1_000 * (at % 3 == 0)) for at in range(30)]
    _, drifting = rows(group(often))
    assert not drifting.steady
    # With too few that are clean all count, as in the estimate.
    ever = [taken(10 * 1.01**at, 1_000) for at in range(30)]
    _, busy = rows(group(ever))
    assert (busy.steady, busy.machine_busy) == (False, True)


def test_a_drift_is_told_although_the_clock_of_all_arms_left_its_usual_place_meanwhile() -> None:
    taken = [
        (0, block(*(sample(ns * 1.03 ** max(0, at - 16), clock_ghz=ghz) for ns in (30, 10, 30))))
        for at in range(30)
        for ghz in [3.7 if at <= 16 else 3.3]
    ]
    for row in rows(group(taken)):
        assert row.clean_share == pytest.approx(17 / 30)
        assert not row.steady


def test_noise_that_hides_everything_leaves_ranges() -> None:
    generator = random.Random(3)
    taken = [(0, block(*(sample(generator.uniform(20, 60)) for _ in range(3)))) for _ in range(20)]
    row = rows(group(taken))[1]
    assert row.trust is Trust.LOUD
    assert row.verdict is Verdict.UNSURE
    assert row.winner


def test_the_noise_floor_is_of_all_arms_in_turn() -> None:
    generator = random.Random(6)

    def taken(doubled: int) -> Block:
        noisy = [sample(10 * generator.gauss(1, 0.1)) for _ in range(2)]
        return block(sample(30), noisy[0], noisy[1] if doubled else sample(30), doubled=doubled)

    in_turn = rows(group([(0, taken(int(at % 4 > 0))) for at in range(60)]))
    assert {row.noise_floor for row in in_turn} == {in_turn[0].noise_floor}
    quiet = rows(group([(0, taken(0)) for _ in range(60)]))
    assert in_turn[0].noise_floor > 0.005
    assert quiet[0].noise_floor == 0.0


def test_that_the_later_sample_of_a_pair_is_quicker_is_no_noise() -> None:
    generator = random.Random(7)

    def taken(doubled: int) -> Block:
        means = (30, 30 * 1.05, (30, 30 * 1.05)[doubled] * 0.95)
        return block(*(sample(mean * generator.gauss(1, 0.01)) for mean in means), doubled=doubled)

    _, second = rows(group([(0, taken(at % 2)) for at in range(60)]))
    assert second.noise_floor < 0.02
    assert second.verdict is Verdict.SLOWER


def test_every_sample_counts_as_clean_or_not_and_a_disturbed_pair_is_no_noise() -> None:
    # In every third block the doubled arm's second sample is disturbed, and takes twice as long.
    taken = [
        (0, block(sample(30), sample(60, 1_000) if at % 3 == 0 else sample(30))) for at in range(60)
    ]
    (row,) = rows(group(taken))
    assert row.clean_share == pytest.approx(100 / 120)
    assert (row.noise_floor, row.ns_per_operation.median) == (0.0, 30)


def test_two_clean_samples_together_are_clean() -> None:
    # Each may have one step of steal, which says nothing.
    step = Sample(3_000_000, OPERATIONS, 0, 0, 1.0, 10_000_000)
    (row,) = rows(group([(0, block(step, step))] * 10))
    assert (row.clean_share, row.machine_busy) == (1.0, False)


def test_the_doubled_arm_stands_on_both_of_its_samples() -> None:
    one = block(sample(30), sample(10), sample(20), doubled=1)
    _, second = rows(group([(0, one)] * 8))
    assert second.ns_per_operation.median == 15
    assert second.ratio is not None
    assert second.ratio.median == 2


def test_of_two_samples_of_the_doubled_arm_a_disturbed_one_is_left_out() -> None:
    one = block(sample(30), sample(10), sample(20, 1_000), doubled=1)
    _, second = rows(group([(0, one)] * 8))
    assert (second.ns_per_operation.median, second.clean_share) == (10, 0.5)
    assert not second.machine_busy


def test_a_warm_up_is_left_out_and_a_drift_is_told() -> None:
    warming = blocks(30.0, 10.0)
    for at in range(5):
        warming[at] = (0, block(sample(30), sample(20), sample(30)))
    row = rows(group(warming))[1]
    assert row.ns_per_operation.high < 10.3
    assert (row.ns_per_operation.blocks, row.blocks, row.steady) == (25, 30, True)
    assert row.ratio is not None
    assert row.ratio.blocks == 25
    drifting = [(0, block(sample(30), sample(10 * 1.01**at), sample(30))) for at in range(30)]
    steady = [each.steady for each in rows(group(drifting))]
    assert steady == [True, False]


def test_each_restart_has_a_warm_up_of_its_own() -> None:
    taken = [
        (restart, block(sample(30), sample(20 if at < 3 else 10), sample(30)))
        for restart in range(3)
        for at in range(12)
    ]
    row = rows(group(taken))[1]
    assert row.ns_per_operation == Interval(10.0, 10.0, 10.0, 0.95, 27)
    assert row.steady


def test_restarts_that_differ_widen_the_interval_and_carry_no_verdict() -> None:
    def taken(factors: tuple[float, ...]) -> list[tuple[int, Block]]:
        return [
            (restart, block)
            for restart, factor in enumerate(factors)
            for _, block in blocks(30.0, 30.0 * factor, count=6, noise=0.002, seed=restart)
        ]

    factors = (0.9, 1.0, 0.92, 0.9, 0.95)
    apart, together = rows(group(taken(factors)))[1], rows(group(taken((0.9,) * 5)))[1]
    assert apart.verdict is Verdict.UNSURE
    assert together.verdict is Verdict.FASTER
    assert apart.ratio is not None
    assert apart.ratio.low < 1.02 < 1.11 < apart.ratio.high


def test_a_run_of_one_restart_that_was_resumed_keeps_its_verdict() -> None:
    halves = [
        (process, block)
        for process, ns in enumerate((27.0, 26.7))
        for _, block in blocks(30.0, ns, count=15, seed=process)
    ]
    resumed, restarted = rows(group(halves, planned_restarts=1))[1], rows(group(halves))[1]
    assert resumed.verdict is Verdict.FASTER
    assert restarted.verdict is Verdict.UNSURE


def test_the_best_arm_is_the_one_whose_restarts_are() -> None:
    # By blocks b is the best one, by restarts a.
    taken = [(0, block(sample(30), sample(25), sample(30)))] * 20
    taken += [(1, block(sample(30), sample(60), sample(30)))] * 5
    taken += [(2, block(sample(30), sample(60), sample(30)))] * 5
    first, second = rows(group(taken))
    assert (first.winner, second.ns_per_operation.median) == (True, 60.0)


def test_an_arm_that_computed_wrong_has_its_row_and_no_comparison() -> None:
    taken = blocks(30.0, 5.0, 10.0)
    first, wrong, right = rows(group(taken, wrong={1: "tag 3 differs"}))
    assert (wrong.wrong, wrong.ratio, wrong.verdict, wrong.winner) == (
        "tag 3 differs",
        None,
        None,
        False,
    )
    assert wrong.ns_per_operation.median == pytest.approx(5, rel=0.02)
    assert (first.winner, right.winner, right.verdict) == (False, True, Verdict.FASTER)


def test_without_a_right_reference_the_next_arm_is_one() -> None:
    taken = blocks(5.0, 30.0, 10.0)
    wrong, second, third = rows(group(taken, wrong={0: "tag 3 differs"}))
    assert (wrong.ratio, wrong.verdict, wrong.winner, wrong.wrong) == (
        None,
        None,
        False,
        "tag 3 differs",
    )
    assert {row.reference for row in (wrong, second, third)} == {"b"}
    assert (second.ratio, second.verdict) == (None, None)
    assert (third.verdict, third.winner, third.wrong) == (Verdict.FASTER, True, "")


def test_when_all_arms_are_wrong_nothing_is_compared() -> None:
    both = rows(group(blocks(5.0, 30.0), wrong={0: "tag 3 differs", 1: "tag 4 differs"}))
    assert [(row.verdict, row.winner) for row in both] == [(None, False)] * 2


def test_an_arm_that_went_wrong_half_way_keeps_the_blocks_it_was_in() -> None:
    taken = blocks(30.0, 10.0, count=12) + blocks(30.0, None, count=8)
    first, wrong = rows(group(taken, wrong={1: "tag 3 differs"}))
    assert (first.blocks, wrong.blocks, wrong.wrong) == (20, 12, "tag 3 differs")


def test_the_next_arm_is_the_reference_where_the_first_was_skipped() -> None:
    second, third = rows(group(blocks(None, 30.0, 10.0), reference=1))
    assert (second.subject, second.reference, second.ratio) == ("b", "b", None)
    assert (third.reference, third.verdict) == ("b", Verdict.FASTER)


def test_arms_of_different_restarts_are_not_compared() -> None:
    taken = [(0, block) for _, block in blocks(5.0, 30.0, None, count=10)]
    taken += [(1, block) for _, block in blocks(5.0, None, 10.0, count=10)]
    _, second, third = rows(group(taken, wrong={0: "tag 3 differs"}))
    assert (second.ratio, third.ratio, third.verdict) == (None, None, None)
    assert second.winner
    assert third.winner


def test_one_block_gives_figures_and_no_verdict() -> None:
    row: Row = rows(group(blocks(30.0, 10.0, count=1)))[1]
    assert (row.blocks, row.verdict) == (1, Verdict.UNSURE)


def test_a_series_holds_what_its_row_stands_on() -> None:
    taken = group(
        [
            (at // 10, block(sample(30), sample(10, 1_000 * (at == 4)), sample(30)))
            for at in range(20)
        ]
    )
    _, second = series(taken)
    assert second.cell == {"size_bytes": 128, "device": "b"}
    assert second.blocks == tuple(at for at in range(20) if at != 4)
    assert second.restarts == (0,) * 9 + (1,) * 10
    assert second.ns == (10.0,) * 19


def test_a_run_is_summed_up_experiment_by_experiment() -> None:
    run = made_run(
        {("seal", 0): blocks(30.0, 10.0), ("open", 1): blocks(None, 20.0)},
        references={("seal", 0): 0, ("open", 1): 1},
        wrong={("seal", 0, 1): "tag 3 differs"},
    )
    found = summarise(run)
    assert list(found) == ["seal", "open"]
    assert [row.wrong for row in found["seal"].rows] == ["", "tag 3 differs"]
    (row,) = found["open"].rows
    assert (row.subject, row.cell["size_bytes"], row.reference) == ("cpu", 64, "cpu")
    # The first group has no block, so no row, and its cells stand among what was verified.
    assert found["open"].why_not(size_bytes=16, device="cpu") == "not reached"
    assert len(found["open"].verified) == 4
    assert [len(series(each)) for each in groups(run, "seal")] == [2]
    with pytest.raises(KeyError, match="close"):
        list(groups(run, "close"))


def made_run(
    measured: dict[tuple[str, int], list[tuple[int, Block]]],
    references: dict[tuple[str, int], int],
    wrong: dict[tuple[str, int, int], str],
) -> Run:
    """Two experiments, each with two groups of library and cpu; `cells` of the same sizes."""
    sizes = (16, 64)
    planned = tuple(
        PlannedExperiment(
            name=name,
            id="",
            file=None,
            operation="message",
            compare="device",
            weight=1.0,
            blocks=30,
            groups=tuple(
                tuple({"size_bytes": size, "device": device} for device in ("library", "cpu"))
                for size in sizes
            ),
        )
        for name in ("seal", "open")
    )
    verified = tuple(
        Verified(
            experiment=each.name,
            cell=cell,
            facts={},
            skipped="" if (each.name, number) in measured else "not reached",
            wrong=wrong.get((each.name, number, arm), ""),
        )
        for each in planned
        for number, group_cells in enumerate(each.groups)
        for arm, cell in enumerate(group_cells)
    )
    plan = Plan(
        version="0.1.0",
        created="2026-11-21T14:21:00Z",
        command=("sealift",),
        seed=1,
        budget_s=60.0,
        quick=True,
        restarts=1,
        threads=(),
        experiments=planned,
    )
    return Run(
        path=Path("runs"),
        plan=plan,
        machine=Surroundings({}),
        verified=verified,
        sensors=(),
        ending=None,
        notes=(),
        measured={place: tuple(taken) for place, taken in measured.items()},
        references=references,
        wrong=frozenset(wrong),
    )
