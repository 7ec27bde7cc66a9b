"""Where DPUs, projected, do more than the cores that the same run measured."""

from collections.abc import Iterator, Mapping

from sealift.lab.dpus.cores import Cores
from sealift.lab.dpus.projected import FROM_HOST, HAZARD_IN_MRAM, IN_MRAM
from sealift.lab.result import Found
from sealift.lab.values import Value

Bracket = tuple[float, float]
"""GB/s with the hazard of register banks, and without."""


def projected(beside: Mapping[str, Found], kernel: str) -> Mapping[str, float]:
    """GB/s of a kernel by system and place of its data, from the projection of the same run.

    Args:
        beside: What the experiments of the run found.
        kernel: Its title.
    """
    return {
        f"{system}, {place}": float(facts[column])
        for system, facts in _of(beside.get(PROJECTION), kernel)
        for place, column in PLACES.items()
        if column in facts
    }


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
    """How many measured cores systems of DPUs stand for; "" where the run has no projection.

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
    if not told:
        return ""
    return f"Projected, in cores as fast as one alone was measured here: {'; '.join(told)}"


def bracket_text(ends: Bracket) -> str:
    """Both ends, with the digits that a projection has."""
    return " to ".join(dict.fromkeys(f"{each:.3g}" for each in ends))


def _of(found: Found | None, kernel: str) -> Iterator[tuple[str, Mapping[str, Value]]]:
    for each in found.verified if found else ():
        if each.facts and each.cell.get("kernel") == kernel:
            yield str(each.cell["system"]), each.facts


PROJECTION = "dpu-projection"
IN_PLACE, THERE_AND_BACK = "data in MRAM", "data in host memory and back (SDK)"
PLACES = {IN_PLACE: IN_MRAM, THERE_AND_BACK: FROM_HOST["SDK"]}
BRACKETS = {
    IN_PLACE: (HAZARD_IN_MRAM, IN_MRAM),
    THERE_AND_BACK: (f"{FROM_HOST['SDK']}, with the hazard", FROM_HOST["SDK"]),
}
