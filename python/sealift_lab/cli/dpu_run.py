"""`sealift dpu run`: runs a program on one simulated DPU."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from sealift.exit_code import ExitCode
from sealift_lab.cli import dpu_program, output
from sealift_lab.cli.help import argument, option
from sealift_lab.model.units import format_measure, format_percent

if TYPE_CHECKING:
    from sealift_lab._lab import DpuCounters, DpuFault, DpuRun, DpuSystem


def run(
    file: Annotated[str, argument("dpu run", "FILE")],
    tasklets: dpu_program.Tasklets = None,
    names: dpu_program.Names = None,
    preset: dpu_program.Preset = None,
    system: dpu_program.SystemFile = None,
    hazard: dpu_program.Hazard = False,
    write: Annotated[list[str] | None, option("dpu run", "--write", metavar="SYMBOL=VALUE")] = None,
    reads: Annotated[list[str] | None, option("dpu run", "--read", metavar="SYMBOL[:N]")] = None,
    registers: Annotated[str | None, option("dpu run", "--registers", metavar="LIST")] = None,
    max_cycles: Annotated[str, option("dpu run", "--max-cycles", metavar="N")] = "10G",
    as_json: output.Json = False,
) -> None:
    """Run a program on a simulated DPU and say what it took.

    It takes assembly and ELF, not C. Cycles, and seconds at the system's clock, are simulated;
    docs/dpu.md says what they were held against. Exit codes: 0 all tasklets stopped, 2 wrong usage
    or no program, 7 a tasklet faulted or the cycles were used up, 130 interrupted.
    """
    with output.in_sentences():
        from sealift_lab._lab import DpuRun

        content = dpu_program.read_file(file)
        program = dpu_program.load(file, content, dpu_program.parse_names(names or [], tasklets))
        whose = dpu_program.open_system(preset, system, hazard=hazard)
        limit = output.parsed_count("--max-cycles", 1, 2**53, "number of cycles", max_cycles)
        shown = _tasklets(registers) if registers is not None else ()
        dpu = DpuRun(program, whose)
        dpu_program.write_memory(dpu, write or ())
        symbols = [dpu_program.parse_symbol(text) for text in reads or []]
        # Before the run, so that what can't be read is reported at once.
        _memory(dpu, symbols)
        ending = _run(dpu, limit)
        held = {tasklet: dpu.registers(tasklet) for tasklet in shown}
        end = _End(file, ending, dpu, whose, _memory(dpu, symbols), held)
        # Where nobody listens any more, the exit code still tells how the program ended.
        with suppress(BrokenPipeError):
            output.show_json(end.document()) if as_json else typer.echo("\n".join(end.lines()))
    with suppress(BrokenPipeError):
        if dpu.fault is not None:
            output.eprint(f"{file}: {_fault_text(dpu.fault)}; its registers are shown")
        elif ending == LIMIT:
            output.eprint(
                f"{file}: tasklets were still running after {dpu.cycles:,} cycles, where is "
                "shown; --max-cycles gives more"
            )
    if ending != DONE:
        raise typer.Exit(ExitCode.DPU_FAULT)


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
                f"--registers {text}: {part!r} names no tasklets; write 0, 0-3,7 or all, from 0 to "
                f"{TASKLETS - 1}"
            )
        found.update(dict.fromkeys(range(first, last + 1)))
    return tuple(found)


def _memory(dpu: "DpuRun", symbols: Sequence[tuple[str, int | None]]) -> list[tuple[str, bytes]]:
    with dpu_program.named("--read"):
        return [(symbol, dpu.read(symbol, length)) for symbol, length in symbols]


def _run(dpu: "DpuRun", max_cycles: int) -> str:
    reporter = dpu_program.Reporter()

    def progress(seconds: float) -> str:
        rate = dpu.cycles / seconds / 1e6
        return f"{dpu.cycles:,} cycles simulated in {seconds:.0f} s, {rate:,.0f} million a second"

    while (ending := dpu.run(max_cycles, SLICE_S)) == "running":
        reporter.report(progress)
    return ending


@dataclass(frozen=True)
class _End:
    """What a program did."""

    file: str
    ending: str
    dpu: "DpuRun"
    system: "DpuSystem"
    memory: Sequence[tuple[str, bytes]]
    registers: Mapping[int, Sequence[int]]

    def lines(self) -> Iterator[str]:
        """For people."""
        counters, fault = self.dpu.counters, self.dpu.fault
        us = format_measure(1e6 * counters.seconds)
        hazard = ", with the register hazard" if self.system.hazard else ""
        if fault is not None:
            yield _fault_text(fault)
        yield (
            f"{ENDINGS[self.ending]} after {counters.cycles:,} cycles, {us} µs at "
            f"{self.system.clock_hz / 1e6:g} MHz ({self.system.name}{hazard}): simulated"
        )
        yield ""
        yield from output.columns(list(_rows(counters)))
        faulted = {} if fault is None else {fault.tasklet: fault.registers}
        for tasklet, values in {**faulted, **self.registers}.items():
            yield from ("", f"registers of tasklet {tasklet}", *_registers(values))
        for symbol, data in self.memory:
            yield from ("", f"{symbol}, {len(data):,} bytes{_as_number(data)}", *_dump(data))
        if self.ending == LIMIT:
            head = ("running", "next instruction", "at")
            rows = [(f"  tasklet {t}", f"{pc:,}", place) for t, pc, place in self.dpu.running]
            yield from ("", *output.columns([head, *rows]))
        if log := _log(self.dpu):
            yield from ("", "printed", log.rstrip("\n"))

    def document(self) -> Mapping[str, object]:
        """For programs."""
        counters, fault, system = self.dpu.counters, self.dpu.fault, self.system
        return {
            "schema": "sealift-dpu-run/1",
            "file": self.file,
            "ended": self.ending,
            "origin": "simulated",
            "system": {"name": system.name, "clock_hz": system.clock_hz, "hazard": system.hazard},
            "counters": {name: getattr(counters, name) for name in COUNTERS}
            | {"mnemonics": dict(counters.mnemonics)},
            "fault": None if fault is None else {name: getattr(fault, name) for name in FAULT},
            "registers": {str(tasklet): list(held) for tasklet, held in self.registers.items()},
            "memory": {symbol: data.hex() for symbol, data in self.memory},
            "running": [
                {"tasklet": tasklet, "pc": pc, "place": place}
                for tasklet, pc, place in self.dpu.running
            ],
            "log": _log(self.dpu),
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
    for mnemonic, count in counters.mnemonics[:MNEMONICS_SHOWN]:
        share = f"{format_percent(count / instructions)} of the instructions"
        yield f"  {mnemonic}", f"{count:,}", share
    if rest := counters.mnemonics[MNEMONICS_SHOWN:]:
        others = f"  {len(rest)} other{'s' if len(rest) > 1 else ''}"
        yield others, f"{sum(count for _, count in rest):,}", ""


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


# So long Ctrl-C may have to wait.
SLICE_S = 0.1
TASKLETS = 24
DONE, LIMIT = "done", "limit"
ENDINGS = {DONE: "done", "fault": "stopped", LIMIT: "stopped, and not done,"}
COUNTERS = (
    *("cycles", "seconds", "instructions", "idle_revolver", "idle_dma", "idle_hazard"),
    *("mram_read_bytes", "mram_written_bytes", "transfers"),
)
FAULT = ("what", "pc", "place", "instruction", "tasklet", "cycle", "registers")
MNEMONICS_SHOWN = 12
REGISTERS_A_LINE, BYTES_A_LINE, DUMPED_BYTES = 8, 16, 512
