"""Whether to trust a run, in four figures."""

from collections.abc import Mapping
from dataclasses import dataclass

from sealift.lab.crowding import is_crowded
from sealift.lab.experiments.memory_ceiling import EXPERIMENT as TRAFFIC
from sealift.lab.experiments.memory_ceiling import ceiling
from sealift.lab.experiments.memory_contention import EXPERIMENT as CONTENTION
from sealift.lab.experiments.memory_contention import ceilings
from sealift.lab.report import computed
from sealift.lab.report.markup import Html, tag
from sealift.lab.report.material import Material, Shown
from sealift.lab.report.words import counted, format_bytes
from sealift.lab.result import Origin
from sealift.lab.stats import Interval, Trust, median, trust
from sealift.lab.units import format_measure, format_range, format_share
from sealift.lab.unsettled import noise


def tiles(material: Material) -> Html:
    """Four figures that say how far the run can be trusted; of one that timed nothing, others."""
    if material.is_computed:
        return computed.tiles(material)
    made = [show(material).html() for show in (_noise, _unclean, _clock, _ceiling)]
    return tag("section", *made, class_="tiles", aria_label="How far this run can be trusted")


@dataclass(frozen=True)
class _Tile:
    id: str
    name: str
    value: str
    note: str
    colour: str = "plain"

    def html(self) -> Html:
        inside = (
            tag("h2", self.name),
            tag("p", self.value, class_="value"),
            tag("p", self.note, class_="muted"),
        )
        return tag("div", *inside, class_=f"tile {self.colour}", id=f"tile-{self.id}")


def _noise(material: Material) -> _Tile:
    heard = noise(material.rows)
    if heard is None:
        return _Tile("noise", "Noise floor", "not known", "nothing was measured twice")
    colour, said = TRUST[trust(heard.usual)]
    return _Tile("noise", "Noise floor", heard.usual_text, f"{heard.spread_text}{said}", colour)


def _unclean(material: Material) -> _Tile:
    name = "Samples that were not clean"
    # Threads that share the cores hide what something else does to them.
    rows = [row for row in material.rows if not is_crowded(row.cell)]
    blocks = sum(row.blocks for row in rows)
    if not blocks:
        return _Tile("clean", name, "not known", "nothing was measured")
    unclean = 1 - sum(row.clean_share * row.blocks for row in rows) / blocks
    colour = next(colour for most, colour in UNCLEAN if unclean <= most)
    note = "preempted, stolen or off-clock; kept in the file"
    return _Tile("clean", name, format_share(unclean), note, colour)


def _clock(material: Material) -> _Tile:
    name = "Clock while measuring"
    facts = material.run.machine.facts
    listed_mhz = facts["cpuinfo_clock_mhz"].value if "cpuinfo_clock_mhz" in facts else None
    beside = ""
    if isinstance(listed_mhz, int | float):
        beside = f"; /proc/cpuinfo says {listed_mhz / 1_000:.2f}"
    if not material.clocks_ghz:
        why = facts["core_clock_ghz"].reason if "core_clock_ghz" in facts else None
        note = f"{why or 'no sample was timed with it'}{beside}"
        return _Tile("clock", name, "not known", note)
    low, high = min(material.clocks_ghz), max(material.clocks_ghz)
    note = f"timed chain, {low:.2f} to {high:.2f}{beside}"
    return _Tile("clock", name, f"{median(material.clocks_ghz):.2f} GHz", note)


def _ceiling(material: Material) -> _Tile:
    name = "Memory ceiling"
    by_name = {each.experiment.name: each for each in material.shown if each.is_of_the_lab}
    if CEILING not in by_name and TRAFFIC.name in by_name:
        return _traffic(name, by_name[TRAFFIC.name])
    if CEILING not in by_name and CONTENTION.name in by_name:
        return _beside(name, by_name[CONTENTION.name])
    if CEILING not in by_name:
        return _Tile("memory", name, "not measured", f"{CEILING} is not in this run")
    shown = by_name[CEILING]
    ordered = sorted(shown.found.rows, key=lambda row: int(row.cell["buffer_bytes"]))
    rows = {int(row.cell["threads"]): row for row in ordered if row.payload_mb_per_s}
    speeds = {count: row.payload_mb_per_s for count, row in rows.items() if row.payload_mb_per_s}
    if not speeds:
        return _Tile("memory", name, "not measured", shown.why_not)
    least = rows[min(rows)]
    buffer = format_bytes(int(least.cell["buffer_bytes"]))
    return _speeds_tile(name, f"read loop, {buffer}, {least.origin.value} here", speeds)


def _traffic(name: str, shown: Shown) -> _Tile:
    """What memory moved at most of all kernels: the traffic, which is more than their payload."""
    counts = sorted({int(row.cell["threads"]) for row in shown.found.rows})
    most = {count: here for count in counts if (here := ceiling(shown.found, count))}
    if not most:
        return _Tile("memory", name, "not measured", shown.why_not)
    speeds = {count: here.interval for count, (_, here) in most.items()}
    kernel, _ = most[min(most)]
    return _speeds_tile(name, f"traffic, {kernel}, {Origin.MEASURED.value} here", speeds)


def _beside(name: str, shown: Shown) -> _Tile:
    """What all cores read together, as it is measured before streams stand beside others."""
    each = ceilings(shown.found)
    if not each:
        return _Tile("memory", name, "not measured", shown.why_not)
    ends = format_range(min(each), max(each))
    cells = counted(len(each), "cell", "cells")
    note = f"{ends} before {cells} of {shown.experiment.name}, read by all cores"
    return _Tile("memory", name, f"{format_measure(median(each))} GB/s", note)


def _speeds_tile(name: str, how: str, speeds: Mapping[int, Interval]) -> _Tile:
    least, most = min(speeds), max(speeds)
    beside = ""
    if most != least:
        value, ends = _gb_per_s(speeds[most])
        beside = f" ({value} {ends} with {most:,})"
    value, ends = _gb_per_s(speeds[least])
    note = f"{ends}, {how}, {counted(least, 'thread', 'threads')}{beside}"
    return _Tile("memory", name, f"{value} GB/s", note)


def _gb_per_s(mb_per_s: Interval) -> tuple[str, str]:
    """The median, and the ends of its interval."""
    speed = mb_per_s.scaled(1 / 1_000)
    return format_measure(speed.median), format_range(speed.low, speed.high)


CEILING = "memory-read"
TRUST = {
    Trust.GOOD: ("good", ""),
    Trust.CAUTION: ("caution", "; take small differences with care"),
    Trust.LOUD: ("bad", "; only what is far apart is told"),
}
UNCLEAN = ((0.05, "good"), (0.5, "caution"), (1.0, "bad"))
