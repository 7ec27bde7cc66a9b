"""Pieces of crypto work as cells, and the workload and the arm that belong to a cell.

A cell carries everything: a plan that holds it can be run again without the code that made it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sealift.lab.crowding import LOAD, load_of
from sealift.lab.lengths import Lengths
from sealift.lab.native import gcm
from sealift.lab.spec import Arm, Axis, Context, Scope
from sealift.lab.values import Cell, Value
from sealift.lab.workload import (
    FRESH_KEYS,
    MAX_MESSAGES,
    ONE_KEY,
    SEAL_ONLY,
    Keys,
    Mix,
    Regime,
    Workload,
    as_logged,
    as_stated,
    of_size,
)

AXES = (
    Axis("workload", "messages"),
    Axis("size_bytes", "mean size of a message, bytes"),
    Axis("keys", "keys"),
    Axis("mix", "seals/opens/failing opens, per cent"),
    Axis("threads", "threads"),
    Axis("batch", "messages handed over at once"),
    Axis("device", "device"),
)
"""The axes of a cell that `crypto_cells` makes."""


@dataclass(frozen=True)
class Work:
    """A stream of messages, as it stands in a cell.

    Attributes:
        workload: `as stated` or `as logged` for those of document 003, `AES-128` and the other key
            sizes for messages of one size, `AES-128 of 753 lengths (4f2a91)` for those of a legend.
        size_bytes: Mean length of a text.
        keys: As `Regime.parse` reads it.
        mix: Seals/opens/failing opens, per cent where these are whole, else weights.
    """

    workload: str
    size_bytes: int
    keys: str
    mix: str

    @property
    def cell(self) -> dict[str, Value]:
        """Its part of a cell."""
        return {
            "workload": self.workload,
            "size_bytes": self.size_bytes,
            "keys": self.keys,
            "mix": self.mix,
        }


def stated(regime: Regime) -> Work:
    """Document 003's messages as its text states them."""
    workload = as_stated(regime, messages=max(1, regime.sessions))
    return Work(STATED, STATED_BYTES, str(regime), _mix_text(workload.mix))


def logged() -> Work:
    """Document 003's messages as its log shows them; each has a key of its own.

    In the proportions of its 37,800 records, and as many as of other messages of that size: each
    thread has its own, and they are made and checked before anything is timed.
    """
    workload = as_logged()
    return Work(LOGGED, round(workload.text_len_mean), str(workload.regime), str(workload.mix))


def sized(size_bytes: int, regime: Regime, mix: Mix = SEAL_ONLY, key_bits: int = 128) -> Work:
    """Messages of one size under keys of one size."""
    return Work(f"{SIZED}{key_bits}", size_bytes, str(regime), _mix_text(mix))


def of_lengths(lengths: Lengths, regime: Regime, mix: Mix = SEAL_ONLY, key_bits: int = 128) -> Work:
    """Messages of many lengths under keys of one size.

    The cells name the lengths only; `legend_of` is what the experiment's legend needs.
    """
    if len(lengths.counts) == 1:
        return sized(lengths.least_bytes, regime, mix, key_bits)
    name = f"{SIZED}{key_bits}{OF}{lengths.name}"
    return Work(name, max(1, round(lengths.mean_bytes)), str(regime), _mix_text(mix))


def legend_of(lengths: Lengths) -> Mapping[str, str]:
    """What the name of some lengths stands for."""
    return {lengths.name: str(lengths)} if len(lengths.counts) > 1 else {}


def lengths_in(cell: Mapping[str, Value], legend: Mapping[str, str]) -> Lengths | None:
    """The lengths that a cell names; None where its messages are of one size, or document 003's.

    Raises:
        ValueError: If the legend doesn't say what the name stands for.
    """
    workload = str(cell["workload"])
    _, of, name = workload.partition(OF)
    if not of:
        return None
    lengths = Lengths.parse(legend[name]) if name in legend else None
    if lengths is None or lengths.name != name:
        raise ValueError(f"workload {workload!r}: the plan's legend has no such lengths")
    return lengths


def crypto_cells(
    works: Iterable[Work],
    *,
    devices: Sequence[str],
    threads: Sequence[int] = (1,),
    batch: int | None = None,
) -> Iterator[Cell]:
    """Every piece of work at every thread count on every device.

    Args:
        works: What is done.
        devices: Who does it; the first is the reference.
        threads: How many threads each do all of it.
        batch: Messages handed over at once; `batch_for` their size when left out.
    """
    for work in works:
        at_once = batch_for(work.size_bytes) if batch is None else batch
        for count in threads:
            for device in devices:
                yield {**work.cell, "threads": count, "batch": at_once, "device": device}


def with_load(cells: Iterable[Cell], scope: Scope) -> Iterator[Cell]:
    """The same cells, and in each whether its threads share cores."""
    for cell in cells:
        yield {**cell, LOAD.name: load_of(int(cell["threads"]), scope.cores).value}


def one_and_all(scope: Scope) -> tuple[int, ...]:
    """One thread and a thread a core, unless the scope names others."""
    return scope.threads or tuple(sorted({1, scope.cores}))


def workload_of(cell: Cell, seed: int, legend: Mapping[str, str] | None = None) -> Workload:
    """The messages of a cell.

    Args:
        cell: From `crypto_cells`; more axes may stand beside its own.
        seed: Of order and bytes.
        legend: What the names of lengths stand for.

    Raises:
        ValueError: If something in it is no workload, no key regime or no mix.
    """
    name, size_bytes = str(cell["workload"]), int(cell["size_bytes"])
    regime, batch = Regime.parse(str(cell["keys"])), int(cell["batch"])
    messages = messages_for(size_bytes, batch, regime)
    if name == LOGGED:
        return as_logged(messages=messages, seed=seed)
    if name == STATED:
        return as_stated(regime, messages=messages, seed=seed)
    of_one_size = of_size(
        size_bytes,
        regime,
        Mix.parse(str(cell["mix"])),
        messages=messages,
        key_bits=_key_bits(name.partition(OF)[0]),
        seed=seed,
    )
    lengths = lengths_in(cell, legend or {})
    return replace(of_one_size, name=name, text_len=lengths.counts) if lengths else of_one_size


def crypto_arm(cell: Cell, context: Context) -> Arm:
    """A device with the messages of a cell, every one of them checked, ready to be timed.

    Raises:
        Skip: If the device is absent or doesn't do this work; with its reason.
        WrongResultError: If it computes something wrong.
        ValueError: If something in the cell is not what it should be.
    """
    return gcm(
        str(cell["device"]),
        workload_of(cell, context.seed, context.legend),
        threads=int(cell["threads"]),
        batch=int(cell["batch"]),
        context=context,
    )


def messages_for(size_bytes: int, batch: int, regime: Regime) -> int:
    """How many messages of a size there are: whole batches, a mebibyte of text where that does.

    Never under 1,024, but for messages so large that fewer fill 16 MiB; never fewer than sessions,
    so that every session is used; over 8,192 only where the sessions or one batch are more.
    """
    least = min(MESSAGES_LEAST, max(1, LARGE_TEXT_BYTES // size_bytes))
    wanted = min(MESSAGES_MOST, max(least, TEXT_BYTES // size_bytes))
    wanted = max(wanted, regime.sessions)
    return min(MAX_MESSAGES, -(-wanted // batch) * batch)


def batch_for(size_bytes: int) -> int:
    """How many messages of a size are handed over at once: 1,024, or 16 MiB of them."""
    return min(BATCH, max(1, LARGE_TEXT_BYTES // size_bytes))


def _mix_text(mix: Mix) -> str:
    """Per cent, or the weights themselves where per cent would not be read back exactly."""
    weights = (mix.seal, mix.open, mix.bad)
    total = sum(weights)
    exact = all(100 * weight % total == 0 for weight in weights)
    return str(mix) if exact else "/".join(map(str, weights))


def _key_bits(name: str) -> int:
    bits = name.removeprefix(SIZED)
    if not name.startswith(SIZED) or not bits.isdecimal():
        raise ValueError(
            f"workload {name!r}; right would be {STATED!r}, {LOGGED!r} or {SIZED}128, 192 or 256"
        )
    return int(bits)


STATED, LOGGED, SIZED = "as stated", "as logged", "AES-"
OF = " of "
STATED_BYTES = 128
SIZES = (16, 64, 128, 256, 1_024, 8_192, 16_384)
LARGE_SIZES = (1 << 20, 16 << 20)
MANY_KEYS = Regime(Keys.SESSIONS, 1_024)
REGIMES = (ONE_KEY, MANY_KEYS, FRESH_KEYS)
TEXT_BYTES = 1 << 20
LARGE_TEXT_BYTES = 16 << 20
MESSAGES_LEAST, MESSAGES_MOST = 1_024, 8_192
BATCH = 1_024
DOCUMENT_WORK: tuple[Mapping[str, Value], ...] = (
    {"workload": STATED, "keys": str(MANY_KEYS)},
    {"workload": LOGGED, "keys": str(FRESH_KEYS)},
)
"""What is compared with document 003, whose text and whose log contradict each other: both."""
