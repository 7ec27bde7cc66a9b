"""Answers "Where should my bulk encryption run?" from what was found, and claims no more."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sealift.lab import headline
from sealift.lab.crossover import crossover
from sealift.lab.crowding import is_crowded
from sealift.lab.devices import Found as Device
from sealift.lab.finding import Finding, findings, labeller
from sealift.lab.fullest import BY_SIZE, alike, fullest
from sealift.lab.reasons import Label, accelerators, costs, doubts, sentences
from sealift.lab.recall import of_the_lab
from sealift.lab.result import Found, Row
from sealift.lab.stats import Verdict
from sealift.lab.store import Run
from sealift.lab.values import Cell
from sealift.lab.wording import measured_text, work_text


@dataclass(frozen=True)
class Answer:
    """Where to run, in sentences.

    Attributes:
        question: What is asked.
        work: For which piece of work the next three are said; "" without an answer.
        where: The answer in one short sentence.
        speed_text: How fast, and how much faster than the next, with intervals.
        next_best: What else there is; "" where there is nothing else, or `speed_text` has said it.
        passed_over: What comes before that work and was not settled; "" when nothing does.
        accelerators: Why none is in the answer; "" when one is, or that is not known.
        crossover: Between which sizes the winner changes; "" when sizes were not varied.
        details: On which pieces of work the answer stands, and what was found of each.
        cautions: Reasons to take it with care.
    """

    question: str
    work: str
    where: str
    speed_text: str
    next_best: str
    passed_over: str
    accelerators: str
    crossover: str
    details: tuple[str, ...]
    cautions: tuple[str, ...]

    @property
    def text(self) -> str:
        """All of it as lines, the answer first."""
        first = " ".join(filter(None, (self.work, self.where, self.speed_text)))
        after = (*self.further, *self.details, *self.cautions)
        return "\n".join([first, *(f"- {line}" for line in after)])

    @property
    def further(self) -> tuple[str, ...]:
        """What belongs right below the answer."""
        lines = (self.next_best, self.passed_over, self.crossover, self.accelerators)
        return tuple(line for line in lines if line)


def answer(
    found: Mapping[str, Found], devices: Sequence[Device] = (), *, own: Cell | None = None
) -> Answer:
    """Where to run, how fast, and what of it holds for which other work.

    The headline stands on one piece of work that is told in full: `headline.choose` says which.
    A device is recommended only where every other one was shown to be slower, and without a
    condition only where no other device won any piece of work. Devices that are for checking or
    for comparing only (an oracle, a peer library) are no advice.

    Args:
        found: What each experiment found; those that compare devices by AES-GCM messages are used.
        devices: Those of the machine, from the run; none where they are not known.
        own: The work that the headline is for, settled or not; chosen when left out.
    """
    rows, cautions = _advisable(found)
    if not rows:
        where = "No answer: no device that is for real work was measured on AES-GCM messages."
        return _no_answer(where, cautions)
    rows = _judged(rows)
    if not rows:
        return _no_answer(UNJUDGED, cautions)
    everything = findings(rows)
    chosen = headline.choose(everything) if own is None else _of(own, everything)
    if chosen is None:
        return _no_answer(UNMEASURED, cautions)
    label = labeller(rows)
    by_size = [row for row in rows if row.experiment == BY_SIZE]
    return Answer(
        question=QUESTION,
        work=work_text(chosen.rows[0], with_batch=own is not None),
        where=headline.where(chosen, everything, label),
        speed_text=headline.speed(chosen),
        next_best=headline.next_best(chosen, everything),
        passed_over="" if own else headline.passed_over(chosen, everything),
        accelerators=accelerators(devices, {str(row.subject) for row in rows}),
        crossover=crossover(by_size),
        details=(measured_text(rows), *_more(everything, label), *costs(by_size)),
        cautions=(*cautions, *doubts(everything)),
    )


def answer_of(run: Run, found: Mapping[str, Found]) -> Answer | None:
    """The answer of a run, about one's own messages where it measured such; None if none is asked.

    Args:
        run: A run folder.
        found: From `summarise(run)`.
    """
    known = of_the_lab(run, found)
    if not is_asked(known):
        return None
    own = fullest(run, known)
    if own is None:
        return answer(known, run.machine.devices)
    return answer({**known, BY_SIZE: own.found}, run.machine.devices, own=own.work)


def is_asked(found: Mapping[str, Found]) -> bool:
    """Whether something was to be measured that answers the question."""
    return any(name in found for name in ADVISING)


def _of(own: Cell, everything: Sequence[Finding]) -> Finding | None:
    return next((each for each in everything if alike(each.rows[0].cell, own, tuple(own))), None)


def _no_answer(why: str, cautions: Sequence[str]) -> Answer:
    return Answer(QUESTION, "", why, "", "", "", "", "", (), tuple(cautions))


def _more(everything: Sequence[Finding], label: Label) -> list[str]:
    """Nothing of the headline's work alone: the headline has told it."""
    return sentences(everything, label) if len(everything) > 1 else []


def _advisable(found: Mapping[str, Found]) -> tuple[list[Row], list[str]]:
    """The rows of devices for real work, and why others are left out."""
    rows: list[Row] = []
    cautions: dict[str, None] = {}
    measured = {str(row.subject) for name in ADVISING if name in found for row in found[name].rows}
    for name in ADVISING:
        if name in found:
            roles = _roles(found[name])
            cautions |= dict.fromkeys(_left_out(found[name], roles, measured))
            sound = [row for row in found[name].rows if not row.wrong and not is_crowded(row.cell)]
            rows += _among([row for row in sound if roles[str(row.subject)] == REAL], sound)
    return rows, list(cautions)


def _roles(found: Found) -> dict[str, str]:
    """What each device is for; that of a device that was not there is not known."""
    roles: dict[str, str] = {}
    for each in found.verified:
        device = str(each.cell["device"])
        roles[device] = str(each.facts.get("role", roles.get(device, REAL)))
    return roles


def _left_out(found: Found, roles: Mapping[str, str], measured: Collection[str]) -> Iterable[str]:
    for each in found.verified:
        device = str(each.cell["device"])
        if each.wrong:
            yield f"{device} computed something wrong, so its times don't count: {each.wrong}"
        elif each.skipped and roles[device] == REAL:
            how = "measured for a part of the work only" if device in measured else "not measured"
            yield f"{device} was {how}: {each.skipped}"
    for row in found.rows:
        device = str(row.subject)
        if row.winner and row.verdict is Verdict.FASTER and roles[device] != REAL:
            yield f"{device} is no device to run on ({roles[device]}), so it is not advised."


def _among(kept: Sequence[Row], everyone: Sequence[Row]) -> list[Row]:
    """The rows that are kept, with winners among them only.

    Where a winner was left out, the others are judged by their verdicts against the reference:
    of several that are faster than it, none is known to be the fastest.
    """
    gone = {row.work for row in everyone if row not in kept and row.winner}
    by_work: dict[object, list[Row]] = {}
    for row in kept:
        by_work.setdefault(row.work, []).append(row)
    return [
        replace(row, winner=_leads(row, group)) if work in gone else row
        for work, group in by_work.items()
        for row in group
    ]


def _judged(rows: Sequence[Row]) -> list[Row]:
    """Those whose reference is among them: without it there is no noise floor to judge by."""
    known = {row.work for row in rows if row.ratio is None}
    return [row for row in rows if row.work in known]


def _leads(row: Row, group: Sequence[Row]) -> bool:
    if any(other.verdict is Verdict.FASTER for other in group):
        return row.verdict is Verdict.FASTER
    return row.verdict is not Verdict.SLOWER


QUESTION = "Where should my bulk encryption run?"
UNJUDGED = (
    "No answer: the first device is not for real work or computed something wrong, and the others "
    "are judged by it."
)
UNMEASURED = (
    "No answer: no device that is for real work was measured on these messages in full batches."
)
ADVISING = (BY_SIZE, "aes-gcm-by-threads")
REAL = "real"
