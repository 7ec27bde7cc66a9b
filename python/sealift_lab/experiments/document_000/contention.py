"""000-P3: AES from memory while other cores stream memory, and the DPUs that would do more."""

from collections.abc import Iterator, Sequence
from functools import partial

from sealift_lab.experiments.combinations import axes
from sealift_lab.experiments.document_000 import dpu, projection
from sealift_lab.experiments.notes import texts
from sealift_lab.measure.native import native
from sealift_lab.model.arm import Arm, Cell, Context
from sealift_lab.model.experiment import Chart, Experiment, Line, Scope
from sealift_lab.model.published import Kind, Published, Rate, Scaled, Time, Times, table_row
from sealift_lab.model.results import Origin, Results


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    for cipher in CIPHERS:
        for threads in _thread_counts(scope):
            others = scope.cores - threads
            at: Cell = {"cipher": cipher, "threads": threads, "other_cores": others}
            for percent in (0, 50, 100) if others else (0,):
                yield {**at, "streams_percent": percent}


def _thread_counts(scope: Scope) -> Sequence[int]:
    """All counts of a few cores; of many 1, 2, 4 and so on, all but one, and all."""
    every = range(1, scope.cores + 1)
    if scope.threads:
        return [count for count in scope.threads if count in every]
    few = {scope.cores - 1, scope.cores, *(1 << power for power in range(16))}
    return [count for count in every if scope.cores <= 8 or count in few]


def _arm(cell: Cell, context: Context, text_bytes: int = 256 << 20) -> Arm:
    """By default each thread has more text, in and out, than caches hold."""
    percent = int(cell["streams_percent"])
    return native(
        "contended",
        context,
        cipher=CIPHERS[str(cell["cipher"])],
        threads=int(cell["threads"]),
        text_bytes=text_bytes,
        streamers=int(cell["other_cores"]) if percent else 0,
        share_percent=percent or 100,
        stream_bytes=text_bytes,
    )


def _published(results: Results) -> Iterator[Published]:
    quoted = table_row("000-X1-claims", claim_id="aesni")
    yield Published(
        figure="000-P3",
        what="AES-NI, one thread at 3 GHz",
        value=projection.CORE_HZ / float(quoted["value"]) / 1e6,
        unit="MB/s",
        source=f"{quoted['source']}: {quoted['as_printed']}, of an Intel paper",
        kind=Kind.VALUE,
        here=Rate(_cell(AES_CTR)),
        note="AES-128-CTR, one core, texts in memory",
    )
    question = table_row("000-X1-claims", claim_id="bus-contention")
    printed = f"printed: {question['as_printed']}"
    reading = partial(
        Published,
        figure="000-P3",
        value=1.0,
        unit="x",
        source=question["source"],
        kind=Kind.READING,
    )
    for cipher in CIPHERS:
        yield reading(
            what=f"our reading: {cipher} on one core alone over the same beside streams at their "
            "most",
            here=Times(_cell(cipher), _cell(cipher, percent=100)),
            note=f"texts in memory; {printed}",
        )
    # Projected DPUs over measured cores that seal with GCM: above 1 the DPUs do more.
    every = max((int(each.cell["threads"]) for each in results.reports), default=1)
    cores = {"one core": _cell(AES_GCM), "one core beside streams": _cell(AES_GCM, percent=100)}
    if every > 1:
        cores["all cores"] = _cell(AES_GCM, threads=every)
    for system, place, bytes_per_ns, slower in _projected(dpu.GCM):
        for which, cell in cores.items():
            yield reading(
                what=f"our reading: {system}, {place}, over {which}, {AES_GCM}",
                # Nanoseconds a MiB of the cores times bytes a nanosecond of the DPUs.
                here=Scaled(Time(cell), bytes_per_ns / (1 << 20)),
                note="projected DPUs over measured cores; with the hazard of register banks "
                f"{slower / bytes_per_ns:.2f} times that; {printed}",
                origin=Origin.PROJECTED,
            )


def _cell(cipher: str, *, threads: int = 1, percent: int = 0) -> Cell:
    return {"cipher": cipher, "threads": threads, "streams_percent": percent}


def _projected(kernel: dpu.Kernel) -> Iterator[tuple[str, str, float, float]]:
    """DPUs, where the data are, and GB/s without and with the hazard of register banks."""
    for system in projection.SYSTEMS.values():
        facts = projection.project(kernel.title, system)
        for name, place in projection.PLACES.items():
            gb_per_s, slower = (float(facts[name + each]) for each in ("", projection.HAZARD))
            yield f"{system.dpus:,} DPUs", place, gb_per_s, slower


def _lines(_: Results) -> Sequence[Line]:
    """The projected DPUs, as lines across the chart of the cipher that they do."""
    return [
        Line(f"{system}, {place}", "MB/s", 1e3 * gb_per_s, Origin.PROJECTED, {"cipher": cipher})
        for cipher, kernel in ((AES_GCM, dpu.GCM), (AES_CTR, dpu.CTR))
        for system, place, gb_per_s, _ in _projected(kernel)
    ]


CIPHERS = {"AES-128-GCM": "gcm", "AES-128-CTR": "ctr"}
AES_GCM, AES_CTR = CIPHERS
CHART = "AES from memory beside streams, and DPUs"

CONTENTION = Experiment(
    **texts(__package__, "memory-contention"),
    id="000-P3",
    axes=axes(
        cipher="cipher",
        threads="cores that encrypt",
        other_cores="other cores",
        streams_percent="what these stream, % of the ceiling",
    ),
    compare="streams_percent",
    cells=_cells,
    arm=_arm,
    # A short text takes no time to make.
    check_available=partial(_arm, text_bytes=1 << 20),
    operation="MiB",
    published=lambda results: [*_published(results)],
    charts=(Chart("threads", "streams_percent", "MB/s", CHART, "cipher", log_y=True),),
    lines=_lines,
    preferred={"cipher": AES_GCM, "threads": 1},
    weight=0.6,
)
