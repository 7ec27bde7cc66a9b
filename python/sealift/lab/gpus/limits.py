"""What a GPU could do with known machine code if nothing ever waited: projected, never measured.

A multiprocessor issues four instructions of 32 lanes a clock, and each of its units works so many
lanes a clock. Whichever is asked for longest is the limit. Waiting is not in it, for memory or for
each other, so that what is measured is slower.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from sealift.lab.published import table
from sealift.lab.result import Origin

Counts = Mapping[str, float]
"""Instructions of one lane by kind; words of four bytes where the kind is a memory."""


@dataclass(frozen=True)
class Rates:
    """How many lanes a multiprocessor works in a clock.

    Attributes:
        issued: All instructions together.
        alu: Logic, byte permutations, shifts, additions.
        fma: Products of 32 bits; one of 64 bits takes two turns.
        slow: Counts of bits and the like.
        words: Of shared and global memory, of four bytes, where no two lanes want one bank.
        tensor: Products of binary matrices; a warp's product is 32 lanes.
        source: Where they stand.
    """

    issued: float
    alu: float
    fma: float
    slow: float
    words: float
    tensor: float
    source: str

    def clocks(self, counts: Counts) -> dict[str, float]:
        """Clocks that each unit needs for these instructions of one lane.

        Args:
            counts: By kind, as the tool that reads machine code names them.
        """
        wanted = {
            "issue": (counts["issued"], self.issued),
            "alu": (counts["alu"], self.alu),
            "fma": (counts["fma"] + WIDE_TURNS * counts["wide"], self.fma),
            "slow": (counts["slow"], self.slow),
            LOAD_AND_STORE: (counts["shared"] + counts["global"] + counts["local"], self.words),
            "tensor": (counts["tensor"], self.tensor),
        }
        return {unit: asked / rate for unit, (asked, rate) in wanted.items() if asked}


@dataclass(frozen=True)
class Limit:
    """What cannot be exceeded.

    Attributes:
        bytes_per_s: Of payload.
        clocks_a_block: Of a multiprocessor, for 16 bytes of payload; memory has no part in it.
        unit: What sets the limit: a unit of the multiprocessors, or memory.
    """

    bytes_per_s: float
    clocks_a_block: float
    unit: str
    origin: ClassVar[Origin] = Origin.PROJECTED


@dataclass(frozen=True)
class Gpu:
    """A GPU as far as a limit asks.

    Attributes:
        name: As people call it.
        multiprocessors: How many.
        clock_hz: Boost clock, which it need not keep.
        architecture: Whose machine code and rates it is projected with.
        shared_bytes: Of shared memory, the most that one block may have.
        memory_bytes_per_s: To and from its memory.
        cache_bytes: Of the last cache before that memory.
        link_bytes_per_s: To its host, and as much at the same time from there.
        source: Where clock, memory, cache and link stand.
    """

    name: str
    multiprocessors: int
    clock_hz: float
    architecture: str
    shared_bytes: int
    memory_bytes_per_s: float
    cache_bytes: int
    link_bytes_per_s: float
    source: str

    def limit(self, counts: Counts, payload_bytes: float, moved_bytes: float) -> Limit:
        """The limit of code, where its data are in this GPU's memory.

        Args:
            counts: Instructions of a lane for some payload.
            payload_bytes: That payload.
            moved_bytes: What is read and written for it.
        """
        clocks = RATES[self.architecture].clocks(counts)
        unit = max(clocks, key=clocks.__getitem__)
        a_byte = clocks[unit] / payload_bytes
        by_units = self.multiprocessors * self.clock_hz / a_byte
        by_memory = self.memory_bytes_per_s * payload_bytes / moved_bytes
        if by_memory < by_units:
            unit = "memory"
        return Limit(min(by_units, by_memory), BLOCK_BYTES * a_byte, unit)


def _published(name: str) -> int:
    """How many multiprocessors document 003 gives a GPU."""
    rows = table("003-T5-gpu-generations")
    return next(int(row["sm"]) for row in rows if row["gpu"].startswith(name))


BLOCK_BYTES = 16
# The unit that all parts of a multiprocessor share.
LOAD_AND_STORE = "load and store"
# A product of 64 bits goes into two registers, and they are written one after the other.
WIDE_TURNS = 2
_GUIDE = "NVIDIA, CUDA C++ Programming Guide, throughput of native arithmetic instructions"
_AMPERE = Rates(
    issued=128,
    alu=64,
    fma=64,
    slow=16,
    words=32,
    tensor=8,
    source=f"{_GUIDE}; NVIDIA, GA102 whitepaper, 128 bytes a clock of shared memory",
)
RATES: Mapping[str, Rates] = {
    "sm_75": Rates(
        issued=128,
        alu=64,
        fma=64,
        slow=16,
        words=16,
        tensor=8,
        source=f"{_GUIDE}; NVIDIA, Turing whitepaper, 64 bytes a clock of shared memory",
    ),
    "sm_86": _AMPERE,
    "sm_90": Rates(
        issued=128,
        alu=64,
        fma=64,
        slow=16,
        words=32,
        tensor=16,
        source=f"{_GUIDE}; tensor as NVIDIA says of A100, for Hopper it says nothing",
    ),
}
_LAPTOP = (
    "NVIDIA, GeForce laptop comparison, highest boost clock; cache and eight lanes of PCIe 4 as "
    "its chips are specified"
)
# PCI-SIG: 16 and 32 GT/s a lane, 128 bits of 130 for data.
_PCIE_4_X8, _PCIE_5_X16 = 8 * 16e9 / 8 * 128 / 130, 16 * 32e9 / 8 * 128 / 130


def _laptop(name: str, clock_hz: float, memory_bytes_per_s: float, cache_bytes: int) -> Gpu:
    """A GPU of the document, which are those of laptops, with as many multiprocessors as it says.

    RTX 4070 and 4060 are Ada, of which no machine code was accepted: they are projected with code
    and rates of sm_86, which the same multiprocessor had before them.
    """
    return Gpu(
        name,
        _published(name),
        clock_hz,
        "sm_86",
        99 * 1024,
        memory_bytes_per_s,
        cache_bytes,
        _PCIE_4_X8,
        _LAPTOP,
    )


GPUS = (
    _laptop("RTX 3050", 1.740e9, 192e9, 2 << 20),
    _laptop("RTX 4070", 2.175e9, 256e9, 32 << 20),
    _laptop("RTX 4060", 2.370e9, 256e9, 32 << 20),
    Gpu(
        "H200",
        132,
        1.980e9,
        "sm_90",
        227 * 1024,
        4.8e12,
        50 << 20,
        _PCIE_5_X16,
        "NVIDIA, H200 datasheet and Hopper architecture; nvidia-smi",
    ),
)
