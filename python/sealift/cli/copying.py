"""`sealift lab copy`: the published copy tool's options and experiments, measured well."""

import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sealift.cli import options
from sealift.cli.said import fail, in_sentences, read, told
from sealift.exit_code import ExitCode
from sealift.quantities import parse_count

if TYPE_CHECKING:
    from sealift.lab.copy_tool import Copied, Tool
    from sealift.lab.memcpy_test import Line

# \b keeps the lines as they are.
EXAMPLES = """\b
IDs are the published tool's:
  0  write to the heap              1  read from the heap
  2  write to host shared memory    3  read from host shared memory
  4  write to the region            5  read from the region
Its copy functions are glibc_memcpy and naive_memcpy, the loop of words as compilers make it;
its third one is not ported, and registers of 64 bytes stand in its place.

\b
Examples:
  sealift lab copy 0 1 -r 20 -n 2
  sealift lab copy -t 2 --csv results.csv
  sealift lab copy 0 --published-method
  sealift lab copy 4 --region /dev/dax0.0:0:0x10000000 --i-own-this-region
  sealift lab copy 5 -i 1 --region /dev/dax0.0:0:0x10000000 --i-own-this-region
"""


def copy(
    ids: Annotated[
        list[str] | None,
        typer.Argument(help="Experiments, 0 to 5. [default: all that can be done]", metavar="ID"),
    ] = None,
    init: Annotated[
        str,
        typer.Option(
            "-i",
            help="1 leaves a region that is read as another process wrote it, and checks that it "
            "holds the pattern.",
            metavar="[0|1]",
        ),
    ] = "0",
    lengths: Annotated[
        str, typer.Option("-n", help="How many of the ten lengths, 16 B to 256 MiB.", metavar="N")
    ] = "9",
    value: Annotated[
        str,
        typer.Option("-o", help="What is added to the source's bytes, 0 to 255.", metavar="VALUE"),
    ] = "0",
    runs: Annotated[
        str | None,
        typer.Option(
            "-r",
            help="Samples of each figure, thousands of copies each; copies with "
            "--published-method. An interval of 95 % takes 6 samples. [default: 9; 5 copies]",
            metavar="RUNS",
            show_default=False,
        ),
    ] = None,
    threads: Annotated[
        str,
        typer.Option(
            "-t",
            help="Threads, each with buffers of its own, but all with one region; with "
            "--published-method the workers of the tool's pool, which hands out every copy. "
            "0 for none.",
            metavar="THREADS",
        ),
    ] = "0",
    pause: Annotated[
        str,
        typer.Option(
            "-z", help="How long to wait before each experiment, as in 2 or 500ms.", metavar="TIME"
        ),
    ] = "0",
    region: Annotated[
        str | None,
        typer.Option(
            help="A device's memory, or a file that stands for it: offset and length in bytes, "
            "whole pages of the device, as in /dev/dax0.0:0:0x200000. Files and devices that tell "
            "their size are held to it. Some, as /dev/mem, tell none: naming more than there is "
            "ends the program.",
            metavar="PATH:OFFSET:LENGTH",
        ),
    ] = None,
    owned: Annotated[
        bool,
        typer.Option(
            "--i-own-this-region", help="Nobody else needs what the region holds: overwrite it."
        ),
    ] = False,
    csv: Annotated[
        str | None,
        typer.Option("--csv", help="Write the tool's file of six columns.", metavar="FILE"),
    ] = None,
    published_method: Annotated[
        bool,
        typer.Option(
            "--published-method",
            help="Measure as the published tool does: few copies, no warm-up, its pool; heap only, "
            "where 0 and 1 are the same copies, of seeded bytes: without -i, -o and --region.",
        ),
    ] = False,
) -> None:
    """Copy as the published tool memcpy_test does, and say how sure the figures are.

    Every figure is the median of calibrated samples in interleaved order, with its 95 % interval,
    and what was copied is compared with its source. Exit codes: 0 done, 2 wrong usage, 3 nothing
    could be measured, 4 something was copied wrong, 5 the file could not be written, 130
    interrupted.
    """
    if published_method:
        _refuse_beside_published({"-i": init, "-o": value, "--region": region})
    is_found = read("-i", options.count(0, 1, "choice"), init) == 1
    named = read_region(region, owned=owned, is_found=is_found)
    with in_sentences():
        from sealift.lab.copy_tool import Tool

        tool = Tool(
            ids=_ids(
                ids or [],
                has_region=named is not None,
                is_found=is_found,
                is_published=published_method,
            ),
            lengths=read("-n", options.count(1, 10, "number of lengths"), lengths),
            runs=read(
                "-r",
                options.count(1, RUNS_MAX, "number of samples"),
                runs or RUNS[published_method],
            ),
            threads=read("-t", options.count(0, THREADS_MAX, "number of threads"), threads),
            value=read("-o", options.count(0, 255, "value of a byte"), value),
            is_found=is_found,
            region=named,
            as_published=published_method,
        )
        wait_s = 0.0 if pause == "0" else read("-z", options.seconds, pause)
        place = None if csv is None else read("--csv", _csv_file, csv)
        lines: list[Line] = []
        try:
            lines.extend(_shown(tool, wait_s))
        finally:
            # What was measured until an interruption or a wrong result, too.
            if place is not None and lines:
                _write(place, lines)
    if not lines:
        raise typer.Exit(ExitCode.NOTHING_RAN)


def _refuse_beside_published(asked: Mapping[str, str | None]) -> None:
    """Ends where something is asked for that the published way would not heed."""
    for option, value in asked.items():
        if value not in (None, "0"):
            fail(
                ExitCode.USAGE,
                f"{option} {value}: --published-method copies seeded bytes within the heap; leave "
                "one of the two away",
            )


def read_region(
    text: str | None, *, owned: bool, is_found: bool = False
) -> tuple[Path, int, int] | None:
    """Reads PATH:OFFSET:LENGTH and looks that the region is there; touches nothing of it.

    Args:
        text: As it was given; None where nothing was.
        owned: Whether the confirming flag was given.
        is_found: Whether what is read from it stays as it is.
    """
    if text is None:
        if owned:
            fail(ExitCode.USAGE, "--i-own-this-region confirms a --region; name one")
        return None
    path, offset, length = read("--region", _region_parts, text)
    if not owned:
        held = "what it holds"
        lost = f"copies to it overwrite {held}" if is_found else f"{held} is overwritten"
        fail(
            ExitCode.USAGE,
            f"--region {text}: {lost}; if nobody else needs that, add --i-own-this-region",
        )
    return read("--region", _checked, (path, offset, length))


def _region_parts(text: str) -> tuple[Path, int, int]:
    path, *numbers = text.rsplit(":", 2)
    if len(numbers) != 2 or not path:
        raise ValueError(f"{text!r}; right would be PATH:OFFSET:LENGTH, as /dev/dax0.0:0:0x200000")
    return Path(path), *(_bytes(number) for number in numbers)  # type: ignore[return-value]


def _bytes(text: str) -> int:
    if re.fullmatch("0x[0-9a-fA-F]{1,16}", text):
        return int(text, 16)
    try:
        return parse_count(text, 0, 2**63 - 1, "number of bytes")
    except ValueError:
        raise ValueError(f"{text!r} is no number of bytes; write 4096, 4KiB or 0x1000") from None


def _checked(region: tuple[Path, int, int]) -> tuple[Path, int, int]:
    from sealift.lab.native import check_region

    check_region(*region)
    return region


def _ids(
    texts: Sequence[str], *, has_region: bool, is_found: bool, is_published: bool
) -> tuple[int, ...]:
    from sealift.lab.copy_tool import NAMES, READ_REGION, REGION_IDS

    last = len(NAMES) - 1
    if not texts:
        all_ids = range(2 if is_published else last + 1)
        ids = tuple(i for i in all_ids if has_region or i not in REGION_IDS)
    else:
        ids = tuple(
            dict.fromkeys(read("ID", options.count(0, last, "experiment"), text) for text in texts)
        )
    if is_published and max(ids) > 1:
        fail(ExitCode.USAGE, f"experiment {max(ids)}: --published-method is for the heap, 0 and 1")
    if is_found and ids != (READ_REGION,):
        fail(
            ExitCode.USAGE,
            f"-i 1 checks what another process wrote, which experiment {READ_REGION} alone does: "
            f"name it and no other, as in `sealift lab copy {READ_REGION} -i 1`",
        )
    if has_region and not set(ids) & set(REGION_IDS):
        named = " and ".join(map(str, sorted(REGION_IDS)))
        fail(
            ExitCode.USAGE,
            f"--region: only experiments {named} copy to or from one; name one of them, or leave "
            "it away",
        )
    if not has_region and (needing := [each for each in ids if each in REGION_IDS]):
        fail(
            ExitCode.USAGE,
            f"experiment {needing[0]} copies to or from a device's memory; name it with --region "
            "PATH:OFFSET:LENGTH and --i-own-this-region",
        )
    return ids


def _shown(tool: "Tool", wait_s: float) -> "Iterator[Line]":
    """Prints each figure when it is there."""
    from sealift.lab.copy_tool import NAMES, copies
    from sealift.lab.spec import WrongResultError

    for number in tool.ids:
        time.sleep(wait_s)
        typer.echo(f"{number}) {NAMES[number]}")
        try:
            for copied in copies(tool, number):
                typer.echo(_text(copied))
                sys.stdout.flush()
                if not copied.skipped:
                    yield copied.line
        except WrongResultError as error:
            fail(ExitCode.WRONG_RESULT, str(error))


def _text(copied: "Copied") -> str:
    from sealift.lab.units import NS_PER_S, format_estimate, format_measure

    line = copied.line
    begin = f"{line.size_bytes:9,} bytes using {line.function}"
    if copied.skipped or line.gb_per_s is None:
        return f"{begin}: not measured: {copied.skipped}"
    each = copied.gb_per_s
    speed = (
        format_measure(line.gb_per_s)
        if each is None
        else format_estimate(each.median, each.low, each.high)
    )
    delta_s = line.size_bytes / line.gb_per_s / NS_PER_S
    return (
        f"{begin} = {speed} GB/s ({line.runs:,} runs, {line.threads} threads: ave delta = "
        f"{delta_s:.9f} secs)"
    )


def _csv_file(text: str) -> Path:
    """A file to write: a new one, or one of the tool's, which is replaced as the tool does."""
    from sealift.lab.memcpy_test import parse

    path = options.file(text)
    if not path.parent.is_dir():
        raise ValueError(f"{path.parent} is no folder; make it first")
    if path.exists():
        try:
            parse(path.read_text(encoding="utf-8"))
        except (ValueError, OSError) as error:
            raise ValueError(f"{path} is there and is no file of the tool's: {error}") from error
    return path


def _write(path: Path, lines: "Iterable[Line]") -> None:
    from sealift.lab.memcpy_test import text_of
    from sealift.lab.store import write_file

    write_file(path, text_of(lines))
    told(f"written: {path}")


RUNS = {False: "9", True: "5"}
RUNS_MAX, THREADS_MAX = 1_000_000, 1_024
