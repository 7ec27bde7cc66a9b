"""The lab: which processor of a machine encrypts fastest, and how sure that is.

Its `Engine` has every device, described cards and simulated DPUs included; `sealift.Engine` has
those for users' work. Objects of the two don't mix.
"""

from sealift_lab._lab import Card, Engine, cards, rehearse
from sealift_lab.measure.timed import timed
from sealift_lab.model.arm import (
    Arm,
    Cell,
    Computed,
    Context,
    Sample,
    Skip,
    Value,
    WrongResultError,
)
from sealift_lab.model.experiment import Axis, Chart, Experiment, Line, Scope
from sealift_lab.model.results import Origin

__all__ = [
    "Arm",
    "Axis",
    "Card",
    "Cell",
    "Chart",
    "Computed",
    "Context",
    "Engine",
    "Experiment",
    "Line",
    "Origin",
    "Sample",
    "Scope",
    "Skip",
    "Value",
    "WrongResultError",
    "cards",
    "rehearse",
    "timed",
]
