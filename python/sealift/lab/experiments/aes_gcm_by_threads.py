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

from sealift.lab.grid import (
    AXES,
    DOCUMENT_WORK,
    LOAD,
    MANY_KEYS,
    Load,
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
    note = f"messages {work['workload']}, table code"
    one = _speed(found, work, threads=1)
    all_cores = _speed(found, work, load=Load.ALL)
    drawn = {"workload": work["workload"]}
    yield _end_point("Thread = 1", 1, drawn).beside(one, f"{note}, 1 thread")
    last = _end_point("Threads = cores", PUBLISHED_THREADS, drawn)
    yield last.beside(all_cores, f"{note}, a thread a core; there 20 on as many hardware threads")
    exactly = _speed(found, work, threads=PUBLISHED_THREADS)
    yield replace(last, series="").beside(exactly, f"{note}, 20 threads as there, in full runs")
    yield _scaling(found, quotient(all_cores, one), note)
    over = _least_over(found)
    shared = quotient(all_cores, _speed(found, work, threads=over))
    yield SHARED_CORES.beside(shared, f"{note}, {over or 'more'} threads beside a thread a core")


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


def _scaling(found: Found, here: Here, note: str) -> Comparison:
    claim = table_row("003-X1-claims", claim_id="thread-scaling")
    threads, a_thread = _all_cores(found), float(claim["value"])
    several = threads > 1
    return Printed(
        figure="003-F5",
        what=f"{threads if several else 'N'} threads against 1",
        value=threads * a_thread if several else a_thread,
        unit="x" if several else "x a thread",
        source=claim["source"],
        kind=Kind.RATIO,
    ).beside(
        here if several else "no more than one core was measured",
        f"{note}; printed: N threads speed up {claim['as_printed']}",
    )


def _speed(found: Found, work: Cell, **where: Value) -> Here:
    return payload_speed(found, device=TABLE_CODE, **work, **where)


def _all_cores(found: Found) -> int:
    counts = {int(row.cell["threads"]) for row in found.rows if row.cell[LOAD.name] == Load.ALL}
    return max(counts, default=1)


def _least_over(found: Found) -> int:
    """The least number of threads that had to share cores, or 0 where none had."""
    counts = {int(row.cell["threads"]) for row in found.rows if row.cell[LOAD.name] == Load.OVER}
    return min(counts, default=0)


TABLE_CODE = "table"
DEVICES = ("library", "cpu", TABLE_CODE)
CPU = "i7-12700H"
PUBLISHED_THREADS = 20
SHARED_CORES = Printed(
    figure="003-F5",
    what="a thread a core against more threads than cores",
    value=1.0,
    unit="x",
    source=table_row("003-X1-claims", claim_id="oversubscribe")["source"],
    kind=Kind.SHAPE,
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
