"""Reads a run folder, and trusts nothing that stands in it."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sealift.lab.devices import Found as Device
from sealift.lab.machine import Fact
from sealift.lab.machine import Value as FactValue
from sealift.lab.measure import Block
from sealift.lab.result import Verified
from sealift.lab.spec import Sample
from sealift.lab.store import names
from sealift.lab.store.errors import StoreError
from sealift.lab.store.lines import Line, Lines, read_lines
from sealift.lab.store.nearest import instead
from sealift.lab.store.plan import Plan, PlannedExperiment, plan_of
from sealift.lab.store.published import read_published
from sealift.lab.store.run import Check, Ending, How, Reading, Run, Surroundings
from sealift.lab.store.shape import Record, read_object
from sealift.lab.values import Value


def read(path: Path, *, of: str | None = None) -> Run:
    """Reads a run folder, of a run that has ended, was killed or still goes on.

    Args:
        path: Of the folder.
        of: The experiment that is wanted: of the others only the plan is read. None for all.

    Raises:
        StoreError: If it is none, or is damaged beyond what a killed process leaves; names file
            and line, and what to try.
    """
    plan = read_plan(path)
    samples = read_samples(path, plan, of=of)
    verify = read_lines(path / names.VERIFY, of=of)
    sensors = read_lines(path / names.SENSORS)
    notes = read_lines(path / names.NOTES)
    checks = read_lines(path / names.CONFORMANCE)
    told = [_told(line.record, plan) for line in verify]
    torn = [file for file in (verify, sensors, notes, checks) if file.torn]
    return Run(
        path=path,
        plan=plan,
        machine=_surroundings(read_object(path / names.MACHINE, FOREIGN)),
        verified=tuple(_verified(plan, told, samples.blocks)),
        sensors=tuple(_reading(line.record) for line in sensors),
        ending=_ending(path),
        notes=(
            *(line.record.text("note") for line in notes),
            *samples.dropped,
            *(f"the last line of {file.path.name} has no end and was left out" for file in torn),
        ),
        measured={group: tuple(blocks) for group, blocks in samples.blocks.items()},
        references=samples.references,
        over=frozenset(_over(plan, told, samples)),
        wrong=frozenset(each.place for each in told if each.wrong),
        restarts=_restarts(told, samples),
        published=read_published(path, plan),
        checks=tuple(_check(line.record) for line in checks),
    )


def read_plan(path: Path) -> Plan:
    """The plan of a run folder.

    Raises:
        StoreError: If there is no folder, no plan in it, or none that this Sealift reads.
    """
    if not path.is_dir():
        kind = "is no folder" if path.exists() else "is not there"
        raise StoreError(f"{path} {kind}; {instead(path)}")
    if not listed(path):
        raise StoreError(f"{path} is empty, so no run is in it; {instead(path)}")
    if not (path / names.PLAN).exists():
        raise StoreError(
            f"{path} has no {names.PLAN}, so it is not the folder of a run; a run that was killed "
            f"before its plan was written has nothing to show; {instead(path)}"
        )
    return plan_of(read_object(path / names.PLAN, FOREIGN))


def listed(path: Path) -> list[str]:
    """The names of what is in a folder, sorted.

    Raises:
        StoreError: If it doesn't tell.
    """
    try:
        return sorted(each.name for each in path.iterdir())
    except OSError as error:
        raise StoreError(
            f"{path} can't be listed: {error.strerror}; name another folder"
        ) from error


@dataclass(frozen=True)
class Samples:
    """What samples.jsonl holds.

    Attributes:
        blocks: By experiment and group the complete blocks with their restarts.
        references: By experiment and group the place of the arm that others are compared with.
        end: Offset of the first byte behind the last complete block.
        dropped: What was left out, in sentences.
    """

    blocks: Mapping[tuple[str, int], list[tuple[int, Block]]]
    references: Mapping[tuple[str, int], int]
    end: int
    dropped: tuple[str, ...]


def read_samples(path: Path, plan: Plan, *, of: str | None = None) -> Samples:
    """The complete blocks of a run, or of one experiment.

    Raises:
        StoreError: If a line is none of this plan's, or a block is not whole and not the last.
    """
    lines = read_lines(path / names.SAMPLES, of=of)
    reader = _Blocks(plan)
    for line in lines:
        reader.take(line)
    return Samples(reader.blocks, reader.references, reader.end, tuple(_dropped(lines, reader)))


def _dropped(lines: Lines, reader: "_Blocks") -> Iterator[str]:
    if reader.unfinished:
        yield f"the last block of {lines.path.name} is not complete and was left out"
    elif lines.torn:
        yield f"the last line of {lines.path.name} has no end and was left out"


@dataclass(frozen=True)
class _Line:
    """A line of samples.jsonl."""

    group: tuple[str, int]
    arms: int
    arm: int
    again: bool
    restart: int
    block: int
    sample: Sample


class _Blocks:
    """Puts lines together to blocks."""

    def __init__(self, plan: Plan) -> None:
        self.blocks: dict[tuple[str, int], list[tuple[int, Block]]] = defaultdict(list)
        self.references: dict[tuple[str, int], int] = {}
        self.unfinished: list[_Line] = []
        self.end = 0
        self._planned = {each.name: each for each in plan.experiments}

    def take(self, line: Line) -> None:
        """The next line."""
        new = _sample_line(line.record, self._planned)
        self._check(new, line.record)
        self.unfinished.append(new)
        if new.again:
            self._check_reference(line.record)
            self.blocks[new.group].append((new.restart, _block(self.unfinished)))
            self.unfinished.clear()
            self.end = line.end

    def _check(self, new: _Line, record: Record) -> None:
        blocks = self.blocks.get(new.group, [])
        done = len(blocks)
        if new.block != done:
            raise record.wrong(f"block {new.block} where block {done} of its group comes next")
        if blocks and blocks[-1][0] > new.restart:
            raise record.wrong(f"restart {new.restart} after a later one")
        for before in self.unfinished[:1]:
            if (before.group, before.restart) != (new.group, new.restart):
                raise record.wrong("the block before it has no doubled sample")
        there = [before.arm for before in self.unfinished]
        if new.again and new.arm not in there:
            raise record.wrong(f"arm {new.arm} is doubled, and its first sample is missing")
        if not new.again and new.arm in there:
            raise record.wrong(f"arm {new.arm} stands twice in its block")

    def _check_reference(self, record: Record) -> None:
        there = {each.arm for each in self.unfinished}
        reference = self.references.setdefault(self.unfinished[0].group, min(there))
        if reference not in there:
            raise record.wrong(f"its block lacks arm {reference}, which others are compared with")


def _block(lines: Sequence[_Line]) -> Block:
    *singles, again = lines
    samples = {line.arm: line.sample for line in singles}
    places = range(again.arms)
    return Block(tuple(samples.get(arm) for arm in places), again.arm, again.sample)


def _sample_line(record: Record, planned: Mapping[str, PlannedExperiment]) -> _Line:
    name, group, arm, arms = _place(record, planned)
    return _Line(
        group=(name, group),
        arms=arms,
        arm=arm,
        again=record.flag("again"),
        restart=record.count("restart"),
        block=record.count("block", below=planned[name].blocks),
        sample=_sample(record),
    )


def _place(record: Record, planned: Mapping[str, PlannedExperiment]) -> tuple[str, int, int, int]:
    name = record.text("experiment")
    if name not in planned:
        raise record.wrong(f"the experiment {name!r} is not in the plan")
    groups = planned[name].groups
    group = record.count("group", below=len(groups))
    arms = len(groups[group])
    return name, group, record.count("arm", below=arms), arms


def _sample(record: Record) -> Sample:
    clock_ghz = record.plain.get("clock_ghz")
    with record.accepting():
        return Sample(
            ns=record.count("ns", least=1),
            operations=record.count("operations", least=1),
            bytes=record.count("bytes"),
            involuntary_switches=record.count("involuntary_switches"),
            cpu_share=record.share("cpu_share"),
            steal_ns=record.count("steal_ns"),
            clock_ghz=None if clock_ghz is None else record.above_0("clock_ghz"),
        )


@dataclass(frozen=True)
class _Told:
    """A line of verify.jsonl."""

    place: tuple[str, int, int]
    restart: int
    facts: Mapping[str, Value]
    skipped: str
    may_pass: bool
    wrong: str


def _told(record: Record, plan: Plan) -> _Told:
    name, group, arm, _ = _place(record, {each.name: each for each in plan.experiments})
    return _Told(
        place=(name, group, arm),
        restart=record.count("restart"),
        facts=record.record("facts").values(),
        skipped=record.text("skipped"),
        may_pass="may_pass" in record.plain and record.flag("may_pass"),
        wrong=record.text("wrong"),
    )


def _verified(
    plan: Plan,
    told: Sequence[_Told],
    blocks: Mapping[tuple[str, int], list[tuple[int, Block]]],
) -> Iterator[Verified]:
    by_place = defaultdict(list)
    for each in told:
        by_place[each.place].append(each)
    begun = {name for name, *_ in (*by_place, *blocks)}
    for experiment in plan.experiments:
        left_out = bool(begun) and experiment.name not in begun
        for group, cells in enumerate(experiment.groups):
            taken = blocks.get((experiment.name, group), ())
            for arm, cell in enumerate(cells):
                lines = by_place[experiment.name, group, arm]
                measured = any(block.samples[arm] is not None for _, block in taken)
                yield Verified(
                    experiment=experiment.name,
                    cell=cell,
                    facts=_added_up(lines),
                    skipped="" if measured else _why_not(lines),
                    wrong=next((line.wrong for line in lines if line.wrong), ""),
                    left_out=left_out,
                )
        yield from _left_out(experiment)


def _left_out(experiment: PlannedExperiment) -> Iterator[Verified]:
    why = f"not run: budget; --budget {experiment.budget_for_all_s} would have room for it"
    for cells in experiment.left_out:
        for cell in cells:
            yield Verified(experiment.name, cell, {}, skipped=why, left_out=True)


def _added_up(lines: Sequence[_Told]) -> dict[str, Value]:
    facts: dict[str, Value] = {}
    for line in lines:
        for name, value in line.facts.items():
            before = facts.get(name)
            both_count = isinstance(value, int) and isinstance(before, int)
            facts[name] = before + value if both_count else value  # type: ignore[operator]
    return facts


def _why_not(lines: Sequence[_Told]) -> str:
    if not lines:
        return NOT_REACHED
    return next((line.skipped for line in reversed(lines) if line.skipped), "")


def _over(plan: Plan, told: Sequence[_Told], samples: Samples) -> Iterator[tuple[str, int]]:
    wrong = {each.place for each in told if each.wrong}
    last = {each.place: each for each in told}
    out = wrong | {place for place, each in last.items() if each.skipped and not each.may_pass}
    computed = {each.name for each in plan.experiments if not each.is_timed}
    out |= {place for place, each in last.items() if place[0] in computed and each.facts}
    for experiment in plan.experiments:
        for group, cells in enumerate(experiment.groups):
            place = (experiment.name, group)
            if place in samples.references:
                over = (*place, samples.references[place]) in wrong
            else:
                over = all((*place, arm) in out for arm in range(len(cells)))
            if over:
                yield place


def _restarts(told: Sequence[_Told], samples: Samples) -> dict[str, int]:
    restarts: dict[str, int] = defaultdict(int)
    for each in told:
        name = each.place[0]
        restarts[name] = max(restarts[name], each.restart + 1)
    for (name, _), blocks in samples.blocks.items():
        restarts[name] = max([restarts[name], *(restart + 1 for restart, _ in blocks)])
    return dict(restarts)


def _surroundings(record: Record) -> Surroundings:
    return Surroundings(
        facts=_facts(record.record("facts")),
        devices=tuple(_device(each) for each in record.records("devices")),
        sensors=_facts(record.record("sensors")),
    )


def _facts(record: Record) -> dict[str, Fact]:
    return {name: _fact(record.record(name)) for name in record.plain}


def _fact(record: Record) -> Fact:
    value: FactValue | None
    if isinstance(record.plain.get("value"), list):
        value = tuple(record.texts("value"))
    elif record.plain.get("value") is None:
        value = None
    else:
        value = Record({"value": record.plain["value"]}, record.where, record.hint).values()[
            "value"
        ]
    with record.accepting():
        return Fact(value, record.text_or_none("reason"))


def _device(record: Record) -> Device:
    workers = record.plain.get("workers")
    return Device(
        spec=record.text("spec"),
        driver=record.text("driver"),
        state=record.text("state"),
        role=record.text_or_none("role"),
        detail=record.text_or_none("detail"),
        workers=None if workers is None else record.count("workers"),
        reason=record.text_or_none("reason"),
        summary=record.text("summary"),
    )


def _reading(record: Record) -> Reading:
    values = record.record("values")
    return Reading(record.number("at_s"), {name: values.finite(name) for name in values.plain})


def _check(record: Record) -> Check:
    name, device = record.text("check"), record.text("device")
    return Check(device, name, record.flag("passed"), record.text("said"))


def _ending(path: Path) -> Ending | None:
    if not (path / names.ENDING).exists():
        return None
    record = read_object(path / names.ENDING, f"delete it and resume the run: {path}")
    how = record.text("ending")
    if how not in list(How):
        raise record.wrong(f"ending is {how!r}; right would be one of {', '.join(How)}")
    return Ending(How(how), record.text("reason"))


NOT_REACHED = "the run ended before this was measured"
FOREIGN = "take a folder that Sealift wrote and nobody changed"
