"""001-F2: reading a file while the process holds something else."""

from collections.abc import Iterator, Sequence

from sealift_lab.experiments.document_001 import condition as conditions
from sealift_lab.experiments.document_001.arm import check_file, file_arm
from sealift_lab.experiments.notes import read_notes
from sealift_lab.model.experiment import Axis, Chart, Experiment, Scope
from sealift_lab.model.figure import Figure, Sum, Times
from sealift_lab.model.published import Kind, Published, table_row
from sealift_lab.model.results import Results
from sealift_lab.model.values import Cell


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    for reader, threads, cache in _groups(scope.threads or (1, 2, 4)):
        for condition in conditions.CONDITIONS:
            if condition != conditions.LOADED or (
                reader in BOTH and threads == 1 and cache == "warm"
            ):
                yield _cell(condition, reader, threads, cache)


def _groups(counts: Sequence[int]) -> Iterator[tuple[str, int, str]]:
    """The most telling first: those at the end may be left out."""
    yield from ((reader, threads, "warm") for threads in counts[:2] for reader in BOTH)
    if 1 in counts:
        yield from ((reader, 1, "cold") for reader in BOTH)
        # Python on one thread only: its lock lets one run at a time.
        yield from ((reader, 1, "warm") for reader in (*OTHERS, "python"))
    yield from ((reader, threads, "warm") for threads in counts[2:] for reader in BOTH)
    several = [threads for threads in counts if threads > 1]
    yield from ((reader, threads, "warm") for threads in several for reader in OTHERS)
    if 1 in counts:
        yield from ((reader, 1, "cold") for reader in OTHERS)


def _cell(condition: str, reader: str, threads: int = 1, cache: str = "warm") -> Cell:
    return {"condition": condition, "reader": reader, "threads": threads, "cache": cache}


def _published(_: Results) -> Sequence[Published]:
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
        for claim_id, what, value, here, note in (*_slowdowns(), *_causes(), *_recommendations())
        for claim in [table_row(CLAIMS, claim_id=claim_id)]
    ]


Ratio = tuple[str, str, float, Figure, str]
"""Claim, what is published of it, the printed ratio, how it is had here, and a note."""


def _slowdowns() -> Iterator[Ratio]:
    """The printed range, beside a real rank and beside its substitute."""
    for end, which in (("low", "least"), ("high", "most")):
        value = float(table_row(CLAIMS, claim_id="read-slowdown")[end])
        for condition, reader, threads in SHOWN:
            what = f"{which} slow-down of reading: {condition}, {reader}, {threads} thread"
            note = f"time with {condition} over time with {conditions.NONE}"
            yield (
                "read-slowdown",
                what if threads == 1 else f"{what}s",
                value,
                _slowdown(condition, reader, threads),
                note if condition == conditions.REAL_RANK else f"{note}, {SUBSTITUTE}",
            )


def _causes() -> Iterator[Ratio]:
    """Whether memory alone does it, as the document supposes."""
    for condition in conditions.MEMORY:
        what = f"supposed cause, virtual pages: {condition} alone, getc, 1 thread"
        note = "the least printed slow-down, were this its cause"
        yield "cause", what, LEAST, _slowdown(condition, "getc"), note


def _recommendations() -> Iterator[Ratio]:
    """Time that following it saves: the least slow-down or more."""
    for reader in BOTH:
        yield (
            "free-early",
            f"recommendation, first half: {reader}, 1 thread",
            LEAST,
            Times(_cell(conditions.FREED, reader), _cell(conditions.RANK, reader)),
            f"time to read with {conditions.RANK} over time to read once it is freed",
        )
    beside = _cell(conditions.RANK, "getc")
    parts = (_cell(condition, "getc") for condition in (conditions.NONE, conditions.LOADED))
    yield (
        "load-first",
        "recommendation, second half: getc, 1 thread, share of the time",
        1 / LEAST,
        Sum(tuple(Times(beside, part) for part in parts)),
        "time to read with nothing held, which loading takes at most, and to go through memory "
        f"once, over time to read with {conditions.RANK}",
    )


def _slowdown(condition: str, reader: str, threads: int = 1) -> Times:
    return Times(_cell(conditions.NONE, reader, threads), _cell(condition, reader, threads))


CLAIMS = "001-X1-claims"
LEAST = float(table_row(CLAIMS, claim_id="read-slowdown")["low"])
BOTH = ("getc", "read+memchr")
OTHERS = ("getc_unlocked", "fgets", "getline", "ifstream", "mmap+memchr", "needletail", "seq_io")
SUBSTITUTES = tuple((conditions.RANK, reader, threads) for threads in (1, 2) for reader in BOTH)
SHOWN = ((conditions.REAL_RANK, "getc", 1), *SUBSTITUTES)
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
    cells=_cells,
    arm=file_arm,
    check_available=check_file,
    operation="1,000 sequences",
    published=_published,
    charts=tuple(
        Chart(
            x="condition",
            series="reader",
            y="time",
            title=f"Reading 1,000 sequences by what is held, {count}",
            where={"threads": threads, "cache": "warm"},
            log_y=True,
        )
        for threads, count in ((1, "1 thread"), (2, "2 threads"))
    ),
    preferred={"reader": "getc", "threads": 1, "cache": "warm"},
    is_optional_from=4,
    notes=read_notes(__package__, "conditions", "reading"),
)
