"""The command line: `sealift devices` and `sealift bench`.

Results go to standard output, talk to standard error. Exit codes: 0 done, 2 wrong usage, 3 nothing
could run, 4 a device computed something wrong, 5 results could not be written, 130 interrupted.
"""

import os
import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn, TypeVar

import typer

from sealift.exit_code import ExitCode

if TYPE_CHECKING:
    from sealift.lab.workload import Regime

Given = TypeVar("Given")
Read = TypeVar("Read")

# \b keeps the lines as they are.
EXAMPLES = """\b
Examples:
  sealift bench --quick
  sealift bench --sizes 128 --keys sessions:1024 --threads 1,2
  sealift bench --devices library,cpu:isa=aesni,cpu:isa=vaes512 --sizes 16:16384:*4
  sealift bench --workload as-logged --seconds 10 --csv > rows.csv
  sealift bench --sizes 128 --mix 50/25/25 --key-bits 256 --out results/2026-11-21/laptop
"""

# What a command needs is imported in it, so that `sealift --help` stays quick.

app = typer.Typer(
    name="sealift",
    help="Bulk AES-GCM on whichever processor of this machine wins.",
    epilog="Begin with `sealift devices`, then ask `sealift bench --quick` where to encrypt.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


class Work(StrEnum):
    """What is measured."""

    PLAIN = "plain"
    AS_STATED = "as-stated"
    AS_LOGGED = "as-logged"


def main() -> None:
    """Runs the command line."""
    try:
        app(prog_name="sealift")
    except OSError as error:
        # The only thing that every command does to the system is to write to standard output.
        typer.echo(f"sealift: {error.strerror or error}; give standard output room", err=True)
        sys.exit(ExitCode.NOT_WRITTEN)
    finally:
        _leave_quietly()


def _leave_quietly() -> None:
    """What standard output did not take was told; Python would try again at exit, and say so."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_version(wanted: bool) -> None:
    if wanted:
        from sealift._sealift import __version__

        typer.echo(f"sealift {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    del version


@app.command()
def devices(
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of a table.")] = False,
) -> None:
    """Show every device: what is here, and why the others are not.

    The first column is what --devices of `sealift bench` and Engine([...]) in Python take.
    """
    import json

    from sealift.lab.devices import look

    found = look()
    if as_json:
        typer.echo(json.dumps([device.as_dict() for device in found], indent=2))
        return
    rows = [
        (
            device.spec,
            device.state,
            device.role or "",
            "" if device.workers is None else str(device.workers),
            device.detail or device.reason or "",
        )
        for device in found
    ]
    typer.echo(_aligned([("device", "state", "role", "workers", "what, or why not"), *rows]))


@app.command(epilog=EXAMPLES)
def bench(
    workload: Annotated[
        Work,
        typer.Option(
            help="plain: the grid of --sizes and --keys. as-stated: document 003's workload as its "
            "text has it (128 B, three key sizes, half seals, a quarter failing opens). as-logged: "
            "as its log shows it (28 B on average, a fresh key for each message)."
        ),
    ] = Work.PLAIN,
    sizes: Annotated[
        str | None,
        typer.Option(
            help="Bytes of text: numbers, and ranges first:last:*factor or first:last:+step. "
            "[default: 16,64,128,256,1024,8192,16384]",
            metavar="LIST",
        ),
    ] = None,
    keys: Annotated[
        str | None,
        typer.Option(
            help="Key regimes: one key; sessions:N installed keys used in turn; fresh, a raw key "
            "for each message. [default: one,sessions:1024,fresh]",
            metavar="LIST",
        ),
    ] = None,
    mix: Annotated[
        str | None,
        typer.Option(
            help="seal, open, or weights seal/open/bad as in 50/25/25. [default: seal]",
            metavar="MIX",
        ),
    ] = None,
    key_bits: Annotated[
        str | None, typer.Option(help="128, 192 or 256. [default: 128]", metavar="BITS")
    ] = None,
    threads: Annotated[
        str,
        typer.Option(
            help="Thread counts, as in 1,2: each thread works all messages.", metavar="LIST"
        ),
    ] = "1",
    batch: Annotated[
        int,
        typer.Option(
            help="Messages handed over at once; those of one batch have tags of one length.",
            min=1,
            max=2**32 - 1,
            metavar="N",
        ),
    ] = 1_024,
    devices: Annotated[
        str | None,
        typer.Option(
            help="Who does the work; the first is what the others are compared with. "
            "`sealift devices` lists them. [default: library and every other real one]",
            metavar="LIST",
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            "--seconds",
            "--budget",
            help="Seconds of measuring, shared out over everything. [default: 120; quick: 45]",
            metavar="SECONDS",
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Answer within a minute: document 003's workload as stated under three key "
            "regimes and as logged, and all seven sizes sealed under 1,024 sessions.",
        ),
    ] = False,
    seed: Annotated[
        int,
        typer.Option(
            help="Of messages, order and bootstrap: same seed, same bytes.",
            min=0,
            max=2**64 - 1,
            metavar="N",
        ),
    ] = 1,
    as_csv: Annotated[bool, typer.Option("--csv", help="CSV instead of the table.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of the table.")] = False,
    out: Annotated[
        str | None,
        typer.Option(
            help="Also write rows.csv and rows.json into this new folder.", metavar="FOLDER"
        ),
    ] = None,
) -> None:
    """Measure which device encrypts fastest, and say where your bulk encryption should run.

    Every device is first checked on every message against another one; a wrong result ends with
    exit code 4. Samples of all devices take turns, every figure is a median with its 95 %
    interval, and the same code is measured twice to price the noise. The table goes to standard
    output, progress to standard error; Ctrl-C prints what is complete.
    """
    if as_csv and as_json:
        _fail(ExitCode.USAGE, "--csv and --json both want standard output; give one")
    names = _who(devices)
    counts = _read("--threads", _threads, threads)
    _refuse_unused(
        workload,
        {"--sizes": sizes, "--keys": keys, "--mix": mix, "--key-bits": key_bits},
        quick=quick,
    )

    from sealift.lab import grid
    from sealift.lab.run import Ask, Form, run
    from sealift.lab.units import parse_sizes
    from sealift.lab.workload import SEAL_ONLY, Mix

    axes = grid.Axes(names, counts, batch, seed)
    folder = None if out is None else _read("--out", _folder, out)
    regimes = grid.REGIMES if keys is None else _read("--keys", _regimes, keys)
    if quick:
        cells = grid.quick_grid(axes)
    elif workload is Work.AS_STATED:
        cells = grid.stated_grid(axes, regimes)
    elif workload is Work.AS_LOGGED:
        cells = grid.logged_grid(axes)
    else:
        cells = grid.sizes_grid(
            axes,
            grid.SIZES if sizes is None else _read("--sizes", parse_sizes, sizes),
            regimes,
            SEAL_ONLY if mix is None else _read("--mix", Mix.parse, mix),
            128 if key_bits is None else _read("--key-bits", _key_bits, key_bits),
        )
    form = Form.CSV if as_csv else Form.JSON if as_json else Form.TABLE
    default_s = QUICK_SECONDS if quick else SECONDS
    seconds = default_s if budget is None else budget
    command = ("sealift", *sys.argv[1:])
    raise typer.Exit(run(Ask(cells, seconds, seed, form, folder, command)))


def _who(devices: str | None) -> tuple[str, ...]:
    """The devices to measure that are here; says which are not."""
    from sealift.lab.devices import absences, real_devices, split_specs

    names = real_devices() if devices is None else _read("--devices", split_specs, devices)
    absent = _read("--devices", absences, names)
    for reason in absent.values():
        typer.echo(reason, err=True)
    left = tuple(name for name in names if name not in absent)
    if not left:
        _fail(
            ExitCode.NOTHING_RAN, "no device is left to measure; `sealift devices` shows them all"
        )
    return left


def _refuse_unused(workload: Work, given: dict[str, str | None], *, quick: bool) -> None:
    """An option that would change nothing is a mistake worth telling."""
    if quick and workload is not Work.PLAIN:
        _fail(
            ExitCode.USAGE, f"--quick runs document 003 both ways; leave out --workload {workload}"
        )
    fixed = "--quick" if quick else f"--workload {workload}"
    free = {"--keys"} if workload is Work.AS_STATED else set()
    if not quick and workload is Work.PLAIN:
        free = set(given)
    for option, value in given.items():
        if value is not None and option not in free:
            _fail(
                ExitCode.USAGE,
                f"{option} {value} has no effect with {fixed}; leave one of them out",
            )


def _regimes(text: str) -> "tuple[Regime, ...]":
    from sealift.lab.workload import Regime

    return tuple(dict.fromkeys(Regime.parse(part.strip()) for part in text.split(",")))


def _threads(text: str) -> tuple[int, ...]:
    counts = []
    for part in text.split(","):
        if not part.strip().isdecimal() or not 1 <= int(part) <= THREADS_MAX:
            raise ValueError(
                f"{part.strip()!r} is no number of threads; write numbers from 1 to "
                f"{THREADS_MAX:,}, as in 1,2,4"
            )
        counts.append(int(part))
    return tuple(dict.fromkeys(counts))


def _folder(text: str) -> Path:
    if not text:
        raise ValueError("'' is no folder; name one, as in results/2026-11-21/laptop")
    return Path(text)


def _key_bits(text: str) -> int:
    if text not in ("128", "192", "256"):
        raise ValueError(f"{text!r} is no size of an AES key; write 128, 192 or 256")
    return int(text)


def _read(option: str, parse: Callable[[Given], Read], value: Given) -> Read:
    """Parses a value; what is wrong with it ends the program with the usage code."""
    try:
        return parse(value)
    except ValueError as error:
        _fail(ExitCode.USAGE, f"{option}: {error}")


def _fail(code: ExitCode, message: str) -> NoReturn:
    typer.echo(f"sealift: {message}", err=True)
    raise typer.Exit(code)


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """Columns side by side, one line a row."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "\n".join(lines)


SECONDS, QUICK_SECONDS = 120.0, 45.0
THREADS_MAX = 1_024
