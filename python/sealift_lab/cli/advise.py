"""`sealift advise`: measures the devices there are, and says where to encrypt."""

import math
import shlex
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from sealift.cli.output import eprint, fail, parsed
from sealift.exit_code import ExitCode
from sealift_lab._lab import Card
from sealift_lab.advise.advice import Advice
from sealift_lab.advise.advice import advise as advise_on
from sealift_lab.advise.advice import answer as answer_of_load
from sealift_lab.advise.figures import load_document, run_document
from sealift_lab.advise.load import Demand
from sealift_lab.advise.messages import (
    check_compares,
    find_messages,
    grid,
    own_messages,
    quick_works,
)
from sealift_lab.claim.answer import answer
from sealift_lab.cli import hardware, output, parse
from sealift_lab.cli.parse import count, examples
from sealift_lab.cli.show import write_report
from sealift_lab.experiments.survey import this_scope
from sealift_lab.judge.rows import results
from sealift_lab.measure.crypto import REGIMES, SIZES, Work, sized
from sealift_lab.measure.plan import make_plan
from sealift_lab.model.arm import fits
from sealift_lab.model.experiment import Experiment
from sealift_lab.model.run import PAGE
from sealift_lab.model.workload import ONE_KEY, SEAL_ONLY, Lengths, Mix
from sealift_lab.run import session
from sealift_lab.run.read_folder import Run
from sealift_lab.run.schedule import estimate_s

EXAMPLES = examples("advise")
Several = Sequence[Any] | None
Given = Mapping[str, Any]
"""The options that were given, with their values."""
_option = partial(parse.option, "advise")
BYTES = count(1, 2**36 - 32, "number of bytes")
MESSAGES = count(1, 2**32 - 1, "number of messages")


def advise(
    ctx: typer.Context,
    size: Annotated[int | None, _option("--size", "N", BYTES)] = None,
    lengths: Annotated[Path | None, _option("--from", "FILE", Path)] = None,
    rate: Annotated[float | None, _option("--rate", "MSG/S", parse.rate)] = None,
    p99: Annotated[float | None, _option("--p99", "US", parse.latency_ns)] = None,
    cards: Annotated[list[str] | None, _option("--device", "CARD")] = None,
    core_price: Annotated[float | None, _option("--core-price", "PRICE", parse.price)] = None,
    sizes: Annotated[Several, _option("--sizes", "LIST", parse.sizes)] = None,
    keys: Annotated[Several, _option("--keys", "LIST", parse.key_regimes)] = None,
    mix: Annotated[Mix | None, _option("--mix", "MIX", Mix.parse)] = None,
    key_bits: Annotated[int | None, _option("--key-bits", "BITS", parse.key_bits)] = None,
    threads: Annotated[Several, _option("--threads", "LIST", parse.thread_counts)] = None,
    batch: Annotated[int | None, _option("--batch", "N", MESSAGES)] = None,
    devices: Annotated[Several, _option("--devices", "LIST", hardware.parse_devices)] = None,
    budget: Annotated[float | None, _option("--seconds --budget", "TIME", parse.seconds)] = None,
    quick: Annotated[bool, _option("--quick")] = False,
    seed: Annotated[int | None, _option("--seed", "N", parse.seed)] = None,
    run: Annotated[Path | None, _option("--run", "RUN", parse.folder)] = None,
    as_json: Annotated[bool, _option("--json")] = False,
    out: Annotated[Path | None, _option("--out", "FOLDER", parse.folder)] = None,
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
    # `given` has them by their options.
    del size, lengths, rate, p99, cards, core_price, sizes, keys, mix, key_bits, threads, batch
    del devices, budget, quick, seed, out
    given = {
        each.opts[-1]: ctx.params[name]
        for each in ctx.command.params
        if (name := each.name) and (source := ctx.get_parameter_source(name))
        if source.name == "COMMANDLINE"
    }
    if run is not None:
        measuring = given.keys() - {*LOAD, "--batch", "--run", "--json"}
        _refuse(given, measuring, "--run, which measures nothing")
        load = _load(given)
        if not _show(output.open_run(run), load, run, as_json=as_json):
            fail(ExitCode.NOTHING_RAN, f"{run} holds no complete block of any device")
        return
    job = _own(given) if {"--size", "--from"} & given.keys() else _grid(given)
    raise typer.Exit(_measure(job, given, as_json=as_json))


@dataclass(frozen=True)
class _Load:
    """A load, the cards that are considered, and a caveat on the messages."""

    demand: Demand
    cards: tuple[Card, ...]
    about: str = ""


@dataclass(frozen=True)
class _Job:
    """What is to be measured, and for which load; None for a grid."""

    experiment: Experiment
    threads: tuple[int, ...]
    load: _Load | None
    usual_s: float


def _measure(job: _Job, given: Given, *, as_json: bool) -> int:
    """Measures, shows the advice, and returns how that ended: 0 or an `ExitCode`."""
    out, quick = given.get("--out"), "--quick" in given
    budget_s = given.get("--budget", job.usual_s)
    experiment, groups = job.experiment, job.experiment.groups(this_scope(quick=quick))
    least_s = estimate_s(experiment, groups, processes=1)
    if budget_s < least_s:
        thin = f"a budget of {budget_s:g} s is thin for {experiment.name}"
        eprint(f"{thin}: few verdicts, wide intervals; --budget {math.ceil(least_s)} would do")
    # A single process, with blocks for all groups, where the time has no room for several.
    is_ample = not quick and estimate_s(experiment, groups) <= budget_s
    # Without a name the folder is deleted when the run was shown.
    with TemporaryDirectory(prefix="sealift-") as scratch:
        plan = make_plan(
            [(experiment, groups)],
            command=("sealift", *sys.argv[1:]),
            budget_s=budget_s,
            processes=None if is_ample else 1,
            blocks=None if is_ample else BLOCKS,
            seed=given.get("--seed", 1),
            quick=quick,
            threads=job.threads,
        )
        done = session.run(plan, out or Path(scratch, "run"), is_kept=out is not None)
        if out is not None:
            write_report(done.path)
        if not _show(Run(done.path), job.load, out, as_json=as_json):
            eprint(
                f"nothing was measured; allow more time, as in --budget {math.ceil(2 * least_s)}"
            )
            return done.code or ExitCode.NOTHING_RAN
    return done.code


def _show(run: Run, load: _Load | None, out: Path | None, *, as_json: bool) -> bool:
    """Shows a run as advice on its messages' load, or on a grid, and the page if `out` stays.

    False where nothing was measured.
    """
    found = results(run)
    # A load of which nothing is known asks which device is fastest.
    is_open = load is not None and load.demand == Demand() and not load.cards
    if load is not None and (not is_open or find_messages(run.plan)):
        advice = advise_on(run, found, load.demand, cards=load.cards, about=load.about)
        if not advice.candidates:
            return False
        eprint(*_missing_batches(advice))
        first = answer_of_load(advice)
        whole = load_document(advice, found, first)
    else:
        check_compares(run)
        if not any(each.rows for each in found.values()):
            return False
        first = answer(run, found)
        whole = run_document(run, found, first)
    if as_json:
        output.show_json(whole)
    else:
        output.show_answer(first, _links(out, is_open=is_open))
    return True


def _missing_batches(advice: Advice) -> Iterator[str]:
    """Which batches there was no time for; one of them might suit the load better."""
    cells = [cell for group in advice.planned.groups for cell in group]
    planned = {cell["batch"] for cell in cells if fits(cell, advice.work)}
    measured = {row.cell["batch"] for row in advice.results.rows if fits(row.cell, advice.work)}
    if missing := sorted(planned - measured, key=float):
        many = ", ".join(f"{each:,}" for each in missing)
        yield f"batches of {many} messages were not measured; --budget gives more time"


def _links(out: Path | None, *, is_open: bool) -> list[tuple[str, str]]:
    """The page of a run, or how to have one; of an open load the command that says more."""
    if out is None:
        return [("For a page", "add --out FOLDER")]
    folder, page = shlex.quote(str(out)), out / PAGE
    first = ("Page", str(page) if page.exists() else f"sealift lab report {folder}")
    return [first, *([("Load", f"sealift advise --run {folder} --rate 1M")] if is_open else [])]


def _own(given: Given) -> _Job:
    """One's own messages, and their load."""
    fixed = "--size and --from, which are messages of your own"
    _refuse(given, {"--sizes", "--quick"}, fixed)
    for option in ("--threads", "--keys"):
        if len(given.get(option, "1")) > 1:
            raise ValueError(f"{option} is a list; for messages of your own give one value")
    lengths, about = _lengths(given.get("--size"), given.get("--from"))
    load = _load(given, about)
    (threads,), (regime,) = given.get("--threads", (1,)), given.get("--keys", (ONE_KEY,))
    # They are the cores that may encrypt.
    hardware.check_threads([threads], per_core=1)
    experiment = own_messages(
        lengths=lengths,
        regime=regime,
        mix=given.get("--mix", SEAL_ONLY),
        key_bits=given.get("--key-bits", 128),
        devices=hardware.present_devices(given.get("--devices")),
        threads=threads,
        batch=given.get("--batch"),
    )
    return _Job(experiment, (threads,), load, OWN_SECONDS)


def _load(given: Given, about: str = "") -> _Load:
    """The load: --rate, --p99, --device, --core-price and --batch."""
    cards = parsed("--device", hardware.parse_cards, given.get("--device", ()))
    if "--p99" in given and "--rate" not in given:
        raise ValueError("--p99 depends on the rate; add --rate, as in --rate 40k")
    if "--core-price" in given and not cards:
        raise ValueError("--core-price is for cards; add one with --device")
    options = ("--rate", "--p99", "--batch", "--core-price")
    return _Load(Demand(*map(given.get, options)), cards, about)


def _lengths(size: int | None, file: Path | None) -> tuple[Lengths, str]:
    """The lengths of one's messages, and in what they differ from the file that they are from."""
    if file is None:
        return Lengths.from_counts({size or 0: 1}), ""
    if size is not None:
        raise ValueError(f"--size {size} and --from {file} both say how long messages are")
    lengths = parsed("--from", Lengths.load, file)
    thin, about = lengths.thinned(), ""
    if abs(thin.mean_bytes / lengths.mean_bytes - 1) > MEAN_OFF:
        about = (
            f"of {len(lengths.counts):,} lengths {len(thin.counts):,} were taken: "
            f"{thin.mean_bytes:,.0f} bytes on average, not {lengths.mean_bytes:,.0f}"
        )
    return thin, about


def _grid(given: Given) -> _Job:
    """A grid of sizes and keys."""
    for option in given.keys() & LOAD:
        raise ValueError(f"{option} needs the messages of your load: {NAME_THEM}")
    works = _works(given)
    threads = given.get("--threads", (1,))
    hardware.check_threads(threads, per_core=THREADS_PER_CORE)
    devices = hardware.present_devices(given.get("--devices"))
    experiment = grid(works, devices, threads, given.get("--batch"))
    return _Job(experiment, threads, None, QUICK_SECONDS if "--quick" in given else SECONDS)


def _works(given: Given) -> tuple[Work, ...]:
    if "--quick" in given:
        _refuse(given, GRID, "--quick")
        return quick_works()
    regimes = given.get("--keys", REGIMES)
    sizes, mix = given.get("--sizes", SIZES), given.get("--mix", SEAL_ONLY)
    bits = given.get("--key-bits", 128)
    return tuple(sized(size, regime, mix, bits) for regime in regimes for size in sizes)


def _refuse(given: Given, options: Collection[str], fixed: str) -> None:
    """Refuses options that were given and would change nothing."""
    for option in given.keys() & options:
        raise ValueError(f"{option} has no effect with {fixed}; leave one of them out")


NAME_THEM = "add --size N, --from lengths.csv or --run RUN"
LOAD = frozenset({"--rate", "--p99", "--device", "--core-price"})
GRID = frozenset({"--sizes", "--keys", "--mix", "--key-bits"})
SECONDS, QUICK_SECONDS, OWN_SECONDS = 120.0, 45.0, 20.0
# Twice as many as a verdict takes, so that a busy machine finishes every group.
BLOCKS = 16
# Ten are in document 003; far more take all the time to be prepared, and tell nothing else.
THREADS_PER_CORE = 16
# Differences under 2 % are none.
MEAN_OFF = 0.02
