"""What was found about document 000, as tables: what DPUs would do, and what cores do."""

from kept_run import Kept, Row, estimate, table
from markdown import interval, three


def projection(kept: Kept) -> str:
    """GB/s of each kernel with each number of DPUs: with the hazard to without it."""
    systems = kept.values(PROJECTION, "system")
    head = ["projected, GB/s", *(f"{system}: {place}" for system in systems for place in PLACES)]
    lines = [
        [
            kernel,
            *(
                _bracket(kept.row(PROJECTION, system=system, kernel=kernel), column)
                for system in systems
                for column in PLACES.values()
            ),
        ]
        for kernel in kept.values(PROJECTION, "kernel")
    ]
    return table(head, lines)


def instructions(kept: Kept) -> str:
    """Instructions a block of each kernel, by what they do, and why there are not fewer."""
    rows = kept.rows(INSTRUCTIONS)
    head = ["simulated, a block", *COUNTS]
    lines = [[row["kernel"], *(_count(row[name]) for name in COUNTS)] for row in rows]
    why = [
        f"- {row['kernel']}: {row['spent on, unrolled']}. {row['why not fewer']}"
        for row in rows
        if row["why not fewer"]
    ]
    return "\n".join([table(head, lines), "", *why])


def difference(kept: Kept) -> str:
    """Instructions a block as they are printed and simulated, and why these differ."""
    head = ["table", "operation", "printed, by its rounding", "simulated", "why they differ"]
    lines = [
        [
            row["id"],
            row["operation"],
            row["instructions a block, by the rounding of the print"],
            _count(row["instructions a block, simulated"]),
            row["why printed and simulated differ"],
        ]
        for name in TABLES
        for row in kept.rows(name)
    ]
    return table(head, lines, texts=len(head))


def _count(text: str) -> str:
    return f"{float(text):.1f}" if text else ""


def cores(kept: Kept) -> str:
    """GB/s of this machine's cores from memory, by what streams beside them."""
    shares = kept.values(CORES, "streams_percent")
    head = ["measured, GB/s", "cores", *(_streams(share) for share in shares)]
    lines = []
    for cipher in kept.values(CORES, "cipher"):
        for threads in kept.values(CORES, "threads"):
            rows = [
                kept.row(CORES, cipher=cipher, threads=threads, streams_percent=share)
                for share in shares
            ]
            lines.append([cipher, threads, *map(_speed, rows)])
    return table(head, lines)


def _bracket(row: Row | None, column: str) -> str:
    if row is None or not row[column]:
        return ""
    without, with_it = row[column], row[f"{column}, with the hazard"]
    return (
        f"{three(float(with_it))} to {three(float(without))}" if with_it else three(float(without))
    )


def _speed(row: Row | None) -> str:
    return "" if row is None else interval(estimate(row, "payload_MB_per_s", 1e-3))


def _streams(share: str) -> str:
    return "undisturbed" if share == "0" else f"beside streams for {share} % of what memory gives"


INSTRUCTIONS = "dpu-instructions"
TABLES = ("dpu-encryption", "dpu-encryption-without-dma")
COUNTS = (
    "instructions a block",
    "unrolled",
    "bytes taken out",
    "loads",
    "sums",
    "shifts and masks",
    "stores",
    "others",
)
PROJECTION, CORES = "dpu-projection", "memory-contention"
PLACES = {
    "data in MRAM": "data in MRAM, GB/s",
    "from the host and back": "data in host memory, GB/s, by the SDK",
}
