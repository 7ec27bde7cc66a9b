"""Document 004's copies: cells, arms, and the published figures beside one row each."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tests.lab.experiments.document_003.made_results import FULL, cells
from tests.lab.experiments.document_003.made_results import results as made

from sealift_lab.experiments.document_004 import (
    EXPERIMENTS,
    copies,
    copy_experiments,
    mappings,
    tool,
)
from sealift_lab.experiments.document_004.copies import copy_arm
from sealift_lab.model.arm import Cell, Context, Skip, fits
from sealift_lab.model.experiment import Experiment, Scope
from sealift_lab.model.published import Missing, Number, Published, Rate, Scaled, Times, table
from sealift_lab.model.results import Origin, Results

NAMED = replace(FULL, memories=("region",))
NOTHING = Results((), ())


def test_ids_and_numbers_of_cells_stay_where_functions_make_the_cells() -> None:
    every = {each.name: each for each in EXPERIMENTS}
    for name, figure, alone, with_region in (
        ("copy-by-length", "004-C", 378, 612),
        ("copy-by-function", "004-B", 224, 420),
        ("copy-by-direction", "004-R2", 108, 162),
    ):
        each = every[name]
        counts = len(cells(each, FULL)), len(cells(each, NAMED))
        assert (each.id, *counts) == (figure, alone, with_region)


def test_a_quick_run_looks_for_slow_offsets_alone() -> None:
    quick = Scope(quick=True, cores=2, devices=())
    assert [each.name for each in EXPERIMENTS if cells(each, quick)] == ["copy-offsets"]


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda each: each.name)
def test_each_published_figure_stands_beside_one_row_where_a_region_was_named(
    experiment: Experiment,
) -> None:
    scope = replace(NAMED, cores=64, threads=copies.THREADS)
    every = cells(experiment, scope)
    # Without rows of a region, or of many cores, some say what is missing.
    for each in experiment.published(made(experiment, scope)):
        for where in wheres(each):
            assert sum(fits(cell, where) for cell in every) == 1, (each.what, where)


def wheres(published: Published) -> list[Cell]:
    match published.here:
        case Rate(where) | Scaled(Rate(where), _):
            return [where]
        case Times(where, other) | Scaled(Times(where, other), _):
            return [where, other]
        case Number():
            return []
    raise AssertionError(published.here)


def test_published_points_are_drawn_once_each_and_files_beside_the_published_way() -> None:
    def published(experiment: Experiment) -> list[Published]:
        return [*experiment.published(NOTHING)]

    by_threads, example = (
        published(copy_experiments.BY_THREADS),
        published(copy_experiments.EXAMPLE),
    )
    assert [sum(bool(each.series) for each in some) for some in (by_threads, example)] == [133, 12]
    by_length = published(copy_experiments.BY_LENGTH)
    files = {
        figure: [each for each in (*example, *by_length) if each.figure == figure]
        for figure in ("004-C", "004-R2")
    }
    # Four rows that the document prints, and its authors' files of 5 and of 100 runs, whole.
    assert len(files["004-R2"]) == 4 + 108
    assert len(files["004-C"]) == 144 + 35
    assert not any(each.series for each in files["004-R2"]), "drawn once, with 004-R1"


def test_every_sentence_of_the_document_has_a_figure_or_a_reason() -> None:
    sentences: dict[str, list[Published]] = {}
    for each in EXPERIMENTS:
        for published in each.published(made(each, FULL)):
            for claim in table("004-X1-claims"):
                if claim["as_printed"] in published.note:
                    sentences.setdefault(claim["claim_id"], []).append(published)
    judged = {"escape-gap", "heap-limit", "thread-knee", "winner", "only-without-mmap", "eviction"}
    assert judged <= sentences.keys()
    missing = {
        name: [each.here.reason for each in every if isinstance(each.here, Missing)]
        for name, every in sentences.items()
    }
    assert all("no region was named" in why for why in missing.pop("escape-gap"))
    assert all("2 threads have a core here" in why for why in missing.pop("thread-knee"))
    assert not any(missing.values())


def test_the_printed_limit_and_the_measured_ceiling_stand_in_every_chart_of_copies() -> None:
    ceiling = copy_experiments.CEILING
    assert [line.value for line in ceiling.lines(NOTHING)] == [pytest.approx(23_460)]
    found = made(ceiling, FULL, lambda cell: 9_000.0 if cell["threads"] == 2 else 5_000.0)
    printed, measured = ceiling.lines(found)
    assert (printed.origin, measured.origin) == (Origin.PUBLISHED, Origin.MEASURED)
    assert measured.value == pytest.approx(18_000), "a copy past the caches moves its payload twice"
    charts = [e for e in EXPERIMENTS if any(c.y == "MB/s" for c in e.charts) and e is not ceiling]
    assert len(charts) == len(EXPERIMENTS) - 1
    assert all(ceiling.name in each.lines_of for each in charts)


ARMS = (
    (copy_experiments.BY_THREADS, {"size_bytes": 4_096, "threads": 2}),
    (copy_experiments.BY_FUNCTION, {"size_bytes": 65_536, "threads": 1}),
    (copy_experiments.BY_LENGTH, {"size_bytes": 4_096}),
    (tool.EXPERIMENT, {"size_bytes": 256}),
    (mappings.EXPERIMENT, {"size_bytes": 4_096, "threads": 2}),
    (copy_experiments.EXAMPLE, {"size_bytes": 256, "function": "sse2"}),
    (copy_experiments.OFFSETS, {"size_bytes": 4_096, "offset": 12}),
    (copy_experiments.WHY_THREADS, {"size_bytes": 65_536}),
    (copy_experiments.CEILING, {"size_bytes": 4 << 20, "threads": 1, "kernel": "copy by Sealift"}),
)


@pytest.mark.parametrize(("experiment", "where"), ARMS, ids=lambda each: getattr(each, "name", ""))
def test_arms_copy_what_their_cells_name(
    experiment: Experiment, where: Mapping[str, str | int], tmp_path: Path
) -> None:
    context = Context(seed=1, folder=tmp_path)
    count = 0
    for cell in cells(experiment, FULL):
        if fits(cell, where):
            try:
                arm = experiment.arm(cell, context)
            except Skip as skip:
                assert str(skip)  # noqa: PT017 (instructions that this machine lacks)
                continue
            sample = arm.sample(0.001)
            assert sample.bytes == sample.operations * int(cell["size_bytes"])
            count += 1
    assert count


def test_the_published_queue_stands_beside_the_same_copies_without_it(tmp_path: Path) -> None:
    context = Context(seed=1, folder=tmp_path)
    details = [
        str(copy_experiments.WHY_THREADS.arm(cell, context).report()["detail"])
        for cell in cells(copy_experiments.WHY_THREADS, FULL)[:11]
        if "published" in str(cell["cause"])
    ]
    assert details[0].endswith("a pool under one lock, polled every 10 µs")
    assert details[1].endswith("no pool")


def test_a_region_has_cells_only_where_one_was_named(tmp_path: Path) -> None:
    for name in ("BY_LENGTH", "BY_THREADS", "BY_FUNCTION", "WHY_THREADS"):
        experiment = getattr(copy_experiments, name)
        without, named = (
            ["region" in cell.values() for cell in cells(experiment, scope)]
            for scope in (FULL, NAMED)
        )
        assert not any(without)
        assert any(named)
    cell: Cell = {"memory": "region", "size_bytes": 4_096, "threads": 1, "function": "words"}
    with pytest.raises(Skip, match="--region PATH:OFFSET:LENGTH"):
        copy_arm(cell, Context(seed=1, folder=tmp_path))
    device = tmp_path / "0000:00:04.0"
    device.write_bytes(bytes(8_192))
    legend = {"region": f"{device}:4096:4096"}
    copy_arm(cell, Context(seed=1, folder=tmp_path, legend=legend)).sample(0.001)
    contents = device.read_bytes()
    assert contents[:4_096] == bytes(4_096)
    assert contents[4_096:] != bytes(4_096)


def test_a_ceiling_stands_on_kernels_whose_traffic_is_known_exactly() -> None:
    speeds = {"copy past the caches": 10_000.0, "read, words": 15_000.0}
    results = made(
        copy_experiments.CEILING, FULL, lambda cell: speeds.get(str(cell["kernel"]), 8_000.0)
    )
    limit, *_ = copy_experiments.CEILING.published(results)
    assert isinstance(limit.here, Scaled)
    assert isinstance(limit.here.figure, Rate)
    assert limit.here.figure.where["kernel"] == "copy past the caches"
    assert limit.here.factor == 2, "a copy moves its payload twice"
    assert limit.value == pytest.approx(23_460)


def test_costs_are_stored_only_where_every_length_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caches = tmp_path / "caches"
    monkeypatch.setenv("XDG_CACHE_HOME", str(caches))
    experiment = copy_experiments.BY_LENGTH
    whole = made(experiment, FULL, lambda _: 10_000.0)
    lacking = Results([row for row in whole.rows if row.cell["size_bytes"] != 4_194_304], ())
    few = Results([replace(row, blocks=2) for row in whole.rows], ())
    endless = made(experiment, FULL, lambda _: 1e-300)
    assert "3 right blocks are needed of 4,194,304 bytes" in experiment.on_finish(lacking)
    assert "3 right blocks are needed of 16 bytes" in experiment.on_finish(few)
    assert "for cards: a copy of 16 bytes takes" in experiment.on_finish(endless)
    assert experiment.on_finish(NOTHING) == ""
    assert not caches.exists()
    assert experiment.on_finish(whole).startswith("costs of copies here are stored in ")
    assert len(list(caches.rglob("*.*"))) == 1
