"""What was measured of a device beside what GPUs are projected to do: points, bends, sentences."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sealift.lab.gpus.cells import (
    BLOCK_THREADS,
    BLOCKS,
    DEVICE,
    MESSAGES,
    PROCESSOR,
    THREAD_MESSAGES,
    THREADS,
)
from sealift.lab.gpus.cores import cores_of
from sealift.lab.gpus.grid import LANES_AT_ONCE, Grid, grid_limit, replicated_limit
from sealift.lab.gpus.limits import GPUS, Gpu
from sealift.lab.published import table, table_row
from sealift.lab.result import Found, Origin, Row
from sealift.lab.spec import Axis
from sealift.lab.stats import Bend, bend
from sealift.lab.stats.bends import PLACES_LEAST
from sealift.lab.units import format_measure, format_range
from sealift.lab.values import Value
from sealift.lab.vega import Point

Place = tuple[Value, ...]
Speed = Callable[[Gpu, Grid], float]
"""Bytes a second of a GPU in a grid."""
PrintedRow = tuple[str, str, str, str]
"""A row of a published table: its table, the column with the name, the name, and its test."""


@dataclass(frozen=True)
class Sweep:
    """What one way of work does along an axis.

    Attributes:
        name: What is done, and on what if there are several devices.
        device: On what.
        rows: Along the axis.
        whole: How far whole rounds are apart there; 1 where there are none.
    """

    name: str
    device: str
    rows: Mapping[float, Row]
    whole: int

    @property
    def is_processor(self) -> bool:
        """Whether that is OpenCL on a processor."""
        return self.device == PROCESSOR

    @property
    def line(self) -> Sequence[tuple[float, float]]:
        """Places below the first whole round, and whole rounds, with MB/s.

        Between whole rounds a grid waits for its last blocks or warps: a saw, and no end of growth.
        """
        return [
            (place, speed.median)
            for place, row in self.rows.items()
            if (place < self.whole or place % self.whole == 0) and (speed := row.payload_mb_per_s)
        ]

    @property
    def is_long(self) -> bool:
        """Whether it has as many places as a bend needs."""
        return len(self.line) >= PLACES_LEAST

    @property
    def bend(self) -> Bend | None:
        """Where it stops growing; None where it was measured at too few places, or doesn't."""
        return bend(self.line) if self.is_long else None


def multiprocessors_in(found: Found) -> int | None:
    """Of the device that was measured; of a processor its cores."""
    told = (each.facts.get("multiprocessors") for each in found.verified)
    return next((int(units) for units in told if units), None)


def device_in(found: Found, **cell: Value) -> str:
    """What stands beside cores, of cells with these values."""
    cells = (each.cell for each in found.verified if cell.items() <= each.cell.items())
    names = (str(each[DEVICE.name]) for each in cells)
    return next((name for name in names if cores_of(name) is None), PROCESSOR)


def document_gpu() -> Gpu:
    """The GPU of the document's figures."""
    return next(gpu for gpu in GPUS if gpu.name == "RTX 4070")


def as_printed(gpu: Gpu, names: Iterable[str]) -> str:
    """A GPU's name as it stands among printed ones, or its own."""
    return next((name for name in names if name.startswith(gpu.name)), gpu.name)


def replicated(gpu: Gpu, grid: Grid) -> float:
    """Bytes a second at most, where all threads seal the same messages as the document's did."""
    return replicated_limit(gpu, MESSAGES, grid, THREAD_MESSAGES).bytes_per_s


def ours(gpu: Gpu, grid: Grid) -> float:
    """Bytes a second at most of Sealift's kernel, each message worked once."""
    return grid_limit(gpu, MESSAGES, grid).bytes_per_s


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
    several, whole = len({key[0] for key in lines}) > 1, _whole(found, along)
    return [
        Sweep(
            _name(key[not several :]) or str(key[0]), str(key[0]), dict(sorted(rows.items())), whole
        )
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
    """What each GPU could do at most the document's way, in MB/s: dashed, and so named.

    Args:
        line: Places along the figure, and the bytes a second of a GPU there.
    """
    for gpu in GPUS:
        yield from _dashed(f"projected: {gpu.name}, at most", line(gpu))


def projected_ours(line: Callable[[Gpu], Iterable[tuple[Value, float]]]) -> Iterator[Point]:
    """What the document's GPU could do at most with Sealift's kernel.

    Args:
        line: As above, where that kernel takes the grid.
    """
    gpu = document_gpu()
    yield from _dashed(f"projected: {gpu.name}, Sealift's kernel, at most", line(gpu))


def beside_points(found: Found, name: Callable[[Row], str]) -> Iterator[Point]:
    """What was measured of cores and devices, in MB/s by device.

    Args:
        found: By an experiment that has both.
        name: Of the line that a row belongs to.
    """
    for row in found.rows:
        if not row.wrong and (speed := row.payload_mb_per_s):
            x = str(row.cell[DEVICE.name])
            yield Point(x, speed.median, speed.low, speed.high, name(row))


def printed_points(
    rows: Iterable[PrintedRow], x: Callable[[str], str], series: Callable[[str], str]
) -> Iterator[Point]:
    """What was published of devices, in MB/s.

    Args:
        rows: Of the document's tables.
        x: Where a device's name stands.
        series: Of a test.
    """
    for name, key, label, test in rows:
        value = float(table_row(name, **{key: label}, test=test)["throughput_mb_s"])
        yield Point(x(label), value, None, None, series(test), Origin.PUBLISHED)


def beside_title(found: Found, what: str) -> str:
    """A figure's title: what it shows, and what a processor is there in a GPU's place."""
    names = (str(row.cell[DEVICE.name]) for row in found.rows)
    return f"{what}, in whose place is {NO_GPU}" if any(map(_is_processor, names)) else what


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
        if sweep.is_long:
            by_device.setdefault(sweep.device, []).append(f"{sweep.name} {bend_text(sweep.bend)}")
    return "; ".join(f"{named(name)}, {', '.join(told)}" for name, told in by_device.items())


def bend_text(found: Bend | None) -> str:
    """`bends at 35.2 [31.9..38.1]`."""
    if found is None:
        return "has no bend"
    return f"bends at {format_measure(found.at)} {format_range(found.low, found.high)}"


def mb_per_s_text(speed: Callable[[Gpu], float]) -> str:
    """What each GPU could do, in MB/s: `RTX 3050 22,658, RTX 4070 63,726`.

    Args:
        speed: Bytes a second of a GPU.
    """
    return ", ".join(f"{gpu.name} {format_measure(speed(gpu) / MEGABYTE)}" for gpu in GPUS)


def titled(title: str, found: Found) -> str:
    """A title that speaks of a GPU, with what was there in its place where none was.

    Args:
        title: Of an experiment.
        found: What was found with it.
    """
    names = {str(row.cell.get(DEVICE.name, "")) for row in found.rows}
    devices = [name for name in names if name and cores_of(name) is None]
    return f"{title}, by {NO_GPU}" if devices and all(map(_is_processor, devices)) else title


def not_measured(found: Found) -> str:
    """That no GPU was, what was in its place, and what projections are worth; "" where one was.

    Args:
        found: By an experiment of GPUs.
    """
    names = {str(row.cell.get(DEVICE.name, "")) for row in found.rows}
    devices = [name for name in names if name and cores_of(name) is None]
    if not names or not all(map(_is_processor, devices)):
        return ""
    shares = sorted(document_shares())
    low, high = (f"{100 * share:.0f}" for share in shares)
    was = f"{PROCESSOR} was, for tests only" if devices else "cores alone were"
    return (
        f"No GPU was measured here; {was}. What is told of GPUs is projected or published; "
        f"document 003's own program reaches {low} to {high} % of what is projected for it."
    )


def document_shares() -> tuple[float, float]:
    """Of what is projected, what the document's one thread and its best grid do; 0..1."""
    gpu = document_gpu()
    one = table_row("003-T5-gpu-generations", gpu="RTX 4070 (2023)", test="Thread = 1")
    best = max(float(row["throughput_mb_s"]) for row in table("003-T3-gpu-blocks-threads"))
    whole = Grid(gpu.multiprocessors, BLOCK_THREADS)
    return (
        MEGABYTE * float(one["throughput_mb_s"]) / replicated(gpu, Grid(1, 1)),
        MEGABYTE * best / replicated(gpu, whole),
    )


def named(device: str) -> str:
    """A device in words: a processor is called none of a GPU."""
    return device.replace(PROCESSOR, NO_GPU)


def _dashed(name: str, line: Iterable[tuple[Value, float]]) -> Iterator[Point]:
    for place, bytes_per_s in line:
        yield Point(place, bytes_per_s / MEGABYTE, None, None, name, Origin.PROJECTED)


def _is_processor(device: str) -> bool:
    return device.startswith(PROCESSOR)


def _whole(found: Found, along: Axis) -> int:
    """How far whole rounds are apart; of blocks that is not known of an unknown device."""
    if along.name == THREADS.name:
        return LANES_AT_ONCE
    return (multiprocessors_in(found) or 1) if along.name == BLOCKS.name else 1


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


NO_GPU = f"{PROCESSOR} (no GPU, for tests only)"
MEGABYTE = 10**6
ADA = (
    "the RTX are the document's laptop GPUs, of which 4070 and 4060 are Ada, with code and rates "
    "of sm_86"
)
STANDS_ON = (
    "from the machine code of a program that works as the document's, as if nothing ever waited, "
    f"at boost clocks; {ADA}"
)
OURS_STANDS_ON = (
    f"from the machine code of Sealift's kernel, as if nothing ever waited, at boost clocks; {ADA}"
)
