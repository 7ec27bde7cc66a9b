"""`sealift advise`: measures the devices there are, and says where to encrypt."""

import math
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from sealift.exit_code import ExitCode
from sealift_lab.cli import hardware, output, parse
from sealift_lab.cli.advise_help import EXAMPLES, HELP
from sealift_lab.cli.output import Form, eprint, fail, parsed

if TYPE_CHECKING:
    from sealift_lab._lab import Card
    from sealift_lab.advise.load import Demand
    from sealift_lab.measure.crypto import Work
    from sealift_lab.model.experiment import Experiment
    from sealift_lab.model.lengths import Lengths
    from sealift_lab.run.folder import Run

__all__ = ["EXAMPLES", "advise"]
T = TypeVar("T")
S = TypeVar("S")
Given = Mapping[str, Any]
"""Options with their values; None where they were left out."""


class Workload(StrEnum):
    """Which messages a grid is of."""

    PLAIN = "plain"
    AS_STATED = "as-stated"
    AS_LOGGED = "as-logged"


def _option(*names: str, metavar: str | None = None, of: Callable[[str], Any] | None = None) -> Any:
    """An option with its help; `of` parses its text."""
    parser = None if of is None else output.option_parser(names[0], of)
    return typer.Option(*names, help=HELP[names[0]], metavar=metavar, parser=parser)


_BYTES = parse.count(1, 2**36 - 32, "number of bytes")
_MESSAGES = parse.count(1, 2**32 - 1, "number of messages")


def advise(
    size: Annotated[int | None, _option("--size", metavar="N", of=_BYTES)] = None,
    lengths: Annotated[str | None, _option("--from", metavar="FILE")] = None,
    rate: Annotated[str | None, _option("--rate", metavar="MSG/S")] = None,
    p99: Annotated[str | None, _option("--p99", metavar="US")] = None,
    cards: Annotated[list[str] | None, _option("--device", metavar="CARD")] = None,
    core_price: Annotated[str | None, _option("--core-price", metavar="PRICE")] = None,
    workload: Annotated[Workload, _option("--workload")] = Workload.PLAIN,
    sizes: Annotated[str | None, _option("--sizes", metavar="LIST")] = None,
    keys: Annotated[str | None, _option("--keys", metavar="LIST")] = None,
    mix: Annotated[str | None, _option("--mix", metavar="MIX")] = None,
    key_bits: Annotated[str | None, _option("--key-bits", metavar="BITS")] = None,
    threads: Annotated[str | None, _option("--threads", metavar="LIST")] = None,
    batch: Annotated[int | None, _option("--batch", metavar="N", of=_MESSAGES)] = None,
    devices: Annotated[str | None, _option("--devices", metavar="LIST")] = None,
    budget: Annotated[str | None, _option("--seconds", "--budget", metavar="TIME")] = None,
    quick: Annotated[bool, _option("--quick")] = False,
    seed: Annotated[int | None, _option("--seed", metavar="N", of=parse.seed)] = None,
    run: Annotated[str | None, _option("--run", metavar="RUN")] = None,
    as_csv: Annotated[bool, _option("--csv")] = False,
    as_json: Annotated[bool, _option("--json")] = False,
    out: Annotated[str | None, _option("--out", metavar="FOLDER")] = None,
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
    form = output.form(as_csv=as_csv, as_json=as_json)
    own: Given = {"--size": size, "--from": lengths}
    load: Given = {"--rate": rate, "--p99": p99, "--device": cards, "--core-price": core_price}
    grid: Given = {"--sizes": sizes, "--keys": keys, "--mix": mix, "--key-bits": key_bits}
    who: Given = {"--threads": threads, "--batch": batch, "--devices": devices}
    how: Given = {"--budget": budget, "--seed": seed, "--out": out}
    named = None if workload is Workload.PLAIN else workload.value
    preset: Given = {"--quick": quick or None, "--workload": named}
    with output.in_sentences():
        if run is not None:
            unused = {**own, **grid, **who, **how, **preset, "--batch": None}
            _refuse(unused, "--run, which measures nothing")
            wanted = _load({**load, "--batch": batch})
            stored = output.open_run(run)
            if not _show(stored, wanted, form, stored.path):
                fail(ExitCode.NOTHING_RAN, f"{run} holds no complete block of any device")
            return
        if size is not None or lengths is not None:
            fixed = "--size and --from, which are messages of your own"
            _refuse({"--sizes": sizes, **preset}, fixed)
            job = _own({**own, **load, **grid, **who})
        else:
            _refuse_load(load)
            _refuse_unused(workload, grid, quick=quick)
            job = _grid(workload, {**grid, **who}, quick=quick)
        code = _measure(job, how, form, quick=quick)
    raise typer.Exit(code)


@dataclass(frozen=True)
class _Load:
    """A load, the cards that are considered, and a caveat on the messages."""

    demand: "Demand"
    cards: "tuple[Card, ...]"
    about: str = ""

    @property
    def is_given(self) -> bool:
        """Whether there is more to answer than which device is fastest."""
        given = (self.demand.rate_per_s, self.demand.batch)
        return any(each is not None for each in given) or bool(self.cards)


@dataclass(frozen=True)
class _Job:
    """What is to be measured, and for which load; None for a grid."""

    experiment: "Experiment"
    threads: tuple[int, ...]
    load: _Load | None
    usual_s: float


def _measure(job: _Job, how: Given, form: Form, *, quick: bool) -> int:
    """Measures, shows the advice, and returns how that ended: 0 or an `ExitCode`."""
    from sealift_lab.cli.report import write_report
    from sealift_lab.experiments.survey import this_scope
    from sealift_lab.run import start
    from sealift_lab.run.folder import Run
    from sealift_lab.run.pace import estimate_s
    from sealift_lab.run.planner import Request

    out = _value(how, "--out", parse.folder, None)
    budget_s = _value(how, "--budget", parse.seconds, job.usual_s)
    experiment, groups = job.experiment, job.experiment.groups(this_scope(quick=quick))
    least_s = estimate_s(experiment, groups, processes=1)
    if budget_s < least_s:
        eprint(
            f"a budget of {budget_s:g} s is thin for {experiment.name}: few verdicts, wide "
            f"intervals; --budget {math.ceil(least_s)} would do"
        )
    # A single process, with blocks for all groups, where the time has no room for several.
    is_ample = not quick and estimate_s(experiment, groups) <= budget_s
    with _folder(out) as folder:
        request = Request(
            experiments=((experiment, groups),),
            command=("sealift", *sys.argv[1:]),
            out=folder,
            budget_s=budget_s,
            processes=None if is_ample else 1,
            blocks=None if is_ample else BLOCKS,
            seed=1 if how["--seed"] is None else how["--seed"],
            quick=quick,
            threads=job.threads,
            is_kept=out is not None,
        )
        done = start.run(request)
        if out is not None:
            write_report(done.path)
        if not _show(Run(done.path), job.load, form, out):
            eprint(
                "nothing was measured; allow more time, as in --budget 5m, or name fewer sizes, "
                "keys, threads or devices"
            )
            return done.code or ExitCode.NOTHING_RAN
    return done.code


def _show(run: "Run", load: _Load | None, form: Form, out: Path | None) -> bool:
    """Shows a run as advice; false where it holds nothing that advice could stand on.

    Args:
        run: The run folder.
        load: Of its messages; None for a grid.
        form: What goes to standard output.
        out: The folder, where it stays.
    """
    from sealift_lab.advise import document
    from sealift_lab.advise.advice import advise as advise_on
    from sealift_lab.advise.answer import answer as answer_of_load
    from sealift_lab.advise.figures import figures_frame
    from sealift_lab.advise.grid import check_compares
    from sealift_lab.advise.messages import find_messages
    from sealift_lab.claim.answer import answer
    from sealift_lab.judge.judge import results
    from sealift_lab.show.export import encode, rows_frame
    from sealift_lab.show.terminal import answer_text

    found = results(run)
    if load is not None and (load.is_given or find_messages(run.plan)):
        advice = advise_on(run, found, load.demand, cards=load.cards, about=load.about)
        if not advice.candidates:
            return False
        first, frame = answer_of_load(advice), figures_frame(advice)
        whole = document.load_document(advice, found, first)
    else:
        check_compares(run)
        if not any(each.rows for each in found.values()):
            return False
        first, frame = answer(run, found), rows_frame(run.plan, found)
        whole = document.run_document(run, found, first)
    if form is Form.CSV:
        output.show_bytes(encode(frame, "csv"))
    elif form is Form.JSON:
        output.show_json(whole)
    else:
        links = _links(out, is_open=load is not None and not load.is_given)
        output.show(answer_text(first, links, output.terminal_width()))
    return True


def _links(out: Path | None, *, is_open: bool) -> list[tuple[str, str]]:
    """The page of a run, or how to have one; without a load the command that gives one."""
    from sealift_lab.model.run import PAGE

    if out is None:
        return [("No page", "add --out FOLDER for one")]
    folder, page = shlex.quote(str(out)), out / PAGE
    first = ("Page", str(page) if page.exists() else f"sealift lab report {folder}")
    return [first, *([("Load", f"sealift advise --run {folder} --rate 1M")] if is_open else [])]


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    """The folder of the run; without a name one that is deleted when the run was shown."""
    from tempfile import TemporaryDirectory

    if out is not None:
        yield out
        return
    with TemporaryDirectory(prefix="sealift-") as folder:
        yield Path(folder) / "run"


def _own(given: Given) -> _Job:
    """One's own messages, and their load."""
    from sealift_lab.advise.messages import Messages
    from sealift_lab.model.workload import ONE_KEY, SEAL_ONLY, Mix

    lengths, about = _lengths(given["--size"], given["--from"])
    load = _load(given, about)
    threads = _value(given, "--threads", parse.thread_counts, (1,))
    regimes = _value(given, "--keys", parse.key_regimes, (ONE_KEY,))
    for option, values in {"--threads": threads, "--keys": regimes}.items():
        if len(values) > 1:
            text = f"{option} {given[option]} is a list; for messages of your own give one value"
            fail(ExitCode.USAGE, text)
    # They are the cores that may encrypt.
    hardware.check_threads(threads, per_core=1)
    messages = Messages(
        lengths=lengths,
        regime=regimes[0],
        mix=_value(given, "--mix", Mix.parse, SEAL_ONLY),
        key_bits=_value(given, "--key-bits", parse.key_bits, 128),
        devices=hardware.present_devices(given["--devices"]),
        threads=threads[0],
        batch=given["--batch"],
    )
    return _Job(messages.experiment, threads, load, OWN_SECONDS)


def _load(given: Given, about: str = "") -> _Load:
    """The load: --rate, --p99, --device, --core-price and --batch."""
    from sealift_lab.advise.load import Demand

    p99, price = given["--p99"], given["--core-price"]
    cards = parsed("--device", hardware.parse_cards, given["--device"] or ())
    if p99 is not None and given["--rate"] is None:
        fail(ExitCode.USAGE, f"--p99 {p99} depends on the rate; add --rate, as in --rate 40k")
    if price is not None and not cards:
        fail(ExitCode.USAGE, f"--core-price {price} is for cards; add one with --device")
    demand = Demand(
        rate_per_s=_value(given, "--rate", parse.rate, None),
        p99_ns=_value(given, "--p99", parse.latency_ns, None),
        batch=given["--batch"],
        core_price=_value(given, "--core-price", parse.price, None),
    )
    return _Load(demand, cards, about)


def _lengths(size: int | None, file: str | None) -> "tuple[Lengths, str]":
    """The lengths of one's messages, and in what they differ from the file that they are from."""
    from sealift_lab.model.lengths import Lengths

    if file is None:
        return Lengths.from_counts({size or 0: 1}), ""
    if size is not None:
        text = f"--size {size} and --from {file} both say how long messages are; give one"
        fail(ExitCode.USAGE, text)
    lengths = parsed("--from", Lengths.load, Path(file))
    thin, about = lengths.thinned(), ""
    if abs(thin.mean_bytes / lengths.mean_bytes - 1) > MEAN_OFF:
        about = (
            f"of {len(lengths.counts):,} lengths {len(thin.counts):,} were taken: "
            f"{thin.mean_bytes:,.0f} bytes on average, not {lengths.mean_bytes:,.0f}"
        )
    return thin, about


def _grid(workload: Workload, given: Given, *, quick: bool) -> _Job:
    """A grid of sizes and keys."""
    from sealift_lab.advise.grid import grid

    threads = _value(given, "--threads", parse.thread_counts, (1,))
    hardware.check_threads(threads, per_core=THREADS_PER_CORE)
    works = _works(workload, given, quick=quick)
    devices = hardware.present_devices(given["--devices"])
    experiment = grid(works, devices, threads, given["--batch"])
    return _Job(experiment, threads, None, QUICK_SECONDS if quick else SECONDS)


def _works(workload: Workload, given: Given, *, quick: bool) -> "tuple[Work, ...]":
    from sealift_lab.advise.grid import quick_works
    from sealift_lab.cli.sizes import parse_sizes
    from sealift_lab.experiments.document_003.messages import logged, stated
    from sealift_lab.measure.crypto import REGIMES, SIZES, sized
    from sealift_lab.model.workload import SEAL_ONLY, Mix

    if quick:
        return quick_works()
    if workload is Workload.AS_LOGGED:
        return (logged(),)
    regimes = _value(given, "--keys", parse.key_regimes, REGIMES)
    if workload is Workload.AS_STATED:
        return tuple(map(stated, regimes))
    sizes = _value(given, "--sizes", parse_sizes, SIZES)
    mix = _value(given, "--mix", Mix.parse, SEAL_ONLY)
    bits = _value(given, "--key-bits", parse.key_bits, 128)
    return tuple(sized(size, regime, mix, bits) for regime in regimes for size in sizes)


def _value(given: Given, option: str, parser: Callable[[str], T], default: S) -> T | S:
    """The value of an option, or the default where it was left out."""
    text = given[option]
    return default if text is None else parsed(option, parser, text)


def _refuse(given: Given, fixed: str) -> None:
    """Ends the program where an option was given that would change nothing."""
    for option, value in given.items():
        if value is not None:
            named = option if value is True else f"{option} {value}"
            fail(ExitCode.USAGE, f"{named} has no effect with {fixed}; leave one of them out")


def _refuse_unused(workload: Workload, grid: Given, *, quick: bool) -> None:
    if quick and workload is not Workload.PLAIN:
        text = f"--quick runs document 003 both ways; leave out --workload {workload}"
        fail(ExitCode.USAGE, text)
    if quick:
        _refuse(grid, "--quick")
    elif workload is not Workload.PLAIN:
        has_keys = workload is Workload.AS_STATED
        unused = {n: value for n, value in grid.items() if not (has_keys and n == "--keys")}
        _refuse(unused, f"--workload {workload}")


def _refuse_load(load: Given) -> None:
    for option, value in load.items():
        if value:
            fail(
                ExitCode.USAGE,
                f"{option} is about a load; say of which messages: --size N, --from lengths.csv, "
                "or --run with the folder of such a run",
            )


SECONDS, QUICK_SECONDS, OWN_SECONDS = 120.0, 45.0, 20.0
# Twice as many as a verdict takes, so that a busy machine finishes every group.
BLOCKS = 16
# Ten are in document 003; far more take all the time to be prepared, and tell nothing else.
THREADS_PER_CORE = 16
# Differences under 2 % are none.
MEAN_OFF = 0.02
