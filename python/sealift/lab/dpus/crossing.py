"""Where DPUs, projected, do more than the cores that the same run measured."""

from collections.abc import Iterator, Mapping, Sequence

from sealift.lab.dpus.cores import CIPHER, STREAMS, THREADS, Cores, speed
from sealift.lab.dpus.projected import FROM_HOST, HAZARD_IN_MRAM, IN_MRAM
from sealift.lab.result import Found, Origin, Row
from sealift.lab.values import Value
from sealift.lab.vega import Chart, Labels, Point, Scales

Bracket = tuple[float, float]
"""GB/s with the hazard of register banks, and without."""


def brackets(found: Found | None, kernel: str) -> dict[str, dict[str, Bracket]]:
    """By place of the data and by system what a kernel is projected to do.

    Args:
        found: By `dpu-projection`; None where a run has none.
        kernel: Its title.
    """
    return {
        place: by_system
        for place, (low, high) in BRACKETS.items()
        if (
            by_system := {
                system: (float(facts[low]), float(facts[high]))
                for system, facts in _of(found, kernel)
                if low in facts and high in facts
            }
        )
    }


def standing(beside: Mapping[str, Found], cores: Cores, kernel: str) -> str:
    """How many measured cores systems of DPUs stand for; "" where nothing settled tells that.

    Args:
        beside: What the experiments of the run found.
        cores: What was measured.
        kernel: The one that does what the cores did.
    """
    told = [
        f"{system} with {place} {bracket_text(ends)} GB/s, as {cores.needed(ends[0]):.2f} to "
        f"{cores.needed(ends[1]):.2f} cores"
        for place, by_system in brackets(beside.get(PROJECTION), kernel).items()
        for system, ends in by_system.items()
    ]
    if not told or cores.alone.doubt or cores.alone.noise_text:
        return ""
    return f"Projected, in cores as fast as one alone was measured here: {'; '.join(told)}"


def chart(found: Found, cipher: str, kernel: str) -> Chart | None:
    """Cores as they were measured beside DPUs as they are projected; None without measured ones.

    Args:
        found: By `memory-contention`, and beside it the projection, where that ran.
        cipher: What the cores did.
        kernel: What does it on DPUs.
    """
    measured = [row for row in found.rows if row.cell.get(CIPHER.name) == cipher]
    points = [*_measured(found, measured), *_projected(found.beside.get(PROJECTION), kernel)]
    if all(each.origin is Origin.PROJECTED for each in points):
        return None
    labels = Labels(
        title=f"The line to cross: {cipher} from memory",
        x="",
        y="GB/s",
        series="ends",
        interval="ends",
    )
    return Chart(points, labels, Scales(log_y=True))


def _measured(found: Found, rows: Sequence[Row]) -> Iterator[Point]:
    for row in rows:
        if each := speed(found, row.cell):
            median, least, most = (mb / 1_000 for mb in (each.median, each.least, each.most))
            yield Point(_name(row), median, least, most, "measured here, 95 % interval")


def _projected(found: Found | None, kernel: str) -> Iterator[Point]:
    for place, by_system in brackets(found, kernel).items():
        for system, (low, high) in by_system.items():
            name = f"{system.partition(' at ')[0]}, {SHORT[place]}"
            yield Point(name, high, low, high, BRACKET, Origin.PROJECTED)


def _name(row: Row) -> str:
    threads, percent = int(row.cell[THREADS.name]), row.cell[STREAMS.name]
    cores = "1 core" if threads == 1 else f"{threads} cores"
    return f"{cores} beside streams for {percent} %" if percent else cores


def bracket_text(ends: Bracket) -> str:
    """Both ends, with the digits that a projection has."""
    return " to ".join(dict.fromkeys(f"{each:.3g}" for each in ends))


def _of(found: Found | None, kernel: str) -> Iterator[tuple[str, Mapping[str, Value]]]:
    for each in found.verified if found else ():
        if each.facts and each.cell.get("kernel") == kernel:
            yield str(each.cell["system"]), each.facts


PROJECTION = "dpu-projection"
IN_PLACE, THERE_AND_BACK = "data in MRAM", "data in host memory and back (SDK)"
SHORT = {IN_PLACE: "MRAM", THERE_AND_BACK: "host and back"}
BRACKET = "projected, with to without hazard"
BRACKETS = {
    IN_PLACE: (HAZARD_IN_MRAM, IN_MRAM),
    THERE_AND_BACK: (f"{FROM_HOST['SDK']}, with the hazard", FROM_HOST["SDK"]),
}
