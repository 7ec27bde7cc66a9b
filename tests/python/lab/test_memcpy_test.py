"""The published copy tool's file, written and read."""

import pytest

from sealift.lab.memcpy_test import HEADER, Line, lines_of, parse, text_of
from sealift.lab.record import Record

LINES = (
    Line("App writes to host-heap", 16, "glibc_memcpy", 5.785, 1_000, 0),
    Line("App reads from escape-mmap", 16_777_216, "naive_memcpy", 0.003, 5, 64),
)
ROW: Record = {
    "memory": "shm",
    "size_bytes": 4_096,
    "function": "ours",
    "threads": 1,
    "state": "cold",
    "payload_MB_per_s": 12_345.0,
    "blocks": 60,
}


def test_the_documents_own_lines_are_written_as_they_stand_there() -> None:
    assert text_of(LINES[:1]).splitlines() == [
        "Experiment Description, Copy length (Bytes), Copy Type, Throughput (GBps), "
        "Number of Runs, Number of Threads",
        "App writes to host-heap, 16, glibc_memcpy, 5.785, 1000, 0",
    ]


def test_what_was_written_is_read_again_and_small_figures_are_not_lost() -> None:
    assert parse(text_of(LINES)) == LINES
    tiny = Line("App writes to host-heap", 16, "glibc_memcpy", 0.000_012_5, 5, 64)
    assert parse(text_of([tiny]))[0].gb_per_s == pytest.approx(0.000_012_5, rel=1e-3)


def test_older_files_without_threads_are_read_and_0_000_tells_nothing() -> None:
    head = HEADER.rpartition(", ")[0].replace("GBps", "Gbps")
    (line,) = parse(f"{head}\nApp writes to host-heap, 16, glibc_memcpy, 0.000, 5\n")
    assert (line.threads, line.gb_per_s) == (0, None)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "line 1: '' is no head"),
        ("a,b,c", "line 1: 'a, b, c' is no head"),
        (f"{HEADER}\n1, 2, 3", "line 2: 3 columns; right would be 6"),
        (f"{HEADER}\n\nx, -1, f, 1.0, 5, 0", "line 3: a length of '-1'; right would be 1 or more"),
        (f"{HEADER}\nx, 16, f, fast, 5, 0", "line 2: a throughput of 'fast'"),
        (f"{HEADER}\nx, 16, f, nan, 5, 0", "line 2: a throughput of 'nan'"),
        (f"{HEADER}\nx, 16, f, 1.0, 0, 0", "line 2: a number of runs of '0'"),
        (f"{HEADER}\nx, 16, f, 1.0, 5, x", "line 2: a number of threads of 'x'"),
    ],
)
def test_a_file_of_another_kind_is_refused_with_its_line(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        parse(text)


def test_rows_of_a_run_become_lines_that_say_what_the_tool_has_no_column_for() -> None:
    (line,) = lines_of([ROW, {**ROW, "wrong": "byte 0"}, {"size_bytes": 16, "device": "cpu"}])
    assert line == Line("App writes to host-mmap cold", 4_096, "ours_memcpy", 12.345, 60, 0)
    with pytest.raises(ValueError, match="no row of this run is a copy"):
        lines_of([{"size_bytes": 16, "device": "cpu"}])
