"""The published copy tool: its file in every version, and its experiments."""

import pytest
from tests.lab.experiments.document_003.made_results import FULL, cells
from tests.lab.experiments.document_003.made_results import results as made

from sealift_lab.experiments.document_004 import copy_experiments, tool
from sealift_lab.experiments.document_004.tool import ToolLine
from sealift_lab.model.published import table
from sealift_lab.model.results import Estimate


def test_lines_are_the_documents_byte_for_byte() -> None:
    printed = [
        ToolLine(
            row["experiment"],
            int(row["bytes"]),
            f" {name}" if (name := row["copy_function"]) == "apex_memcpy" else name,
            Estimate(float(row["throughput_gb_s"])),
            int(row["runs"]),
            int(row["threads"]),
        )
        for row in table("004-R2-csv-head")
    ]
    assert tool.format_file(printed, small_decimals=3).splitlines() == [
        "Experiment Description, Copy length (Bytes), Copy Type, Throughput (GBps), "
        "Number of Runs, Number of Threads",
        "App writes to host-heap,16,glibc_memcpy,5.785,1000,0",
        "App writes to host-heap,16,naive_memcpy,9.473,1000,0",
        "App writes to host-heap,16, apex_memcpy,5.382,1000,0",
        "App writes to host-heap,256,glibc_memcpy,49.089,1000,0",
    ]


def test_small_figures_are_lost_only_where_the_tool_loses_them() -> None:
    tiny = ToolLine("App reads from escape-mmap", 16, "naive_memcpy", Estimate(12.5e-6), 5, 64)
    of_ours, of_the_tool = (
        tool.format_file([tiny], decimals).splitlines()[1] for decimals in (9, 3)
    )
    assert of_ours == "App reads from escape-mmap,16,naive_memcpy,0.000012500,5,64"
    assert of_the_tool == "App reads from escape-mmap,16,naive_memcpy,0.000,5,64"


def test_files_of_every_version_are_read() -> None:
    old = (
        "Experiment Description, Copy lenth (Bytes), Copy Type, Throughput (Gbps), Number of Runs\n"
        "App writes to host-heap, 16,  apex_memcpy, 2.759, 100\n"
    )
    (line,) = tool.parse_file(old)
    assert line == ToolLine("App writes to host-heap", 16, "apex_memcpy", Estimate(2.759), 100, 0)
    new = ToolLine("App reads from host-mmap", 256, "glibc_memcpy", Estimate(1.5), 5, 8)
    assert tool.parse_file(tool.format_file([new])) == [new]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: '' is no head"),
        ("a,b,c\n1,2,3", "line 1: 'a,b,c' is no head"),
        (f"{tool.HEADER}\nApp,16,glibc_memcpy,fast,5,0", "line 2: 'App,16"),
        (f"{tool.HEADER}\nApp,16,glibc_memcpy", "line 2: .* five or six columns"),
    ],
)
def test_a_file_of_another_kind_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        tool.parse_file(text)


def test_rows_of_a_run_become_lines_with_the_axes_that_the_tool_lacks() -> None:
    results = made(copy_experiments.BY_LENGTH, FULL, lambda _: 12_345.0)
    where = {"memory": "heap", "size_bytes": 4_096, "state": "cold"}
    (row,) = results.select(**where, function="ours")
    (line,) = tool.lines_of([row])
    named = "App writes to host-heap cold calibrated"
    assert line.gb_per_s is not None
    assert line.gb_per_s.value == pytest.approx(12.345)
    assert line == ToolLine(named, 4_096, "ours_memcpy", line.gb_per_s, 30, 0)
    (apex,) = results.select(**where, function="apex")
    assert tool.lines_of([apex])[0].function == " apex_memcpy"
    with pytest.raises(ValueError, match="no row of this run is a copy"):
        tool.lines_of([])


def test_a_run_has_the_tools_six_experiments_by_their_names() -> None:
    results = made(tool.EXPERIMENT, FULL, lambda _: 1_000.0)
    assert len(cells(tool.EXPERIMENT, FULL)) == 4 * 9 * 3
    assert {line.experiment for line in tool.lines_of(results.rows)} == set(tool.NAMES[:4])
