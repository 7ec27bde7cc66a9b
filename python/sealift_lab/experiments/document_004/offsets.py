"""Copies by where the destination lies: 004-C-offsets, a factor that document 004 did not vary."""

from collections.abc import Iterator
from itertools import product

from sealift_lab.experiments.document_004.copies import FUNCTION, FUNCTIONS, SIZE, STATE, copy_arm
from sealift_lab.model.experiment import Axis, Chart, Experiment, Scope
from sealift_lab.model.values import Cell


def _cells(scope: Scope) -> Iterator[Cell]:
    sizes = (QUICK_BYTES,) if scope.quick else LENGTHS
    offsets = (0, NONCE_BYTES) if scope.quick else OFFSETS
    for size_bytes, offset, function in product(sizes, offsets, ("glibc", "ours")):
        yield {"size_bytes": size_bytes, "offset": offset, "state": "hot", "function": function}


QUICK_BYTES, NONCE_BYTES = 65_536, 12
LENGTHS = (4_096, QUICK_BYTES, 524_288, 1_048_576)
OFFSET = Axis("offset", "destination minus source, modulo 4,096 bytes")
OFFSETS = (0, 1, 8, NONCE_BYTES, 15, 16)

EXPERIMENT = Experiment(
    name="copy-offsets",
    id="004-C-offsets",
    title="Copies by offset",
    question="Does it matter where the destination of a copy lies, as it does when a nonce stands "
    "before the payload?",
    axes=(SIZE, OFFSET, STATE, FUNCTION),
    compare="function",
    cells=_cells,
    arm=copy_arm,
    operation="copy",
    charts=(
        Chart("offset", "function", "MB/s", "Copies by offset", panels="size_bytes", log_y=True),
    ),
    preferred={"size_bytes": QUICK_BYTES, "offset": NONCE_BYTES},
    names=FUNCTIONS,
    weight=0.25,
    notes="On some processors the C library's copy becomes many times slower when the destination "
    "lies 1 to 15 bytes behind the source, modulo the 4,096 bytes of a page; a nonce of 12 bytes "
    "in front of a payload does that. Where that shows, keep payload at a multiple of 64 bytes on "
    "both sides, or copy it by a loop over registers, as Sealift does.",
)
