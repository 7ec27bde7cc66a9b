"""How many instructions a block takes of each kernel, and what they are spent on."""

from collections.abc import Mapping
from dataclasses import dataclass

from sealift.lab.dpus.kernel import CTR, ECB, GCM, GHASH, Kernel, kernel_run


@dataclass(frozen=True)
class Unrolled:
    """What a block takes by itself, with no loop around it, by lookups of bytes in tables.

    Attributes:
        kernel: The one that does it so.
        parts: Instructions, by what they are for.
        why: Why there are not fewer of them.
    """

    kernel: Kernel
    parts: Mapping[str, int]
    why: str

    @property
    def instructions(self) -> int:
        """All of them."""
        return sum(self.parts.values())

    @property
    def parts_text(self) -> str:
        """What they are for, in words."""
        return ", ".join(f"{count} {what}" for what, count in self.parts.items())


def a_block(kernel: Kernel) -> Mapping[str, float]:
    """Instructions a block by mnemonic, most frequent first: what more blocks take on average.

    Args:
        kernel: Which one; run by one tasklet, in the longest chunks.
    """
    few, many = (
        dict(
            kernel_run(
                kernel.name, tasklets=1, data_bytes=chunks * CHUNK_MOST, chunk_bytes=CHUNK_MOST
            ).mnemonics
        )
        for chunks in (CHUNKS, 3 * CHUNKS)
    )
    blocks = 2 * CHUNKS * CHUNK_MOST / BLOCK
    more = {name: (count - few.get(name, 0)) / blocks for name, count in many.items()}
    found = {name: count for name, count in more.items() if count}
    return dict(sorted(found.items(), key=lambda each: -each[1]))


def sliced() -> float:
    """Instructions a block of the S-boxes alone, if a register held a bit of 32 of them."""
    return ROUNDS * BLOCK * S_BOX_GATES / REGISTER_BITS


BLOCK, ROUNDS, REGISTER_BITS = 16, 10, 32
# The smallest circuit known: csrc.nist.gov/Projects/circuit-complexity/list-of-circuits.
S_BOX_GATES = 113
CHUNK_MOST, CHUNKS = 2_048, 8
LOOKUP = "to take bytes out, look them up and add what is found"
SHIFTS = "to shift the upper half of a word down"
KEYS, DATA = "to load and add keys", "to load and store data"
UNROLLED = (
    Unrolled(
        ECB,
        {LOOKUP: 3 * ROUNDS * BLOCK, SHIFTS: 4 * ROUNDS, KEYS: 2 * (ROUNDS + 1) + 4, DATA: 4},
        "No instruction looks up and adds, and none takes a byte out of the upper half of a "
        "register. Tables by 16 bits are 256 KiB, and WRAM is 64 KiB. The 44 words of the keys are "
        "more than 24 registers hold: eight are free, and keys in them would save four loads. A "
        f"register for a bit of {REGISTER_BITS} bytes needs no tables and more instructions: "
        f"{sliced():.0f} for the S-boxes alone, by the smallest circuit that NIST lists "
        f"({S_BOX_GATES} gates).",
    ),
    Unrolled(
        CTR,
        {
            LOOKUP: 3 * (1 + 4 + BLOCK * (ROUNDS - 2)),
            SHIFTS: 1 + 4 * (ROUNDS - 2),
            "to load keys, and what 256 blocks share": 2 * (ROUNDS - 2) + 2,
            "to load, add and store data": 8,
        },
        "As ECB, without the 27 lookups of two rounds that 256 blocks have in common, because only "
        "the last byte of their counters differs. From the third round on every byte depends on "
        "that one.",
    ),
    Unrolled(
        GHASH,
        {
            "to take bytes out and look them up": 3 * BLOCK,
            "to add what is found": 4 * (BLOCK - 1),
            "to shift the upper half of a word down": 4,
            "to load a block and add it": 6,
            "to reduce": 18,
        },
        "A DPU multiplies bytes, and not without carries, so that products come from tables of "
        "4 KiB for a place of a byte. Eight of them are in WRAM; all sixteen would save the "
        "reduction and leave no room for anything else.",
    ),
)
CTR_UNROLLED, GHASH_UNROLLED = UNROLLED[1:]
FUSED = Unrolled(
    GCM,
    {"to encrypt": CTR_UNROLLED.instructions, "to hash": GHASH_UNROLLED.instructions},
    "CTR and GHASH, each over a chunk that both have in WRAM: nothing is loaded for both at once, "
    "because 24 registers don't hold what both need.",
)
EVERY = (*UNROLLED, FUSED)
