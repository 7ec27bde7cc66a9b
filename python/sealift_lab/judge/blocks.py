"""Samples into blocks: what each arm took in each block, and whether something disturbed it.

The border to polars: behind it stand arrays with one value a block.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sealift_lab.judge.intervals import Kind, Labels, Pool, Vector, blocks_needed
from sealift_lab.measure.crypto import Load
from sealift_lab.model.run import PlannedExperiment

Flags = NDArray[np.bool_]
Place = tuple[str, int, int]
"""Experiment, group and arm."""


@dataclass(frozen=True)
class ArmBlocks:
    """What one arm did in the blocks of its group.

    Attributes:
        log_ns: Logarithm of nanoseconds an operation; NaN in blocks without it. Of the doubled arm
            both samples together, or the clean one.
        is_clean: Whether nothing disturbed it in that block.
        clean_share: Share of its samples that nothing disturbed, 0..1.
        payload_bytes: Mean payload of an operation; 0 where there is none.
    """

    log_ns: Vector
    is_clean: Flags
    clean_share: float
    payload_bytes: float


@dataclass(frozen=True)
class Group:
    """The arms that are compared with each other, block by block.

    Attributes:
        process: The process of each block.
        arms: By their place in the plan.
        aa: Log ratio of the doubled arm's second sample to its first.
    """

    process: Labels
    arms: Mapping[int, ArmBlocks]
    aa: Vector
    is_aa_clean: Flags

    @property
    def reference(self) -> int:
        """The first arm of the first block."""
        return min(arm for arm, each in self.arms.items() if not np.isnan(each.log_ns[0]))

    @property
    def clean_pairs(self) -> Vector:
        """The A/A pairs that nothing disturbed, or all where those are too few."""
        return self.aa[self.is_aa_clean] if are_enough(self.is_aa_clean) else self.aa

    def times(self, arm: int) -> Pool:
        """The time of an arm: logarithm of nanoseconds an operation.

        All blocks count where some arm has too few clean ones: clean blocks of one arm beside all
        blocks of another would differ by the disturbance.
        """
        each = (of.is_clean[~np.isnan(of.log_ns)] for of in self.arms.values())
        is_disturbed = not all(map(are_enough, each))
        return self._pool(self.arms[arm].log_ns, self.arms[arm].is_clean | is_disturbed, "median")

    def ratio(self, arm: int, reference: int) -> Pool | None:
        """Log of how many times as fast an arm is as another; None without a common block."""
        one, other = self.arms[arm], self.arms[reference]
        log_ratio = other.log_ns - one.log_ns
        if np.isnan(log_ratio).all():
            return None
        return self._pool(log_ratio, one.is_clean & other.is_clean, "hodges-lehmann")

    def _pool(self, x: Vector, is_clean: Flags, kind: Kind) -> Pool:
        there = ~np.isnan(x)
        counted = there & is_clean if are_enough(is_clean[there]) else there
        return Pool.from_blocks(x[counted], self.process[counted], kind)


def are_enough(is_clean: Flags) -> bool:
    """Whether clean blocks can stand for all: half of them, or a quarter and those of a verdict."""
    clean, every = np.count_nonzero(is_clean), len(is_clean)
    return bool(2 * clean >= every or (4 * clean >= every and clean >= blocks_needed(0.99)))


def groups_of(
    samples: pl.DataFrame,
    experiments: Iterable[PlannedExperiment] = (),
    *,
    is_one_process: bool = False,
) -> dict[tuple[str, int], Group]:
    """The groups that have a block, by experiment and place.

    The plan says which arms have more threads than cores. Processes count as one where a single one
    was planned: the two of a resumed run are too few to show how processes differ.
    """
    if samples.is_empty():
        return {}
    parts = _by_block(_flagged(samples, experiments)).partition_by(*GROUP, as_dict=True)
    return {
        (str(name), int(group)): _group(part, is_one_process=is_one_process)
        for (name, group), part in parts.items()
    }


def _flagged(samples: pl.DataFrame, experiments: Iterable[PlannedExperiment]) -> pl.DataFrame:
    """Adds `clean`: whether switches, other work and steal each cost a sample under 1 %.

    Threads that share cores wait for each other by design: there only steal says that something
    else ran, and the clock was timed between the turns of others.
    """
    sharing = [
        (each.name, group, arm, True)
        for each in experiments
        for group, cells in enumerate(each.groups)
        for arm, cell in enumerate(cells)
        if cell.get("load") == Load.OVER
    ]
    schema = {**{name: samples.schema[name] for name in ARM}, "shares": pl.Boolean()}
    known = pl.DataFrame(sharing, schema=schema, orient="row")
    shares, spare_ns = pl.col("shares").fill_null(value=False), 0.01 * pl.col("ns")
    switches_ns = pl.col("involuntary_switches") * SWITCH_NS
    is_alone = (pl.col("cpu_share") >= 0.99) & (switches_ns <= spare_ns)
    return samples.join(known, on=ARM, how="left", maintain_order="left").with_columns(
        clean=(shares | is_alone) & (pl.col("steal_ns") - STEAL_STEP_NS <= spare_ns),
        clock_ghz=pl.when(~shares).then("clock_ghz"),
    )


def _by_block(samples: pl.DataFrame) -> pl.DataFrame:
    """A row for each arm in each block."""
    clean, again, clock = pl.col("clean"), pl.col("again"), pl.col("clock")
    log_ns = (pl.col("ns") / pl.col("operations")).log()
    off = (clock / clock.median().over(ARM) - 1).abs() > CLOCK_OFF

    def total(column: str) -> pl.Expr:
        # Floats: what stands in a folder may be as large as integers get.
        every = pl.col(column).cast(pl.Float64)
        return pl.when(clean.any()).then(every.filter(clean).sum()).otherwise(every.sum())

    return (
        samples.group_by(*ARM, *BLOCK, maintain_order=True)
        .agg(
            pl.sum("bytes", "operations"),
            log_ns=(total("ns") / total("operations")).log(),
            aa=log_ns.filter(again).first() - log_ns.filter(~again).first(),
            samples=pl.len(),
            clean=pl.sum("clean"),
            clock=pl.mean("clock_ghz"),
        )
        .with_columns(off=off.fill_null(value=False))
        # All arms of a block off their usual clock are the machine's doing; one alone is its own.
        .with_columns(off=(pl.all("off") & (pl.len() > 1)).over(*GROUP, *BLOCK))
        .with_columns(clean=pl.when("off").then(0).otherwise("clean"))
    )


def _group(part: pl.DataFrame, *, is_one_process: bool) -> Group:
    of = {name: part[name].to_numpy() for name in part.columns if name not in GROUP}
    number = of["restart"] * (1 + of["block"].max()) + of["block"]
    blocks, first, at = np.unique(number, return_index=True, return_inverse=True)
    doubled = np.flatnonzero(~np.isnan(of["aa"]))
    doubled = doubled[np.argsort(at[doubled])]
    arms: dict[int, ArmBlocks] = {}
    for arm in np.unique(of["arm"]).tolist():
        mine = of["arm"] == arm
        log_ns, is_clean = np.full(len(blocks), np.nan), np.zeros(len(blocks), np.bool_)
        log_ns[at[mine]], is_clean[at[mine]] = of["log_ns"][mine], of["clean"][mine] > 0
        clean, samples, payload, operations = (
            float(of[name][mine].sum()) for name in ("clean", "samples", "bytes", "operations")
        )
        arms[arm] = ArmBlocks(log_ns, is_clean, clean / samples, payload / operations)
    return Group(
        process=np.zeros(len(blocks), np.int64) if is_one_process else of["restart"][first],
        arms=arms,
        aa=of["aa"][doubled],
        is_aa_clean=(of["clean"] == of["samples"])[doubled],
    )


GROUP, BLOCK = ["experiment", "group"], ["restart", "block"]
ARM = [*GROUP, "arm"]
# The time to fill a second-level cache of a mebibyte again at 20 GB/s.
SWITCH_NS = 50_000
# /proc/stat counts in hundredths of a second; one step says nothing about a shorter sample.
STEAL_STEP_NS = 10_000_000
CLOCK_OFF = 0.03
