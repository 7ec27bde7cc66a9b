"""From which amount on transfers cost little: 128 B to 64 MiB for each DPU."""

from collections.abc import Iterable, Mapping

from sealift.lab.dpus import SYSTEMS, kept, model, transfers
from sealift.lab.dpus.amounts import AMOUNTS, KERNELS_BY_AMOUNT, SIMULATED_MOST, taken
from sealift.lab.dpus.projected import system_of
from sealift.lab.result import Found, Origin
from sealift.lab.spec import Axis, Brief, Computed, Context, Experiment, Plot, Scope
from sealift.lab.values import Cell, Value


def _cells(scope: Scope) -> Iterable[Cell]:
    if scope.quick:
        return
    for system in SYSTEMS:
        for kernel in KERNELS_BY_AMOUNT:
            for dpu_bytes in AMOUNTS:
                yield {
                    SYSTEM.name: system.title,
                    KERNEL.name: kernel.title,
                    AMOUNT.name: dpu_bytes,
                }


def _arm(cell: Cell, _: Context) -> Computed:
    system, dpu_bytes = system_of(cell), int(cell[AMOUNT.name])
    kernel = next(each for each in KERNELS_BY_AMOUNT if each.title == cell[KERNEL.name])
    work = taken(kernel, dpu_bytes)
    work_s = system.seconds(work.cycles)
    to_dpus, from_dpus = transfers("SDK").rates(dpu_bytes, system.dpus)
    moved = system.dpus * dpu_bytes
    host_s = moved / to_dpus + moved / from_dpus
    return Computed(
        {
            "cycles a byte": kept(work.cycles / dpu_bytes),
            WAITING: kept(100 * work.waiting / work.cycles),
            "a DPU's work, ms": kept(1e3 * work_s),
            "to DPUs and back, ms": kept(1e3 * host_s),
            SHARE: kept(100 * host_s / (host_s + work_s)),
            "all in all, GB/s": kept(moved / (host_s + work_s) / 1e9),
            "cycles are": "simulated" if dpu_bytes <= SIMULATED_MOST else "projected",
        }
    )


def _says(found: Found) -> str:
    """The most that a DPU waits for its memory, and the least that the way to it takes."""
    told = []
    for kernel in KERNELS_BY_AMOUNT:
        facts = _facts(found, SYSTEMS[0].title, kernel.title)
        if len(facts) < len(AMOUNTS):
            continue
        waits, shares = (
            {size: float(each[name]) for size, each in facts.items()} for name in (WAITING, SHARE)
        )
        longest, least = (
            max(waits, key=lambda size: waits[size]),
            min(shares, key=lambda size: shares[size]),
        )
        told.append(
            f"{kernel.title}: a DPU waits {waits[longest]:.1f} % of its time for its own memory at "
            f"most, with {longest:,} B, and the way from host memory and back is "
            f"{shares[least]:.0f} % of all the time at least, with {least:,} B for each"
        )
    if not told:
        return ""
    return (
        f"With {SYSTEMS[0].title}: {'; '.join(told)}. So the first are negligible with every "
        "amount, and the second, of which the document does not speak, with none"
    )


def _facts(found: Found, system: str, kernel: str) -> dict[int, Mapping[str, Value]]:
    return {
        int(each.cell[AMOUNT.name]): each.facts
        for each in found.verified
        if each.facts and (each.cell[SYSTEM.name], each.cell[KERNEL.name]) == (system, kernel)
    }


SYSTEM, KERNEL = Axis("system", "system"), Axis("kernel", "kernel")
AMOUNT = Axis("dpu_bytes", "bytes for each DPU")
WAITING = "waiting for MRAM, % of a DPU's time"
SHARE = "to DPUs and back, % of all the time"

EXPERIMENT = Experiment(
    name="dpu-amounts",
    id="000-P2",
    title="When transfers stop being negligible: 128 B to 64 MiB for each DPU",
    why="The document calls transfers negligible but for very small amounts: which amounts are "
    "those, and does that hold for the way from host memory, too?",
    axes=(SYSTEM, KERNEL, AMOUNT),
    compare=KERNEL.name,
    cells=_cells,
    arm=_arm,
    operation="amount",
    says=_says,
    plots=(
        Plot(
            x=AMOUNT.name,
            y=WAITING,
            z=KERNEL.name,
            title="A DPU's wait for MRAM",
            where={SYSTEM.name: SYSTEMS[0].title},
            log_x=True,
        ),
        Plot(
            x=AMOUNT.name,
            y=SHARE,
            z=SYSTEM.name,
            title="The way from host memory and back",
            facet=KERNEL.name,
            log_x=True,
        ),
    ),
    weight=0.1,
    origin=Origin.PROJECTED,
    takes_s=0.9,
    stands_on=model.PROJECTED,
    brief=Brief(
        {
            WAITING: "waits for MRAM, %",
            "a DPU's work, ms": "work, ms",
            "to DPUs and back, ms": "there and back, ms",
            SHARE: "of all, %",
            "all in all, GB/s": "GB/s",
            "cycles are": "cycles are",
        },
        where={SYSTEM.name: SYSTEMS[0].title},
    ),
)
