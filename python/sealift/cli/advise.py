"""`sealift advise`: measures the devices there are, and says where to encrypt."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from sealift.cli import advise_options as options_of
from sealift.cli import advising, asked, forms, options, own_load
from sealift.cli.advise_options import EXAMPLES, Workload
from sealift.cli.said import fail, read
from sealift.exit_code import ExitCode

if TYPE_CHECKING:
    from sealift.lab.grid import Work

__all__ = ["EXAMPLES", "advise"]

Given = Mapping[str, Any]
"""Options with their values; None where they were left out."""


def advise(
    size: options_of.Size = None,
    lengths: options_of.LengthsFile = None,
    rate: options_of.Rate = None,
    p99: options_of.P99 = None,
    cards: options_of.Cards = None,
    core_price: options_of.CorePrice = None,
    workload: options_of.Works = Workload.PLAIN,
    sizes: options_of.Sizes = None,
    keys: options_of.Keys = None,
    mix: options_of.MixOf = None,
    key_bits: options_of.KeyBits = None,
    threads: options_of.Threads = None,
    batch: options_of.Batch = None,
    devices: options_of.Devices = None,
    budget: options_of.Budget = None,
    quick: options_of.Quick = False,
    seed: options_of.Seed = None,
    run: options_of.RunFolder = None,
    as_csv: options_of.Csv = False,
    as_json: options_of.Json = False,
    out: options_of.Out = None,
) -> None:
    """Measure which device encrypts fastest, and say where your bulk encryption should run.

    Without --size or --from it measures a grid of sizes and keys. With one of them it measures your
    own messages and answers for your load: which device, how busy that makes a core, and whether a
    card that you don't own would pay.

    Every device is first checked on every message against another one; a wrong result ends with
    exit code 4. Samples of all devices take turns, every figure is a median with its 95 %
    interval, and the same code is measured twice to price the noise. The answer goes to
    standard output, progress to standard error; Ctrl-C answers with what is complete.
    """
    form = forms.shown(as_csv=as_csv, as_json=as_json)
    own: Given = {"--size": size, "--from": lengths}
    load: Given = {"--rate": rate, "--p99": p99, "--device": cards, "--core-price": core_price}
    grid: Given = {"--sizes": sizes, "--keys": keys, "--mix": mix, "--key-bits": key_bits}
    who: Given = {"--threads": threads, "--batch": batch, "--devices": devices}
    how: Given = {"--budget": budget, "--seed": seed, "--out": out}
    is_plain = workload is Workload.PLAIN
    preset: Given = {
        "--quick": quick or None,
        "--workload": None if is_plain else workload.value,
    }
    if run is not None:
        less = {name: value for name, value in who.items() if name != "--batch"}
        _refuse({**own, **grid, **less, **how, **preset}, "--run, which measures nothing")
        view = own_load.view_of_any(own_load.wanted({**load, "--batch": batch}))
        advising.advise_from(read("--run", options.folder, run), form, view)
        return
    if size is not None or lengths is not None:
        _refuse({"--sizes": sizes, **preset}, "--size and --from, which are messages of your own")
        view, measurement, counts = own_load.asked_for({**own, **load, **grid, **who})
        default_s = own_load.SECONDS
    else:
        _refuse_load(load)
        _refuse_unused(workload, grid, quick=quick)
        view, measurement, counts = _grid(workload, {**grid, **who}, quick=quick)
        default_s = QUICK_SECONDS if quick else SECONDS
    job = advising.Job(
        measurement=measurement,
        threads=counts,
        out=None if out is None else read("--out", options.folder, out),
        budget_s=default_s if budget is None else read("--budget", options.seconds, budget),
        quick=quick,
        seed=1 if seed is None else seed,
    )
    raise typer.Exit(advising.measure(job, form, view))


def _refuse_unused(workload: Workload, grid: Given, *, quick: bool) -> None:
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


def _refuse(given: Given, fixed: str) -> None:
    for option, value in given.items():
        if value is not None:
            named = option if value is True else f"{option} {value}"
            fail(ExitCode.USAGE, f"{named} has no effect with {fixed}; leave one of them out")


def _refuse_load(load: Given) -> None:
    for option, value in load.items():
        if value:
            fail(
                ExitCode.USAGE,
                f"{option} is about a load; say of which messages: --size N, --from lengths.csv, "
                "or --run with the folder of such a run",
            )


def _grid(
    workload: Workload, given: Given, *, quick: bool
) -> "tuple[advising.View, advising.Measuring, tuple[int, ...]]":
    """What shows a grid of sizes and keys, what measures it, and its thread counts."""
    from sealift.lab.advise import Wish

    threads = given["--threads"]
    counts = (1,) if threads is None else read("--threads", options.thread_counts, threads)
    asked.check_threads(counts, a_core=THREADS_A_CORE)
    works = _works(workload, given, quick=quick)
    wish = Wish(works, asked.present(given["--devices"]), counts, given["--batch"])
    return advising.of_a_grid, wish.measurement, counts


def _works(workload: Workload, given: Given, *, quick: bool) -> "tuple[Work, ...]":
    from sealift.lab import advise as lab
    from sealift.lab.grid import REGIMES, SIZES, logged
    from sealift.lab.units import parse_sizes
    from sealift.lab.workload import Mix

    if quick:
        return lab.quick_works()
    if workload is Workload.AS_LOGGED:
        return (logged(),)
    keys, sizes, mix, bits = (given[f"--{name}"] for name in ("keys", "sizes", "mix", "key-bits"))
    regimes = REGIMES if keys is None else read("--keys", options.regimes, keys)
    if workload is Workload.AS_STATED:
        return lab.stated_works(regimes)
    return lab.sized_works(
        SIZES if sizes is None else read("--sizes", parse_sizes, sizes),
        regimes,
        None if mix is None else read("--mix", Mix.parse, mix),
        128 if bits is None else read("--key-bits", options.key_bits, bits),
    )


SECONDS, QUICK_SECONDS = 120.0, 45.0
# Ten are in document 003; far more take all the time to be prepared, and tell nothing else.
THREADS_A_CORE = 16
