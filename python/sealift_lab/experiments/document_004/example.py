"""Document 004's example run, as published and calibrated, and its file: 004-R1, 004-R2."""

from collections.abc import Collection, Iterator, Sequence
from itertools import product

from sealift_lab.experiments.document_004 import copies
from sealift_lab.experiments.document_004.copies import AS_PUBLISHED, CALIBRATED
from sealift_lab.model.experiment import Experiment, Scope
from sealift_lab.model.published import Published
from sealift_lab.model.results import Results
from sealift_lab.model.values import Cell


def published_file(many_runs: Cell, few_runs: Cell, sizes: Collection[int]) -> Iterator[Published]:
    """The heap's rows of the file that the tool writes: the document's head, its authors' own.

    Args:
        many_runs: Values of the cell here that stands beside 1,000 runs.
        few_runs: Of the one beside 5 runs.
        sizes: Lengths that are taken.
    """
    for name, at in (("004-R2-csv-head", many_runs), ("004-hal-results-5-runs", few_runs)):
        for experiment in ("App writes to host-heap", "App reads from host-heap"):
            yield from copies.published_copies(
                name,
                "004-R2",
                at,
                str(at["way"]),
                is_drawn=False,
                sizes=sizes,
                experiment=experiment,
            )


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    for size_bytes, function in product(LENGTHS, copies.PUBLISHED_FUNCTIONS.values()):
        at: Cell = {"memory": "heap", "size_bytes": size_bytes, "threads": 1, "function": function}
        yield from ({**at, "way": way} for way in WAYS)


def _published(_: Results) -> Sequence[Published]:
    as_published, calibrated, few_runs = (
        {"memory": "heap", "way": way} for way in (MANY_RUNS, HOT, FEW_RUNS)
    )
    table = "004-R1-terminal-example"
    return [
        # Reading from the heap is the same copy as writing to it.
        *copies.published_copies(table, "004-R1", as_published, MANY_RUNS),
        *copies.published_copies(table, "004-R1", calibrated, HOT, is_drawn=False),
        *published_file(as_published, few_runs, LENGTHS),
    ]


LENGTHS = (16, 256, 65_536, 1_048_576)
FEW_RUNS, MANY_RUNS = f"{AS_PUBLISHED}, 5 runs", f"{AS_PUBLISHED}, 1000 runs"
HOT = f"{CALIBRATED}, hot"
WAYS = (HOT, f"{CALIBRATED}, cold", FEW_RUNS, MANY_RUNS)

EXPERIMENT = Experiment(
    name="copy-example",
    id="004-R1",
    title="The published example, as published and calibrated",
    question="How long do the copies of the published example take, and how far from that is the "
    "published way of measuring them?",
    axes=(copies.MEMORY, copies.SIZE, copies.COUNT, copies.FUNCTION, copies.WAY),
    compare="way",
    cells=_cells,
    arm=copies.copy_arm,
    operation="copy",
    published=_published,
    charts=(
        copies.curves("size_bytes", "way", "One copy, measured in four ways", panels="function"),
    ),
    preferred={"size_bytes": 65_536, "function": "glibc"},
    names=copies.FUNCTIONS,
    weight=0.3,
    notes="The tool times a few copies with its clock, first touches and order of functions "
    "included: its figures with 5 runs measure these more than the copy. Its own way stands here "
    "with 1,000 runs, as in the example, and with the 5 that are its default.",
)
