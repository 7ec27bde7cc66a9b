"""`sealift lab compare`: a run beside a later one, or beside what was published."""

from collections.abc import Sequence
from typing import Annotated, Literal

from sealift.cli.output import eprint, fail
from sealift.exit_code import ExitCode
from sealift_lab.claim.claims import compare as compare_runs
from sealift_lab.claim.declared import published
from sealift_lab.claim.replication import replication
from sealift_lab.claim.words import relation_words
from sealift_lab.cli import output, parse
from sealift_lab.cli.output import Record
from sealift_lab.cli.parse import argument, option
from sealift_lab.experiments.registry import all_experiments
from sealift_lab.judge.rows import results
from sealift_lab.model.results import Ledger, Relation
from sealift_lab.model.units import counted
from sealift_lab.run.read_folder import Run
from sealift_lab.show.export import ends, rounded
from sealift_lab.show.tables import Table, changes_table, published_table
from sealift_lab.show.terminal import TableText

Comparison = tuple[Sequence[Record], Table, Sequence[Relation]]


def compare(
    folder: output.Folder,
    now: Annotated[str, argument("compare", "RUN|published")],
    fail_on: Annotated[Literal["slower"] | None, option("compare", "--fail-on")] = None,
    as_csv: output.Csv = False,
    as_json: output.Json = False,
) -> None:
    """Compare a run with a later one, or with what was published.

    Times are those of the first over those of the second: above 1 the second run is faster. Two
    runs have other neighbours, clocks and places in memory, so their verdicts are a reason to look,
    not a proof, and a run of one process (lab run --quick) gives none. Without --quick a run has
    eight.
    """
    if as_csv and as_json:
        raise ValueError("--csv and --json both want standard output; give one")
    run = output.open_run(folder)
    if now == "published":
        records, table, relations = _with_published(run)
    else:
        records, table, relations = _with_run(run, output.open_run(parse.folder(now)))
    if as_csv:
        output.show_csv(records)
    elif as_json:
        output.show_json(records)
    else:
        output.show(TableText(table))
    if fail_on is not None:
        _end(relations, len(records))


def _end(relations: Sequence[Relation], rows: int) -> None:
    """Ends with the exit code of `--fail-on slower`, and prints how many rows it stands on."""
    of = f"of {counted(rows, 'row')}"
    if slower := relations.count(Relation.SLOWER):
        fail(ExitCode.SLOWER, f"{slower:,} {of} {'is' if slower == 1 else 'are'} slower")
    decided = sum(each not in (Relation.UNTESTED, Relation.INCONCLUSIVE) for each in relations)
    if not decided:
        fail(
            ExitCode.NOTHING_RAN,
            f"--fail-on slower could decide none {of}, so whether something got slower is not "
            "known; measure longer, with `sealift lab run --resume`",
        )
    if decided < rows:
        eprint(f"--fail-on slower: none is slower; {rows - decided:,} {of} could not be decided")


def _with_run(before: Run, now: Run) -> Comparison:
    pairs, notes = compare_runs(before, now)
    eprint(*notes)
    if not pairs:
        fail(
            ExitCode.NOTHING_RAN,
            "the runs have no cell in common that both measured; compare runs of the same "
            "experiments, devices and sizes",
        )
    records = [
        {
            "experiment": change.experiment,
            **change.cell,
            "ns_before": rounded(change.before.value),
            "ns_now": rounded(change.now.value),
            **ends("times", change.comparison.ratio),
            "verdict": change.comparison.verdict.value,
            "reason": claim.reason,
        }
        for change, claim in pairs
    ]
    return records, changes_table(pairs), [claim.relation for _, claim in pairs]


def _with_published(run: Run) -> Comparison:
    pairs, problems = published(run, results(run))
    eprint(*problems)
    if not pairs:
        known = ", ".join(each.name for each in all_experiments() if each.id)
        fail(
            ExitCode.NOTHING_RAN,
            f"nothing was published for this run; there are figures for {known}",
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
            **ends("here", claim.figure),
            "verdict": relation_words(claim),
            "outcome": replication(claim).value,
            "reason": claim.reason,
            "note": figure.note,
            "source": figure.source,
        }
        for figure, claim in pairs
    ]
    measured = [claim.relation for _, claim in pairs if claim.ledger is Ledger.MEASURED]
    return records, published_table(pairs), measured
