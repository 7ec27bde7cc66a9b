"""`sealift dpu`: assembles, disassembles, runs and times programs for simulated DPUs."""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from sealift.cli.lab import GROUP
from sealift.cli.output import columns, echo, eprint
from sealift.exit_code import ExitCode
from sealift_lab._lab import DpuKernel, DpuProgram, DpuRun, DpuSystem, dpu_disassemble
from sealift_lab.cli import output, parse
from sealift_lab.cli.parse import argument, count, examples, option
from sealift_lab.machine.facts import check_memory
from sealift_lab.measure.write_folder import write_file
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
    **GROUP,
)


def _definition(text: str) -> tuple[str, int]:
    found = re.fullmatch(r"([A-Za-z_.$][\w.$]*)=(-?(?:0x[0-9a-fA-F]{1,16}|[0-9]{1,18}))", text)
    if found is None:
        raise ValueError(f"{text!r}; write NAME=NUMBER, as in COUNT=8")
    return found[1], int(found[2], 0 if "x" in found[2] else 10)


TASKLETS = count(1, 24, "number of tasklets")
Tasklets = Annotated[int | None, option("dpu", "--tasklets", "N", TASKLETS)]
Names = Annotated[list[Any] | None, option("dpu", "--define", "NAME=NUMBER", _definition)]
Preset = Annotated[str, option("dpu", "--preset", "NAME")]
SystemFile = Annotated[str | None, option("dpu", "--system", "FILE")]
Hazard = Annotated[bool, option("dpu", "--hazard")]
PRESET = "upmem-640-266"


@app.command(short_help="Assemble a program into an ELF file.")
def asm(
    file: Annotated[str, argument("dpu asm", "FILE")],
    out: Annotated[Path | None, option("dpu asm", "--out -o", "OUT", parse.file)] = None,
    tasklets: Tasklets = None,
    names: Names = None,
) -> None:
    """Assemble a program into an ELF file for a DPU.

    It takes assembly, not C. An error is reported with line and column, and nothing is written
    then. How much of a DPU's memories the program takes goes to standard output.
    """
    if _is_elf(_read(file)):
        raise ValueError(f"{file} is assembled already; `sealift dpu run` runs it")
    program = _load(file, names or [], tasklets)
    place = out or Path(file).with_suffix(".elf")
    if place.exists() and place.samefile(file):
        raise ValueError(f"-o {place} is the assembly itself; name another file")
    write_file(place, program.elf())
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
    words = _read(file)
    with _error_prefix(file):
        is_elf = _is_elf(words)
        echo((DpuProgram.read_elf(words).disassemble() if is_elf else dpu_disassemble(words))[:-1])


CYCLES = option("dpu run", "--max-cycles", "N", count(1, 2**53, "number of cycles"))


@app.command(short_help="Run a program and say what it took.", epilog=examples("dpu run"))
def run(
    file: Annotated[str, argument("dpu run", "FILE")],
    tasklets: Tasklets = None,
    names: Names = None,
    preset: Preset = PRESET,
    system: SystemFile = None,
    hazard: Hazard = False,
    write: Annotated[list[str] | None, option("dpu run", "--write", "SYMBOL=VALUE")] = None,
    reads: Annotated[list[str] | None, option("dpu run", "--read", "SYMBOL")] = None,
    max_cycles: Annotated[int, CYCLES] = 10_000_000_000,
    as_json: output.Json = False,
) -> None:
    """Run a program on a simulated DPU and say what it took.

    It takes assembly and ELF, not C. Cycles, and seconds at the system's clock, are simulated;
    docs/dpu.md says what they were held against. Exit codes: 0 all tasklets stopped, 2 wrong usage
    or no program, 7 a tasklet faulted or the cycles were used up, 130 interrupted.
    """
    program = _load(file, names or [], tasklets)
    target = _system(preset, system, hazard=hazard)
    dpu = DpuRun(program, target)
    for text in write or ():
        with _error_prefix(f"--write {text}"):
            _write(dpu, text)
    with _error_prefix("--read"):
        # What can't be read is reported before the run.
        for symbol in reads or ():
            dpu.read(symbol)
    seconds = _seconds_to_report()
    while (ending := dpu.run(max_cycles, SLICE_S)) == "running":
        if now_s := next(seconds):
            rate = f"{dpu.cycles / now_s / 1e6:,.0f} million a second"
            eprint(f"{dpu.cycles:,} cycles simulated in {now_s:.0f} s, {rate}")
    fault, counters = dpu.fault, {name: getattr(dpu.counters, name) for name in COUNTERS}
    found: Document = {
        "schema": "sealift-dpu-run/2",
        "file": file,
        "ended": ending,
        "origin": "simulated",
        "system": _system_document(target),
        "counters": counters | {"mnemonics": dict(dpu.counters.mnemonics)},
        "fault": fault and {name: getattr(fault, name) for name in FAULT},
        "memory": {symbol: dpu.read(symbol).hex() for symbol in reads or ()},
        "running": [{"tasklet": t, "pc": pc, "place": place} for t, pc, place in dpu.running],
        "log": _log(dpu),
    }
    output.show_json(found) if as_json else echo("\n".join(_run_lines(found)))
    if fault:
        eprint(f"{file}: {_fault_text(found['fault'])}")
    elif ending == LIMIT:
        eprint(f"{file}: still running after {dpu.cycles:,} cycles; --max-cycles gives more")
    if ending != DONE:
        raise typer.Exit(ExitCode.DPU_FAULT)


def _log(dpu: DpuRun) -> str:
    try:
        return dpu.log
    except ValueError as error:
        return f"(what was printed can't be read: {error})"


def _run_lines(found: Document) -> Iterator[str]:
    """What a program did, for people."""
    counters, fault = found["counters"], found["fault"]
    if fault:
        yield _fault_text(fault)
    us, clock = format_measure(1e6 * counters["seconds"]), _clock(found["system"])
    ending = ENDINGS[found["ended"]]
    yield f"{ending} after {counters['cycles']:,} cycles, {us} µs {clock}: simulated\n"
    yield columns([*_rows(counters)])
    if fault:
        yield f"\nregisters of tasklet {fault['tasklet']}"
        texts = [f"{f'r{at}':>3} {value:08x}" for at, value in enumerate(fault["registers"])]
        yield from (f"  {'  '.join(texts[at : at + 8])}" for at in range(0, len(texts), 8))
    for symbol, digits in found["memory"].items():
        yield from _dump(symbol, bytes.fromhex(digits))
    if found["ended"] == LIMIT:
        rows = [(f"  tasklet {e['tasklet']}", f"{e['pc']:,}", e["place"]) for e in found["running"]]
        yield "\n" + columns([("running", "next instruction", "at"), *rows])
    if found["log"]:
        yield "\nprinted\n" + found["log"].rstrip("\n")


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
    yield "bytes out of MRAM", f"{counters['mram_read_bytes']:,}", ""
    yield "bytes into MRAM", f"{counters['mram_written_bytes']:,}", ""
    yield "transfers", f"{counters['transfers']:,}", ""
    mnemonics = list(counters["mnemonics"].items())
    for mnemonic, many in mnemonics[:MNEMONICS_SHOWN]:
        share = f"{format_percent(many / instructions)} of the instructions"
        yield f"  {mnemonic}", f"{many:,}", share
    if rest := sum(many for _, many in mnemonics[MNEMONICS_SHOWN:]):
        yield "  others", f"{rest:,}", ""


def _dump(symbol: str, data: bytes) -> Iterator[str]:
    number = f", as a number {int.from_bytes(data, 'little'):,}"
    as_number = number if len(data) in NUMBER_BYTES else ""
    yield f"\n{symbol}, {len(data):,} bytes{as_number}"
    for at in range(0, min(len(data), DUMPED_BYTES), 16):
        yield f"  {at:06x}  {data[at : at + 16].hex(' ')}"
    if len(data) > DUMPED_BYTES:
        yield f"  and {len(data) - DUMPED_BYTES:,} bytes more; --json has them all"


DPUS, BYTES = count(1, 2**20, "number of DPUs"), count(0, 2**26, "number of bytes")
MESSAGE = option("dpu time", "--message-bytes", "N", count(1, 2**26, "number of bytes"))


@app.command("time", short_help="Time a cipher on many DPUs.", epilog=examples("dpu time"))
def time_kernel(
    kernel: Annotated[str, option("dpu time", "--kernel", "KERNEL")] = "ctr",
    dpus: Annotated[int, option("dpu time", "--dpus", "N", DPUS)] = 64,
    text_bytes: Annotated[int, option("dpu time", "--bytes", "N", BYTES)] = 65_536,
    tasklets: Annotated[int, option("dpu time", "--tasklets", "N", TASKLETS)] = 16,
    key_bits: Annotated[int, option("dpu time", "--key-bits", "BITS", parse.key_bits)] = 128,
    message_bytes: Annotated[int, MESSAGE] = 128,
    preset: Preset = PRESET,
    system: SystemFile = None,
    hazard: Hazard = False,
    as_json: output.Json = False,
) -> None:
    """Time a cipher on many simulated DPUs, every byte compared.

    What DPUs and their bus would take is simulated; what copying and simulating took on this
    machine is measured, and stands apart. The DPUs' output is compared with that of this
    processor's kernels. Exit codes: 0 done, 2 wrong usage, 3 there is no memory for it, 4 a DPU
    faulted or made something else, 130 interrupted.
    """
    target = _system(preset, system, hazard=hazard)
    if dpus > target.dpus:
        raise ValueError(f"--dpus {dpus}: {target.name} has {target.dpus:,}")
    check_memory(dpus * (COPIES * text_bytes + BYTES_A_DPU))
    asked: Document = {"dpus": dpus, "tasklets": tasklets, "message_bytes": message_bytes}
    running = DpuKernel(kernel, target, text_bytes=text_bytes, key_bytes=key_bits // 8, **asked)
    running.launch()
    seconds = _seconds_to_report()
    while (ended := running.ended) < dpus:
        time.sleep(LOOK_S)
        if ended and (now_s := next(seconds)):
            left = f"about {now_s * (dpus - ended) / ended:.0f} s left"
            eprint(f"{ended:,} of {dpus:,} DPUs simulated in {now_s:.0f} s, {left}")
    took = running.finish()
    if kernel != MANY:
        del asked["message_bytes"]
    found: Document = {
        "schema": "sealift-dpu-time/1",
        "asked": {"kernel": kernel, "bytes_each": text_bytes, "key_bits": key_bits, **asked},
        "system": _system_document(target),
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
        f"{_clock(found['system'])}, every byte compared\n"
    )
    whole = sum(found["simulated"].values())
    parts = [
        *((*SIMULATED[name], seconds) for name, seconds in found["simulated"].items()),
        ("all three, one after the other", "simulated", whole),
        *((MEASURED[name], "measured", seconds) for name, seconds in found["measured"].items()),
    ]
    rows = [
        (name, format_measure(seconds), format_measure(size / seconds / 1e9), origin)
        for name, origin, seconds in parts
    ]
    yield columns([("", "seconds", "GB/s of text", "whose seconds"), *rows]) + "\n"
    each = format_measure(found["cycles"] / (size / dpus))
    rate = found["instructions"] / found["measured"]["simulating_seconds"] / 1e6
    yield (
        f"{found['cycles']:,} cycles of the longest DPU, {each} a byte of its own; "
        f"{found['instructions']:,} instructions, {rate:,.0f} million simulated a second"
    )


def _system(preset: str, file: str | None, *, hazard: bool) -> DpuSystem:
    """The system of a preset or a file."""
    if file is not None and preset != PRESET:
        raise ValueError("--preset and --system both say what the DPUs are; give one")
    with _error_prefix(file or "--preset"):
        text = file and _read(file).decode(errors="replace")
        system = DpuSystem.named(preset) if text is None else DpuSystem.parse(text)
    return system.with_hazard(on=True) if hazard else system


def _system_document(system: DpuSystem) -> Document:
    return {"name": system.name, "clock_hz": system.clock_hz, "hazard": system.hazard}


def _clock(system: Document) -> str:
    hazard = ", with the register hazard" if system["hazard"] else ""
    return f"at {system['clock_hz'] / 1e6:g} MHz ({system['name']}{hazard})"


def _load(file: str, names: Sequence[tuple[str, int]], tasklets: int | None) -> DpuProgram:
    """The program of a file, assembly or ELF; `tasklets` are one more name for assembly."""
    content = _read(file)
    numbers = [*names, *([(NR_TASKLETS, tasklets)] if tasklets else [])]
    with _error_prefix(file):
        if _is_elf(content):
            if numbers:
                raise ValueError(
                    "it is assembled already, and names stand for something only while it is; give "
                    "the assembly, or leave --define and --tasklets out"
                )
            return DpuProgram.read_elf(content)
        if Path(file).suffix in C_SUFFIXES:
            raise ValueError("it is C; give assembly, or what the vendor's compiler makes of it")
        try:
            return DpuProgram.assemble(content.decode(), names=numbers)
        except ValueError as error:
            how = "; --tasklets says how many there are" if NR_TASKLETS in str(error) else ""
            raise ValueError(f"{error}{how}") from error


def _read(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        # As the name of a result the file would end the program with another code.
        raise ValueError(f"{file!r}: {error.strerror}; name a file that is there") from error


def _is_elf(content: bytes) -> bool:
    return content.startswith(b"\x7fELF")


def _write(dpu: DpuRun, text: str) -> None:
    """Writes SYMBOL=VALUE: a number, `hex:` and bytes, or `@` and a file."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise ValueError("write SYMBOL=VALUE")
    if value.startswith("@"):
        data = _read(value[1:])
    else:
        try:
            if value.startswith("hex:"):
                data = bytes.fromhex(value.removeprefix("hex:"))
            else:
                number, size = int(value, 0), dpu.number_bytes(name)
                data = number.to_bytes(size, "little", signed=number < 0)
        except OverflowError:
            raise ValueError(f"{name} has {size} bytes, too few for {number}") from None
        except ValueError as error:
            forms = f"a number as {name}=1024 or 0x400, bytes as {name}=hex:00040000 or @FILE"
            raise ValueError(f"{error}; write {forms}") from error
    dpu.write(name, data)


@contextmanager
def _error_prefix(what: str) -> Iterator[None]:
    """Puts a file or an option in front of an error."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from error


def _seconds_to_report() -> Iterator[float | None]:
    """How long a simulation has taken: after two seconds, then every ten; in between None."""
    start_s, next_s = time.monotonic(), 2.0
    while True:
        now_s = time.monotonic() - start_s
        is_due = now_s >= next_s
        next_s = now_s + 10 if is_due else next_s
        yield now_s if is_due else None


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
MNEMONICS_SHOWN, DUMPED_BYTES = 12, 512
MANY, NR_TASKLETS = "many", "NR_TASKLETS"
C_SUFFIXES = (".c", ".cc", ".cpp", ".h")
# Bytes that a number may have.
NUMBER_BYTES = (1, 2, 4, 8)
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
