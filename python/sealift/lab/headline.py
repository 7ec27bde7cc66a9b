"""The recommendation: for which piece of work, where to run it, and how sure that is."""

import math
from collections.abc import Iterator, Sequence

from sealift.lab.crowding import LOAD, Load
from sealift.lab.finding import Finding, Kind
from sealift.lab.grid import LOGGED, MANY_KEYS, STATED, STATED_BYTES
from sealift.lab.stats import Interval
from sealift.lab.units import format_count, format_noise, format_short
from sealift.lab.unsettled import why_open
from sealift.lab.values import Cell
from sealift.lab.vega import format_bytes
from sealift.lab.wording import any_of, run_on, same_but_size, short_name


def choose(everything: Sequence[Finding]) -> Finding | None:
    """The piece of work that the headline is for: the first one that is settled, or else the first.

    In this order: messages of 128 bytes, or else of the size next to it, because that is what the
    field compares; those of document 003 as stated before others; 1,024 sessions before other
    keys; a thread a core before other thread counts, and else few. None where there is nothing.
    """
    ranked = sorted(everything, key=_rank)
    return next((each for each in ranked if each.kind in SETTLED), ranked[0] if ranked else None)


def where(chosen: Finding, everything: Sequence[Finding]) -> str:
    """Where to run the chosen work, and where other work that another device wins."""
    if chosen.kind in (Kind.UNSURE, Kind.NOISY):
        named = any_of([short_name(each) for each in chosen.devices])
        return f"Not settled: {named} ({why_open(chosen)})"
    told = run_on(chosen.devices[:1] if chosen.winner else chosen.devices)
    if chosen.kind is Kind.ALONE:
        return f"{told}, the only device measured"
    if chosen.kind is Kind.SAME:
        # Each was judged against the reference, so of two others nothing more is known.
        those = (
            "they differ" if len(chosen.devices) == 2 else f"each differs from {_reference(chosen)}"
        )
        return f"{told}: {those} by less than {format_noise(chosen.smallest_difference)}"
    others = [each for each in everything if each is not chosen]
    contrary: dict[str, list[Finding]] = {}
    for each in others:
        if each.winner not in (None, chosen.winner):
            contrary.setdefault(str(each.winner), []).append(each)
    spans = [f"{short_name(name)} {_span(chosen, contrary[name], others)}" for name in contrary]
    if len(spans) > SPANS_MOST:
        lost = sum(map(len, contrary.values()))
        spans = [f"other devices for {lost:,} of {len(others):,} other workloads"]
    return "; ".join([told, *spans])


def figure(chosen: Finding) -> str:
    """How many times as fast the winner is as the next, with the 95 % interval.

    Without a winner that of a device and the reference; of a device alone its rate.
    """
    if chosen.winner and chosen.ratio:
        return f"{times(chosen.ratio, chosen.devices[1])}"
    row = next((row for row in chosen.rows if row.ratio), None)
    if row is None or row.ratio is None:
        rate = chosen.rows[0].operations_per_s
        ends = f"[{format_count(rate.low)}–{format_count(rate.high)}]"
        return f"{format_count(rate.median)} messages/s {ends}"
    return f"{short_name(str(row.subject))} {times(row.ratio, str(row.reference))}"


def times(ratio: Interval, other: str) -> str:
    """`2.55× AWS-LC [2.46–2.60]`."""
    ends = f"[{format_short(ratio.low)}–{format_short(ratio.high)}]"
    return f"{format_short(ratio.median)}× {short_name(other)} {ends}"


def care(chosen: Finding, everything: Sequence[Finding]) -> Iterator[str]:
    """Reasons to take the headline with care, the weightiest first."""
    others = [each for each in everything if each is not chosen]
    if chosen.kind in SETTLED and any(row.machine_busy for row in chosen.rows):
        yield "The machine was busy: measure again."
    if chosen.kind not in SETTLED and (won := _won(others)):
        yield f"Of {len(others):,} other workloads {won}."
    if count := sum(each.kind in (Kind.UNSURE, Kind.NOISY) for each in others):
        yield f"Not settled: {count:,} of {len(others):,} other workloads."
    drifting = [each for each in everything if not all(row.steady for row in each.rows)]
    if drifting:
        yield f"Speeds drifted during {len(drifting):,} of {len(everything):,} workloads."


def _rank(finding: Finding) -> tuple[float, ...]:
    row = finding.rows[0]
    cell, load = row.cell, row.cell.get(LOAD.name)
    return (
        abs(math.log(max(1.0, finding.size_bytes) / STATED_BYTES)),
        {STATED: 0, LOGGED: 2}.get(str(cell["workload"]), 1),
        cell["keys"] != str(MANY_KEYS),
        load is not None and load != Load.ALL,
        int(cell["threads"]),
    )


def _span(chosen: Finding, those: Sequence[Finding], others: Sequence[Finding]) -> str:
    """`from 8 KiB`, where one device won all sizes there and nothing else; else how much it won.

    It says nothing of sizes beyond the measured ones.
    """
    line = [each for each in others if same_but_size(_work(chosen), _work(each))]
    sizes = [each.size_bytes for each in those]
    if min(sizes) > chosen.size_bytes:
        there = [each for each in line if each.size_bytes >= min(sizes)]
        told = f"from {format_bytes(min(sizes))}"
    else:
        there = [each for each in line if each.size_bytes <= max(sizes)]
        told = f"up to {format_bytes(max(sizes))}"
    if there == list(those):
        return told
    return f"for {len(those):,} of {len(others):,} other workloads"


def _reference(finding: Finding) -> str:
    return short_name(str(finding.rows[0].reference))


def _work(finding: Finding) -> Cell:
    return dict(finding.rows[0].work)


def _won(others: Sequence[Finding]) -> str:
    won = [each.winner for each in others if each.winner]
    counts = sorted({name: won.count(name) for name in won}.items(), key=lambda item: -item[1])
    return ", ".join(f"{short_name(name)} won {count:,}" for name, count in counts)


SPANS_MOST = 2
SETTLED = (Kind.WINNER, Kind.SAME)
