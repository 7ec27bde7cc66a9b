"""The generated kernels on one simulated DPU, every byte of theirs compared."""

from dataclasses import dataclass
from functools import lru_cache

from sealift import _sealift
from sealift._sealift import DpuKernelRun


@dataclass(frozen=True)
class Kernel:
    """A kernel that works MRAM with any number of tasklets.

    Attributes:
        name: As `run_dpu_kernel` knows it.
        title: As people read it.
        movers: Tasklets of it that only move data.
        message_bytes: Of each message where each has a key of its own; 0 for one long text.
    """

    name: str
    title: str
    movers: int = 0
    message_bytes: int = 0


def cycles_a_byte(kernel: Kernel, tasklets: int, *, hazard: bool) -> float:
    """What a byte takes of a DPU whose tasklets all have work, in cycles.

    Args:
        kernel: Which one.
        tasklets: In all, those that only move data among them.
        hazard: Whether registers that meet in a bank cost a cycle.
    """
    run = steady(kernel, tasklets, hazard=hazard)
    return run.cycles / steady_bytes(kernel, tasklets)


def steady_bytes(kernel: Kernel, tasklets: int) -> int:
    """How much is worked to find a rate: the same number of chunks for each tasklet."""
    if kernel.message_bytes:
        return MESSAGES * kernel.message_bytes * tasklets
    return CHUNKS * CHUNK_BYTES * (tasklets - kernel.movers)


def steady(kernel: Kernel, tasklets: int, *, hazard: bool) -> DpuKernelRun:
    """The run that `cycles_a_byte` is taken from; the arguments are the same."""
    if kernel.message_bytes:
        return _messages_run(kernel.message_bytes, tasklets, hazard=hazard)
    return kernel_run(
        kernel.name,
        tasklets=tasklets - kernel.movers,
        data_bytes=steady_bytes(kernel, tasklets),
        hazard=hazard,
    )


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
    """One run of a kernel under a key of 128 bits; the same one is done once in a process.

    Args:
        name: As `run_dpu_kernel` knows it.
        tasklets: Those that work.
        data_bytes: In MRAM.
        hazard: Whether registers that meet in a bank cost a cycle.
        decrypts: The other way.
        counts: What the timer of document 000's kernel counts.
        chunk_bytes: What a tasklet fetches at once.

    Raises:
        InputError: If it can't be run so.
        WrongResultError: If it gives something wrong.
    """
    return _sealift.run_dpu_kernel(
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
    return _sealift.run_dpu_messages(
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


def kept(value: float) -> float:
    """With six significant digits, as results keep what was computed."""
    return float(f"{value:.6g}")


# 24 tasklets of every kernel have room for buffers of so much.
CHUNK_BYTES = 512
# Of each tasklet: what is done once is then a few thousandths.
CHUNKS = 3
# Of each tasklet.
MESSAGES = 2
ECB, ECB_BY_BANK = Kernel("ecb", "ECB"), Kernel("ecb-by-bank", "ECB, registers by bank")
ECB_FED = Kernel("ecb-fed", "ECB, fed by one tasklet", movers=1)
CTR, GHASH = Kernel("ctr", "CTR"), Kernel("ghash", "GHASH")
GCM = Kernel("gcm", "GCM, one key")
GCM_128, GCM_1024 = (
    Kernel("gcm-many-keys", f"GCM, a key for each {size:,} B", message_bytes=size)
    for size in (128, 1_024)
)
KERNELS = (ECB, ECB_BY_BANK, ECB_FED, CTR, GHASH, GCM, GCM_128, GCM_1024)
