"""`sealift dpu time`: a cipher on many simulated DPUs."""

import json
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sealift.cli import options
from sealift.cli.dpu_progress import Waiting
from sealift.cli.said import fail, in_sentences, read
from sealift.exit_code import ExitCode

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


def time_kernel(
    kernel: Annotated[
        str, typer.Option(help="What is computed; the kernels stand below.", metavar="KERNEL")
    ] = "ctr",
    dpus: Annotated[
        int,
        typer.Option(
            help="How many DPUs, each with a text of its own.",
            parser=options.given("--dpus", options.count(1, 2**20, "number of DPUs")),
            metavar="N",
        ),
    ] = 64,
    text_bytes: Annotated[
        int,
        typer.Option(
            "--bytes",
            help="Bytes of each DPU's text, a multiple of 32, as in 65536, 64KiB or 1MiB. "
            "[default: 64KiB]",
            parser=options.given("--bytes", options.count(0, 2**26, "number of bytes")),
            metavar="N",
            show_default=False,
        ),
    ] = 65_536,
    tasklets: Annotated[
        int,
        typer.Option(
            help="Tasklets of each DPU.",
            parser=options.given("--tasklets", options.tasklets),
            metavar="N",
        ),
    ] = 16,
    key_bits: Annotated[
        str, typer.Option(help="128, 192 or 256 bits of key.", metavar="BITS")
    ] = "128",
    message_bytes: Annotated[
        int,
        typer.Option(
            help="Bytes of each message of the kernel `many`; they divide --bytes.",
            parser=options.given("--message-bytes", options.count(1, 2**26, "number of bytes")),
            metavar="N",
        ),
    ] = 128,
    preset: Annotated[
        str | None,
        typer.Option(
            help="Whose DPUs they are: upmem-640-266, upmem-640-267 or upmem-2560-350. [default: "
            "upmem-640-266]",
            metavar="NAME",
        ),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(help="The same for a system that a TOML file describes.", metavar="FILE"),
    ] = None,
    hazard: Annotated[
        bool,
        typer.Option(
            "--hazard",
            help="Registers that meet in one bank take longer: published figures disagree whether "
            "they do.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of a table.")] = False,
) -> None:
    """Time a cipher on many simulated DPUs, every byte compared.

    What DPUs and their bus would take is simulated; what copying and simulating took on this
    machine is measured, and stands apart. What the DPUs made is compared with what this processor's
    kernels make. Exit codes: 0 done, 2 wrong usage, 3 there is no memory for it, 4 a DPU faulted or
    made something else, 130 interrupted.
    """
    bits = read("--key-bits", options.key_bits, key_bits)
    with in_sentences():
        from sealift._sealift import DpuKernel, WrongResultError
        from sealift.cli.dpu_files import system as found
        from sealift.lab.memory import check_memory
        from sealift.lab.spec import Skip

        whose = found(preset, system, hazard=hazard)
        if dpus > whose.dpus:
            fail(ExitCode.USAGE, f"--dpus {dpus}: {whose.name} has {whose.dpus:,}")
        try:
            check_memory(dpus * (COPIES * text_bytes + BYTES_A_DPU))
        except Skip as skip:
            fail(ExitCode.NOTHING_RAN, str(skip))
        running = DpuKernel(
            kernel,
            whose,
            dpus=dpus,
            text_bytes=text_bytes,
            tasklets=tasklets,
            key_bytes=bits // 8,
            message_bytes=message_bytes,
        )
        try:
            took = _finished(running, dpus)
        except WrongResultError as error:
            fail(ExitCode.WRONG_RESULT, str(error))
    if as_json:
        asked = {"kernel": kernel, "dpus": dpus, "bytes_each": text_bytes, "tasklets": tasklets}
        asked |= {"key_bits": bits}
        if kernel == MANY:
            asked |= {"message_bytes": message_bytes}
        typer.echo(json.dumps(_document(asked, whose, took), indent=2, allow_nan=False))
    else:
        messages = f", messages of {message_bytes:,} B" if kernel == MANY else ""
        typer.echo(_table(f"{kernel}, AES-{bits}{messages}", dpus, whose, took))


def _finished(running: "DpuKernel", dpus: int) -> "DpuTook":
    running.launch()
    started = time.monotonic()
    with Waiting() as waiting:
        while (ended := running.ended) < dpus:
            time.sleep(LOOK_S)
            seconds = time.monotonic() - started
            left = f", about {seconds * (dpus - ended) / ended:.0f} s left" if ended else ""
            waiting.say(f"{ended:,} of {dpus:,} DPUs simulated in {seconds:.0f} s{left}")
    return running.finish()


def _table(what: str, dpus: int, system: "DpuSystem", took: "DpuTook") -> str:
    from sealift.lab.table import aligned
    from sealift.lab.units import format_measure

    hazard = ", with the register hazard" if system.hazard else ""
    rows = [
        ("", "seconds", "GB/s of text", "whose seconds"),
        *(
            (name, format_measure(seconds), format_measure(took.bytes / seconds / 1e9), origin)
            for name, seconds, origin in _parts(took)
        ),
    ]
    each = took.cycles / (took.bytes / dpus)
    rate = took.instructions / took.simulating_seconds / 1e6
    return "\n".join(
        (
            f"{what}: {took.bytes:,} bytes on {dpus:,} DPUs at {system.clock_hz / 1e6:g} MHz "
            f"({system.name}{hazard}), every byte compared",
            "",
            aligned(rows),
            "",
            f"{took.cycles:,} cycles of the longest DPU, {format_measure(each)} a byte of its own; "
            f"{took.instructions:,} instructions, {rate:,.0f} million simulated a second",
        )
    )


def _parts(took: "DpuTook") -> list[tuple[str, float, str]]:
    whole = took.bus_in_seconds + took.compute_seconds + took.bus_out_seconds
    return [
        ("computing, texts in their memory", took.compute_seconds, "simulated"),
        ("texts to the DPUs", took.bus_in_seconds, "simulated, by published times"),
        ("texts back", took.bus_out_seconds, "simulated, by published times"),
        ("all three, one after the other", whole, "simulated"),
        ("copying and interleaving here, both ways", took.copy_seconds, "measured"),
        ("simulating here", took.simulating_seconds, "measured"),
    ]


def _document(asked: dict[str, Any], system: "DpuSystem", took: "DpuTook") -> dict[str, Any]:
    return {
        "schema": "sealift-dpu-time/1",
        "asked": asked,
        "system": {"name": system.name, "clock_hz": system.clock_hz, "hazard": system.hazard},
        "bytes": took.bytes,
        "cycles": took.cycles,
        "instructions": took.instructions,
        "simulated": {
            "compute_seconds": took.compute_seconds,
            "bus_in_seconds": took.bus_in_seconds,
            "bus_out_seconds": took.bus_out_seconds,
        },
        "measured": {
            "copy_seconds": took.copy_seconds,
            "simulating_seconds": took.simulating_seconds,
        },
    }


MANY = "many"
LOOK_S = 0.05
# Sent, in the DPUs' memories and fetched; messages have keys and descriptions beside them.
COPIES = 6
# Its memories, decoded instructions and counters.
BYTES_A_DPU = 256 * 1024
