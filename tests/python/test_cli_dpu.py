"""`sealift dpu`: assembling, disassembling, running and timing."""

import json
import re
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from command import invoke, start
from sealift import Engine
from sealift._sealift import DpuProgram, DpuRun, DpuSystem, dpu_disassemble
from sealift.errors import DeviceError, InputError
from sealift.exit_code import ExitCode
from sealift.lab.dpus import transfers

EXAMPLE = Path(__file__).parents[2] / "examples/dpu/sum.S"
BARRIER = EXAMPLE.with_name("barrier.S")
DOCUMENT = Path(__file__).parents[2] / "docs/dpu.md"


def made(tmp_path: Path, text: str) -> str:
    file = tmp_path / "program.S"
    file.write_text(text)
    return str(file)


def test_the_first_sentence_says_what_it_takes() -> None:
    for command in (("dpu",), ("dpu", "run")):
        shown = " ".join(invoke(*command, "--help").output.split())
        assert "takes assembly and ELF, not C" in shown
    assert DOCUMENT.read_text(encoding="utf-8").splitlines()[0].endswith("and ELF, not C")


def test_the_example_is_assembled_shown_and_run_as_the_document_has_it(tmp_path: Path) -> None:
    elf = str(tmp_path / "sum.elf")
    lines = re.findall(r"^sealift (dpu .*)$", DOCUMENT.read_text(encoding="utf-8"), re.M)
    assert [f"    sealift {line}" for line in lines] == [
        line for line in invoke("dpu", "--help").output.splitlines() if "  sealift dpu" in line
    ]
    (from_assembly,) = re.findall(r"// +sealift (dpu .*)$", EXAMPLE.read_text(), re.M)
    assert f"sealift {from_assembly}" in invoke("dpu", "run", "--help").output
    asm, disasm, run, *_ = (
        line.replace("examples/dpu/sum.S", str(EXAMPLE)).replace("sum.elf", elf).split()
        for line in lines
    )
    assembled = invoke(*asm)
    assert assembled.exit_code == 0, assembled.stderr
    assert "instructions" in assembled.stdout
    listing = invoke(*disasm)
    assert "chunk:\n" in listing.stdout
    assert "ldma r1, r4, 7" in listing.stdout
    assert "jgeu r2, r3, done\n" in listing.stdout
    assert "add r4, r2, 134217728  // numbers\n" in listing.stdout
    ran = invoke(*run)
    assert ran.exit_code == 0, ran.stderr
    assert ran.stdout.startswith("done after ")
    assert "simulated" in ran.stdout.splitlines()[0]
    assert f"total, 4 bytes, as a number 136\n  000000  {(136).to_bytes(4, 'little').hex(' ')}" in (
        ran.stdout
    )


@pytest.mark.parametrize("tasklets", [1, 16, 24])
def test_tasklets_meet_at_the_barrier_of_the_example(tasklets: int) -> None:
    ran = invoke("dpu", "run", str(BARRIER), "--tasklets", str(tasklets), "--read", "total")
    assert ran.exit_code == 0, ran.stderr
    assert "total, 4 bytes, as a number 1,136\n" in ran.stdout
    assert ran.stdout.endswith("\nprinted\nthe sum is\ntasklet 0: 1136 (0x470)\n")


@pytest.mark.parametrize("tasklets", [1, 11, 24])
def test_a_program_of_ones_own_is_run_and_timed(tasklets: int) -> None:
    ran = invoke(
        *("dpu", "run", str(EXAMPLE), "--tasklets", str(tasklets), "--json"),
        *("--write", "count=512", "--read", "total", "--read", "numbers:8"),
        *("--registers", "0,22-23"),
    )
    assert ran.exit_code == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert (found["ended"], found["origin"], found["fault"]) == ("done", "simulated", None)
    assert found["memory"] == {"total": "88000000", "numbers": "0100000002000000"}
    assert set(found["registers"]) == {"0", "22", "23"}
    counters = found["counters"]
    assert counters["transfers"] == 512 // 16
    assert counters["mram_read_bytes"] == 4 * 512
    assert sum(counters["mnemonics"].values()) == counters["instructions"]
    idle = sum(counters[f"idle_{why}"] for why in ("revolver", "dma", "hazard"))
    assert counters["cycles"] == counters["instructions"] + idle
    assert counters["seconds"] == pytest.approx(counters["cycles"] / 266e6)
    share = counters["cycles"] / counters["instructions"]
    assert share > 10 if tasklets == 1 else share < 3


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("1024", "00040000"),
        ("0x400", "00040000"),
        ("0", "00000000"),
        ("-2", "feffffff"),
        ("hex:00040000", "00040000"),
    ],
)
def test_a_number_is_written_as_one_and_bytes_are_marked(
    tmp_path: Path, value: str, kept: str
) -> None:
    file = made(tmp_path, "stop\n.data\nword: .long -1\n")
    ran = invoke("dpu", "run", file, "--write", f"word={value}", "--read", "word", "--json")
    assert json.loads(ran.stdout)["memory"] == {"word": kept}


def test_a_number_is_not_written_over_what_stands_behind_it_without_a_name(tmp_path: Path) -> None:
    text = "stop\n.data\ntwo: .long 1\n.long 7\none: .long 3\n.p2align 3\nlast: .quad 5\n"
    file, elf = made(tmp_path, text), str(tmp_path / "program.elf")
    assert invoke("dpu", "asm", file).exit_code == 0
    for program in (file, elf):
        asked = ("dpu", "run", program, "--read", "two:8", "--read", "one:4", "--json")
        refused = invoke(*asked, "--write", "two=5")
        assert refused.exit_code == ExitCode.USAGE
        assert "two names several data of 8 bytes together, up to the next symbol" in refused.stderr
        assert "write two=hex:BYTES, or two=@FILE" in refused.stderr
        ran = invoke(*asked, "--write", "one=9", "--write", "two=hex:0500000006000000")
        assert json.loads(ran.stdout)["memory"] == {"two": "0500000006000000", "one": "09000000"}


def test_the_hazard_and_the_clock_are_the_systems(tmp_path: Path) -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    own = tmp_path / "mine.toml"
    own.write_text(text)
    asked = ("dpu", "run", str(EXAMPLE), "--tasklets", "16", "--json")
    plain, hazard, mine = (
        json.loads(invoke(*asked, *more).stdout)
        for more in ((), ("--hazard",), ("--system", str(own)))
    )
    assert hazard["counters"]["idle_hazard"] > 0 == plain["counters"]["idle_hazard"]
    assert mine["counters"]["cycles"] == plain["counters"]["cycles"]
    assert mine["system"] == {"name": "mine", "clock_hz": 400e6, "hazard": False}


def test_a_fault_shows_instruction_and_registers_and_has_a_code_of_its_own(tmp_path: Path) -> None:
    file = made(tmp_path, "move r5, 7\nagain: lw r1, r5, 0\nstop\n")
    ran = invoke("dpu", "run", file)
    assert ran.exit_code == ExitCode.DPU_FAULT
    assert "faulted in cycle 11 at instruction 1 (again, lw r1, r5, 0): 4 bytes at" in ran.stderr
    assert ran.stdout.startswith(
        "tasklet 0 faulted in cycle 11 at instruction 1 (again, lw r1, r5, 0): 4 bytes at 0x7, "
        "which is no multiple of 4\nstopped after "
    )
    assert "registers of tasklet 0" in ran.stdout
    assert " r5 00000007" in ran.stdout
    fault = json.loads(invoke("dpu", "run", file, "--json").stdout)["fault"]
    assert (fault["pc"], fault["place"], fault["registers"][5]) == (1, "again", 7)
    unheard = start("dpu", "run", file)
    for stream in (unheard.stdout, unheard.stderr):
        assert stream is not None
        stream.close()
    assert unheard.wait(timeout=120) == ExitCode.DPU_FAULT


def test_what_newcomers_do_is_told_with_what_would_be_right(tmp_path: Path) -> None:
    empty = invoke("dpu", "asm", made(tmp_path, "// nothing yet\n"))
    assert (
        "line 1, column 1: there is no instruction; the shortest program is `stop`" in empty.stderr
    )
    least = invoke("dpu", "asm", made(tmp_path, "stop\n"))
    assert least.stdout.endswith("program.elf: 1 of 4,096 instructions\n")
    there = invoke("dpu", "asm", made(tmp_path, "stop\n"), "-o", "-")
    assert there.exit_code == ExitCode.USAGE
    assert "-o -: an ELF file is no text for standard output" in there.stderr
    alone = invoke("dpu", "run", made(tmp_path, "stop\n"), "--tasklets", "16")
    assert alone.exit_code == ExitCode.USAGE
    assert "does not name NR_TASKLETS, so nothing would change; programs boot their" in alone.stderr
    for comment in ("# NR_TASKLETS", "stop // NR_TASKLETS", "/* of\nNR_TASKLETS */"):
        noted = invoke("dpu", "run", made(tmp_path, f"{comment}\nstop\n"), "--tasklets", "16")
        assert "does not name NR_TASKLETS" in noted.stderr
    booted = invoke("dpu", "run", made(tmp_path, "boot id, 40\nstop\n"))
    assert booted.exit_code == ExitCode.DPU_FAULT
    assert "(boot id, 40): it boots tasklet 40, and there are 0 to 23" in booted.stderr
    endless = invoke("dpu", "run", made(tmp_path, "move r0, 1\n"))
    assert endless.exit_code == ExitCode.DPU_FAULT
    assert "went on behind its last one, where no stop is" in endless.stderr
    file = tmp_path / "program.c"
    file.write_text("int main(void) { return 0; }\n")
    for command in ("asm", "run"):
        ran = invoke("dpu", command, str(file))
        assert ran.exit_code == ExitCode.USAGE
        assert "program.c is C, and this takes assembly and ELF" in ran.stderr


def test_a_program_that_does_not_end_is_stopped_at_its_cycles(tmp_path: Path) -> None:
    file = made(tmp_path, "again: jump again\n")
    ran = invoke("dpu", "run", file, "--max-cycles", "5000", "--json")
    assert ran.exit_code == ExitCode.DPU_FAULT
    found = json.loads(ran.stdout)
    assert found["ended"] == "limit"
    assert found["running"] == [{"tasklet": 0, "pc": 0, "place": "again"}]
    assert 5_000 <= found["counters"]["cycles"] < 5_020
    assert "--max-cycles" in ran.stderr


def test_interrupting_ends_a_run_cleanly(tmp_path: Path) -> None:
    running = start("dpu", "run", made(tmp_path, "again: jump again\n"))
    assert running.stderr is not None
    # It says so after two seconds.
    assert "cycles simulated" in running.stderr.readline()
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert (running.returncode, out, err) == (ExitCode.INTERRUPTED, "", "sealift: interrupted\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("stop\n  frobnicate r0\n", "line 2, column 3: there is no instruction frobnicate"),
        ("mov r0, 1\n", "line 1, column 1: there is no instruction mov; there are movd, move"),
        ("move r0, NR_TASKLETS\n", "nothing defines NR_TASKLETS; --tasklets says how many"),
        (".bss\n.zero NR_TASKLETS\n", "no value yet"),
        ("move r24, 1\n", "line 1, column 6: r24 is no register"),
        (".data\n.zero 65537\n", "section .data overflows WRAM"),
        ("jump nowhere\n", "line 1, column 6: nothing defines nowhere"),
        ("stop\n.section .foo\n", "line 2, column 10: there is no section .foo: .text takes"),
    ],
)
def test_text_that_is_no_program_is_told_with_line_and_column(
    tmp_path: Path, text: str, said: str
) -> None:
    file = made(tmp_path, text)
    for command in (("asm", file), ("run", file), ("run", file, "--define", "ONE=1")):
        ran = invoke("dpu", *command)
        assert ran.exit_code == ExitCode.USAGE
        assert said in ran.stderr
    assert not Path(file).with_suffix(".elf").exists()


def test_a_file_that_is_no_program_is_told_with_its_byte(tmp_path: Path) -> None:
    elf = tmp_path / "program.elf"
    assert invoke("dpu", "asm", str(EXAMPLE), "--tasklets", "2", "-o", str(elf)).exit_code == 0
    whole = elf.read_bytes()
    for changed, said in (
        (whole[:40], "at byte 0: the header needs 52 bytes, and the file ends after 40"),
        (whole[:18] + b"\x3e\0" + whole[20:], "at byte 18: this program is for machine 62"),
        (b"\xff\xfe\xfd", "byte 0 is no text in UTF-8"),
    ):
        elf.write_bytes(changed)
        ran = invoke("dpu", "run", str(elf))
        assert ran.exit_code == ExitCode.USAGE
        assert said in ran.stderr
    elf.write_bytes(bytes(12))
    assert "at byte 8: 4 bytes are left" in invoke("dpu", "disasm", str(elf)).stderr
    assert "sealift dpu asm" in invoke("dpu", "disasm", str(EXAMPLE)).stderr
    for words, said in (
        (b"", "there is no instruction in it"),
        (bytes(8), "there is no instruction in it"),
        (bytes(range(200)), "at byte 0: 0x0706050403020100 is no word of IRAM, which has 48 bits"),
    ):
        elf.write_bytes(words)
        ran = invoke("dpu", "disasm", str(elf))
        assert (ran.exit_code, ran.stdout) == (ExitCode.USAGE, "")
        assert said in ran.stderr
    elf.write_bytes(0x7EF3_2000_0000.to_bytes(8, "little") + bytes(8))
    assert invoke("dpu", "disasm", str(elf)).stdout == (
        "     0: 7ef320000000  stop\n     1: 000000000000  (no instruction)\n"
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--read", "totl"), "no symbol totl for data; it has count, total"),
        (("--read", "total:5"), "5 bytes at total, which has 4"),
        (("--read", "work"), "work names a place in IRAM"),
        (("--write", "count"), "write a number as SYMBOL=1024"),
        (
            ("--write", "count=xyz"),
            "'xyz' is no number; write a number as count=1024 or count=0x400",
        ),
        (
            ("--write", "count=00040000"),
            "bytes as count=hex:00040000, those of a file as count=@FILE",
        ),
        (("--write", "count=1e3"), "is no number"),
        (("--write", "count=hex:4"), "no row of bytes of two hex digits each"),
        (("--write", "count=hex:"), "no row of bytes of two hex digits each"),
        (("--write", "count=hex:0102030405"), "5 bytes at count, which has 4"),
        (
            ("--write", "count=4294967296"),
            "count has 4 bytes, which hold -2147483648 to 4294967295",
        ),
        (("--write", "numbers=5"), "numbers has 4096 bytes, and a number takes 1, 2, 4 or 8"),
        (("--write", "count=hex:0000"), "count has 4 bytes, and hex: gives 2; give all of them"),
        (("--write", "count=1", "--write", "count=2"), "count is written before; give one of them"),
        (("--write", "cuont=5"), "no symbol cuont for data"),
        (("--write", "count=@/nowhere"), "No such file"),
        (("--registers", "24"), "names no tasklets"),
        (("--preset", "upmem"), "upmem-2560-350"),
        (("--preset", "upmem-640-266", "--system", "x.toml"), "give one"),
        (("--read", ""), "write SYMBOL, or SYMBOL:N"),
        (("--define", "A"), "write NAME=NUMBER"),
        (("--define", "COUNTER=1"), "sum.S does not name COUNTER, so nothing would change"),
        (("--define", "count=1"), "count is defined twice"),
        (("--define", "r1=7"), "r1, given from outside: r1 is a register"),
        (("--define", "A=1", "--define", "A=2"), "A is defined before; give one of them"),
        (("--define", "NR_TASKLETS=4"), "--tasklets 2 and --define NR_TASKLETS=4 both say what"),
    ],
)
def test_options_that_cannot_be_are_refused(options: tuple[str, ...], said: str) -> None:
    ran = invoke("dpu", "run", str(EXAMPLE), "--tasklets", "2", *options)
    assert ran.exit_code == ExitCode.USAGE
    assert said in ran.stderr
    assert ran.stdout == ""


def test_a_cipher_is_timed_on_many_dpus_and_simulated_stands_apart_from_measured() -> None:
    many = invoke("dpu", "time", "--kernel", "many", "--dpus", "2", "--bytes", "2KiB")
    assert many.stdout.startswith("many, AES-128, messages of 128 B: 4,096 bytes on 2 DPUs")
    asked = ("dpu", "time", "--kernel", "gcm", "--dpus", "3", "--bytes", "4KiB")
    table = invoke(*asked)
    assert table.exit_code == 0, table.stderr
    assert "12,288 bytes on 3 DPUs at 266 MHz" in table.stdout
    found = json.loads(invoke(*asked, "--json").stdout)
    assert found["bytes"] == 12_288
    assert set(found["simulated"]) == {"compute_seconds", "bus_in_seconds", "bus_out_seconds"}
    assert set(found["measured"]) == {"copy_seconds", "simulating_seconds"}
    assert found["simulated"]["compute_seconds"] == pytest.approx(found["cycles"] / 266e6)
    # The lab's model of the bus, in which so short a transfer is slow.
    way = [4_096 * 3 / rate for rate in transfers("SDK").rates(4_096, 3)]
    assert [found["simulated"][f"bus_{end}_seconds"] for end in ("in", "out")] == pytest.approx(way)
    for options, said in (
        (("--kernel", "des"), "ecb, ctr, gcm, many are"),
        (("--kernel", "many", "--message-bytes", "100"), "not a multiple"),
        (("--dpus", "641"), "has 640"),
        (("--bytes", "33"), "a multiple of 32"),
        (("--bytes", "1GB"), "write a whole number from 0 to 67,108,864, as in 4k (4,000) or 4KiB"),
        (("--key-bits", "100"), "128, 192 or 256"),
    ):
        ran = invoke("dpu", "time", *options)
        assert ran.exit_code == ExitCode.USAGE
        assert said in ran.stderr


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=400), st.integers(0, 51))
def test_no_bytes_do_more_than_raise(data: bytes, kept: int) -> None:
    whole = DpuProgram.assemble("x: add r0, r0, 1\nstop\n.data\ny: .long 5\n").elf()
    for file in (data, whole[: 52 + kept] + data):
        with suppress(InputError):
            DpuProgram.read_elf(file).disassemble()
    with suppress(InputError):
        DpuProgram.assemble(data.decode(errors="replace"))
    with suppress(InputError):
        dpu_disassemble(data[: len(data) // 8 * 8])
    words = (data[at : at + 6] + bytes(2) for at in range(0, len(data) - 5, 6))
    with suppress(InputError):
        dpu_disassemble(b"".join(words))


LINES = ["move r0, -1", "lw r1, r0, 0", "ldma r0, r0, 255", "boot r0, 2", "stop"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(LINES), min_size=1))
def test_any_program_ends_faults_or_is_stopped(lines: list[str]) -> None:
    program = DpuProgram.assemble("\n".join(lines))
    dpu = DpuRun(program, DpuSystem.named("upmem-640-266"))
    assert dpu.run(10_000, 10.0) in ("done", "fault", "limit")


def test_named_dpus_seal_what_the_library_opens_and_no_batch_goes_there_unnamed() -> None:
    engine = Engine(["pim:dpus=2", "library"])
    session = engine.session(bytes(range(32)))
    texts = [bytes(length) for length in (0, 1, 100, 33_000)]
    nonces = [session.next_nonce() for _ in texts]
    sealed = engine.seal_batch(session, nonces, texts, device="pim:dpus=2")
    assert engine.open_batch(session, nonces, sealed) == texts
    simulated, measured = engine.records()
    assert (simulated.device, simulated.origin) == ("pim:dpus=2", "simulated")
    parts_ns = simulated.copy_in_ns + simulated.compute_ns + simulated.copy_out_ns
    assert simulated.end_ns - simulated.start_ns == parts_ns > simulated.compute_ns > 0
    assert (measured.device, measured.origin) == ("library", "measured")
    assert simulated.measured_copy_ns > 0 == measured.measured_copy_ns


def test_the_document_names_the_dpus_in_each_call(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["opened"] == [b"one", b"two"]
    spec = "pim:dpus=64,preset=upmem-2560-350,hazard=on"
    assert capsys.readouterr().out.startswith(f"{spec} simulated ")
    engine = Engine([spec])
    session = engine.session(bytes(16))
    with pytest.raises(DeviceError, match=f'name the one it wants: device="{spec}"'):
        engine.seal_batch(session, [bytes(12)], [b""])


def test_a_vendors_library_is_told_and_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told() -> str:
        found = {each["spec"]: each for each in json.loads(invoke("devices", "--json").output)}
        assert found["pim"]["state"] == "incomplete"
        return str(found["pim"]["reason"])

    assert "no DPU is on this machine" in told()
    (tmp_path / "libdpu.so").write_bytes(b"")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    assert f"{tmp_path}/libdpu.so is here: found, not supported yet" in told()
