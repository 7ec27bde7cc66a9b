"""The GPUs, and the limit that their units set to known machine code.

A multiprocessor issues four instructions of 32 lanes a clock, and each of its units works a fixed
number of lanes a clock. The unit with most clocks sets the limit. Nothing waits, neither for memory
nor for results, so measured speeds lie below it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sealift_lab.model.published import table

Counts = Mapping[str, float]
"""Instructions of one lane by kind; 4-byte words where the kind is a memory."""


@dataclass(frozen=True)
class Rates:
    """Lanes that a multiprocessor works in a clock, by unit.

    Attributes:
        issued: All instructions together.
        alu: Logic, byte permutations, shifts, additions.
        fma: Products of 32 bits; one of 64 bits takes two turns.
        slow: Bit counts and the like.
        words: 4-byte words of shared and global memory, without bank conflicts.
        tensor: Products of binary matrices; a warp's product is 32 lanes.
        source: Where they are documented.
    """

    issued: float
    alu: float
    fma: float
    slow: float
    words: float
    tensor: float
    source: str

    def clocks(self, counts: Counts) -> dict[str, float]:
        """Clocks of each unit for these instructions of one lane."""
        work = {
            "issue": (counts["issued"], self.issued),
            "alu": (counts["alu"], self.alu),
            "fma": (counts["fma"] + WIDE_TURNS * counts["wide"], self.fma),
            "slow": (counts["slow"], self.slow),
            LOAD_AND_STORE: (counts["shared"] + counts["global"] + counts["local"], self.words),
            "tensor": (counts["tensor"], self.tensor),
        }
        return {unit: lanes / rate for unit, (lanes, rate) in work.items() if lanes}


@dataclass(frozen=True)
class Limit:
    """An upper limit of throughput.

    Attributes:
        bytes_per_s: Of payload.
        clocks_a_block: Of a multiprocessor for 16 bytes of payload, memory left out.
        unit: The unit that sets the limit, or `memory`.
    """

    bytes_per_s: float
    clocks_a_block: float
    unit: str


@dataclass(frozen=True)
class Gpu:
    """A GPU as the model needs it.

    Attributes:
        name: As people call it.
        multiprocessors: How many.
        clock_hz: Boost clock, which it need not keep.
        architecture: Whose machine code and rates are used.
        shared_bytes: Shared memory that one block can have.
        memory_bytes_per_s: Reads and writes of its memory together.
        cache_bytes: Last cache before that memory.
        link_bytes_per_s: To the host, and as much from it at the same time.
        source: Where clock, memory, cache and link are documented.
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
        """The limit of code on data in this GPU's memory.

        Args:
            counts: Instructions of a lane for some payload.
            payload_bytes: That payload.
            moved_bytes: Read and written for it.
        """
        clocks = RATES[self.architecture].clocks(counts)
        unit = max(clocks, key=clocks.__getitem__)
        a_byte = clocks[unit] / payload_bytes
        by_units = self.multiprocessors * self.clock_hz / a_byte
        by_memory = self.memory_bytes_per_s * payload_bytes / moved_bytes
        limiting = "memory" if by_memory < by_units else unit
        return Limit(min(by_units, by_memory), BLOCK_BYTES * a_byte, limiting)


def document_gpu() -> Gpu:
    """The GPU of the document's figures."""
    return next(gpu for gpu in GPUS if gpu.name == "RTX 4070")


def _laptop(name: str, clock_hz: float, memory_bytes_per_s: float, cache_bytes: int) -> Gpu:
    """A laptop GPU of the document.

    RTX 4070 and 4060 are Ada, for which no machine code was accepted: code and rates of sm_86 stand
    in, whose multiprocessor is the same.
    """
    rows = table("003-T5-gpu-generations")
    units = next(int(row["sm"]) for row in rows if row["gpu"].startswith(name))
    memory = memory_bytes_per_s, cache_bytes
    return Gpu(name, units, clock_hz, "sm_86", 99 << 10, *memory, PCIE_4_X8, LAPTOP_SOURCE)


BLOCK_BYTES = 16
# The unit that all four parts of a multiprocessor share.
LOAD_AND_STORE = "load and store"
# A product of 64 bits fills two registers, one after the other.
WIDE_TURNS = 2
GUIDE = "NVIDIA, CUDA C++ Programming Guide, throughput of native arithmetic instructions"
RATES: Mapping[str, Rates] = {
    "sm_75": Rates(
        128, 64, 64, 16, 16, 8, f"{GUIDE}; Turing whitepaper, 64 bytes a clock of shared memory"
    ),
    "sm_86": Rates(
        128, 64, 64, 16, 32, 8, f"{GUIDE}; GA102 whitepaper, 128 bytes a clock of shared memory"
    ),
    "sm_90": Rates(
        128, 64, 64, 16, 32, 16, f"{GUIDE}; tensor as documented for A100, for Hopper it is not"
    ),
}
# PCI-SIG: 16 and 32 GT/s a lane, 128 bits of 130 for data.
PCIE_4_X8, PCIE_5_X16 = 8 * 16e9 / 8 * 128 / 130, 16 * 32e9 / 8 * 128 / 130
LAPTOP_SOURCE = (
    "NVIDIA, GeForce laptop comparison, highest boost clock; cache and eight lanes of PCIe 4 as "
    "its chips are specified"
)
H200_SOURCE = "NVIDIA, H200 datasheet and Hopper architecture; nvidia-smi"
GPUS = (
    _laptop("RTX 3050", 1.740e9, 192e9, 2 << 20),
    _laptop("RTX 4070", 2.175e9, 256e9, 32 << 20),
    _laptop("RTX 4060", 2.370e9, 256e9, 32 << 20),
    Gpu("H200", 132, 1.980e9, "sm_90", 227 << 10, 4.8e12, 50 << 20, PCIE_5_X16, H200_SOURCE),
)
