"""Generated kernels on one simulated DPU; the simulator compares every byte of their output."""

from dataclasses import dataclass
from functools import lru_cache

from sealift_lab import _lab
from sealift_lab._lab import DpuKernelRun


@dataclass(frozen=True)
class Kernel:
    """A kernel that processes data in MRAM with any number of tasklets.

    Attributes:
        name: As `run_dpu_kernel` knows it.
        title: As it stands in cells.
        movers: Tasklets that only move data.
        message_bytes: Length of each message under a key of its own; 0 for one long text.
    """

    name: str
    title: str
    movers: int = 0
    message_bytes: int = 0


def cycles_a_byte(kernel: Kernel, tasklets: int, *, hazard: bool) -> float:
    """Cycles a byte of a DPU whose tasklets all have work.

    Args:
        kernel: A generated kernel.
        tasklets: All of them, movers included.
        hazard: Whether two operands in one register bank cost a cycle.
    """
    return steady(kernel, tasklets, hazard=hazard).cycles / steady_bytes(kernel, tasklets)


def steady_bytes(kernel: Kernel, tasklets: int) -> int:
    """Bytes processed by `steady`: equally many chunks for each tasklet."""
    if kernel.message_bytes:
        return MESSAGES * kernel.message_bytes * tasklets
    return CHUNKS * CHUNK_BYTES * (tasklets - kernel.movers)


def steady(kernel: Kernel, tasklets: int, *, hazard: bool) -> DpuKernelRun:
    """The run that `cycles_a_byte` is taken from; the arguments are the same."""
    if kernel.message_bytes:
        return _messages_run(kernel.message_bytes, tasklets, hazard=hazard)
    data_bytes, workers = steady_bytes(kernel, tasklets), tasklets - kernel.movers
    return kernel_run(kernel.name, tasklets=workers, data_bytes=data_bytes, hazard=hazard)


@lru_cache(maxsize=2048)
def kernel_run(
    name: str,
    *,
    tasklets: int,
    data_bytes: int,
    hazard: bool = False,
    decrypts: bool = False,
    counts: str = "cycles",
    chunk_bytes: int = 512,
) -> DpuKernelRun:
    """One run of a kernel under a key of 128 bits, cached.

    Args:
        name: As `run_dpu_kernel` knows it.
        tasklets: Those that encrypt; movers come on top.
        data_bytes: In MRAM.
        hazard: Whether two operands in one register bank cost a cycle.
        decrypts: Whether it decrypts.
        counts: Unit of the timer of document 000's kernel: `cycles` or `instructions`.
        chunk_bytes: Bytes that a tasklet fetches at once.

    Raises:
        InputError: If the simulator refuses one of the numbers.
        WrongResultError: If the output is wrong.
    """
    return _lab.run_dpu_kernel(
        {
            "kernel": name,
            "key_bits": 128,
            "decrypts": decrypts,
            "tasklets": tasklets,
            "chunk_bytes": chunk_bytes,
            "bytes": data_bytes,
            "hazard": hazard,
            "counts": counts,
        }
    )


@lru_cache(maxsize=256)
def _messages_run(message_bytes: int, tasklets: int, *, hazard: bool) -> DpuKernelRun:
    return _lab.run_dpu_messages(
        {
            "key_bits": 128,
            "decrypts": False,
            "tasklets": tasklets,
            "chunk_bytes": CHUNK_BYTES,
            "messages": MESSAGES * tasklets,
            "message_bytes": message_bytes,
            "hazard": hazard,
        }
    )


def six_digits(value: float) -> float:
    """Rounded to the six significant digits in which computed facts are stored."""
    return float(f"{value:.6g}")


# 24 tasklets of every kernel have room in WRAM for buffers of this size.
CHUNK_BYTES = 512
# Of each tasklet: set-up is then a few thousandths of the time.
CHUNKS, MESSAGES = 3, 2
ECB, ECB_BY_BANK = Kernel("ecb", "ECB"), Kernel("ecb-by-bank", "ECB, registers by bank")
ECB_FED = Kernel("ecb-fed", "ECB, fed by one tasklet", movers=1)
CTR, GHASH = Kernel("ctr", "CTR"), Kernel("ghash", "GHASH")
GCM = Kernel("gcm", "GCM, one key")
GCM_128, GCM_1024 = (
    Kernel("gcm-many-keys", f"GCM, a key for each {size:,} B", message_bytes=size)
    for size in (128, 1_024)
)
KERNELS = (ECB, ECB_BY_BANK, ECB_FED, CTR, GHASH, GCM, GCM_128, GCM_1024)
