"""The answer of a run as data: a recommendation, one figure, a bar for each arm, a few remarks."""

import math
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

from sealift_lab.claim.claims import RELATIONS, absent_devices, experiment_claims, fastest, rate
from sealift_lab.claim.declared import plans, published
from sealift_lab.claim.replication import Replication, replication
from sealift_lab.claim.words import axis_title, conditions, sentence, value_text, varied_axes
from sealift_lab.judge.rows import gauge
from sealift_lab.model.arm import Cell
from sealift_lab.model.results import Claim, Estimate, Ledger, Origin, Relation, Results, Row
from sealift_lab.model.run import PlannedExperiment, Surroundings
from sealift_lab.model.units import counted, format_number, format_percent
from sealift_lab.run.read_folder import Run


@dataclass(frozen=True)
class Bar:
    """One arm: the claim on its rate, and that in operations a second, None where it is absent."""

    claim: Claim
    rate: Estimate | None = None
    is_winner: bool = False

    @property
    def text(self) -> str:
        """The rate in words: `17.9 M messages/s`."""
        figure = self.claim.figure
        return f"{format_number(figure.value)} {self.claim.unit}" if figure else ""


@dataclass(frozen=True)
class Remark:
    """On what the answer stands; `is_care` where it is a reason to take it with care."""

    text: str
    is_care: bool = False


@dataclass(frozen=True)
class Answer:
    """The first screen.

    Attributes:
        advice: What to do, in a few words.
        lead: The figure in words: `2.39× AWS-LC [2.33–2.46]`; where nobody won, the whole claim.
        headline: The claim behind `lead`; None where there is no single one.
        basis: The work that headline and bars are about, in words.
        remarks: What it was measured on, then reasons for care.
    """

    question: str
    advice: str
    lead: str = ""
    headline: Claim | None = None
    basis: str = ""
    bars: Sequence[Bar] = ()
    remarks: Sequence[Remark] = ()

    @property
    def note(self) -> str:
        """Why two bars have another ratio than the headline, where a reader would see it; or ""."""
        claim = self.headline
        rates = {bar.claim.subject: bar.rate.value for bar in self.bars if bar.rate}
        if claim is None or claim.relation is not Relation.FASTEST or claim.figure is None:
            return ""
        if not {claim.subject, claim.other} <= rates.keys():
            return ""
        of_bars, ratio = rates[claim.subject] / rates[claim.other], claim.figure.value
        if abs(of_bars / ratio - 1) <= ROUNDED_OFF:
            return ""
        medians, turns = map(format_number, (of_bars, ratio))
        return f"the bars are medians and give {medians}×; {turns}× compares samples taken in turn"


def answer(run: Run, results: Mapping[str, Results]) -> Answer:
    """The answer of a run, about the work that its experiments prefer.

    Settled work goes before unsettled, and what is preferred before other work. Arms whose role is
    another than real work (oracles, simulators) are no advice. An experiment that prefers no work
    is answered over all of it.
    """
    planned = plans(run)
    works = [work for each in planned for work in _works(each, results[each.name])]
    best = max(works, key=_rank, default=None)
    every = [claim for each in planned for claim in experiment_claims(each, results[each.name])]
    remarks = [*_remarks(run, every, best)][:REMARKS_MOST]
    if best is None:
        question = next((each.question or each.title for each in planned), "What was measured?")
        return Answer(question, _counted(run, results), remarks=remarks)
    about, rows, headline, winner = best
    headline_or_rate = headline or rate(about, rows[0])
    advises = about.advice and (winner is None or str(winner.subject) in about.advice)
    bars = [Bar(rate(about, row), row.operations_per_s, row is winner) for row in rows]
    basis = conditions(rows[0].work, about, [*about.preferred] or varied_axes(about))
    same = [] if about.preferred else [work for work in works if work.planned is about]
    found = Answer(
        question=QUESTION if advises else about.question or about.title,
        advice=_advice(best),
        lead=lead(headline_or_rate),
        headline=headline_or_rate,
        basis=basis,
        bars=[*bars, *_absent(run, about)],
        remarks=remarks,
    )
    return _over_all(found, same) if len(same) > 1 and headline else found


def lead(headline: Claim) -> str:
    """A claim in words under the advice, which names its winner."""
    words = sentence(headline)
    is_won = headline.relation is Relation.FASTEST
    return words.removeprefix(f"{headline.subject}: ") if is_won else words


def claims(run: Run, results: Mapping[str, Results]) -> list[Claim]:
    """Everything that a run lets one say; what the answer is made of comes first."""
    headline, planned = answer(run, results).headline, plans(run)
    return [
        *([headline] if headline else []),
        *(claim for each in planned for claim in experiment_claims(each, results[each.name])),
        *absent_devices(run.machine, planned),
    ]


def distance(cell: Cell, preferred: Cell) -> tuple[int, float]:
    """How far work is from what is preferred: in how many texts, and in numbers, as ratios."""
    texts, ratios = 0, 0.0
    for name, value in preferred.items():
        here = cell.get(name, value)
        if isinstance(here, str) or isinstance(value, str):
            texts += here != value
        else:
            ratios += abs(math.log1p(abs(here)) - math.log1p(abs(value)))
    return texts, ratios


def machine_text(machine: Surroundings) -> str:
    """`Intel Xeon with AVX-512, 2 cores at 3.6 GHz, virtual machine`, as far as it is known."""
    facts = {name: fact.value for name, fact in machine.facts.items()}
    model, cores, clock = (facts.get(n) for n in ("cpu_model", "cores_affinity", "core_clock_ghz"))
    text = str(model or "").partition(" @")[0]
    for mark in ("(R)", "(TM)", " Processor", " CPU"):
        text = text.replace(mark, "")
    at = f" at {clock:.1f} GHz" if isinstance(clock, float) else ""
    many = f"{counted(cores, 'core')}{at}" if isinstance(cores, int) else ""
    found = facts.get("cpu_flags")
    flags = found if isinstance(found, Sequence) else ()
    # Several processors have one name; which kernels they take tells most of them apart.
    name = f"{text.strip()} with AVX-512" if text and "avx512f" in flags else text.strip()
    virtual = "virtual machine" if "hypervisor" in flags else ""
    return ", ".join(filter(None, (name, many, virtual)))


def command_text(run: Run) -> str:
    """The command that repeats a run, without the folder that it wrote."""
    words = [*run.plan.command]
    if "--out" in words:
        at = words.index("--out")
        del words[at : at + 2]
    return shlex.join(words)


class _Work(NamedTuple):
    """A group of rows that the answer may be about."""

    planned: PlannedExperiment
    rows: Sequence[Row]
    headline: Claim | None
    winner: Row | None


def _works(planned: PlannedExperiment, results: Results) -> Iterator[_Work]:
    """The groups of an experiment, without arms whose role is none of real work."""
    roles = ((each.cell[planned.compare], each.facts.get("role")) for each in results.reports)
    idle = {subject for subject, role in roles if role not in (None, REAL)}
    sound = [row for row in results.rows if not row.wrong and row.subject not in idle]
    for _, group in groupby(sound, key=lambda row: row.group):
        rows = sorted(group, key=lambda row: row.time.value)
        headline = fastest(planned, rows)
        is_won = headline is not None and headline.relation is Relation.FASTEST
        yield _Work(planned, rows, headline, rows[0] if is_won else None)


def _rank(work: _Work) -> tuple[bool, bool, bool, bool, float, float]:
    """Of experiments with advice, or that prefer some work; settled; a choice; preferred."""
    relation = work.headline and work.headline.relation
    preferred, cell = work.planned.preferred, work.rows[0].cell
    share = sum(cell.get(name) == value for name, value in preferred.items())
    return (
        bool(work.planned.advice),
        bool(preferred),
        relation in (Relation.FASTEST, Relation.SAME),
        relation is not None,
        share / max(1, len(preferred)),
        -distance(cell, preferred)[1],
    )


def _advice(work: _Work) -> str:
    """What to do, in a few words."""
    if work.winner:
        subject, planned = work.winner.subject, work.planned
        return planned.advice.get(str(subject), value_text(planned.compare, subject, planned))
    if work.headline is None:
        return "Nothing to compare with"
    return "No difference" if work.headline.relation is Relation.SAME else "Not settled here"


def _over_all(found: Answer, works: Sequence[_Work]) -> Answer:
    """The same of all groups of an experiment: where several arms win, it depends on the work."""
    planned, winners = works[0].planned, {work.winner.subject for work in works if work.winner}
    outcomes = [
        f"{value_text(planned.compare, w.winner.subject, planned)} fastest"
        if w.winner
        else _advice(w).lower()
        for w in works
    ]
    most = Counter(outcomes).most_common()
    counts = ", ".join(f"{each} in {many} of {len(works)}" for each, many in most)
    if len(winners) < 2:
        return replace(found, basis=f"{found.basis}; {counts}")
    axes = [name for name in varied_axes(planned) if name != planned.compare] or ["work"]
    titles = [axis_title(planned, name).partition(",")[0] for name in axes]
    return replace(
        found,
        advice=f"It depends on {' and '.join(titles)}",
        lead=counts,
        headline=None,
        bars=[replace(bar, is_winner=False) for bar in found.bars],
    )


def _counted(run: Run, results: Mapping[str, Results]) -> str:
    """What may be said where nothing was measured: how many figures a model reproduces."""
    if any(not row.wrong for each in results.values() for row in each.rows):
        return "Measured on devices for tests only"
    pairs, _ = published(run, results)
    if outcomes := [replication(claim) for _, claim in pairs if claim.ledger is Ledger.MODELLED]:
        reproduced = outcomes.count(Replication.REPRODUCED)
        return f"{reproduced} of {len(outcomes)} published figures reproduced by a model"
    origins = {planned.origin for planned in run.plan.experiments if not planned.is_timed}
    if Origin.MEASURED in origins:
        return "Measured once, nothing compared"
    return "Computed, not measured" if origins else "Nothing was measured"


def _absent(run: Run, planned: PlannedExperiment) -> Iterator[Bar]:
    """The devices that this machine lacks, where the experiment compares all devices."""
    specs = {device.spec for device in run.machine.devices}
    compared = {cell[planned.compare] for group in planned.groups for cell in group}
    # One of a user's own compares what it names.
    if planned.file is None and compared & specs:
        yield from map(Bar, absent_devices(run.machine, [planned]))


def _remarks(run: Run, every: Sequence[Claim], best: _Work | None) -> Iterator[Remark]:
    """What it was measured on; then reasons for care, the weightiest first."""
    place = (machine_text(run.machine), run.plan.created[:10])
    yield Remark(", ".join(filter(None, place)))
    pairs = gauge(run.samples)
    is_noisy = pairs is not None and pairs.noise > NOISE_CARE
    if pairs:
        yield Remark(f"noise ±{format_percent(pairs.noise)}", is_noisy)
    if further := _further_devices(run):
        yield Remark(f"also here, not measured: {', '.join(further)}")
    is_disturbed = pairs is not None and 1 - pairs.clean_share > DISTURBED_CARE
    is_calm = best and _is_narrow(best) and not (is_noisy or is_disturbed)
    if best and is_calm and all(row.processes == 1 for row in best.rows):
        yield Remark("another run may differ by 1 to 3 %")
    wrong = (claim for claim in every if claim.relation is Relation.WRONG)
    yield from (Remark(sentence(claim), is_care=True) for claim in wrong)
    if (ending := run.ending.ending if run.ending else RUNNING) not in ENDS_WELL:
        yield Remark(f"{ending}: not everything was measured", is_care=True)
    elif run.ending and run.ending.reason:
        yield Remark(run.ending.reason)
    if pairs and is_disturbed:
        text = f"{100 * (1 - pairs.clean_share):.0f} % of samples disturbed"
        yield Remark(text, is_care=True)
    kinds = [claim.relation for claim in every if claim.relation in RELATIONS.values()]
    if unsettled := kinds.count(Relation.INCONCLUSIVE):
        text = f"{unsettled:,} of {len(kinds):,} comparisons not settled"
        yield Remark(text, is_care=unsettled * 4 > len(kinds))
    for claim in every:
        if best and claim.relation is Relation.WINS_FROM and claim.experiment == best.planned.name:
            yield Remark(sentence(claim))


def _is_narrow(work: _Work) -> bool:
    """Whether the interval of its headline is no wider than what processes differ by."""
    figure = work.headline.figure if work.headline else None
    return (
        not (figure and figure.low and figure.high) or figure.high / figure.low < PROCESSES_DIFFER
    )


def _further_devices(run: Run) -> list[str]:
    """Devices with a number, as `cuda:1`, that no cell names, where one names their driver."""
    cells = (cell for each in run.plan.experiments for group in each.groups for cell in group)
    # A value may say more, as `cuda, laid out by 2 cores`.
    named = {str(value).partition(",")[0] for cell in cells for value in cell.values()}
    return [
        each.spec
        for each in run.machine.devices
        if each.state == "present"
        and each.spec.removeprefix(f"{each.driver}:").isdecimal()
        and each.driver in named
        and each.spec not in named
    ]


QUESTION = "Where should my bulk encryption run?"
REAL = "real"
REMARKS_MOST = 5
ENDS_WELL, RUNNING = ("complete", "time was up"), "killed, or still running"
# As shares; a block that scatters more, or more such samples, ask for care.
NOISE_CARE, DISTURBED_CARE = 0.03, 0.1
# So far two figures of three digits may be from their ratio.
ROUNDED_OFF = 0.01
# Processes differ by 1 to 3 % to either side.
PROCESSES_DIFFER = 1.06
