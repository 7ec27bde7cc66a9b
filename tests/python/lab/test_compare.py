"""Two runs beside each other, whose true speeds are known."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sealift.lab import registry, store
from sealift.lab.compare import (
    Compared,
    against_published,
    changes_text,
    compare,
    published_record,
    published_text,
)
from sealift.lab.spec import Scope
from sealift.lab.stats import Verdict
from sealift.lab.store import names
from sealift.lab.summary import summarise
from sealift.lab.values import Cell
from synthetic_run import SCOPE, made, model_ns, write_run

BY_SIZE = registry.find("aes-gcm-by-size")


def run_of(
    folder: Path, ns: Callable[[Cell], float] = model_ns, *, seed: int = 7, scope: Scope = SCOPE
) -> store.Run:
    return store.read(write_run(folder, made(ns=ns), [BY_SIZE], seed=seed, scope=scope))


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
    assert changes[0].record["threads"] == 1
    assert changes[1].record["verdict"] == "SLOWER"
    assert changes[1].record["times_as_fast_low95"] is not None


def test_published_figures_stand_beside_what_was_found(tmp_path: Path) -> None:
    run = store.read(write_run(tmp_path / "run", made()))
    found = list(against_published(run, summarise(run)))
    assert {each.figure for each in found} == {"003-F5", "003-F6", "003-T4", "003-F14", "003-P0"}
    table = published_text(found)
    assert len(table.splitlines()) == 1 + len(found)
    assert "not run here" in table
    for each in found:
        columns = published_record(each)
        assert (columns["here"] is None) == (each.here is None)
        assert columns["match"] == each.match
