"""000-P2: from which amount on transfers cost little, 128 B to 64 MiB for each DPU."""

from collections.abc import Iterable
from dataclasses import dataclass

from sealift_lab.experiments.document_000.kernel import (
    CHUNK_BYTES,
    ECB_FED,
    GCM,
    Kernel,
    kernel_run,
    six_digits,
)
from sealift_lab.experiments.document_000.system import SYSTEMS, system_of, transfers
from sealift_lab.experiments.notes import read_notes
from sealift_lab.model.experiment import Axis, Chart, Experiment, Scope
from sealift_lab.model.results import Origin
from sealift_lab.model.sample import Computed, Context
from sealift_lab.model.values import Cell


@dataclass(frozen=True)
class DpuTime:
    """Time of one DPU.

    Attributes:
        cycles: In all.
        waiting: Those without an instruction while tasklets wait for transfers.
    """

    cycles: float
    waiting: float


def dpu_time(kernel: Kernel, dpu_bytes: int) -> DpuTime:
    """Time of 16 tasklets for an amount of data, in chunks that all share where there are enough.

    Beyond `SIMULATED_MAX` each byte takes what it took on average in the last half of that.

    Args:
        kernel: Its movers come on top of the 16.
        dpu_bytes: 128 or more.
    """
    if dpu_bytes <= SIMULATED_MAX:
        return _simulated(kernel, dpu_bytes)
    whole, half = _simulated(kernel, SIMULATED_MAX), _simulated(kernel, SIMULATED_MAX // 2)
    times = (dpu_bytes - SIMULATED_MAX) / (SIMULATED_MAX - SIMULATED_MAX // 2)
    return DpuTime(
        whole.cycles + times * (whole.cycles - half.cycles),
        whole.waiting + times * (whole.waiting - half.waiting),
    )


def chunk_bytes(dpu_bytes: int) -> int:
    """The largest chunk of which each tasklet gets one; 32 bytes at least."""
    share = max(CHUNK_BYTES_MIN, dpu_bytes // TASKLETS)
    return min(CHUNK_BYTES, 1 << (share.bit_length() - 1))


def _simulated(kernel: Kernel, dpu_bytes: int) -> DpuTime:
    run = kernel_run(
        kernel.name, tasklets=TASKLETS, data_bytes=dpu_bytes, chunk_bytes=chunk_bytes(dpu_bytes)
    )
    return DpuTime(run.cycles, run.idle_dma_cycles)


def _cells(scope: Scope) -> Iterable[Cell]:
    if scope.quick:
        return
    for system in SYSTEMS:
        for kernel in KERNELS:
            for dpu_bytes in AMOUNTS:
                yield {SYSTEM.name: system.title, KERNEL.name: kernel.title, AMOUNT.name: dpu_bytes}


def _arm(cell: Cell, _: Context) -> Computed:
    system, dpu_bytes = system_of(cell), int(cell[AMOUNT.name])
    kernel = next(each for each in KERNELS if each.title == cell[KERNEL.name])
    work, largest = dpu_time(kernel, dpu_bytes), dpu_time(kernel, AMOUNTS[-1])
    work_s = work.cycles / system.clock_hz
    host_s = transfers("SDK").seconds(dpu_bytes, system.dpus)
    total_s = host_s + work_s
    return Computed(
        {
            CYCLES: six_digits(work.cycles / dpu_bytes),
            "times those of 64 MiB": six_digits(
                work.cycles / dpu_bytes / (largest.cycles / AMOUNTS[-1])
            ),
            BUSY_TASKLETS: float(min(TASKLETS, dpu_bytes // chunk_bytes(dpu_bytes))),
            WAITING: six_digits(100 * work.waiting / work.cycles),
            "a DPU's work, ms": six_digits(1e3 * work_s),
            "to DPUs and back, ms": six_digits(1e3 * host_s),
            HOST_SHARE: six_digits(100 * host_s / total_s),
            GB_PER_S: six_digits(system.dpus * dpu_bytes / total_s / 1e9),
            "cycles are": "simulated" if dpu_bytes <= SIMULATED_MAX else "projected",
        }
    )


SYSTEM, KERNEL = Axis("system", "system"), Axis("kernel", "kernel")
AMOUNT = Axis("dpu_bytes", "bytes for each DPU")
CYCLES, BUSY_TASKLETS = "cycles a byte", "tasklets with a chunk"
WAITING = "waiting for MRAM, % of a DPU's time"
HOST_SHARE, GB_PER_S = "to DPUs and back, % of all the time", "all in all, GB/s"
TASKLETS, CHUNK_BYTES_MIN = 16, 32
AMOUNTS = (*(128 << (2 * power) for power in range(10)), 64 << 20)
SIMULATED_MAX = 128 << 10
KERNELS = (ECB_FED, GCM)
SMALL: Cell = {SYSTEM.name: SYSTEMS[0].title}

BY_AMOUNT = Experiment(
    name="dpu-amounts",
    id="000-P2",
    title="When transfers stop being negligible: 128 B to 64 MiB for each DPU",
    question="The document calls transfers negligible but for very small amounts: which amounts "
    "are those, and does that hold for transfers from host memory, too?",
    axes=(SYSTEM, KERNEL, AMOUNT),
    compare=KERNEL.name,
    cells=_cells,
    arm=_arm,
    operation="amount",
    charts=(
        Chart(
            x=AMOUNT.name,
            series=KERNEL.name,
            y=CYCLES,
            title="Cycles a byte by amount",
            where=SMALL,
            log_x=True,
            log_y=True,
        ),
        Chart(
            x=AMOUNT.name,
            series=KERNEL.name,
            y=WAITING,
            title="A DPU's wait for MRAM",
            where=SMALL,
            log_x=True,
        ),
        Chart(
            x=AMOUNT.name,
            series=SYSTEM.name,
            y=HOST_SHARE,
            title="Transfers from host memory and back",
            panels=KERNEL.name,
            log_x=True,
        ),
    ),
    preferred=SMALL,
    columns={
        CYCLES: CYCLES,
        BUSY_TASKLETS: "tasklets",
        WAITING: "waits for MRAM, %",
        HOST_SHARE: "there and back, %",
        GB_PER_S: "GB/s",
    },
    origin=Origin.PROJECTED,
    weight=0.1,
    estimated_s=0.9,
    notes=read_notes(__package__, "amounts", "projection", "simulation"),
)
