"""What a program did on a simulated DPU, for people and for programs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sealift.cli.dpu_memory import NUMBERS
from sealift.lab.table import aligned
from sealift.lab.units import format_measure, format_share

if TYPE_CHECKING:
    from sealift._sealift import DpuCounters, DpuFault, DpuRun, DpuSystem

Memory = Sequence[tuple[str, bytes]]
Registers = Mapping[int, Sequence[int]]


def table(
    ended: str, dpu: "DpuRun", system: "DpuSystem", memory: Memory, registers: Registers
) -> str:
    """What there is to show, in lines."""
    counters = dpu.counters
    us = format_measure(1e6 * counters.seconds)
    how = HOW[ended]
    hazard = ", with the register hazard" if system.hazard else ""
    lines = [
        f"{how} after {counters.cycles:,} cycles, {us} µs at {system.clock_hz / 1e6:g} MHz "
        f"({system.name}{hazard}): simulated",
        "",
        aligned(list(_rows(counters))),
    ]
    fault = dpu.fault
    if fault is not None:
        lines = [faulted(fault), *lines]
        registers = {fault.tasklet: fault.registers, **registers}
    for tasklet, values in registers.items():
        lines += ["", f"registers of tasklet {tasklet}", *_registers(values)]
    for symbol, data in memory:
        lines += ["", f"{symbol}, {len(data):,} bytes{_number(data)}", *_dump(data)]
    if ended == "limit":
        places = dpu.running
        rows = [(f"  tasklet {tasklet}", f"{pc:,}", place) for tasklet, pc, place in places]
        lines += ["", aligned([("running", "next instruction", "at"), *rows])]
    if printed := _log(dpu):
        lines += ["", "printed", printed.rstrip("\n")]
    return "\n".join(lines)


def faulted(fault: "DpuFault") -> str:
    """Which tasklet did what it can't, when and where."""
    at = ", ".join(filter(None, (fault.place, fault.instruction)))
    return (
        f"tasklet {fault.tasklet} faulted in cycle {fault.cycle:,} at instruction "
        f"{fault.pc}{f' ({at})' if at else ''}: {fault.what}"
    )


def document(
    file: str,
    ended: str,
    dpu: "DpuRun",
    system: "DpuSystem",
    memory: Memory,
    registers: Registers,
) -> dict[str, Any]:
    """The same as plain values."""
    counters, fault = dpu.counters, dpu.fault
    return {
        "schema": "sealift-dpu-run/1",
        "file": file,
        "ended": ended,
        "origin": "simulated",
        "system": {"name": system.name, "clock_hz": system.clock_hz, "hazard": system.hazard},
        "counters": {name: getattr(counters, name) for name in COUNTERS}
        | {"mnemonics": dict(counters.mnemonics)},
        "fault": None if fault is None else {name: getattr(fault, name) for name in FAULT},
        "registers": {str(tasklet): list(values) for tasklet, values in registers.items()},
        "memory": {symbol: data.hex() for symbol, data in memory},
        "running": [
            {"tasklet": tasklet, "pc": pc, "place": place} for tasklet, pc, place in dpu.running
        ],
        "log": _log(dpu),
    }


def _log(dpu: "DpuRun") -> str:
    from sealift.errors import InputError

    try:
        return dpu.log
    except InputError as error:
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
        yield what, f"{idle:,}", f"{format_share(idle / cycles)} of the cycles" if cycles else ""
    yield "bytes out of MRAM", f"{counters.mram_read_bytes:,}", f"{counters.transfers:,} transfers"
    yield "bytes into MRAM", f"{counters.mram_written_bytes:,}", ""
    for mnemonic, count in counters.mnemonics[:MNEMONICS_SHOWN]:
        share = f"{format_share(count / instructions)} of the instructions"
        yield f"  {mnemonic}", f"{count:,}", share
    if rest := counters.mnemonics[MNEMONICS_SHOWN:]:
        others = f"  {len(rest)} other{'s' if len(rest) > 1 else ''}"
        yield others, f"{sum(count for _, count in rest):,}", ""


def _registers(values: Sequence[int]) -> Iterator[str]:
    for first in range(0, len(values), REGISTERS_A_LINE):
        line = enumerate(values[first : first + REGISTERS_A_LINE], first)
        yield "  " + "  ".join(f"{f'r{number}':>3} {value:08x}" for number, value in line)


def _number(data: bytes) -> str:
    """What so few bytes are as a number, where they may be one."""
    if len(data) not in NUMBERS:
        return ""
    plain, signed = (int.from_bytes(data, "little", signed=signed) for signed in (False, True))
    return f", as a number {plain:,}" + (f" or {signed:,}" if signed < 0 else "")


def _dump(data: bytes) -> Iterator[str]:
    for at in range(0, min(len(data), DUMPED_BYTES), BYTES_A_LINE):
        yield f"  {at:06x}  {data[at : at + BYTES_A_LINE].hex(' ')}"
    if len(data) > DUMPED_BYTES:
        yield f"  and {len(data) - DUMPED_BYTES:,} bytes more; --json has them all"


HOW = {"done": "done", "fault": "stopped", "limit": "stopped, and not done,"}
COUNTERS = (
    "cycles",
    "seconds",
    "instructions",
    "idle_revolver",
    "idle_dma",
    "idle_hazard",
    "mram_read_bytes",
    "mram_written_bytes",
    "transfers",
)
FAULT = ("what", "pc", "place", "instruction", "tasklet", "cycle", "registers")
MNEMONICS_SHOWN = 12
REGISTERS_A_LINE = 8
BYTES_A_LINE = 16
DUMPED_BYTES = 512
