"""000-P3: AES from memory while other cores stream memory, and the DPUs that would do more."""

from collections.abc import Iterator, Sequence
from functools import partial

from sealift_lab.experiments.document_000 import projection
from sealift_lab.experiments.document_000.kernel import CTR, GCM
from sealift_lab.experiments.document_000.projection import BY_SDK, IN_MRAM, WITH_HAZARD
from sealift_lab.experiments.document_000.system import SYSTEMS
from sealift_lab.experiments.notes import read_notes
from sealift_lab.measure.native import contended
from sealift_lab.model.experiment import Axis, Chart, Experiment, Line, Scope
from sealift_lab.model.figure import Rate, Scaled, Time, Times
from sealift_lab.model.published import Kind, Published, table_row
from sealift_lab.model.results import Origin, Results
from sealift_lab.model.sample import Arm, Context
from sealift_lab.model.values import Cell


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    for cipher in CIPHERS:
        for threads in _thread_counts(scope):
            others = scope.cores - threads
            for percent in (0, 50, 100) if others else (0,):
                yield {
                    CIPHER.name: cipher,
                    THREADS.name: threads,
                    OTHERS.name: others,
                    STREAMS.name: percent,
                }


def _thread_counts(scope: Scope) -> Sequence[int]:
    """All counts of a few cores; of many 1, 2, 4 and so on, all but one, and all."""
    every = range(1, scope.cores + 1)
    if scope.threads:
        return [count for count in scope.threads if count in every]
    few = {1, scope.cores - 1, scope.cores, *(1 << power for power in range(16))}
    return [count for count in every if scope.cores <= FEW_CORES or count in few]


def _arm(cell: Cell, context: Context, text_bytes: int = 256 << 20) -> Arm:
    """By default each thread has more text, in and out, than caches hold."""
    percent = int(cell[STREAMS.name])
    return contended(
        CIPHERS[str(cell[CIPHER.name])],
        threads=int(cell[THREADS.name]),
        text_bytes=text_bytes,
        streamers=int(cell[OTHERS.name]) if percent else 0,
        share_percent=percent or 100,
        stream_bytes=text_bytes,
        context=context,
    )


def _published(results: Results) -> Sequence[Published]:
    quoted = table_row("000-X1-claims", claim_id="aesni")
    core = Published(
        figure="000-P3",
        what="AES-NI, one thread at 3 GHz",
        value=CORE_HZ / float(quoted["value"]) / 1e6,
        unit="MB/s",
        source=f"{quoted['source']}: {quoted['as_printed']}, of an Intel paper",
        kind=Kind.VALUE,
        here=Rate(_cell(AES_CTR)),
        note="AES-128-CTR, one core, texts in memory",
    )
    return [core, *map(_slowed_by_streams, CIPHERS), *_crossings(results)]


def _slowed_by_streams(cipher: str) -> Published:
    question = table_row("000-X1-claims", claim_id="bus-contention")
    return Published(
        figure="000-P3",
        what=f"our reading: {cipher} on one core alone over the same beside streams at their most",
        value=1.0,
        unit="x",
        source=question["source"],
        kind=Kind.READING,
        here=Times(_cell(cipher), _cell(cipher, percent=100)),
        note=f"texts in memory; printed: {question['as_printed']}",
    )


def _crossings(results: Results) -> Iterator[Published]:
    """Projected DPUs over measured cores that seal with GCM: above 1 the DPUs do more."""
    question = table_row("000-X1-claims", claim_id="bus-contention")
    for system in SYSTEMS:
        facts = projection.project(GCM.title, system)
        for name, place in PLACES.items():
            bytes_per_ns = float(facts[name])
            slower = float(facts[WITH_HAZARD[name]]) / bytes_per_ns
            for cores, cell in _cores(results).items():
                yield Published(
                    figure="000-P3",
                    what=f"our reading: {system.short}, {place}, over {cores}, {AES_GCM}",
                    value=1.0,
                    unit="x",
                    source=question["source"],
                    kind=Kind.READING,
                    # Nanoseconds a MiB of the cores times bytes a nanosecond of the DPUs.
                    here=Scaled(Time(cell), bytes_per_ns / (1 << 20)),
                    note=f"projected DPUs over measured cores; with the hazard of register banks "
                    f"{slower:.2f} times that; printed: {question['as_printed']}",
                    origin=Origin.PROJECTED,
                )


def _cores(results: Results) -> dict[str, Cell]:
    """Cells of the cores that DPUs are compared with, by name."""
    every = max((int(each.cell[THREADS.name]) for each in results.reports), default=1)
    cells = {"one core": _cell(AES_GCM), "one core beside streams": _cell(AES_GCM, percent=100)}
    return cells | ({"all cores": _cell(AES_GCM, threads=every)} if every > 1 else {})


def _cell(cipher: str, *, threads: int = 1, percent: int = 0) -> Cell:
    return {CIPHER.name: cipher, THREADS.name: threads, STREAMS.name: percent}


def _lines(_: Results) -> Sequence[Line]:
    """The projected DPUs, as lines across the chart of the cipher that they do."""
    return [
        Line(
            f"{system.short}, {place}",
            "MB/s",
            1_000 * float(facts[name]),
            Origin.PROJECTED,
            {CIPHER.name: cipher},
        )
        for cipher, kernel in ((AES_GCM, GCM), (AES_CTR, CTR))
        for system in SYSTEMS
        for facts in [projection.project(kernel.title, system)]
        for name, place in PLACES.items()
    ]


CIPHER, THREADS = Axis("cipher", "cipher"), Axis("threads", "cores that encrypt")
OTHERS = Axis("other_cores", "other cores")
STREAMS = Axis("streams_percent", "what these stream, % of the ceiling")
CIPHERS = {"AES-128-GCM": "gcm", "AES-128-CTR": "ctr"}
AES_GCM, AES_CTR = CIPHERS
PLACES = {IN_MRAM: "data in MRAM", BY_SDK: "data in host memory and back (SDK)"}
FEW_CORES = 8
# As the document has it.
CORE_HZ = 3e9

CONTENTION = Experiment(
    name="memory-contention",
    id="000-P3",
    title="AES from memory while other cores stream memory",
    question="How much does contention for memory take from a core that encrypts, and from where "
    "on would processing in memory do more?",
    axes=(CIPHER, THREADS, OTHERS, STREAMS),
    compare=STREAMS.name,
    cells=_cells,
    arm=_arm,
    # A short text takes no time to make.
    check_available=partial(_arm, text_bytes=1 << 20),
    operation="MiB",
    published=_published,
    charts=(
        Chart(
            x=THREADS.name,
            series=STREAMS.name,
            y="MB/s",
            title="AES from memory beside streams, and DPUs",
            panels=CIPHER.name,
            log_y=True,
        ),
    ),
    lines=_lines,
    preferred={CIPHER.name: AES_GCM, THREADS.name: 1},
    weight=0.6,
    notes=read_notes(__package__, "contention"),
)
