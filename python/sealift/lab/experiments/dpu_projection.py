"""Document 000's projection, recomputed: what systems of DPUs would encrypt a second."""

from collections.abc import Iterable, Mapping, Sequence

from sealift.lab.dpus import SYSTEMS, model
from sealift.lab.dpus.kernel import GCM
from sealift.lab.dpus.projected import (
    DPU_BYTES,
    FROM_HOST,
    HAZARD_IN_MRAM,
    IN_MRAM,
    MANY_TASKLETS,
    ONE_TASKLET,
    PROJECTED,
    paces,
    projection,
    system_of,
)
from sealift.lab.dpus.worth import worth
from sealift.lab.published import Comparison, Kind, Printed, Rounded, counted, table_row
from sealift.lab.result import Found, Lead, Origin
from sealift.lab.spec import Axis, Brief, Computed, Context, Experiment, Plot, Scope
from sealift.lab.values import Cell, Value


def _cells(scope: Scope) -> Iterable[Cell]:
    if scope.quick:
        return
    for system in SYSTEMS:
        for title in TITLES:
            yield {SYSTEM.name: system.title, KERNEL.name: title}


def _arm(cell: Cell, _: Context) -> Computed:
    pace = next(each for each in paces() if each.title == cell[KERNEL.name])
    return Computed(projection(pace, system_of(cell)))


def _published(found: Found) -> Sequence[Comparison]:
    small = SYSTEMS[0]
    total, per_dpu = (table_row("000-X1-claims", claim_id=name) for name in ("dpu640", "mram-time"))
    printed = Printed(
        figure="000-P1",
        what=f"total of {small.dpus} DPUs",
        value=float(total["value"]),
        unit="MiB/s",
        source=f"{total['source']}: {total['as_printed']}",
        kind=Kind.NUMBER,
        origin=Origin.PROJECTED,
    )
    slip = Printed(
        figure="000-P1",
        what=f"total of {small.dpus} DPUs against its own 64 MiB in about 12 s each",
        value=float(total["value"]),
        unit="MiB/s",
        source=f"{total['source']}: {total['as_printed']}; {per_dpu['as_printed']}",
        kind=Kind.WITHIN,
        span=_per_dpu(small.dpus, float(per_dpu["value"])),
        origin=Origin.PROJECTED,
    )
    return [
        _beside(printed, found, ONE_TASKLET, "one tasklet a DPU, which is what was multiplied"),
        _beside(printed, found, MANY_TASKLETS, "the same algorithm with enough tasklets"),
        slip.beside(SLIP, "no result of it"),
    ]


def _per_dpu(dpus: int, seconds: float) -> Rounded:
    """MiB/s of all, from whole seconds for the 64 MiB of each."""
    mebibytes = 64.0 * dpus
    return Rounded(mebibytes / seconds, mebibytes / (seconds + 0.5), mebibytes / (seconds - 0.5))


def _beside(printed: Printed, found: Found, kernel: str, note: str) -> Comparison:
    facts = _facts(found).get((SYSTEMS[0].title, kernel))
    if facts is None:
        where = {SYSTEM.name: SYSTEMS[0].title, KERNEL.name: kernel}
        return printed.beside(found.why_not(**where), "not computed")
    return printed.beside(counted(float(facts["data in MRAM, MiB/s"]), of=1), note)


def _facts(found: Found) -> dict[tuple[str, str], Mapping[str, Value]]:
    return {
        (str(each.cell[SYSTEM.name]), str(each.cell[KERNEL.name])): each.facts
        for each in found.verified
        if each.facts
    }


def _says(found: Found) -> str:
    facts, small = _facts(found), SYSTEMS[0].title
    one, many = (facts.get((small, name)) for name in (ONE_TASKLET, MANY_TASKLETS))
    if one is None or many is None:
        return ""
    told = [
        f"The printed 300 MiB/s of 640 DPUs multiply the rate of one tasklet "
        f"({float(one['data in MRAM, MiB/s']):.0f} MiB/s here); with tasklets enough the same "
        f"algorithm comes to {float(many['data in MRAM, MiB/s']):,.0f} MiB/s"
    ]
    told.append(
        f"ways to DPUs and back are those of Loremkang/upmem-sdk-light for 2,048 DPUs, with "
        f"{DPU_BYTES >> 10} KiB for each; to fewer DPUs they are slower, towards the rates of "
        f"one rank (PrIM)"
    )
    return "; ".join(told)


def _leads(found: Found) -> Lead | None:
    return worth(found, GCM.title)


TITLES = (ONE_TASKLET, MANY_TASKLETS, *(kernel.title for kernel in PROJECTED))
SYSTEM, KERNEL = Axis("system", "system"), Axis("kernel", "kernel")
SLIP = (
    "300 MiB/s stand on 550 cycles a byte, those of one tasklet alone; 12 s stand on 100k cycles "
    "for 2 KiB, split among tasklets"
)

EXPERIMENT = Experiment(
    name="dpu-projection",
    id="000-P1",
    title="What 640 and 2,560 DPUs would encrypt",
    why="What does the document's projection come to with its slip put right, with better kernels, "
    "and with the way from host memory and back?",
    axes=(SYSTEM, KERNEL),
    compare=KERNEL.name,
    cells=_cells,
    arm=_arm,
    operation="byte",
    published=_published,
    says=_says,
    leads=_leads,
    plots=(
        Plot(
            x=KERNEL.name,
            y=IN_MRAM,
            z=SYSTEM.name,
            title="Projected: data in MRAM",
        ),
        Plot(
            x=KERNEL.name,
            y=FROM_HOST["SDK"],
            z=SYSTEM.name,
            title="Projected: data in host memory, there and back by the SDK",
        ),
    ),
    weight=0.1,
    origin=Origin.PROJECTED,
    takes_s=0.9,
    stands_on=model.PROJECTED,
    brief=Brief(
        {
            "cycles a byte": "cycles/B",
            IN_MRAM: "MRAM, GB/s",
            HAZARD_IN_MRAM: "with hazard",
            FROM_HOST["SDK"]: "host, GB/s",
            f"{FROM_HOST['SDK']}, with the hazard": "host, hazard",
        }
    ),
)
