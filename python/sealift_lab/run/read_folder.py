"""Reads a run folder, and trusts nothing that stands in it.

Each file is read when it is first needed. A last line without its end and a last block without its
second sample are what a killed process leaves: they are left out with a note. Everything else that
doesn't fit is a `FolderError` that names file, line and field.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from difflib import get_close_matches
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import msgspec
import polars as pl

from sealift_lab.measure.write_folder import FolderError, list_folder
from sealift_lab.model import run as names
from sealift_lab.model.arm import INTEGER_MAX, LEAST, Computed, why_not_stored
from sealift_lab.model.experiment import Experiment, Scope
from sealift_lab.model.run import (
    SCHEMA,
    Ending,
    Plan,
    PlannedExperiment,
    Reading,
    ReportLine,
    SampleLine,
    Surroundings,
)

T = TypeVar("T")
Place = tuple[str, int]
"""An experiment, and a group of it."""


@dataclass(eq=False)
class Run:
    """A run folder; every property raises `FolderError` where its file doesn't fit."""

    path: Path
    _read: "dict[str, _Lines]" = field(default_factory=dict, repr=False)

    @cached_property
    def plan(self) -> Plan:
        """What was to be measured."""
        path, why = self.path, ""
        if not path.is_dir():
            why = "is no folder" if path.exists() else "is not there"
        elif not list_folder(path):
            why = "is empty, so no run is in it"
        elif not (path / names.PLAN).exists():
            why = (
                f"has no {names.PLAN}, so it is not the folder of a run; a run that was killed "
                "before its plan was written has nothing to show"
            )
        if why:
            raise FolderError(f"{path} {why}; {name_instead(path)}")
        return _decoded(path / names.PLAN, _decode_plan, FOREIGN)

    @cached_property
    def machine(self) -> Surroundings:
        """Where it was measured."""
        decode = msgspec.json.Decoder(Surroundings).decode
        return _decoded(self.path / names.MACHINE, decode, FOREIGN)

    @cached_property
    def samples(self) -> pl.DataFrame:
        """The samples of complete blocks, in the columns of `SampleLine`, in the file's order."""
        columns = {name: [getattr(line, name) for line in self._whole[1]] for name in COLUMNS}
        return pl.DataFrame(columns, schema=COLUMNS)

    @property
    def blocks(self) -> Mapping[Place, "Blocks"]:
        """How many complete blocks there are, by experiment and group."""
        return self._whole[0]

    @cached_property
    def reports(self) -> Sequence[ReportLine]:
        """What became of arms, in each process that prepared them."""
        lines = self._lines(names.REPORTS)
        arms = _arms(self.plan)
        for number, line in enumerate(lines.records, 1):
            if not 0 <= line.arm < arms.get((line.experiment, line.group), 0) or line.restart < 0:
                place = f"{line.experiment!r}, group {line.group}, arm {line.arm}"
                raise lines.error(number, f"{place}, restart {line.restart} is not in the plan")
            for name, value in line.facts.items():
                if why := why_not_stored(value):
                    raise lines.error(number, f"facts: {name!r} {why}")
        return lines.records

    @cached_property
    def readings(self) -> Sequence[Reading]:
        """Of the sensors, about one a second."""
        return self._lines(names.SENSORS).records

    @cached_property
    def notes(self) -> Sequence[str]:
        """What went wrong meanwhile, and what is left out here, in sentences."""
        noted = [line.note for line in self._lines(names.NOTES).records]
        if len(self._whole[1]) < len(self._lines(names.SAMPLES).records):
            noted.append(f"the last block of {names.SAMPLES} is not complete and was left out")
        files = (names.SAMPLES, names.REPORTS, names.SENSORS, names.NOTES)
        torn = [name for name in files if self._lines(name).is_torn]
        return [*noted, *(f"the last line of {n} has no end and was left out" for n in torn)]

    @cached_property
    def ending(self) -> Ending | None:
        """How it ended; None when it was killed, or still goes on."""
        path, hint = self.path / names.ENDING, f"delete it and resume the run: {self.path}"
        if not path.exists():
            return None
        read = _decoded(path, msgspec.json.Decoder(Ending).decode, hint)
        ending = replace(read, ending=FIRST_ENDINGS.get(read.ending, read.ending))
        if ending.ending not in ENDINGS:
            right = f"right would be one of {', '.join(ENDINGS)}"
            raise FolderError(f"{path}: ending is {ending.ending!r}; {right}; {hint}")
        return ending

    def stored(self, name: str, kind: type[T]) -> T | None:
        """A file that another room wrote, as a value of its type; None where it is not there."""
        path = self.path / name
        decode = msgspec.json.Decoder(kind).decode
        return _decoded(path, decode, FOREIGN) if path.exists() else None

    @cached_property
    def _whole(self) -> tuple[Mapping[Place, "Blocks"], Sequence[Any]]:
        return _check_blocks(self._lines(names.SAMPLES), self.plan)

    def _lines(self, name: str) -> "_Lines":
        if name not in self._read:
            self._read[name] = _read_lines(self.path / name)
        return self._read[name]


@dataclass
class Blocks:
    """Complete blocks of a group, of how many processes, the last of these, and the reference."""

    blocks: int = 0
    processes: int = 0
    last: int = -1
    reference: int | None = None


def newest() -> Path | None:
    """The folder under runs/ whose plan is the newest; None where there is none."""
    return max(
        _runs(EXAMPLE.parent), key=lambda each: (each / names.PLAN).stat().st_mtime, default=None
    )


def name_instead(path: Path) -> str:
    """What to name instead of a path that is no run folder, as the end of a sentence.

    The run that a file belongs to, one inside a folder, one of a like name, or the newest.
    """
    own = [path.parent] if not path.is_dir() and (path.parent / names.PLAN).is_file() else []
    beside = {each.name: each for each in _runs(path.parent)}
    alike = [beside[name] for name in get_close_matches(path.name, beside, 1)]
    for near in (own, _runs(path), alike, _runs(EXAMPLE.parent)):
        if near:
            return f"name the folder of a run, the nearest is {max(near)}"
    return f"name the folder of a run, as in {EXAMPLE}"


def _runs(folder: Path) -> list[Path]:
    with suppress(OSError):
        every = islice(folder.iterdir(), LISTED_MAX)
        return [each for each in every if (each / names.PLAN).is_file()]
    return []


@dataclass(frozen=True)
class _Lines:
    """The whole lines of a file, decoded; torn where half a line stands behind them."""

    path: Path
    records: Sequence[Any]
    is_torn: bool = False

    def error(self, number: int, why: str) -> FolderError:
        """What to raise for a line, counted from 1."""
        return FolderError(f"{self.path}, line {number}: {why}; {CUT}")


def _read_lines(path: Path) -> _Lines:
    *whole, rest = (_text(path, CUT) if path.exists() else b"").split(b"\n")
    decode, records = DECODERS[path.name].decode, list[Any]()
    try:
        records.extend(map(decode, whole))
    except (ValueError, RecursionError) as error:
        raise _Lines(path, ()).error(len(records) + 1, _why(error)) from error
    return _Lines(path, records, bool(rest))


def _decoded(path: Path, decode: Callable[[bytes], T], hint: str) -> T:
    try:
        return decode(_text(path, hint))
    except FolderError:
        raise
    except (ValueError, RecursionError) as error:
        raise FolderError(f"{path}: {_why(error)}; {hint}") from error


def _text(path: Path, hint: str) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise FolderError(f"{path} is no file; {hint}")
        return path.read_bytes()
    except OSError as error:
        raise FolderError(f"{path} can't be read: {error.strerror}; {hint}") from error


def _why(error: Exception) -> str:
    """What msgspec says, with the field in front: ``ns: Expected `int`, got `str` ``."""
    text, _, place = str(error).partition(" - at `$")
    field = place.rstrip("`").lstrip(".")
    return f"{field}: {text}" if field else text


def _arms(plan: Plan) -> Mapping[Place, int]:
    groups = ((each.name, *of) for each in plan.experiments for of in enumerate(each.groups))
    return {(name, group): len(cells) for name, group, cells in groups}


def _check_blocks(lines: _Lines, plan: Plan) -> tuple[Mapping[Place, Blocks], Sequence[Any]]:
    """Complete blocks, and their lines; raises for one that doesn't fit plan, block or group."""
    arms, whole = _arms(plan), 0
    groups: dict[Place, Blocks] = defaultdict(Blocks)
    # Of this block: the group and the process, and the arms up to now.
    head: tuple[object, int] | None = None
    taken: set[int] = set()
    for number, line in enumerate(lines.records, 1):
        place, arm, why = (line.experiment, line.group), line.arm, ""
        group = groups[place]
        if place not in arms:
            why = f"{line.experiment!r}, group {line.group} is not in the plan"
        elif arm >= arms[place]:
            why = f"arm is {arm}; right would be a number under {arms[place]}"
        elif taken and head != (place, line.restart):
            why = "the block before it has no second sample of one of its arms"
        elif line.block != group.blocks:
            why = f"block {line.block} where block {group.blocks} of its group comes next"
        elif line.restart < group.last:
            why = f"restart {line.restart} after the later one {group.last}"
        elif not line.again and arm in taken:
            why = f"arm {arm} stands twice in its block"
        elif line.again and arm not in taken:
            why = f"arm {arm} is sampled again, and its first sample is missing"
        elif line.again and group.blocks and group.reference not in taken:
            why = f"its block lacks arm {group.reference}, which others are compared with"
        if why:
            raise lines.error(number, why)
        head = place, line.restart
        taken.add(arm)
        if line.again:
            group.reference = group.reference if group.blocks else min(taken)
            group.blocks += 1
            group.processes += line.restart > group.last
            group.last, taken, whole = line.restart, set(), number
    complete = {place: group for place, group in groups.items() if group.blocks}
    return complete, lines.records[:whole]


def _sample_type() -> type[msgspec.Struct]:
    """`SampleLine` with its bounds, which msgspec checks while it decodes."""
    of: dict[str, Any] = get_type_hints(SampleLine)
    for name in ("group", "arm", "restart", "block"):
        of[name] = Annotated[int, msgspec.Meta(ge=0, le=2**31)]
    for name, least in LEAST.items():
        of[name] = Annotated[int, msgspec.Meta(ge=least, le=INTEGER_MAX)]
    of["cpu_share"] = Annotated[float, msgspec.Meta(ge=0, le=1)]
    of["clock_ghz"] = Annotated[float, msgspec.Meta(gt=0, lt=1e3)] | None
    fields: list[Any] = [(n, t, None) if n == "clock_ghz" else (n, t) for n, t in of.items()]
    return msgspec.defstruct("SampleLine", fields, gc=False)


def _decode_plan(text: bytes) -> Plan:
    plain = msgspec.json.decode(text)
    schema = plain.get("schema") if isinstance(plain, dict) else None
    if schema == FIRST_SCHEMA:
        plain = _from_first(plain)
    elif schema != SCHEMA:
        family, _, number = str(schema).partition("/")
        if family == SCHEMA.partition("/")[0] and number.isdigit():
            raise ValueError(
                f"written as {schema}, and this Sealift reads {FIRST_SCHEMA} and {SCHEMA}; take "
                "the Sealift that wrote it, or a newer one"
            )
        raise ValueError(f"no plan of Sealift: its schema is {schema!r}, not {SCHEMA!r}")
    plan = msgspec.convert(plain, Plan)
    try:
        datetime.fromisoformat(plan.created)
    except ValueError as error:
        raise ValueError(f"created is {plan.created!r}; right would be a time in UTC") from error
    _check_least("budget_s", plan.budget_s, 0)
    _check_least("processes", plan.processes, 1)
    _check_least("threads", min(plan.threads, default=1), 1)
    called = [each.name for each in plan.experiments]
    if twice := {name for name in called if called.count(name) > 1}:
        raise ValueError(f"the experiment {min(twice)!r} stands twice")
    for place, each in enumerate(plan.experiments):
        try:
            _check(each)
        except ValueError as error:
            raise ValueError(f"experiments[{place}]: {error}") from error
    return plan


def _check(planned: PlannedExperiment) -> None:
    """Refuses what no experiment is: its own checks do that, over the cells of the plan."""
    _check_least("blocks", planned.blocks, 1)
    _check_least("estimated_s", planned.estimated_s or 0, 0)
    groups = (*planned.groups, *planned.left_out)
    if not all(groups):
        raise ValueError("a group is empty; right would be one cell or more")
    wheres = [planned.preferred, *(chart.where for chart in planned.charts)]
    for name, value in (item for where in wheres for item in where.items()):
        if why := why_not_stored(value):
            raise ValueError(f"{name} is {value!r}, which {why}")
    same = {each.name for each in fields(Experiment)} & vars(planned).keys() - {"file"}
    experiment = Experiment(
        **{name: getattr(planned, name) for name in same},
        arm=lambda *_: Computed({}),
        cells=lambda _: chain(*groups),
    )
    experiment.groups(Scope(quick=False, cores=1, devices=()))


def _check_least(name: str, value: float, least: int) -> None:
    if not least <= value < math.inf:
        raise ValueError(f"{name} is {value}; right would be {least} or more")


def _from_first(plain: dict[str, Any]) -> dict[str, Any]:
    """A plan of Sealift 0.1.0: other names, and blocks of all processes together."""
    _rename(plain, restarts="processes")
    processes = plain.get("processes")
    for each in _dicts(plain, "experiments"):
        _rename(each, why="question", plots="charts", takes_s="estimated_s")
        blocks = each.get("blocks")
        if type(blocks) is int and type(processes) is int and processes > 0:
            each["blocks"] = -(-blocks // processes)
        for chart in _dicts(each, "charts"):
            _rename(chart, z="series", facet="panels")
            if isinstance(y := chart.get("y"), str):
                chart["y"] = FIRST_FIGURES.get(y, y)
    return plain


def _rename(plain: dict[str, Any], **names: str) -> None:
    for old, new in names.items():
        if old in plain:
            plain[new] = plain.pop(old)


def _dicts(plain: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """The objects of a list; what is something else stays for the types to refuse."""
    each = plain.get(name)
    return (one for one in each if isinstance(one, dict)) if isinstance(each, list) else iter(())


KINDS: Mapping[Any, type[pl.DataType]] = {str: pl.String, int: pl.Int64, bool: pl.Boolean}
COLUMNS = {name: KINDS.get(kind, pl.Float64) for name, kind in get_type_hints(SampleLine).items()}
EXAMPLE = Path("runs/2026-11-21T142100Z")
LISTED_MAX = 10_000
DECODERS: Mapping[str, msgspec.json.Decoder[Any]] = {
    names.SAMPLES: msgspec.json.Decoder(_sample_type()),
    names.REPORTS: msgspec.json.Decoder(ReportLine),
    names.SENSORS: msgspec.json.Decoder(Reading),
    names.NOTES: msgspec.json.Decoder(msgspec.defstruct("Note", [("note", str)])),
}
ENDINGS = ("complete", "time was up", "interrupted", "failed", "not written")
FIRST_ENDINGS = {"a part failed": "failed", "a file could not be written": "not written"}
CUT = "cut the file before this line to keep what stands above it, and resume the run"
FOREIGN = "take a folder that Sealift wrote and nobody changed"
FIRST_SCHEMA = "sealift-run/1"
FIRST_FIGURES = {
    "payload_MB_per_s": "MB/s",
    "operations_per_s": "operations/s",
    "ns_per_operation": "time",
}
