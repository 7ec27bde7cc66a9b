"""AES-GCM with and without a vendor's library (document 003, figure 6).

Table code stands for the document's "ordinary calculations" and is what the others are compared
with; Intel's ippcp is the library that it used, in a newer version; AWS-LC and the kernels here
are what one would take today.

Quick: the messages as stated under 1,024 sessions and as logged, on 1 thread and a thread a core.
A full run adds the messages as stated under one key and under fresh keys.
"""

from collections.abc import Iterator, Sequence

from sealift.lab.crowding import LOAD, Load
from sealift.lab.grid import (
    AXES,
    DOCUMENT_WORK,
    MANY_KEYS,
    REGIMES,
    crypto_arm,
    crypto_cells,
    logged,
    one_and_all,
    stated,
    with_load,
)
from sealift.lab.published import (
    Comparison,
    Kind,
    Printed,
    conditions,
    payload_speed,
    table_row,
    times_as_fast,
)
from sealift.lab.result import Found
from sealift.lab.spec import Experiment, Plot, Scope
from sealift.lab.values import Cell


def _cells(scope: Scope) -> Iterator[Cell]:
    regimes = (MANY_KEYS,) if scope.quick else REGIMES
    works = (*(stated(regime) for regime in regimes), logged())
    return with_load(crypto_cells(works, devices=DEVICES, threads=one_and_all(scope)), scope)


def _published(found: Found) -> Sequence[Comparison]:
    return [comparison for work in DOCUMENT_WORK for comparison in _beside(found, work)]


def _beside(found: Found, work: Cell) -> Iterator[Comparison]:
    """What was published beside one of the two readings of the document's messages."""
    where = {**work, "load": Load.ALL}
    told = conditions(found, device=TABLE_CODE, **where)
    note = f"messages {work['workload']}, {told}, a thread a core; there 20 threads"
    without = payload_speed(found, device=TABLE_CODE, **where)
    yield _end_point(ORDINARY, "without IPP", work).beside(without, f"table code, {note}")
    speed = payload_speed(found, device=VENDOR, **where)
    yield _end_point(WITH_IPP, "with IPP", work).beside(speed, f"ippcp, {note}")
    vendor, table_code = ({"device": name, **where} for name in (VENDOR, TABLE_CODE))
    times = times_as_fast(found, vendor, table_code)
    boosts = [_boost(cpu) for cpu in CPUS]
    for boost in boosts:
        yield boost.beside(times, f"ippcp against table code, {note}")
    claim = table_row("003-X1-claims", claim_id="ipp")
    factor = float(claim["value"]) / 100
    own = sorted(boost.value for boost in boosts)
    yield Printed(
        figure="003-F6",
        what="boost by IPP, around",
        value=factor,
        unit="x",
        source=claim["source"],
        kind=Kind.RATIO,
    ).beside(
        times,
        f"ippcp against table code, {note}; printed: {claim['as_printed']}, which is {factor:g} "
        f"times, or {factor + 1:g} if it counts what is added; the document's own table gives "
        f"{own[0]:.2f} to {own[-1]:.2f} times",
    )


def _end_point(test: str, how: str, work: Cell) -> Printed:
    row = table_row("003-T4-cpu-generations", cpu=CPU, test=test)
    return Printed(
        figure="003-F6",
        what=f"AES-GCM {how}, 20 threads",
        value=float(row["throughput_mb_s"]),
        unit="MB/s",
        source=row["source"],
        kind=Kind.VALUE,
        series=f"{CPU} {how}",
        at={"threads": 20, "workload": work["workload"]},
    )


def _boost(cpu: str) -> Printed:
    rows = [
        table_row("003-T4-cpu-generations", cpu=cpu, test=test) for test in (WITH_IPP, ORDINARY)
    ]
    with_ipp, ordinary = (float(row["throughput_mb_s"]) for row in rows)
    return Printed(
        figure="003-F6",
        what=f"boost by IPP on {cpu}: {with_ipp:.0f}/{ordinary:.0f} MB/s",
        value=with_ipp / ordinary,
        unit="x",
        source=rows[0]["source"],
        kind=Kind.RATIO,
    )


TABLE_CODE, VENDOR = "table", "ipp"
DEVICES = (TABLE_CODE, "cpu", "library", VENDOR)
ORDINARY, WITH_IPP = "Threads = cores", "Threads = cores, IPP"
# The one of figure 6, and then those beside it in the table.
CPU = "i7-12700H"
CPUS = (CPU, "i7-11370H", "i7-13620H")

EXPERIMENT = Experiment(
    name="vendor-library",
    id="003-F6",
    title="AES-GCM with and without a vendor's library",
    why="How much does a processor vendor's library gain over ordinary table code, and what do "
    "today's libraries and the kernels here gain?",
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
            title="With and without a vendor's library, messages as stated",
            facet="keys",
            where={"workload": "as stated"},
            log_x=True,
            log_y=True,
        ),
        Plot(
            x="threads",
            y="payload_MB_per_s",
            z="device",
            title="With and without a vendor's library, messages as logged",
            where={"workload": "as logged"},
            log_x=True,
            log_y=True,
        ),
    ),
)
