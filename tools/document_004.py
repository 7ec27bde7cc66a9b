"""What was found about document 004, as tables: copies, and frames between two processes."""

from kept_run import Kept, Row, estimate, inverse, judged, speed, table
from markdown import interval


def offsets(kept: Kept) -> str:
    """The C library's copy by where the destination lies, and Sealift's beside it."""
    lines = []
    for row in kept.rows(OFFSETS, function="glibc"):
        place = {"size_bytes": row["size_bytes"], "state": row["state"]}
        ours = kept.row(OFFSETS, function="ours", offset=row["offset"], **place)
        lines.append(
            [
                _size(row),
                row["offset"],
                speed(row),
                interval(fall) if (fall := _fall(kept, row)) else "",
                speed(ours),
                judged(ours, as_time=False),
            ]
        )
    told = table(
        [
            "copied",
            "destination behind source, modulo 4,096",
            "C library, GB/s",
            "times as long as at 0",
            "Sealift's copy, GB/s",
            "times as fast as the C library",
        ],
        lines,
    )
    return f"{told}{_collapse(kept)}"


def _collapse(kept: Kept) -> str:
    """Whether the C library's copy collapses there, by its worst place; "" where none is known."""
    falls = {
        f"{_size(row)} to {row['offset']} behind": fall
        for row in kept.rows(OFFSETS, function="glibc")
        if (fall := _fall(kept, row))
    }
    if not falls:
        return ""
    place = max(falls, key=lambda each: falls[each]["low"])
    if falls[place]["low"] < COLLAPSE:
        place = max(falls, key=lambda each: falls[each]["high"])
    worst = falls[place]
    said = "does not collapse" if worst["high"] < COLLAPSE else "is not known to collapse or not"
    said = "collapses" if worst["low"] >= COLLAPSE else said
    return (
        f"\n\n**The C library's copy {said} on this machine**: at worst, copying {place}, it takes "
        f"{interval(worst)} times as long as to 0; a collapse is {COLLAPSE:g} times and more."
    )


def published_way(kept: Kept) -> str:
    """The C library's copy measured in each way, GB/s."""
    ways = kept.values(EXAMPLE, "way")
    lines = [
        [
            _size({"size_bytes": size}),
            *(speed(kept.row(EXAMPLE, function="glibc", size_bytes=size, way=way)) for way in ways),
        ]
        for size in kept.values(EXAMPLE, "size_bytes")
    ]
    return table(["copied by the C library, GB/s", *ways], lines)


def copies(kept: Kept) -> str:
    """Copies by length, hot and cold, GB/s."""
    lines = []
    for size in kept.values(LENGTHS, "size_bytes"):
        for state in ("hot", "cold"):
            place = {"size_bytes": size, "state": state, "way": "calibrated", "memory": "heap"}
            rows = [kept.row(LENGTHS, function=name, **place) for name in FUNCTIONS]
            floor = next((row["noise_floor_share"] for row in rows if row), "")
            noise = f"{100 * float(floor):.0f} %" if floor else ""
            lines.append([_size({"size_bytes": size}), state, *map(speed, rows), noise])
    head = ["copied, GB/s", "", *FUNCTIONS.values(), "the same code differed by"]
    return table(head, lines)


def ceiling(kept: Kept) -> str:
    """What each kernel moves of payload, GB/s."""
    places = [
        (size, threads)
        for size in kept.values(CEILING, "size_bytes")
        for threads in kept.values(CEILING, "threads")
    ]
    head = [
        "payload, GB/s",
        *(
            f"{_size({'size_bytes': size})}, {threads} thread{'s' if threads != '1' else ''}"
            for size, threads in places
        ),
    ]
    lines = [
        [
            kernel,
            *(
                speed(kept.row(CEILING, kernel=kernel, size_bytes=size, threads=threads))
                for size, threads in places
            ),
        ]
        for kernel in kept.values(CEILING, "kernel")
    ]
    return table(head, lines)


def frames(kept: Kept) -> str:
    """64 KiB frames by each way."""
    lines = []
    for way in kept.values(FRAMES, "way"):
        place = {"way": way, "frame_bytes": "65536", "batch": "1"}
        there = kept.row(FRAMES, pattern="ping-pong", **place)
        stream = kept.row(FRAMES, pattern="stream", **place)
        us = "not run" if there is None else interval(estimate(there, "ns_per_operation", 1e-3))
        lines.append([way, us, speed(stream), judged(stream, as_time=False)])
    head = ["64 KiB frames through", "ping-pong, µs a frame", "stream, GB/s", "times the ring"]
    return f"{table(head, lines)}{_exchanged(kept)}"


def _exchanged(kept: Kept) -> str:
    """How many frames arrived wrong where very many were exchanged, or ""."""
    document = kept.beside("frames.json")
    if document is None:
        return ""
    told = ", ".join(
        f"{each['wrong']:,} of {each['frames_checked']:,} ({each['way']})"
        for each in document["ways"]
    )
    return (
        f"\n\nWith every byte of every frame compared (`make bench-frames`) {told} arrived wrong."
    )


def _fall(kept: Kept, row: Row) -> dict[str, float] | None:
    """How many times as long it takes as at offset 0; None there."""
    place = {"size_bytes": row["size_bytes"], "state": row["state"]}
    straight = kept.row(OFFSETS, function="glibc", offset="0", **place)
    if straight is None or row["offset"] == "0":
        return None
    one, other = (estimate(each, "ns_per_operation") for each in (row, straight))
    under = inverse(other)
    return {end: one[end] * under[end] for end in one}


def _size(row: Row) -> str:
    size_bytes = int(row["size_bytes"])
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size_bytes >= unit:
            return f"{size_bytes // unit:,} {name}"
    return f"{size_bytes} B"


OFFSETS, EXAMPLE, LENGTHS = "copy-offsets", "copy-example", "copy-by-length"
CEILING, FRAMES = "memory-ceiling", "frames-between-processes"
# As the experiment has it.
COLLAPSE = 3.0
FUNCTIONS = {
    "glibc": "C library",
    "rep-movsb": "rep movsb",
    "sse2": "16-byte registers",
    "non-temporal": "past the caches",
    "ours": "Sealift's copy",
}
