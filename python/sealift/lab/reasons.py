"""Why the answer is so, on what it stands, and what may be wrong with it."""

from collections.abc import Callable, Iterable, Sequence

from sealift.lab.finding import Finding, Kind, batch_follows_size, listed, size_of
from sealift.lab.result import Row
from sealift.lab.stats import Interval, Trust
from sealift.lab.units import format_measure, format_share, format_size

Label = Callable[[Sequence[Finding]], str]
"""Names pieces of work; from `finding.labeller`."""


def causes(rows: Sequence[Row]) -> Iterable[str]:
    """What a message costs each device, and what each of its bytes: why the winner changes.

    Args:
        rows: Of devices by size.
    """
    rows = [row for row in rows if size_of(row) <= CACHED_BYTES]
    varied = {"size_bytes", "batch"} if batch_follows_size(rows) else {"size_bytes"}
    series: dict[object, list[Row]] = {}
    for row in rows:
        rest = tuple(sorted((k, v) for k, v in row.cell.items() if k not in varied))
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


def sentences(everything: Sequence[Finding], label: Label) -> list[str]:
    """What was found, a sentence for each kind and device, the most useful first."""
    grouped: dict[tuple[Kind, tuple[str, ...]], list[Finding]] = {}
    for finding in everything:
        grouped.setdefault((finding.kind, finding.devices), []).append(finding)
    ordered = sorted(grouped.items(), key=lambda item: list(Kind).index(item[0][0]))
    return [SENTENCES[kind](found, label(found)) for (kind, _), found in ordered]


def doubts(everything: Sequence[Finding]) -> Iterable[str]:
    """What may be wrong with it: noise, other work on the machine, drift."""
    total = f"{len(everything):,} {pieces(len(everything))}"
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


def range_text(found: Sequence[Finding]) -> str:
    """How many times as fast the winners are: one ratio, or the least and the most."""
    ratios = [finding.ratio for finding in found if finding.ratio]
    low = min(ratios, key=lambda ratio: ratio.median)
    high = max(ratios, key=lambda ratio: ratio.median)
    return _times(low) if len(ratios) == 1 else f"{_times(low)} to {_times(high)}"


def intervals_text(found: Sequence[Finding]) -> str:
    """What stands behind the brackets of `range_text`."""
    return "(95 % interval)" if len(found) == 1 else "(95 % intervals)"


def pieces(count: int) -> str:
    """The noun for a number of them."""
    return "piece of work" if count == 1 else "pieces of work"


def _winner(found: Sequence[Finding], where: str) -> str:
    device, other = found[0].devices
    times = f"{range_text(found)} times as fast as {other} {intervals_text(found)}"
    return f"{device} wins for {where}: {times}."


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


def _times(ratio: Interval) -> str:
    return (
        f"{format_measure(ratio.median)} "
        f"[{format_measure(ratio.low)}..{format_measure(ratio.high)}]"
    )


# Between sizes nearer than this a byte's cost is lost in the noise of a message's.
WIDE = 8
# Batches of larger messages come from memory, and then a byte costs another price.
CACHED_BYTES = 65_536
SENTENCES: dict[Kind, Callable[[Sequence[Finding], str], str]] = {
    Kind.WINNER: _winner,
    Kind.SAME: _same,
    Kind.UNSURE: _unsure,
    Kind.NOISY: _noisy,
    Kind.ALONE: _alone,
}
