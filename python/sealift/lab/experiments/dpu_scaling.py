"""More DPUs beside 64, as they ran and as they are projected: the projection's own test."""

from collections.abc import Iterable, Sequence

from sealift.lab.dpus import kept, model
from sealift.lab.dpus.validation import FEWEST, TABLE, projected_times, published_times
from sealift.lab.published import Comparison, Kind, Place, Printed, counted, point_kind, table
from sealift.lab.result import Found, Origin
from sealift.lab.spec import Axis, Computed, Context, Experiment, Plot, Scope
from sealift.lab.units import format_measure
from sealift.lab.values import Cell


def _cells(scope: Scope) -> Iterable[Cell]:
    if not scope.quick:
        for dpus in published_times():
            yield {WHOSE.name: OURS, DPUS.name: dpus}


def _arm(cell: Cell, _: Context) -> Computed:
    dpus = int(cell[DPUS.name])
    printed, here = published_times()[dpus], projected_times(dpus)
    return Computed(
        {
            f"published, {TIMES}": kept(printed),
            TIMES: kept(here),
            "projected / published": kept(here / printed),
        }
    )


def _published(found: Found) -> Sequence[Comparison]:
    known = {int(each.cell[DPUS.name]): each.facts for each in found.verified if each.facts}
    here_times: dict[Place, float] = {
        (float(dpus),): float(facts[TIMES]) for dpus, facts in known.items()
    }
    printed_times: dict[Place, float] = {
        (float(dpus),): times for dpus, times in published_times().items()
    }
    compared = []
    for dpus, times in published_times().items():
        if dpus == FEWEST:
            continue
        place = (float(dpus),)
        is_known = place in here_times
        kind = point_kind(place, printed_times, here_times) if is_known else Kind.MODEL
        printed = Printed(
            figure="000-P1-scaling",
            what=f"{dpus} DPUs against 64, 4 GiB from host memory and back",
            value=times,
            unit=TIMES,
            source=table(TABLE)[0]["source"],
            kind=kind,
            series="DPUs that ran",
            at={DPUS.name: dpus},
            origin=Origin.PROJECTED,
        )
        if dpus in known:
            here = counted(float(known[dpus][TIMES]), of=1)
            compared.append(printed.beside(here, "document 000's algorithm and the SDK's way"))
        else:
            compared.append(printed.beside(found.why_not(**{DPUS.name: dpus}), "not computed"))
    return compared


def _says(found: Found) -> str:
    known = {int(each.cell[DPUS.name]): each.facts for each in found.verified if each.facts}
    most = max(known, default=0)
    if most < max(published_times()):
        return ""
    host = next(row for row in table(TABLE) if row["version"] == "host-AES-NI")
    ran = next(row for row in table(TABLE) if row["version"] == f"dpus={most}")
    one = float(host["times_software_aes"]) / float(ran["times_software_aes"])
    return (
        f"{most} DPUs ran {format_measure(published_times()[most])} times as fast as 64 and are "
        f"projected {format_measure(float(known[most][TIMES]))} times as fast; where they ran, one "
        f"core of their host with AES-NI did {one:.1f} times as much as all {most}"
    )


WHOSE, DPUS = Axis("algorithm", "algorithm"), Axis("dpus", "DPUs")
OURS = "document 000's, projected"
TIMES = "times 64 DPUs"

EXPERIMENT = Experiment(
    name="dpu-scaling",
    id="000-P1-scaling",
    title="More DPUs beside 64: as they ran, and as projected",
    why="Does the projection have the shape of what 64 to 512 DPUs did in later measurements of "
    "the same laboratory?",
    axes=(WHOSE, DPUS),
    compare=DPUS.name,
    cells=_cells,
    arm=_arm,
    operation="byte",
    published=_published,
    says=_says,
    plots=(Plot(x=DPUS.name, y=TIMES, z=WHOSE.name, title="4 GiB, there and back, by DPUs"),),
    weight=0.05,
    origin=Origin.PROJECTED,
    takes_s=0.5,
    stands_on=model.PROJECTED,
)
