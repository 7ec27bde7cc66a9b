"""`sealift dpu`: assembles, disassembles, runs and times programs for simulated DPUs."""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from sealift.cli.output import columns, echo, eprint, fail
from sealift.exit_code import ExitCode
from sealift_lab._lab import (
    DpuKernel,
    DpuProgram,
    DpuRun,
    DpuSystem,
    WrongResultError,
    dpu_disassemble,
)
from sealift_lab.cli import dpu_program, output, parse
from sealift_lab.cli.parse import argument, count, examples, option
from sealift_lab.machine.facts import check_memory
from sealift_lab.measure.storage import write_file
from sealift_lab.model.units import format_measure, format_percent

Document = dict[str, Any]
"""The JSON of a command, or a part of it."""


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


TASKLETS = 24
CYCLES = option("dpu run", "--max-cycles", "N", count(1, 2**53, "number of cycles"))
READS = option("dpu run", "--read", "SYMBOL[:N]", dpu_program.symbol)
REGISTERS = option("dpu run", "--registers", "LIST", _tasklets)


@app.command(short_help="Run a program and say what it took.", epilog=examples("dpu run"))
def run(
    file: Annotated[str, argument("dpu run", "FILE")],
    tasklets: dpu_program.Tasklets = None,
    names: dpu_program.Names = None,
    preset: dpu_program.Preset = None,
    system: dpu_program.SystemFile = None,
    hazard: dpu_program.Hazard = False,
    write: Annotated[list[str] | None, option("dpu run", "--write", "SYMBOL=VALUE")] = None,
    reads: Annotated[list[dpu_program.Symbol] | None, READS] = None,
    registers: Annotated[Sequence[int] | None, REGISTERS] = None,
    max_cycles: Annotated[int, CYCLES] = 10_000_000_000,
    as_json: output.Json = False,
) -> None:
    """Run a program on a simulated DPU and say what it took.

    It takes assembly and ELF, not C. Cycles, and seconds at the system's clock, are simulated;
    docs/dpu.md says what they were held against. Exit codes: 0 all tasklets stopped, 2 wrong usage
    or no program, 7 a tasklet faulted or the cycles were used up, 130 interrupted.
    """
    ending = "running"

    def is_running() -> bool:
        nonlocal ending
        ending = dpu.run(max_cycles, SLICE_S)
        return ending == "running"

    def progress(seconds: float) -> str:
        rate = dpu.cycles / seconds / 1e6
        return f"{dpu.cycles:,} cycles simulated in {seconds:.0f} s, {rate:,.0f} million a second"

    def memory() -> dict[str, str]:
        with dpu_program.named("--read"):
            return {each.name: dpu.read(*each).hex() for each in reads or ()}

    with output.in_sentences():
        program = dpu_program.load(file, names or [], tasklets)
        whose = dpu_program.open_system(preset, system, hazard=hazard)
        dpu = DpuRun(program, whose)
        dpu_program.write_memory(dpu, write or ())
        # What can't be read is reported before the run.
        memory()
        dpu_program.follow(is_running, progress)
        counters, fault = dpu.counters, dpu.fault
        found: Document = {
            "schema": "sealift-dpu-run/1",
            "file": file,
            "ended": ending,
            "origin": "simulated",
            "system": _system(whose),
            "counters": {name: getattr(counters, name) for name in COUNTERS}
            | {"mnemonics": dict(counters.mnemonics)},
            "fault": None if fault is None else {name: getattr(fault, name) for name in FAULT},
            "registers": {str(each): list(dpu.registers(each)) for each in registers or ()},
            "memory": memory(),
            "running": [{"tasklet": t, "pc": pc, "place": place} for t, pc, place in dpu.running],
            "log": _log(dpu),
        }
        # Where nobody listens any more, the exit code still tells how the program ended.
        with suppress(BrokenPipeError):
            output.show_json(found) if as_json else echo("\n".join(_run_lines(found)))
    with suppress(BrokenPipeError):
        if found["fault"]:
            eprint(f"{file}: {_fault_text(found['fault'])}; its registers are shown")
        elif ending == LIMIT:
            eprint(
                f"{file}: tasklets were still running after {dpu.cycles:,} cycles, where is "
                "shown; --max-cycles gives more"
            )
    if ending != DONE:
        raise typer.Exit(ExitCode.DPU_FAULT)


def _log(dpu: DpuRun) -> str:
    try:
        return dpu.log
    except ValueError as error:
        return f"(what was printed can't be read: {error})"


def _run_lines(found: Document) -> Iterator[str]:
    """What a program did, for people."""
    counters, fault, ending = found["counters"], found["fault"], found["ended"]
    registers = found["registers"]
    if fault:
        yield _fault_text(fault)
        registers = {str(fault["tasklet"]): fault["registers"], **registers}
    us, clock = format_measure(1e6 * counters["seconds"]), _clock(found["system"])
    yield f"{ENDINGS[ending]} after {counters['cycles']:,} cycles, {us} µs {clock}: simulated"
    yield from ("", *columns([*_rows(counters)]))
    for tasklet, values in registers.items():
        yield from ("", f"registers of tasklet {tasklet}")
        for first in range(0, len(values), REGISTERS_A_LINE):
            line = enumerate(values[first : first + REGISTERS_A_LINE], first)
            yield "  " + "  ".join(f"{f'r{number}':>3} {value:08x}" for number, value in line)
    for symbol, digits in found["memory"].items():
        yield from ("", *_dump(symbol, bytes.fromhex(digits)))
    if ending == LIMIT:
        rows = [(f"  tasklet {e['tasklet']}", f"{e['pc']:,}", e["place"]) for e in found["running"]]
        yield from ("", *columns([("running", "next instruction", "at"), *rows]))
    if found["log"]:
        yield from ("", "printed", found["log"].rstrip("\n"))


def _fault_text(fault: Document) -> str:
    """Which tasklet did what it can't, when and where."""
    at = ", ".join(filter(None, (fault["place"], fault["instruction"])))
    return (
        f"tasklet {fault['tasklet']} faulted in cycle {fault['cycle']:,} at instruction "
        f"{fault['pc']}{f' ({at})' if at else ''}: {fault['what']}"
    )


def _rows(counters: Document) -> Iterator[tuple[str, str, str]]:
    instructions, cycles = counters["instructions"], counters["cycles"]
    each = f"{format_measure(cycles / instructions)} cycles an instruction" if instructions else ""
    yield "instructions", f"{instructions:,}", each
    for what, name in (
        ("idle: each tasklet had just issued one", "idle_revolver"),
        ("idle: waiting for transfers", "idle_dma"),
        ("idle: registers in one bank", "idle_hazard"),
    ):
        share = f"{format_percent(counters[name] / cycles)} of the cycles" if cycles else ""
        yield what, f"{counters[name]:,}", share
    transfers = f"{counters['transfers']:,} transfers"
    yield "bytes out of MRAM", f"{counters['mram_read_bytes']:,}", transfers
    yield "bytes into MRAM", f"{counters['mram_written_bytes']:,}", ""
    mnemonics = list(counters["mnemonics"].items())
    for mnemonic, many in mnemonics[:MNEMONICS_SHOWN]:
        share = f"{format_percent(many / instructions)} of the instructions"
        yield f"  {mnemonic}", f"{many:,}", share
    if rest := mnemonics[MNEMONICS_SHOWN:]:
        others = f"  {len(rest)} other{'s' if len(rest) > 1 else ''}"
        yield others, f"{sum(many for _, many in rest):,}", ""


def _dump(symbol: str, data: bytes) -> Iterator[str]:
    as_number = ""
    if len(data) in dpu_program.NUMBER_BYTES:
        plain, signed = (int.from_bytes(data, "little", signed=each) for each in (False, True))
        as_number = f", as a number {plain:,}" + (f" or {signed:,}" if signed < 0 else "")
    yield f"{symbol}, {len(data):,} bytes{as_number}"
    for at in range(0, min(len(data), DUMPED_BYTES), BYTES_A_LINE):
        yield f"  {at:06x}  {data[at : at + BYTES_A_LINE].hex(' ')}"
    if len(data) > DUMPED_BYTES:
        yield f"  and {len(data) - DUMPED_BYTES:,} bytes more; --json has them all"


DPUS, BYTES = count(1, 2**20, "number of DPUs"), count(0, 2**26, "number of bytes")
MESSAGE = option("dpu time", "--message-bytes", "N", count(1, 2**26, "number of bytes"))


@app.command("time", short_help="Time a cipher on many DPUs.", epilog=examples("dpu time"))
def time_kernel(
    kernel: Annotated[str, option("dpu time", "--kernel", "KERNEL")] = "ctr",
    dpus: Annotated[int, option("dpu time", "--dpus", "N", DPUS)] = 64,
    text_bytes: Annotated[int, option("dpu time", "--bytes", "N", BYTES)] = 65_536,
    tasklets: Annotated[int, option("dpu time", "--tasklets", "N", dpu_program.TASKLETS)] = 16,
    key_bits: Annotated[int, option("dpu time", "--key-bits", "BITS", parse.key_bits)] = 128,
    message_bytes: Annotated[int, MESSAGE] = 128,
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

    def is_running() -> bool:
        time.sleep(LOOK_S)
        return running.ended < dpus

    def progress(seconds: float) -> str:
        ended = running.ended
        left = f", about {seconds * (dpus - ended) / ended:.0f} s left" if ended else ""
        return f"{ended:,} of {dpus:,} DPUs simulated in {seconds:.0f} s{left}"

    with output.in_sentences():
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
            running.launch()
            dpu_program.follow(is_running, progress)
            took = running.finish()
        except WrongResultError as error:
            fail(ExitCode.WRONG_RESULT, str(error))
    asked = {"kernel": kernel, "dpus": dpus, "bytes_each": text_bytes, "tasklets": tasklets}
    asked |= {"key_bits": key_bits} | ({"message_bytes": message_bytes} if kernel == MANY else {})
    found: Document = {
        "schema": "sealift-dpu-time/1",
        "asked": asked,
        "system": _system(whose),
        "bytes": took.bytes,
        "cycles": took.cycles,
        "instructions": took.instructions,
        "simulated": {name: getattr(took, name) for name in SIMULATED},
        "measured": {name: getattr(took, name) for name in MEASURED},
    }
    output.show_json(found) if as_json else echo("\n".join(_time_lines(found)))


def _time_lines(found: Document) -> Iterator[str]:
    asked, size, dpus = found["asked"], found["bytes"], found["asked"]["dpus"]
    of = f", messages of {asked['message_bytes']:,} B" if asked["kernel"] == MANY else ""
    yield (
        f"{asked['kernel']}, AES-{asked['key_bits']}{of}: {size:,} bytes on {dpus:,} DPUs "
        f"{_clock(found['system'])}, every byte compared"
    )
    whole = sum(found["simulated"].values())
    parts = [(SIMULATED[name], seconds) for name, seconds in found["simulated"].items()]
    parts.append((("all three, one after the other", "simulated"), whole))
    parts += [
        ((MEASURED[name], "measured"), seconds) for name, seconds in found["measured"].items()
    ]
    rows = [
        (name, format_measure(seconds), format_measure(size / seconds / 1e9), origin)
        for (name, origin), seconds in parts
    ]
    yield from ("", *columns([("", "seconds", "GB/s of text", "whose seconds"), *rows]), "")
    each = format_measure(found["cycles"] / (size / dpus))
    rate = found["instructions"] / found["measured"]["simulating_seconds"] / 1e6
    yield (
        f"{found['cycles']:,} cycles of the longest DPU, {each} a byte of its own; "
        f"{found['instructions']:,} instructions, {rate:,.0f} million simulated a second"
    )


def _system(system: DpuSystem) -> Document:
    return {"name": system.name, "clock_hz": system.clock_hz, "hazard": system.hazard}


def _clock(system: Document) -> str:
    hazard = ", with the register hazard" if system["hazard"] else ""
    return f"at {system['clock_hz'] / 1e6:g} MHz ({system['name']}{hazard})"


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
BY_PUBLISHED = "simulated, by published times"
SIMULATED = {
    "compute_seconds": ("computing, texts in their memory", "simulated"),
    "bus_in_seconds": ("texts to the DPUs", BY_PUBLISHED),
    "bus_out_seconds": ("texts back", BY_PUBLISHED),
}
MEASURED = {
    "copy_seconds": "copying and interleaving here, both ways",
    "simulating_seconds": "simulating here",
}
LOOK_S = 0.05
# Sent, in the DPUs' memories and fetched; messages have keys and descriptions beside them.
COPIES = 6
# Its memories, decoded instructions and counters.
BYTES_A_DPU = 256 * 1024
