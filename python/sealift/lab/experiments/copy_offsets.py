"""Copies by where the destination lies: what document 004 did not vary.

On some processors the C library's copy becomes many times slower when the destination lies 1 to 15
bytes behind the source, modulo the 4,096 bytes of a page. A nonce of 12 bytes in front of a payload
does that.

Quick: 64 KiB at the offsets 0 and 12, by the C library and by the copy that Sealift uses. A full
run adds lengths and offsets.
"""

from collections.abc import Iterator
from itertools import product

from sealift.lab.copying import FUNCTION, SIZE, STATE, copy_arm
from sealift.lab.published import payload_speed, quotient
from sealift.lab.result import Found
from sealift.lab.spec import Axis, Experiment, Plot, Scope
from sealift.lab.stats import Interval
from sealift.lab.units import format_measure
from sealift.lab.values import Cell, Value
from sealift.lab.vega import format_bytes


def _cells(scope: Scope) -> Iterator[Cell]:
    sizes = (QUICK_BYTES,) if scope.quick else LENGTHS
    offsets = (0, NONCE_BYTES) if scope.quick else OFFSETS
    for size_bytes, offset, function in product(sizes, offsets, (LIBRARY, OURS)):
        yield {
            "size_bytes": size_bytes,
            "offset": offset,
            "state": "hot",
            "function": function,
        }


def _says(found: Found) -> str:
    """Whether the C library's copy collapses here, where, and what to do."""
    falls = {}
    for size_bytes, offset in product(LENGTHS, OFFSETS):
        if fall := _fall(found, size_bytes, offset):
            falls[size_bytes, offset] = fall
    bad = {place: fall.low for place, fall in falls.items() if fall.low >= COLLAPSE}
    if not bad:
        return _says_of_none(falls)
    sizes = _sizes(sorted({size for size, _ in bad}))
    offsets = sorted({offset for _, offset in bad})
    return (
        f"The C library's copy is up to {format_measure(max(bad.values()))} times as slow here "
        f"when the destination lies {_listed(offsets)} bytes behind the source modulo 4,096, for "
        f"copies of {sizes}: keep payload at a multiple of 64 "
        "bytes on both sides, or copy it by a loop over registers, as Sealift does."
    )


def _says_of_none(falls: dict[tuple[int, int], Interval]) -> str:
    """Where it does not collapse, and where that is not settled."""
    highs: dict[int, float] = {}
    for (size_bytes, _), fall in falls.items():
        highs[size_bytes] = max(fall.high, highs.get(size_bytes, 0.0))
    settled = {size: high for size, high in highs.items() if high < COLLAPSE}
    wide = sorted(highs.keys() - settled.keys())
    told = []
    if settled:
        sizes = f" for copies of {_sizes(sorted(settled))}" if wide else ""
        told.append(
            f"The C library's copy does not collapse at any offset that was measured here{sizes}: "
            f"it is at most {format_measure(max(settled.values()))} times as slow as at offset 0"
            f"{', so payload may lie anywhere' if max(settled.values()) < HARMLESS else ''}."
        )
    if wide:
        told.append(
            "Whether the C library's copy collapses at an offset is not settled here for copies of "
            f"{_sizes(wide)}: the intervals are too wide; measure on a quieter machine, or longer."
        )
    return " ".join(told)


def _sizes(sizes_bytes: list[int]) -> str:
    return _listed([format_bytes(size) for size in sizes_bytes])


def _fall(found: Found, size_bytes: int, offset: int) -> Interval | None:
    """How many times as slow the C library is there as at offset 0."""
    at: dict[str, Value] = {"size_bytes": size_bytes, "function": LIBRARY}
    straight = payload_speed(found, offset=0, **at)
    there = payload_speed(found, offset=offset, **at)
    if offset == 0 or isinstance(straight, str) or isinstance(there, str):
        return None
    ratio = quotient(straight, there)
    return None if isinstance(ratio, str) else ratio.interval


def _listed(values: list[int] | list[str]) -> str:
    return ", ".join(map(str, values))


LIBRARY, OURS = "glibc", "ours"
QUICK_BYTES, NONCE_BYTES = 65_536, 12
LENGTHS = (4_096, QUICK_BYTES, 524_288)
OFFSETS = (0, 1, 8, NONCE_BYTES, 15, 16)
# Less is what a copy across lines costs anywhere.
COLLAPSE = 3.0
# And less than this nobody has to lay out payload for.
HARMLESS = 1.1

EXPERIMENT = Experiment(
    name="copy-offsets",
    title="Copies by offset",
    why="Does it matter where the destination of a copy lies, as it does when a nonce stands "
    "before the payload?",
    axes=(
        SIZE,
        Axis("offset", "destination minus source, modulo 4,096 bytes"),
        STATE,
        FUNCTION,
    ),
    compare="function",
    cells=_cells,
    arm=copy_arm,
    operation="copy",
    says=_says,
    plots=(
        Plot(
            x="offset",
            y="payload_MB_per_s",
            z="function",
            title="Copies by offset",
            facet="size_bytes",
            log_y=True,
        ),
    ),
    weight=0.25,
)
