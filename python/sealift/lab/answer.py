"""Answers "Where should my bulk encryption run?" from rows, claiming no more than they allow."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from sealift.lab.result import Row
from sealift.lab.stats import Interval, Trust, Verdict
from sealift.lab.units import format_measure, format_share, format_size


def answer(rows: Sequence[Row]) -> str:
    """The closing text of a bench: where to run, how much faster, for which sizes.

    The first line is one sentence, the answer. When there were several pieces of work, lines
    under it say which of them it stands on; then come the reasons to take it with care.

    A device is recommended only for the work on which every other device was shown to be
    slower. "Within noise" means shown to be equal up to the noise floor; what the samples could
    not settle is said to be unsettled.

    Args:
        rows: Of one run, those of one piece of work together.

    Raises:
        ValueError: If there are no rows.
    """
    if not rows:
        raise ValueError("no rows, so no answer; measure something first")
    findings = [_finding(list(work)) for _, work in groupby(rows, key=lambda row: row.work)]
    label = _labeller(rows)
    grouped: dict[tuple[Kind, tuple[str, ...]], list[_Finding]] = {}
    for finding in findings:
        grouped.setdefault((finding.kind, finding.devices), []).append(finding)
    ordered = sorted(grouped.items(), key=lambda item: list(Kind).index(item[0][0]))
    sentences = [SENTENCES[kind](found, label(found)) for (kind, _), found in ordered]
    details = [f"- {line}" for line in [*sentences, *_cautions(findings)]]
    if len(findings) == 1:
        return "\n".join([*sentences, *details[1:]])
    return "\n".join([_headline(findings), *details])


class Kind(StrEnum):
    """What the rows of one piece of work allow to say, the most useful first."""

    WINNER = "winner"
    SAME = "same"
    UNSURE = "unsure"
    NOISY = "noisy"
    ALONE = "alone"


@dataclass(frozen=True)
class _Finding:
    """What may be said about one piece of work; for a winner, its ratio to the other device."""

    kind: Kind
    devices: tuple[str, ...]
    ratio: Interval | None
    rows: tuple[Row, ...]


def _headline(findings: list[_Finding]) -> str:
    """One sentence over several pieces of work."""
    won: dict[tuple[str, ...], list[_Finding]] = {}
    for finding in findings:
        if finding.kind is Kind.WINNER:
            won.setdefault(finding.devices, []).append(finding)
    ordered = sorted(won.items(), key=lambda item: -len(item[1]))
    open_ones = [finding for finding in findings if finding.kind is not Kind.WINNER]
    if not won:
        return _no_winner(findings)
    parts = [
        f"on {device} for {len(found):,} of {len(findings):,} {_pieces(len(findings))}, "
        f"{_range(found)} times as fast as {other}"
        for (device, other), found in ordered
    ]
    rest = f"; {_counted(open_ones)}" if open_ones else ""
    return f"Run it {'; '.join(parts)}{rest}."


def _no_winner(findings: list[_Finding]) -> str:
    """The same where no device won anything."""
    kinds = {finding.kind for finding in findings}
    # Of three devices two may be equal and the third slower.
    if kinds == {Kind.SAME} and all(len(each.devices) == len(each.rows) for each in findings):
        return "Run it anywhere: all that was measured here is equally fast, within noise."
    if kinds == {Kind.ALONE}:
        devices = sorted({device for finding in findings for device in finding.devices})
        return f"Only {_listed(devices)} was measured, so there is nothing to choose from."
    what = f"{len(findings):,} {_pieces(len(findings))}"
    start = "No single winner" if kinds == {Kind.SAME} else "Not settled here"
    return f"{start}: of {what}, {_counted(findings)}."


def _counted(findings: list[_Finding]) -> str:
    """How many findings there are of each kind, for the middle of a sentence."""
    counts = {kind: sum(finding.kind is kind for finding in findings) for kind in Kind}
    return _listed([COUNTED[kind].format(count) for kind, count in counts.items() if count])


def _finding(rows: list[Row]) -> _Finding:
    everyone = tuple(row.device for row in rows)
    best = [row for row in rows if row.winner]
    if len(rows) == 1:
        return _Finding(Kind.ALONE, everyone, None, tuple(rows))
    if rows[0].trust is Trust.RANGES_ONLY:
        return _Finding(Kind.NOISY, everyone, None, tuple(rows))
    if len(best) == 1 and (won := _won(best[0], rows)):
        return won
    contenders = tuple(row.device for row in best)
    # Rows are judged against the reference, so only a draw with it is known to be one.
    drawn = len(best) > 1 and all(row.verdict in (None, Verdict.SAME) for row in best)
    if drawn and rows[0].reference in contenders:
        return _Finding(Kind.SAME, contenders, None, tuple(rows))
    return _Finding(Kind.UNSURE, contenders if len(best) > 1 else everyone, None, tuple(rows))


def _won(best: Row, rows: list[Row]) -> _Finding | None:
    if best.ratio is not None:
        if best.verdict is not Verdict.FASTER:
            return None
        return _Finding(Kind.WINNER, (best.device, best.reference), best.ratio, tuple(rows))
    next_best = min(
        (row for row in rows if row is not best), key=lambda row: row.ns_per_message.median
    )
    if next_best.ratio is None or next_best.verdict is not Verdict.SLOWER:
        return None
    ratio = next_best.ratio.inverse()
    return _Finding(Kind.WINNER, (best.device, next_best.device), ratio, tuple(rows))


def _winner(found: list[_Finding], where: str) -> str:
    device, other = found[0].devices
    interval = "95 % interval" if len(found) == 1 else "95 % intervals"
    return f"Run it on {device} for {where}: {_range(found)} times as fast as {other} ({interval})."


def _range(found: list[_Finding]) -> str:
    ratios = [finding.ratio for finding in found if finding.ratio]
    low = min(ratios, key=lambda ratio: ratio.median)
    high = max(ratios, key=lambda ratio: ratio.median)
    return _times(low) if len(ratios) == 1 else f"{_times(low)} to {_times(high)}"


def _same(found: list[_Finding], where: str) -> str:
    floor = max(finding.rows[0].noise_floor for finding in found)
    return (
        f"For {where}, {_listed(found[0].devices)} are within noise "
        f"(noise floor {format_share(floor)}): either will do."
    )


def _unsure(found: list[_Finding], where: str) -> str:
    devices = _listed(found[0].devices)
    return f"For {where}, these samples don't settle it between {devices}: measure longer."


def _noisy(found: list[_Finding], where: str) -> str:
    floor = max(finding.rows[0].noise_floor for finding in found)
    return (
        f"For {where} there is no verdict: the same code differed from itself "
        f"by up to {format_share(min(1.0, floor))}."
    )


def _alone(found: list[_Finding], where: str) -> str:
    device = found[0].devices[0]
    return f"For {where} only {device} was measured, so there is nothing to choose from."


def _cautions(findings: list[_Finding]) -> Iterable[str]:
    busy = [
        finding
        for finding in findings
        if finding.kind is Kind.NOISY or any(row.machine_busy for row in finding.rows)
    ]
    careful = [finding for finding in findings if finding.rows[0].trust is Trust.CAUTION]
    if busy:
        yield (
            f"The machine was busy during {len(busy):,} of {len(findings):,} "
            f"{_pieces(len(findings))}: measure again when it is quiet."
        )
    if careful:
        floor = max(finding.rows[0].noise_floor for finding in careful)
        yield (
            f"Take {len(careful):,} of {len(findings):,} {_pieces(len(findings))} with care: "
            f"noise floor up to {format_share(floor)}."
        )


def _labeller(rows: Sequence[Row]) -> Callable[[list[_Finding]], str]:
    """Names pieces of work by what differs between them, runs of sizes as `16 to 256 B`."""
    sizes = sorted({row.size_bytes for row in rows})
    several = len({row.workload for row in rows}) > 1

    def qualifiers(finding: _Finding) -> str:
        row = finding.rows[0]
        alike = [other for other in rows if other.workload == row.workload]
        differing = [show(row) for show in QUALIFIERS if len({show(each) for each in alike}) > 1]
        return ", ".join([row.workload, *differing] if several else differing)

    def label(found: list[_Finding]) -> str:
        by_qualifier: dict[str, list[float]] = {}
        for finding in found:
            by_qualifier.setdefault(qualifiers(finding), []).append(finding.rows[0].size_bytes)
        parts = [
            f"{_sizes(those, sizes)} ({name})" if name else _sizes(those, sizes)
            for name, those in by_qualifier.items()
        ]
        return "; ".join(parts)

    return label


def _sizes(some: list[float], measured: list[float]) -> str:
    places = sorted({measured.index(size) for size in some})
    if len(places) > 2 and places[-1] - places[0] == len(places) - 1:
        return f"{format_size(measured[places[0]])} to {format_size(measured[places[-1]])} B"
    return _listed([format_size(measured[place]) for place in places]) + " B"


def _times(ratio: Interval) -> str:
    return (
        f"{format_measure(ratio.median)} "
        f"[{format_measure(ratio.low)}..{format_measure(ratio.high)}]"
    )


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _pieces(count: int) -> str:
    return "piece of work" if count == 1 else "pieces of work"


SENTENCES: dict[Kind, Callable[[list[_Finding], str], str]] = {
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
QUALIFIERS: tuple[Callable[[Row], str], ...] = (
    lambda row: f"keys {row.keys}",
    lambda row: f"mix {row.mix}",
    lambda row: "1 thread" if row.threads == 1 else f"{row.threads:,} threads",
    lambda row: f"batches of {row.batch:,}",
)
