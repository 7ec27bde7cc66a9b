"""AES-GCM by CPU threads (document 003, figure 5).

Three implementations do the document's messages, as its text states them and as its log shows them:
table code, which stands for the document's "ordinary calculations", AWS-LC, and the kernels here.
Threads beyond the cores share them; their samples are never free of preemption, which is what this
figure is about.

Quick: 1 thread, 2, as many as cores and twice as many; the messages as stated under 1,024 sessions.
A full run adds four threads a core, the document's 20 threads, and, for no more threads than cores,
the messages as stated under one key and under fresh keys.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sealift.lab.crowding import LOAD, Load
from sealift.lab.grid import (
    AXES,
    DOCUMENT_WORK,
    MANY_KEYS,
    crypto_arm,
    crypto_cells,
    logged,
    stated,
    with_load,
)
from sealift.lab.published import (
    Comparison,
    Here,
    Kind,
    Printed,
    conditions,
    gain_a_thread,
    payload_speed,
    quotient,
    table_row,
)
from sealift.lab.result import Found
from sealift.lab.spec import Experiment, Plot, Scope
from sealift.lab.values import Cell, Value
from sealift.lab.workload import FRESH_KEYS, ONE_KEY


def _cells(scope: Scope) -> Iterator[Cell]:
    counts = scope.threads or _thread_counts(scope)
    works = (stated(MANY_KEYS), logged())
    yield from with_load(crypto_cells(works, devices=DEVICES, threads=counts), scope)
    if not scope.quick:
        few = [count for count in counts if count <= scope.cores]
        more = (stated(ONE_KEY), stated(FRESH_KEYS))
        yield from with_load(crypto_cells(more, devices=DEVICES, threads=few), scope)


def _thread_counts(scope: Scope) -> tuple[int, ...]:
    counts = {1, 2, scope.cores, 2 * scope.cores}
    if not scope.quick:
        counts |= {4 * scope.cores, PUBLISHED_THREADS}
    return tuple(sorted(counts))


def _published(found: Found) -> Sequence[Comparison]:
    return [comparison for work in DOCUMENT_WORK for comparison in _beside(found, work)]


def _beside(found: Found, work: Cell) -> Iterator[Comparison]:
    """What was published beside one of the two readings of the document's messages."""

    def note(**where: Value) -> str:
        told = conditions(found, device=TABLE_CODE, **work, **where)
        return f"messages {work['workload']}, table code, {told}"

    one = _speed(found, work, threads=1)
    every = _speed(found, work, load=Load.ALL)
    drawn = {"workload": work["workload"]}
    yield _end_point("Thread = 1", 1, drawn).beside(one, note(threads=1))
    last = _end_point("Threads = cores", PUBLISHED_THREADS, drawn)
    yield last.beside(every, f"{note(load=Load.ALL)}, a thread a core; {THERE}")
    exactly = _speed(found, work, threads=PUBLISHED_THREADS)
    yield replace(last, series="").beside(
        exactly, f"{note(threads=PUBLISHED_THREADS)} as there, {_cores_text(found)}; {THERE}"
    )
    for threads in _scaled_counts(found):
        here = gain_a_thread(
            found,
            {"device": TABLE_CODE, **work, "threads": 1},
            {"device": TABLE_CODE, **work, "threads": threads},
        )
        yield _scaling(found, threads, here, note(threads=threads))
    over = _least_over(found)
    shared = quotient(every, _speed(found, work, threads=over))
    yield SHARED_CORES.beside(
        shared,
        f"{note(load=Load.ALL)}, a thread a core, against {over or 'more'} threads, "
        f"{_cores_text(found)}; printed is a cause, not a figure: {OVERSUBSCRIBED['as_printed']}",
    )


def _end_point(test: str, threads: int, drawn: Cell) -> Printed:
    row = table_row("003-T4-cpu-generations", cpu=CPU, test=test)
    return Printed(
        figure="003-F5",
        what=f"AES-GCM, {threads} {'thread' if threads == 1 else 'threads'}",
        value=float(row["throughput_mb_s"]),
        unit="MB/s",
        source=row["source"],
        kind=Kind.VALUE,
        series=CPU,
        at={"threads": threads, **drawn},
    )


def _scaling(found: Found, threads: int, here: Here, note: str) -> Comparison:
    claim = table_row("003-X1-claims", claim_id="thread-scaling")
    own = _end_point("Threads = cores", PUBLISHED_THREADS, {}).value
    own_one = _end_point("Thread = 1", 1, {}).value
    several = threads > 1
    limit = ", as many as cores" if threads == _cores(found) else ""
    return Printed(
        figure="003-F5",
        what=f"speed-up a thread, {threads if several else 'N'} threads against 1",
        value=float(claim["value"]),
        unit="x a thread",
        source=claim["source"],
        kind=Kind.SLOPE,
    ).beside(
        here if several else "no several threads with a core each were measured",
        f"{note}{limit}; printed for N threads, N < cores: {claim['as_printed']}; the document's "
        f"own {PUBLISHED_THREADS} threads, as many as its hardware threads, give "
        f"{own:g}/{own_one:g} over {PUBLISHED_THREADS}, {own / own_one / PUBLISHED_THREADS:.2f}",
    )


def _speed(found: Found, work: Cell, **where: Value) -> Here:
    return payload_speed(found, device=TABLE_CODE, **work, **where)


def _scaled_counts(found: Found) -> list[int]:
    """The most threads below the cores and those as many as cores; 1 where there are none."""
    ends = (max(_counts(found, load), default=1) for load in (Load.BELOW, Load.ALL))
    return sorted({count for count in ends if count > 1}) or [1]


def _cores(found: Found) -> int | None:
    """How many there are, or None where nothing had a thread a core."""
    return max(_counts(found, Load.ALL), default=None)


def _cores_text(found: Found) -> str:
    cores = _cores(found)
    if cores is None:
        return "on a number of cores that the rows don't tell"
    return "on 1 core" if cores == 1 else f"on {cores} cores"


def _least_over(found: Found) -> int:
    """The least number of threads that had to share cores, or 0 where none had."""
    return min(_counts(found, Load.OVER), default=0)


def _counts(found: Found, load: Load) -> set[int]:
    return {int(row.cell["threads"]) for row in found.rows if row.cell[LOAD.name] == load}


TABLE_CODE = "table"
DEVICES = ("library", "cpu", TABLE_CODE)
CPU = "i7-12700H"
PUBLISHED_THREADS = 20
THERE = f"there {PUBLISHED_THREADS} threads on as many hardware threads, of 6 + 8 cores"
OVERSUBSCRIBED = table_row("003-X1-claims", claim_id="oversubscribe")
SHARED_CORES = Printed(
    figure="003-F5",
    what="our reading: a thread a core is faster than more threads than cores",
    value=1.0,
    unit="x",
    source=OVERSUBSCRIBED["source"],
    kind=Kind.READING,
)

EXPERIMENT = Experiment(
    name="aes-gcm-by-threads",
    id="003-F5",
    title="AES-GCM by CPU threads",
    why="How far does AES-GCM scale with threads, and what do more threads than cores cost?",
    axes=(*AXES, LOAD),
    compare="device",
    cells=_cells,
    arm=crypto_arm,
    operation="message",
    published=_published,
    plots=(
        Plot(
            x="threads",
            y="payload_MB_per_s",
            z="device",
            title="AES-GCM by CPU threads, messages as stated",
            facet="keys",
            where={"workload": "as stated"},
            log_x=True,
            log_y=True,
        ),
        Plot(
            x="threads",
            y="payload_MB_per_s",
            z="device",
            title="AES-GCM by CPU threads, messages as logged",
            where={"workload": "as logged"},
            log_x=True,
            log_y=True,
        ),
        Plot(
            x="threads",
            y="operations_per_s",
            z="device",
            title="Messages a second by CPU threads, messages as logged",
            where={"workload": "as logged"},
            log_x=True,
            log_y=True,
        ),
    ),
    weight=1.5,
)
