"""What was measured of a device beside what GPUs are projected to do: points, bends, sentences."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate

from sealift.lab.gpus.cells import DEVICE, PROCESSOR
from sealift.lab.gpus.limits import GPUS, Gpu
from sealift.lab.result import Found, Origin, Row
from sealift.lab.spec import Axis
from sealift.lab.stats import Bend, bend
from sealift.lab.stats.bends import PLACES_LEAST
from sealift.lab.units import format_measure, format_range
from sealift.lab.values import Value
from sealift.lab.vega import Point

Place = tuple[Value, ...]


@dataclass(frozen=True)
class Sweep:
    """What one way of work does along an axis.

    Attributes:
        name: What is done, and on what if there are several devices.
        device: On what.
        rows: Along the axis.
    """

    name: str
    device: str
    rows: Mapping[float, Row]

    @property
    def is_processor(self) -> bool:
        """Whether that is OpenCL on a processor."""
        return self.device == PROCESSOR

    @property
    def bend(self) -> Bend | None:
        """Where it stops growing; None where it was measured at too few places, or doesn't.

        By the most that any place up to each gives: between whole rounds a grid waits for its last
        blocks, which is no end of growth.
        """
        most = accumulate((_speed(row) for row in self.rows.values()), max)
        line = list(zip(self.rows, most, strict=True))
        return bend(line) if len(line) >= PLACES_LEAST else None


def sweeps(found: Found, along: Axis) -> list[Sweep]:
    """What was measured along an axis, one line for all others.

    Args:
        found: By an experiment of GPUs.
        along: An axis of numbers.
    """
    lines: dict[Place, dict[float, Row]] = {}
    told = _varied(found, along)
    for row in found.rows:
        if not row.wrong and row.payload_mb_per_s:
            key = tuple(row.cell[name] for name in told)
            lines.setdefault(key, {})[float(row.cell[along.name])] = row
    several = len({key[0] for key in lines}) > 1
    return [
        Sweep(_name(key[not several :]) or str(key[0]), str(key[0]), dict(sorted(rows.items())))
        for key, rows in lines.items()
    ]


def measured(found: Found, along: Axis) -> Iterator[Point]:
    """The same as points of a figure."""
    for sweep in sweeps(found, along):
        for place, row in sweep.rows.items():
            speed = row.payload_mb_per_s
            assert speed is not None, "rows without payload are left out"
            x = int(place) if place == int(place) else place
            yield Point(x, speed.median, speed.low, speed.high, sweep.name)


def projected(line: Callable[[Gpu], Iterable[tuple[Value, float]]]) -> Iterator[Point]:
    """What each GPU could do at most, in MB/s: dashed, and so named.

    Args:
        line: Places along the figure, and the bytes a second of a GPU there.
    """
    for gpu in GPUS:
        name = f"projected: {gpu.name}, at most"
        for place, bytes_per_s in line(gpu):
            yield Point(place, bytes_per_s / MEGABYTE, None, None, name, Origin.PROJECTED)


def title(found: Found, what: str) -> str:
    """A figure's title: what was measured in it, if anything, and that the rest is projected."""
    names = dict.fromkeys(str(row.cell[DEVICE.name]) for row in found.rows if not row.wrong)
    if not names:
        return f"{what}: nothing measured, dashed lines are projected"
    told = " and ".join(map(named, names))
    return f"{what}: measured by {told}; dashed lines are projected"


def bends_text(found: Found, along: Axis) -> str:
    """Where what was measured bends, in a sentence; "" where nothing was measured long enough."""
    by_device: dict[str, list[str]] = {}
    for sweep in sweeps(found, along):
        if len(sweep.rows) >= PLACES_LEAST:
            by_device.setdefault(sweep.device, []).append(f"{sweep.name} {bend_text(sweep.bend)}")
    return "; ".join(f"{named(name)}, {', '.join(told)}" for name, told in by_device.items())


def bend_text(found: Bend | None) -> str:
    """`bends at 35.2 [31.9..38.1]`."""
    if found is None:
        return "has no bend"
    return f"bends at {format_measure(found.at)} {format_range(found.low, found.high)}"


def named(device: str) -> str:
    """A device in words: a processor is called none of a GPU."""
    return device.replace(PROCESSOR, NO_GPU)


def _name(key: Place) -> str:
    return ", ".join(map(str, key))


def _varied(found: Found, along: Axis) -> list[str]:
    """The device, and what else there are several of."""
    values: dict[str, set[Value]] = {}
    for row in found.rows:
        for name, value in row.cell.items():
            values.setdefault(name, set()).add(value)
    several = [name for name, there in values.items() if len(there) > 1]
    return [DEVICE.name, *(name for name in several if name not in (along.name, DEVICE.name))]


def _speed(row: Row) -> float:
    speed = row.payload_mb_per_s
    return speed.median if speed else 0.0


NO_GPU = f"{PROCESSOR} (no GPU, for tests only)"
MEGABYTE = 10**6
STANDS_ON = "from the machine code of Sealift's kernel, as if nothing ever waited"
