"""The pieces of work that a bench runs: the field's grid of sizes, and document 003's workloads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sealift.lab.plan import Cell
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


@dataclass(frozen=True)
class Axes:
    """What is the same for all pieces of work, and what is varied for each.

    Attributes:
        devices: Who does the work; the first is what the others are compared with.
        threads: Thread counts to try.
        batch: Messages handed over at once.
        seed: Of order and bytes.
    """

    devices: tuple[str, ...]
    threads: tuple[int, ...]
    batch: int
    seed: int

    def cells(self, workload: Workload) -> Iterator[Cell]:
        """A workload at each thread count."""
        return (Cell(workload, threads, self.batch, self.devices) for threads in self.threads)


def sizes_grid(
    axes: Axes, sizes: Sequence[int], regimes: Sequence[Regime], mix: Mix, key_bits: int
) -> tuple[Cell, ...]:
    """Every size under every key regime."""
    return tuple(
        cell
        for regime in regimes
        for size in sizes
        for cell in axes.cells(
            of_size(
                size,
                regime,
                mix,
                messages=messages_for(size, axes.batch, regime),
                key_bits=key_bits,
                seed=axes.seed,
            )
        )
    )


def stated_grid(axes: Axes, regimes: Sequence[Regime]) -> tuple[Cell, ...]:
    """Document 003's workload as stated, under each key regime."""
    return tuple(
        cell
        for regime in regimes
        for cell in axes.cells(
            as_stated(
                regime, messages=messages_for(STATED_BYTES, axes.batch, regime), seed=axes.seed
            )
        )
    )


def logged_grid(axes: Axes) -> tuple[Cell, ...]:
    """Document 003's workload as logged: its messages have fresh keys, and nothing is varied."""
    return tuple(axes.cells(as_logged(seed=axes.seed)))


def quick_grid(axes: Axes) -> tuple[Cell, ...]:
    """What answers the question within a minute.

    Document 003's workload as stated under all three key regimes and as logged, because that is
    the work people have; and each size once, sealed under 1,024 sessions, because size moves the
    answer most and many cached keys are what a gateway or an archive holds.
    """
    return (
        *stated_grid(axes, REGIMES),
        *logged_grid(axes),
        *sizes_grid(axes, SIZES, (MANY_KEYS,), SEAL_ONLY, 128),
    )


def messages_for(size_bytes: int, batch: int, regime: Regime) -> int:
    """How many messages of a size there are: whole batches, a mebibyte of text where that does.

    Never under 1,024, and never fewer than sessions, so that every session is used; over 8,192
    only where the sessions or one batch are more than that.
    """
    wanted = min(MESSAGES_MOST, max(MESSAGES_LEAST, TEXT_BYTES // size_bytes))
    wanted = max(wanted, regime.sessions)
    return min(MAX_MESSAGES, -(-wanted // batch) * batch)


SIZES = (16, 64, 128, 256, 1_024, 8_192, 16_384)
MANY_KEYS = Regime(Keys.SESSIONS, 1_024)
REGIMES = (ONE_KEY, MANY_KEYS, FRESH_KEYS)
STATED_BYTES = 128
TEXT_BYTES = 1 << 20
MESSAGES_LEAST, MESSAGES_MOST = 1_024, 8_192
BATCH = 1_024
