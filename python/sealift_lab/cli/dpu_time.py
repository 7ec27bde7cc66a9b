"""`sealift dpu time`: a cipher on many simulated DPUs."""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from sealift_lab.cli import dpu_program, output, parse
from sealift_lab.cli.output import parsed

if TYPE_CHECKING:
    from sealift._sealift import DpuKernel, DpuSystem, DpuTook

# \b keeps the lines as they are.
EXAMPLES = """\b
Kernels for --kernel:
  ecb   AES block by block
  ctr   AES in counter mode
  gcm   AES-GCM, sealing one message for each DPU
  many  AES-GCM, sealing messages of --message-bytes, each under a key of its own

\b
Examples:
  sealift dpu time --kernel ctr --dpus 640 --bytes 64KiB
  sealift dpu time --kernel gcm --preset upmem-2560-350 --dpus 2560 --bytes 16KiB --hazard
  sealift dpu time --kernel many --dpus 640 --bytes 16KiB --message-bytes 128
  sealift dpu time --kernel ecb --dpus 1 --bytes 4KiB --tasklets 1 --json
"""


def _count(option: str, least: int, most: int, noun: str) -> Callable[[str | int], int]:
    return output.option_parser(option, parse.count(least, most, noun))


def time_kernel(
    kernel: Annotated[
        str, typer.Option(help="What is computed; the kernels stand below.", metavar="KERNEL")
    ] = "ctr",
    dpus: Annotated[
        int,
        typer.Option(
            help="How many DPUs, each with a text of its own.",
            parser=_count("--dpus", 1, 2**20, "number of DPUs"),
            metavar="N",
        ),
    ] = 64,
    text_bytes: Annotated[
        int,
        typer.Option(
            "--bytes",
            help="Bytes of each DPU's text, a multiple of 32, as in 65536, 64KiB or 1MiB. "
            "[default: 64KiB]",
            parser=_count("--bytes", 0, 2**26, "number of bytes"),
            metavar="N",
            show_default=False,
        ),
    ] = 65_536,
    tasklets: Annotated[
        int,
        typer.Option(help="Tasklets of each DPU.", parser=dpu_program.parse_tasklets, metavar="N"),
    ] = 16,
    key_bits: Annotated[
        str, typer.Option(help="128, 192 or 256 bits of key.", metavar="BITS")
    ] = "128",
    message_bytes: Annotated[
        int,
        typer.Option(
            help="Bytes of each message of the kernel `many`; they divide --bytes.",
            parser=_count("--message-bytes", 1, 2**26, "number of bytes"),
            metavar="N",
        ),
    ] = 128,
    preset: dpu_program.Preset = None,
    system: dpu_program.SystemFile = None,
    hazard: dpu_program.Hazard = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of a table.")] = False,
) -> None:
    """Time a cipher on many simulated DPUs, every byte compared.

    What DPUs and their bus would take is simulated; what copying and simulating took on this
    machine is measured, and stands apart. The DPUs' output is compared with that of this
    processor's kernels. Exit codes: 0 done, 2 wrong usage, 3 there is no memory for it, 4 a DPU
    faulted or made something else, 130 interrupted.
    """
    bits = parsed("--key-bits", parse.key_bits, key_bits)
    with output.in_sentences():
        from sealift._sealift import DpuKernel
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
            key_bytes=bits // 8,
            message_bytes=message_bytes,
        )
        took = _finish(running, dpus)
    if as_json:
        options = {"kernel": kernel, "dpus": dpus, "bytes_each": text_bytes, "tasklets": tasklets}
        options |= {"key_bits": bits}
        if kernel == MANY:
            options |= {"message_bytes": message_bytes}
        output.show_json(_document(options, whose, took))
    else:
        messages = f", messages of {message_bytes:,} B" if kernel == MANY else ""
        typer.echo("\n".join(_lines(f"{kernel}, AES-{bits}{messages}", dpus, whose, took)))


def _finish(running: "DpuKernel", dpus: int) -> "DpuTook":
    running.launch()
    report = dpu_program.reporter()

    def progress(seconds: float) -> str:
        left = f", about {seconds * (dpus - ended) / ended:.0f} s left" if ended else ""
        return f"{ended:,} of {dpus:,} DPUs simulated in {seconds:.0f} s{left}"

    while (ended := running.ended) < dpus:
        time.sleep(LOOK_S)
        report(progress)
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
