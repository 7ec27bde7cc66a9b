"""Why threads don't help a copy: document 004's causes, each by itself, 004-T."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from sealift_lab.experiments.document_004.copies import AS_PUBLISHED, COUNT, REGION, SIZE, copy_arm
from sealift_lab.measure.oversubscription import LOAD, with_load
from sealift_lab.model.experiment import Axis, Chart, Experiment, Scope
from sealift_lab.model.figure import Times
from sealift_lab.model.published import Kind, Published, table_row
from sealift_lab.model.results import Results
from sealift_lab.model.sample import Arm, Context
from sealift_lab.model.values import Cell, Value


def _cells(scope: Scope) -> Iterator[Cell]:
    if not scope.quick:
        yield from with_load(_all(scope), scope)


def _all(scope: Scope) -> Iterator[Cell]:
    named = (REGION,) if REGION in scope.memories else ()
    # A core is left for the thread beside.
    counts = scope.threads or sorted({1, max(1, scope.cores - 1)})
    for size_bytes, threads in product(LENGTHS, counts):
        for cause in (*CAUSES, *named):
            yield {"size_bytes": size_bytes, "threads": threads, "cause": cause}


def _arm(cell: Cell, context: Context) -> Arm:
    more = CAUSES.get(str(cell["cause"]), {"memory": REGION})
    return copy_arm({**BASE, **cell, **more}, context)


def _published(results: Results) -> Sequence[Published]:
    claim = table_row("004-X1-claims", claim_id="shootdown")
    threads = max((int(row.cell["threads"]) for row in results.rows), default=1)
    at: dict[str, Value] = {"size_bytes": LENGTHS[0], "threads": threads}
    return [
        Published(
            figure="004-T",
            what="a copy after a first touch over one beside TLB shootdowns",
            value=1.0,
            unit="x",
            source=claim["source"],
            kind=Kind.READING,
            here=Times({**at, "cause": FIRST_TOUCH}, {**at, "cause": SHOOTDOWN}),
            note=f"our reading; printed is a cause, not a figure: {claim['as_printed']}",
        )
    ]


LENGTHS = (65_536, 1_048_576)
BASE: Mapping[str, Value] = {"memory": "pages", "function": "glibc"}
SHOOTDOWN, FIRST_TOUCH = "beside TLB shootdowns", "first touch"
PUBLISHED_WAY = f"{AS_PUBLISHED}, 100 runs"
CAUSES: Mapping[str, Mapping[str, Value]] = {
    "alone": {},
    "beside a spinning thread": {"beside": "spinner"},
    SHOOTDOWN: {"beside": "protector"},
    "huge pages": {"memory": "huge-pages"},
    FIRST_TOUCH: {"function": "first-touch"},
    "pages made ready": {"function": "populated"},
    "one buffer for all threads": {"buffers": "shared"},
    "the published queue": {"way": PUBLISHED_WAY, "queue": "yes"},
    "the published way without it": {"way": PUBLISHED_WAY, "queue": "no"},
}

EXPERIMENT = Experiment(
    name="why-threads",
    id="004-T",
    title="Why threads don't help a copy",
    question="How much do TLB shootdowns, first touches, small pages, a shared buffer and the "
    "tool's queue each cost a copy?",
    axes=(SIZE, COUNT, LOAD, Axis("cause", "possible cause of slowness")),
    compare="cause",
    cells=_cells,
    arm=_arm,
    operation="copy",
    published=_published,
    charts=(
        Chart("threads", "cause", "MB/s", "Copies with one cause each", "size_bytes", log_y=True),
    ),
    preferred={"size_bytes": LENGTHS[1], "threads": 1},
    weight=0.3,
    notes="The document blames page faults and TLB shootdowns for threads that gained nothing. "
    "Copies run alone; beside a thread that only spins, or that makes all cores forget a page "
    "again and again; into huge pages; into pages that nobody touched, or that the system made "
    "ready; and through the tool's queue under one lock, beside the tool's way without its queue, "
    "on the calling thread, which has the same first touches: the queue costs the difference of "
    "these two. A mapping that bypasses the caches needs a device's memory: it is measured where a "
    "region was named.",
)
