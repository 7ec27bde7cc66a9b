"""Document 000's projection, recomputed: what systems of DPUs would encrypt a second."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sealift.lab.dpus import SYSTEMS, model
from sealift.lab.dpus.corrected import corrected
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
    total_by_seconds,
)
from sealift.lab.dpus.worth import worth
from sealift.lab.published import Comparison, Kind, Printed, counted, table_row
from sealift.lab.result import Found, Lead, Origin
from sealift.lab.spec import Axis, Brief, Computed, Context, Experiment, Line, Plot, Scope
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
    """The printed total once beside what it stands for, and once beside its own document."""
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
    slip = replace(
        printed,
        what=f"total of {small.dpus} DPUs against its own 64 MiB in about 12 s each",
        source=f"{printed.source}; {per_dpu['as_printed']}",
        kind=Kind.WITHIN,
        span=total_by_seconds(),
    )
    note = "the same algorithm with enough tasklets; one tasklet a DPU gives what is printed"
    many = _facts(found).get((small.title, MANY_TASKLETS))
    where = {SYSTEM.name: small.title, KERNEL.name: MANY_TASKLETS}
    return [
        _beside(printed, found, MANY_TASKLETS, note),
        slip.beside(SLIP, "no result of it"),
        *corrected(float(many["cycles a byte"]) if many else found.why_not(**where)),
    ]


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


def _lines(found: Found) -> Sequence[Line]:
    """The other end of the bracket: the same with the hazard of register banks."""
    return [
        Line(
            f"{system}, with the hazard",
            column,
            float(facts[slower]),
            Origin.PROJECTED,
            {KERNEL.name: kernel},
        )
        for (system, kernel), facts in _facts(found).items()
        for column, slower in ENDS.items()
        if slower in facts
    ]


def _leads(found: Found) -> Lead | None:
    return worth(found, GCM.title)


ENDS = {
    IN_MRAM: HAZARD_IN_MRAM,
    FROM_HOST["SDK"]: f"{FROM_HOST['SDK']}, with the hazard",
}
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
    lines=_lines,
    plots=(
        Plot(
            x=KERNEL.name,
            y=IN_MRAM,
            z=SYSTEM.name,
            title="Projected, without and with the hazard: data in MRAM",
        ),
        Plot(
            x=KERNEL.name,
            y=FROM_HOST["SDK"],
            z=SYSTEM.name,
            title="Projected, without and with the hazard: data in host memory and back (SDK)",
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
