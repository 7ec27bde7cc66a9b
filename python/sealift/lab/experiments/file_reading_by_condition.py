"""Reading a file while the process holds something else (document 001, figure 2).

The document reads a million short reads with and without a rank of processing units allocated and
unused, and finds reading 1.5 to 2.7 times slower; it supposes that the allocation affects virtual
pages. Here that is taken apart: what the vendor's library does to a process, which is a mapping of
8 GiB and eight threads asleep, and each part of it alone; other kinds of memory; other threads; a
real rank or a CUDA context where there is one. Its recommendation is two more arms: to free before
reading, and to load the file before anything is allocated; a table says what each takes in all.

Each thread reads the whole file. As in the document, the first measure of each reader is not
counted, and files are in memory, except where a cell says cold. A poller or a spinner runs while
its own samples are taken only.

Quick runs none of it. A full run has the byte-wise and the block reader on one thread and on two,
and as many of the others as its budget holds.
"""

from collections.abc import Iterator, Sequence

from sealift.lab.files import recommendation
from sealift.lab.files.arm import Spec, file_arm, try_file
from sealift.lab.files.condition import CONDITIONS, LOADED, MEMORY, NONE, RANK, REAL_RANK
from sealift.lab.published import (
    Comparison,
    Here,
    Kind,
    Measured,
    Printed,
    table_row,
    times_as_fast,
)
from sealift.lab.result import Found, Listing
from sealift.lab.spec import Arm, Axis, Context, Experiment, Plot, Scope
from sealift.lab.stats import VERDICT_CONFIDENCE, blocks_needed, least_told
from sealift.lab.units import format_estimate
from sealift.lab.values import Cell


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    for reader, threads, cache in _groups(scope.threads or THREADS):
        for condition in CONDITIONS:
            if condition != LOADED or (reader in BOTH and threads == 1 and cache == WARM):
                yield {
                    "condition": condition,
                    "reader": reader,
                    "threads": threads,
                    "cache": cache,
                }


def _groups(counts: Sequence[int]) -> Iterator[tuple[str, int, str]]:
    """The most telling first: those at the end may be left out."""
    first = counts[:2]
    yield from ((reader, threads, WARM) for threads in first for reader in BOTH)
    if 1 in counts:
        yield from ((reader, 1, COLD) for reader in BOTH)
        yield from ((reader, 1, WARM) for reader in OTHERS)
    yield from ((reader, threads, WARM) for threads in counts[2:] for reader in BOTH)
    several = [threads for threads in counts if threads > 1]
    yield from ((reader, threads, WARM) for threads in several for reader in OTHERS[:-1])
    if 1 in counts:
        yield from ((reader, 1, COLD) for reader in OTHERS[:-1])


def _arm(cell: Cell, context: Context) -> Arm:
    return file_arm(_spec(cell), context)


def _try(cell: Cell, context: Context) -> None:
    try_file(_spec(cell), context)


def _spec(cell: Cell) -> Spec:
    return Spec(
        condition=str(cell["condition"]),
        evidence=f"{ID}-evidence.csv",
        reader=str(cell["reader"]),
        threads=int(cell["threads"]),
        cold=cell["cache"] == COLD,
    )


def _published(found: Found) -> Sequence[Comparison]:
    followed = recommendation.gains(found, ID, BOTH)
    return [*_slowdowns(found), *_causes(found), *followed]


def _slowdowns(found: Found) -> Iterator[Comparison]:
    """The printed range, beside a real rank and beside what stands for one."""
    claim = table_row(CLAIMS, claim_id="read-slowdown")
    for end, which in (("low", "least"), ("high", "most")):
        for condition, reader, threads in SHOWN:
            yield Printed(
                figure=ID,
                what=f"{which} slow-down of reading: {condition}, {reader}, {_told(threads)}",
                value=float(claim[end]),
                unit="x",
                source=claim["source"],
                kind=Kind.RATIO,
            ).beside(
                slowdown(found, condition=condition, reader=reader, threads=threads, cache=WARM),
                f"time with {condition} over time with {NONE}{_stands_for(condition)}; printed, of "
                f"{table_row(SETUP, item='condition_b')['value']}: {claim['as_printed']}",
            )


def _causes(found: Found) -> Iterator[Comparison]:
    """Whether memory alone does it, as the document supposes."""
    claim = table_row(CLAIMS, claim_id="cause")
    least = table_row(CLAIMS, claim_id="read-slowdown")["low"]
    for condition in MEMORY:
        yield Printed(
            figure=ID,
            what=f"supposed cause, virtual pages: {condition} alone, getc, 1 thread",
            value=float(least),
            unit="x",
            source=claim["source"],
            kind=Kind.RATIO,
        ).beside(
            slowdown(found, condition=condition, reader="getc", threads=1, cache=WARM),
            f"the least slow-down that is printed, were this its cause; printed: "
            f"{claim['as_printed']}",
        )


def _recommendation(found: Found) -> Sequence[Listing]:
    return recommendation.parts(found, BOTH)


def _says(found: Found) -> str:
    """What an idle thread alone costs, and what to do."""
    byte, block = (
        slowdown(found, condition=IDLE, reader=reader, threads=1, cache=WARM) for reader in BOTH
    )
    if isinstance(byte, str) or isinstance(block, str):
        return ""
    told = f"Reading byte by byte takes {_times(byte)} as long here beside {IDLE}"
    noise = 1 + least_told(byte.noise_floor)
    is_told = byte.interval.blocks >= blocks_needed(VERDICT_CONFIDENCE)
    if is_told and byte.interval.high <= 1 + NEAR:
        return f"{told}, which costs such a reader little."
    if not is_told or byte.interval.low / noise <= 1 + NEAR:
        return f"{told}, which settles nothing yet: a longer run on a quieter machine may."
    return (
        f"{told}, and reading blocks {_times(block)}: the C library locks each call once a process "
        "has had a second thread. Read before one is started, or by lines, by blocks or with "
        "getc_unlocked."
    )


def _times(slower: Measured) -> str:
    each = slower.interval
    return f"{format_estimate(each.median, each.low, each.high)} times"


def slowdown(found: Found, *, condition: str, **rest: str | int) -> Here:
    """How many times as long something takes under a condition as without it."""
    faster = times_as_fast(found, {"condition": condition, **rest}, {"condition": NONE, **rest})
    return faster.inverse() if isinstance(faster, Measured) else faster


def _stands_for(condition: str) -> str:
    if condition != RANK:
        return ""
    return (
        ", which stands for a rank that is not here: a shared mapping of 8 GiB and eight threads "
        "asleep, as the vendor's library has them"
    )


def _told(threads: int) -> str:
    return "1 thread" if threads == 1 else f"{threads} threads"


ID, CLAIMS, SETUP = "001-F2", "001-X1-claims", "001-S1-setup"
WARM, COLD = "warm", "cold"
THREADS = (1, 2, 4)
BOTH = ("getc", "read+memchr")
# Python last: its lock lets one thread run at a time, so it reads on one.
OTHERS = (
    "getc_unlocked",
    "fgets",
    "getline",
    "ifstream",
    "mmap+memchr",
    "needletail",
    "seq_io",
    "python",
)
IDLE = "one idle thread"
# A tenth more or less is told as little.
NEAR = 0.10
SHOWN = (
    (REAL_RANK, "getc", 1),
    (RANK, "getc", 1),
    (RANK, "read+memchr", 1),
    (RANK, "getc", 2),
    (RANK, "read+memchr", 2),
)

EXPERIMENT = Experiment(
    name="file-reading-by-condition",
    id=ID,
    title="Reading a file while something else is held",
    why="What does a process that holds a device, threads or memory pay when it reads a file?",
    axes=(
        Axis("condition", "held meanwhile"),
        Axis("reader", "reader"),
        Axis("threads", "threads, each reading the whole file"),
        Axis("cache", "file in memory"),
    ),
    compare="condition",
    cells=_cells,
    arm=_arm,
    tries=_try,
    operation="1,000 sequences",
    published=_published,
    says=_says,
    listings=_recommendation,
    plots=(
        Plot(
            x="condition",
            y="ns_per_operation",
            z="reader",
            title="Reading 1,000 sequences by what is held, 1 thread",
            where={"threads": 1, "cache": WARM},
            log_y=True,
        ),
        Plot(
            x="condition",
            y="ns_per_operation",
            z="reader",
            title="Reading 1,000 sequences by what is held, 2 threads",
            where={"threads": 2, "cache": WARM},
            log_y=True,
        ),
    ),
    weight=1.0,
    essential=4,
)
