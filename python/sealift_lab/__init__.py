"""The lab: which processor of a machine encrypts fastest, and how sure that is."""

from sealift_lab.measure.timed import timed
from sealift_lab.model.experiment import Axis, Chart, Experiment, Line, Scope
from sealift_lab.model.results import Origin
from sealift_lab.model.sample import Arm, Computed, Context, Sample, Skip, WrongResultError
from sealift_lab.model.values import Cell, Value

__all__ = [
    "Arm",
    "Axis",
    "Cell",
    "Chart",
    "Computed",
    "Context",
    "Experiment",
    "Line",
    "Origin",
    "Sample",
    "Scope",
    "Skip",
    "Value",
    "WrongResultError",
    "timed",
]
