"""000-P1-tasklets: cycles a byte of every kernel by tasklets, with and without the hazard."""

from collections.abc import Iterable

from sealift_lab.experiments.document_000.kernel import (
    CHUNK_BYTES,
    KERNELS,
    cycles_a_byte,
    six_digits,
    steady,
    steady_bytes,
)
from sealift_lab.experiments.notes import read_notes
from sealift_lab.model.experiment import Axis, Chart, Experiment, Scope
from sealift_lab.model.results import Origin
from sealift_lab.model.sample import Computed, Context
from sealift_lab.model.values import Cell


def _cells(scope: Scope) -> Iterable[Cell]:
    if scope.quick:
        return
    for kernel in KERNELS:
        for tasklets in range(1 + kernel.movers, TASKLETS_MAX + 1):
            for hazard in ("off", "on"):
                yield {KERNEL.name: kernel.title, TASKLETS.name: tasklets, HAZARD.name: hazard}


def _arm(cell: Cell, _: Context) -> Computed:
    kernel = next(each for each in KERNELS if each.title == cell[KERNEL.name])
    tasklets, hazard = int(cell[TASKLETS.name]), cell[HAZARD.name] == "on"
    run = steady(kernel, tasklets, hazard=hazard)
    return Computed(
        {
            CYCLES: six_digits(cycles_a_byte(kernel, tasklets, hazard=hazard)),
            "instructions a byte": six_digits(run.instructions / steady_bytes(kernel, tasklets)),
            "instructions a cycle": six_digits(run.instructions / run.cycles),
            "waiting for transfers, %": six_digits(100 * run.idle_dma_cycles / run.cycles),
            "lost to the hazard, %": six_digits(100 * run.idle_hazard_cycles / run.cycles),
            "checked against": run.checked_against,
        }
    )


KERNEL, TASKLETS = Axis("kernel", "kernel"), Axis("tasklets", "tasklets")
HAZARD = Axis("hazard", "hazard of register banks")
TASKLETS_MAX, TASKLETS_SHOWN = 24, 16
CYCLES = "cycles a byte"

BY_TASKLETS = Experiment(
    name="dpu-by-tasklets",
    id="000-P1-tasklets",
    title="Cycles a byte on one DPU, by tasklets",
    question="How many cycles a byte do ECB, CTR, GHASH and GCM under AES-128 take on a DPU with 1 "
    f"to {TASKLETS_MAX} tasklets in chunks of {CHUNK_BYTES} bytes, and how much of that depends on "
    "how register banks are modelled?",
    axes=(KERNEL, TASKLETS, HAZARD),
    compare=HAZARD.name,
    cells=_cells,
    arm=_arm,
    operation="byte",
    charts=(
        Chart(
            x=TASKLETS.name,
            series=KERNEL.name,
            y=CYCLES,
            title="Cycles a byte by tasklets",
            panels=HAZARD.name,
            log_y=True,
        ),
        Chart(
            x=KERNEL.name,
            series=HAZARD.name,
            y=CYCLES,
            title=f"Each kernel with {TASKLETS_SHOWN} tasklets, with and without the hazard",
            where={TASKLETS.name: TASKLETS_SHOWN},
        ),
    ),
    preferred={TASKLETS.name: TASKLETS_SHOWN},
    columns={
        CYCLES: CYCLES,
        "instructions a byte": "instructions a byte",
        "waiting for transfers, %": "waiting, %",
        "lost to the hazard, %": "hazard, %",
    },
    origin=Origin.SIMULATED,
    weight=0.2,
    estimated_s=6.5,
    notes=read_notes(__package__, "simulation"),
)
