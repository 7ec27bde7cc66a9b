"""000-P3: AES from memory while other cores stream memory, and the DPUs that would do more."""

from collections.abc import Iterator, Sequence
from functools import partial

from sealift_lab.experiments.combinations import axes
from sealift_lab.experiments.document_000 import dpu, projection
from sealift_lab.experiments.notes import texts
from sealift_lab.measure.native import native
from sealift_lab.model.arm import Arm, Cell, Context
from sealift_lab.model.experiment import Chart, Experiment, Line, Scope
from sealift_lab.model.published import Kind, Published, Rate, Scaled, Time, Times, printed_claim
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
    yield printed_claim(
        "000-P3",
        "AES-NI, one thread at 3 GHz",
        "aesni",
        Kind.VALUE,
        Rate(_cell(AES_CTR)),
        "AES-128-CTR, one core, texts in memory; quoted from an Intel paper",
        value=projection.CORE_HZ / projection.claim_value("aesni") / 1e6,
        unit="MB/s",
    )
    reading = partial(printed_claim, "000-P3", claim_id="bus-contention", kind=Kind.READING)
    for cipher in CIPHERS:
        yield reading(
            f"our reading: {cipher} on one core alone over the same beside streams at their most",
            here=Times(_cell(cipher), _cell(cipher, percent=100)),
            note="texts in memory",
        )
    # Projected DPUs over measured cores that seal with GCM: above 1 the DPUs do more.
    every = max((int(each.cell["threads"]) for each in results.reports), default=1)
    cores = {"one core": _cell(AES_GCM), "one core beside streams": _cell(AES_GCM, percent=100)}
    if every > 1:
        cores["all cores"] = _cell(AES_GCM, threads=every)
    for system, place, bytes_per_ns, slower in _projected(dpu.GCM):
        for which, cell in cores.items():
            yield reading(
                f"our reading: {system}, {place}, over {which}, {AES_GCM}",
                # Nanoseconds a MiB of the cores times bytes a nanosecond of the DPUs.
                here=Scaled(Time(cell), bytes_per_ns / (1 << 20)),
                note="projected DPUs over measured cores; with the hazard of register banks "
                f"{slower / bytes_per_ns:.2f} times that",
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
