"""000-X1: what document 000 says in its text, beside what the simulation gives."""

from collections.abc import Callable, Iterator, Mapping
from statistics import LinearRegression, linear_regression
from typing import NamedTuple

from sealift_lab.experiments.document_000 import dpu, projection
from sealift_lab.experiments.document_000.one_dpu import rounding
from sealift_lab.experiments.notes import read_legend, texts
from sealift_lab.model.arm import Cell, Value
from sealift_lab.model.experiment import Axis
from sealift_lab.model.published import Fact, Kind, Missing, Number, Published, table, table_row
from sealift_lab.model.results import Origin, Results


class Claim(NamedTuple):
    """How a claim is computed and judged; the notes say how in words, or why it is not.

    Attributes:
        kind: Of the published figure.
        model: Simulates the figure; a number, with the range that follows from the document's other
            figures, is arithmetic. None for what no model of a DPU can give.
        about: Of a claim in words, the ratio that is above 1 where it holds.
    """

    kind: Kind
    model: Callable[[], float] | Number | None = None
    about: str = ""


def _facts(cell: Cell) -> Mapping[str, Value]:
    row = table_row(TABLE, claim_id=str(cell["claim"]))
    _, model, about = CLAIMS_BY_ID[row["claim_id"]]
    value = model.value if isinstance(model, Number) else model and float(model())
    return {
        "about": about or row["quantity"],
        "published": f"{row['value']} {row['unit']}" if row["value"] else "in words",
        HERE: "beyond the model" if value is None else value,
        "how": NOTES[row["claim_id"]],
    }


def _published(_: Results) -> Iterator[Published]:
    for row in table(TABLE):
        kind, model, about = CLAIMS_BY_ID[row["claim_id"]]
        note = NOTES[row["claim_id"]]
        number = model if isinstance(model, Number) else None
        yield Published(
            figure="000-X1",
            what=about or row["quantity"],
            value=float(row["value"] or 1),
            unit=row["unit"] or "x",
            source=f"{row['source']}: {row['as_printed']}",
            kind=kind,
            here=number or (Fact({"claim": row["claim_id"]}, HERE) if model else Missing(note)),
            note=note,
            low=number.low if number else None,
            high=number.high if number else None,
            origin=Origin.PROJECTED if row["claim_id"] in PROJECTED else Origin.SIMULATED,
            # Numbers here restate the tables, or are arithmetic on them.
            is_fitted=kind in (Kind.NUMBER, Kind.GIVEN),
        )


def _shared_cycles() -> float:
    """Cycles of 2 KiB where enough tasklets share the work: an instruction a cycle."""
    return dpu.document_time("Encryption", "instructions", has_dma=False)


def _slower_than_a_core() -> float:
    core_s = projection.claim_value("aesni") / projection.CORE_HZ
    return dpu.document_rate("cycles") / projection.MEASURED_CLOCK_HZ / core_s


def _aesni_of_16() -> Number:
    """GiB/s of 16 cores at 4.2 cycles a byte, whose last digit leaves a range."""
    printed = table_row(TABLE, claim_id="aesni")["value"]
    low, high = rounding(printed)
    of_16 = CORES * projection.CORE_HZ / 2**30
    return Number(of_16 / float(printed), of_16 / high, of_16 / low)


def _line_through_reads() -> LinearRegression:
    sizes = [int(row["transfer_bytes"]) for row in table("000-T3-dma-latency")]
    return linear_regression(sizes, [dpu.latency("read", size) for size in sizes])


def _read_and_write() -> float:
    return sum(dpu.latency(each, dpu.BUFFER_BYTES) for each in dpu.DIRECTIONS)


def _fed_work_over_dma() -> float:
    """Cycles of instructions over those that the memory is busy, 1 DMA tasklet beside 16."""
    run, data_bytes = dpu.steady(dpu.ECB_FED, 1 + projection.TASKLETS, hazard=False)
    chunk = [dpu.latency(each, dpu.CHUNK_BYTES) - dpu.TIMER_CYCLES for each in dpu.DIRECTIONS]
    return run.instructions / (data_bytes / dpu.CHUNK_BYTES * sum(chunk))


TABLE, HERE = "000-X1-claims", "here"
# As the document has them.
CORES, SLOW_CORE_HZ, MRAM_BYTES = 16, 2.4e9, 64 << 20
# More than one DPU, or a core: arithmetic on what was simulated.
PROJECTED = ("slowdown", "mram-time", "dpu640", "cpu16")
CLAIMS_BY_ID = {
    "rate": Claim(Kind.NUMBER, lambda: dpu.document_rate("cycles")),
    "slowdown": Claim(Kind.NUMBER, _slower_than_a_core),
    "dma-2k": Claim(Kind.GIVEN, lambda: dpu.latency("read", dpu.BUFFER_BYTES)),
    "dma-overhead": Claim(Kind.GIVEN, lambda: _line_through_reads().intercept),
    "dma-rate": Claim(Kind.GIVEN, lambda: 1 / _line_through_reads().slope),
    "dma-pair": Claim(Kind.GIVEN, _read_and_write),
    "crypto-2k": Claim(Kind.NUMBER, _shared_cycles),
    "mram-time": Claim(
        Kind.NUMBER,
        lambda: MRAM_BYTES / dpu.BUFFER_BYTES * _shared_cycles() / projection.MEASURED_CLOCK_HZ,
    ),
    "dpu640": Claim(Kind.ARITHMETIC, projection.total_by_seconds()),
    "cpu16": Claim(Kind.NUMBER, lambda: CORES * SLOW_CORE_HZ / dpu.document_rate("cycles") / 2**20),
    "aesni": Claim(Kind.BEYOND),
    "aesni16": Claim(Kind.ARITHMETIC, _aesni_of_16()),
    "dma-negligible": Claim(
        Kind.SHAPE, lambda: _shared_cycles() / _read_and_write(), "compute time over DMA time"
    ),
    "crypto-bottleneck": Claim(
        Kind.SHAPE,
        _fed_work_over_dma,
        "compute time over DMA time, 1 DMA tasklet and 16 crypto tasklets",
    ),
    "bus-contention": Claim(Kind.BEYOND),
}
NOTES = read_legend(__package__, "claims")
CLAIMS = dpu.computed(
    **texts(__package__, "dpu-claims"),
    id="000-X1",
    axes=(Axis("claim", "claim", tuple(row["claim_id"] for row in table(TABLE))),),
    compare="claim",
    facts=_facts,
    published=_published,
    columns={"about": "about", "published": "published", HERE: HERE},
)
