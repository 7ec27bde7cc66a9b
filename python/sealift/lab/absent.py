"""Devices that are not here: why, and what they would need to win on this machine.

What a document prints of a device is published; what follows for this machine is projected from it
and from what was measured here. Neither is mixed with the other, and nothing here is typed in.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sealift.lab.devices import Found
from sealift.lab.published import table, table_row
from sealift.lab.result import Row
from sealift.lab.stats import Interval


@dataclass(frozen=True)
class Wish:
    """A device of a document, and what it would need to win here.

    Attributes:
        device: Its name.
        work: The work it was published with.
        published_mb_per_s: What was published of it, payload in 10**6 bytes a second.
        how: How that follows from the printed figure.
        source: Where it stands.
        best: The fastest real device here on the nearest work, payload in 10**6 bytes a second;
            None when no such work was measured.
        best_device: Which device that is, or "".
        nearest: The work that was measured here, and how it differs; or why there is none.
    """

    device: str
    work: str
    published_mb_per_s: float
    how: str
    source: str
    best: Interval | None
    best_device: str
    nearest: str

    @property
    def factor(self) -> Interval | None:
        """How many times its published speed it would need to be as fast as the best here."""
        return None if self.best is None else self.best.scaled(1 / self.published_mb_per_s)


def wishes(rows: Sequence[Row], devices: Iterable[Found]) -> list[Wish]:
    """The devices of the documents, and what they would need to win here.

    Args:
        rows: Everything that was measured.
        devices: Those of the machine; one whose role is "real" can win.
    """
    real = {device.spec for device in devices if device.role == "real"}
    fitting = [
        row
        for row in rows
        if not row.wrong and str(row.cell.get("device")) in real and row.payload_mb_per_s
    ]
    return [*_gpus(fitting), *_cards(fitting), *_memory(fitting)]


def _gpus(rows: Sequence[Row]) -> Iterable[Wish]:
    """Document 003's, on its own workload; its data lay in the GPU's memory."""
    stated = [row for row in rows if row.cell.get("workload") == STATED]
    best = _best(stated)
    for line in table("003-T5-gpu-generations"):
        if line["test"] == "Threads = cores":
            yield _wish(
                device=line["gpu"],
                work="AES-GCM, 128 B, data already in the GPU's memory",
                speed=float(line["throughput_mb_s"]),
                how="as printed",
                source=line["source"],
                best=best,
                nearest=f"document 003's workload {STATED}, data in this machine's memory",
            )


def _cards(rows: Sequence[Row]) -> Iterable[Wish]:
    """Document 002's, at the smallest and the largest buffer that was measured here too."""
    for device, name in CARDS.items():
        lines = table(name)
        most = max(int(line["threads"]) for line in lines)
        printed = {
            int(line["buffer_bytes"]): line for line in lines if int(line["threads"]) == most
        }
        measured = {row.cell.get("size_bytes") for row in rows}
        common = sorted(size for size in printed if size in measured)
        for size in _ends(common) or _ends(sorted(printed)):
            mbit_per_s = float(printed[size]["throughput"])
            yield _wish(
                device=device,
                work=f"3DES, {size:,} B, {most} threads",
                speed=mbit_per_s / BITS_A_BYTE,
                how=f"{mbit_per_s:,} Mbit/s printed",
                source=printed[size]["source"],
                best=_best(_of_size(rows, size)),
                nearest=f"AES-GCM, {size:,} B: another cipher and far less work a byte",
            )


def _memory(rows: Sequence[Row]) -> Iterable[Wish]:
    """Document 000's, which prints a total that its own time for one unit contradicts."""
    total = table_row("000-X1-claims", claim_id="dpu640")
    seconds = table_row("000-X1-claims", claim_id="mram-time")
    units = int(_setup("dpus"))
    mebibytes = float(_setup("mram_bytes").removesuffix(" MiB"))
    sizes = [int(row.cell["size_bytes"]) for row in rows if "size_bytes" in row.cell]
    largest = max(sizes, default=0)
    speeds = (
        (float(total["value"]), f"{total['as_printed']} printed"),
        (
            units * mebibytes / float(seconds["value"]),
            f"{mebibytes:,.0f} MiB in {seconds['value']} s printed for one, times {units}",
        ),
    )
    for mebibytes_per_s, how in speeds:
        yield _wish(
            device=f"UPMEM, {units} DPUs",
            work="AES-128 without authentication, data already in its memory",
            speed=mebibytes_per_s * MEBIBYTE / MEGABYTE,
            how=how,
            source=total["source"],
            best=_best(_of_size(rows, largest)),
            nearest=f"AES-GCM, {largest:,} B, the largest measured",
        )


def _wish(
    *,
    device: str,
    work: str,
    speed: float,
    how: str,
    source: str,
    best: Row | None,
    nearest: str,
) -> Wish:
    if best is None:
        return Wish(device, work, speed, how, source, None, "", "no such work was measured here")
    return Wish(
        device,
        work,
        speed,
        how,
        source,
        best.payload_mb_per_s,
        str(best.cell["device"]),
        f"{nearest}; {_circumstances(best)}",
    )


def _circumstances(row: Row) -> str:
    threads = int(row.cell.get("threads", 1))
    keys = [f"keys {row.cell['keys']}"] if "keys" in row.cell else []
    return ", ".join(["1 thread" if threads == 1 else f"{threads:,} threads", *keys])


def _best(rows: Sequence[Row]) -> Row | None:
    def speed(row: Row) -> float:
        return row.payload_mb_per_s.median if row.payload_mb_per_s else 0.0

    return max(rows, key=speed, default=None)


def _of_size(rows: Sequence[Row], size_bytes: int) -> list[Row]:
    return [row for row in rows if row.cell.get("size_bytes") == size_bytes]


def _ends(sizes: Sequence[int]) -> list[int]:
    return list(dict.fromkeys((sizes[0], sizes[-1]))) if sizes else []


def _setup(item: str) -> str:
    return table_row("000-S1-setup", item=item)["value"]


STATED = "as stated"
CARDS = {
    "Hifn 7751, four cards": "002-T1-quad-hifn7751",
    "Broadcom 5820, four cards": "002-T2-four-5820",
}
BITS_A_BYTE = 8
MEBIBYTE, MEGABYTE = 2**20, 10**6
