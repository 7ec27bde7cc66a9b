"""000-P1-scaling: more DPUs beside 64, as they ran and as they are projected."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from sealift_lab.experiments.document_000.kernel import six_digits
from sealift_lab.experiments.document_000.literal import instructions_a_byte
from sealift_lab.experiments.document_000.projection import DPU_BYTES
from sealift_lab.experiments.document_000.system import MEASURED_CLOCK_HZ, transfers
from sealift_lab.experiments.notes import read_notes
from sealift_lab.model.experiment import Axis, Chart, Experiment, Scope
from sealift_lab.model.figure import Fact
from sealift_lab.model.published import Kind, Published, table
from sealift_lab.model.results import Origin, Results
from sealift_lab.model.sample import Computed, Context
from sealift_lab.model.values import Cell


def published_times() -> Mapping[int, float]:
    """Times as fast as 64 DPUs on 4 GiB, by number of DPUs.

    Printed are multiples of software on a host that is not here; only their ratios are used.
    """
    times = {
        int(row["version"].removeprefix("dpus=")): float(row["times_software_aes"])
        for row in table(TABLE)
        if row["version"].startswith("dpus=")
    }
    return {dpus: each / times[FEWEST] for dpus, each in times.items()}


def projected_times(dpus: int) -> float:
    """The same by document 000's algorithm, an instruction a cycle, and the SDK's transfers."""
    return _projected_s(FEWEST) / _projected_s(dpus)


def _projected_s(dpus: int) -> float:
    work = dpus * MEASURED_CLOCK_HZ / instructions_a_byte()
    return TOTAL_BYTES / transfers("SDK").in_series(DPU_BYTES, work, dpus)


def _cells(scope: Scope) -> Iterable[Cell]:
    if not scope.quick:
        for dpus in published_times():
            yield {ALGORITHM.name: OURS, DPUS.name: dpus}


def _arm(cell: Cell, _: Context) -> Computed:
    dpus = int(cell[DPUS.name])
    printed, projected = published_times()[dpus], projected_times(dpus)
    return Computed(
        {
            f"published, {TIMES}": six_digits(printed),
            TIMES: six_digits(projected),
            "projected / published": six_digits(projected / printed),
        }
    )


def _published(results: Results) -> Sequence[Published]:
    here = {int(each.cell[DPUS.name]): float(each.facts[TIMES]) for each in results.facts()}
    return [
        Published(
            figure="000-P1-scaling",
            what=f"{dpus} DPUs against 64, 4 GiB from host memory and back",
            value=times,
            unit=TIMES,
            source=table(TABLE)[0]["source"],
            kind=Kind.POINT if _rises_alike(here) else Kind.NUMBER,
            here=Fact({DPUS.name: dpus}, TIMES),
            note="document 000's algorithm and the SDK's transfers",
            series="DPUs that ran",
            at={DPUS.name: dpus},
            origin=Origin.PROJECTED,
        )
        for dpus, times in published_times().items()
        if dpus != FEWEST
    ]


def _rises_alike(here: Mapping[int, float]) -> bool:
    """Whether each point lies above the one before it, as in the published curve."""
    values = [here[dpus] for dpus in published_times() if dpus in here]
    return all(one < other for one, other in pairwise(values))


ALGORITHM, DPUS = Axis("algorithm", "algorithm"), Axis("dpus", "DPUs")
OURS = "document 000's, projected"
TIMES = "times 64 DPUs"
TABLE = "000-elsewhere-dpus-against-host"
FEWEST = 64
TOTAL_BYTES = 4 << 30

SCALING = Experiment(
    name="dpu-scaling",
    id="000-P1-scaling",
    title="More DPUs beside 64: as they ran, and as projected",
    question="Does the projection have the shape of what 64 to 512 DPUs did in later measurements "
    "of the same laboratory?",
    axes=(ALGORITHM, DPUS),
    compare=DPUS.name,
    cells=_cells,
    arm=_arm,
    operation="byte",
    published=_published,
    charts=(
        Chart(x=DPUS.name, series=ALGORITHM.name, y=TIMES, title="4 GiB, there and back, by DPUs"),
    ),
    origin=Origin.PROJECTED,
    weight=0.05,
    estimated_s=0.5,
    notes=read_notes(__package__, "scaling", "projection", "simulation"),
)
