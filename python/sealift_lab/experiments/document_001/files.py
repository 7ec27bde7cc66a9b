"""Files in processes that hold something else, 001-F2 and 001-W1; mapped files against calls."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

from sealift_lab.experiments.combinations import axes
from sealift_lab.experiments.document_001 import processes
from sealift_lab.experiments.notes import texts
from sealift_lab.measure.native import native
from sealift_lab.model.arm import Arm, Cell, Context
from sealift_lab.model.experiment import Chart, Experiment, Scope
from sealift_lab.model.published import Kind, Published, Sum, Times, printed_claim, table_row
from sealift_lab.model.results import Results
from sealift_lab.model.units import counted, format_bytes

Way = tuple[str, int, str]
"""A writer, bytes a call, and whether it waits for the disk."""


def _reading_cells(scope: Scope) -> Iterator[Cell]:
    """The most telling first: those at the end may be left out."""
    counts = () if scope.quick else scope.threads or (1, 2, 4)
    one, several = [n for n in counts if n == 1], [n for n in counts if n > 1]
    for cache, threads, readers in (
        ("warm", counts[:2], BOTH),
        ("cold", one, BOTH),
        # Python on one thread only: its lock lets one run at a time.
        ("warm", one, (*OTHERS, "python")),
        ("warm", counts[2:], BOTH),
        ("warm", several, OTHERS),
        ("cold", one, OTHERS),
    ):
        for count, reader, condition in product(threads, readers, processes.CONDITIONS):
            if condition != processes.LOADED or (reader in BOTH and (count, cache) == (1, "warm")):
                yield _reading(condition, reader, count, cache)


def _reading(condition: str, reader: str, threads: int = 1, cache: str = "warm") -> Cell:
    return {"condition": condition, "reader": reader, "threads": threads, "cache": cache}


def _published_reading(figure: str, holder: str = "") -> Iterator[Published]:
    ratio = partial(printed_claim, figure, kind=Kind.RATIO)
    printed = table_row(CLAIMS, claim_id="read-slowdown")
    least = float(printed["low"])
    # The printed range, beside a real rank and beside its substitute.
    substitutes = ((RANK, reader, threads) for threads in (1, 2) for reader in BOTH)
    shown = ((processes.REAL_RANK, "getc", 1), *substitutes)
    ends = (("low", "least"), ("high", "most"))
    for (end, which), (condition, reader, threads) in product(ends, shown):
        what = f"{which} slow-down of reading: {condition}{holder}, {reader}"
        note = f"time with {condition}{holder} over time with {NONE}"
        yield ratio(
            f"{what}, {counted(threads, 'thread')}",
            "read-slowdown",
            here=Times(_reading(NONE, reader, threads), _reading(condition, reader, threads)),
            note=f"{note}, {SUBSTITUTE}" if condition == RANK else note,
            value=float(printed[end]),
        )
    # Whether memory alone does it, as the document supposes.
    for condition in processes.MEMORY:
        yield ratio(
            f"supposed cause, virtual pages: {condition} alone{holder}, getc, 1 thread",
            "cause",
            here=Times(_reading(NONE, "getc"), _reading(condition, "getc")),
            note="the least printed slow-down, were this its cause",
            value=least,
        )
    # Time that following the recommendations saves: the least slow-down or more.
    for reader in BOTH:
        yield ratio(
            f"recommendation, first half{holder}: {reader}, 1 thread",
            "free-early",
            here=Times(_reading(processes.FREED, reader), _reading(RANK, reader)),
            note=f"time to read with {RANK}{holder} over time to read once it is freed",
            value=least,
        )
    parts = (_reading(condition, "getc") for condition in (NONE, processes.LOADED))
    yield ratio(
        f"recommendation, second half{holder}: getc, 1 thread, share of the time",
        "load-first",
        here=Sum(tuple(Times(_reading(RANK, "getc"), part) for part in parts)),
        note="time to read with nothing held, which loading takes at most, and to go through "
        f"memory once, over time to read with {RANK}{holder}",
        value=1 / least,
    )


def _chart(series: str, what: str, how: str, where: Cell) -> Chart:
    title = f"{what} by what is held, {how}"
    return Chart("condition", series, "time", title, where=where, log_y=True)


NONE, RANK = processes.NONE, processes.RANK
CLAIMS = "001-X1-claims"
BOTH = ("getc", "read+memchr")
OTHERS = ("getc_unlocked", "fgets", "getline", "ifstream", "mmap+memchr", "needletail", "seq_io")
SUBSTITUTE = "a mapping of 8 GiB and eight threads asleep, as the vendor's library has them"
READING = Experiment(
    **texts(__package__, "file-reading-by-condition"),
    id="001-F2",
    axes=axes(
        condition="held meanwhile",
        reader="reader",
        threads="threads, each reading the whole file",
        cache="file in memory",
    ),
    compare="condition",
    cells=_reading_cells,
    arm=processes.file_arm,
    check_available=processes.check_file,
    operation="1,000 sequences",
    published=lambda _: [*_published_reading("001-F2")],
    charts=(
        _chart("reader", "Reading 1,000 sequences", "1 thread", {"threads": 1, "cache": "warm"}),
        _chart("reader", "Reading 1,000 sequences", "2 threads", {"threads": 2, "cache": "warm"}),
    ),
    preferred={"reader": "getc", "threads": 1, "cache": "warm"},
)


def _reading_beside_cells(scope: Scope) -> Iterator[Cell]:
    """The document's two counts of threads, one and several."""
    counts = () if scope.quick else scope.threads or (1, 2)
    yield from _beside(
        _reading(condition, reader, threads)
        for threads, reader in product(counts, BOTH)
        for condition in processes.CONDITIONS
        if condition != processes.LOADED or threads == 1
    )


def _beside(cells: Iterable[Cell]) -> Iterator[Cell]:
    """Cells, with memory that is filled in the first group alone: that takes 0.1 s a sample."""
    first, filled = None, processes.MEMORY[1:]
    for cell in cells:
        work = {name: value for name, value in cell.items() if name != "condition"}
        first = first or work
        if work == first or cell["condition"] not in filled:
            yield cell


BY_ANOTHER = " in another process"
READING_BESIDE = replace(
    READING,
    **texts(__package__, "file-reading-beside-process"),
    id="001-F2-background",
    cells=_reading_beside_cells,
    arm=processes.background_arm,
    published=lambda _: [*_published_reading("001-F2-background", BY_ANOTHER)],
    weight=0.4,
)


def _writing_cells(scope: Scope, ways: Sequence[Way]) -> Iterator[Cell]:
    for way, condition in product(() if scope.quick else ways, processes.CONDITIONS):
        if condition != processes.LOADED:
            yield _writing(condition, *way)


def _writing(condition: str, writer: str, block_bytes: int, fsync: str) -> Cell:
    return {"condition": condition, "writer": writer, "block_bytes": block_bytes, "fsync": fsync}


def _published_writing(figure: str, ways: Sequence[Way], holder: str = "") -> Sequence[Published]:
    """Of blocks, as printed: bytes that are put one by one have no figure to stand beside."""
    value = float(table_row(CLAIMS, claim_id="write-slowdown")["high"])
    return [
        printed_claim(
            figure,
            f"slow-down of writing: {condition}{holder}, {way[0]} of {way[1]:,} B",
            "write-slowdown",
            Kind.SLOPE,
            Times(_writing(NONE, *way), _writing(condition, *way)),
            f"time with {condition}{holder} over time with {NONE}, without fsync",
            value=value,
        )
        for condition in (processes.REAL_RANK, RANK)
        for way in ways
        if way[2] == "no" and way[1] > 1
    ]


SMALL, LARGE = 4 << 10, 1 << 20
# The most telling first: those at the end may be left out.
WAYS: Sequence[Way] = (
    ("putc", 1, "no"),
    ("write", SMALL, "no"),
    ("fwrite", SMALL, "no"),
    ("write", LARGE, "no"),
    ("write", SMALL, "yes"),
    ("fwrite", LARGE, "no"),
    ("write", LARGE, "yes"),
    ("fwrite", SMALL, "yes"),
    ("putc", 1, "yes"),
)
WRITING = Experiment(
    **texts(__package__, "file-writing-by-condition"),
    id="001-W1",
    axes=axes(
        condition="held meanwhile",
        writer="writer",
        block_bytes="bytes a call",
        fsync="waits for the disk",
    ),
    compare="condition",
    cells=partial(_writing_cells, ways=WAYS),
    arm=processes.file_arm,
    check_available=processes.check_file,
    operation="64 KiB of text",
    published=lambda _: _published_writing("001-W1", WAYS),
    charts=(
        _chart(
            "writer", "Writing 64 KiB", "blocks of 4 KiB", {"block_bytes": SMALL, "fsync": "no"}
        ),
        _chart("writer", "Writing 64 KiB", "byte by byte", {"block_bytes": 1, "fsync": "no"}),
    ),
    preferred={"writer": "putc", "block_bytes": 1, "fsync": "no"},
    weight=0.5,
)
WRITING_BESIDE = replace(
    WRITING,
    **texts(__package__, "file-writing-beside-process"),
    id="001-W1-background",
    cells=lambda scope: _beside(_writing_cells(scope, WAYS[:3])),
    arm=processes.background_arm,
    published=lambda _: _published_writing("001-W1-background", WAYS[:3], BY_ANOTHER),
    weight=0.2,
)


def _mapping_cells(scope: Scope) -> Iterator[Cell]:
    for shape in SHAPES if not scope.quick else ():
        yield from ({**shape, "way": way} for way in FUNCTIONS[str(shape["direction"])])


def _copy_arm(cell: Cell, context: Context) -> Arm:
    direction = str(cell["direction"])
    return native(
        "copy",
        context,
        **{"source" if direction == "read" else "target": "file"},
        function=FUNCTIONS[direction][str(cell["way"])],
        bytes=cell["size_bytes"],
        threads=cell["threads"],
        state=cell["state"],
        folder=context.folder,
    )


def _published_mapping(_: Results) -> Sequence[Published]:
    return [
        printed_claim(
            "004-X1",
            f"conventional wisdom: {shape['direction']} through a mapping is faster than by a "
            f"call, {format_bytes(int(shape['size_bytes']))}, a file {shape['file']}",
            "mmap-wisdom",
            Kind.SHAPE,
            Times({**shape, "way": MAPPED}, {**shape, "way": BY_CALL}),
            MAPPED,
        )
        for shape in SHAPES
    ]


MAPPED, MAPPED_EACH, BY_CALL = "a mapping that stands", "a mapping for each", "a call of the system"
FUNCTIONS = {
    "read": {BY_CALL: "pread", MAPPED: "glibc", MAPPED_EACH: "map-read"},
    "write": {BY_CALL: "pwrite", MAPPED: "glibc", MAPPED_EACH: "map-write"},
}
# The state of caches, and lengths of a copy.
FILES = {
    "inside memory": ("cold", (4_096, 65_536, 1_048_576)),
    "beyond memory": ("beyond memory", (4_096, 1_048_576)),
}
SHAPES: Sequence[Cell] = [
    {"direction": way, "file": file, "size_bytes": size_bytes, "threads": 1, "state": state}
    for way in FUNCTIONS
    for file, (state, lengths) in FILES.items()
    for size_bytes in lengths
]
MAPPING = Experiment(
    **texts(__package__, "file-or-mapping"),
    axes=axes(
        direction="direction",
        file="the file",
        size_bytes="length of a copy, bytes",
        threads="threads",
        state="in the caches",
        way="way to the file",
    ),
    compare="way",
    cells=_mapping_cells,
    arm=_copy_arm,
    operation="copy",
    published=_published_mapping,
    charts=tuple(
        Chart(
            "size_bytes", "way", "MB/s", title, "direction", {"file": file}, log_x=True, log_y=True
        )
        for file in FILES
        for title in [f"Copies from and to a file {file}"]
    ),
    weight=0.2,
)
