"""What document 001 recommends: to free before reading, or to load before anything is allocated.

Of loading first the parts stand apart: the file is read while nothing is held, and gone through in
memory later. What is gone through has neither a lock nor a call for each byte, so that its time
alone says nothing about the recommendation; both together do. Loading counts as reading by the same
reader: for one that reads byte by byte that is more than it takes, so that the gain is that at
least; for one that reads blocks it is not known to be, so that its gain is shown and not judged.
"""

from collections.abc import Iterator, Sequence

from sealift.lab.files.condition import FREED, LOADED, NONE, RANK
from sealift.lab.published import (
    Comparison,
    Here,
    Kind,
    Measured,
    Printed,
    one_after_other,
    operation_time,
    quotient,
    table_row,
)
from sealift.lab.result import Found, Listing
from sealift.lab.units import format_estimate


def gains(found: Found, figure: str, readers: Sequence[str]) -> Iterator[Comparison]:
    """What each half of it wins back, which is to be the least slow-down at least.

    Args:
        found: Of the experiment that reads.
        figure: The document's name for it.
        readers: By which it is read.
    """
    least = table_row(CLAIMS, claim_id="read-slowdown")["low"]
    for claim_id, (way, note) in HALVES.items():
        claim = table_row(CLAIMS, claim_id=claim_id)
        for reader in readers if way == FREE_EARLY else [each for each in readers if each == BYTES]:
            times = _times(found, reader)
            yield Printed(
                figure=figure,
                what=f"recommendation, {claim['quantity'].rpartition(', ')[2]}: {reader}, 1 thread",
                value=float(least),
                unit="x",
                source=claim["source"],
                kind=Kind.RATIO,
            ).beside(
                quotient(_in_all(times[ANYHOW]), _in_all(times[way])),
                f"time to read with {RANK} over {note}; printed: {claim['as_printed']}",
            )


def parts(found: Found, readers: Sequence[str]) -> Sequence[Listing]:
    """Their times as a table; none where nothing was read beside a rank's runtime.

    Args:
        found: Of the experiment that reads.
        readers: By which it is read.
    """
    rows = [row for reader in readers for row in _rows(_times(found, reader), reader)]
    return [Listing(TITLE, COLUMNS, rows, COLUMNS[2:])] if rows else []


def _rows(times: dict[str, tuple[Here, Here]], reader: str) -> Iterator[tuple[str, ...]]:
    anyhow = _in_all(times[ANYHOW])
    if isinstance(anyhow, str):
        return
    for way, (reading, iterating) in times.items():
        whole = _in_all((reading, iterating))
        gain = "" if way == ANYHOW else _shown(quotient(anyhow, whole))
        in_us = (_shown(each, US_A_NS) for each in (reading, iterating, whole))
        yield reader, way, *in_us, gain


def _times(found: Found, reader: str) -> dict[str, tuple[Here, Here]]:
    """By what is done how long reading takes, and what comes after it."""

    def time(condition: str) -> Here:
        return operation_time(found, condition=condition, reader=reader, threads=1, cache="warm")

    return {
        ANYHOW: (time(RANK), NOTHING),
        FREE_EARLY: (time(FREED), NOTHING),
        LOAD_FIRST: (time(NONE), time(LOADED)),
    }


def _in_all(times: tuple[Here, Here]) -> Here:
    return one_after_other(*(each for each in times if each != NOTHING))


def _shown(time: Here, factor: float = 1.0) -> str:
    if not isinstance(time, Measured):
        return time and "not run"
    each = time.interval.scaled(factor)
    return format_estimate(each.median, each.low, each.high)


CLAIMS = "001-X1-claims"
ANYHOW = f"read with {RANK}"
FREE_EARLY, LOAD_FIRST = "free it, then read", "load first, go through memory"
BYTES = "getc"
HALVES = {
    "free-early": (FREE_EARLY, "time to read once it is freed"),
    "load-first": (
        LOAD_FIRST,
        f"time to read under {NONE}, which loading takes at most, and to go through memory once",
    ),
}
NOTHING, US_A_NS = "", 1e-3
TITLE = "What following the recommendation gains: µs for 1,000 sequences, 1 thread, file in memory"
COLUMNS = (
    "reader",
    "what is done",
    "reading",
    "going through",
    "in all",
    "times as fast",
)
