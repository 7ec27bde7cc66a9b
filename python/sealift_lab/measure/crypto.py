"""AEAD work as cells, and the workload and the arm that belong to a cell.

A cell carries everything: a plan that contains it can be run again without the code that made it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum

from sealift_lab.measure.native import gcm
from sealift_lab.model.arm import Arm, Cell, Context, Value
from sealift_lab.model.experiment import Axis, Scope
from sealift_lab.model.workload import (
    FRESH_KEYS,
    KEY_BITS,
    MESSAGES_MAX,
    ONE_KEY,
    SEAL_ONLY,
    KeyRegime,
    Keys,
    Lengths,
    Mix,
    Workload,
    combine,
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
LOAD = Axis("load", "threads and cores")
"""An axis for experiments whose threads may share cores, which the judge looks at."""

Builder = Callable[[KeyRegime, int, int], Workload]
"""Builds a named workload from its key regime, the number of messages and a seed."""


class Load(StrEnum):
    """How many threads there are for the cores: the values of the axis `LOAD`."""

    BELOW = "fewer threads than cores"
    ALL = "a thread a core"
    OVER = "more threads than cores"


@dataclass(frozen=True)
class Work:
    """A stream of messages, as it stands in a cell.

    Attributes:
        workload: `AES-128` and the other key sizes for messages of one size, `AES-128 of 753
            lengths (4f2a91)` for those of a legend, else the name of an experiment's own workload.
        size_bytes: Mean length of a text.
        keys: As `KeyRegime.parse` takes it.
        mix: As `Mix.parse` takes it.
    """

    workload: str
    size_bytes: int
    keys: str
    mix: str

    @property
    def cell(self) -> dict[str, Value]:
        """Its part of a cell."""
        return asdict(self)


def sized(size_bytes: int, regime: KeyRegime, mix: Mix = SEAL_ONLY, key_bits: int = 128) -> Work:
    """Messages of one size under keys of one size."""
    return Work(f"{SIZED}{key_bits}", size_bytes, str(regime), mix.exact)


def of_lengths(
    lengths: Lengths, regime: KeyRegime, mix: Mix = SEAL_ONLY, key_bits: int = 128
) -> Work:
    """Messages of many lengths; the experiment's legend needs `legend_of` them."""
    if len(lengths.counts) == 1:
        return sized(lengths.counts[0][0], regime, mix, key_bits)
    name = f"{SIZED}{key_bits}{OF}{lengths.name}"
    return Work(name, max(1, round(lengths.mean_bytes)), str(regime), mix.exact)


def legend_of(lengths: Lengths) -> Mapping[str, str]:
    """The legend entry for the name of many lengths."""
    return {lengths.name: str(lengths)} if len(lengths.counts) > 1 else {}


def lengths_in(cell: Cell, legend: Mapping[str, str]) -> Lengths | None:
    """The lengths that a cell names, or None; a ValueError if the legend lacks them."""
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
    """Every piece of work at every thread count on every device; the first is the reference.

    `batch_for` the size of messages are handed over at once, unless `batch` says how many.
    """
    for work in works:
        at_once = batch_for(work.size_bytes) if batch is None else batch
        for count in threads:
            for device in devices:
                yield {**work.cell, "threads": count, "batch": at_once, "device": device}


def one_and_all(scope: Scope) -> tuple[int, ...]:
    """One thread and a thread a core, unless the scope names others."""
    return scope.threads or tuple(sorted({1, scope.cores}))


def with_load(cells: Iterable[Cell], scope: Scope) -> Iterator[Cell]:
    """The same cells with the axis `LOAD`, by their axis `threads`."""
    for cell in cells:
        over = int(cell["threads"]) - scope.cores
        load = Load.ALL if not over else Load.OVER if over > 0 else Load.BELOW
        yield {**cell, LOAD.name: load.value}


def crypto_arm(cell: Cell, context: Context, builders: Mapping[str, Builder] | None = None) -> Arm:
    """A device with the messages of a cell from `crypto_cells`; more axes may stand beside its own.

    An experiment's own workloads have builders by name. Errors are those of `gcm`, and ValueError
    if a value of the cell is not as it should be.
    """
    workload = workload_of(cell, context.seed, context.legend, builders)
    threads, batch = int(cell["threads"]), int(cell["batch"])
    return gcm(str(cell["device"]), workload, threads=threads, batch=batch, context=context)


def workload_of(
    cell: Cell,
    seed: int,
    legend: Mapping[str, str] | None = None,
    builders: Mapping[str, Builder] | None = None,
) -> Workload:
    """The messages of a cell; arguments and errors as of `crypto_arm`."""
    name, size_bytes = str(cell["workload"]), int(cell["size_bytes"])
    regime = KeyRegime.parse(str(cell["keys"]))
    messages = messages_for(size_bytes, int(cell["batch"]), regime)
    if builders and name in builders:
        return builders[name](regime, messages, seed)
    mix, bits = Mix.parse(str(cell["mix"])), name.partition(OF)[0].removeprefix(SIZED)
    if not name.startswith(SIZED) or bits not in map(str, KEY_BITS):
        own = "".join(f"{each!r}, " for each in builders or ())
        raise ValueError(f"workload {name!r}; right would be {own}{SIZED}128, 192 or 256")
    key_bits, lengths = int(bits), lengths_in(cell, legend or {})
    if lengths is None:
        return of_size(size_bytes, regime, mix, messages=messages, key_bits=key_bits, seed=seed)
    shapes = combine(mix, lengths.counts, key_bits=((key_bits, 1),))
    return Workload(name, shapes, regime, messages, seed)


def messages_for(size_bytes: int, batch: int, regime: KeyRegime) -> int:
    """How many messages of a size there are: whole batches, a mebibyte of text where possible.

    Never under 1,024, but for messages so large that fewer fill 16 MiB; never fewer than sessions,
    so that every session is used; over 8,192 only where the sessions or one batch are more.
    """
    least = min(MESSAGES_LEAST, max(1, LARGE_TEXT_BYTES // size_bytes))
    wanted = min(MESSAGES_MOST, max(least, TEXT_BYTES // size_bytes))
    wanted = max(wanted, regime.sessions)
    return min(MESSAGES_MAX, -(-wanted // batch) * batch)


def batch_for(size_bytes: int) -> int:
    """How many messages of a size are handed over at once: 1,024, or 16 MiB of them."""
    return min(BATCH, max(1, LARGE_TEXT_BYTES // size_bytes))


SIZED, OF = "AES-", " of "
SIZES = (16, 64, 128, 256, 1_024, 8_192, 16_384)
LARGE_SIZES = (1 << 20, 16 << 20)
MANY_KEYS = KeyRegime(Keys.SESSIONS, 1_024)
REGIMES = (ONE_KEY, MANY_KEYS, FRESH_KEYS)
TEXT_BYTES, LARGE_TEXT_BYTES = 1 << 20, 16 << 20
MESSAGES_LEAST, MESSAGES_MOST = 1_024, 8_192
BATCH = 1_024
