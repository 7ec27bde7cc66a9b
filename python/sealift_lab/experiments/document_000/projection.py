"""000-P1: throughput of 640 and 2,560 DPUs, with data in MRAM or in the host's memory."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sealift_lab.experiments.document_000.kernel import (
    CTR,
    ECB,
    ECB_FED,
    GCM,
    GCM_128,
    GCM_1024,
    cycles_a_byte,
    six_digits,
)
from sealift_lab.experiments.document_000.literal import cycles_a_byte as literal_cycles_a_byte
from sealift_lab.experiments.document_000.literal import instructions_a_byte
from sealift_lab.experiments.document_000.system import SYSTEMS, System, system_of, transfers
from sealift_lab.experiments.notes import read_notes
from sealift_lab.model.experiment import Axis, Chart, Experiment, Line, Scope
from sealift_lab.model.figure import Fact, Figure, Number, Scaled
from sealift_lab.model.published import Kind, Published, table, table_row
from sealift_lab.model.results import Origin, Results
from sealift_lab.model.sample import Computed, Context
from sealift_lab.model.values import Cell


@dataclass(frozen=True)
class Pace:
    """Simulated cycles a byte of one DPU.

    Attributes:
        tasklets: How many work or move data.
        cycles: Without the hazard of register banks.
        cycles_with_hazard: With it; None where that was not simulated.
    """

    tasklets: str
    cycles: float
    cycles_with_hazard: float | None = None


@lru_cache(maxsize=16)
def pace(title: str) -> Pace:
    """The pace of a kernel, or of the document's algorithm.

    Raises:
        ValueError: If there is no such kernel.
    """
    if title == ONE_TASKLET:
        return Pace("1", literal_cycles_a_byte())
    if title == MANY_TASKLETS:
        # An instruction a cycle is the most that a DPU issues; eleven tasklets reach it.
        return Pace("11 or more", instructions_a_byte())
    kernel = next((each for each in KERNELS if each.title == title), None)
    if kernel is None:
        raise ValueError(f"no kernel is called {title!r}; there are {', '.join(TITLES)}")
    tasklets = 16 + kernel.movers
    off, on = (cycles_a_byte(kernel, tasklets, hazard=hazard) for hazard in (False, True))
    return Pace(str(tasklets), off, on)


def project(title: str, system: System) -> Mapping[str, float | str]:
    """A kernel on a system: GB/s by where the data are, and MiB/s as the document prints."""
    one = pace(title)
    facts: dict[str, float | str] = {
        "tasklets": one.tasklets,
        CYCLES: six_digits(one.cycles),
        IN_MRAM: six_digits(system.bytes_per_s(one.cycles) / 1e9),
        MIB_PER_S: six_digits(system.bytes_per_s(one.cycles) / 2**20),
    }
    facts |= _from_host(system, one.cycles)
    if one.cycles_with_hazard is not None:
        facts[WITH_HAZARD[IN_MRAM]] = six_digits(system.bytes_per_s(one.cycles_with_hazard) / 1e9)
        slower = _from_host(system, one.cycles_with_hazard)
        facts |= {f"{name}, with the hazard": value for name, value in slower.items()}
    return facts


def total_by_seconds() -> Number:
    """MiB/s of the document's DPUs, from its whole seconds for the 64 MiB of each."""
    seconds = float(table_row("000-X1-claims", claim_id="mram-time")["value"])
    mebibytes = 64.0 * SYSTEMS[0].dpus
    return Number(mebibytes / seconds, mebibytes / (seconds + 0.5), mebibytes / (seconds - 0.5))


def _from_host(system: System, cycles: float) -> Mapping[str, float]:
    in_place = system.bytes_per_s(cycles)
    return {
        name: six_digits(transfers(path).in_series(DPU_BYTES, in_place, system.dpus) / 1e9)
        for path, name in FROM_HOST.items()
    }


def _cells(scope: Scope) -> Iterable[Cell]:
    if scope.quick:
        return
    for system in SYSTEMS:
        for title in TITLES:
            yield {SYSTEM.name: system.title, KERNEL.name: title}


def _arm(cell: Cell, _: Context) -> Computed:
    return Computed(project(str(cell[KERNEL.name]), system_of(cell)))


def _published(_: Results) -> Sequence[Published]:
    """The printed total beside the simulation, and beside its own document; then corrections."""
    small, by_seconds = SYSTEMS[0], total_by_seconds()
    total, per_dpu = (table_row("000-X1-claims", claim_id=name) for name in ("dpu640", "mram-time"))
    printed, source = float(total["value"]), f"{total['source']}: {total['as_printed']}"
    return [
        Published(
            figure="000-P1",
            what=f"total of {small.dpus} DPUs",
            value=printed,
            unit="MiB/s",
            source=source,
            kind=Kind.NUMBER,
            here=Fact(MANY_CELL, MIB_PER_S),
            note="the same algorithm with enough tasklets; one tasklet a DPU gives the print",
            origin=Origin.PROJECTED,
        ),
        Published(
            figure="000-P1",
            what=f"total of {small.dpus} DPUs against its own 64 MiB in about 12 s each",
            value=printed,
            unit="MiB/s",
            source=f"{source}; {per_dpu['as_printed']}",
            kind=Kind.ARITHMETIC,
            here=by_seconds,
            note="300 MiB/s rest on 550 cycles a byte, those of one tasklet; 12 s on 100k cycles "
            "for 2 KiB, split among tasklets",
            low=by_seconds.low,
            high=by_seconds.high,
            origin=Origin.PROJECTED,
        ),
        *_corrections(),
    ]


def _corrections() -> Iterator[Published]:
    """What the authors made of the projection later."""
    core = float(table_row("000-X1-claims", claim_id="aesni")["value"])
    cycles, gb_per_s = Fact(MANY_CELL, CYCLES), Fact(MANY_CELL, IN_MRAM)
    figures: Mapping[str, Figure] = {
        "one": cycles,
        "slowdown": Scaled(cycles, CORE_HZ / core / CORRECTED_HZ),
        "dpu640": Scaled(gb_per_s, CORRECTED_HZ / SYSTEMS[0].clock_hz * 1e9 / 2**30),
    }
    for row in table("000-elsewhere-correction"):
        yield Published(
            figure="000-P1",
            what=f"corrected by its authors: {row['quantity']}",
            value=float(row["value"]),
            unit=row["unit"],
            source=f"{row['source']}: {row['as_printed']}",
            kind=Kind.NUMBER,
            here=figures[row["claim_id"]],
            note="the document's algorithm, an instruction a cycle, at 500 MHz as there; follows "
            "from the instructions of 000-T1",
            origin=Origin.PROJECTED,
            is_fitted=True,
        )


def _lines(results: Results) -> Sequence[Line]:
    """The same with the hazard of register banks."""
    return [
        Line(
            f"{each.cell[SYSTEM.name]}, with the hazard",
            name,
            float(each.facts[slower]),
            Origin.PROJECTED,
            {KERNEL.name: each.cell[KERNEL.name]},
        )
        for each in results.facts()
        for name, slower in WITH_HAZARD.items()
        if slower in each.facts
    ]


SYSTEM, KERNEL = Axis("system", "system"), Axis("kernel", "kernel")
ONE_TASKLET = "document 000's ECB, one tasklet"
MANY_TASKLETS = "document 000's ECB, enough tasklets"
KERNELS = (ECB, ECB_FED, CTR, GCM, GCM_1024, GCM_128)
TITLES = (ONE_TASKLET, MANY_TASKLETS, *(kernel.title for kernel in KERNELS))
MANY_CELL: Cell = {SYSTEM.name: SYSTEMS[0].title, KERNEL.name: MANY_TASKLETS}
CYCLES, IN_MRAM, MIB_PER_S = "cycles a byte", "data in MRAM, GB/s", "data in MRAM, MiB/s"
FROM_HOST = {
    "SDK": "data in host memory, GB/s, by the SDK",
    "direct": "data in host memory, GB/s, direct",
}
BY_SDK = FROM_HOST["SDK"]
WITH_HAZARD = {name: f"{name}, with the hazard" for name in (IN_MRAM, BY_SDK)}
# At which the SDK's transfers are fastest.
DPU_BYTES = 512 << 10
# As the documents and their correction have them.
CORE_HZ, CORRECTED_HZ = 3e9, 500e6

PROJECTION = Experiment(
    name="dpu-projection",
    id="000-P1",
    title="What 640 and 2,560 DPUs would encrypt",
    question="What does the document's projection come to with its slip put right, with better "
    "kernels, and with the data in host memory, there and back?",
    axes=(SYSTEM, KERNEL),
    compare=KERNEL.name,
    cells=_cells,
    arm=_arm,
    operation="byte",
    published=_published,
    lines=_lines,
    charts=tuple(
        Chart(
            x=KERNEL.name,
            series=SYSTEM.name,
            y=name,
            title=f"Projected, without and with the hazard: {place}",
        )
        for name, place in (
            (IN_MRAM, "data in MRAM"),
            (BY_SDK, "data in host memory and back (SDK)"),
        )
    ),
    preferred={KERNEL.name: GCM.title},
    columns={
        CYCLES: "cycles/B",
        IN_MRAM: "MRAM, GB/s",
        WITH_HAZARD[IN_MRAM]: "with hazard",
        BY_SDK: "host, GB/s",
        WITH_HAZARD[BY_SDK]: "host, hazard",
    },
    origin=Origin.PROJECTED,
    weight=0.1,
    estimated_s=0.9,
    notes=read_notes(__package__, "projection", "simulation"),
)
