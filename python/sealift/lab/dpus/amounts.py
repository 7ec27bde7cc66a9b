"""What a DPU takes for an amount of data: simulated as far as that is quick, and on by its rate."""

from dataclasses import dataclass

from sealift.lab.dpus.kernel import CHUNK_BYTES, ECB_FED, GCM, Kernel, kernel_run


@dataclass(frozen=True)
class Taken:
    """What one DPU takes.

    Attributes:
        cycles: In all.
        waiting: Of them those without an instruction while tasklets wait for transfers.
    """

    cycles: float
    waiting: float


def taken(kernel: Kernel, dpu_bytes: int) -> Taken:
    """What 16 tasklets take for an amount, in chunks that all of them share where there are enough.

    Beyond `SIMULATED_MOST` each byte takes what it took on average in the last half of that.

    Args:
        kernel: Which one; those of its tasklets that move data come on top.
        dpu_bytes: 128 or more.
    """
    if dpu_bytes <= SIMULATED_MOST:
        return _simulated(kernel, dpu_bytes)
    whole, half = _simulated(kernel, SIMULATED_MOST), _simulated(kernel, SIMULATED_MOST // 2)
    times = (dpu_bytes - SIMULATED_MOST) / (SIMULATED_MOST - SIMULATED_MOST // 2)
    return Taken(
        whole.cycles + times * (whole.cycles - half.cycles),
        whole.waiting + times * (whole.waiting - half.waiting),
    )


def _simulated(kernel: Kernel, dpu_bytes: int) -> Taken:
    run = kernel_run(
        kernel.name,
        tasklets=TASKLETS,
        data_bytes=dpu_bytes,
        chunk_bytes=chunk_bytes(dpu_bytes),
    )
    return Taken(run.cycles, run.idle_dma_cycles)


def chunk_bytes(dpu_bytes: int) -> int:
    """The largest chunk of which each tasklet gets one; 32 bytes at least."""
    share = max(CHUNK_LEAST, dpu_bytes // TASKLETS)
    return min(CHUNK_BYTES, 1 << (share.bit_length() - 1))


TASKLETS = 16
CHUNK_LEAST = 32
AMOUNTS = (*(128 << (2 * power) for power in range(10)), 64 << 20)
SIMULATED_MOST = 128 << 10
KERNELS_BY_AMOUNT = (ECB_FED, GCM)
