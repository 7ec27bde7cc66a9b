"""`sealift dpu`: assembling, disassembling, running and timing."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.lab.cli.commands import invoke, refused

from sealift.exit_code import ExitCode

ROOT = Path(__file__).parents[3]
EXAMPLE, DOCUMENT = ROOT / "examples/dpu/sum.S", ROOT / "docs/dpu.md"


def program(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "program.S"
    file.write_text(text)
    return file


def found(*words: object) -> dict[str, Any]:
    ran: dict[str, Any] = json.loads(invoke("dpu", *words, "--json").stdout)
    return ran


def test_the_example_is_assembled_shown_and_run_as_the_document_has_it(tmp_path: Path) -> None:
    elf = str(tmp_path / "sum.elf")
    lines = re.findall(r"^sealift (dpu .*)$", DOCUMENT.read_text(encoding="utf-8"), re.M)
    shown = invoke("dpu", "--help").output
    assert [line.strip() for line in shown.splitlines() if "  sealift dpu" in line] == (
        [f"sealift {line}" for line in lines]
    )
    asm, disasm, run, *_ = (
        line.replace("examples/dpu/sum.S", str(EXAMPLE)).replace("sum.elf", elf).split()
        for line in lines
    )
    assert " of 4,096 instructions, " in invoke(*asm).stdout
    listing = invoke(*disasm).stdout
    assert "chunk:\n" in listing
    assert "add r4, r2, 134217728  // numbers\n" in listing
    ran = invoke(*run)
    assert ran.exit_code == 0, ran.stderr
    assert re.match("done after .*: simulated\n", ran.stdout)
    dump = f"  000000  {(136).to_bytes(4, 'little').hex(' ')}"
    assert f"total, 4 bytes, as a number 136\n{dump}" in ran.stdout


def test_what_a_program_prints_is_shown_behind_its_memory() -> None:
    file = EXAMPLE.with_name("barrier.S")
    ran = invoke("dpu", "run", file, "--tasklets", "16", "--read", "total")
    assert "total, 4 bytes, as a number 1,136\n" in ran.stdout
    assert ran.stdout.endswith("\nprinted\nthe sum is\ntasklet 0: 1136 (0x470)\n")


def test_counters_memory_hazard_and_clock_are_in_the_json(tmp_path: Path) -> None:
    reads = ("--read", "total", "--read", "numbers")
    plain = found("run", EXAMPLE, "--tasklets", 24, "--write", "count=512", *reads)
    assert (plain["ended"], plain["origin"], plain["fault"]) == ("done", "simulated", None)
    assert plain["memory"]["total"] == "88000000"
    assert plain["memory"]["numbers"].startswith("0100000002000000")
    counters = plain["counters"]
    assert sum(counters["mnemonics"].values()) == counters["instructions"]
    idle = sum(counters[f"idle_{why}"] for why in ("revolver", "dma", "hazard"))
    assert counters["cycles"] == counters["instructions"] + idle
    assert counters["seconds"] == pytest.approx(counters["cycles"] / 266e6)
    (text,) = re.findall(r"```toml\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    own = tmp_path / "mine.toml"
    own.write_text(text)
    words = ("run", EXAMPLE, "--tasklets", "16")
    hazard, mine = found(*words, "--hazard"), found(*words, "--system", own)
    assert hazard["counters"]["idle_hazard"] > 0 == mine["counters"]["idle_hazard"]
    assert mine["system"] == {"name": "mine", "clock_hz": 400e6, "hazard": False}


def test_a_number_is_written_as_one_and_bytes_are_marked(tmp_path: Path) -> None:
    file = program(tmp_path, "stop\n.data\nword: .long -1\n")
    written = {"0x400": "00040000", "-2": "feffffff", "hex:00040000": "00040000"}
    for value, held in written.items():
        ran = found("run", file, "--write", f"word={value}", "--read", "word")
        assert ran["memory"] == {"word": held}


def test_a_fault_and_a_program_without_an_end_have_a_code_of_their_own(tmp_path: Path) -> None:
    file = program(tmp_path, "move r5, 7\nagain: lw r1, r5, 0\nstop\n")
    ran = invoke("dpu", "run", file)
    assert ran.exit_code == ExitCode.DPU_FAULT
    where = "tasklet 0 faulted in cycle 11 at instruction 1 (again, lw r1, r5, 0): 4 bytes at 0x7"
    assert where in ran.stderr
    assert ran.stdout.startswith(where)
    assert "registers of tasklet 0" in ran.stdout
    assert " r5 00000007" in ran.stdout
    fault = found("run", file)["fault"]
    assert (fault["pc"], fault["place"], fault["registers"][5]) == (1, "again", 7)
    endless = invoke("dpu", "run", program(tmp_path, "again: jump again\n"), "--max-cycles", "5000")
    assert endless.exit_code == ExitCode.DPU_FAULT
    assert endless.stdout.startswith("stopped, and not done, after 5,00")
    assert "tasklet 0  0                 again" in endless.stdout
    assert "--max-cycles gives more" in endless.stderr


def test_what_is_no_program_is_told_with_line_and_column_or_byte(tmp_path: Path) -> None:
    for text, said in (
        ("stop\n  frobnicate r0\n", "line 2, column 3: there is no instruction frobnicate"),
        ("move r0, NR_TASKLETS\n", "nothing defines NR_TASKLETS; --tasklets says how many"),
        ("// nothing yet\n", "line 1, column 1: there is no instruction"),
    ):
        file = program(tmp_path, text)
        for command in ("asm", "run"):
            assert f"{file}: " in (shown := refused("dpu", command, file))
            assert said in shown
        assert not file.with_suffix(".elf").exists()
    elf = tmp_path / "program.elf"
    assert invoke("dpu", "asm", EXAMPLE, "--tasklets", "2", "-o", elf).exit_code == 0
    whole = elf.read_bytes()
    assert "is assembled already" in refused("dpu", "asm", elf)
    assert "names stand for something" in refused("dpu", "run", elf, "--tasklets", "2")
    for command, content, said in (
        ("run", whole[:40], "at byte 0: the header needs 52 bytes, and the file ends after 40"),
        ("run", b"\xff\xfe\xfd", "can't decode byte 0xff in position 0"),
        ("disasm", bytes(12), "at byte 8: 4 bytes are left"),
        ("disasm", bytes(8), f"{elf}: there is no instruction in it"),
    ):
        elf.write_bytes(content)
        assert said in refused("dpu", command, elf)
    source = tmp_path / "program.c"
    source.write_text("int main(void) { return 0; }\n")
    assert "program.c: it is C; give assembly" in refused("dpu", "run", source)


def test_options_that_cannot_be_are_refused() -> None:
    for options, said in (
        ("--read totl", "--read: the program has no symbol totl for data; it has count, total"),
        ("--write count", "write SYMBOL=VALUE"),
        ("--write count=xyz", "'xyz'; write a number as count=1024 or 0x400"),
        ("--write count=hex:4", "bytes as count=hex:00040000 or @FILE"),
        ("--write count=4294967296", "count has 4 bytes, too few for 4294967296"),
        ("--write numbers=5", "bytes as numbers=hex:00040000 or @FILE"),
        ("--write count=@/nowhere", "No such file"),
        ("--preset upmem", "upmem-2560-350"),
        ("--preset upmem-640-267 --system x.toml", "give one"),
        ("--define A", "write NAME=NUMBER"),
        ("--define A=1 --define A=2", "A is defined twice: it was given from outside"),
        ("--define NR_TASKLETS=4", "NR_TASKLETS is defined twice"),
    ):
        assert said in refused("dpu", "run", EXAMPLE, "--tasklets", "2", *options.split())


def test_a_cipher_is_timed_on_many_dpus_and_simulated_stands_apart_from_measured() -> None:
    many = invoke("dpu", "time", "--kernel", "many", "--dpus", "2", "--bytes", "2KiB")
    assert many.stdout.startswith("many, AES-128, messages of 128 B: 4,096 bytes on 2 DPUs")
    ran = found("time", "--kernel", "gcm", "--dpus", "3", "--bytes", "4KiB")
    assert ran["bytes"] == 12_288
    assert set(ran["simulated"]) == {"compute_seconds", "bus_in_seconds", "bus_out_seconds"}
    assert set(ran["measured"]) == {"copy_seconds", "simulating_seconds"}
    assert ran["simulated"]["compute_seconds"] == pytest.approx(ran["cycles"] / 266e6)
    for options, said in (
        ("--kernel des", "ecb, ctr, gcm, many are"),
        ("--kernel many --message-bytes 100", "not a multiple"),
        ("--dpus 641", "has 640"),
        ("--bytes 33", "a multiple of 32"),
        ("--tasklets 25", "--tasklets: '25' is no number of tasklets"),
    ):
        assert said in refused("dpu", "time", *options.split())
