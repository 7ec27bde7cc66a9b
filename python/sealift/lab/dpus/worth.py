"""When processing in memory pays, in a sentence, from the figures of one run."""

from collections.abc import Iterator, Mapping

from sealift.lab.dpus.cores import GCM, Cores, cores_of
from sealift.lab.dpus.crossing import (
    IN_PLACE,
    PROJECTION,
    THERE_AND_BACK,
    Bracket,
    bracket_text,
    brackets,
)
from sealift.lab.result import Found, Lead


def worth(found: Found, kernel: str) -> Lead | None:
    """Against which cores DPUs pay, by where data lie; None where nothing was projected.

    DPUs pay where the lower end of what they are projected to do lies above the upper end of what
    cores were measured to do, and don't where its upper end lies below their lower one.

    Args:
        found: By `dpu-projection`, and beside it by `memory-contention`, where that ran.
        kernel: The one that does what the cores did.
    """
    by_place = brackets(found, kernel)
    if not by_place:
        return None
    measured = found.beside.get(CORES)
    cores = cores_of(measured) if measured else None
    if cores is None:
        return Lead(QUESTION, UNMEASURED, _pays_below(by_place), f"{_projected(by_place)} {ADD}")
    return Lead(
        QUESTION,
        MEASURED,
        f"{REGIME}: {'; '.join(_clauses(by_place, cores))}.",
        f"{_projected(by_place)} {_measured(cores)}",
    )


def _clauses(by_place: Mapping[str, Mapping[str, Bracket]], cores: Cores) -> Iterator[str]:
    for place, by_system in by_place.items():
        said: dict[str, list[str]] = {}
        for system, ends in by_system.items():
            said.setdefault(_verdict(ends, cores), []).append(_short(system))
        told = [f"{' and '.join(systems)} {verdict}" for verdict, systems in said.items()]
        yield f"with {EXPLAINED[place]} {', '.join(told)}"


def _verdict(ends: Bracket, cores: Cores) -> str:
    low, high = (1_000 * gb_per_s for gb_per_s in ends)
    if cores.alone.doubt:
        return f"are not settled (one core here: {cores.alone.doubt})"
    alone, together = cores.alone, cores.together
    if together.is_below(low) and not together.doubt:
        return f"pay against {cores.together_text}"
    if alone.is_below(low):
        apart = together.is_above(high) and not together.doubt
        return f"pay against one core here{f', not against all {cores.count}' if apart else ''}"
    if alone.is_above(high):
        return "don't pay against one core here"
    if alone.is_above(low) and alone.is_below(high):
        return "pay against one core here or don't, by how the hazard is modelled"
    noise = f" ({alone.noise_text})" if alone.noise_text else ""
    return f"are not told apart from one core here{noise}"


def _pays_below(by_place: Mapping[str, Mapping[str, Bracket]]) -> str:
    told = [
        f"with {EXPLAINED[place]} "
        + " and ".join(
            f"{_short(system)} beat any CPU slower than {low:.3g} GB/s"
            for system, (low, _) in each.items()
        )
        for place, each in by_place.items()
    ]
    return f"{REGIME}: {'; '.join(told)}."


def _projected(by_place: Mapping[str, Mapping[str, Bracket]]) -> str:
    told = [
        f"{system} with {place} {bracket_text(ends)} GB/s"
        for place, by_system in by_place.items()
        for system, ends in by_system.items()
    ]
    return f"Projected from simulated cycles, with and without {HAZARD}: {'; '.join(told)}."


def _measured(cores: Cores) -> str:
    told = [f"one core {cores.alone.gb_text}"]
    if cores.count > 1:
        told.append(f"all {cores.count} cores {cores.together.gb_text}")
    if cores.contended:
        told.append(f"one core while others stream {cores.contended.gb_text}")
    again = f" {AGAIN}" if cores.alone.doubt or cores.together.doubt else ""
    return f"Measured here, {GCM} on texts in memory: {', '.join(told)}.{again}"


def _short(system: str) -> str:
    return system.partition(" at ")[0]


CORES = "memory-contention"
QUESTION = "Is processing in memory worth it?"
REGIME = f"Sealing with {GCM} under one key"
MEASURED = "Projected DPUs against measured cores"
UNMEASURED = "Projected DPUs; no core was measured in this run"
EXPLAINED = {
    IN_PLACE: "data in MRAM, the DPUs' own memory,",
    THERE_AND_BACK: "data in host memory, there and back by the vendor's library (SDK),",
}
AGAIN = "Measured again while nothing else runs, they may settle it."
HAZARD = "the hazard of register banks"
ADD = (
    f"No core was measured in this run: sealift lab run {PROJECTION} {CORES} tells it of one core "
    "and of all cores here."
)
