"""AES-GCM by CPU threads (document 003, figure 5).

Quick: 1 thread, 2, as many as cores and twice as many; the messages as stated under 1,024 keys, and
as logged. A full run adds four threads a core, the document's 20 threads, and, for no more threads
than cores, the messages as stated under one key and under fresh keys.
"""

from collections.abc import Iterator, Sequence

from sealift_lab.experiments.device_names import ADVICE
from sealift_lab.experiments.document_003 import messages, printed
from sealift_lab.measure.crypto import AXES, MANY_KEYS, crypto_cells
from sealift_lab.measure.oversubscription import LOAD, Load, with_load
from sealift_lab.model.experiment import Experiment, Scope
from sealift_lab.model.figure import Missing, Rate, Scaled, Times
from sealift_lab.model.published import Kind, Published
from sealift_lab.model.results import Results
from sealift_lab.model.values import Cell
from sealift_lab.model.workload import FRESH_KEYS, ONE_KEY


def _cells(scope: Scope) -> Iterator[Cell]:
    counts = scope.threads or _thread_counts(scope)
    works = (messages.stated(MANY_KEYS), messages.logged())
    yield from with_load(crypto_cells(works, devices=DEVICES, threads=counts), scope)
    if not scope.quick:
        few = [count for count in counts if count <= scope.cores]
        more = (messages.stated(ONE_KEY), messages.stated(FRESH_KEYS))
        yield from with_load(crypto_cells(more, devices=DEVICES, threads=few), scope)


def _thread_counts(scope: Scope) -> tuple[int, ...]:
    counts = {1, 2, scope.cores, 2 * scope.cores}
    if not scope.quick:
        counts |= {4 * scope.cores, PUBLISHED_THREADS}
    return tuple(sorted(counts))


def _published(results: Results) -> Sequence[Published]:
    return [each for work in messages.DOCUMENT_WORK for each in _beside(results, work)]


def _beside(results: Results, work: Cell) -> Iterator[Published]:
    """The published figures beside one of the two readings of the document's messages."""
    where: Cell = {"device": TABLE_CODE, **work}
    work_text = f"messages {work['workload']}, table code"
    one, every = {**where, "threads": 1}, {**where, "load": Load.ALL.value}
    exact = {**where, "threads": PUBLISHED_THREADS}
    of_one, of_all = (
        printed.cpu_row(cpu=CPU, test=test) for test in ("Thread = 1", "Threads = cores")
    )
    what = f"AES-GCM, {PUBLISHED_THREADS} threads"
    per_core, as_many = f"a thread a core; {THERE}", f"as many threads; {THERE}"

    def at(threads: int) -> Cell:
        return {"threads": threads, "workload": work["workload"]}

    yield printed.speed(ID, "AES-GCM, 1 thread", of_one, Rate(one), work_text, CPU, at(1))
    place = at(PUBLISHED_THREADS)
    yield printed.speed(ID, what, of_all, Rate(every), f"{work_text}, {per_core}", CPU, place)
    yield printed.speed(ID, what, of_all, Rate(exact), f"{work_text}, {as_many}")
    for threads in _scaled_counts(results):
        yield _scaling(threads, one, {**where, "threads": threads}, work_text)
    yield _shared_cores(results, where, work_text)


def _scaling(threads: int, one: Cell, several: Cell, work_text: str) -> Published:
    is_several = threads > 1
    none = Missing("no several threads with a core each were measured")
    return printed.claim(
        ID,
        f"speed-up a thread, {threads if is_several else 'N'} threads against 1",
        "thread-scaling",
        Kind.SLOPE,
        Scaled(Times(several, one), 1 / threads) if is_several else none,
        f"{work_text}; printed for N threads, N < cores",
        value=printed.claim_value("thread-scaling"),
        unit="x a thread",
    )


def _shared_cores(results: Results, where: Cell, work_text: str) -> Published:
    """A thread a core against the fewest threads that share cores."""
    over = min(_counts(results, Load.OVER), default=0)
    every = {**where, "load": Load.ALL.value}
    none = Missing("no more threads than cores were measured")
    return printed.claim(
        ID,
        "our reading: a thread a core is faster than more threads than cores",
        "oversubscribe",
        Kind.READING,
        Times(every, {**where, "threads": over}) if over else none,
        f"{work_text}, a thread a core against {over or 'more'} threads; printed is a cause, not a "
        "figure",
    )


def _scaled_counts(results: Results) -> list[int]:
    """The most threads below the cores and those as many as cores; 1 where there are none."""
    ends = (max(_counts(results, load), default=1) for load in (Load.BELOW, Load.ALL))
    return sorted({count for count in ends if count > 1}) or [1]


def _counts(results: Results, load: Load) -> set[int]:
    return {int(row.cell["threads"]) for row in results.select(**{LOAD.name: load.value})}


ID = "003-F5"
TABLE_CODE = "table"
DEVICES = ("library", "cpu", TABLE_CODE)
CPU = "i7-12700H"
PUBLISHED_THREADS = 20
THERE = f"there {PUBLISHED_THREADS} threads on as many hardware threads, of 6 + 8 cores"

EXPERIMENT = Experiment(
    name="aes-gcm-by-threads",
    id=ID,
    title="AES-GCM by CPU threads",
    question="How far does AES-GCM scale with threads, and what do more threads than cores cost?",
    axes=(*AXES, LOAD),
    compare="device",
    cells=_cells,
    arm=messages.message_arm,
    operation="message",
    published=_published,
    charts=(
        messages.thread_chart("AES-GCM by CPU threads", messages.STATED),
        messages.thread_chart("AES-GCM by CPU threads", messages.LOGGED),
        messages.thread_chart("Messages a second by CPU threads", messages.LOGGED, "operations/s"),
    ),
    preferred=messages.PREFERRED,
    names=messages.MESSAGE_NAMES,
    advice=ADVICE,
    weight=1.5,
    notes=(
        'Table code stands for the document\'s "ordinary calculations". Messages *as stated* have '
        "128 bytes; messages *as logged* are the 37,800 NIST records of its input file, 28 bytes "
        "on average with a key each. Threads beyond the cores share them: their samples are never "
        "free of preemption. The document's own table gives 493/42.3 over 20 threads, a speed-up "
        "of 0.58 a thread."
    ),
)
