"""Reads a run folder, and trusts nothing that stands in it.

Each file is read when it is first needed. A last line without its end and a last block without its
second sample are what a killed process leaves: they are left out with a note. Everything else that
doesn't fit is a `FolderError` that names file, line and field.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import msgspec
import polars as pl

from sealift_lab.model import run as names
from sealift_lab.model.run import Ending, Plan, Reading, ReportLine, SampleLine, Surroundings
from sealift_lab.model.sample import LEAST
from sealift_lab.model.values import INTEGER_MAX, why_not_stored
from sealift_lab.run.errors import FolderError, name_instead
from sealift_lab.run.plan_file import decode_plan

T = TypeVar("T")


class Run:
    """A run folder: of a run that has ended, was killed or still goes on."""

    def __init__(self, path: Path) -> None:
        """Reads nothing yet; every property raises `FolderError` where its file doesn't fit.

        Args:
            path: Of the folder.
        """
        self.path = path

    @cached_property
    def plan(self) -> Plan:
        """What was to be measured."""
        path = self.path
        if not path.is_dir():
            kind = "is no folder" if path.exists() else "is not there"
            raise FolderError(f"{path} {kind}; {name_instead(path)}")
        if not list_folder(path):
            raise FolderError(f"{path} is empty, so no run is in it; {name_instead(path)}")
        if not (path / names.PLAN).exists():
            raise FolderError(
                f"{path} has no {names.PLAN}, so it is not the folder of a run; a run that was "
                f"killed before its plan was written has nothing to show; {name_instead(path)}"
            )
        return _decoded(path / names.PLAN, decode_plan, FOREIGN)

    @cached_property
    def machine(self) -> Surroundings:
        """Where it was measured."""
        decode = msgspec.json.Decoder(Surroundings).decode
        return _decoded(self.path / names.MACHINE, decode, FOREIGN)

    @cached_property
    def samples(self) -> pl.DataFrame:
        """The samples of complete blocks, in the columns of `SampleLine`, in the file's order."""
        return self._blocks.samples

    @cached_property
    def reports(self) -> Sequence[ReportLine]:
        """What became of arms, in each process that prepared them."""
        lines = self._lines(names.REPORTS)
        groups = {each.name: each.groups for each in self.plan.experiments}
        for number, line in enumerate(lines.records, 1):
            planned = groups.get(line.experiment, ())
            arms = len(planned[line.group]) if 0 <= line.group < len(planned) else 0
            if not 0 <= line.arm < arms or line.restart < 0:
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
        torn = [each.path.name for each in map(self._lines, OTHERS) if each.is_torn]
        noted = [line.note for line in self._lines(names.NOTES).records]
        return [*noted, *self._blocks.notes, *map(NO_END.format, torn)]

    @cached_property
    def checks(self) -> Sequence["Check"]:
        """Of the suite for devices, where `sealift-gpu` worked it."""
        return self._lines(CONFORMANCE).records

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

    @property
    def is_of_program(self) -> bool:
        """Whether `sealift-gpu` measured it, where there may have been no lab."""
        return list(self.plan.command[:1]) == [PROGRAM]

    def ends(self) -> Mapping[str, int]:
        """By growing file how many bytes of it are whole: what a resume keeps."""
        return {names.SAMPLES: self._blocks.end} | {n: self._lines(n).end for n in OTHERS}

    @cached_property
    def _blocks(self) -> "_Blocks":
        plan, lines = self.plan, self._lines(names.SAMPLES)
        columns = {n: [getattr(line, n) for line in lines.records] for n in COLUMNS}
        samples = pl.DataFrame(columns, schema=COLUMNS)
        _check_samples(samples, plan, lines)
        ends = samples["again"].arg_true()
        height = int(ends[-1]) + 1 if len(ends) else 0
        if height < samples.height:
            notes = [f"the last block of {names.SAMPLES} is not complete and was left out"]
            end = sum(len(line) + 1 for line in lines.text.split(b"\n", height)[:height])
            return _Blocks(samples.head(height), end, notes)
        return _Blocks(samples, lines.end, [NO_END.format(names.SAMPLES)] * lines.is_torn)

    @cached_property
    def _read(self) -> dict[str, "_Lines"]:
        return {}

    def _lines(self, name: str) -> "_Lines":
        if name not in self._read:
            self._read[name] = _read_lines(self.path / name)
        return self._read[name]


@dataclass(frozen=True)
class Check:
    """A check of the suite for devices: which device, which check, and what was found."""

    device: str
    check: str
    passed: bool
    said: str


def list_folder(path: Path) -> list[str]:
    """The names of what is in a folder, sorted.

    Raises:
        FolderError: If the folder can't be listed.
    """
    try:
        return sorted(each.name for each in path.iterdir())
    except OSError as error:
        raise FolderError(f"{path} can't be listed: {error.strerror}; name another") from error


@dataclass(frozen=True)
class _Note:
    note: str


@dataclass(frozen=True)
class _Blocks:
    samples: pl.DataFrame
    end: int
    notes: Sequence[str]


@dataclass(frozen=True)
class _Lines:
    """The whole lines of a file, decoded."""

    path: Path
    text: bytes
    records: Sequence[Any]

    @property
    def end(self) -> int:
        return self.text.rfind(b"\n") + 1

    @property
    def is_torn(self) -> bool:
        return self.end < len(self.text)

    def error(self, number: int, why: str) -> FolderError:
        """What to raise for a line, counted from 1."""
        return FolderError(f"{self.path}, line {number}: {why}; {CUT}")


def _read_lines(path: Path) -> _Lines:
    text = _text(path, CUT) if path.exists() else b""
    *whole, _ = text.split(b"\n")
    decoder = DECODERS[path.name]
    try:
        return _Lines(path, text, [decoder.decode(line) for line in whole])
    except (ValueError, RecursionError):
        lines = _Lines(path, text, [])
    for number, line in enumerate(whole, 1):
        try:
            decoder.decode(line)
        except (ValueError, RecursionError) as error:
            raise lines.error(number, _why(error)) from error
    raise AssertionError("a line that failed before")


def _decoded(path: Path, decode: Callable[[bytes], T], hint: str) -> T:
    text = _text(path, hint)
    try:
        return decode(text)
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


def _check_samples(samples: pl.DataFrame, plan: Plan, lines: _Lines) -> None:
    """Raises for a line that doesn't fit the plan, its block or its group's earlier blocks."""
    planned = [
        (each.name, group, len(cells))
        for each in plan.experiments
        for group, cells in enumerate(each.groups)
    ]
    schema = {"experiment": pl.String, "group": pl.Int64, "arms": pl.Int64}
    arms = pl.DataFrame(planned, schema=schema, orient="row")
    rows = (
        samples.with_row_index("row", 1)
        .with_columns(begin=pl.col("again").shift(1, fill_value=True).cum_sum())
        .join(arms, on=GROUP, how="left", maintain_order="left")
    )
    blocks = rows.group_by("begin", maintain_order=True).agg(
        *(pl.first(name).alias(f"{name}_first") for name in (*GROUP, "restart")),
        least=pl.min("arm"),
        places=pl.col("arm").filter(~pl.col("again")),
    )
    group = [f"{name}_first" for name in GROUP]
    blocks = blocks.with_columns(
        due=pl.int_range(pl.len()).over(group),
        before=pl.col("restart_first").shift(1, fill_value=0).over(group),
        reference=pl.first("least").over(group),
    )
    rows = rows.join(blocks, on="begin", how="left", maintain_order="left")
    for is_wrong, why in SAMPLE_CHECKS:
        if (wrong := rows.filter(is_wrong).head(1)).height:
            (row,) = wrong.rows(named=True)
            raise lines.error(row["row"], why.format(**row))


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


GROUP = ["experiment", "group"]
KINDS: Mapping[Any, type[pl.DataType]] = {str: pl.String, int: pl.Int64, bool: pl.Boolean}
COLUMNS = {name: KINDS.get(kind, pl.Float64) for name, kind in get_type_hints(SampleLine).items()}
HAS_ARM, HAS_REFERENCE = (pl.col("places").list.contains(pl.col(n)) for n in ("arm", "reference"))
SAMPLE_CHECKS = (
    (pl.col("arms").is_null(), "'{experiment}', group {group} is not in the plan"),
    (pl.col("arm") >= pl.col("arms"), "arm is {arm}; right would be a number under {arms}"),
    (
        pl.any_horizontal(pl.col(n) != pl.col(f"{n}_first") for n in (*GROUP, "restart")),
        "the block before it has no second sample of one of its arms",
    ),
    (pl.col("block") != pl.col("due"), "block {block} where block {due} of its group comes next"),
    (pl.col("restart") < pl.col("before"), "restart {restart} after the later one {before}"),
    (
        ~pl.col("again") & (pl.col("arm").cum_count().over("begin", "arm", "again") > 1),
        "arm {arm} stands twice in its block",
    ),
    (pl.col("again") & ~HAS_ARM, "arm {arm} is sampled again, and its first sample is missing"),
    (
        pl.col("again") & ~HAS_REFERENCE,
        "its block lacks arm {reference}, which others are compared with",
    ),
)
CONFORMANCE, PROGRAM = "conformance.jsonl", "sealift-gpu"
OTHERS = (names.REPORTS, names.SENSORS, names.NOTES)
DECODERS: Mapping[str, msgspec.json.Decoder[Any]] = {
    names.SAMPLES: msgspec.json.Decoder(_sample_type()),
    names.REPORTS: msgspec.json.Decoder(ReportLine),
    names.SENSORS: msgspec.json.Decoder(Reading),
    names.NOTES: msgspec.json.Decoder(_Note),
    CONFORMANCE: msgspec.json.Decoder(Check),
}
ENDINGS = ("complete", "time was up", "interrupted", "failed", "not written")
FIRST_ENDINGS = {"a part failed": "failed", "a file could not be written": "not written"}
NO_END = "the last line of {} has no end and was left out"
CUT = "cut the file before this line to keep what stands above it, and resume the run"
FOREIGN = "take a folder that Sealift wrote and nobody changed"
