"""`lab copy`, with an ordinary file in the place of a device's memory."""

import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from tests.lab.cli.commands import invoke, refused

from sealift.exit_code import ExitCode
from sealift_lab.cli import copy_tool
from sealift_lab.experiments.document_004 import tool
from sealift_lab.model.arm import WrongResultError

PAGE = 4_096


def test_the_tools_lines_come_with_intervals_and_its_file_with_six_columns(tmp_path: Path) -> None:
    file = tmp_path / "results.csv"
    done = invoke("lab", "copy", "0", "3", "-n", "1", "-r", "6", "--csv", file)
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "0) App writes to host-heap"
    assert "3) App reads from host-mmap" in lines
    assert lines[1].strip().startswith("16 bytes using glibc_memcpy = ")
    assert "] GB/s (6 runs, 0 threads: ave delta = 0.0000000" in lines[1]
    _, *rows = file.read_text(encoding="utf-8").splitlines()
    assert {row.split(", ")[1] for row in rows} == {"16"}
    assert invoke("lab", "copy", "0", "-n", "1", "-r", "2", "--csv", file).exit_code == 0


def test_counts_and_times_take_units() -> None:
    begin_s = time.monotonic()
    done = invoke("lab", "copy", "0", "-n", "1", "-r", ".002k", "-t", "0", "-z", "300ms")
    assert done.exit_code == 0, done.stderr
    assert "(2 runs, 0 threads: " in done.stdout
    assert time.monotonic() - begin_s >= 0.3


def test_a_region_is_written_and_then_checked_as_it_was_found(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    memory.write_bytes(bytes(4 * PAGE))
    words = ("--region", f"{memory}:0:{4 * PAGE}", "--i-own-this-region", "-n", "4", "-r", "2")
    assert invoke("lab", "copy", "4", *words, "-o", "7").exit_code == 0
    held = memory.read_bytes()
    assert held[:PAGE] == bytes((at + 7) % 256 for at in range(PAGE))
    assert invoke("lab", "copy", "5", *words, "-i", "1", "-o", "7").exit_code == 0
    assert memory.read_bytes() == held
    other = invoke("lab", "copy", "5", *words, "-i", "1", "-o", "8")
    assert other.exit_code == ExitCode.WRONG_RESULT
    assert "byte 0 is not what the writer's pattern has there" in other.stderr


def test_what_was_measured_before_a_wrong_result_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_tool = tool.run_tool

    def wrong_at_the_second(settings: tool.Tool, number: int) -> Iterator[tool.ToolLine]:
        yield from islice(run_tool(settings, number), 1)
        raise WrongResultError("glibc: byte 3 of a copy is not its source's")

    monkeypatch.setattr(copy_tool, "run_tool", wrong_at_the_second)
    file = tmp_path / "copies.csv"
    done = invoke("lab", "copy", "0", "-n", "1", "-r", "2", "--csv", file)
    assert done.exit_code == ExitCode.WRONG_RESULT
    assert len(file.read_text(encoding="utf-8").splitlines()) == 2, "a head and a line"


def test_bad_values_are_refused_by_name() -> None:
    for words, said in (
        ("9", "Invalid value for 'ID'"),
        ("-n 11", "-n: '11' is no number of lengths; write a whole number from 1 to 10"),
        ("-r 2M", "-r: '2M' is no number of samples"),
        ("-t 1.5", "-t: '1.5' is no number of threads"),
        ("-z inf", "-z: 'inf' is no time of up to a day"),
        ("4", "name it with --region PATH:OFFSET:LENGTH and --i-own-this-region"),
        ("2 --published-method", "experiment 2: --published-method is for the heap"),
        ("0 -i 1", "name it and no other, as in `sealift lab copy 5 -i 1`"),
        ("-o 7 --published-method", "leave out -i, -o and --region"),
        ("0 --csv /nowhere/at/all.csv", "/nowhere/at is no folder"),
        (f"0 --csv {__file__}", "is there and is no file of the tool's: line 1"),
        ("--region /nowhere:0:x --i-own-this-region", "'x' is no number of bytes"),
    ):
        assert said in refused("lab", "copy", *words.split())
