"""Copies by length: document 004, plot C, and the files of its tool at most lengths."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from sealift_lab.experiments.document_004 import copies, example
from sealift_lab.experiments.document_004.copies import AS_PUBLISHED, CALIBRATED, REGION, SIZES
from sealift_lab.model.experiment import Experiment, Scope
from sealift_lab.model.published import Published
from sealift_lab.model.results import Results
from sealift_lab.model.values import Cell, Value


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    published = tuple(copies.PUBLISHED_FUNCTIONS.values())
    for threads in scope.threads or (1,):
        for size_bytes, where in product(SIZES, (IN_CACHES, FROM_MEMORY)):
            yield from _group(size_bytes, threads, where, copies.FUNCTIONS)
        for size_bytes in SIZES:
            yield from _group(size_bytes, threads, PUBLISHED_WAY, published)
            if REGION in scope.memories:
                yield from _group(size_bytes, threads, IN_REGION, copies.FUNCTIONS)


def _group(
    size_bytes: int, threads: int, where: Cell, functions: Iterable[Value]
) -> Iterator[Cell]:
    for function in functions:
        yield {**where, "size_bytes": size_bytes, "threads": threads, "function": function}


def _published(_: Results) -> Sequence[Published]:
    heap = copies.published_copies(
        "004-hal-results-100-runs",
        "004-C",
        PUBLISHED_WAY,
        "the published way, 5 runs; the tool's authors' own file has 100",
        experiment="App writes to host-heap",
    )
    note = "into the region that was named"
    region = (
        each
        for panel in ("C-left", "C-right")
        for each in copies.published_copies(copies.PLOTS, "004-C", IN_REGION, note, panel=panel)
    )
    # The others stand beside the example.
    sizes = [size_bytes for size_bytes in SIZES if size_bytes not in example.LENGTHS]
    return [*heap, *region, *example.published_file(PUBLISHED_WAY, PUBLISHED_WAY, sizes)]


PUBLISHED_WAY: Cell = {"memory": "heap", "state": "hot", "way": AS_PUBLISHED}
IN_REGION: Cell = {"memory": REGION, "state": "hot", "way": CALIBRATED}
FROM_MEMORY: Cell = {"memory": "heap", "state": "cold", "way": CALIBRATED}
IN_CACHES: Cell = {"memory": "heap", "state": "hot", "way": CALIBRATED}

EXPERIMENT = Experiment(
    name="copy-by-length",
    id="004-C",
    title="Copies by length",
    question="Which copy is the fastest at which length, within the caches and from memory, and "
    "how far is the published way of measuring from that?",
    axes=(copies.MEMORY, copies.SIZE, copies.COUNT, copies.STATE, copies.WAY, copies.FUNCTION),
    compare="function",
    cells=_cells,
    arm=copies.copy_arm,
    operation="copy",
    published=_published,
    on_finish=copies.store_cost,
    charts=tuple(
        copies.curves("size_bytes", "function", f"Copies by length, {title}", where)
        for title, where in (
            ("within the caches", IN_CACHES),
            ("from memory", FROM_MEMORY),
            ("measured as published", PUBLISHED_WAY),
            ("into the named region", IN_REGION),
        )
    ),
    preferred={"size_bytes": 65_536, **IN_CACHES},
    names=copies.FUNCTIONS,
    notes="The published tool's way, with its five runs, stands beside calibrated samples for the "
    "three functions that stand for its own. Times of Sealift's copy from memory are stored for "
    "the engine's cost model.",
)
