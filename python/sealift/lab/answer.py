"""Answers "Where should my bulk encryption run?" from what was found, and claims no more."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sealift.lab.crossover import crossover
from sealift.lab.finding import (
    Finding,
    Kind,
    findings,
    labeller,
    listed,
    size_of,
)
from sealift.lab.result import Found, Row
from sealift.lab.stats import Interval, Trust, Verdict
from sealift.lab.units import format_measure, format_share, format_size

Label = Callable[[Sequence[Finding]], str]


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
    headline = typical or everything
    label = labeller(rows)
    by_size = [row for row in rows if row.experiment == BY_SIZE]
    return Answer(
        question=QUESTION,
        where=_where(headline),
        speed_text=_speed(headline, label),
        next_best=_next_best(headline),
        crossover=crossover(by_size),
        details=(*_causes(by_size), *_sentences(everything, label)),
        cautions=(*cautions, *_doubts(everything)),
    )


def _advisable(found: Mapping[str, Found]) -> tuple[list[Row], list[str]]:
    """The rows of devices for real work, and why others are left out."""
    rows: list[Row] = []
    cautions: dict[str, None] = {}
    for name in ADVISING:
        if name not in found:
            continue
        roles = {
            str(each.cell["device"]): str(each.facts.get("role", REAL))
            for each in found[name].verified
        }
        left_out = {device for device, role in roles.items() if role != REAL}
        cautions |= dict.fromkeys(_left_out(found[name], left_out))
        cautions |= dict.fromkeys(
            f"{device} is no device to run on ({roles[device]}), so it is not advised."
            for device in sorted(left_out)
        )
        sound = [row for row in found[name].rows if not row.wrong]
        rows += _among([row for row in sound if row.subject not in left_out], sound)
    return rows, list(cautions)


def _left_out(found: Found, unadvised: set[str]) -> Iterable[str]:
    for each in found.verified:
        device = str(each.cell["device"])
        if each.wrong:
            yield f"{device} computed something wrong, so its times don't count: {each.wrong}"
        elif each.skipped and device not in unadvised:
            yield f"{device} was not measured: {each.skipped}"


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
        f"on {device} for {len(those):,} of {len(headline):,} {_pieces(len(headline))}"
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
    what = f"{len(found):,} {_pieces(len(found))}"
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
            f"For {label(found)} it is {_range(found)} times as fast as {other} "
            f"{_intervals(found)}, {_rates(device, found)} messages/s."
        )
    return " ".join(
        f"{device} is {_range(found)} times as fast as {other} {_intervals(found)} "
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


def _causes(rows: Sequence[Row]) -> Iterable[str]:
    """What a message costs each device, and what each of its bytes: why the winner changes."""
    series: dict[object, list[Row]] = {}
    for row in rows:
        rest = tuple(sorted((k, v) for k, v in row.cell.items() if k != "size_bytes"))
        series.setdefault(rest, []).append(row)
    costs: dict[str, list[tuple[float, float]]] = {}
    for line in series.values():
        ordered = sorted(line, key=size_of)
        first, last = ordered[0], ordered[-1]
        if size_of(last) < WIDE * size_of(first):
            continue
        first_ns, last_ns = first.ns_per_operation.median, last.ns_per_operation.median
        per_byte_ns = (last_ns - first_ns) / (size_of(last) - size_of(first))
        if per_byte_ns > 0:
            costs.setdefault(str(first.subject), []).append((first_ns, per_byte_ns))
    if costs:
        least, most = min(map(size_of, rows)), max(map(size_of, rows))
        told = [
            f"{device} takes {_spread(cost[0] for cost in each)} ns for one of "
            f"{format_size(least)} B and {_spread(cost[1] for cost in each)} ns for each byte more"
            for device, each in costs.items()
        ]
        yield f"Why: of messages up to {format_size(most)} B, {listed(told)}."


def _spread(values: Iterable[float]) -> str:
    ordered = sorted(values)
    low, high = format_measure(ordered[0]), format_measure(ordered[-1])
    return low if low == high else f"{low} to {high}"


def _sentences(everything: Sequence[Finding], label: Label) -> list[str]:
    grouped: dict[tuple[Kind, tuple[str, ...]], list[Finding]] = {}
    for finding in everything:
        grouped.setdefault((finding.kind, finding.devices), []).append(finding)
    ordered = sorted(grouped.items(), key=lambda item: list(Kind).index(item[0][0]))
    return [SENTENCES[kind](found, label(found)) for (kind, _), found in ordered]


def _winner(found: Sequence[Finding], where: str) -> str:
    device, other = found[0].devices
    return (
        f"{device} wins for {where}: {_range(found)} times as fast as {other} {_intervals(found)}."
    )


def _intervals(found: Sequence[Finding]) -> str:
    return "(95 % interval)" if len(found) == 1 else "(95 % intervals)"


def _range(found: Sequence[Finding]) -> str:
    ratios = [finding.ratio for finding in found if finding.ratio]
    low = min(ratios, key=lambda ratio: ratio.median)
    high = max(ratios, key=lambda ratio: ratio.median)
    return _times(low) if len(ratios) == 1 else f"{_times(low)} to {_times(high)}"


def _same(found: Sequence[Finding], where: str) -> str:
    floor = max(finding.noise_floor for finding in found)
    return (
        f"For {where}, {listed(found[0].devices)} are within noise "
        f"(noise floor {format_share(floor)}): either will do."
    )


def _unsure(found: Sequence[Finding], where: str) -> str:
    devices = listed(found[0].devices)
    return f"For {where}, these samples don't settle it between {devices}: measure longer."


def _noisy(found: Sequence[Finding], where: str) -> str:
    floor = max(finding.noise_floor for finding in found)
    return (
        f"For {where} there is no verdict: the same code differed from itself "
        f"by up to {format_share(min(1.0, floor))}."
    )


def _alone(found: Sequence[Finding], where: str) -> str:
    device = found[0].devices[0]
    return f"For {where} only {device} was measured, so there is nothing to choose from."


def _doubts(everything: Sequence[Finding]) -> Iterable[str]:
    total = f"{len(everything):,} {_pieces(len(everything))}"
    busy = [
        finding
        for finding in everything
        if finding.kind is Kind.NOISY or any(row.machine_busy for row in finding.rows)
    ]
    careful = [finding for finding in everything if finding.rows[0].trust is Trust.CAUTION]
    drifting = [each for each in everything if not all(row.steady for row in each.rows)]
    if busy:
        yield (
            f"The machine was busy during {len(busy):,} of {total}: measure again when it is quiet."
        )
    if careful:
        floor = max(finding.noise_floor for finding in careful)
        share = format_share(floor)
        yield f"Take {len(careful):,} of {total} with care: noise floor up to {share}."
    if drifting:
        yield (
            f"Times still drifted at the end of {len(drifting):,} of {total}: "
            "measure longer, and look at the clock and at what else runs."
        )


def _times(ratio: Interval) -> str:
    return (
        f"{format_measure(ratio.median)} "
        f"[{format_measure(ratio.low)}..{format_measure(ratio.high)}]"
    )


def _pieces(count: int) -> str:
    return "piece of work" if count == 1 else "pieces of work"


QUESTION = "Where should my bulk encryption run?"
UNJUDGED = (
    "No answer: the first device is not for real work or computed something wrong, and the others "
    "are judged by it."
)
BY_SIZE = "aes-gcm-by-size"
ADVISING = (BY_SIZE, "aes-gcm-by-threads")
TYPICAL_BYTES = 128
REAL = "real"
# Between sizes nearer than this, what a byte costs is lost in the noise of what a message costs.
WIDE = 8
SENTENCES: dict[Kind, Callable[[Sequence[Finding], str], str]] = {
    Kind.WINNER: _winner,
    Kind.SAME: _same,
    Kind.UNSURE: _unsure,
    Kind.NOISY: _noisy,
    Kind.ALONE: _alone,
}
COUNTED = {
    Kind.SAME: "either will do for {:,}",
    Kind.UNSURE: "longer samples are needed for {:,}",
    Kind.NOISY: "there was too much noise for {:,}",
    Kind.ALONE: "there was one device only for {:,}",
}
