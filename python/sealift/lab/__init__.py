"""The lab: what to run, how to measure it, what may be said about it.

An experiment of one's own is a file that ends in `EXPERIMENT = Experiment(...)`; these are the
names it needs. `sealift lab run ./mine.py` runs it.

    from sealift.lab import Axis, Cell, Context, Experiment, timed

    def arm(cell: Cell, context: Context):
        return timed(lambda: b"x" * cell["size_bytes"], payload_bytes=cell["size_bytes"])
"""

from sealift.lab.published import Comparison, Kind
from sealift.lab.result import Found, Origin
from sealift.lab.spec import (
    Arm,
    Axis,
    Computed,
    Context,
    Experiment,
    Line,
    Plot,
    Sample,
    Scope,
    Skip,
    WrongResultError,
)
from sealift.lab.timed import timed
from sealift.lab.values import Cell

__all__ = [
    "Arm",
    "Axis",
    "Cell",
    "Comparison",
    "Computed",
    "Context",
    "Experiment",
    "Found",
    "Kind",
    "Line",
    "Origin",
    "Plot",
    "Sample",
    "Scope",
    "Skip",
    "WrongResultError",
    "timed",
]
