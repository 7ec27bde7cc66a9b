"""From which amount on transfers cost little: 128 B to 64 MiB for each DPU."""

from collections.abc import Iterable, Mapping

from sealift.lab.dpus import SYSTEMS, kept, model, transfers
from sealift.lab.dpus.amounts import (
    AMOUNTS,
    KERNELS_BY_AMOUNT,
    SIMULATED_MOST,
    TASKLETS,
    chunk_bytes,
    taken,
)
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
    work, most = taken(kernel, dpu_bytes), taken(kernel, AMOUNTS[-1])
    work_s = system.seconds(work.cycles)
    to_dpus, from_dpus = transfers("SDK").rates(dpu_bytes, system.dpus)
    moved = system.dpus * dpu_bytes
    host_s = moved / to_dpus + moved / from_dpus
    return Computed(
        {
            RATE: kept(work.cycles / dpu_bytes),
            TIMES: kept(work.cycles / dpu_bytes / (most.cycles / AMOUNTS[-1])),
            AT_WORK: float(min(TASKLETS, dpu_bytes // chunk_bytes(dpu_bytes))),
            WAITING: kept(100 * work.waiting / work.cycles),
            "a DPU's work, ms": kept(1e3 * work_s),
            "to DPUs and back, ms": kept(1e3 * host_s),
            SHARE: kept(100 * host_s / (host_s + work_s)),
            "all in all, GB/s": kept(moved / (host_s + work_s) / 1e9),
            "cycles are": "simulated" if dpu_bytes <= SIMULATED_MOST else "projected",
        }
    )


def _says(found: Found) -> str:
    """What few bytes cost, how long a DPU waits for its memory, and what the way to it takes."""
    told = [text for kernel in KERNELS_BY_AMOUNT if (text := _said_of(found, kernel.title))]
    if not told:
        return ""
    return (
        f"{'. '.join(told)}. Few bytes cost more by tasklets without a chunk and by what is "
        "done once than by waiting for the DPU's own memory. The way from host memory, of "
        "which the document does not speak, is negligible with no amount, and least where the "
        "SDK's transfers were timed to be fastest"
    )


def _said_of(found: Found, kernel: str) -> str:
    each = {system.title: _facts(found, system.title, kernel) for system in SYSTEMS}
    if any(len(facts) < len(AMOUNTS) for facts in each.values()):
        return ""
    small = each[SYSTEMS[0].title]
    waits, few = {size: float(facts[WAITING]) for size, facts in small.items()}, small[AMOUNTS[0]]
    longest = max(waits, key=lambda size: waits[size])
    shares = " and ".join(f"{_least_share(facts)} ({system})" for system, facts in each.items())
    return (
        f"{kernel}: with {AMOUNTS[0]} B for each DPU a byte takes {float(few[RATE]):.0f} cycles, "
        f"{float(few[TIMES]):.1f} times as many as with 64 MiB, by {float(few[AT_WORK]):.0f} of "
        f"{TASKLETS} tasklets; a DPU waits {waits[longest]:.1f} % of its time for its memory at "
        f"most, with {longest:,} B; the way from host memory and back takes {shares} of all the "
        "time at least"
    )


def _least_share(facts: Mapping[int, Mapping[str, Value]]) -> str:
    shares = {size: float(each[SHARE]) for size, each in facts.items()}
    least = min(shares, key=lambda size: shares[size])
    return f"{shares[least]:.0f} % with {least:,} B"


def _facts(found: Found, system: str, kernel: str) -> dict[int, Mapping[str, Value]]:
    return {
        int(each.cell[AMOUNT.name]): each.facts
        for each in found.verified
        if each.facts and (each.cell[SYSTEM.name], each.cell[KERNEL.name]) == (system, kernel)
    }


SYSTEM, KERNEL = Axis("system", "system"), Axis("kernel", "kernel")
AMOUNT = Axis("dpu_bytes", "bytes for each DPU")
RATE, TIMES = "cycles a byte", "times those of 64 MiB"
AT_WORK = "tasklets with a chunk"
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
            y=RATE,
            z=KERNEL.name,
            title="Cycles a byte by amount",
            where={SYSTEM.name: SYSTEMS[0].title},
            log_x=True,
            log_y=True,
        ),
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
            RATE: RATE,
            AT_WORK: "tasklets",
            WAITING: "waits for MRAM, %",
            SHARE: "there and back, %",
            "all in all, GB/s": "GB/s",
        },
        where={SYSTEM.name: SYSTEMS[0].title},
    ),
)
