"""Files in processes that hold something else, 001-F2 and 001-W1; mapped files against calls."""

from collections.abc import Iterator, Sequence
from itertools import product

from sealift_lab.experiments.document_001 import conditions
from sealift_lab.experiments.notes import read_notes
from sealift_lab.measure.native import copy
from sealift_lab.model.arm import Arm, Cell, Context
from sealift_lab.model.experiment import Axis, Chart, Experiment, Scope
from sealift_lab.model.published import Figure, Kind, Published, Sum, Times, table_row
from sealift_lab.model.results import Results
from sealift_lab.model.units import format_bytes


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
        for count, reader, condition in product(threads, readers, conditions.CONDITIONS):
            if condition != conditions.LOADED or (reader in BOTH and (count, cache) == (1, "warm")):
                yield _reading(condition, reader, count, cache)


def _reading(condition: str, reader: str, threads: int = 1, cache: str = "warm") -> Cell:
    return {"condition": condition, "reader": reader, "threads": threads, "cache": cache}


def _published_reading(_: Results) -> Sequence[Published]:
    return [
        Published(
            figure="001-F2",
            what=what,
            value=value,
            unit="x",
            source=claim["source"],
            kind=Kind.RATIO,
            here=here,
            note=f"{note}; printed: {claim['as_printed']}",
        )
        for claim_id, what, value, here, note in _ratios()
        for claim in [table_row(CLAIMS, claim_id=claim_id)]
    ]


def _ratios() -> Iterator[tuple[str, str, float, Figure, str]]:
    """The claim, what is published of it, its ratio, how that is had here, and a note."""
    printed = table_row(CLAIMS, claim_id="read-slowdown")
    least = float(printed["low"])
    # The printed range, beside a real rank and beside its substitute.
    substitutes = ((conditions.RANK, reader, threads) for threads in (1, 2) for reader in BOTH)
    shown = ((conditions.REAL_RANK, "getc", 1), *substitutes)
    for (end, which), (condition, reader, threads) in product(
        (("low", "least"), ("high", "most")), shown
    ):
        what = f"{which} slow-down of reading: {condition}, {reader}, {threads} thread"
        yield (
            "read-slowdown",
            what if threads == 1 else f"{what}s",
            float(printed[end]),
            Times(_reading(conditions.NONE, reader, threads), _reading(condition, reader, threads)),
            f"time with {condition} over time with {conditions.NONE}"
            + ("" if condition == conditions.REAL_RANK else f", {SUBSTITUTE}"),
        )
    # Whether memory alone does it, as the document supposes.
    for condition in conditions.MEMORY:
        yield (
            "cause",
            f"supposed cause, virtual pages: {condition} alone, getc, 1 thread",
            least,
            Times(_reading(conditions.NONE, "getc"), _reading(condition, "getc")),
            "the least printed slow-down, were this its cause",
        )
    # Time that following the recommendations saves: the least slow-down or more.
    for reader in BOTH:
        yield (
            "free-early",
            f"recommendation, first half: {reader}, 1 thread",
            least,
            Times(_reading(conditions.FREED, reader), _reading(conditions.RANK, reader)),
            f"time to read with {conditions.RANK} over time to read once it is freed",
        )
    beside = _reading(conditions.RANK, "getc")
    yield (
        "load-first",
        "recommendation, second half: getc, 1 thread, share of the time",
        1 / least,
        Sum(
            tuple(
                Times(beside, _reading(each, "getc"))
                for each in (conditions.NONE, conditions.LOADED)
            )
        ),
        "time to read with nothing held, which loading takes at most, and to go through memory "
        f"once, over time to read with {conditions.RANK}",
    )


def _chart(series: str, title: str, where: Cell) -> Chart:
    return Chart("condition", series, "time", title, where=where, log_y=True)


CLAIMS = "001-X1-claims"
BOTH = ("getc", "read+memchr")
OTHERS = ("getc_unlocked", "fgets", "getline", "ifstream", "mmap+memchr", "needletail", "seq_io")
SUBSTITUTE = "a mapping of 8 GiB and eight threads asleep, as the vendor's library has them"
READING = Experiment(
    name="file-reading-by-condition",
    id="001-F2",
    title="Reading a file while something else is held",
    question="What does a process that holds a device, threads or memory pay when it reads a file?",
    axes=(
        Axis("condition", "held meanwhile"),
        Axis("reader", "reader"),
        Axis("threads", "threads, each reading the whole file"),
        Axis("cache", "file in memory"),
    ),
    compare="condition",
    cells=_reading_cells,
    arm=conditions.file_arm,
    check_available=conditions.check_file,
    operation="1,000 sequences",
    published=_published_reading,
    charts=tuple(
        _chart(
            "reader",
            f"Reading 1,000 sequences by what is held, {count}",
            {"threads": threads, "cache": "warm"},
        )
        for threads, count in ((1, "1 thread"), (2, "2 threads"))
    ),
    preferred={"reader": "getc", "threads": 1, "cache": "warm"},
    notes=read_notes(__package__, "conditions", "reading"),
)


def _writing_cells(scope: Scope) -> Iterator[Cell]:
    for way, condition in product(WAYS if not scope.quick else (), conditions.CONDITIONS):
        if condition != conditions.LOADED:
            yield _writing(condition, *way)


def _writing(condition: str, writer: str, block_bytes: int, fsync: str) -> Cell:
    return {"condition": condition, "writer": writer, "block_bytes": block_bytes, "fsync": fsync}


def _published_writing(_: Results) -> Sequence[Published]:
    """Of blocks, as printed: bytes that are put one by one have no figure to stand beside."""
    claim = table_row(CLAIMS, claim_id="write-slowdown")
    return [
        Published(
            figure="001-W1",
            what=f"slow-down of writing: {condition}, {writer} of {block_bytes:,} B",
            value=float(claim["high"]),
            unit="x",
            source=claim["source"],
            kind=Kind.SLOPE,
            here=Times(
                _writing(conditions.NONE, writer, block_bytes, fsync),
                _writing(condition, writer, block_bytes, fsync),
            ),
            note=f"time with {condition} over time with {conditions.NONE}, without fsync; printed: "
            f"{claim['as_printed']}",
        )
        for condition in (conditions.REAL_RANK, conditions.RANK)
        for writer, block_bytes, fsync in WAYS
        if fsync == "no" and block_bytes > 1
    ]


SMALL, LARGE = 4 << 10, 1 << 20
# The most telling first: those at the end may be left out.
WAYS = (
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
    name="file-writing-by-condition",
    id="001-W1",
    title="Writing a file while something else is held",
    question="What does a process that holds a device, threads or memory pay when it writes a "
    "file?",
    axes=(
        Axis("condition", "held meanwhile"),
        Axis("writer", "writer"),
        Axis("block_bytes", "bytes a call"),
        Axis("fsync", "waits for the disk"),
    ),
    compare="condition",
    cells=_writing_cells,
    arm=conditions.file_arm,
    check_available=conditions.check_file,
    operation="64 KiB of text",
    published=_published_writing,
    charts=tuple(
        _chart(
            "writer",
            f"Writing 64 KiB by what is held, {how}",
            {"block_bytes": block_bytes, "fsync": "no"},
        )
        for block_bytes, how in ((SMALL, "blocks of 4 KiB"), (1, "byte by byte"))
    ),
    preferred={"writer": "putc", "block_bytes": 1, "fsync": "no"},
    weight=0.5,
    notes=read_notes(__package__, "conditions", "writing"),
)


def _mapping_cells(scope: Scope) -> Iterator[Cell]:
    for shape in SHAPES if not scope.quick else ():
        yield from ({**shape, "way": way} for way in FUNCTIONS[str(shape["direction"])])


def _copy_arm(cell: Cell, context: Context) -> Arm:
    direction = str(cell["direction"])
    return copy(
        {
            "function": FUNCTIONS[direction][str(cell["way"])],
            "source" if direction == "read" else "target": "file",
            "bytes": cell["size_bytes"],
            "threads": cell["threads"],
            "state": cell["state"],
            "seed": context.seed,
            "folder": context.folder,
        }
    )


def _published_mapping(_: Results) -> Sequence[Published]:
    return [
        Published(
            figure="004-X1",
            what=f"conventional wisdom: {shape['direction']} through a mapping is faster than by a "
            f"call, {format_bytes(int(shape['size_bytes']))}, a file {shape['file']}",
            value=1.0,
            unit="x",
            source=table_row("004-X1-claims", claim_id="mmap-wisdom")["source"],
            kind=Kind.SHAPE,
            here=Times({**shape, "way": MAPPED}, {**shape, "way": BY_CALL}),
            note=MAPPED,
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
    name="file-or-mapping",
    title="A mapped file against read and write",
    question="Is a mapped file faster to copy from and to than the system's calls are?",
    axes=(
        Axis("direction", "direction"),
        Axis("file", "the file"),
        Axis("size_bytes", "length of a copy, bytes"),
        Axis("threads", "threads"),
        Axis("state", "in the caches"),
        Axis("way", "way to the file"),
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
    notes=read_notes(__package__, "mapping"),
)
