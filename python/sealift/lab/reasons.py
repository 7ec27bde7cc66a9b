"""On what the answer stands, what the devices cost, and what may be wrong with it."""

from collections.abc import Callable, Collection, Iterable, Sequence

from sealift.lab.devices import Found as Device
from sealift.lab.finding import Finding, Kind, findings, listed, size_of
from sealift.lab.result import Row
from sealift.lab.stats import Interval, Trust
from sealift.lab.stats.verdicts import CAUTION_FLOOR, LOUD_FLOOR
from sealift.lab.units import format_estimate, format_share, format_size
from sealift.lab.unsettled import least_and_most, ratios_seen, why_open
from sealift.lab.wording import constants_text

Label = Callable[[Sequence[Finding]], str]
"""Names pieces of work; from `finding.labeller`."""


def costs(rows: Sequence[Row]) -> Iterable[str]:
    """What a message costs each device, and what each of its bytes.

    Of the first key regime and thread count that allow to say it: both ends have a verdict, lie
    far apart and in batches of one length, and the intervals leave no doubt that bytes cost time.

    Args:
        rows: Of devices by size.
    """
    lines: dict[object, list[Finding]] = {}
    for finding in findings([row for row in rows if size_of(row) <= CACHED_BYTES]):
        if finding.kind in SETTLED:
            rest = [item for item in finding.rows[0].work if item[0] != "size_bytes"]
            lines.setdefault(tuple(rest), []).append(finding)
    for line in lines.values():
        ordered = sorted(line, key=lambda finding: finding.size_bytes)
        told = list(_costs(ordered[0], ordered[-1]))
        if told and all(told):
            yield _cost_text(ordered[0], ordered[-1], told)
            return


def _costs(first: Finding, last: Finding) -> Iterable[str]:
    """Of each device in words; "" where nothing can be said of it."""
    if last.size_bytes < WIDE * first.size_bytes:
        return
    ends = {row.subject: row.ns_per_operation for row in last.rows}
    for row in first.rows:
        near, far = row.ns_per_operation, ends.get(row.subject)
        if far is None or far.low <= near.high:
            yield ""
            continue
        more = last.size_bytes - first.size_bytes
        dearer_ns = (far.median - near.median, far.low - near.high, far.high - near.low)
        a_byte = format_estimate(*(each / more for each in dearer_ns))
        yield f"{row.subject} about {_times(near)} ns, and {a_byte} ns for each byte more"


def _cost_text(first: Finding, last: Finding, told: Sequence[str]) -> str:
    batch = int(first.rows[0].cell["batch"])
    at_once = f"in a batch of {batch:,}" if batch > 1 else "handed over alone"
    under = constants_text([row for each in (first, last) for row in each.rows])
    return (
        f"What a message costs ({under}): one of {format_size(first.size_bytes)} B {at_once} takes "
        f"{'; '.join(told)} up to {format_size(last.size_bytes)} B (95 % intervals)."
    )


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
    noisy = [each for each in everything if each.kind is Kind.NOISY]
    busy = [each for each in everything if any(row.machine_busy for row in each.rows)]
    doubted = [finding for finding in everything if finding.rows[0].trust is not Trust.GOOD]
    careful = [finding for finding in doubted if finding.kind is not Kind.NOISY]
    drifting = [each for each in everything if not all(row.steady for row in each.rows)]
    if noisy:
        yield (
            f"{len(noisy):,} of {total} without a verdict: the same code differed from itself by "
            f"more than {LOUD_FLOOR * 100:.0f} %."
        )
    if busy:
        yield (
            f"The machine was busy during {len(busy):,} of {total}: measure again when it is quiet."
        )
    if careful:
        yield (
            f"Take {len(careful):,} of {total} with care: noise floor over "
            f"{CAUTION_FLOOR * 100:.0f} %."
        )
    if drifting:
        yield (
            f"Times still drifted at the end of {len(drifting):,} of {total}: "
            "measure longer, and look at the clock and at what else runs."
        )


def accelerators(devices: Sequence[Device], measured: Collection[str]) -> str:
    """Why no accelerator is in the answer; "" where one is, or the devices are not known.

    Args:
        devices: Every driver's, as the run's machine has them.
        measured: The devices that the answer is among.
    """
    others = [each for each in devices if each.driver not in ON_THE_CPU and not each.is_incomplete]
    if not devices or {each.driver for each in others} & {_driver(spec) for spec in measured}:
        return ""
    among = f"so the answer is among what runs on the CPU: {listed(sorted(set(measured)))}."
    if not others:
        return f"No real accelerator has a driver in this version, {among}"
    absent = [f"{each.spec}: {each.reason}" for each in others if each.reason]
    if len(absent) == len(others):
        return f"No accelerator is present ({'; '.join(absent)}), {among}"
    present = listed([each.spec for each in others if not each.reason])
    return f"No accelerator was measured, though {present} could be, {among}"


def alike_text(found: Sequence[Finding]) -> str:
    """By how much devices differ at most that were shown to be the same.

    Each was judged against the reference, so of two others nothing more is known.

    Args:
        found: Draws between the same devices.
    """
    least = format_share(max(finding.smallest_difference for finding in found))
    reference = str(found[0].rows[0].reference)
    others = [device for device in found[0].devices if device != reference]
    if len(others) == 1:
        return f"{listed(found[0].devices)} differ by less than {least}"
    return f"{listed(others)} each differ from {reference} by less than {least}"


def range_text(found: Sequence[Finding]) -> str:
    """How many times as fast the winners are: one ratio, or the least and the most."""
    return least_and_most([finding.ratio for finding in found if finding.ratio])


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
    return f"For {where}, {alike_text(found)}: either will do."


def _unsure(found: Sequence[Finding], where: str) -> str:
    devices = listed(found[0].devices)
    reasons = dict.fromkeys(why_open(finding) for finding in found)
    return (
        f"For {where}, these samples don't settle it between {devices} ({', '.join(reasons)}): "
        f"{ratios_seen(found)}."
    )


def _noisy(found: Sequence[Finding], where: str) -> str:
    return (
        f"For {where} there is no verdict (noise floor over {LOUD_FLOOR * 100:.0f} %): "
        f"{ratios_seen(found)}."
    )


def _alone(found: Sequence[Finding], where: str) -> str:
    device = found[0].devices[0]
    return f"For {where} only {device} was measured, so there is nothing to choose from."


def _times(ratio: Interval) -> str:
    return format_estimate(ratio.median, ratio.low, ratio.high)


def _driver(spec: str) -> str:
    return spec.partition(":")[0]


# Drivers that work on the processor itself; every other one is an accelerator's.
ON_THE_CPU = frozenset({"cpu", "library", "reference", "null"})
# Between sizes nearer than this a byte's cost is lost in the noise of a message's.
WIDE = 8
# Batches of larger messages come from memory, and then a byte costs another price.
CACHED_BYTES = 65_536
SETTLED = (Kind.WINNER, Kind.SAME)
SENTENCES: dict[Kind, Callable[[Sequence[Finding], str], str]] = {
    Kind.WINNER: _winner,
    Kind.SAME: _same,
    Kind.UNSURE: _unsure,
    Kind.NOISY: _noisy,
    Kind.ALONE: _alone,
}
