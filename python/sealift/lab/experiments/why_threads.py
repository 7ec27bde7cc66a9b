"""Why threads don't help a copy: document 004's causes, each by itself (004-T).

The document blames page faults and TLB shootdowns for what its threads did not gain. Here copies
run alone; beside a thread that only spins, and beside one that makes all cores forget a page again
and again; into huge pages; into pages that nobody touched before, and into pages that the system
was asked to have ready; and through the published tool's queue under one lock, beside the tool's
way without its queue, on the calling thread, which has the same first touches. A mapping that
bypasses the caches needs a device's memory: it is measured where a region was named.

Not part of a quick run.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from sealift.lab.copying import AS_PUBLISHED, COUNT, REGION, SIZE, WAY, copy_arm
from sealift.lab.crowding import LOAD
from sealift.lab.grid import with_load
from sealift.lab.published import (
    Comparison,
    Kind,
    Measured,
    Printed,
    table_row,
    times_as_fast,
)
from sealift.lab.result import Found
from sealift.lab.spec import Arm, Axis, Context, Experiment, Plot, Scope
from sealift.lab.units import format_estimate
from sealift.lab.values import Cell, Value


def _cells(scope: Scope) -> Iterator[Cell]:
    if not scope.quick:
        yield from with_load(_all(scope), scope)


def _all(scope: Scope) -> Iterator[Cell]:
    named = {REGION: {"memory": REGION}} if REGION in scope.memories else {}
    # A core is left for the thread beside.
    counts = scope.threads or sorted({1, max(1, scope.cores - 1)})
    for size_bytes, threads in product(LENGTHS, counts):
        for cause in (*CAUSES, *named):
            yield {"size_bytes": size_bytes, "threads": threads, "cause": cause}


def _arm(cell: Cell, context: Context) -> Arm:
    asked = CAUSES.get(str(cell["cause"]), {"memory": REGION})
    return copy_arm({**BASE, **cell, **asked}, context)


def _says(found: Found) -> str:
    """How much each cause costs the most threads that were measured, at the larger length."""
    size_bytes = LENGTHS[-1]
    rows = [row for row in found.rows if row.cell["size_bytes"] == size_bytes]
    at: dict[str, Value] = {
        "size_bytes": size_bytes,
        "threads": max((int(row.cell["threads"]) for row in rows), default=1),
    }
    told = []
    for cause in (*CAUSES, REGION):
        gain = times_as_fast(found, {**at, "cause": ALONE}, {**at, "cause": cause})
        if cause != ALONE and not isinstance(gain, str):
            told.append(f"{cause} {_shown(gain)}")
    if not told:
        return ""
    queue = times_as_fast(found, {**at, "cause": NO_QUEUE}, {**at, "cause": QUEUE})
    alone = "" if isinstance(queue, str) else f"; of that queue's, the queue alone {_shown(queue)}"
    count = "1 thread" if at["threads"] == 1 else f"{at['threads']} threads"
    return (
        f"How many times as slow each cause makes a copy of 1 MiB by {count}: "
        f"{', '.join(told)}{alone}."
    )


def _shown(times: Measured) -> str:
    each = times.interval
    return format_estimate(each.median, each.low, each.high)


def _published(found: Found) -> Sequence[Comparison]:
    counts = [int(row.cell["threads"]) for row in found.rows]
    at: dict[str, Value] = {"size_bytes": LENGTHS[0], "threads": max(counts, default=1)}
    claim = table_row("004-X1-claims", claim_id="shootdown")
    printed = Printed(
        figure="004-T",
        what="our reading: a copy beside shootdowns is slower than one after a first touch is not",
        value=1.0,
        unit="x",
        source=claim["source"],
        kind=Kind.READING,
    )
    shootdowns, touches = ({**at, "cause": cause} for cause in (SHOOTDOWN, FIRST_TOUCH))
    here = times_as_fast(found, touches, shootdowns)
    return [printed.beside(here, f"printed is a cause, not a figure: {claim['as_printed']}")]


LENGTHS = (65_536, 1_048_576)
BASE: Mapping[str, Value] = {"memory": "pages", "function": "glibc"}
ALONE, SHOOTDOWN, FIRST_TOUCH = "alone", "beside TLB shootdowns", "first touch"
QUEUE, NO_QUEUE = "the published queue", "the published way without it"
PUBLISHED_WAY = f"{AS_PUBLISHED}, 100 runs"
CAUSES: Mapping[str, Mapping[str, Value]] = {
    ALONE: {},
    "beside a spinning thread": {"beside": "spinner"},
    SHOOTDOWN: {"beside": "protector"},
    "huge pages": {"memory": "huge-pages"},
    FIRST_TOUCH: {"function": "first-touch"},
    "pages made ready": {"function": "populated"},
    "one buffer for all threads": {"buffers": "shared"},
    QUEUE: {WAY.name: PUBLISHED_WAY, "queue": "yes"},
    NO_QUEUE: {WAY.name: PUBLISHED_WAY, "queue": "no"},
}

EXPERIMENT = Experiment(
    name="why-threads",
    id="004-T",
    title="Why threads don't help a copy",
    why="What do TLB shootdowns, first touches, small pages, a shared buffer and the tool's queue "
    "each cost a copy?",
    axes=(SIZE, COUNT, LOAD, Axis("cause", "what may slow it down")),
    compare="cause",
    cells=_cells,
    arm=_arm,
    operation="copy",
    published=_published,
    says=_says,
    plots=(
        Plot(
            x="threads",
            y="payload_MB_per_s",
            z="cause",
            title="Copies with one cause of slowness each",
            facet="size_bytes",
            log_y=True,
        ),
    ),
    weight=0.3,
)
