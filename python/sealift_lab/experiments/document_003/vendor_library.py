"""AES-GCM with and without a vendor's library (document 003, figure 6).

Quick: the messages as stated under 1,024 keys and as logged, on 1 thread and a thread a core. A
full run adds the messages as stated under one key and under fresh keys.
"""

from collections.abc import Iterator, Sequence

from sealift_lab.experiments.device_names import ADVICE
from sealift_lab.experiments.document_003 import messages, printed
from sealift_lab.measure.crypto import AXES, MANY_KEYS, REGIMES, crypto_cells, one_and_all
from sealift_lab.measure.oversubscription import LOAD, Load, with_load
from sealift_lab.model.experiment import Experiment, Scope
from sealift_lab.model.figure import Rate, Times
from sealift_lab.model.published import Kind, Published
from sealift_lab.model.results import Results
from sealift_lab.model.values import Cell


def _cells(scope: Scope) -> Iterator[Cell]:
    regimes = (MANY_KEYS,) if scope.quick else REGIMES
    works = (*(messages.stated(regime) for regime in regimes), messages.logged())
    return with_load(crypto_cells(works, devices=DEVICES, threads=one_and_all(scope)), scope)


def _published(_: Results) -> Sequence[Published]:
    return [each for work in messages.DOCUMENT_WORK for each in _beside(work)]


def _beside(work: Cell) -> Iterator[Published]:
    """The published figures beside one of the two readings of the document's messages."""
    table_code, vendor = ({"device": each, **work, "load": Load.ALL.value} for each in BOTH)
    note = f"messages {work['workload']}, a thread a core; there 20 threads"
    at: Cell = {"threads": 20, "workload": work["workload"]}
    for how, name, row, cell in (
        ("without IPP", "table code", ORDINARY[CPU], table_code),
        ("with IPP", "ippcp", WITH_IPP[CPU], vendor),
    ):
        what, series = f"AES-GCM {how}, 20 threads", f"{CPU} {how}"
        yield printed.speed(ID, what, row, Rate(cell), f"{name}, {note}", series, at)
    times, note = Times(vendor, table_code), f"ippcp against table code, {note}"
    for cpu in CPUS:
        with_ipp, ordinary = printed.mb_per_s(WITH_IPP[cpu]), printed.mb_per_s(ORDINARY[cpu])
        what = f"boost by IPP on {cpu}: {with_ipp:.0f}/{ordinary:.0f} MB/s"
        source = WITH_IPP[cpu]["source"]
        yield Published(ID, what, with_ipp / ordinary, "x", source, Kind.RATIO, times, note)
    factor = printed.claim_value("ipp") / 100
    note = f"{note}; {factor:g} times, or {factor + 1:g} if that is what the library adds"
    what = "boost by IPP, around"
    yield printed.claim(ID, what, "ipp", Kind.RATIO, times, note, value=factor)


ID = "003-F6"
BOTH = ("table", "ipp")
DEVICES = ("table", "cpu", "library", "ipp")
# The one of figure 6, and those beside it in the table.
CPU = "i7-12700H"
CPUS = (CPU, "i7-11370H", "i7-13620H")
ORDINARY, WITH_IPP = (
    {cpu: printed.cpu_row(cpu=cpu, test=test) for cpu in CPUS}
    for test in ("Threads = cores", "Threads = cores, IPP")
)

EXPERIMENT = Experiment(
    name="vendor-library",
    id=ID,
    title="AES-GCM with and without a vendor's library",
    question="How much does a processor vendor's library gain over ordinary table code, and how "
    "much do today's libraries and Sealift's kernels?",
    axes=(*AXES, LOAD),
    compare="device",
    cells=_cells,
    arm=messages.message_arm,
    operation="message",
    published=_published,
    charts=(
        messages.thread_chart("With and without a vendor's library", messages.STATED),
        messages.thread_chart("With and without a vendor's library", messages.LOGGED),
    ),
    preferred=messages.PREFERRED,
    names=messages.MESSAGE_NAMES,
    advice=ADVICE,
    notes=(
        "Table code stands for the document's \"ordinary calculations\", Intel's ippcp for the "
        "library that it used, in a newer version. The document prints a boost of around 450 %; "
        "its own table gives 3.54 to 4.06 times."
    ),
)
