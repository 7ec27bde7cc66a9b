"""What document 000 says of DPUs in words: each claim beside what the simulation gives."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from sealift.lab.dpus import LITERAL_BYTES, Direction, fitted, kept, latency, literal, model
from sealift.lab.dpus.amounts import TASKLETS
from sealift.lab.dpus.kernel import ECB_FED, steady, steady_bytes
from sealift.lab.dpus.projected import total_by_seconds
from sealift.lab.dpus.system import MEASURED_CLOCK_HZ
from sealift.lab.published import IN_WORDS, Comparison, Kind, Printed, Rounded, counted, table
from sealift.lab.result import Found, Origin
from sealift.lab.spec import Axis, Brief, Computed, Context, Experiment, Scope
from sealift.lab.values import Cell


def _cells(scope: Scope) -> Iterable[Cell]:
    return () if scope.quick else ({CLAIM.name: row["claim_id"]} for row in _rows())


def _rows() -> Sequence[Mapping[str, str]]:
    return table("000-X1-claims")


def _arm(cell: Cell, _: Context) -> Computed:
    """Computes what a claim is about, or says why a model can't."""
    name = str(cell[CLAIM.name])
    row = next(row for row in _rows() if row["claim_id"] == name)
    printed = f"{row['value']} {row['unit']}" if row["value"] else IN_WORDS
    facts: dict[str, str | float] = {"about": _about(row), "published": printed}
    if name in BEYOND:
        return Computed({**facts, HERE: "beyond the model", HOW: BEYOND[name]})
    if name in WITHIN:
        span, how = WITHIN[name]
        return Computed({**facts, HERE: kept(span().value), HOW: how})
    reckon, how = {**NUMBERS, **SHAPES}[name]
    return Computed({**facts, HERE: kept(reckon()), HOW: how})


def _about(row: Mapping[str, str]) -> str:
    """What is claimed; of a claim in words the ratio that is to be above 1."""
    name = row["claim_id"]
    return RATIOS[name] if name in RATIOS else row["quantity"]


def _published(found: Found) -> Sequence[Comparison]:
    known = {str(each.cell[CLAIM.name]): each.facts for each in found.verified if each.facts}
    return [_compared(row, known.get(row["claim_id"]), found) for row in _rows()]


def _compared(
    row: Mapping[str, str], facts: Mapping[str, object] | None, found: Found
) -> Comparison:
    name = row["claim_id"]
    printed = Printed(
        figure=EXPERIMENT.id,
        what=_about(row),
        value=float(row["value"]) if row["value"] else 1.0,
        unit=row["unit"] or "x",
        source=f"{row['source']}: {row['as_printed']}",
        kind=_kind(name),
        span=WITHIN[name][0]() if name in WITHIN else None,
        origin=Origin.PROJECTED if name in PROJECTED else Origin.SIMULATED,
    )
    if name in BEYOND:
        return printed.beside(BEYOND[name], "no result of it")
    if name in WITHIN:
        return printed.beside(WITHIN[name][1], "its own figures")
    if facts is None:
        return printed.beside(found.why_not(**{CLAIM.name: name}), "not computed")
    # A shape is a ratio that is to be above 1, of simulated times.
    return printed.beside(counted(float(str(facts[HERE])), of=1), str(facts[HOW]))


def _kind(name: str) -> Kind:
    if name in BEYOND:
        return Kind.BEYOND
    if name in WITHIN:
        return Kind.WITHIN
    if name in GIVEN:
        return Kind.GIVEN
    return Kind.NUMBER if name in NUMBERS else Kind.SHAPE


def _cycles_a_byte() -> float:
    return literal("Encryption", "cycles").with_dma / LITERAL_BYTES


def _split_cycles() -> float:
    """Of 2 KiB where tasklets enough share the work: an instruction a cycle."""
    return literal("Encryption", "instructions").without_dma


def _mram_seconds() -> float:
    return MRAM_BYTES / LITERAL_BYTES * _split_cycles() / MEASURED_CLOCK_HZ


def _slower_than_a_core() -> float:
    return (_cycles_a_byte() / MEASURED_CLOCK_HZ) / (_printed("aesni") / CORE_HZ)


def _cores_mib_per_s() -> float:
    return CORES * SLOW_CORE_HZ / _cycles_a_byte() / MIB


def _aesni_16() -> Rounded:
    """GiB/s of 16 cores from 4.2 cycles a byte, whose last digit leaves a range."""
    cycles = Rounded.printed(f"{_printed('aesni')} cycles")
    ends = (cycles.value, cycles.high, cycles.low)
    return Rounded(*(CORES * CORE_HZ / each / GIB for each in ends))


def _read(size: int) -> float:
    return float(latency(Direction.READ, size))


def _line_through_reads() -> tuple[float, float]:
    sizes = [int(row["transfer_bytes"]) for row in table("000-T3-dma-latency")]
    line = fitted([(size, _read(size)) for size in sizes])
    return line.overhead_cycles, line.bytes_a_cycle


def _pair() -> float:
    return _read(2_048) + latency(Direction.WRITE, 2_048)


def _work_over_dma() -> float:
    return _split_cycles() / _pair()


def _fed_work_over_dma() -> float:
    """Cycles that instructions take over those that the memory is busy, as proposed: 1 + 16."""
    run = steady(ECB_FED, 1 + TASKLETS, hazard=False)
    chunks = steady_bytes(ECB_FED, 1 + TASKLETS) / FED_CHUNK
    busy = chunks * sum(latency(each, FED_CHUNK) - TIMER for each in Direction)
    return run.instructions / busy


def _printed(claim: str) -> float:
    return float(next(row["value"] for row in _rows() if row["claim_id"] == claim))


CLAIM = Axis("claim", "claim")
HERE, HOW = "here", "how"
MIB, GIB = 2**20, 2**30
MRAM_BYTES = 64 << 20
# As the document has them.
CORES, CORE_HZ, SLOW_CORE_HZ = 16, 3e9, 2.4e9
FED_CHUNK, TIMER = 512, 66
Reckoned = tuple[Callable[[], float], str]
NUMBERS: Mapping[str, Reckoned] = {
    "rate": (_cycles_a_byte, "the document's algorithm, one tasklet, transfers included"),
    "slowdown": (
        _slower_than_a_core,
        "one tasklet at 266 MHz against the 4.2 cycles a byte that it quotes, at 3 GHz; with "
        "tasklets enough a DPU is eleven times as fast",
    ),
    "dma-2k": (
        lambda: _read(2_048),
        "fitted to this: a cell of 000-T3; it goes on in a second row of memory",
    ),
    "dma-overhead": (
        lambda: _line_through_reads()[0],
        "fitted to this in part: the line through the four lengths of 000-T3, of which the longest "
        "was; the timer's own six instructions included",
    ),
    "dma-rate": (
        lambda: _line_through_reads()[1],
        "fitted to this in part: the line through the four lengths of 000-T3, of which the longest "
        "was",
    ),
    "dma-pair": (
        _pair,
        "fitted to this: a read as in 000-T3, and a write, which is faster by 16 cycles",
    ),
    "crypto-2k": (_split_cycles, "an instruction a cycle, which eleven tasklets reach"),
    "mram-time": (_mram_seconds, "the same, at 266 MHz"),
    "cpu16": (
        _cores_mib_per_s,
        "cycles of a DPU's tasklet taken for those of a core, which does more in one",
    ),
}
# More than one DPU, or a core: arithmetic on what was simulated.
PROJECTED = ("slowdown", "mram-time", "dpu640", "cpu16")
# They follow from the one cell that a constant of the model was fitted to: 2,048 B of 000-T3.
GIVEN = ("dma-2k", "dma-overhead", "dma-rate", "dma-pair")
SHAPES: Mapping[str, Reckoned] = {
    "dma-negligible": (
        _work_over_dma,
        "2 KiB with tasklets enough, read and written; 000-P2 has it for 128 B to 64 MiB",
    ),
    "crypto-bottleneck": (
        _fed_work_over_dma,
        "cycles of instructions over cycles that memory is busy",
    ),
}
# By claim what stands over what; above 1 it holds.
RATIOS: Mapping[str, str] = {
    "dma-negligible": "compute time over DMA time",
    "crypto-bottleneck": "compute time over DMA time, 1 DMA tasklet and 16 crypto tasklets",
}
WITHIN: Mapping[str, tuple[Callable[[], Rounded], str]] = {
    "dpu640": (
        total_by_seconds,
        "its own 12 seconds for the 64 MiB of each DPU come to eleven times as much: 300 MiB/s "
        "multiply the rate of one tasklet alone",
    ),
    "aesni16": (
        _aesni_16,
        "16 cores at 3 GHz and 4.2 cycles a byte are 11.4 GB/s, which is 10.6 GiB/s",
    ),
}
BEYOND: Mapping[str, str] = {
    "aesni": "a measurement of another processor, quoted; 000-P3 measures this one",
    "bus-contention": "no model of a DPU knows how busy a host's memory is; 000-P3 measures it",
}

EXPERIMENT = Experiment(
    name="dpu-claims",
    id="000-X1",
    title="What document 000 says of DPUs and of cores",
    why="Which of its claims follow from a simulation of the DPU that it measured, which don't, "
    "and which can't?",
    axes=(CLAIM,),
    compare=CLAIM.name,
    cells=_cells,
    arm=_arm,
    operation="claim",
    published=_published,
    weight=0.05,
    origin=Origin.SIMULATED,
    takes_s=0.5,
    stands_on=model.SIMULATED,
    brief=Brief({"about": "about", "published": "published", HERE: HERE}),
)
