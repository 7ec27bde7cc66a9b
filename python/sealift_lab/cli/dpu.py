"""`sealift dpu`: assembles, disassembles, runs and times programs for simulated DPUs."""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sealift.cli.output import columns, echo, eprint, fail
from sealift.exit_code import ExitCode
from sealift_lab.cli import dpu_program, output, parse
from sealift_lab.cli.parse import argument, count, examples, option
from sealift_lab.model.units import format_measure, format_percent

if TYPE_CHECKING:
    from sealift_lab._lab import DpuCounters, DpuFault, DpuKernel, DpuRun, DpuSystem, DpuTook


app = typer.Typer(
    name="dpu",
    help="It takes assembly and ELF, not C: programs for UPMEM DPUs, which are processors inside "
    "memory, are assembled, disassembled, run and timed. The DPUs are simulated, instruction by "
    "instruction; no SDK is needed. docs/dpu.md tells the syntax, and how far the times can be "
    "trusted.",
    epilog=examples("dpu"),
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
)


@app.command(short_help="Assemble a program into an ELF file.")
def asm(
    file: Annotated[str, argument("dpu asm", "FILE")],
    out: Annotated[Path | None, option("dpu asm", "--out -o", "OUT", parse.file)] = None,
    tasklets: dpu_program.Tasklets = None,
    names: dpu_program.Names = None,
    as_json: output.Json = False,
) -> None:
    """Assemble a program into an ELF file for a DPU.

    It takes assembly, not C. An error is reported with line and column, and nothing is written
    then. How much of a DPU's memories the program takes goes to standard output.
    """
    with output.in_sentences():
        from sealift_lab.measure.storage import write_file

        if dpu_program.is_elf(dpu_program.read_file(file)):
            raise ValueError(f"{file} is assembled already; `sealift dpu run` runs it")
        program = dpu_program.load(file, names or [], tasklets)
        if out == Path("-"):
            raise ValueError("-o -: an ELF file is no text for standard output; name a file")
        place = out or Path(file).with_suffix(".elf")
        if place.exists() and place.samefile(file):
            raise ValueError(f"-o {place} is the assembly itself; name another file")
        write_file(place, program.elf())
    if as_json:
        sizes = dict(program.sizes)
        output.show_json({"schema": "sealift-dpu-asm/1", "elf": str(place), **sizes}, indent=None)
    else:
        taken = [f"{size:,} B of {memory}" for memory, size in program.sizes[1:] if size]
        instructions = f"{program.instructions:,} of {INSTRUCTIONS_MAX:,} instructions"
        echo(", ".join((f"{place}: {instructions}", *taken)))


@app.command(short_help="Show the instructions of a program.")
def disasm(
    file: Annotated[str, argument("dpu disasm", "FILE")],
) -> None:
    """Show a program's instructions: number, word and text, with its labels.

    A file that does not begin as an ELF file is taken for words of IRAM.
    """
    with output.in_sentences():
        from sealift_lab._lab import DpuProgram, dpu_disassemble

        words = dpu_program.read_file(file)
        plain = words[:1_000]
        if plain and all(byte in b"\t\n\r" or 32 <= byte < 127 for byte in plain):
            raise ValueError(
                f"{file} is text and no machine code; `sealift dpu asm` makes that of assembly"
            )
        with dpu_program.named(file):
            elf = dpu_program.is_elf(words)
            text = DpuProgram.read_elf(words).disassemble() if elf else dpu_disassemble(words)
            if not text:
                raise ValueError("there is no instruction in it")
    echo(text.removesuffix("\n"))


def _tasklets(text: str) -> Sequence[int]:
    """Parses `0`, `0-3,7` or `all`."""
    if text == "all":
        return range(TASKLETS)
    found: dict[int, None] = {}
    for part in text.split(","):
        ends = re.fullmatch(r"([0-9]{1,2})(?:-([0-9]{1,2}))?", part)
        first, last = (int(ends[1]), int(ends[2] or ends[1])) if ends else (1, 0)
        if not first <= last < TASKLETS:
            raise ValueError(
                f"{part!r} names no tasklets; write 0, 0-3,7 or all, from 0 to {TASKLETS - 1}"
            )
        found.update(dict.fromkeys(range(first, last + 1)))
    return tuple(found)


TASKLETS, CYCLES = 24, count(1, 2**53, "number of cycles")


@app.command(short_help="Run a program and say what it took.", epilog=examples("dpu run"))
def run(
    file: Annotated[str, argument("dpu run", "FILE")],
    tasklets: dpu_program.Tasklets = None,
    names: dpu_program.Names = None,
    preset: dpu_program.Preset = None,
    system: dpu_program.SystemFile = None,
    hazard: dpu_program.Hazard = False,
    write: Annotated[list[str] | None, option("dpu run", "--write", "SYMBOL=VALUE")] = None,
    reads: Annotated[
        list[dpu_program.Symbol] | None,
        option("dpu run", "--read", "SYMBOL[:N]", dpu_program.symbol),
    ] = None,
    registers: Annotated[
        Sequence[int] | None, option("dpu run", "--registers", "LIST", _tasklets)
    ] = None,
    max_cycles: Annotated[int, option("dpu run", "--max-cycles", "N", CYCLES)] = 10_000_000_000,
    as_json: output.Json = False,
) -> None:
    """Run a program on a simulated DPU and say what it took.

    It takes assembly and ELF, not C. Cycles, and seconds at the system's clock, are simulated;
    docs/dpu.md says what they were held against. Exit codes: 0 all tasklets stopped, 2 wrong usage
    or no program, 7 a tasklet faulted or the cycles were used up, 130 interrupted.
    """
    with output.in_sentences():
        from sealift_lab._lab import DpuRun

        program = dpu_program.load(file, names or [], tasklets)
        whose = dpu_program.open_system(preset, system, hazard=hazard)
        dpu = DpuRun(program, whose)
        dpu_program.write_memory(dpu, write or ())
        # Before the run, so that what can't be read is reported at once.
        _memory(dpu, reads or [])
        ending = _run(dpu, max_cycles)
        memory = _memory(dpu, reads or [])
        held = {tasklet: dpu.registers(tasklet) for tasklet in registers or ()}
        # Where nobody listens any more, the exit code still tells how the program ended.
        with suppress(BrokenPipeError):
            if as_json:
                found = {"schema": "sealift-dpu-run/1", "file": file, "ended": ending}
                output.show_json(found | _run_document(dpu, whose, held, memory))
            else:
                echo("\n".join(_run_lines(ending, dpu, whose, held, memory)))
    with suppress(BrokenPipeError):
        if dpu.fault is not None:
            eprint(f"{file}: {_fault_text(dpu.fault)}; its registers are shown")
        elif ending == LIMIT:
            eprint(
                f"{file}: tasklets were still running after {dpu.cycles:,} cycles, where is "
                "shown; --max-cycles gives more"
            )
    if ending != DONE:
        raise typer.Exit(ExitCode.DPU_FAULT)


def _memory(dpu: "DpuRun", symbols: Sequence[dpu_program.Symbol]) -> Mapping[str, bytes]:
    with dpu_program.named("--read"):
        return {each.name: dpu.read(*each) for each in symbols}


def _run(dpu: "DpuRun", max_cycles: int) -> str:
    def progress(seconds: float) -> str:
        rate = dpu.cycles / seconds / 1e6
        return f"{dpu.cycles:,} cycles simulated in {seconds:.0f} s, {rate:,.0f} million a second"

    reporter = dpu_program.Reporter(progress)
    while (ending := dpu.run(max_cycles, SLICE_S)) == "running":
        reporter.report()
    return ending


def _run_lines(
    ending: str,
    dpu: "DpuRun",
    system: "DpuSystem",
    registers: Mapping[int, Sequence[int]],
    memory: Mapping[str, bytes],
) -> Iterator[str]:
    """What a program did, for people."""
    counters, fault = dpu.counters, dpu.fault
    if fault is not None:
        yield _fault_text(fault)
    yield (
        f"{ENDINGS[ending]} after {counters.cycles:,} cycles, "
        f"{format_measure(1e6 * counters.seconds)} µs {dpu_program.clock(system)}: simulated"
    )
    yield from ("", *columns([*_rows(counters)]))
    faulted = {} if fault is None else {fault.tasklet: fault.registers}
    for tasklet, values in {**faulted, **registers}.items():
        yield from ("", f"registers of tasklet {tasklet}", *_registers(values))
    for symbol, data in memory.items():
        yield from ("", f"{symbol}, {len(data):,} bytes{_as_number(data)}", *_dump(data))
    if ending == LIMIT:
        head = ("running", "next instruction", "at")
        rows = [(f"  tasklet {t}", f"{pc:,}", place) for t, pc, place in dpu.running]
        yield from ("", *columns([head, *rows]))
    if log := _log(dpu):
        yield from ("", "printed", log.rstrip("\n"))


def _run_document(
    dpu: "DpuRun",
    system: "DpuSystem",
    registers: Mapping[int, Sequence[int]],
    memory: Mapping[str, bytes],
) -> dict[str, object]:
    """What a program did, for programs."""
    counters, fault = dpu.counters, dpu.fault
    return {
        "origin": "simulated",
        "system": dpu_program.system_record(system),
        "counters": {name: getattr(counters, name) for name in COUNTERS}
        | {"mnemonics": dict(counters.mnemonics)},
        "fault": None if fault is None else {name: getattr(fault, name) for name in FAULT},
        "registers": {str(tasklet): list(held) for tasklet, held in registers.items()},
        "memory": {symbol: data.hex() for symbol, data in memory.items()},
        "running": [
            dict(zip(("tasklet", "pc", "place"), each, strict=True)) for each in dpu.running
        ],
        "log": _log(dpu),
    }


def _fault_text(fault: "DpuFault") -> str:
    """Which tasklet did what it can't, when and where."""
    at = ", ".join(filter(None, (fault.place, fault.instruction)))
    return (
        f"tasklet {fault.tasklet} faulted in cycle {fault.cycle:,} at instruction "
        f"{fault.pc}{f' ({at})' if at else ''}: {fault.what}"
    )


def _log(dpu: "DpuRun") -> str:
    try:
        return dpu.log
    except ValueError as error:
        return f"(what was printed can't be read: {error})"


def _rows(counters: "DpuCounters") -> Iterator[tuple[str, str, str]]:
    instructions, cycles = counters.instructions, counters.cycles
    each = f"{format_measure(cycles / instructions)} cycles an instruction" if instructions else ""
    yield "instructions", f"{instructions:,}", each
    for what, idle in (
        ("idle: each tasklet had just issued one", counters.idle_revolver),
        ("idle: waiting for transfers", counters.idle_dma),
        ("idle: registers in one bank", counters.idle_hazard),
    ):
        yield what, f"{idle:,}", f"{format_percent(idle / cycles)} of the cycles" if cycles else ""
    yield "bytes out of MRAM", f"{counters.mram_read_bytes:,}", f"{counters.transfers:,} transfers"
    yield "bytes into MRAM", f"{counters.mram_written_bytes:,}", ""
    for mnemonic, many in counters.mnemonics[:MNEMONICS_SHOWN]:
        share = f"{format_percent(many / instructions)} of the instructions"
        yield f"  {mnemonic}", f"{many:,}", share
    if rest := counters.mnemonics[MNEMONICS_SHOWN:]:
        others = f"  {len(rest)} other{'s' if len(rest) > 1 else ''}"
        yield others, f"{sum(many for _, many in rest):,}", ""


def _registers(values: Sequence[int]) -> Iterator[str]:
    for first in range(0, len(values), REGISTERS_A_LINE):
        line = enumerate(values[first : first + REGISTERS_A_LINE], first)
        yield "  " + "  ".join(f"{f'r{number}':>3} {value:08x}" for number, value in line)


def _as_number(data: bytes) -> str:
    """The bytes as a number, where they may be one."""
    if len(data) not in dpu_program.NUMBER_BYTES:
        return ""
    plain, signed = (int.from_bytes(data, "little", signed=signed) for signed in (False, True))
    return f", as a number {plain:,}" + (f" or {signed:,}" if signed < 0 else "")


def _dump(data: bytes) -> Iterator[str]:
    for at in range(0, min(len(data), DUMPED_BYTES), BYTES_A_LINE):
        yield f"  {at:06x}  {data[at : at + BYTES_A_LINE].hex(' ')}"
    if len(data) > DUMPED_BYTES:
        yield f"  and {len(data) - DUMPED_BYTES:,} bytes more; --json has them all"


DPUS, BYTES = count(1, 2**20, "number of DPUs"), count(0, 2**26, "number of bytes")


@app.command("time", short_help="Time a cipher on many DPUs.", epilog=examples("dpu time"))
def time_kernel(
    kernel: Annotated[str, option("dpu time", "--kernel", "KERNEL")] = "ctr",
    dpus: Annotated[int, option("dpu time", "--dpus", "N", DPUS)] = 64,
    text_bytes: Annotated[int, option("dpu time", "--bytes", "N", BYTES)] = 65_536,
    tasklets: Annotated[int, option("dpu time", "--tasklets", "N", dpu_program.TASKLETS)] = 16,
    key_bits: Annotated[int, option("dpu time", "--key-bits", "BITS", parse.key_bits)] = 128,
    message_bytes: Annotated[
        int,
        option("dpu time", "--message-bytes", "N", count(1, 2**26, "number of bytes")),
    ] = 128,
    preset: dpu_program.Preset = None,
    system: dpu_program.SystemFile = None,
    hazard: dpu_program.Hazard = False,
    as_json: output.Json = False,
) -> None:
    """Time a cipher on many simulated DPUs, every byte compared.

    What DPUs and their bus would take is simulated; what copying and simulating took on this
    machine is measured, and stands apart. The DPUs' output is compared with that of this
    processor's kernels. Exit codes: 0 done, 2 wrong usage, 3 there is no memory for it, 4 a DPU
    faulted or made something else, 130 interrupted.
    """
    with output.in_sentences():
        from sealift_lab._lab import DpuKernel, WrongResultError
        from sealift_lab.machine.memory import check_memory

        whose = dpu_program.open_system(preset, system, hazard=hazard)
        if dpus > whose.dpus:
            raise ValueError(f"--dpus {dpus}: {whose.name} has {whose.dpus:,}")
        check_memory(dpus * (COPIES * text_bytes + BYTES_A_DPU))
        running = DpuKernel(
            kernel,
            whose,
            dpus=dpus,
            text_bytes=text_bytes,
            tasklets=tasklets,
            key_bytes=key_bits // 8,
            message_bytes=message_bytes,
        )
        try:
            took = _finish(running, dpus)
        except WrongResultError as error:
            fail(ExitCode.WRONG_RESULT, str(error))
    if as_json:
        asked = {"kernel": kernel, "dpus": dpus, "bytes_each": text_bytes, "tasklets": tasklets}
        asked |= {"key_bits": key_bits}
        asked |= {"message_bytes": message_bytes} if kernel == MANY else {}
        output.show_json(_document(asked, whose, took))
    else:
        messages = f", messages of {message_bytes:,} B" if kernel == MANY else ""
        echo("\n".join(_lines(f"{kernel}, AES-{key_bits}{messages}", dpus, whose, took)))


def _finish(running: "DpuKernel", dpus: int) -> "DpuTook":
    running.launch()

    def progress(seconds: float) -> str:
        left = f", about {seconds * (dpus - ended) / ended:.0f} s left" if ended else ""
        return f"{ended:,} of {dpus:,} DPUs simulated in {seconds:.0f} s{left}"

    reporter = dpu_program.Reporter(progress)
    while (ended := running.ended) < dpus:
        time.sleep(LOOK_S)
        reporter.report()
    return running.finish()


def _lines(what: str, dpus: int, system: "DpuSystem", took: "DpuTook") -> Iterator[str]:
    where = f"{dpus:,} DPUs {dpu_program.clock(system)}"
    yield f"{what}: {took.bytes:,} bytes on {where}, every byte compared"
    yield ""
    whole = took.bus_in_seconds + took.compute_seconds + took.bus_out_seconds
    parts = (
        ("computing, texts in their memory", took.compute_seconds, "simulated"),
        ("texts to the DPUs", took.bus_in_seconds, "simulated, by published times"),
        ("texts back", took.bus_out_seconds, "simulated, by published times"),
        ("all three, one after the other", whole, "simulated"),
        ("copying and interleaving here, both ways", took.copy_seconds, "measured"),
        ("simulating here", took.simulating_seconds, "measured"),
    )
    rows = [
        (name, format_measure(seconds), format_measure(took.bytes / seconds / 1e9), origin)
        for name, seconds, origin in parts
    ]
    yield from columns([("", "seconds", "GB/s of text", "whose seconds"), *rows])
    yield ""
    each = format_measure(took.cycles / (took.bytes / dpus))
    rate = took.instructions / took.simulating_seconds / 1e6
    yield (
        f"{took.cycles:,} cycles of the longest DPU, {each} a byte of its own; "
        f"{took.instructions:,} instructions, {rate:,.0f} million simulated a second"
    )


def _document(
    options: Mapping[str, object], system: "DpuSystem", took: "DpuTook"
) -> Mapping[str, object]:
    simulated, measured = ("compute", "bus_in", "bus_out"), ("copy", "simulating")
    return {
        "schema": "sealift-dpu-time/1",
        "asked": options,
        "system": dpu_program.system_record(system),
        "bytes": took.bytes,
        "cycles": took.cycles,
        "instructions": took.instructions,
        "simulated": {f"{n}_seconds": getattr(took, f"{n}_seconds") for n in simulated},
        "measured": {f"{n}_seconds": getattr(took, f"{n}_seconds") for n in measured},
    }


# Instructions that IRAM holds.
INSTRUCTIONS_MAX = 4_096
# So long Ctrl-C may have to wait.
SLICE_S = 0.1
DONE, LIMIT = "done", "limit"
ENDINGS = {DONE: "done", "fault": "stopped", LIMIT: "stopped, and not done,"}
COUNTERS = (
    *("cycles", "seconds", "instructions", "idle_revolver", "idle_dma", "idle_hazard"),
    *("mram_read_bytes", "mram_written_bytes", "transfers"),
)
FAULT = ("what", "pc", "place", "instruction", "tasklet", "cycle", "registers")
MNEMONICS_SHOWN = 12
REGISTERS_A_LINE, BYTES_A_LINE, DUMPED_BYTES = 8, 16, 512
MANY = "many"
LOOK_S = 0.05
# Sent, in the DPUs' memories and fetched; messages have keys and descriptions beside them.
COPIES = 6
# Its memories, decoded instructions and counters.
BYTES_A_DPU = 256 * 1024
