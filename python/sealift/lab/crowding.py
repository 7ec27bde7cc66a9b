"""Whether threads share the cores, and what that makes of a sample."""

from dataclasses import replace
from enum import StrEnum

from sealift.lab.spec import Axis, Sample
from sealift.lab.values import Cell


class Load(StrEnum):
    """How many threads there are for the cores."""

    BELOW = "fewer threads than cores"
    ALL = "a thread a core"
    OVER = "more threads than cores"


LOAD = Axis("load", "threads and cores")
"""An axis for experiments that say whether threads shared cores; its values are those of `Load`."""


def load_of(threads: int, cores: int) -> Load:
    """What so many threads are for so many cores."""
    if threads == cores:
        return Load.ALL
    return Load.BELOW if threads < cores else Load.OVER


def is_crowded(cell: Cell) -> bool:
    """Whether more threads than cores share them: such threads wait for each other by design."""
    return cell.get(LOAD.name) == Load.OVER


def as_designed(sample: Sample, cell: Cell) -> Sample:
    """A sample without what its own threads did to each other, if they shared the cores.

    Nobody can tell another process on the core from a thread of the sample's own, so neither
    preemption nor a lost share of the core says there that the machine was busy, and the clock
    was timed between the turns of others. Only steal is still known; the noise floor tells the
    rest.
    """
    if not is_crowded(cell):
        return sample
    return replace(sample, involuntary_switches=0, cpu_share=1.0, clock_ghz=None)
