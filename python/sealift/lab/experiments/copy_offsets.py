"""Copies by where the destination lies: what document 004 did not vary.

On some processors the C library's copy becomes many times slower when the destination lies 1 to 15
bytes behind the source, modulo the 4,096 bytes of a page. A nonce of 12 bytes in front of a payload
does that.

Quick: 64 KiB at the offsets 0 and 12, by the C library and by the copy that Sealift uses. A full
run adds lengths and offsets.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from sealift.lab.copying import FUNCTION, SIZE, STATE, copy_arm
from sealift.lab.published import payload_speed, quotient, times_as_fast
from sealift.lab.result import Found
from sealift.lab.spec import Axis, Experiment, Plot, Scope
from sealift.lab.stats import Interval
from sealift.lab.units import format_estimate, format_measure
from sealift.lab.values import Cell, Value
from sealift.lab.vega import format_bytes

Place = tuple[int, int]
"""Length of a copy, and offset."""


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
    falls = dict(_falls(found))
    bad = {place: fall for place, fall in falls.items() if fall.low >= COLLAPSE}
    wide = {place[0] for place, fall in falls.items() if fall.low < COLLAPSE <= fall.high}
    settled = {
        place: fall for place, fall in falls.items() if place[0] not in wide and place not in bad
    }
    told = _collapse(found, bad) if bad else _no_collapse(settled, is_all=not wide)
    return " ".join(filter(None, (told, _open(sorted(wide)))))


def _collapse(found: Found, bad: Mapping[Place, Interval]) -> str:
    worst = max(bad, key=lambda place: bad[place].low)
    size_bytes, offset = worst
    at = {"size_bytes": size_bytes, "offset": offset}
    ours = times_as_fast(found, {**at, "function": OURS}, {**at, "function": LIBRARY})
    gain = "" if isinstance(ours, str) else f", {_shown(ours.interval)} times as fast there"
    return (
        "The C library's copy collapses here when the destination lies behind the source, modulo "
        f"4,096, by {_where(bad)}: a copy of {format_bytes(size_bytes)} takes "
        f"{_shown(bad[worst])} times as long at {offset} as at 0; keep payload at a multiple of "
        f"64 bytes on both sides, or copy it by a loop over registers, as Sealift does{gain}."
    )


def _where(bad: Iterable[Place]) -> str:
    """Lengths with the same offsets together: `1 or 8 bytes (copies of 4 KiB)`."""
    by_size: dict[int, list[int]] = {}
    for size_bytes, offset in sorted(bad):
        by_size.setdefault(size_bytes, []).append(offset)
    by_offsets: dict[tuple[int, ...], list[int]] = {}
    for size_bytes, offsets in by_size.items():
        by_offsets.setdefault(tuple(offsets), []).append(size_bytes)
    return "; or by ".join(
        f"{_listed(map(str, offsets), 'or')} {'byte' if offsets == (1,) else 'bytes'} (copies of "
        f"{_sizes(sizes)})"
        for offsets, sizes in by_offsets.items()
    )


def _no_collapse(settled: Mapping[Place, Interval], *, is_all: bool) -> str:
    """How much an offset costs where it is no collapse; of a length all offsets, or none."""
    if not settled:
        return ""
    most = max(settled.values(), key=lambda fall: fall.high)
    sizes = "" if is_all else f" for copies of {_sizes(sorted({size for size, _ in settled}))}"
    harmless = most.high < HARMLESS
    return (
        "The C library's copy does not collapse at any offset that was measured here"
        f"{sizes}: it takes at most {format_measure(most.high)} times as long as at offset 0, "
        f"{'so payload may lie anywhere' if harmless else AVOIDED}."
    )


def _open(sizes_bytes: list[int]) -> str:
    if not sizes_bytes:
        return ""
    return (
        "Whether the C library's copy collapses at an offset is not settled here for copies of "
        f"{_sizes(sizes_bytes)}: the intervals are too wide; measure on a quieter machine, or "
        "longer."
    )


def _falls(found: Found) -> Iterator[tuple[Place, Interval]]:
    """By length and offset how many times as long the C library takes as at offset 0."""
    for size_bytes, offset in product(LENGTHS, OFFSETS[1:]):
        at: dict[str, Value] = {"size_bytes": size_bytes, "function": LIBRARY}
        straight = payload_speed(found, offset=0, **at)
        ratio = quotient(straight, payload_speed(found, offset=offset, **at))
        if not isinstance(ratio, str):
            yield (size_bytes, offset), ratio.interval


def _sizes(sizes_bytes: list[int]) -> str:
    return _listed(map(format_bytes, sizes_bytes), "and")


def _listed(words: Iterable[str], last: str) -> str:
    *others, end = words
    return f"{', '.join(others)} {last} {end}" if others else end


def _shown(each: Interval) -> str:
    return format_estimate(each.median, each.low, each.high)


LIBRARY, OURS = "glibc", "ours"
QUICK_BYTES, NONCE_BYTES = 65_536, 12
LENGTHS = (4_096, QUICK_BYTES, 524_288, 1_048_576)
OFFSETS = (0, 1, 8, NONCE_BYTES, 15, 16)
# Less is what a copy across lines costs anywhere.
COLLAPSE = 3.0
# And less than this nobody has to lay out payload for.
HARMLESS = 1.1
AVOIDED = "which payload at a multiple of 64 bytes on both sides avoids"

EXPERIMENT = Experiment(
    name="copy-offsets",
    id="004-C-offsets",
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
