"""Blocks into rows: what each arm did, how it compares, and how far that may be trusted.

Pure: takes the blocks that a run has kept, and measures nothing.
"""

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce

from sealift.lab.crowding import as_designed, is_crowded
from sealift.lab.measure import Block
from sealift.lab.result import Found, Row
from sealift.lab.spec import Sample
from sealift.lab.stats import (
    Flags,
    Kept,
    Verdict,
    drift,
    is_one_arms_doing,
    is_steady,
    keep_clean,
    median,
    median_interval,
    noise_floor,
    paired_ratios,
    verdicts,
    warm_up_blocks,
)
from sealift.lab.store import Run
from sealift.lab.values import Cell

_Pairing = tuple[Sample, Sample]


@dataclass(frozen=True)
class Group:
    """The cells that are compared with each other, and what was measured of them.

    Attributes:
        experiment: Name of the experiment.
        compare: The axis whose values are compared.
        cells: As planned. An arm is known by its place here.
        blocks: In the order of time, each with its restart: a sample for each cell, None where the
            arm was skipped or wrong.
        reference: Place of the arm that the others are compared with.
        wrong: By place what an arm computed wrong.
        planned_restarts: How many restarts were planned. Where that is one, the two processes of a
            run that was resumed count as one: they are too few to learn from how processes differ,
            and being interrupted must not cost a verdict.
    """

    experiment: str
    compare: str
    cells: Sequence[Cell]
    blocks: Sequence[tuple[int, Block]]
    reference: int = 0
    wrong: Mapping[int, str] = field(default_factory=dict)
    planned_restarts: int = 2


@dataclass(frozen=True)
class Series:
    """The blocks that the estimate of one arm stands on: warm ones, and clean ones if enough are.

    Attributes:
        cell: The arm's cell.
        ns: Nanoseconds an operation, one value a block, in the order of time.
        restarts: Which restart each is of.
        blocks: Which block of the group each is.
    """

    cell: Cell
    ns: tuple[float, ...]
    restarts: tuple[int, ...]
    blocks: tuple[int, ...]


def summarise(run: Run) -> dict[str, Found]:
    """Turns what was measured, whole or in part, into rows.

    Returns:
        For each experiment of the plan what was found. An arm without a complete block has no row.
    """
    names = [planned.name for planned in run.plan.experiments]
    every = [row for name in names for each in groups(run, name) for row in rows(each)]
    judged = beside_others(every)
    return {
        name: Found(
            rows=tuple(row for row in judged if row.experiment == name),
            verified=tuple(each for each in run.verified if each.experiment == name),
        )
        for name in names
    }


def beside_others(every: Sequence[Row]) -> tuple[Row, ...]:
    """All rows of a run, those of threads that shared the cores doubted if most others are.

    What such threads do to each other hides what something else does to them. So the other rows
    of the same minutes tell whether the machine was busy.
    """
    telling = [row.machine_busy for row in every if not is_crowded(row.cell)]
    if 2 * sum(telling) <= len(telling):
        return tuple(every)
    return tuple(_doubted(row) if is_crowded(row.cell) else row for row in every)


def _doubted(row: Row) -> Row:
    verdict = None if row.verdict is None else Verdict.UNSURE
    return replace(row, machine_busy=True, verdict=verdict, winner=not row.wrong)


def groups(run: Run, name: str) -> Iterator[Group]:
    """The groups of an experiment that have a block.

    Raises:
        KeyError: If the experiment isn't planned.
    """
    planned = run.plan.experiment(name)
    why = {tuple(each.cell.items()): each.wrong for each in run.verified if each.experiment == name}
    for number, cells in enumerate(planned.groups):
        if blocks := run.blocks(name, number):
            wrong = {
                arm: why[tuple(cell.items())]
                for arm, cell in enumerate(cells)
                if (name, number, arm) in run.wrong
            }
            reference = run.reference(name, number)
            yield Group(name, planned.compare, cells, blocks, reference, wrong, run.plan.restarts)


def rows(group: Group) -> tuple[Row, ...]:
    """The rows of all arms that were measured, in the order of the plan.

    What other groups of the run tell of the machine is not asked: `beside_others` does.

    Where the reference computed something wrong, the next arm takes its place. An arm that did has
    its times in its row and takes part in no comparison.
    """
    return _Judge(group).rows()


def series(group: Group) -> tuple[Series, ...]:
    """What the estimates of the arms stand on, to set them against those of another run."""
    judge = _Judge(group)
    return tuple(judge.series(arm) for arm in judge.measured)


class _Judge:
    """One group: which of its samples count, and what follows from them."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._processes = [process for process, _ in group.blocks]
        several = group.planned_restarts > 1
        self._restarts = self._processes if several else [0] * len(self._processes)
        self._blocks = [as_designed(block, group.cells) for _, block in group.blocks]
        self._columns = [
            _Column.of([block.of(arm) for block in self._blocks]) for arm in range(len(group.cells))
        ]
        self.measured = [arm for arm, column in enumerate(self._columns) if column.samples]
        self._right = [arm for arm in self.measured if arm not in group.wrong]
        self._off = _off_blocks(self._columns, self.measured)
        self._cold = {arm: set(self._warm_up(arm)) for arm in self.measured}

    def rows(self) -> tuple[Row, ...]:
        first = self._group.reference
        # When every arm is wrong nothing is compared, and the rows still name one.
        reference = first if first in self._right else (*self._right, first)[0]
        said, slower = self._verdicts(reference), self._slower()
        return tuple(self._row(arm, reference, said, slower) for arm in self.measured)

    def series(self, arm: int) -> Series:
        """The blocks that the estimate of an arm stands on."""
        kept = self._kept(arm)
        return Series(
            cell=self._group.cells[arm],
            ns=tuple(self._times_ns(arm, kept)),
            restarts=tuple(self._restarts[block] for block in kept),
            blocks=tuple(kept),
        )

    def _row(
        self, arm: int, reference: int, said: Mapping[int, Verdict], slower: Container[int]
    ) -> Row:
        column, kept = self._columns[arm], self.series(arm)
        clean = keep_clean(self._clean(arm))
        pair = self._pair(arm, reference) if arm in said else None
        return Row(
            experiment=self._group.experiment,
            cell=kept.cell,
            compare=self._group.compare,
            ns_per_operation=median_interval(kept.ns, restarts=kept.restarts),
            payload_bytes=column.payload_bytes,
            reference=self._group.cells[reference][self._group.compare],
            ratio=median_interval(pair.ratios, restarts=pair.restarts) if pair else None,
            verdict=said.get(arm),
            winner=arm in self._right and arm not in slower,
            noise_floor=self._floor,
            clean_share=clean.clean_share,
            machine_busy=clean.busy or self._busy or (pair is not None and pair.unclean),
            steady=self._is_steady(arm),
            blocks=len(column.samples),
            wrong=self._group.wrong.get(arm, ""),
        )

    def _verdicts(self, reference: int) -> dict[int, Verdict]:
        """On each arm that computed right against the reference, judged together."""
        if reference not in self._right:
            return {}
        pairs = {
            arm: pair
            for arm in self._right
            if arm != reference and (pair := self._pair(arm, reference))
        }
        said = verdicts(
            [pair.ratios for pair in pairs.values()],
            self._floor,
            restarts=[pair.restarts for pair in pairs.values()],
        )
        return {
            arm: Verdict.UNSURE if pair.unclean else verdict
            for (arm, pair), verdict in zip(pairs.items(), said, strict=True)
        }

    def _slower(self) -> set[int]:
        """The arms that were shown to be slower than the best one."""
        if not self._right:
            return set()
        best = min(self._right, key=self._median_ns)
        return {arm for arm, said in self._verdicts(best).items() if said is Verdict.SLOWER}

    def _median_ns(self, arm: int) -> float:
        series = self.series(arm)
        return median(series.ns, series.restarts)

    def _is_steady(self, arm: int) -> bool:
        """Whether an arm neither drifts nor, alone, leaves its clock.

        Of the warm blocks that something else took no time from: their clock may be off, because
        to leave those out would leave out a drift of it.
        """
        warm = self._warm(arm)
        clean = self._columns[arm].clean
        timed = [warm[at] for at in keep_clean([clean[block] for block in warm]).blocks]
        drifted = drift(
            self._times_ns(arm, timed),
            places=timed,
            restarts=[self._restarts[block] for block in timed],
        )
        off = {each: self._off_alone(each) for each in self.measured}
        blocks = {each: len(self._warm(each)) for each in self.measured}
        alone = is_one_arms_doing(off[arm], blocks[arm], sum(off.values()), sum(blocks.values()))
        return is_steady(drifted, self._floor) and not alone

    def _off_alone(self, arm: int) -> int:
        """In how many warm blocks an arm was off its clock and not all arms were."""
        off = self._columns[arm].off_clock
        return sum(off[block] and block not in self._off for block in self._warm(arm))

    @cached_property
    def _floor(self) -> float:
        """The A/A noise floor, of all arms; what they compute says nothing about the noise.

        The later sample of a pair finds its data warmer, which no comparison of two arms has,
        because their order is drawn. So two pairs make one, the second of them turned round.
        """
        clean = [
            all(map(_is_clean, block.pair)) and number not in self._off
            for number, block in enumerate(self._blocks)
        ]
        by_restart: dict[int, list[tuple[Sample, Sample]]] = {}
        for block in keep_clean(clean).blocks:
            pair = self._blocks[block].pair
            by_restart.setdefault(self._restarts[block], []).append(pair)
        twos = [(restart, two) for restart, pairs in by_restart.items() for two in _by_two(pairs)]
        return noise_floor(
            [_middle_ns(first, turned) for _, ((first, _), (_, turned)) in twos],
            [_middle_ns(again, turned) for _, ((_, again), (turned, _)) in twos],
            restarts=[restart for restart, _ in twos],
        )

    @property
    def _busy(self) -> bool:
        # Of all samples: that a block of many arms is clean as a whole is rare on any machine.
        return keep_clean([clean for arm in self.measured for clean in self._clean(arm)]).busy

    def _pair(self, arm: int, reference: int) -> "_Pair | None":
        warm = self._warm(arm, reference)
        if not warm:
            return None
        kept = self._keep([arm, reference], warm)
        blocks = [warm[at] for at in kept.blocks]
        ratios = paired_ratios(self._times_ns(arm, blocks), self._times_ns(reference, blocks))
        return _Pair(ratios, [self._restarts[block] for block in blocks], kept.unclean)

    def _kept(self, arm: int) -> list[int]:
        """Blocks in which an arm was warm; clean ones if each arm has enough of them.

        Undisturbed samples of one arm beside all samples of another would differ by the
        disturbance.
        """
        warm = self._warm(arm)
        return self._clean_blocks([arm], warm) if self._may_choose else warm

    @cached_property
    def _may_choose(self) -> bool:
        """Whether each arm was clean often enough to leave the other blocks out."""
        warm = {arm: self._warm(arm) for arm in self.measured}
        return not any(self._keep([arm], of).unclean for arm, of in warm.items() if of)

    def _warm(self, *arms: int) -> list[int]:
        """Blocks in which all of some arms were measured and warm."""
        columns = [self._columns[arm].samples for arm in arms]
        return [
            block
            for block in columns[0]
            if all(block in samples for samples in columns)
            and not any(block in self._cold[arm] for arm in arms)
        ]

    def _clean_blocks(self, arms: Sequence[int], blocks: Sequence[int]) -> list[int]:
        return [blocks[at] for at in self._keep(arms, blocks).blocks]

    def _keep(self, arms: Sequence[int], blocks: Sequence[int]) -> Kept:
        return keep_clean(
            [all(self._is_clean(arm, block) for arm in arms) for block in blocks],
        )

    def _clean(self, arm: int) -> list[bool]:
        """Of each sample of an arm, the second ones of blocks in which it was doubled too."""
        return [
            clean and block not in self._off
            for block, samples in self._columns[arm].clean_samples.items()
            for clean in samples
        ]

    def _is_clean(self, arm: int, block: int) -> bool:
        return self._columns[arm].clean[block] and block not in self._off

    def _warm_up(self, arm: int) -> Iterator[int]:
        """The blocks in which an arm was still warming up, of every process."""
        by_process: dict[int, list[int]] = {}
        for block in self._clean_blocks([arm], list(self._columns[arm].samples)):
            by_process.setdefault(self._processes[block], []).append(block)
        for process, blocks in by_process.items():
            cold = warm_up_blocks(self._times_ns(arm, blocks), self._floor)
            # Unclean blocks among them are cold, too.
            yield from (
                block for block in range(blocks[cold]) if cold and self._processes[block] == process
            )

    def _times_ns(self, arm: int, blocks: Sequence[int]) -> list[float]:
        samples = self._columns[arm].samples
        return [samples[block].ns_per_operation for block in blocks]


@dataclass(frozen=True)
class _Pair:
    """Reference over arm in the blocks that count, and which restart each is of.

    Attributes:
        unclean: Too few of the blocks were clean, so these are all of them.
    """

    ratios: Sequence[float]
    restarts: Sequence[int]
    unclean: bool


@dataclass(frozen=True)
class _Column:
    """What one arm did in all blocks, and what is known of each time; by block.

    Attributes:
        samples: Of two samples both together, or the clean one.
        clean_samples: Of each sample whether nothing else ran on the core meanwhile.
        clean: Whether that is so of what stands in `samples`.
        off_clock: The clock is known and wasn't the usual one.
    """

    samples: Mapping[int, Sample]
    clean_samples: Mapping[int, Sequence[bool]]
    clean: Mapping[int, bool]
    off_clock: Mapping[int, bool]

    @classmethod
    def of(cls, taken: Sequence[Sequence[Sample]]) -> "_Column":
        flags = {block: [_is_clean(each) for each in of] for block, of in enumerate(taken) if of}
        there = {block: _together(taken[block]) for block in flags}
        clocks = [sample.clock_ghz for sample in there.values() if sample.clock_ghz]
        # Of this arm alone: the clock of two busy cores, or of wide registers, is another one.
        usual_ghz = median(clocks) if clocks else None
        off = {block: _flags(sample, usual_ghz).off_clock for block, sample in there.items()}
        return cls(there, flags, {block: any(clean) for block, clean in flags.items()}, off)

    @property
    def payload_bytes(self) -> float:
        """Mean payload of an operation."""
        samples = self.samples.values()
        return sum(each.bytes for each in samples) / sum(each.operations for each in samples)


def _together(samples: Sequence[Sample]) -> Sample:
    """One sample out of those of an arm in a block: of the clean ones, if any is."""
    return reduce(Sample.together, [each for each in samples if _is_clean(each)] or samples)


def _is_clean(sample: Sample) -> bool:
    return _flags(sample, None).clean


def _by_two(pairs: Sequence[_Pairing]) -> Iterator[tuple[_Pairing, _Pairing]]:
    """Each two that follow each other; one that is alone with itself, so that there is a figure."""
    if len(pairs) == 1:
        yield pairs[0], pairs[0][::-1]
    yield from zip(pairs[::2], pairs[1::2], strict=False)


def _middle_ns(one: Sample, other: Sample) -> float:
    return math.sqrt(one.ns_per_operation * other.ns_per_operation)


def _off_blocks(columns: Sequence[_Column], arms: Sequence[int]) -> frozenset[int]:
    """Blocks in which every arm was off its clock, of at least two: the machine's doing."""
    blocks = {block for arm in arms for block in columns[arm].samples}

    def is_off(block: int) -> bool:
        there = [arm for arm in arms if block in columns[arm].samples]
        return len(there) > 1 and all(columns[arm].off_clock[block] for arm in there)

    return frozenset(block for block in blocks if is_off(block))


def _flags(sample: Sample, usual_ghz: float | None) -> Flags:
    clock_share = sample.clock_ghz / usual_ghz if sample.clock_ghz and usual_ghz else None
    return Flags(
        sample.ns, sample.involuntary_switches, sample.cpu_share, sample.steal_ns, clock_share
    )
