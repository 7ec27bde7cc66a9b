"""000-P1-instructions: instructions a block of every kernel, by what they do."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sealift_lab.experiments.document_000.kernel import (
    CTR,
    ECB,
    GCM,
    GHASH,
    Kernel,
    kernel_run,
    six_digits,
)
from sealift_lab.experiments.document_000.literal import OPERATIONS, mnemonics
from sealift_lab.experiments.notes import read_notes
from sealift_lab.model.experiment import Axis, Experiment, Scope
from sealift_lab.model.results import Origin
from sealift_lab.model.sample import Computed, Context
from sealift_lab.model.values import Cell, Value


@dataclass(frozen=True)
class Unrolled:
    """Instructions of one block without any loop around it, by lookups of bytes in tables.

    Attributes:
        kernel: The kernel that does it so.
        parts: Instructions, by what they are for.
    """

    kernel: Kernel
    parts: Mapping[str, int]

    @property
    def instructions(self) -> int:
        """All of them."""
        return sum(self.parts.values())


def instructions_a_block(kernel: Kernel) -> Mapping[str, float]:
    """Instructions a block by mnemonic, most frequent first: the slope over the number of blocks.

    Args:
        kernel: Run by one tasklet, in the longest chunks.
    """
    few, many = (
        dict(
            kernel_run(
                kernel.name, tasklets=1, data_bytes=chunks * CHUNK_BYTES, chunk_bytes=CHUNK_BYTES
            ).mnemonics
        )
        for chunks in (CHUNKS, 3 * CHUNKS)
    )
    blocks = 2 * CHUNKS * CHUNK_BYTES / BLOCK_BYTES
    added = {name: (count - few.get(name, 0)) / blocks for name, count in many.items()}
    return dict(sorted(((n, c) for n, c in added.items() if c), key=lambda each: -each[1]))


def _cells(scope: Scope) -> Iterable[Cell]:
    return () if scope.quick else ({KERNEL.name: title} for title in TITLES)


def _arm(cell: Cell, _: Context) -> Computed:
    title = str(cell[KERNEL.name])
    unrolled = next((each for each in UNROLLED if each.kernel.title == title), None)
    counts = instructions_a_block(unrolled.kernel) if unrolled else mnemonics(WRITTEN[title])
    total = sum(counts.values())
    facts: dict[str, Value] = {TOTAL: six_digits(total)}
    if unrolled:
        facts["unrolled"] = float(unrolled.instructions)
        facts["loops and chunks"] = six_digits(total - unrolled.instructions)
        facts["spent on, unrolled"] = ", ".join(
            f"{count} {purpose}" for purpose, count in unrolled.parts.items()
        )
    grouped = [name for names in GROUPS.values() for name in names]
    for group, names in GROUPS.items():
        facts[group] = six_digits(sum(counts.get(name, 0.0) for name in names))
    facts[OTHERS] = six_digits(sum(n for name, n in counts.items() if name not in grouped))
    facts["by mnemonic"] = ", ".join(f"{name} {six_digits(n)}" for name, n in counts.items())
    return Computed(facts)


BLOCK_BYTES, ROUNDS = 16, 10
CHUNK_BYTES, CHUNKS = 2_048, 8
LOOKUP = "to take bytes out, look them up and add what is found"
SHIFTS = "to shift the upper half of a word down"
_CTR = Unrolled(
    CTR,
    {
        LOOKUP: 3 * (1 + 4 + BLOCK_BYTES * (ROUNDS - 2)),
        SHIFTS: 1 + 4 * (ROUNDS - 2),
        "to load keys, and what 256 blocks share": 2 * (ROUNDS - 2) + 2,
        "to load, add and store data": 8,
    },
)
_GHASH = Unrolled(
    GHASH,
    {
        "to take bytes out and look them up": 3 * BLOCK_BYTES,
        "to add what is found": 4 * (BLOCK_BYTES - 1),
        SHIFTS: 4,
        "to load a block and add it": 6,
        "to reduce": 18,
    },
)
UNROLLED = (
    Unrolled(
        ECB,
        {
            LOOKUP: 3 * ROUNDS * BLOCK_BYTES,
            SHIFTS: 4 * ROUNDS,
            "to load and add keys": 2 * (ROUNDS + 1) + 4,
            "to load and store data": 4,
        },
    ),
    _CTR,
    _GHASH,
    Unrolled(GCM, {"to encrypt": _CTR.instructions, "to hash": _GHASH.instructions}),
)
KERNEL = Axis("kernel", "kernel")
WRITTEN = dict(
    zip(("document 000, encryption", "document 000, decryption"), OPERATIONS, strict=True)
)
TITLES = (*WRITTEN, *(each.kernel.title for each in UNROLLED))
TOTAL, OTHERS = "instructions a block", "others"
GROUPS = {
    "bytes taken out": ("mul_ul_ul", "mul_uh_ul"),
    "loads": ("lw", "ld", "lbu"),
    "sums": ("xor",),
    "shifts and masks": ("lsr", "lsl", "and", "lsl_add"),
    "stores": ("sw", "sd", "sb"),
}

INSTRUCTIONS = Experiment(
    name="dpu-instructions",
    id="000-P1-instructions",
    title="Instructions a block, by what they do",
    question="How few instructions do AES-128 and GHASH take of a DPU, and why not fewer?",
    axes=(KERNEL,),
    compare=KERNEL.name,
    cells=_cells,
    arm=_arm,
    operation="block",
    columns={name: name for name in (TOTAL, *GROUPS, OTHERS)},
    origin=Origin.SIMULATED,
    weight=0.02,
    estimated_s=0.5,
    notes=read_notes(__package__, "instructions", "simulation"),
)
