"""What was found of document 003 on GPUs, as tables; by a processor where they say so."""

from kept_run import Kept, Row, estimate, table
from markdown import interval


def blocks(kept: Kept) -> str:
    """Blocks of 128 threads by each way of working, and the same code done honestly beside it."""
    ways = list(dict.fromkeys(_way(row) for row in kept.rows(BLOCKS)))
    lines = []
    for device in kept.values(BLOCKS, "device"):
        for count in sorted(kept.values(BLOCKS, "thread_blocks"), key=int):
            by_way = {
                _way(row): row for row in kept.rows(BLOCKS, device=device, thread_blocks=count)
            }
            lines.append([device, count, *(_mb_per_s(by_way.get(way)) for way in ways)])
    head = ["measured by", f"thread blocks, {_threads(kept)} threads each"]
    return table([*head, *(f"{way}, MB/s" for way in ways)], lines, texts=2)


def beside(kept: Kept) -> str:
    """Messages host to host, by how many are handed over at once."""
    rows = kept.rows(BESIDE, data="host to host")
    # Cores first, however many each number of messages has.
    devices = sorted({row["device"]: None for row in rows}, key=lambda name: " core" not in name)
    lines = []
    for batch in sorted({row["batch"] for row in rows}, key=int):
        by_device = {row["device"]: row for row in rows if row["batch"] == batch}
        lines.append([f"{int(batch):,}", *(_us(by_device.get(device)) for device in devices)])
    head = ["messages of 128 B at once", *(f"{device}, us a message" for device in devices)]
    return table(head, lines)


def _threads(kept: Kept) -> str:
    return ", ".join(kept.values(BLOCKS, "threads_per_block"))


def _way(row: Row) -> str:
    return f"{row['code']}, {row['mode']}, {row['data']}"


def _mb_per_s(row: Row | None) -> str:
    return _told(row, "payload_MB_per_s", 1.0)


def _us(row: Row | None) -> str:
    return _told(row, "ns_per_operation", 1e-3)


def _told(row: Row | None, column: str, factor: float) -> str:
    if row is None:
        return "not run"
    doubt = ", machine busy" if row["machine_busy"] == "yes" else ""
    return f"{interval(estimate(row, column, factor))}{doubt}"


BLOCKS, BESIDE = "gpu-blocks", "gpu-beside-cpu"
