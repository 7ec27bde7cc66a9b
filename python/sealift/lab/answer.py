"""Answers "Where should my bulk encryption run?" from what was found, and claims no more."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sealift.lab.crossover import crossover
from sealift.lab.finding import (
    Finding,
    Kind,
    findings,
    labeller,
    listed,
)
from sealift.lab.grid import Load
from sealift.lab.reasons import (
    Label,
    causes,
    doubts,
    intervals_text,
    pieces,
    range_text,
    sentences,
)
from sealift.lab.result import Found, Row
from sealift.lab.stats import Verdict
from sealift.lab.units import format_measure


@dataclass(frozen=True)
class Answer:
    """Where to run, in sentences.

    Attributes:
        question: What is asked.
        where: The answer in one short sentence.
        speed_text: How much faster, with intervals; "" without a winner.
        next_best: What else there is; "" where there is nothing else.
        crossover: Between which sizes the winner changes; "" when sizes were not varied.
        details: On which pieces of work the answer stands, and why it is so.
        cautions: Reasons to take it with care.
    """

    question: str
    where: str
    speed_text: str
    next_best: str
    crossover: str
    details: tuple[str, ...]
    cautions: tuple[str, ...]

    @property
    def text(self) -> str:
        """All of it as lines, the answer first."""
        first = " ".join(filter(None, (self.where, self.speed_text)))
        after = (self.next_best, self.crossover, *self.details, *self.cautions)
        return "\n".join([first, *(f"- {line}" for line in after if line)])


def answer(found: Mapping[str, Found]) -> Answer:
    """Where to run, how much faster, for which sizes.

    The headline stands on messages of 128 bytes where they were measured, because that is what the
    field compares; else on everything. A device is recommended only where every other one was
    shown to be slower. Devices that are for checking or for comparing only (an oracle, a peer
    library) are no advice.

    Args:
        found: What each experiment found; those that compare devices by AES-GCM messages are used.
    """
    rows, cautions = _advisable(found)
    if not rows:
        where = "No answer: no device that is for real work was measured on AES-GCM messages."
        return Answer(QUESTION, where, "", "", "", (), tuple(cautions))
    rows = _judged(rows)
    if not rows:
        return Answer(QUESTION, UNJUDGED, "", "", "", (), tuple(cautions))
    everything = findings(rows)
    typical = [finding for finding in everything if finding.size_bytes == TYPICAL_BYTES]
    headline = everything if len(typical) in (0, len(everything)) else typical
    label = labeller(rows)
    by_size = [row for row in rows if row.experiment == BY_SIZE]
    return Answer(
        question=QUESTION,
        where=_where(headline),
        speed_text=_speed(headline, label),
        next_best=_next_best(headline),
        crossover=crossover(by_size),
        details=(*_why(by_size), *_more(headline, everything, label)),
        cautions=(*cautions, *doubts(everything)),
    )


def _why(by_size: Sequence[Row]) -> Iterable[str]:
    """Nothing where nothing was shown: then there is nothing to explain."""
    return causes(by_size) if any(each.winner for each in findings(by_size)) else ()


def _more(headline: Sequence[Finding], everything: Sequence[Finding], label: Label) -> list[str]:
    """Nothing where one device won everything: the headline has told it."""
    won = {finding.devices for finding in everything if finding.winner}
    if headline is everything and len(won) == 1 and all(each.winner for each in everything):
        return []
    return sentences(everything, label)


def _advisable(found: Mapping[str, Found]) -> tuple[list[Row], list[str]]:
    """The rows of devices for real work, and why others are left out."""
    rows: list[Row] = []
    cautions: dict[str, None] = {}
    for name in ADVISING:
        if name in found:
            roles = _roles(found[name])
            cautions |= dict.fromkeys(_left_out(found[name], roles))
            sound = [row for row in found[name].rows if not row.wrong and not _is_crowded(row)]
            rows += _among([row for row in sound if roles[str(row.subject)] == REAL], sound)
    return rows, list(cautions)


def _roles(found: Found) -> dict[str, str]:
    """What each device is for; that of a device that was not there is not known."""
    roles: dict[str, str] = {}
    for each in found.verified:
        device = str(each.cell["device"])
        roles[device] = str(each.facts.get("role", roles.get(device, REAL)))
    return roles


def _is_crowded(row: Row) -> bool:
    """Threads that share cores wait for each other: nobody runs bulk work so by choice."""
    return row.cell.get("load") == Load.OVER


def _left_out(found: Found, roles: Mapping[str, str]) -> Iterable[str]:
    for each in found.verified:
        device = str(each.cell["device"])
        if each.wrong:
            yield f"{device} computed something wrong, so its times don't count: {each.wrong}"
        elif each.skipped and roles[device] == REAL:
            yield f"{device} was not measured: {each.skipped}"
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


def _where(headline: Sequence[Finding]) -> str:
    won = _by_winner(headline)
    open_ones = [finding for finding in headline if finding.winner is None]
    if not won:
        return _no_winner(headline)
    rest = f"; {_counted(open_ones)}" if open_ones else ""
    if len(won) == 1 and not open_ones:
        return f"Run it on {next(iter(won))}."
    parts = [
        f"on {device} for {len(those):,} of {len(headline):,} {pieces(len(headline))}"
        for device, those in won.items()
    ]
    return f"Run it {', '.join(parts)}{rest}."


def _by_winner(found: Iterable[Finding]) -> dict[str, list[Finding]]:
    """The findings of each winner, the most frequent first."""
    won: dict[str, list[Finding]] = {}
    for finding in found:
        if finding.winner:
            won.setdefault(finding.winner, []).append(finding)
    return dict(sorted(won.items(), key=lambda item: -len(item[1])))


def _no_winner(found: Sequence[Finding]) -> str:
    kinds = {finding.kind for finding in found}
    # Of three devices two may be equal and the third slower.
    if kinds == {Kind.SAME} and all(len(each.devices) == len(each.rows) for each in found):
        return "Run it anywhere: all that was measured here is equally fast, within noise."
    if kinds == {Kind.ALONE}:
        devices = sorted({device for finding in found for device in finding.devices})
        return f"Only {listed(devices)} was measured, so there is nothing to choose from."
    what = f"{len(found):,} {pieces(len(found))}"
    start = "No single winner" if kinds == {Kind.SAME} else "Not settled here"
    return f"{start}: of {what}, {_counted(found)}."


def _counted(found: Sequence[Finding]) -> str:
    """How many findings there are of each kind, for the middle of a sentence."""
    counts = {kind: sum(finding.kind is kind for finding in found) for kind in COUNTED}
    return listed([COUNTED[kind].format(count) for kind, count in counts.items() if count])


def _speed(headline: Sequence[Finding], label: Label) -> str:
    by_pair: dict[tuple[str, ...], list[Finding]] = {}
    for finding in headline:
        if finding.winner:
            by_pair.setdefault(finding.devices, []).append(finding)
    if len(by_pair) == 1:
        ((device, other), found) = next(iter(by_pair.items()))
        return (
            f"For {label(found)} it is {range_text(found)} times as fast as {other} "
            f"{intervals_text(found)}, {_rates(device, found)} messages/s."
        )
    return " ".join(
        f"{device} is {range_text(found)} times as fast as {other} {intervals_text(found)} "
        f"for {label(found)}."
        for (device, other), found in by_pair.items()
    )


def _rates(device: str, found: Sequence[Finding]) -> str:
    rates = [
        row.operations_per_s.median
        for finding in found
        for row in finding.rows
        if row.subject == device
    ]
    low, high = format_measure(min(rates)), format_measure(max(rates))
    return low if low == high else f"{low} to {high}"


def _next_best(headline: Sequence[Finding]) -> str:
    """The fastest of those that did not win, by its median."""
    names: dict[str, int] = {}
    for finding in headline:
        others = [row for row in finding.rows if row.subject != finding.winner]
        if finding.winner and others:
            best = min(others, key=lambda row: row.ns_per_operation.median)
            names[str(best.subject)] = names.get(str(best.subject), 0) + 1
    if not names:
        return ""
    ordered = sorted(names.items(), key=lambda item: -item[1])
    if len(ordered) == 1:
        return f"Next best: {ordered[0][0]}."
    told = [f"{name} for {count:,}" for name, count in ordered]
    return f"Next best: {listed(told)} of {sum(names.values()):,} pieces of work."


QUESTION = "Where should my bulk encryption run?"
UNJUDGED = (
    "No answer: the first device is not for real work or computed something wrong, and the others "
    "are judged by it."
)
BY_SIZE = "aes-gcm-by-size"
ADVISING = (BY_SIZE, "aes-gcm-by-threads")
TYPICAL_BYTES = 128
REAL = "real"
COUNTED = {
    Kind.SAME: "either will do for {:,}",
    Kind.UNSURE: "longer samples are needed for {:,}",
    Kind.NOISY: "there was too much noise for {:,}",
    Kind.ALONE: "there was one device only for {:,}",
}
