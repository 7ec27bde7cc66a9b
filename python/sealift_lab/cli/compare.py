"""`sealift lab compare`: a run beside a later one, or beside what was published."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from sealift.exit_code import ExitCode
from sealift_lab.cli import output, parse
from sealift_lab.cli.help import argument, option
from sealift_lab.cli.output import Form, eprint, fail, parsed

if TYPE_CHECKING:
    from sealift_lab.model.results import Estimate
    from sealift_lab.run.folder import Run
    from sealift_lab.show.tables import Table


class FailOn(StrEnum):
    """What makes a comparison end with exit code 1."""

    SLOWER = "slower"


def compare(
    before: Annotated[str, argument("compare", "RUN")],
    now: Annotated[str, argument("compare", "RUN|published")],
    fail_on: Annotated[str | None, option("compare", "--fail-on", metavar="[slower]")] = None,
    as_csv: output.Csv = False,
    as_json: output.Json = False,
) -> None:
    """Compare a run with a later one, or with what was published.

    Times are those of the first over those of the second: above 1 the second run is faster. Two
    runs have other neighbours, clocks and places in memory, so their verdicts are a reason to look,
    not a proof, and a run of one process (lab run --quick) gives none. Without --quick a run has
    eight.
    """
    form = output.form(as_csv=as_csv, as_json=as_json)
    with output.in_sentences():
        from sealift_lab.show.terminal import table_text

        if fail_on is not None:
            parsed("--fail-on", parse.choice(FailOn), fail_on)
        if before == PUBLISHED:
            raise ValueError(f"the run comes first: sealift lab compare {now} {PUBLISHED}")
        found = _with_published(before) if now == PUBLISHED else _with_run(before, now)
        if form is Form.TABLE:
            output.show(table_text(found.table))
        else:
            (output.show_csv if form is Form.CSV else output.show_json)(found.records)
        if fail_on is not None:
            found.end()


@dataclass(frozen=True)
class _Comparison:
    """Rows as records and as a table, how many of them can be judged, and how many are slower."""

    records: Sequence[output.Record]
    table: "Table"
    judged: int
    slower: int

    def end(self) -> None:
        """Ends with the exit code of `--fail-on slower`, and prints how many rows it stands on."""
        many = len(self.records)
        rows = f"{many:,} {'row' if many == 1 else 'rows'}"
        if self.slower:
            are = "is" if self.slower == 1 else "are"
            fail(ExitCode.SLOWER, f"{self.slower:,} of {rows} {are} slower")
        if not self.judged:
            fail(
                ExitCode.NOTHING_RAN,
                f"--fail-on slower could judge none of {rows}, so whether something got slower is "
                "not known",
            )
        if self.judged < many:
            eprint(f"--fail-on slower judged {self.judged:,} of {rows}; none of those is slower")


def _with_run(before: str, now: str) -> _Comparison:
    from sealift_lab.claim.compare import compare as compare_runs
    from sealift_lab.model.claim import Relation
    from sealift_lab.show.tables import changes_table

    compared = compare_runs(_run(before), _run(now))
    eprint(*compared.notes)
    if not compared.pairs:
        fail(
            ExitCode.NOTHING_RAN,
            f"{before} and {now} have no cell in common that both measured; compare runs of the "
            "same experiments, devices and sizes",
        )
    records = [
        {
            "experiment": change.experiment,
            **change.cell,
            "ns_before": _rounded(change.before.value),
            "ns_now": _rounded(change.now.value),
            **_ends("times", change.comparison.ratio),
            "verdict": change.comparison.verdict.value,
            "reason": claim.reason,
        }
        for change, claim in compared.pairs
    ]
    return _Comparison(
        records,
        changes_table(compared),
        judged=sum(each["times_low"] is not None for each in records),
        slower=sum(claim.relation is Relation.SLOWER for _, claim in compared.pairs),
    )


def _with_published(folder: str) -> _Comparison:
    from sealift_lab.claim.declared import problems, published
    from sealift_lab.claim.published import outcome
    from sealift_lab.claim.words import relation_words
    from sealift_lab.experiments.registry import all_experiments
    from sealift_lab.judge.judge import results
    from sealift_lab.model.claim import Relation
    from sealift_lab.model.published import Ledger
    from sealift_lab.show.tables import published_table

    run = _run(folder)
    found = results(run)
    pairs = published(run, found)
    eprint(*problems(run, found))
    if not pairs:
        ran = ", ".join(each.name for each in run.plan.experiments) or "no experiment"
        known = ", ".join(each.name for each in all_experiments() if each.id)
        fail(
            ExitCode.NOTHING_RAN,
            f"{folder} ran {ran}, for which nothing was published; there are figures for {known}",
        )
    records = [
        {
            "figure": figure.figure,
            "what": figure.what,
            "experiment": claim.experiment,
            "kind": figure.kind.value,
            "ledger": figure.ledger.value,
            "published": figure.value,
            "unit": figure.unit,
            **_ends("here", claim.figure),
            "verdict": relation_words(claim),
            "outcome": outcome(claim).value,
            "reason": claim.reason,
            "note": figure.note,
            "source": figure.source,
        }
        for figure, claim in pairs
    ]
    unjudged = (Relation.UNTESTED, Relation.INCONCLUSIVE)
    relations = [claim.relation for _, claim in pairs if claim.ledger is Ledger.MEASURED]
    return _Comparison(
        records,
        published_table(pairs),
        judged=sum(each not in unjudged for each in relations),
        slower=relations.count(Relation.SLOWER),
    )


def _run(folder: str) -> "Run":
    try:
        return output.open_run(folder)
    except ValueError as error:
        if parse.nearest(folder, [PUBLISHED]):
            raise ValueError(f"{error}; or did you mean `{PUBLISHED}`?") from error
        raise


def _ends(name: str, figure: "Estimate | None") -> Mapping[str, float | None]:
    """A figure with its interval as three columns."""
    ends = (None,) * 3 if figure is None else (figure.value, figure.low, figure.high)
    names = (name, f"{name}_low", f"{name}_high")
    return {n: None if v is None else _rounded(v) for n, v in zip(names, ends, strict=True)}


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


PUBLISHED = "published"
