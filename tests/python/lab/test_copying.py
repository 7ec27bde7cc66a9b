"""Document 004's experiments: their cells, their sentences, and what stands beside what."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sealift.lab import registry
from sealift.lab.copying import copy_arm, region_in, runs_of
from sealift.lab.memory import copy_bytes
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
    assert "modulo 4,096, by 1, 8, 12 or 15 bytes (copies of 64 KiB): a copy of 64 KiB" in said
    assert (
        "takes 20.00 [19.96..20.04] times as long at 1 as at 0; keep payload at a multiple" in said
    )
    assert "as Sealift does, 20.00 [19.96..20.04] times as fast there." in said
    assert said.count(". ") == 0, "one sentence"


def test_a_collapse_is_told_by_pairs_of_length_and_offset() -> None:
    places = {(4_096, 1), (524_288, 1), (1_048_576, 15)}

    def fallen(cell: Cell) -> float:
        bad = cell["function"] == "glibc" and (cell["size_bytes"], cell["offset"]) in places
        return 3_000.0 if bad else 60_000.0

    said = registry.find("copy-offsets").says(made("copy-offsets", fallen))
    assert "by 1 byte (copies of 4 KiB and 512 KiB); or by 15 bytes (copies of 1 MiB): " in said


def test_a_copy_that_does_not_collapse_is_said_not_to() -> None:
    said = registry.find("copy-offsets").says(made("copy-offsets", lambda _: 60_000.0))
    assert said.startswith("The C library's copy does not collapse at any offset")
    assert registry.find("copy-offsets").says(Found((), ())) == ""


def test_a_copy_that_is_slower_at_an_offset_without_collapsing_is_not_called_harmless() -> None:
    def slower(cell: Cell) -> float:
        return 22_000.0 if cell["function"] == "glibc" and cell["offset"] == 12 else 60_000.0

    said = registry.find("copy-offsets").says(made("copy-offsets", slower))
    assert "takes at most 2.733 times as long as at offset 0, which payload at a multiple" in said
    assert "anywhere" not in said


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


def test_the_published_queue_stands_beside_the_same_copies_without_it() -> None:
    def slow(cell: Cell) -> float:
        by_cause = {"the published queue": 5_000.0, "the published way without it": 20_000.0}
        return by_cause.get(str(cell["cause"]), 60_000.0)

    experiment = registry.find("why-threads")
    said = experiment.says(made("why-threads", slow))
    assert "a copy of 1 MiB by 1 thread: " in said
    assert "the published queue 12.00 [11.98..12.02]" in said
    assert said.endswith("; of that queue's, the queue alone 4.000 [3.992..4.008].")
    context = Context(seed=1, folder=Path())
    details = {
        str(cell["cause"]): str(experiment.arm(cell, context).verified()["detail"])
        for cell in experiment.groups(FULL)[0]
        if "published" in str(cell["cause"])
    }
    assert details["the published queue"].endswith("a pool under one lock, polled every 10 µs")
    assert details["the published way without it"].endswith("no pool")


def test_the_tools_own_files_stand_beside_the_same_way_of_measuring() -> None:
    experiment = registry.find("004-R1")
    own = made("004-R1", lambda _: 379.0)
    lengths = made("copy-by-length", lambda _: 14_066.0)
    every = experiment.published(Found(own.rows, (), {"copy-by-length": lengths}))
    file = [each for each in every if each.figure == "004-R2"]
    # Four rows that the document prints, and the heap's of its authors' file of 5 runs.
    assert len(file) == 4 + 36
    assert not any(each.series for each in file), "drawn once, with 004-R1"
    by_runs = {each.note.rpartition(", ")[2] for each in file}
    assert by_runs == {"5 runs", "1000 runs"}
    told = {each.what: each.match for each in file if each.note.endswith(", 5 runs")}
    assert told["glibc_memcpy writes to host-heap, 16 B, no pool"] is Match.ALIKE
    assert told["glibc_memcpy writes to host-heap, 1,024 B, no pool"] is Match.ALIKE
    alone = experiment.published(own)
    assert {each.match for each in alone if "1,024 B" in each.what} == {Match.NOT_RUN}


def test_the_memory_of_a_copy_is_reckoned_as_native_code_takes_it() -> None:
    for size_bytes, threads, state in ((16 << 20, 3, "cold"), (5 << 20, 2, "hot")):
        # A process of its own: arms that want the same memory share it.
        asked = [str(size_bytes), str(threads), state]
        ran = subprocess.run(
            [sys.executable, "-c", TAKING, *asked], capture_output=True, text=True, check=True
        )
        reckoned = copy_bytes(size_bytes, threads=threads, is_cold=state == "cold")
        assert int(ran.stdout) == pytest.approx(reckoned, rel=0.15), state
    one = copy_bytes(5 << 20, threads=1, is_cold=False)
    assert copy_bytes(5 << 20, threads=8, is_cold=False, is_shared=True) == one


TAKING = """
import resource, sys
from pathlib import Path
from sealift.lab.copying import copy_arm
from sealift.lab.spec import Context

def resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

size_bytes, threads, state = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
cell = {"function": "words", "size_bytes": size_bytes, "threads": threads, "state": state}
before = resident_bytes()
arm = copy_arm(cell, Context(seed=1, folder=Path()))
print(resident_bytes() - before)
arm.sample(0.001)
"""


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
    assert "measured here for copies of 64 KiB, 512 KiB and 1 MiB: it takes at most" in said
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
    assert "and by Sealift moves at least 80.0 %" in said
    (limit,) = experiment.published(made("004-M", speed))
    assert limit.here is not None
    assert limit.here.median == pytest.approx(20_000)
    fast = made("004-M", lambda cell: 90_000.0 if cell["kernel"] == "copy by Sealift" else 5_000.0)
    assert "memory moves 10.00 GB/s" in experiment.says(fast), (
        "what is known of its traffic is the least: no ceiling stands on it"
    )


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
