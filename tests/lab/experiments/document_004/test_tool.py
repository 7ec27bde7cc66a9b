"""The published copy tool: its file, and its experiments."""

import pytest
from tests.lab.experiments.document_003.made_results import FULL
from tests.lab.experiments.document_003.made_results import results as made

from sealift_lab.experiments.document_004 import copy_experiments, tool
from sealift_lab.experiments.document_004.tool import Tool, ToolLine
from sealift_lab.model.results import Estimate


def test_lines_are_written_as_the_documents_own_and_small_figures_are_not_lost() -> None:
    line = ToolLine("App writes to host-heap", 16, "glibc_memcpy", Estimate(5.785), 1_000, 0)
    tiny = ToolLine("App reads from escape-mmap", 16, "naive_memcpy", Estimate(12.5e-6), 5, 64)
    assert tool.format_file([line, tiny]).splitlines() == [
        "Experiment Description, Copy length (Bytes), Copy Type, Throughput (GBps), "
        "Number of Runs, Number of Threads",
        "App writes to host-heap, 16, glibc_memcpy, 5.785, 1000, 0",
        "App reads from escape-mmap, 16, naive_memcpy, 0.000012500, 5, 64",
    ]


def test_a_file_of_another_kind_is_refused_with_its_head() -> None:
    tool.check_file(tool.format_file([]))
    tool.check_file(f"{tool.HEADER.rpartition(', ')[0].replace('GBps', 'Gbps')}\n")
    for text, first in (("", "''"), ("a,b,c\n1,2,3", "'a,b,c'")):
        with pytest.raises(ValueError, match=f"line 1: {first} is no head"):
            tool.check_file(text)


def test_rows_of_a_run_become_lines_with_the_axes_that_the_tool_lacks() -> None:
    results = made(copy_experiments.BY_LENGTH, FULL, lambda _: 12_345.0)
    (row,) = results.select(size_bytes=4_096, function="ours", state="cold")
    (line,) = tool.lines_of([row])
    named = "App writes to host-heap cold calibrated"
    assert line.gb_per_s is not None
    assert line.gb_per_s.value == pytest.approx(12.345)
    assert line == ToolLine(named, 4_096, "ours_memcpy", line.gb_per_s, 30, 0)
    with pytest.raises(ValueError, match="no row of this run is a copy"):
        tool.lines_of([])


@pytest.mark.parametrize("as_published", [False, True])
def test_the_tool_measures_its_functions_length_by_length(*, as_published: bool) -> None:
    settings = Tool((0,), 2, 6, 0, 0, keeps_region=False, region=None, as_published=as_published)
    results = list(tool.run_tool(settings, 0))
    assert [each.size_bytes for each in results] == [16] * 3 + [256] * 3
    assert {each.experiment for each in results} == {tool.NAMES[0]}
    assert [each.function for each in results[:2]] == ["glibc_memcpy", "naive_memcpy"]
    for each in results:
        if each.skipped:
            continue
        assert each.gb_per_s is not None
        assert each.gb_per_s.value > 0
        # Six samples carry an interval of 95 %; the published way has one figure.
        assert (each.gb_per_s.low is None) == as_published
