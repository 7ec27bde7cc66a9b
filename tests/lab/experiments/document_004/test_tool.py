"""The published copy tool: its file, written and read, and its experiments."""

from collections.abc import Callable

import pytest

from sealift_lab.experiments.document_004 import by_length
from sealift_lab.experiments.document_004.tool import NAMES, Tool, run_tool
from sealift_lab.experiments.document_004.tool_file import (
    HEADER,
    ToolLine,
    format_file,
    lines_of,
    parse_file,
)
from sealift_lab.model.results import Results

Make = Callable[..., Results]
LINES = (
    ToolLine("App writes to host-heap", 16, "glibc_memcpy", 5.785, 1_000, 0),
    ToolLine("App reads from escape-mmap", 16_777_216, "naive_memcpy", 0.003, 5, 64),
)


def test_the_documents_own_lines_are_written_as_they_stand_there() -> None:
    assert format_file(LINES[:1]).splitlines() == [
        "Experiment Description, Copy length (Bytes), Copy Type, Throughput (GBps), "
        "Number of Runs, Number of Threads",
        "App writes to host-heap, 16, glibc_memcpy, 5.785, 1000, 0",
    ]


def test_files_are_read_as_they_were_written_and_small_figures_are_not_lost() -> None:
    assert parse_file(format_file(LINES)) == LINES
    tiny = ToolLine("App writes to host-heap", 16, "glibc_memcpy", 0.000_012_5, 5, 64)
    assert parse_file(format_file([tiny]))[0].gb_per_s == pytest.approx(0.000_012_5, rel=1e-3)


def test_older_files_without_threads_are_read_and_0_000_is_no_figure() -> None:
    head = HEADER.rpartition(", ")[0].replace("GBps", "Gbps")
    (line,) = parse_file(f"{head}\nApp writes to host-heap, 16, glibc_memcpy, 0.000, 5\n")
    assert (line.threads, line.gb_per_s) == (0, None)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "line 1: '' is no head"),
        ("a,b,c", "line 1: 'a, b, c' is no head"),
        (f"{HEADER}\n1, 2, 3", "line 2: 3 columns; right would be 6"),
        (f"{HEADER}\n\nx, -1, f, 1.0, 5, 0", "line 3: a length of '-1'; right would be 1 or more"),
        (f"{HEADER}\nx, 16, f, nan, 5, 0", "line 2: a throughput of 'nan'"),
        (f"{HEADER}\nx, 16, f, 1.0, 0, 0", "line 2: a number of runs of '0'"),
        (f"{HEADER}\nx, 16, f, 1.0, 5, x", "line 2: a number of threads of 'x'"),
    ],
)
def test_a_file_of_another_kind_is_refused_with_its_line(text: str, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        parse_file(text)


def test_rows_of_a_run_become_lines_with_the_axes_that_the_tool_lacks(make: Make) -> None:
    results = make(by_length.EXPERIMENT, lambda _: 12_345.0)
    (row,) = results.select(size_bytes=4_096, function="ours", state="cold")
    (line,) = lines_of([row])
    named = "App writes to host-heap cold calibrated"
    assert line.gb_per_s == pytest.approx(12.345)
    assert line == ToolLine(named, 4_096, "ours_memcpy", line.gb_per_s, 60, 0)
    with pytest.raises(ValueError, match="no row of this run is a copy"):
        lines_of([])


@pytest.mark.parametrize("as_published", [False, True])
def test_the_tool_measures_its_functions_length_by_length(*, as_published: bool) -> None:
    tool = Tool((0,), 2, 6, 0, 0, keeps_region=False, region=None, as_published=as_published)
    results = list(run_tool(tool, 0))
    assert [each.line.size_bytes for each in results] == [16] * 3 + [256] * 3
    assert {each.line.experiment for each in results} == {NAMES[0]}
    assert [each.line.function for each in results[:2]] == ["glibc_memcpy", "naive_memcpy"]
    for each in results:
        if each.skipped:
            continue
        assert each.gb_per_s is not None
        assert each.gb_per_s.value > 0
        # Six samples carry an interval of 95 %; the published way has one figure.
        assert (each.gb_per_s.low is None) == as_published
