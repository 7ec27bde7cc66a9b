"""Where DPUs, projected, do more than the cores that the same run measured."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isinf

from sealift.lab.dpus.projected import FROM_HOST, HAZARD_IN_MRAM, IN_MRAM
from sealift.lab.result import Found
from sealift.lab.units import format_measure
from sealift.lab.values import Value


@dataclass(frozen=True)
class Cores:
    """What a machine's cores were measured to seal from memory, in MB/s.

    Attributes:
        count: How many there are.
        alone: One of them, the others idle.
        contended: One of them beside full streams; 0 where that was not measured.
        together: All of them.
        alone_most: The upper end of what one alone does; infinite where that is not settled.
    """

    count: int
    alone: float
    contended: float
    together: float
    alone_most: float

    def beside(self, gb_per_s: float) -> str:
        """What so much is, beside them."""
        mb_per_s = 1_000 * gb_per_s
        if mb_per_s > self.together and self.count > 1:
            together = format_measure(self.together / 1_000)
            return f"more than the {together} GB/s of all {self.count} cores together"
        if mb_per_s > self.alone:
            return "more than one core"
        if mb_per_s > self.contended > 0:
            return "more than one core only while others stream"
        return "less than one core"

    def needed(self, gb_per_s: float) -> float:
        """How many cores, as fast as one alone, do so much."""
        return 1_000 * gb_per_s / self.alone


def projected(beside: Mapping[str, Found], kernel: str) -> Mapping[str, float]:
    """GB/s of a kernel by system and place of its data, from the projection of the same run.

    Args:
        beside: What the experiments of the run found.
        kernel: Its title.
    """
    return {
        f"{system}, {place}": float(facts[column])
        for system, facts in _of(beside, kernel)
        for place, column in PLACES.items()
        if column in facts
    }


def crossing(beside: Mapping[str, Found], cores: Cores, kernel: str = "GCM, one key") -> str:
    """When processing in memory pays, in a sentence; "" where the run has no projection.

    Args:
        beside: What the experiments of the run found.
        cores: What was measured.
        kernel: The one that does what the cores did.
    """
    told = [
        _told(system, place, (float(facts[low]), float(facts[high])), cores)
        for system, facts in _of(beside, kernel)
        for place, (low, high) in BRACKETS.items()
        if low in facts and high in facts
    ]
    if not told:
        return ""
    projection = f"Projected, against these measured cores: {'; '.join(told)}"
    if isinf(cores.alone_most):
        return (
            f"{projection}. But what one core does is not settled here, so neither is when "
            "processing in memory pays: a longer run on a quieter machine may tell"
        )
    return (
        f"{projection}. So, beside one core that nobody disturbs, processing in memory pays "
        f"{_pays(beside, cores, kernel)}"
    )


def _of(beside: Mapping[str, Found], kernel: str) -> Iterator[tuple[str, Mapping[str, Value]]]:
    found = beside.get(PROJECTION)
    for each in found.verified if found else ():
        if each.facts and each.cell.get("kernel") == kernel:
            yield str(each.cell["system"]), each.facts


def _told(system: str, place: str, bracket: tuple[float, float], cores: Cores) -> str:
    low, high = bracket
    ends = dict.fromkeys(cores.beside(end) for end in bracket)
    return (
        f"{system} with {place} {format_measure(low)} to {format_measure(high)} GB/s, as "
        f"{cores.needed(low):.2f} to {cores.needed(high):.2f} cores: {' or '.join(ends)}"
    )


def _pays(beside: Mapping[str, Found], cores: Cores, kernel: str) -> str:
    """Where even the lower end of a bracket is more than one core that nobody disturbs."""
    pays = [
        f"{system} for {place}"
        for system, facts in _of(beside, kernel)
        for place, (low, _) in BRACKETS.items()
        if low in facts and 1_000 * float(facts[low]) > cores.alone_most
    ]
    if not pays:
        return "nowhere; it only frees cores that have other work"
    return f"with {' and '.join(pays)}, and otherwise only frees cores that have other work"


PROJECTION = "dpu-projection"
IN_PLACE, THERE_AND_BACK = "data in MRAM", "data in host memory and back (SDK)"
PLACES = {IN_PLACE: IN_MRAM, THERE_AND_BACK: FROM_HOST["SDK"]}
BRACKETS = {
    IN_PLACE: (HAZARD_IN_MRAM, IN_MRAM),
    THERE_AND_BACK: (f"{FROM_HOST['SDK']}, with the hazard", FROM_HOST["SDK"]),
}
