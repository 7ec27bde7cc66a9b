"""What a run found, in a line for each experiment."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sealift.lab import registry
from sealift.lab.finding import Finding, Kind, findings
from sealift.lab.published import Comparison, Match
from sealift.lab.result import Found, Row
from sealift.lab.store import PlannedExperiment, Run
from sealift.lab.table import value_text
from sealift.lab.units import format_measure


@dataclass(frozen=True)
class Digest:
    """One experiment of a run.

    Attributes:
        name: Of the experiment.
        id: The document's name for it, or "".
        said: What it found, in words.
    """

    name: str
    id: str
    said: str

    def __str__(self) -> str:
        """One line."""
        return f"{self.name} ({self.id}): {self.said}" if self.id else f"{self.name}: {self.said}"


def digest(run: Run, found: Mapping[str, Found]) -> list[Digest]:
    """What each experiment of a run found.

    Args:
        run: Its plan names the experiments.
        found: From `summarise(run)`.
    """
    return [
        Digest(each.name, each.id, "; ".join(_parts(each, found[each.name])))
        for each in run.plan.experiments
    ]


def comparisons(planned: PlannedExperiment, found: Found) -> Sequence[Comparison]:
    """What was published beside what was found; nothing where the experiment is gone.

    Args:
        planned: Of the run.
        found: What it found.
    """
    file = None if planned.file is None else Path(planned.file)
    try:
        return registry.find(planned.name, file).published(found)
    except Exception:
        # The page tells why; here a line is at stake.
        if planned.file is None:
            raise
        return ()


def _parts(planned: PlannedExperiment, found: Found) -> Iterator[str]:
    for each in found.verified:
        if each.wrong:
            yield f"WRONG RESULT of {each.cell[planned.compare]}: {each.wrong}"
            break
    if not found.rows:
        yield f"not measured: {_why_not(found)}"
        return
    yield from _found(planned, [row for row in found.rows if not row.wrong])
    skipped = dict.fromkeys(
        f"{each.cell[planned.compare]}" for each in found.verified if each.skipped
    )
    if skipped:
        yield f"without {', '.join(skipped)}"
    counts = Counter(comparison.match for comparison in comparisons(planned, found))
    if counts:
        told = ", ".join(f"{counts[match]} {match}" for match in Match if counts[match])
        yield f"published figures: {told}"


def _why_not(found: Found) -> str:
    reasons = dict.fromkeys(
        each.skipped or each.wrong for each in found.verified if each.skipped or each.wrong
    )
    return "; ".join(reasons) or "no block of it was completed"


def _found(planned: PlannedExperiment, rows: Sequence[Row]) -> Iterator[str]:
    # Who is faster is asked of devices and other things with names; not of numbers, as of threads.
    if rows and all(not isinstance(row.subject, str) for row in rows):
        yield ", ".join(_figures(planned, rows))
    else:
        yield from _fastest(planned, rows)


def _figures(planned: PlannedExperiment, rows: Sequence[Row]) -> Iterator[str]:
    """Each row with what tells it from the others, its speed, and the interval of that."""
    telling = [name for name in rows[0].cell if len({row.cell[name] for row in rows}) > 1]
    for row in rows:
        place = " ".join(f"{name} {value_text(name, row.cell[name])}" for name in telling)
        speed, unit = row.payload_mb_per_s, "MB/s"
        if speed is None:
            speed, unit = row.operations_per_s, f"{planned.operation}s/s"
        ends = f"{format_measure(speed.low)}..{format_measure(speed.high)}"
        yield f"{place}: {format_measure(speed.median)} {unit} ({ends})".removeprefix(": ")


def _fastest(planned: PlannedExperiment, rows: Sequence[Row]) -> Iterator[str]:
    compared = [each for each in findings(rows) if each.kind is not Kind.ALONE]
    if not compared:
        yield f"{len(rows):,} {'cell' if len(rows) == 1 else 'cells'} measured"
        return
    total = f"{len(compared):,} {'comparison' if len(compared) == 1 else 'comparisons'}"
    won: dict[str, list[Finding]] = {}
    for each in compared:
        if each.winner:
            won.setdefault(each.winner, []).append(each)
    for winner, those in sorted(won.items(), key=lambda item: -len(item[1])):
        others = {each.devices[1] for each in those}
        over = next(iter(others)) if len(others) == 1 else "the next one compared with it"
        yield (
            f"{winner} is the fastest {planned.compare} in {len(those):,} of {total}, "
            f"{_times(those)} times as fast as {over}"
        )
    if open_ones := len(compared) - sum(map(len, won.values())):
        yield f"no winner in {open_ones:,} of {total}"


def _times(won: Sequence[Finding]) -> str:
    medians = sorted(each.ratio.median for each in won if each.ratio)
    ends = dict.fromkeys(map(format_measure, (medians[0], medians[-1])))
    return " to ".join(ends)
