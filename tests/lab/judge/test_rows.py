"""Runs into rows: what is compared, what is left out, when to stop."""

import polars as pl
import pytest
from tests.lab.judge.made_up import NAME, make_run, make_samples

from sealift_lab.judge.rows import RunFiles, compare_rows, gauge, narrow, results, times
from sealift_lab.judge.verdicts import caveat
from sealift_lab.model.results import Estimate, Origin, Row, Verdict
from sealift_lab.model.run import ReportLine
from sealift_lab.model.units import format_measure


def rows_of(run: RunFiles) -> list[Row]:
    return list(results(run)[NAME].rows)


def verdicts_of(run: RunFiles) -> list[Verdict | None]:
    return [row.verdict for row in rows_of(run)]


def test_rows_have_ratios_verdicts_and_one_winner() -> None:
    library, cpu, table = rows_of(make_run(make_samples({0: [100, 50, 101]})))
    assert (library.ratio, library.verdict, library.subject) == (None, None, "library")
    assert cpu.ratio is not None
    assert cpu.ratio.value == pytest.approx(2, rel=0.01)
    assert (cpu.verdict, table.verdict) == (Verdict.FASTER, Verdict.SAME)
    assert [row.is_winner for row in (library, cpu, table)] == [False, True, False]
    assert library.time.value == pytest.approx(100, rel=0.01)
    assert (cpu.blocks, cpu.processes, cpu.clean_share, cpu.payload_bytes) == (80, 8, 1.0, 128)
    assert cpu.noise == pytest.approx(0.003 * 2**0.5, rel=0.4)


def test_what_processes_differ_by_is_in_the_interval() -> None:
    run = make_run(make_samples({0: [100, 95]}, processes=3, between=0.03))
    assert verdicts_of(run)[1] is Verdict.INCONCLUSIVE
    one = make_run(make_samples({0: [100, 95]}, processes=1, blocks=60), processes=1)
    assert verdicts_of(one)[1] is Verdict.FASTER
    assert caveat(rows_of(one)[1]).startswith("of one process")
    # A quick run that was resumed speaks of one process, too.
    samples = make_samples({0: [100, 80]}, processes=2, blocks=30)
    assert verdicts_of(make_run(samples, processes=1))[1] is Verdict.FASTER
    assert rows_of(make_run(samples, processes=1))[1].processes == 1


def test_a_wrong_arm_is_compared_with_none_and_a_wrong_reference_is_replaced() -> None:
    samples = make_samples({0: [100, 50, 200]})
    wrong = ReportLine(NAME, 0, 0, 3, {}, wrong="block 3 differs")
    library, cpu, table = rows_of(make_run(samples, [wrong]))
    assert (library.wrong, library.ratio, library.is_winner) == ("block 3 differs", None, False)
    assert (cpu.ratio, cpu.is_winner) == (None, True)
    assert (table.reference, table.verdict) == ("cpu", Verdict.SLOWER)
    every = [ReportLine(NAME, 0, arm, 0, {}, wrong="all") for arm in range(3)]
    assert verdicts_of(make_run(samples, every)) == [None, None, None]


def test_disturbed_blocks_are_left_out_where_enough_are_clean() -> None:
    samples = make_samples({0: [100, 80]})
    is_hit = (pl.col("block") % 3 == 0) & (pl.col("arm") == 1)
    hit = samples.with_columns(
        ns=pl.when(is_hit).then(3 * pl.col("ns")).otherwise("ns"),
        cpu_share=pl.when(is_hit).then(0.4).otherwise("cpu_share"),
    )
    row = rows_of(make_run(hit))[1]
    assert row.clean_share == pytest.approx(2 / 3, abs=0.03)
    assert row.time.value == pytest.approx(80, rel=0.01)
    assert row.verdict is Verdict.FASTER
    all_hit = samples.with_columns(cpu_share=pl.lit(0.4))
    assert rows_of(make_run(all_hit))[1].clean_share == 0


@pytest.mark.parametrize(
    ("columns", "clean"),
    [
        ({"involuntary_switches": 20_000}, 0.0),
        ({"cpu_share": 0.98}, 0.0),
        ({"steal_ns": 10_000_000}, 1.0),
        ({"steal_ns": 60_000_000}, 0.0),
    ],
)
def test_a_sample_is_clean_when_nothing_cost_it_one_per_cent(
    columns: dict[str, float], clean: float
) -> None:
    row = rows_of(make_run(make_samples({0: [100, 80]}, **columns)))[0]
    assert row.clean_share == clean


def test_threads_that_share_cores_wait_for_each_other_by_design() -> None:
    samples = make_samples({0: [100, 80]}, cpu_share=0.5, involuntary_switches=900)
    assert rows_of(make_run(samples, load="more threads than cores"))[0].clean_share == 1
    stolen = samples.with_columns(steal_ns=pl.lit(60_000_000))
    assert rows_of(make_run(stolen, load="more threads than cores"))[0].clean_share == 0


def test_a_block_in_which_all_arms_are_off_their_clock_is_disturbed() -> None:
    off = pl.when(pl.col("block") < 20).then(2.0).otherwise("clock_ghz")
    samples = make_samples({0: [100, 80]})
    row = rows_of(make_run(samples.with_columns(clock_ghz=off)))[1]
    assert row.clean_share == pytest.approx(0.75, abs=0.02)
    one = pl.when(pl.col("arm") == 1).then(off).otherwise("clock_ghz")
    assert rows_of(make_run(samples.with_columns(clock_ghz=one)))[1].clean_share == 1


def test_an_arm_of_one_process_is_compared_there() -> None:
    samples = make_samples({0: [100, 50, 80]})
    late = samples.filter((pl.col("arm") != 1) | (pl.col("restart") == 7))
    cpu = rows_of(make_run(late))[1]
    assert (cpu.blocks, cpu.processes, cpu.verdict) == (10, 1, Verdict.FASTER)


def test_a_group_is_narrow_by_width_alone() -> None:
    samples = make_samples({0: [100, 102.4], 1: [100, 500]}, scatter=0.005)
    assert narrow(samples) == {0: True, 1: True}
    noisy = make_samples({0: [100, 102.4], 1: [100, 500]}, scatter=0.1)
    assert narrow(noisy) == {0: False, 1: True}
    few = samples.filter(pl.col("restart") < 3)
    assert narrow(few) == {0: False, 1: False}
    one = make_samples({0: [100, 102.4]}, processes=1, blocks=40)
    assert narrow(one, processes=1) == {0: True}
    assert narrow(make_samples({0: [100]}, scatter=0.01)) == {0: True}


def test_rows_of_two_groups_are_paired_by_process() -> None:
    samples = make_samples({0: [100, 50], 1: [100, 50]})
    # The machine is slower in some processes: that cancels out.
    slower = 1 + 0.1 * (pl.col("restart") % 3)
    run = make_run(samples.with_columns(ns=(pl.col("ns") * slower).cast(pl.Int64)))
    rows = rows_of(run)
    within, between = compare_rows(run, rows[1], rows[0]), compare_rows(run, rows[3], rows[0])
    assert (within.verdict, between.verdict) == (Verdict.FASTER, Verdict.FASTER)
    ratio = times(run, rows[0], rows[3])
    assert ratio.value == pytest.approx(0.5, rel=0.05)
    assert ratio.low is not None
    assert ratio.low < 0.5 < (ratio.high or 0)


def test_the_gauge_is_of_the_machine() -> None:
    samples = make_samples({0: [100, 50], 1: [7, 3]}, scatter=0.01)
    assert (found := gauge(samples))
    assert found.pairs == 160
    assert found.noise == pytest.approx(0.01 * 2**0.5, rel=0.25)
    assert gauge(samples.filter(~pl.col("again"))) is None


def test_reports_of_processes_are_added_up() -> None:
    lines = [
        ReportLine(NAME, 0, 0, 0, {"messages_checked": 5, "cores": "0", "share": 0.5}),
        ReportLine(NAME, 0, 0, 1, {"messages_checked": 7, "cores": "1", "share": 0.25}),
        ReportLine(NAME, 0, 2, 0, {}, skipped="no memory", may_pass=True),
        ReportLine(NAME, 0, 2, 1, {}, skipped="no such device"),
    ]
    found = results(make_run(make_samples({0: [100, 50]}), lines))[NAME].reports
    assert found[0].facts == {"messages_checked": 12, "cores": "1", "share": 0.25}
    assert [each.skipped for each in found[:3]] == ["", "", "no such device"]
    assert [each.skipped for each in found[3:]] == ["the run ended before this was measured"] * 6


def test_what_is_computed_has_reports_and_no_rows() -> None:
    nothing = pl.DataFrame(schema={"experiment": pl.String, "group": pl.Int64})
    line = ReportLine(NAME, 0, 0, 0, {"latency, cycles": 4.5})
    found = results(make_run(nothing, [line], origin=Origin.SIMULATED))[NAME]
    assert found.rows == ()
    assert next(found.facts(device="library")).facts == {"latency, cycles": 4.5}


def test_an_interval_from_0_has_no_inverse_and_figures_have_four_digits() -> None:
    assert Estimate(2, 1, 4).inverse() == Estimate(0.5, 0.25, 1)
    assert Estimate(2, 0, 4).inverse() == Estimate(0.5)
    texts = [format_measure(value) for value in (0, 0.00041234, 9.9996, 2.55, 1_234_999)]
    assert texts == ["0", "0.0004123", "10.00", "2.550", "1,235,000"]
