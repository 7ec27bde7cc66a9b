"""What was found here, in the units in which the documents print."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sealift.lab.published.doubt import doubt
from sealift.lab.result import Found, Row
from sealift.lab.stats import Interval
from sealift.lab.units import axis_text
from sealift.lab.values import Cell, Value


@dataclass(frozen=True)
class Measured:
    """A figure, and how far it may be trusted.

    Attributes:
        interval: In the unit of what it stands beside.
        noise_floor: The largest of the rows it stands on, as a share.
        machine_busy: Whether the machine was, in any of them.
        is_paired: Whether a ratio was taken block by block; what is no ratio counts as paired.
    """

    interval: Interval
    noise_floor: float = 0.0
    machine_busy: bool = False
    is_paired: bool = True

    @property
    def doubt(self) -> str:
        """Why it settles nothing whatever it stands beside, or ""."""
        return doubt(self.interval, self.noise_floor, machine_busy=self.machine_busy)

    def scaled(self, factor: float) -> "Measured":
        """The same in another unit.

        Args:
            factor: Above 0.
        """
        return replace(self, interval=self.interval.scaled(factor))

    def inverse(self) -> "Measured":
        """The ratio seen from the other side."""
        return replace(self, interval=self.interval.inverse())


Here = Measured | str
"""What was found, or a sentence that says why nothing was."""


def payload_speed(found: Found, **cell: Value) -> Here:
    """Payload MB/s of the row whose cell has these values, or why there is no such row."""
    row = _row(found, cell)
    if isinstance(row, str):
        return row
    speed = row.payload_mb_per_s
    return _measured(row, speed) if speed else "its operations have no payload"


def operation_speed(found: Found, **cell: Value) -> Here:
    """Operations a second of the row whose cell has these values, or why there is no such row."""
    row = _row(found, cell)
    return row if isinstance(row, str) else _measured(row, row.operations_per_s)


def operation_time(found: Found, **cell: Value) -> Here:
    """Nanoseconds an operation of the row whose cell has these values, or why there is none."""
    row = _row(found, cell)
    return row if isinstance(row, str) else _measured(row, row.ns_per_operation)


def one_after_other(*times: Here) -> Here:
    """What several take one after the other, which were not measured so; with the worst of all.

    Args:
        times: In one unit, or why there is none of them.
    """
    first, *others = times
    if isinstance(first, str) or not others:
        return first
    rest = one_after_other(*others)
    if isinstance(rest, str):
        return rest
    one, other = first.interval, rest.interval
    interval = Interval(
        one.median + other.median,
        one.low + other.low,
        one.high + other.high,
        one.confidence + other.confidence - 1,
        min(one.blocks, other.blocks),
    )
    floor = max(first.noise_floor, rest.noise_floor)
    return Measured(interval, floor, first.machine_busy or rest.machine_busy, is_paired=False)


def times_as_fast(found: Found, one: Cell, other: Cell) -> Here:
    """How many times as many operations a second the one row does as the other.

    Paired by block where one of them is the reference of the other; else their quotient, which
    says of itself that it is not.

    Args:
        found: Has both rows.
        one: Values of the cell of the one.
        other: Values of the cell of the other.
    """
    row, other_row = _row(found, one), _row(found, other)
    if isinstance(row, str):
        return row
    if isinstance(other_row, str):
        return other_row
    if row.work == other_row.work and row.ratio and row.reference == other_row.subject:
        return _measured(row, row.ratio)
    if row.work == other_row.work and other_row.ratio and other_row.reference == row.subject:
        return _measured(other_row, other_row.ratio).inverse()
    speeds = (_measured(each, each.operations_per_s) for each in (row, other_row))
    return quotient(*speeds)


def gain_a_thread(found: Found, one: Cell, several: Cell) -> Here:
    """How many times as fast several threads are as one, for each of them; not paired.

    Args:
        found: Has both rows.
        one: Values of the cell with 1 thread.
        several: Values of the cell with more.
    """
    row = _row(found, several)
    if isinstance(row, str):
        return row
    threads = int(row.cell["threads"])
    if threads == 1:
        return "no more than one thread was measured"
    gain = times_as_fast(found, several, one)
    return gain if isinstance(gain, str) else gain.scaled(1 / threads)


def quotient(speed: Here, of: Here) -> Here:
    """How many times as fast one is as another that was not measured in the same blocks.

    The ends are those of the worst case, lowest over highest and highest over lowest. They hold
    whenever both intervals do: of two at 95 % that is guaranteed at 90 %.

    Args:
        speed: In any unit of speed, or why there is none.
        of: In the same unit.
    """
    if isinstance(speed, str):
        return speed
    if isinstance(of, str):
        return of
    above, below = speed.interval, of.interval
    interval = Interval(
        above.median / below.median,
        above.low / below.high,
        above.high / below.low,
        above.confidence + below.confidence - 1,
        min(above.blocks, below.blocks),
    )
    floor = max(speed.noise_floor, of.noise_floor)
    return Measured(interval, floor, speed.machine_busy or of.machine_busy, is_paired=False)


def counted(value: float, *, of: int) -> Measured:
    """What was counted, not sampled: an interval without width.

    Args:
        value: A count or a share.
        of: Among how many.
    """
    return Measured(Interval(value, value, value, 1.0, of))


def conditions(found: Found, **cell: Value) -> str:
    """Keys, batch and threads of the arm whose cell has these values, measured or not.

    Returns:
        As `a fresh key each, batch 1,024, 2 threads`; without what neither cell nor arm tells.
    """
    cells = (*(row.cell for row in found.rows), *(each.cell for each in found.verified))
    fitting = (each for each in cells if cell.items() <= each.items())
    return ", ".join(_told(next(fitting, cell)))


def _told(cell: Cell) -> Iterator[str]:
    if "keys" in cell:
        yield axis_text("keys", cell["keys"])
    if "batch" in cell:
        yield f"batch {int(cell['batch']):,}"
    if "threads" in cell:
        count = int(cell["threads"])
        yield "1 thread" if count == 1 else f"{count:,} threads"


def _measured(row: Row, interval: Interval) -> Measured:
    return Measured(interval, row.noise_floor, row.machine_busy)


def _row(found: Found, cell: Cell) -> Row | str:
    row = found.row(**cell)
    if row is None:
        return found.why_not(**cell)
    return f"computed wrong: {row.wrong}" if row.wrong else row
