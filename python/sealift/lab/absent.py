"""Devices that are not here: why, and what they would need to win on this machine.

What a document prints of a device that it measured is published, what it reckons is projected from
published inputs, and what follows for this machine is projected from either and from what was
measured here. None is mixed with another, and nothing here is typed in.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sealift.lab.devices import Found
from sealift.lab.published import Rounded, table, table_row
from sealift.lab.result import Origin, Row
from sealift.lab.stats import Interval
from sealift.lab.units import axis_text


@dataclass(frozen=True)
class Wish:
    """A device of a document, and what it would need to win here.

    Attributes:
        device: Its name.
        work: The work it was published with.
        published_mb_per_s: What was published of it, payload in 10**6 bytes a second.
        published_messages_per_s: The same in messages a second, for messages of which more than
            one size may be meant; None for others.
        how: How that follows from the printed figure.
        origin: PUBLISHED where the document measured it, PROJECTED where it reckoned.
        source: Where it stands.
        best: The fastest real device here on the nearest work, payload in 10**6 bytes a second;
            None when no such work was measured.
        best_messages_per_s: The same device in messages a second; None likewise.
        best_device: Which device that is, or "".
        nearest: The work that was measured here, and how it differs; or why there is none.
    """

    device: str
    work: str
    published_mb_per_s: float
    published_messages_per_s: float | None
    how: str
    origin: Origin
    source: str
    best: Interval | None
    best_messages_per_s: Interval | None
    best_device: str
    nearest: str

    @property
    def factor(self) -> Interval | None:
        """How many times its published speed it would need to be as fast as the best here."""
        return None if self.best is None else self.best.scaled(1 / self.published_mb_per_s)

    @property
    def factor_in_messages(self) -> Interval | None:
        """The same by messages a second, which is another one where messages differ in size."""
        if self.best_messages_per_s is None or self.published_messages_per_s is None:
            return None
        return self.best_messages_per_s.scaled(1 / self.published_messages_per_s)


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
    """Document 003's, on both readings of its messages; its data lay in the GPU's memory."""
    size = Rounded.printed(table_row("003-T6-platform", item="Message Size")["value"])
    total, *others = (_logged(name) for name in LOGGED_OPERATIONS)
    logged = _logged(LOGGED_VOLUME).over(sum(others, total))
    of = table_row(LOG, field="Executed Platform")["value_as_printed"]
    volume = table_row(LOG, field=LOGGED_VOLUME)["value_as_printed"]
    readings = (
        (STATED, size.value, f"{size.value:.0f} B a message, as its text states"),
        (LOGGED, logged.value, f"{logged.value:.1f} B a message, {volume} of the log, if GB"),
    )
    for line in table("003-T5-gpu-generations"):
        if line["test"] != "Threads = cores":
            continue
        for workload, size_bytes, told in readings:
            mb_per_s = float(line["throughput_mb_s"])
            is_its_own = line["gpu"].split(" (")[0] in of
            whose = "this GPU's own log" if is_its_own else f"a log of another GPU, {of}"
            yield _wish(
                device=line["gpu"],
                work=f"AES-GCM, messages {workload}, data already in the GPU's memory",
                speed=mb_per_s,
                messages_per_s=mb_per_s * MEGABYTE / size_bytes,
                how=f"as printed; {told}{'' if workload == STATED else f', {whose}'}",
                source=line["source"],
                best=_best([row for row in rows if row.cell.get("workload") == workload]),
                nearest=f"document 003's messages {workload}, data in this machine's memory",
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
    """Document 000's, which reckons a total that its own time for one unit contradicts."""
    total = table_row("000-X1-claims", claim_id="dpu640")
    seconds = table_row("000-X1-claims", claim_id="mram-time")
    units = int(_setup("dpus"))
    mebibytes = float(_setup("mram_bytes").removesuffix(" MiB"))
    sizes = [int(row.cell["size_bytes"]) for row in rows if "size_bytes" in row.cell]
    largest = max(sizes, default=0)
    printed, reckoned = float(total["value"]), units * mebibytes / float(seconds["value"])
    at_odds = f"{reckoned / printed:.0f}-fold against the other: {_tasklets()}"
    speeds = (
        (printed, f"{total['as_printed']} reckoned by the document, {at_odds}"),
        (
            reckoned,
            f"{mebibytes:,.0f} MiB in {seconds['value']} s reckoned by the document for one, times "
            f"{units}, {at_odds}",
        ),
    )
    for mebibytes_per_s, how in speeds:
        yield _wish(
            device=f"UPMEM, {units} DPUs",
            work="AES-128 without authentication, data already in its memory",
            speed=mebibytes_per_s * MEBIBYTE / MEGABYTE,
            how=how,
            origin=Origin.PROJECTED,
            source=total["source"],
            best=_best(_of_size(rows, largest)),
            nearest=f"AES-GCM, {largest:,} B, the largest measured",
        )


def _tasklets() -> str:
    """Why the document's two figures for many units contradict each other."""
    rate, split, buffer = (
        float(table_row("000-X1-claims", claim_id="rate")["value"]),
        float(table_row("000-X1-claims", claim_id="crypto-2k")["value"]),
        int(_setup("buffer_bytes")),
    )
    return (
        f"the total stands on {rate:.0f} cycles a byte, the rate of one tasklet alone, the time on "
        f"{split:,.0f} cycles for {buffer:,} B, {split / buffer:.0f} a byte, split among tasklets"
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
    messages_per_s: float | None = None,
    origin: Origin = Origin.PUBLISHED,
) -> Wish:
    return Wish(
        device=device,
        work=work,
        published_mb_per_s=speed,
        published_messages_per_s=messages_per_s,
        how=how,
        origin=origin,
        source=source,
        best=best.payload_mb_per_s if best else None,
        best_messages_per_s=best.operations_per_s if best else None,
        best_device=str(best.cell["device"]) if best else "",
        nearest=f"{nearest}; {_circumstances(best)}" if best else "no such work was measured here",
    )


def _circumstances(row: Row) -> str:
    threads = int(row.cell.get("threads", 1))
    keys = [axis_text("keys", row.cell["keys"])] if "keys" in row.cell else []
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


def _logged(field: str) -> Rounded:
    return Rounded.printed(table_row(LOG, field=field)["value_as_printed"])


STATED, LOGGED = "as stated", "as logged"
LOG = "003-F14-log"
LOGGED_OPERATIONS = (
    "Total Number of Encryption Operations",
    "Total Number of Decryption Operations with Successful Authentication",
    "Total Number of Decryption Operations with Planned Failed Authentication",
)
LOGGED_VOLUME = "Total Volume of Messages Processed"
CARDS = {
    "Hifn 7751, four cards": "002-T1-quad-hifn7751",
    "Broadcom 5820, four cards": "002-T2-four-5820",
}
BITS_A_BYTE = 8
MEBIBYTE, MEGABYTE = 2**20, 10**6
