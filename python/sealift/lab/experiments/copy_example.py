"""Document 004's example run, measured as published and measured well (004-R1, 004-R2).

The document shows what its tool prints for copies of 16 and 256 bytes with 1,000 runs. Here the
tool's own way stands beside calibrated samples, with its 1,000 runs and with the 5 that it does
when nobody says how many; and 64 KiB and 1 MiB stand beside the two lengths. The rows of the file
that the tool writes, the document's and its authors' own, stand beside the same ways. Not part of a
quick run.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from sealift.lab.copying import (
    AS_PUBLISHED,
    CALIBRATED,
    COUNT,
    FUNCTION,
    MEMORY,
    PUBLISHED_FUNCTIONS,
    SIZE,
    WAY,
    copy_arm,
    copy_speed,
    printed_copies,
)
from sealift.lab.published import Comparison, payload_speed, quotient
from sealift.lab.result import Found
from sealift.lab.spec import Experiment, Plot, Scope
from sealift.lab.units import format_estimate
from sealift.lab.values import Cell, Value
from sealift.lab.vega import format_bytes


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    for size_bytes, function in product(LENGTHS, FUNCTIONS):
        for way in WAYS:
            yield {
                "memory": "heap",
                "size_bytes": size_bytes,
                "threads": 1,
                "function": function,
                "way": way,
            }


def _published(found: Found) -> Sequence[Comparison]:
    return [*_example(found), *_file(found)]


def _example(found: Found) -> Iterator[Comparison]:
    at = {"memory": "heap", "way": MANY_RUNS}
    for row, printed in printed_copies(TABLE, "004-R1", at):
        # Reading from the heap is the same copy as writing to it.
        here = copy_speed(found, row, **at)
        yield printed.beside(here, f"copied by {_stands_for(row)}, {MANY_RUNS}")
        calibrated = copy_speed(found, row, memory="heap", way=HOT)
        # It is drawn once.
        yield replace(printed, series="").beside(calibrated, f"copied by {_stands_for(row)}, {HOT}")


def _file(found: Found) -> Iterator[Comparison]:
    """The file that the tool writes (004-R2): the document's head of it, and its authors' own."""
    for name, way in ((HEAD, MANY_RUNS), (AUTHORS, FEW_RUNS)):
        for row, printed in printed_copies(name, "004-R2", {}):
            if not row["experiment"].endswith("host-heap"):
                continue
            here = copy_speed(found, row, memory="heap", way=way)
            if int(row["bytes"]) not in LENGTHS:
                # The same way of measuring, at all of the tool's lengths.
                beside = found.beside.get("copy-by-length", Found((), ()))
                here = copy_speed(beside, row, memory="heap", state="hot", way=AS_PUBLISHED)
            yield replace(printed, series="").beside(here, f"copied by {_stands_for(row)}, {way}")


def _stands_for(row: Mapping[str, str]) -> str:
    return PUBLISHED_FUNCTIONS[row["copy_function"]]


def _says(found: Found) -> str:
    told = []
    for size_bytes in LENGTHS:
        at: dict[str, Value] = {"size_bytes": size_bytes, "function": "glibc"}
        short = payload_speed(found, way=FEW_RUNS, **at)
        calibrated = payload_speed(found, way=HOT, **at)
        ratio = quotient(calibrated, short)
        if not isinstance(ratio, str):
            each = ratio.interval
            times = format_estimate(each.median, each.low, each.high)
            told.append(f"{times} at {format_bytes(size_bytes)}")
    if not told:
        return ""
    return (
        "The same copy by the C library is so many times as fast when it is calibrated as the "
        f"published way says with its 5 runs: {', '.join(told)}; read its figures as a measure of "
        "its clock, its first touches and its order."
    )


TABLE, HEAD = "004-R1-terminal-example", "004-R2-csv-head"
AUTHORS = "004-hal-results-5-runs"
LENGTHS = (16, 256, 65_536, 1_048_576)
FUNCTIONS = tuple(PUBLISHED_FUNCTIONS.values())
FEW_RUNS, MANY_RUNS = f"{AS_PUBLISHED}, 5 runs", f"{AS_PUBLISHED}, 1000 runs"
HOT = f"{CALIBRATED}, hot"
WAYS = (HOT, f"{CALIBRATED}, cold", FEW_RUNS, MANY_RUNS)

EXPERIMENT = Experiment(
    name="copy-example",
    id="004-R1",
    title="The published example, as published and calibrated",
    why="What did the published tool measure, and what do the same copies take?",
    axes=(MEMORY, SIZE, COUNT, FUNCTION, WAY),
    compare="way",
    cells=_cells,
    arm=copy_arm,
    operation="copy",
    published=_published,
    says=_says,
    plots=(
        Plot(
            x="size_bytes",
            y="payload_MB_per_s",
            z="way",
            title="One copy, measured in four ways",
            facet="function",
            log_x=True,
            log_y=True,
        ),
    ),
    weight=0.3,
)
