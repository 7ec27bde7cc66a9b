"""Two runs beside each other, whose true speeds are known."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sealift.lab import registry, store
from sealift.lab.beside import against_published, published_record, published_text
from sealift.lab.compare import Compared, changes_text, compare
from sealift.lab.measure import Block
from sealift.lab.spec import Sample, Scope
from sealift.lab.stats import Verdict, restart_range
from sealift.lab.store import names
from sealift.lab.summary import groups, summarise
from sealift.lab.summary import series as series_of
from sealift.lab.values import Cell
from synthetic_run import SCOPE, made, model_ns, write_run

BY_SIZE = registry.find("aes-gcm-by-size")


def run_of(
    folder: Path,
    ns: Callable[[Cell], float] = model_ns,
    *,
    seed: int = 7,
    scope: Scope = SCOPE,
    restarts: int = 4,
    noise: float = 0.004,
    switches: float = 0.04,
) -> store.Run:
    how = made(ns=ns, restarts=restarts, noise=noise, switches=switches)
    return store.read(write_run(folder, how, [BY_SIZE], seed=seed, scope=scope))


def slowed(device: str, factor: float) -> Callable[[Cell], float]:
    return lambda cell: model_ns(cell) * (factor if cell["device"] == device else 1.0)


def test_a_planted_slowdown_of_one_device_is_found_and_the_other_is_the_same(
    tmp_path: Path,
) -> None:
    before = run_of(tmp_path / "before")
    now = run_of(tmp_path / "now", slowed("cpu", 1.25), seed=8)
    changes = compare(before, now).changes
    assert len(changes) == 2 * 7
    for change in changes:
        slow = change.cell["device"] == "cpu"
        assert change.verdict is (Verdict.SLOWER if slow else Verdict.SAME), change
        assert change.ratio.median == pytest.approx(0.8 if slow else 1.0, rel=0.02)
        assert change.ratio.low <= change.ratio.median <= change.ratio.high
        assert change.ratio.median == pytest.approx(
            change.before_ns.median / change.now_ns.median, rel=0.01
        )


def test_a_run_beside_itself_is_the_same_everywhere(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run")
    compared = compare(run, run)
    assert {change.verdict for change in compared.changes} == {Verdict.SAME}
    assert compared.notes == ()


def test_a_run_of_one_restart_says_nothing_about_another_and_what_would(tmp_path: Path) -> None:
    full, quick = run_of(tmp_path / "full"), run_of(tmp_path / "quick", restarts=1)
    slow = run_of(tmp_path / "slow", slowed("cpu", 1.25), restarts=1)
    for before, now in ((quick, slow), (full, slow), (slow, full)):
        compared = compare(before, now)
        assert {change.verdict for change in compared.changes} == {Verdict.UNSURE}
        assert {change.may_be_judged for change in compared.changes} == {False}
        assert {change.least_difference for change in compared.changes} == {0.04}
        (note,) = compared.notes
        assert note.startswith(
            "14 rows can't be judged, because a run measured them in one process"
        )
        assert "without --quick and with time for more restarts than one (--budget)" in note


def test_between_runs_a_difference_is_what_restarts_of_neither_differ_by(tmp_path: Path) -> None:
    one, other = run_of(tmp_path / "one"), run_of(tmp_path / "other", seed=8)
    assert {change.least_difference for change in compare(one, other).changes} == {0.02}
    noisy = run_of(tmp_path / "noisy", noise=0.03)
    for before, now in ((one, noisy), (noisy, one)):
        least = [change.least_difference for change in compare(before, now).changes]
        assert min(least) > 0.02
    for change in compare(noisy, noisy).changes:
        (series,) = (
            each
            for group in groups(noisy, "aes-gcm-by-size")
            for each in series_of(group)
            if each.cell == change.cell
        )
        apart = restart_range(series.ns, series.restarts)
        assert change.least_difference >= apart > 0


@pytest.mark.parametrize("how", ["busy", "noisy", "drifting"])
def test_a_disturbed_row_is_not_judged(how: str, tmp_path: Path) -> None:
    quiet = run_of(tmp_path / "quiet", restarts=2)
    disturbed = run_of(
        tmp_path / how,
        lambda cell: 2 * model_ns(cell),
        restarts=2,
        noise=0.25 if how == "noisy" else 0.004,
        switches=0.95 if how == "busy" else 0.0,
    )
    if how == "drifting":
        disturbed = drifting(disturbed)
    for before, now in ((quiet, disturbed), (disturbed, quiet)):
        compared = compare(before, now)
        assert {change.verdict for change in compared.changes} == {Verdict.UNSURE}
        assert {change.may_be_judged for change in compared.changes} == {False}
        (note,) = compared.notes
        assert note.startswith("14 rows can't be judged, because a run found the machine busy")


def test_all_rows_of_a_comparison_are_judged_together(tmp_path: Path) -> None:
    # What 2 rows alone would be called, 14 rows together aren't.
    before = run_of(tmp_path / "before", noise=0.012)
    now = run_of(tmp_path / "now", lambda cell: 1.055 * model_ns(cell), noise=0.012, seed=8)
    together = [change.verdict for change in compare(before, now).changes]
    apart = [
        change.verdict
        for group in range(7)
        for change in compare(only(before, group), only(now, group)).changes
    ]
    assert 0 < together.count(Verdict.SLOWER) < apart.count(Verdict.SLOWER)


def drifting(run: store.Run) -> store.Run:
    """The same, but in each restart a block takes 3 % longer than the one before."""

    def longer(at: int, block: Block) -> Block:
        def later(sample: Sample) -> Sample:
            return replace(sample, ns=round(sample.ns * 1.03**at))

        samples = tuple(sample and later(sample) for sample in block.samples)
        return replace(block, samples=samples, again=later(block.again))

    return replace(
        run,
        measured={
            place: tuple((restart, longer(at, block)) for at, (restart, block) in enumerate(blocks))
            for place, blocks in run.measured.items()
        },
    )


def only(run: store.Run, group: int) -> store.Run:
    """The same with the blocks of one group."""
    kept = {place: blocks for place, blocks in run.measured.items() if place[1] == group}
    return replace(run, measured=kept)


def test_cells_that_one_run_alone_has_are_counted(tmp_path: Path) -> None:
    one = run_of(tmp_path / "one")
    more = run_of(tmp_path / "more", scope=replace(SCOPE, devices=("library", "cpu", "table")))
    assert compare(one, more).notes == (
        "not compared, because only the later run has them: 7 rows of aes-gcm-by-size",
    )
    assert compare(more, one).notes == (
        "not compared, because only the earlier run has them: 7 rows of aes-gcm-by-size",
    )
    threads = run_of(tmp_path / "threads", scope=replace(SCOPE, threads=(2,)))
    assert compare(one, threads) == Compared(
        (),
        (
            "not compared, because only the later run has them: 14 rows of aes-gcm-by-size",
            "not compared, because only the earlier run has them: 14 rows of aes-gcm-by-size",
        ),
    )


def test_a_device_that_computed_something_wrong_is_not_compared(tmp_path: Path) -> None:
    right = run_of(tmp_path / "right")
    run_of(tmp_path / "wrong")
    place = {"experiment": "aes-gcm-by-size", "arm": 1, "restart": 0, "facts": {}, "skipped": ""}
    with store.Journal(tmp_path / "wrong" / names.VERIFY) as verify:
        verify.add({**place, "group": group, "wrong": "a tag differs"} for group in range(7))
    wrong = store.read(tmp_path / "wrong")
    assert {change.cell["device"] for change in compare(right, wrong).changes} == {"library"}
    assert {change.cell["device"] for change in compare(wrong, right).changes} == {"library"}


def test_the_table_shows_what_varies_and_the_columns_hold_everything(tmp_path: Path) -> None:
    before = run_of(tmp_path / "before")
    changes = compare(before, run_of(tmp_path / "now", slowed("cpu", 1.25))).changes
    head, first, *_ = changes_text(changes).splitlines()
    assert head.split("  ")[0] == "experiment"
    assert "size_bytes" in head
    assert "threads" not in head
    assert first.endswith("SAME")
    assert " least " in head
    assert " 2.0 % " in first
    assert changes[0].record["least_difference_share"] == 0.02
    assert changes[0].record["threads"] == 1
    assert changes[1].record["verdict"] == "SLOWER"
    assert changes[1].record["times_as_fast_low95"] is not None


def test_published_figures_stand_beside_what_was_found(tmp_path: Path) -> None:
    run = store.read(write_run(tmp_path / "run", made()))
    found = against_published(run, summarise(run)).comparisons
    assert {each.figure for each in found} == {"003-F5", "003-F6", "003-T4", "003-F14", "003-P0"}
    table = published_text(found)
    assert len(table.splitlines()) == 1 + len(found)
    assert "not run here" in table
    for each in found:
        columns = published_record(each)
        assert (columns["here"] is None) == (each.here is None)
        assert columns["match"] == each.match
