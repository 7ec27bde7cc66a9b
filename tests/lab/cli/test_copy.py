"""`lab copy`, with an ordinary file in the place of a device's memory."""

import re
import time
from pathlib import Path

import pytest
from tests.lab.cli.commands import invoke, refused

from sealift.exit_code import ExitCode
from sealift_lab.experiments.document_004 import tool

PAGE = 4_096


def test_the_tools_lines_come_with_intervals_and_leave_a_run_and_a_file(tmp_path: Path) -> None:
    file, folder = tmp_path / "copies.csv", tmp_path / "run"
    words = ("0", "3", "-n", "1", "-r", "8", "-t", "0", "-z", "300ms", "--csv", file)
    begin_s = time.monotonic()
    done = invoke("lab", "copy", *words, "--out", folder)
    assert done.exit_code == 0, done.stderr
    assert time.monotonic() - begin_s >= 0.3
    lines = done.stdout.splitlines()
    assert lines[0] == "0) App writes to host-heap: the heap, written"
    assert "3) App reads from host-mmap: host shared memory (/dev/shm, mapped), read" in lines
    number = r"[0-9.,]+"
    assert re.fullmatch(
        rf" +16 bytes using glibc_memcpy = {number} \[({number}\.\.{number}|no interval)\] GB/s "
        r"\(8 runs, 0 threads: ave delta = 0\.000[0-9]+ secs\)",
        lines[1],
    )
    names = {line.experiment for line in tool.parse_file(file.read_text(encoding="utf-8"))}
    assert names == {"App writes to host-heap", "App reads from host-mmap"}
    assert (folder / "report.html").is_file()
    old = tmp_path / "old.csv"
    old.write_text(
        "Experiment Description, Copy lenth (Bytes), Copy Type, Throughput (Gbps), Number of Runs\n"
        "App reads from escape-mmap, 16,  apex_memcpy, 0.000, 5\n"
        "App reads from escape-mmap, 256,  apex_memcpy, 0.044, 5\n",
        encoding="utf-8",
    )
    places = (folder, "payload_mb_per_s"), (file, "throughput_gb_s"), (old, "throughput_gb_s")
    for place, y in places:
        drawn = ("--x", "size_bytes", "--y", y, "--z", "function", "-o", tmp_path / "a.svg")
        assert invoke("lab", "plot", place, *drawn).exit_code == 0
        assert "memory limit, 2.933 x 8 GB/s (published)" in (tmp_path / "a.svg").read_text("utf-8")


def test_the_published_method_prints_the_tools_lines_and_writes_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("0", "3", "--lengths", "1MiB,16,4KiB", "-t", "2", "-o", "7", "--published-method")
    done = invoke("lab", "copy", *words)
    assert done.exit_code == 0, done.stderr
    lines = [
        re.sub(r"0x7[0-9a-f]{11}|[0-9]+\.[0-9]{3,}|fd=[0-9]+", "*", line)
        for line in done.stdout.splitlines()
    ]
    assert lines[0] == (
        "PAGE_MASK=0x00000fff data_off=7 source_init=0 payload_len_num=3 runs=5 thread count=2 "
        "sleep=0 num_mem_pairs=2 [ 0 3 ]"
    )
    words_there = (
        "0x 6050403020100ff fefdfcfbfaf9f8f7 ... 1e1d1c1b1a191817 161514131211100f e0d0c0b0a090807"
    )
    assert f"    sour data [len=0x10000000 bytes]: {words_there}" in lines
    assert "      16 bytes using  apex_memcpy = * GB/s (5 runs: ave delta = * secs)" in [
        re.sub(r"= +", "= ", line) for line in lines
    ]
    assert f"    dest data [len=0x1000 bytes]: {words_there}" in lines, "of 1 MiB in 512 KiB"
    too_long = "Cannot run test with payload length (0x100000) > mapped length (0x80000)"
    assert done.stdout.count(too_long) == 1
    assert lines[-2].startswith("Deallocating memory: * pa_virt_addr=* pa_map_len=0x80000 mem_typ")
    assert lines[-1] == "run_per_mem_type_pair Done"
    assert "host-mmap is shared memory without a name here" in done.stderr
    head, *rows = (tmp_path / "results.csv").read_text(encoding="utf-8").splitlines()
    assert head == tool.HEADER
    assert [row.rpartition(",")[2] for row in rows] == ["2"] * (9 + 6)
    assert all(re.fullmatch(r"App [a-z -]+,\d+, ?\w+_memcpy,\d+\.\d{3},5,2", row) for row in rows)


def test_a_region_is_written_and_then_checked_as_it_was_found(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    memory.write_bytes(bytes(4 * PAGE))
    words = ("--region", f"{memory}:0:{4 * PAGE}", "--i-own-this-region", "-n", "4", "-r", "2")
    out = (tmp_path / name for name in "abc")
    assert invoke("lab", "copy", "4", *words, "-o", "7", "--out", next(out)).exit_code == 0
    held = memory.read_bytes()
    assert held[:PAGE] == bytes((at + 7) % 256 for at in range(PAGE))
    read = ("lab", "copy", "5", *words, "-i", "1")
    assert invoke(*read, "-o", "7", "--out", next(out)).exit_code == 0
    assert memory.read_bytes() == held
    other = invoke(*read, "-o", "8", "--out", next(out))
    assert other.exit_code == ExitCode.WRONG_RESULT
    assert "byte 0 is not what the writer's pattern has there" in other.stdout
    file = tmp_path / "results.csv"
    published = (*read, "--published-method", "--csv", file)
    printed = invoke(*published).stdout
    assert "run_per_mem_type_pair Done" in printed
    assert "0x d0c0b0a09080706" not in printed
    assert memory.read_bytes() == held
    there = file.read_text(encoding="utf-8")
    assert len(tool.parse_file(there)) == 4 * 3
    too_long = (*published, "--lengths", "1MiB")
    assert invoke(*too_long).exit_code == ExitCode.NOTHING_RAN
    assert file.read_text(encoding="utf-8") == there


def test_bad_values_are_refused_by_name() -> None:
    for words, said in (
        ("9", "Invalid value for 'ID'"),
        ("-n 11", "-n: '11' is no number of lengths; write a whole number from 1 to 10"),
        ("-r 2M", "-r: '2M' is no number of samples"),
        ("-t 1.5", "-t: '1.5' is no number of threads"),
        ("-z inf", "-z: 'inf' is no time of up to a day"),
        ("4", "name it with --region PATH:OFFSET:LENGTH and --i-own-this-region"),
        ("0 --lengths 1GiB", "1,073,741,824 bytes; right would be 268,435,456 at most"),
        ("0 -i 1", "name it and no other, as in `sealift lab copy 5 -i 1`"),
        ("0 --published-method --out a", "leave out --out"),
        ("0 --csv /nowhere/at/all.csv", "/nowhere/at is no folder"),
        (f"0 --csv {__file__}", "is there and is no file of the tool's: line 1"),
        ("--region /nowhere:0:x --i-own-this-region", "'x' is no number of bytes"),
    ):
        assert said in refused("lab", "copy", *words.split())
