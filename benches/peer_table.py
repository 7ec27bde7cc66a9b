"""The results of a case: the speed of each arm, the best library, and which one is ahead."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from peer_cases import Case
from sealift.lab.measure import Block
from sealift.lab.result import Row
from sealift.lab.spec import Sample
from sealift.lab.stats import Interval, median_interval, run_ratio, speed_ratio
from sealift.lab.summary import Group, Series, rows, series
from sealift.lab.table import aligned, times_text
from sealift.lab.units import format_measure

ENGINE, KERNELS, PORTS = "engine", "kernels", "ports"
OWN_ARMS = (ENGINE, KERNELS, PORTS)


@dataclass(frozen=True)
class Measured:
    """The samples of a case.

    Attributes:
        case: Which.
        arms: Our own and the libraries, in the order of the samples of a block.
        blocks: Complete ones.
        absent: Why arms that were requested are missing.
    """

    case: Case
    arms: tuple[str, ...]
    blocks: tuple[Block, ...]
    absent: Mapping[str, str]

    @property
    def group(self) -> Group:
        """As the lab's statistics take it."""
        return Group(
            experiment="peers",
            compare="arm",
            cells=[{"case": self.case.name, "arm": arm} for arm in self.arms],
            blocks=[(0, block) for block in self.blocks],
            planned_restarts=1,
        )


@dataclass(frozen=True)
class Arm:
    """The speed of one arm.

    Attributes:
        row: From the lab's statistics.
        series: The blocks that its estimates stand on.
        cycles: A message, by the clock beside each sample; None where that isn't known.
    """

    row: Row
    series: Series
    cycles: Interval | None

    @property
    def ns(self) -> float:
        """Median nanoseconds a message."""
        return self.row.ns_per_operation.median

    @property
    def gb_per_s(self) -> float:
        """10**9 bytes of text a second."""
        return self.row.payload_bytes / self.ns


class Standing(StrEnum):
    """How the engine compares with the best library."""

    AHEAD = "ahead"
    BEHIND = "behind"
    EVEN = "within noise"


@dataclass(frozen=True)
class Comparison:
    """A row of the table.

    Attributes:
        case: What was measured.
        arms: Every arm by name.
        best: The fastest library.
        engine_to_best: Times as fast as that.
        kernels_to_best: The kernels alone, the same.
        kernels_to_ports: The kernels' share of the peak throughput of the AES and GHASH
            instructions; None where that wasn't measured.
    """

    case: Case
    arms: Mapping[str, Arm]
    best: str
    engine_to_best: Interval
    kernels_to_best: Interval
    kernels_to_ports: Interval | None

    @property
    def standing(self) -> Standing:
        """By the whole interval."""
        if self.engine_to_best.low > 1:
            return Standing.AHEAD
        return Standing.BEHIND if self.engine_to_best.high < 1 else Standing.EVEN

    def record(self) -> dict[str, object]:
        """For JSON."""
        ports = self.kernels_to_ports
        return {
            "name": self.case.name,
            "title": self.case.title,
            "kind": self.case.kind,
            "arms": {name: _figures(arm) for name, arm in self.arms.items()},
            "best": self.best,
            "engine_to_best": _ends(self.engine_to_best),
            "kernels_to_best": _ends(self.kernels_to_best),
            "kernels_to_ports": _ends(ports) if ports else None,
            "engine_is": self.standing.value,
        }


def compare(measured: Measured) -> Comparison | None:
    """The row of a case; None without the engine, the kernels and a library."""
    if not measured.blocks:
        return None
    group = measured.group
    arms = {
        str(of.cell["arm"]): Arm(row, of, _cycles(measured, of))
        for row, of in zip(rows(group), series(group), strict=True)
    }
    libraries = [name for name in arms if name not in OWN_ARMS]
    if not libraries or not {ENGINE, KERNELS} <= arms.keys():
        return None
    best = min(libraries, key=lambda name: arms[name].ns)
    ports = arms.get(PORTS)
    return Comparison(
        case=measured.case,
        arms=arms,
        best=best,
        engine_to_best=_ratio(arms[ENGINE], arms[best]),
        kernels_to_best=_ratio(arms[KERNELS], arms[best]),
        kernels_to_ports=_ratio(arms[KERNELS], ports) if ports else None,
    )


def table(comparisons: Sequence[Comparison]) -> str:
    """The rows as text, one line each."""
    return aligned([HEAD, *map(_cells, comparisons)])


def behind(comparisons: Sequence[Comparison]) -> str:
    """Which cases another library wins."""
    lost = [each for each in comparisons if each.standing is Standing.BEHIND]
    lines = [
        f"  {each.case.title}: {each.best} is "
        f"{times_text(each.engine_to_best.inverse())} times as fast"
        for each in lost
    ]
    return "\n".join(
        [f"another library is ahead in {len(lost)} of {len(comparisons)} cases", *lines]
    )


def block_of(samples: Mapping[int, Sequence[Sample]], arms: int) -> Block | None:
    """A block out of the samples of its arms by place; None when it isn't complete."""
    twice = [place for place, of in samples.items() if len(of) == 2]
    if len(samples) != arms or len(twice) != 1:
        return None
    first = tuple(samples[place][0] for place in range(arms))
    return Block(first, twice[0], samples[twice[0]][1])


def _ratio(arm: Arm, other: Arm) -> Interval:
    """Paired by block, where there are blocks that both estimates stand on."""
    own, others = (
        dict(zip(each.series.blocks, each.series.ns, strict=True)) for each in (arm, other)
    )
    both = sorted(own.keys() & others.keys())
    if not both:
        return run_ratio(arm.series.ns, other.series.ns)
    return speed_ratio([own[at] for at in both], [others[at] for at in both])


def _cycles(measured: Measured, of: Series) -> Interval | None:
    """By the clock beside each sample, of the blocks that the estimate stands on."""
    place = measured.arms.index(str(of.cell["arm"]))
    found = []
    for block in of.blocks:
        sample = measured.blocks[block].samples[place]
        if sample is None or sample.clock_ghz is None:
            return None
        found.append(sample.ns_per_operation * sample.clock_ghz)
    return median_interval(found)


def _figures(arm: Arm) -> dict[str, object]:
    row = arm.row
    return {
        "gb_per_s": arm.gb_per_s,
        "ns_per_message": _ends(row.ns_per_operation),
        "cycles_per_message": arm.cycles and _ends(arm.cycles),
        "payload_bytes": row.payload_bytes,
        "clean_share": row.clean_share,
        "noise_floor": row.noise_floor,
        "blocks": row.blocks,
    }


def _ends(interval: Interval) -> dict[str, float]:
    return {"median": interval.median, "low": interval.low, "high": interval.high}


def _cells(of: Comparison) -> list[str]:
    engine, kernels, best = of.arms[ENGINE], of.arms[KERNELS], of.arms[of.best]
    cycles = "" if kernels.cycles is None else format_measure(kernels.cycles.median)
    ports = "" if of.kernels_to_ports is None else f"{100 * of.kernels_to_ports.median:.0f} %"
    ratio = times_text(of.engine_to_best)
    speeds = [f"{arm.gb_per_s:.2f}" for arm in (engine, kernels)]
    return [
        *(of.case.title, *speeds, cycles, ports),
        *(f"{of.best} {best.gb_per_s:.2f}", ratio, of.standing.value),
    ]


HEAD = [
    *("case", "Engine::run GB/s", "kernels GB/s", "cycles", "of peak"),
    *("best library, GB/s", "engine to best", "engine is"),
]
