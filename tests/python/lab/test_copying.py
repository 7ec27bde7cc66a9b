"""Document 004's experiments: their cells, their sentences, and what stands beside what."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sealift.lab import registry
from sealift.lab.copying import copy_arm, region_in, runs_of
from sealift.lab.published import Match
from sealift.lab.result import Found, Row
from sealift.lab.spec import Context, Experiment, Scope, Skip
from sealift.lab.stats import Interval
from sealift.lab.values import Cell

FULL = Scope(quick=False, cores=2, devices=("library", "cpu"))
NAMED = Scope(quick=False, cores=2, devices=("library", "cpu"), memories=("region",))


def made(name: str, mb_per_s: Callable[[Cell], float]) -> Found:
    """What an experiment finds whose arms have these speeds."""
    experiment = registry.find(name)
    groups = experiment.groups(FULL)
    rows = [row(experiment, cell, mb_per_s(cell)) for group in groups for cell in group]
    return Found(rows, ())


def row(experiment: Experiment, cell: Cell, mb_per_s: float) -> Row:
    size_bytes = float(cell["size_bytes"])
    ns = size_bytes / mb_per_s * 1_000
    return Row(
        experiment=experiment.name,
        cell=cell,
        compare=experiment.compare,
        ns_per_operation=Interval(ns, ns * 0.999, ns * 1.001, 0.95, 60),
        payload_bytes=size_bytes,
        reference="",
        ratio=None,
        verdict=None,
        winner=True,
        noise_floor=0.01,
        clean_share=1.0,
        machine_busy=False,
        steady=True,
        blocks=60,
    )


def test_a_file_beyond_memory_is_left_out_with_what_would_allow_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = registry.find("file-or-mapping")
    cells = [cell for group in experiment.groups(FULL) for cell in group]
    states = {(cell["file"], cell["state"]) for cell in cells}
    assert states == {("inside memory", "cold"), ("beyond memory", "beyond memory")}
    beyond = next(cell for cell in cells if cell["file"] == "beyond memory")
    monkeypatch.delenv("SEALIFT_MEMORY_GROUP", raising=False)
    with pytest.raises(Skip, match="only below one that SEALIFT_MEMORY_GROUP names as yours"):
        experiment.arm(beyond, Context(seed=1, folder=tmp_path))
    monkeypatch.setenv("SEALIFT_MEMORY_GROUP", str(tmp_path))
    with pytest.raises(Skip, match=f"names {tmp_path}: it is no control group of memory; "):
        experiment.arm(beyond, Context(seed=1, folder=tmp_path))
    assert not list(tmp_path.iterdir()), "nothing was made"


def test_a_copy_that_collapses_at_an_offset_is_named_with_what_to_do() -> None:
    def fallen(cell: Cell) -> float:
        bad = cell["function"] == "glibc" and cell["offset"] in (1, 8, 12, 15)
        return 3_000.0 if bad and cell["size_bytes"] == 65_536 else 60_000.0

    said = registry.find("copy-offsets").says(made("copy-offsets", fallen))
    assert "19.96 times as slow here when the destination lies 1, 8, 12, 15 bytes behind" in said
    assert "for copies of 64 KiB: keep payload at a multiple of 64 bytes" in said


def test_a_copy_that_does_not_collapse_is_said_not_to() -> None:
    said = registry.find("copy-offsets").says(made("copy-offsets", lambda _: 60_000.0))
    assert said.startswith("The C library's copy does not collapse at any offset")
    assert registry.find("copy-offsets").says(Found((), ())) == ""


def test_a_copy_that_is_slower_at_an_offset_without_collapsing_is_not_called_harmless() -> None:
    def slower(cell: Cell) -> float:
        return 22_000.0 if cell["function"] == "glibc" and cell["offset"] == 12 else 60_000.0

    said = registry.find("copy-offsets").says(made("copy-offsets", slower))
    assert said.endswith("times as slow as at offset 0.")


def test_each_cause_why_threads_do_not_help_is_told_where_it_was_measured() -> None:
    experiment = registry.find("why-threads")
    everything = made(
        "why-threads", lambda cell: 20_000.0 if cell["cause"] == "first touch" else 60_000.0
    )
    said = experiment.says(everything)
    assert "first touch 3.0" in said
    assert "huge pages 1.0" in said
    small = [row for row in everything.rows if row.cell["size_bytes"] == 65_536]
    assert experiment.says(Found(small, ())) == ""
    assert experiment.says(Found((), ())) == ""


def test_wide_intervals_settle_no_collapse() -> None:
    narrow = made("copy-offsets", lambda _: 60_000.0)
    wide = [
        replace(each, ns_per_operation=Interval(1.0, 0.1, 10.0, 0.95, 60)) for each in narrow.rows
    ]
    said = registry.find("copy-offsets").says(Found(wide, ()))
    assert said.startswith("Whether the C library's copy collapses at an offset is not settled")
    pairs = zip(narrow.rows, wide, strict=True)
    mixed = [near if near.cell["size_bytes"] != 4_096 else far for near, far in pairs]
    said = registry.find("copy-offsets").says(Found(mixed, ()))
    assert "measured here for copies of 64 KiB, 512 KiB: it is at most" in said
    assert "not settled here for copies of 4 KiB: the intervals are too wide" in said


def test_traffic_is_told_apart_from_payload() -> None:
    def speed(cell: Cell) -> float:
        return {"copy past the caches": 10_000.0, "read, words": 15_000.0}.get(
            str(cell["kernel"]), 8_000.0
        )

    experiment = registry.find("004-M")
    said = experiment.says(made("004-M", speed))
    # A copy moves its payload twice.
    assert "memory moves 20.00 GB/s, of which a copy of 4 MiB or more past the caches moves" in said
    assert "and by Sealift moves 80.0 %" in said
    (limit,) = experiment.published(made("004-M", speed))
    assert limit.here is not None
    assert limit.here.median == pytest.approx(20_000)


def test_the_published_points_are_drawn_once_each_and_judged() -> None:
    by_threads = registry.find("004-A")
    assert len([each for each in by_threads.published(Found((), ())) if each.series]) == 69
    comparisons = by_threads.published(made("004-A", lambda _: 12_700.0))
    same = [each for each in comparisons if each.published == pytest.approx(12_700)]
    assert {each.match for each in same} == {Match.ALIKE}
    assert all(each.match is Match.NOT_RUN for each in comparisons if "escape" in each.what), (
        "no region was named"
    )


def test_a_region_has_cells_only_where_one_was_named(tmp_path: Path) -> None:
    for name in ("004-A", "004-B", "004-C", "004-T"):
        experiment = registry.find(name)
        assert not any(has_region(experiment, FULL))
        assert any(has_region(experiment, NAMED))
    cell: Cell = {"memory": "region", "size_bytes": 4_096, "threads": 1, "function": "words"}
    with pytest.raises(Skip, match="--region PATH:OFFSET:LENGTH"):
        copy_arm(cell, Context(seed=1, folder=tmp_path))
    legend = {"region": "/a:b/resource0:4096:8192"}
    assert region_in(cell, legend) == (Path("/a:b/resource0"), 4_096, 8_192)
    (tmp_path / "stand").write_bytes(bytes(8_192))
    legend = {"region": f"{tmp_path / 'stand'}:4096:4096"}
    arm = copy_arm(cell, Context(seed=1, folder=tmp_path, legend=legend))
    arm.sample(0.001)
    held = (tmp_path / "stand").read_bytes()
    assert held[:4_096] == bytes(4_096)
    assert held[4_096:] != bytes(4_096)


def has_region(experiment: Experiment, scope: Scope) -> list[bool]:
    cells = [cell for group in experiment.groups(scope) for cell in group]
    return ["region" in cell.values() for cell in cells]


def test_the_number_of_runs_stands_in_the_way() -> None:
    assert runs_of("as published") == 5
    assert runs_of("as published, 1000 runs") == 1_000
