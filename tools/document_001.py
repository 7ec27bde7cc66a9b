"""What was found about document 001, as tables: files read and written while something is held."""

from kept_run import Kept, estimate, judged, table
from markdown import interval


def reading(kept: Kept) -> str:
    """How many times as long reading takes under each condition."""
    head = ["held meanwhile", *(f"{reader}, {_told(count)}" for reader, count in READING)]
    lines = [
        [
            condition,
            *(
                judged(
                    kept.row(READ, condition=condition, reader=reader, threads=count, cache="warm"),
                    as_time=True,
                )
                for reader, count in READING
            ),
        ]
        for condition in kept.values(READ, "condition")
        if condition not in (NONE, LOADED)
    ]
    floors = ", ".join(
        f"{100 * float(row['noise_floor_share']):.0f} % ({reader}, {_told(count)})"
        for reader, count in READING
        if (row := kept.row(READ, condition=NONE, reader=reader, threads=count, cache="warm"))
    )
    return f"{table(head, lines)}\n\nThe same code differed from itself by {floors}."


def recommendation(kept: Kept) -> str:
    """What following it takes, part by part, in µs."""
    lines = []
    for reader in BOTH:
        held, freed, free, loaded = (
            _us(kept, reader, condition) for condition in (RANK, FREED, NONE, LOADED)
        )
        if not (held and freed and free and loaded):
            continue
        whole = {end: free[end] + loaded[end] for end in free}
        lines += [
            _line(reader, f"read with {RANK}", held, None, held, held),
            _line(reader, "free it, then read", freed, None, freed, held),
            _line(reader, "load first, go through memory", free, loaded, whole, held),
        ]
    return table(
        [
            "reader",
            "what is done",
            "reading, µs for 1,000 sequences",
            "going through memory",
            "in all",
            "times as fast",
        ],
        lines,
        texts=2,
    )


def readers(kept: Kept) -> str:
    """Each reader while nothing is held, and what one idle thread makes of it."""
    lines = []
    for reader in kept.values(READ, "reader"):
        place = {"reader": reader, "threads": "1", "cache": "warm"}
        if reader and (row := kept.row(READ, condition=NONE, **place)):
            beside = kept.row(READ, condition="one idle thread", **place)
            us = interval(estimate(row, "ns_per_operation", 1e-3))
            lines.append([reader, us, judged(beside, as_time=True)])
    head = ["reader", "µs for 1,000 sequences, nothing held", "times as long beside an idle thread"]
    return table(head, lines)


def writing(kept: Kept) -> str:
    """How many times as long writing takes under each condition."""
    head = ["held meanwhile", *(f"{writer}, {_block(size)}" for writer, size in WRITING)]
    lines = [
        [
            condition,
            *(
                judged(
                    kept.row(
                        WRITE, condition=condition, writer=writer, block_bytes=size, fsync="no"
                    ),
                    as_time=True,
                )
                for writer, size in WRITING
            ),
        ]
        for condition in kept.values(WRITE, "condition")
        if condition != NONE
    ]
    return table(head, lines)


def _line(
    reader: str,
    told: str,
    reading_us: dict[str, float],
    later_us: dict[str, float] | None,
    whole_us: dict[str, float],
    held_us: dict[str, float],
) -> list[str]:
    gain = {
        "median": held_us["median"] / whole_us["median"],
        "low": held_us["low"] / whole_us["high"],
        "high": held_us["high"] / whole_us["low"],
    }
    times = "1" if whole_us is held_us else interval(gain)
    later = interval(later_us) if later_us else ""
    return [reader, told, interval(reading_us), later, interval(whole_us), times]


def _us(kept: Kept, reader: str, condition: str) -> dict[str, float] | None:
    row = kept.row(READ, condition=condition, reader=reader, threads="1", cache="warm")
    return estimate(row, "ns_per_operation", 1e-3) if row else None


def _told(threads: str) -> str:
    return "1 thread" if threads == "1" else f"{threads} threads"


def _block(size_bytes: str) -> str:
    return "byte by byte" if size_bytes == "1" else f"{int(size_bytes):,} B"


READ, WRITE = "file-reading-by-condition", "file-writing-by-condition"
NONE, RANK = "none", "a rank's runtime"
FREED, LOADED = f"{RANK}, freed", f"loaded, then {RANK}"
BOTH = ("getc", "read+memchr")
READING = tuple((reader, threads) for reader in BOTH for threads in ("1", "2"))
WRITING = (("putc", "1"), ("write", "4096"), ("fwrite", "4096"))
