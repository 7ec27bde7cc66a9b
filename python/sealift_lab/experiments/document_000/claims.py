"""000-X1: what document 000 says in its text, beside what the simulation gives."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sealift_lab.experiments.document_000.amounts import TASKLETS
from sealift_lab.experiments.document_000.kernel import ECB_FED, six_digits, steady, steady_bytes
from sealift_lab.experiments.document_000.literal import BUFFER_BYTES, cycles_a_byte, timing
from sealift_lab.experiments.document_000.printed import rounding
from sealift_lab.experiments.document_000.projection import CORE_HZ, total_by_seconds
from sealift_lab.experiments.document_000.system import MEASURED_CLOCK_HZ
from sealift_lab.experiments.document_000.transfer import TIMER_CYCLES, Direction, Fit, fit, latency
from sealift_lab.experiments.notes import read_notes
from sealift_lab.model.experiment import Axis, Experiment, Scope
from sealift_lab.model.figure import Fact, Figure, Missing, Number
from sealift_lab.model.published import Kind, Published, table, table_row
from sealift_lab.model.results import Origin, Results
from sealift_lab.model.sample import Computed, Context
from sealift_lab.model.values import Cell


@dataclass(frozen=True)
class Model:
    """How a claim is computed and judged.

    Attributes:
        kind: Of the published figure.
        compute: The figure; for arithmetic with the range that follows from the document's other
            figures. None for what no model of a DPU can give.
        note: How, or why not.
        about: Of a claim in words, the ratio that is above 1 where it holds.
    """

    kind: Kind
    compute: Callable[[], float | Number] | None
    note: str
    about: str = ""


def _cells(scope: Scope) -> Iterable[Cell]:
    return () if scope.quick else ({CLAIM.name: row["claim_id"]} for row in table(TABLE))


def _arm(cell: Cell, _: Context) -> Computed:
    row = table_row(TABLE, claim_id=str(cell[CLAIM.name]))
    model = MODELS[row["claim_id"]]
    here = model.compute() if model.compute else "beyond the model"
    value = here.value if isinstance(here, Number) else here
    return Computed(
        {
            "about": model.about or row["quantity"],
            "published": f"{row['value']} {row['unit']}" if row["value"] else "in words",
            HERE: value if isinstance(value, str) else six_digits(value),
            "how": model.note,
        }
    )


def _published(_: Results) -> Sequence[Published]:
    return [_beside(row, MODELS[row["claim_id"]]) for row in table(TABLE)]


def _beside(row: Mapping[str, str], model: Model) -> Published:
    here: Figure = Fact({CLAIM.name: row["claim_id"]}, HERE)
    low = high = None
    if model.compute is None:
        here = Missing(model.note)
    elif model.kind is Kind.ARITHMETIC and isinstance(number := model.compute(), Number):
        here, low, high = number, number.low, number.high
    return Published(
        figure="000-X1",
        what=model.about or row["quantity"],
        value=float(row["value"]) if row["value"] else 1.0,
        unit=row["unit"] or "x",
        source=f"{row['source']}: {row['as_printed']}",
        kind=model.kind,
        here=here,
        note=model.note,
        low=low,
        high=high,
        origin=Origin.PROJECTED if row["claim_id"] in PROJECTED else Origin.SIMULATED,
        # Numbers here restate the tables, or are arithmetic on them.
        is_fitted=model.kind in (Kind.NUMBER, Kind.GIVEN),
    )


def _shared_cycles() -> float:
    """Cycles of 2 KiB where enough tasklets share the work: an instruction a cycle."""
    return timing("Encryption", "instructions").without_dma


def _mram_seconds() -> float:
    return MRAM_BYTES / BUFFER_BYTES * _shared_cycles() / MEASURED_CLOCK_HZ


def _slower_than_a_core() -> float:
    core = float(table_row(TABLE, claim_id="aesni")["value"])
    return (cycles_a_byte() / MEASURED_CLOCK_HZ) / (core / CORE_HZ)


def _cores_mib_per_s() -> float:
    return CORES * SLOW_CORE_HZ / cycles_a_byte() / 2**20


def _aesni_of_16() -> Number:
    """GiB/s of 16 cores at 4.2 cycles a byte, whose last digit leaves a range."""
    printed = table_row(TABLE, claim_id="aesni")["value"]
    low, high = rounding(printed)
    of_16 = CORES * CORE_HZ / 2**30
    return Number(of_16 / float(printed), of_16 / high, of_16 / low)


def _read(size: int) -> float:
    return float(latency(Direction.READ, size))


def _line_through_reads() -> Fit:
    sizes = [int(row["transfer_bytes"]) for row in table("000-T3-dma-latency")]
    return fit([(size, _read(size)) for size in sizes])


def _read_and_write() -> float:
    return _read(2_048) + latency(Direction.WRITE, 2_048)


def _fed_work_over_dma() -> float:
    """Cycles of instructions over those that the memory is busy, 1 DMA tasklet beside 16."""
    run = steady(ECB_FED, 1 + TASKLETS, hazard=False)
    chunks = steady_bytes(ECB_FED, 1 + TASKLETS) / FED_CHUNK_BYTES
    busy = chunks * sum(latency(each, FED_CHUNK_BYTES) - TIMER_CYCLES for each in Direction)
    return run.instructions / busy


CLAIM = Axis("claim", "claim")
TABLE, HERE = "000-X1-claims", "here"
MRAM_BYTES, FED_CHUNK_BYTES = 64 << 20, 512
# As the document has them.
CORES, SLOW_CORE_HZ = 16, 2.4e9
# More than one DPU, or a core: arithmetic on what was simulated.
PROJECTED = ("slowdown", "mram-time", "dpu640", "cpu16")
LINE = "in part an input: the line through the four lengths of 000-T3, the longest of which is one"
MODELS = {
    "rate": Model(
        Kind.NUMBER,
        cycles_a_byte,
        "the document's algorithm, one tasklet, transfers included; 000-T1 in another unit",
    ),
    "slowdown": Model(
        Kind.NUMBER,
        _slower_than_a_core,
        "arithmetic on the rate: one tasklet at 266 MHz against the quoted 4.2 cycles a byte at "
        "3 GHz; with enough tasklets a DPU is eleven times as fast",
    ),
    "dma-2k": Model(
        Kind.GIVEN,
        lambda: _read(2_048),
        "an input, as a cell of 000-T3; it goes on in a second row of memory",
    ),
    "dma-overhead": Model(Kind.GIVEN, lambda: _line_through_reads().overhead_cycles, LINE),
    "dma-rate": Model(Kind.GIVEN, lambda: _line_through_reads().bytes_a_cycle, LINE),
    "dma-pair": Model(
        Kind.GIVEN,
        _read_and_write,
        "an input: a read as in 000-T3, and a write, which takes 16 cycles less",
    ),
    "crypto-2k": Model(
        Kind.NUMBER,
        _shared_cycles,
        "an instruction a cycle, which eleven tasklets reach; 000-T2 once more",
    ),
    "mram-time": Model(Kind.NUMBER, _mram_seconds, "arithmetic on the same, at 266 MHz"),
    "dpu640": Model(
        Kind.ARITHMETIC,
        total_by_seconds,
        "its own 12 seconds for the 64 MiB of each DPU come to eleven times as much: 300 MiB/s "
        "multiply the rate of one tasklet",
    ),
    "cpu16": Model(
        Kind.NUMBER,
        _cores_mib_per_s,
        "arithmetic on the rate: takes cycles of a DPU's tasklet for those of a core, which does "
        "more in one",
    ),
    "aesni": Model(
        Kind.BEYOND, None, "a measurement of another processor, quoted; 000-P3 measures this one"
    ),
    "aesni16": Model(
        Kind.ARITHMETIC,
        _aesni_of_16,
        "16 cores at 3 GHz and 4.2 cycles a byte are 11.4 GB/s, which is 10.6 GiB/s",
    ),
    "dma-negligible": Model(
        Kind.SHAPE,
        lambda: _shared_cycles() / _read_and_write(),
        "2 KiB with enough tasklets, read and written; 000-P2 has it for 128 B to 64 MiB",
        "compute time over DMA time",
    ),
    "crypto-bottleneck": Model(
        Kind.SHAPE,
        _fed_work_over_dma,
        "cycles of instructions over cycles that the memory is busy",
        "compute time over DMA time, 1 DMA tasklet and 16 crypto tasklets",
    ),
    "bus-contention": Model(
        Kind.BEYOND, None, "no model of a DPU knows how busy a host's memory is; 000-P3 measures it"
    ),
}

CLAIMS = Experiment(
    name="dpu-claims",
    id="000-X1",
    title="What document 000 says of DPUs and of cores",
    question="Which of its claims follow from a simulation of the DPU that it measured?",
    axes=(CLAIM,),
    compare=CLAIM.name,
    cells=_cells,
    arm=_arm,
    operation="claim",
    published=_published,
    columns={"about": "about", "published": "published", HERE: HERE},
    origin=Origin.SIMULATED,
    weight=0.05,
    estimated_s=0.5,
    notes=read_notes(__package__, "claims", "simulation"),
)
