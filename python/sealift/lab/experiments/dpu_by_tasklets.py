"""Cycles a byte of every kernel by tasklets, with and without the hazard of register banks."""

from collections.abc import Iterable

from sealift.lab.dpus import CHUNK_BYTES, KERNELS, cycles_a_byte, kept, model
from sealift.lab.dpus.kernel import steady, steady_bytes
from sealift.lab.result import Found, Origin
from sealift.lab.spec import Axis, Brief, Computed, Context, Experiment, Plot, Scope
from sealift.lab.values import Cell


def _cells(scope: Scope) -> Iterable[Cell]:
    if scope.quick:
        return
    for kernel in KERNELS:
        for tasklets in range(1 + kernel.movers, TASKLETS_MOST + 1):
            for hazard in HAZARDS:
                yield {
                    KERNEL.name: kernel.title,
                    TASKLETS.name: tasklets,
                    HAZARD.name: hazard,
                }


def _arm(cell: Cell, _: Context) -> Computed:
    kernel = next(each for each in KERNELS if each.title == cell[KERNEL.name])
    tasklets, hazard = int(cell[TASKLETS.name]), cell[HAZARD.name] == ON
    run = steady(kernel, tasklets, hazard=hazard)
    return Computed(
        {
            RATE: kept(cycles_a_byte(kernel, tasklets, hazard=hazard)),
            "instructions a byte": kept(run.instructions / steady_bytes(kernel, tasklets)),
            "instructions a cycle": kept(run.instructions / run.cycles),
            "waiting for transfers, %": kept(100 * run.idle_dma_cycles / run.cycles),
            "lost to the hazard, %": kept(100 * run.idle_hazard_cycles / run.cycles),
            "checked against": run.checked_against,
        }
    )


def _says(found: Found) -> str:
    """The bracket of each kernel where it is at its best, and from how many tasklets on that is."""
    told = []
    for kernel in KERNELS:
        rates = {
            hazard: {
                int(each.cell[TASKLETS.name]): float(each.facts[RATE])
                for each in found.verified
                if each.facts
                and each.cell[KERNEL.name] == kernel.title
                and each.cell[HAZARD.name] == hazard
            }
            for hazard in HAZARDS
        }
        if TOLD_AT in rates[OFF] and TOLD_AT in rates[ON]:
            told.append(f"{kernel.title} {rates[OFF][TOLD_AT]:.1f} to {rates[ON][TOLD_AT]:.1f}")
    if not told:
        return ""
    return (
        f"Cycles a byte with {TOLD_AT} tasklets, without and with the hazard of register banks, "
        f"which published figures disagree about: {'; '.join(told)}. One tasklet alone issues "
        f"every eleventh cycle; from eleven on more tasklets hide nothing more"
    )


KERNEL, TASKLETS = Axis("kernel", "kernel"), Axis("tasklets", "tasklets")
HAZARD = Axis("hazard", "hazard of register banks")
OFF, ON = HAZARDS = ("off", "on")
TASKLETS_MOST, TOLD_AT = 24, 16
RATE = "cycles a byte"

EXPERIMENT = Experiment(
    name="dpu-by-tasklets",
    id="000-P1-tasklets",
    title="Cycles a byte on one DPU, by tasklets",
    why=f"What do ECB, CTR, GHASH and GCM under AES-128 take of a DPU with 1 to {TASKLETS_MOST} "
    f"tasklets in chunks of {CHUNK_BYTES} bytes, and how much of that hangs on how register banks "
    "are modelled?",
    axes=(KERNEL, TASKLETS, HAZARD),
    compare=HAZARD.name,
    cells=_cells,
    arm=_arm,
    operation="byte",
    says=_says,
    plots=(
        Plot(
            x=TASKLETS.name,
            y=RATE,
            z=KERNEL.name,
            title="Cycles a byte by tasklets",
            facet=HAZARD.name,
            log_y=True,
        ),
        Plot(
            x=KERNEL.name,
            y=RATE,
            z=HAZARD.name,
            title=f"The bracket of each kernel, {TOLD_AT} tasklets",
            where={TASKLETS.name: TOLD_AT},
        ),
    ),
    weight=0.2,
    origin=Origin.SIMULATED,
    takes_s=6.5,
    stands_on=model.SIMULATED,
    brief=Brief(
        {
            RATE: RATE,
            "instructions a byte": "instructions a byte",
            "waiting for transfers, %": "waiting, %",
            "lost to the hazard, %": "hazard, %",
        },
        where={TASKLETS.name: TOLD_AT},
    ),
)
