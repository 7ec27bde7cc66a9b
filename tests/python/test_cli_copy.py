"""`sealift lab copy`, with an ordinary file in place of a device's memory."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from command import invoke, process
from sealift.exit_code import ExitCode
from sealift.lab import copy_tool
from sealift.lab.memcpy_test import parse
from sealift.lab.spec import WrongResultError

PAGE = 4_096


def region(path: Path, pages: int = 4) -> str:
    path.write_bytes(bytes(pages * PAGE))
    return f"{path}:0:{pages * PAGE}"


def test_the_tools_lines_come_with_intervals_and_its_file_with_six_columns(tmp_path: Path) -> None:
    file = tmp_path / "results.csv"
    done = invoke("lab", "copy", "0", "3", "-n", "2", "-r", "3", "--csv", str(file))
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "0) App writes to host-heap"
    assert "3) App reads from host-mmap" in lines
    first = next(line for line in lines if "glibc_memcpy" in line)
    assert first.strip().startswith("16 bytes using glibc_memcpy = ")
    assert "GB/s (3 runs, 0 threads: ave delta = 0.0000000" in first
    rows = file.read_text(encoding="utf-8").splitlines()
    assert rows[0].count(",") == 5
    assert sum("App reads from host-mmap, 256, " in row for row in rows) >= 2
    again = invoke("lab", "copy", "0", "-n", "1", "-r", "2", "--csv", str(file))
    assert again.exit_code == 0, "a file of the tool's is replaced"


def test_a_region_is_written_by_one_process_and_checked_by_another(tmp_path: Path) -> None:
    named = ("--region", region(tmp_path / "memory"), "--i-own-this-region", "-n", "4", "-r", "2")
    wrote = process("lab", "copy", "4", *named, "-o", "7")
    assert wrote.returncode == 0, wrote.stderr
    held = (tmp_path / "memory").read_bytes()
    assert held[:PAGE] == bytes((at + 7) % 256 for at in range(PAGE))
    found = process("lab", "copy", "5", *named, "-i", "1", "-o", "7")
    assert found.returncode == 0, found.stderr
    assert (tmp_path / "memory").read_bytes() == held, "left as it was found"
    other = invoke("lab", "copy", "5", *named, "-i", "1", "-o", "8")
    assert other.exit_code == 4
    assert "byte 0 is not what the writer's pattern has there" in other.stderr


def test_what_was_measured_before_a_wrong_result_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = copy_tool.copies

    def wrong_at_the_second(tool: copy_tool.Tool, number: int) -> Iterator[copy_tool.Copied]:
        yield from islice(copies(tool, number), 1)
        raise WrongResultError("glibc: byte 3 of a copy is not its source's")

    monkeypatch.setattr(copy_tool, "copies", wrong_at_the_second)
    file = tmp_path / "copies.csv"
    done = invoke("lab", "copy", "0", "-n", "1", "-r", "2", "--csv", str(file))
    assert done.exit_code == ExitCode.WRONG_RESULT
    assert len(parse(file.read_text(encoding="utf-8"))) == 1


def test_a_queue_as_published_that_is_too_long_to_move_up_is_refused() -> None:
    long = invoke("lab", "copy", "0", "-t", "2", "-r", "200000", "-n", "1", "--published-method")
    assert long.exit_code != 0
    assert "runs of 200000: right would be 1 to 10000" in long.output


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["9"], "ID: '9' is no experiment; write a whole number from 0 to 5"),
        (["x"], "ID: 'x'"),
        (["-n", "11"], "-n: '11' is no number of lengths; write a whole number from 1 to 10"),
        (["-r", "0"], "-r: '0' is no number of samples; write"),
        (["-t", "-1"], "-t: '-1'"),
        (["-o", "256"], "-o: '256'"),
        (["-i", "2"], "-i: '2'"),
        (["-z", "soon"], "-z: 'soon'"),
        (["4"], "experiment 4 copies to or from a device's memory"),
        (["6"], "ID: '6' is no experiment; write a whole number from 0 to 5"),
        (["2", "--published-method"], "experiment 2: --published-method is for the heap"),
        (["0", "-i", "1"], "name it and no other, as in `sealift lab copy 5 -i 1`"),
        (["-o", "7", "--published-method"], "-o 7: --published-method copies seeded bytes"),
        (["-i", "1", "--published-method"], "-i 1: --published-method copies"),
        (["--region", "x:0:1", "--published-method"], "--region x:0:1: --published-method copies"),
        (["--i-own-this-region"], "confirms a --region"),
        (["0", "--csv", "/nowhere/at/all.csv"], "/nowhere/at is no folder"),
        (["--region", "nonsense"], "right would be PATH:OFFSET:LENGTH"),
        (["--region", "/nowhere/at/all:0:x"], "'x' is no number of bytes"),
    ],
)
def test_bad_values_are_refused_by_name(arguments: list[str], told: str) -> None:
    done = invoke("lab", "copy", *arguments)
    assert done.exit_code == 2
    assert told in done.stderr
    assert not done.stdout


@pytest.mark.parametrize(
    ("offset", "length", "flag", "told"),
    [
        (0, 5 * PAGE, True, "the file has 16384 bytes, and 20480 are needed"),
        (PAGE + 1, PAGE, True, "is no multiple of a page"),
        (0, 100, True, "is no multiple of a page"),
        (0, PAGE, False, "add --i-own-this-region"),
    ],
)
def test_a_region_that_can_not_be_is_refused_before_it_is_touched(
    tmp_path: Path, offset: int, length: int, *, flag: bool, told: str
) -> None:
    path = tmp_path / "memory"
    region(path)
    named = ["--region", f"{path}:{offset}:{length}", *(["--i-own-this-region"] if flag else [])]
    for command in (["lab", "copy", "4"], ["lab", "run", "copy-by-length"]):
        done = invoke(*command, *named)
        assert done.exit_code == 2
        assert told in done.stderr
    assert path.read_bytes() == bytes(4 * PAGE)
    named = ["--region", f"{path}:0:{PAGE}"]
    for left, told in ((["5", "-i", "1"], "copies to it overwrite"), (["4"], "is overwritten")):
        unconfirmed = invoke("lab", "copy", *left, *named)
        assert unconfirmed.exit_code == 2
        assert told in unconfirmed.stderr
    for left, told in ((["4", "-i", "1"], "name it and no other"), (["0"], "leave it away")):
        unheeded = invoke("lab", "copy", *left, *named, "--i-own-this-region")
        assert unheeded.exit_code == 2
        assert told in unheeded.stderr
    gone = invoke("lab", "copy", "--region", f"{path}.gone:0:{PAGE}", "--i-own-this-region")
    assert gone.exit_code == 2
    assert "No such file" in gone.stderr


def test_the_published_way_says_what_the_tool_would(tmp_path: Path) -> None:
    file = tmp_path / "foreign.csv"
    file.write_text("not the tool's", encoding="utf-8")
    done = invoke("lab", "copy", "0", "-n", "2", "-t", "2", "--published-method")
    assert done.exit_code == 0, done.stderr
    assert "(5 runs, 2 threads: ave delta" in done.stdout
    few = invoke("lab", "copy", "0", "-n", "1", "-r", "5")
    assert few.exit_code == 0, few.stderr
    assert "[" not in few.stdout, "five samples carry no interval"
    kept = invoke("lab", "copy", "0", "-n", "1", "--csv", str(file))
    assert kept.exit_code == 2
    assert "is no file of the tool's" in kept.stderr
    assert file.read_text(encoding="utf-8") == "not the tool's"
