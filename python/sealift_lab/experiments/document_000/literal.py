"""Document 000's own algorithm: one instruction for each operation of its source, one tasklet."""

from collections.abc import Mapping
from dataclasses import dataclass

from sealift_lab._lab import DpuKernelRun
from sealift_lab.experiments.document_000.kernel import kernel_run


@dataclass(frozen=True)
class Timing:
    """The document's timer on the simulated DPU, for 2,048 bytes, in cycles or in instructions.

    Attributes:
        with_dma: From before the transfer out of MRAM to after the one into it.
        without_dma: Between the two transfers.
    """

    with_dma: float
    without_dma: float


def timing(operation: str, counts: str) -> Timing:
    """Runs the algorithm once.

    Args:
        operation: `Encryption` or `Decryption`.
        counts: `cycles` or `instructions`.
    """
    begin, fetched, finished, end = _run(operation, counts).times
    return Timing(float(TIMER_STEP * (end - begin)), float(TIMER_STEP * (finished - fetched)))


def cycles_a_byte() -> float:
    """Cycles a byte of one tasklet that encrypts, transfers included."""
    return timing("Encryption", "cycles").with_dma / BUFFER_BYTES


def instructions_a_byte() -> float:
    """Instructions a byte: its cycles where eleven tasklets or more share the work."""
    return timing("Encryption", "instructions").with_dma / BUFFER_BYTES


def mnemonics(operation: str) -> Mapping[str, float]:
    """Instructions a block by mnemonic, most frequent first."""
    return {name: count / BLOCKS for name, count in _run(operation, "cycles").mnemonics}


def _run(operation: str, counts: str) -> DpuKernelRun:
    return kernel_run(
        "document-000",
        tasklets=1,
        data_bytes=BUFFER_BYTES,
        decrypts=operation == "Decryption",
        counts=counts,
    )


OPERATIONS = ("Encryption", "Decryption")
BUFFER_BYTES = 2_048
BLOCKS = BUFFER_BYTES // 16
# The timer counts in steps of 16 cycles or instructions.
TIMER_STEP = 16
