"""Whether threads share the cores, and what that makes of samples."""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from sealift.lab.measure import Block
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


def as_designed(block: Block, cells: Sequence[Cell]) -> Block:
    """A block without what the threads of an arm did to each other, where they shared the cores.

    Neither preemption nor a lost share of the core says there that something else ran, and the
    clock was timed between the turns of others. Only steal is still known.

    Args:
        block: As it was measured.
        cells: Of its samples, in their order.
    """
    samples = [
        sample and _as_designed(sample, cell)
        for sample, cell in zip(block.samples, cells, strict=True)
    ]
    again = _as_designed(block.again, cells[block.doubled])
    return replace(block, samples=tuple(samples), again=again)


def _as_designed(sample: Sample, cell: Cell) -> Sample:
    if not is_crowded(cell):
        return sample
    return replace(sample, involuntary_switches=0, cpu_share=1.0, clock_ghz=None)
