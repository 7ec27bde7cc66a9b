"""`sealift advise`: measures the devices there are, and says where to encrypt."""

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from sealift.cli import advising, asked, forms, options
from sealift.cli.said import fail, read, told
from sealift.exit_code import ExitCode

if TYPE_CHECKING:
    from sealift.lab.advise import Wish
    from sealift.lab.grid import Work

# \b keeps the lines as they are.
EXAMPLES = """\b
Columns of the table:
  times library   how many times as fast as the first device, with its 95 % interval
  verdict         FASTER, SLOWER, SAME or UNSURE, from the 99 % interval and the noise;
                  UNSURE with the reason
  noise           how far the same code differed from itself in this run; over 10 %
                  there is no verdict, and what differs by less, or by less than
                  2 %, is the SAME
  clean           share of samples that nothing disturbed: no other program on the
                  core, no time taken by the hypervisor, the usual clock
  blocks          how often every device had its turn
  origin          measured here; published and simulated figures are never mixed in

\b
"Document 003" is the measurement that --workload repeats: "NVIDIA CUDA on CPU
(+- Intel oneAPI) & GP-GPU" (Ebadollahyvahed, 2024), AES-GCM on CPU threads, with
Intel's library and on GPUs.

\b
Examples:
  sealift advise --quick
  sealift advise --sizes 128 --keys sessions:1024 --threads 1,2
  sealift advise --devices library,cpu:isa=aesni,cpu:isa=vaes512 --sizes 16:16384:*4
  sealift advise --workload as-logged --budget 20 --csv > rows.csv
  sealift advise --sizes 128 --mix 50/25/25 --key-bits 256 --out runs/mine
  sealift advise --from runs/mine
"""


class Workload(StrEnum):
    """What is measured."""

    PLAIN = "plain"
    AS_STATED = "as-stated"
    AS_LOGGED = "as-logged"


def advise(
    workload: Annotated[
        Workload,
        typer.Option(
            help="plain: the grid of --sizes and --keys. as-stated: document 003's messages as its "
            "text has them (128 B, three key sizes, half seals, a quarter failing opens). "
            "as-logged: as its log shows them (28 B on average, a fresh key for each message)."
        ),
    ] = Workload.PLAIN,
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
        str | None,
        typer.Option(
            help="Thread counts, as in 1,2: each thread works all messages. [default: 1]",
            metavar="LIST",
        ),
    ] = None,
    batch: Annotated[
        int | None,
        typer.Option(
            help="Messages handed over at once; those of one batch have tags of one length. "
            "[default: 1024, fewer where these are over 16 MiB]",
            min=1,
            max=2**32 - 1,
            metavar="N",
        ),
    ] = None,
    devices: Annotated[
        str | None,
        typer.Option(
            help="Who does the work; the first is what the others are compared with. "
            "`sealift devices` lists them and their roles: only those whose role is real are "
            "advised. [default: library and every other real one]",
            metavar="LIST",
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            "--seconds",
            "--budget",
            help="Time for all of it, as in 90 or 3m. [default: 120; quick: 45]",
            metavar="TIME",
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Answer within a minute: document 003's messages as stated under three key "
            "regimes and as logged, and all seven sizes sealed under 1,024 sessions.",
        ),
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Of messages and order: same seed, same bytes. [default: 1]",
            min=0,
            max=2**64 - 1,
            metavar="N",
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="Advise from what this run has measured; measures nothing.",
            metavar="RUN",
        ),
    ] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="CSV instead of the table.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of the table.")] = False,
    out: Annotated[
        str | None,
        typer.Option(
            help="Keep the run in this new folder: samples, summary and plan.", metavar="FOLDER"
        ),
    ] = None,
) -> None:
    """Measure which device encrypts fastest, and say where your bulk encryption should run.

    Every device is first checked on every message against another one; a wrong result ends with
    exit code 4. Samples of all devices take turns, every figure is a median with its 95 %
    interval, and the same code is measured twice to price the noise. The table goes to standard
    output, progress to standard error; Ctrl-C prints what is complete.
    """
    form = forms.shown(as_csv=as_csv, as_json=as_json)
    grid = {"--sizes": sizes, "--keys": keys, "--mix": mix, "--key-bits": key_bits}
    measuring = {
        **grid,
        "--threads": threads,
        "--batch": batch,
        "--devices": devices,
        "--budget": budget,
        "--seed": seed,
        "--out": out,
    }
    if source is not None:
        _refuse(measuring, "--from, which measures nothing")
        if quick or workload is not Workload.PLAIN:
            fail(ExitCode.USAGE, "--from measures nothing; leave out --quick and --workload")
        advising.advise_from(read("--from", options.folder, source), form)
        return
    _refuse_unused(workload, grid, quick=quick)
    wish = _wish(workload, grid, quick=quick, devices=devices, threads=threads, batch=batch)
    default_s = QUICK_SECONDS if quick else SECONDS
    budget_s = default_s if budget is None else read("--budget", options.seconds, budget)
    folder = None if out is None else read("--out", options.folder, out)
    raise typer.Exit(
        advising.measure(
            wish, form, folder, budget_s=budget_s, quick=quick, seed=1 if seed is None else seed
        )
    )


def _refuse_unused(workload: Workload, grid: Mapping[str, str | None], *, quick: bool) -> None:
    """An option that would change nothing is a mistake worth telling."""
    if quick and workload is not Workload.PLAIN:
        fail(
            ExitCode.USAGE, f"--quick runs document 003 both ways; leave out --workload {workload}"
        )
    if quick:
        _refuse(grid, "--quick")
    elif workload is Workload.AS_LOGGED:
        _refuse(grid, f"--workload {workload}")
    elif workload is Workload.AS_STATED:
        _refuse({name: grid[name] for name in grid if name != "--keys"}, f"--workload {workload}")


def _refuse(given: Mapping[str, object], fixed: str) -> None:
    for option, value in given.items():
        if value is not None:
            fail(
                ExitCode.USAGE,
                f"{option} {value} has no effect with {fixed}; leave one of them out",
            )


def _wish(
    workload: Workload,
    grid: Mapping[str, str | None],
    *,
    quick: bool,
    devices: str | None,
    threads: str | None,
    batch: int | None,
) -> "Wish":
    from sealift.lab.advise import Wish

    counts = (1,) if threads is None else read("--threads", options.thread_counts, threads)
    works = _works(workload, grid, quick=quick)
    return Wish(works, _who(devices), counts, batch)


def _works(
    workload: Workload, grid: Mapping[str, str | None], *, quick: bool
) -> "tuple[Work, ...]":
    from sealift.lab import advise as lab
    from sealift.lab.grid import REGIMES, SIZES, logged
    from sealift.lab.units import parse_sizes
    from sealift.lab.workload import Mix

    if quick:
        return lab.quick_works()
    if workload is Workload.AS_LOGGED:
        return (logged(),)
    keys, sizes, mix, bits = (grid[f"--{name}"] for name in ("keys", "sizes", "mix", "key-bits"))
    regimes = REGIMES if keys is None else read("--keys", options.regimes, keys)
    if workload is Workload.AS_STATED:
        return lab.stated_works(regimes)
    return lab.sized_works(
        SIZES if sizes is None else read("--sizes", parse_sizes, sizes),
        regimes,
        None if mix is None else read("--mix", Mix.parse, mix),
        128 if bits is None else read("--key-bits", options.key_bits, bits),
    )


def _who(devices: str | None) -> tuple[str, ...]:
    """The devices to measure that are here; says which are not."""
    from sealift.lab.devices import absences, real_devices

    names = real_devices() if devices is None else read("--devices", asked.devices, devices)
    absent = read("--devices", absences, names)
    told(*absent.values())
    left = tuple(name for name in names if name not in absent)
    if not left:
        fail(ExitCode.NOTHING_RAN, "no device is left to measure; `sealift devices` shows them all")
    return left


SECONDS, QUICK_SECONDS = 120.0, 45.0
