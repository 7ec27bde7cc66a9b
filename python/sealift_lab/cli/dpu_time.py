"""`sealift dpu time`: a cipher on many simulated DPUs."""

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from sealift.exit_code import ExitCode
from sealift_lab.cli import dpu_program, output, parse
from sealift_lab.cli.help import option
from sealift_lab.cli.output import fail, parsed, parsed_count

if TYPE_CHECKING:
    from sealift_lab._lab import DpuKernel, DpuSystem, DpuTook


def time_kernel(
    kernel: Annotated[str, option("dpu time", "--kernel", metavar="KERNEL")] = "ctr",
    dpus: Annotated[str, option("dpu time", "--dpus", metavar="N")] = "64",
    text_bytes: Annotated[str, option("dpu time", "--bytes", metavar="N")] = "64KiB",
    tasklets: Annotated[str, option("dpu time", "--tasklets", metavar="N")] = "16",
    key_bits: Annotated[str, option("dpu time", "--key-bits", metavar="BITS")] = "128",
    message_bytes: Annotated[str, option("dpu time", "--message-bytes", metavar="N")] = "128",
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

        count = parsed_count("--dpus", 1, 2**20, "number of DPUs", dpus)
        size = parsed_count("--bytes", 0, 2**26, "number of bytes", text_bytes)
        message = parsed_count("--message-bytes", 1, 2**26, "number of bytes", message_bytes)
        many = dpu_program.parse_tasklets(tasklets)
        bits = parsed("--key-bits", parse.key_bits, key_bits)
        whose = dpu_program.open_system(preset, system, hazard=hazard)
        if count > whose.dpus:
            raise ValueError(f"--dpus {count}: {whose.name} has {whose.dpus:,}")
        check_memory(count * (COPIES * size + BYTES_A_DPU))
        running = DpuKernel(
            kernel,
            whose,
            dpus=count,
            text_bytes=size,
            tasklets=many,
            key_bytes=bits // 8,
            message_bytes=message,
        )
        try:
            took = _finish(running, count)
        except WrongResultError as error:
            fail(ExitCode.WRONG_RESULT, str(error))
    if as_json:
        asked = {"kernel": kernel, "dpus": count, "bytes_each": size, "tasklets": many}
        asked |= {"key_bits": bits} | ({"message_bytes": message} if kernel == MANY else {})
        output.show_json(_document(asked, whose, took))
    else:
        messages = f", messages of {message:,} B" if kernel == MANY else ""
        typer.echo("\n".join(_lines(f"{kernel}, AES-{bits}{messages}", count, whose, took)))


def _finish(running: "DpuKernel", dpus: int) -> "DpuTook":
    running.launch()
    reporter = dpu_program.Reporter()

    def progress(seconds: float) -> str:
        left = f", about {seconds * (dpus - ended) / ended:.0f} s left" if ended else ""
        return f"{ended:,} of {dpus:,} DPUs simulated in {seconds:.0f} s{left}"

    while (ended := running.ended) < dpus:
        time.sleep(LOOK_S)
        reporter.report(progress)
    return running.finish()


def _lines(what: str, dpus: int, system: "DpuSystem", took: "DpuTook") -> Iterator[str]:
    from sealift_lab.model.units import format_measure

    hazard = ", with the register hazard" if system.hazard else ""
    yield (
        f"{what}: {took.bytes:,} bytes on {dpus:,} DPUs at {system.clock_hz / 1e6:g} MHz "
        f"({system.name}{hazard}), every byte compared"
    )
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
    yield from output.columns([("", "seconds", "GB/s of text", "whose seconds"), *rows])
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
        "system": {"name": system.name, "clock_hz": system.clock_hz, "hazard": system.hazard},
        "bytes": took.bytes,
        "cycles": took.cycles,
        "instructions": took.instructions,
        "simulated": {f"{n}_seconds": getattr(took, f"{n}_seconds") for n in simulated},
        "measured": {f"{n}_seconds": getattr(took, f"{n}_seconds") for n in measured},
    }


MANY = "many"
LOOK_S = 0.05
# Sent, in the DPUs' memories and fetched; messages have keys and descriptions beside them.
COPIES = 6
# Its memories, decoded instructions and counters.
BYTES_A_DPU = 256 * 1024
