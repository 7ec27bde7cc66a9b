"""The answer in one line: which piece of work it is for, where to run that, and how fast it is."""

import math
from collections.abc import Sequence
from itertools import takewhile

from sealift.lab.crowding import LOAD, Load
from sealift.lab.finding import Finding, Kind, listed
from sealift.lab.grid import LOGGED, MANY_KEYS, STATED, STATED_BYTES
from sealift.lab.reasons import SETTLED, Label, alike_text, pieces, range_text
from sealift.lab.result import Row
from sealift.lab.stats import Interval
from sealift.lab.units import format_measure, format_range, format_size
from sealift.lab.unsettled import ratios_seen, why_open
from sealift.lab.values import Cell
from sealift.lab.wording import named, same_but_size


def choose(everything: Sequence[Finding]) -> Finding:
    """The piece of work that the headline is for: the first one that is settled, or else the first.

    In this order: messages of 128 bytes, or else of the size next to it, because that is what the
    field compares; those of document 003 as stated before others; 1,024 sessions before other
    keys; a thread a core before other thread counts, and else few.

    Args:
        everything: At least one.
    """
    ranked = sorted(everything, key=_rank)
    return next((each for each in ranked if each.kind in SETTLED), ranked[0])


def passed_over(chosen: Finding, everything: Sequence[Finding]) -> str:
    """What comes before the chosen work and is not settled, why, and what was seen; or ""."""
    before = list(takewhile(lambda each: each is not chosen, sorted(everything, key=_rank)))
    if not before:
        return ""
    first, more = before[0], len(before) - 1
    seen = ratios_seen([first]) or f"{first.devices[0]} {_rate(first.rows[0])} {_intervals(1)}"
    told = f"Not settled: {named(first.rows[0])} ({why_open(first)}): {seen}"
    return f"{told}; nor {more:,} more {pieces(more)} before this one." if more else f"{told}."


def where(chosen: Finding, everything: Sequence[Finding], label: Label) -> str:
    """Where to run the chosen work, and for which other work another device was shown to win.

    With a word on the machine where that was busy with something else meanwhile.
    """
    told = _where(chosen, everything, label)
    busy = chosen.kind in SETTLED and any(row.machine_busy for row in chosen.rows)
    return f"{told} {BUSY}" if busy else told


def _where(chosen: Finding, everything: Sequence[Finding], label: Label) -> str:
    others = [finding for finding in everything if finding is not chosen]
    if chosen.winner is None:
        return _no_winner(chosen)
    contrary: dict[str, list[Finding]] = {}
    for finding in others:
        if finding.winner not in (None, chosen.winner):
            contrary.setdefault(str(finding.winner), []).append(finding)
    if not contrary:
        return f"Run it on {chosen.winner}."
    spans = {device: _span(chosen, those, others) for device, those in contrary.items()}
    if all(spans.values()):
        size = format_size(chosen.size_bytes)
        told = [f"{span} on {device}" for device, span in spans.items()]
        return f"For {size} B run it on {chosen.winner}, {listed(told)}."
    told = [_on(device, those, others, label) for device, those in contrary.items()]
    return f"Run it on {chosen.winner}; but {listed(told)}."


def speed(chosen: Finding) -> str:
    """How fast the winner is and how much faster; without one how fast each of them is."""
    if not chosen.winner:
        told = [f"{row.subject} {_rate(row)}" for row in chosen.rows]
        return f"{'; '.join(told)} {_intervals(len(told))}."
    device, other = chosen.devices
    row = next(row for row in chosen.rows if row.subject == device)
    times = f"{range_text([chosen])} times as fast as {other}"
    return f"{_rate(row)}, {times} {_intervals(2)}."


def next_best(chosen: Finding, everything: Sequence[Finding]) -> str:
    """What else there is.

    The fastest of those that did not win, by its median, where it isn't in `speed` already;
    without a winner how often each device won other pieces of work.
    """
    if not chosen.winner:
        return _elsewhere([finding for finding in everything if finding is not chosen])
    others = [row for row in chosen.rows if row.subject != chosen.winner]
    best = min(others, key=lambda row: row.ns_per_operation.median)
    if str(best.subject) in chosen.devices:
        return ""
    return f"Next best: {best.subject}, {_rate(best)} {_intervals(1)}."


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
    """`from 8,192 B`, where one device won all of the sizes there, and nothing but those.

    It says nothing of sizes beyond the measured ones: the crossover names their range.
    """
    line = [each for each in others if same_but_size(_work(chosen), _work(each))]
    sizes = [each.size_bytes for each in those]
    if min(sizes) > chosen.size_bytes:
        there = [each for each in line if each.size_bytes >= min(sizes)]
        told = f"from {format_size(min(sizes))} B"
    else:
        there = [each for each in line if each.size_bytes <= max(sizes)]
        told = f"up to {format_size(max(sizes))} B"
    return told if there == list(those) else ""


def _work(finding: Finding) -> Cell:
    return dict(finding.rows[0].work)


def _on(device: str, those: Sequence[Finding], others: Sequence[Finding], label: Label) -> str:
    named = label(those)
    if len(named) > NAME_LONGEST:
        named = f"{len(those):,} of {len(others):,} other {pieces(len(others))}"
    return f"on {device} for {named}"


def _no_winner(chosen: Finding) -> str:
    devices = listed(chosen.devices)
    if chosen.kind is Kind.ALONE:
        return f"Only {devices} was measured, so there is nothing to choose from."
    if chosen.kind is Kind.NOISY:
        return "Not settled here: there was too much noise."
    if chosen.kind is Kind.UNSURE and any(row.machine_busy for row in chosen.rows):
        return f"Not settled here between {devices}: the machine was busy."
    if chosen.kind is Kind.UNSURE:
        return f"Not settled here between {devices}: longer samples are needed."
    # Of three devices two may be equal and the third slower.
    return f"{'Either' if len(chosen.devices) == 2 else 'Any'} will do: {alike_text([chosen])}."


def _elsewhere(others: Sequence[Finding]) -> str:
    won: dict[str, int] = {}
    for finding in others:
        if finding.winner:
            won[finding.winner] = won.get(finding.winner, 0) + 1
    if not won:
        return ""
    ordered = sorted(won.items(), key=lambda item: -item[1])
    told = listed([f"{device} won {count:,}" for device, count in ordered])
    return f"Of {len(others):,} other {pieces(len(others))} {told}."


def _rate(row: Row) -> str:
    payload = row.payload_mb_per_s
    beside = f" ({format_measure(payload.median)} MB/s)" if payload else ""
    return f"{_messages(row.operations_per_s)}{beside}"


def _messages(rate: Interval) -> str:
    """`15.90 million [14.39..18.70] messages/s`; slow ones without the million."""
    unit, name = (MILLION, " million") if rate.median >= MILLION else (1, "")
    ends = format_range(rate.low / unit, rate.high / unit)
    return f"{format_measure(rate.median / unit)}{name} {ends} messages/s"


def _intervals(count: int) -> str:
    return "(95 % interval)" if count == 1 else "(95 % intervals)"


MILLION = 1_000_000
BUSY = "(The machine was busy while this was measured.)"
# A headline is read in one go; the rest stands in the details.
NAME_LONGEST = 60
