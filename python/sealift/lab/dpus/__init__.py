"""DPUs, simulated by instructions and projected to systems of them; never measured."""

from sealift.lab.dpus.kernel import (
    CHUNK_BYTES,
    KERNELS,
    Kernel,
    cycles_a_byte,
    kept,
    kernel_run,
)
from sealift.lab.dpus.literal import LITERAL_BYTES, Encryption, Reading, literal
from sealift.lab.dpus.system import SYSTEMS, System, Transfers, transfers
from sealift.lab.dpus.transfer import Direction, Fit, fitted, latency

__all__ = [
    "CHUNK_BYTES",
    "KERNELS",
    "LITERAL_BYTES",
    "SYSTEMS",
    "Direction",
    "Encryption",
    "Fit",
    "Kernel",
    "Reading",
    "System",
    "Transfers",
    "cycles_a_byte",
    "fitted",
    "kept",
    "kernel_run",
    "latency",
    "literal",
    "transfers",
]
