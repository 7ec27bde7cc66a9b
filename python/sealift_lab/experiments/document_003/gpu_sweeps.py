"""GPU throughput by threads per block and by thread blocks (document 003, figures 7 and 8).

One block whose threads grow, and blocks of 128 threads whose number grows: the document's program,
the same code with each message worked once, and Sealift's kernel, which takes whole warps; by
blocks also with copies there and back. Not part of a quick run.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sealift_lab.experiments.document_003 import printed
from sealift_lab.experiments.document_003.gpus import cells, figures, grids
from sealift_lab.experiments.document_003.gpus.grids import BLOCK_THREADS, Grid
from sealift_lab.experiments.document_003.gpus.limits import Gpu, document_gpu
from sealift_lab.model.experiment import Experiment, Line, Scope
from sealift_lab.model.figure import Figure, Missing, Number
from sealift_lab.model.published import Kind, Published, table, table_row
from sealift_lab.model.results import Origin, Results
from sealift_lab.model.values import Cell

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Break:
    """A break of a line that the document prints.

    Attributes:
        figure: The document's name for the figure.
        claim: Its name in the table of claims.
        along: The axis that it lies on.
        of: The unit of a device that the break is compared with: `multiprocessors`.
        kind: Whether the model finds it or is given it.
        why: Which of the model's inputs put it there.
    """

    figure: str
    claim: str
    along: str
    of: str
    kind: Kind
    why: str

    def published(
        self, results: Results, model: Points, *, units: float, round_places: int
    ) -> list[Published]:
        """The printed place beside that of the model, and the measured one as a multiple of units.

        Args:
            results: Of the experiment of the figure.
            model: The projected line of the document's GPU.
            units: How many of `of` the measured device has.
            round_places: How far whole rounds are apart on the axis.
        """
        row = table_row("003-X1-claims", claim_id=self.claim)
        projected = printed.claim(
            self.figure,
            f"the line breaks at so many {row['unit']}",
            self.claim,
            self.kind,
            break_of(model, 1.0),
            f"projected for {document_gpu().name} from counts of the published program, "
            f"replicated: {self.why}",
            value=float(row["value"]),
            unit=row["unit"],
        )
        measured = printed.claim(
            self.figure,
            f"measured break / {self.of}",
            self.claim,
            Kind.SLOPE,
            self._measured(results, units, round_places),
            f"the published program, replicated; {figures.WORKLOAD}",
        )
        return [replace(projected, origin=Origin.PROJECTED), measured]

    def _measured(self, results: Results, units: float, round_places: int) -> Figure:
        where = {"code": cells.AS_PUBLISHED, "mode": cells.REPLICATED}
        speeds: dict[float, float] = {}
        for row in results.select(**where):
            if row.cell["device"] == cells.PROCESSOR:
                return Missing(f"{cells.PROCESSOR} has cores, and no multiprocessors")
            if row.payload_mb_per_s and not row.wrong:
                speeds[float(row.cell[self.along])] = row.payload_mb_per_s.value
        if not speeds:
            return Missing(results.why_missing(**where))
        return break_of(whole_rounds(speeds.items(), round_places), units)


def whole_rounds(line: Iterable[tuple[float, float]], round_places: int) -> Points:
    """The places of a line below the first whole round, and whole rounds.

    Between whole rounds a grid waits for its last blocks or warps: a saw, and no end of growth.
    """
    return sorted(
        (place, speed) for place, speed in line if place < round_places or place % round_places == 0
    )


def break_of(line: Points, units: float) -> Figure:
    """The break of a line as a multiple of units, or why it has none."""
    # A process that measures imports experiments, but none of the judge's libraries.
    from sealift_lab.judge.breakpoints import PLACES_LEAST, breakpoint_of

    places = f"its line over {len(line)} places"
    if len(line) < PLACES_LEAST:
        return Missing(f"{places} is too short to tell")
    found = breakpoint_of(line)
    if found is None:
        return Missing(f"{places} has no break")
    return Number(found.at / units, found.low / units, found.high / units)


def line_by_threads(gpu: Gpu) -> Points:
    """The projected speed of one block by its threads, which are powers of two."""
    return [(threads, grids.replicated(gpu, Grid(1, threads))) for threads in grids.POWERS]


def line_by_blocks(gpu: Gpu) -> Points:
    """The projected speed of blocks of 128 threads by their number."""
    return [(grid.blocks, grids.replicated(gpu, grid)) for _, grid in _grids_by_blocks(gpu)]


def _cells_by_threads(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    device, published = cells.device_of(scope), cells.PUBLISHED_WAYS
    for threads in FEWER_COUNTS if device == cells.PROCESSOR else COUNTS:
        for way in (*published, cells.OUR_WAY) if threads in OUR_COUNTS else published:
            yield cells.gpu_cell(device, Grid(1, threads), *way)


def _cells_by_blocks(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    device = cells.device_of(scope)
    transfers = (cells.OURS, cells.PARTITIONED, cells.TRANSFERS)
    for blocks in grids.in_rounds(cells.units_of(device, scope.cores)):
        for way in (*cells.PUBLISHED_WAYS, cells.OUR_WAY, transfers):
            yield cells.gpu_cell(device, Grid(blocks, BLOCK_THREADS), *way)


def _published_by_threads(results: Results) -> Sequence[Published]:
    units, model = float(ONE_THREAD["cores_per_sm"]), line_by_threads(document_gpu())
    return BY_THREADS.published(results, model, units=units, round_places=grids.LANES_AT_ONCE)


def _published_by_blocks(results: Results) -> Sequence[Published]:
    measured, gpu = figures.multiprocessors_in(results), document_gpu()
    units, model = measured or gpu.multiprocessors, line_by_blocks(gpu)
    return BY_BLOCKS.published(results, model, units=units, round_places=measured or 1)


def _lines_by_threads(_: Results) -> Sequence[Line]:
    return [
        *figures.published_limits(lambda _: _one_block(COUNTS)),
        *figures.our_limits(lambda _: _one_block(OUR_COUNTS)),
        figures.published_line(f"published: {ONE_THREAD['gpu']}", ONE_THREAD, threads_per_block=1),
    ]


def _one_block(counts: Iterable[int]) -> Iterator[tuple[Cell, Grid]]:
    return (({"threads_per_block": threads}, Grid(1, threads)) for threads in counts)


def _lines_by_blocks(_: Results) -> Sequence[Line]:
    rows = (
        figures.published_line(
            f"published: {ONE_THREAD['gpu']}", row, thread_blocks=int(row["thread_blocks"])
        )
        for row in table("003-T3-gpu-blocks-threads")
        if int(row["threads_per_block"]) == BLOCK_THREADS
    )
    limits = figures.published_limits(_grids_by_blocks)
    return [*limits, *figures.our_limits(_grids_by_blocks), *rows]


def _grids_by_blocks(gpu: Gpu) -> Iterator[tuple[Cell, Grid]]:
    for blocks in grids.in_rounds(gpu.multiprocessors):
        yield {"thread_blocks": blocks}, Grid(blocks, BLOCK_THREADS)


# As `sealift-gpu` has them: two that are no whole round show the saw.
COUNTS = (1, 2, 4, 8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 1_024)
OUR_COUNTS = tuple(threads for threads in COUNTS if cells.WARP <= threads <= cells.OURS_MOST)
# Compilers for processors compile a kernel again for each number of work-items.
FEWER_COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
ONE_THREAD = table_row("003-T5-gpu-generations", gpu="RTX 4070 (2023)", test="Thread = 1")
BY_THREADS = Break(
    figure="003-F7",
    claim="f7-break",
    along="threads_per_block",
    of="cores of a multiprocessor",
    kind=Kind.LIMIT,
    why="that four parts issue to a warp of 32 threads each is an input; that the limiting unit is "
    "one of their own, and not the one that they share, is found",
)
BY_BLOCKS = Break(
    figure="003-F8",
    claim="f8-break",
    along="thread_blocks",
    of="multiprocessors",
    kind=Kind.GIVEN,
    why="the number of multiprocessors, each of which works one block as fast as one alone",
)

THREADS_PER_BLOCK = Experiment(
    name="gpu-threads-per-block",
    id="003-F7",
    title="GPU throughput by threads per block",
    question="Does the throughput of one block grow with its threads up to 128, as in the "
    "document, and what remains of it where each message is worked once and its result is kept?",
    axes=cells.AXES,
    compare="mode",
    cells=_cells_by_threads,
    arm=cells.gpu_arm,
    published=_published_by_threads,
    charts=figures.code_charts("threads_per_block", "One block"),
    lines=_lines_by_threads,
    names=figures.NAMES,
    weight=0.6,
    check_available=cells.check_device,
    is_optional_from=3,
    notes=figures.gpu_notes("One block of threads works on one multiprocessor."),
)
BLOCKS = Experiment(
    name="gpu-blocks",
    id="003-F8",
    title="GPU throughput by thread blocks",
    question="Does throughput grow with thread blocks up to the number of multiprocessors, as in "
    "the document up to 36, and what is left of it with copies there and back?",
    axes=cells.AXES,
    compare="mode",
    cells=_cells_by_blocks,
    arm=cells.gpu_arm,
    published=_published_by_blocks,
    charts=figures.code_charts("thread_blocks", f"Blocks of {BLOCK_THREADS} threads"),
    lines=_lines_by_blocks,
    names=figures.NAMES,
    weight=0.6,
    check_available=cells.check_device,
    is_optional_from=4,
    notes=figures.gpu_notes(
        "That the projected limit stops growing at as many blocks as there are multiprocessors "
        "(16, 36, 24 and 132) is an input of the model. *With transfers*: copies and kernel one "
        "after the other, without gathering and scattering on the host; `gpu-beside-cpu` measures "
        "those too."
    ),
)
