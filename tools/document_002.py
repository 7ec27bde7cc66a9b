"""What was found about document 002, as tables: boards of cards, and cores in their place."""

from kept_run import Kept, Row, estimate, table
from markdown import interval, three


def quad_hifn(kept: Kept) -> str:
    """Four Hifn 7751: printed, by analysis and by simulation, by size and threads."""
    return _board(kept, HIFN)


def four_broadcom(kept: Kept) -> str:
    """Four Broadcom 5820, as above."""
    return _board(kept, BROADCOM)


def hand_over(kept: Kept) -> str:
    """What one thread gets done that hands over 16 B at a time, and what batches make of it."""
    ways = kept.values(CORES, "way")
    lines = []
    for cipher in kept.values(CORES, "cipher"):
        for batch in sorted(kept.values(CORES, "batch"), key=int):
            place = {"cipher": cipher, "threads": "1", "buffer_bytes": "16", "batch": batch}
            rows = [kept.row(CORES, way=way, **place) for way in ways]
            floor = next((row["noise_floor_share"] for row in rows if row), "")
            noise = f"{100 * float(floor):.0f} %" if floor else ""
            lines.append([cipher, batch, *map(_mbit, rows), noise])
    head = ["16 B messages, one thread, Mbit/s", "messages a batch", *ways]
    return table([*head, "the same code differed by"], lines)


def _board(kept: Kept, experiment: str) -> str:
    """Three figures a cell."""
    counts = kept.values(experiment, "threads")
    lines = [
        [
            f"{int(size):,} B",
            *(_three(kept.row(experiment, buffer_bytes=size, threads=count)) for count in counts),
        ]
        for size in kept.values(experiment, "buffer_bytes")
    ]
    head = [", ".join(KINDS), *map(_told, counts)]
    return f"{table(head, lines)}\n\nOf these cells, {_errors(kept, experiment)}."


def _errors(kept: Kept, experiment: str) -> str:
    """How far each kind is off on average, and at most."""
    told = []
    for name, column in list(KINDS.items())[1:]:
        errors = [row[f"{column}, error in %"] for row in kept.rows(experiment)]
        shares = [abs(float(error)) for error in errors if error]
        mean = sum(shares) / len(shares)
        told.append(f"{name} is off by {mean:.1f} % on average and {max(shares):.1f} % at most")
    return ", ".join(told)


def _three(row: Row | None) -> str:
    if row is None or not row[KINDS["printed"]]:
        return ""
    return ", ".join(three(float(row[column])) for column in KINDS.values())


def _mbit(row: Row | None) -> str:
    if row is None:
        return "not run"
    doubt = ", machine busy" if row["machine_busy"] == "yes" else ""
    return f"{interval(estimate(row, 'payload_MB_per_s', 8))}{doubt}"


def _told(count: str) -> str:
    return f"{count} thread{'s' if count != '1' else ''}"


HIFN, BROADCOM, CORES = "cards-quad-hifn", "cards-four-broadcom", "cores-as-cards"
KINDS = {
    "printed": "published, Mbit/s",
    "analysis": "analysis, Mbit/s",
    "simulation": "simulation, Mbit/s",
}
