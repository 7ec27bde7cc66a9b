"""Names a piece of work in words: what is done to messages of which size under which keys."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sealift.lab.finding import QUALIFIERS, batch_follows_size, size_of
from sealift.lab.grid import LOGGED, OF, STATED
from sealift.lab.result import Row
from sealift.lab.units import format_measure, format_size, keys_text
from sealift.lab.values import Cell, Value

if TYPE_CHECKING:
    from sealift import Card


def work_text(row: Row, *, with_batch: bool = False) -> str:
    """One piece of work as a short question begins: `For 128-byte messages, sealed ...:`."""
    batch = f", {QUALIFIERS['batch'](row.cell['batch'])}" if with_batch else ""
    return f"For {named(row)}{batch}:"


def named(row: Row) -> str:
    """One piece of work: `128-byte messages, sealed under 1,024 sessions, one thread`."""
    cell = row.cell
    size = f"{format_size(size_of(row))}-byte messages"
    if OF in str(cell["workload"]):
        size = f"messages of {format_size(size_of(row))} bytes on average"
    of = DOCUMENTS.get(str(cell["workload"]))
    what = f"document 003's {size} {of}" if of else size
    threads = "one thread" if cell["threads"] == 1 else f"{cell['threads']:,} threads"
    return f"{what}, {done_text(cell)}, {threads}"


def done_text(cell: Cell) -> str:
    """What is done to the messages of a cell under which keys: `sealed under 1,024 sessions`."""
    return f"{_done(cell['mix'])} under {keys_text(cell['keys'])}"


def constants_text(rows: Sequence[Row]) -> str:
    """What is the same in all rows: `AES-128, sealed, 1,024 sessions, 1 thread, batches of 1,024`.

    Args:
        rows: Of one workload or more; what differs between them is left out.
    """
    follows = batch_follows_size(rows)
    return ", ".join(
        told
        for name, show in CONSTANTS.items()
        if (told := _constant(name, show, rows, largest=name == "batch" and follows))
    )


def measured_text(rows: Sequence[Row]) -> str:
    """Of each workload what is the same in all its rows, and where the figures come from.

    Args:
        rows: Of any number of workloads; of one origin.
    """
    by_workload: dict[Value, list[Row]] = {}
    for row in rows:
        by_workload.setdefault(row.cell["workload"], []).append(row)
    told = "; ".join(constants_text(each) for each in by_workload.values())
    return f"{rows[0].origin.value.capitalize()} here: {told}."


def measured_of(card: "Card") -> str:
    """What of a card was measured here, each a sentence behind a space; "" if nothing was."""
    return "".join(
        f" {constant.name} is {format_measure(constant.value)} {constant.unit}, {constant.source}."
        for constant in card.constants
        if constant.measured
    )


def measured_here(card: "Card") -> dict[str, dict[str, str | float]]:
    """The same for JSON: by name each value, its unit, and how it was measured."""
    return {
        constant.name: {
            "value": constant.value,
            "unit": constant.unit,
            "source": constant.source,
        }
        for constant in card.constants
        if constant.measured
    }


def fitted_of(card: "Card") -> str:
    """What of a card was fitted and how well it meets what it was fitted to, behind a space."""
    fitted = [
        f"{each.name} = {each.value:g}{each.unit and f' {each.unit}'} ({each.source})"
        for each in card.constants
        if each.fitted
    ]
    return f" Fitted: {'; '.join(fitted)}." if fitted else ""


def played_of(card: "Card") -> str:
    """What else there is of a card whose units share a host, a sentence behind a space."""
    if not any(each.name.startswith("board.") for each in card.constants):
        return ""
    return (
        " This is its closed form; `sealift lab run 'cards-*'` plays such boards event by event, "
        "with bus, memory and interrupts that units share, and constants fitted to that, so that "
        "it may say another thing of one card more or less."
    )


def same_but_size(one: Cell, other: Cell) -> bool:
    """Whether two pieces of work differ in nothing but the size of messages and of batches."""
    rest = one.keys() | other.keys()
    return all(one.get(name) == other.get(name) for name in rest - {"size_bytes", "batch"})


def _constant(
    name: str, show: Callable[[Value], str], rows: Sequence[Row], *, largest: bool
) -> str:
    values = {row.cell[name] for row in rows}
    if len(values) == 1:
        return show(values.pop())
    return f"batches of up to {max(map(int, values)):,}" if largest else ""


def _workload(workload: Value) -> str:
    of = DOCUMENTS.get(str(workload))
    return f"document 003's messages {of} (AES-128, 192 and 256)" if of else str(workload)


def _done(mix: Value) -> str:
    return {"100/0/0": "sealed", "0/100/0": "opened", "0/0/100": "refused"}.get(
        str(mix), f"{mix} % sealed/opened/refused"
    )


# What the answer calls document 003, for whoever meets that name first.
DOCUMENT_003 = '"NVIDIA CUDA on CPU (± Intel oneAPI) & GP-GPU" (Ebadollahyvahed, 2024)'
DOCUMENTS = {STATED: "as stated", LOGGED: "as logged"}
CONSTANTS: dict[str, Callable[[Value], str]] = {
    "workload": _workload,
    "mix": _done,
    "keys": keys_text,
    "threads": QUALIFIERS["threads"],
    "batch": QUALIFIERS["batch"],
}
