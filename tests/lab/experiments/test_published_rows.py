"""No stored figure or claim of a document is without a verdict, or a reason why there is none."""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files

from sealift_lab.claim.replication import Pair, compare_published
from sealift_lab.experiments.registry import all_experiments
from sealift_lab.model.experiment import Scope
from sealift_lab.model.published import DOCUMENTS, Published, table
from sealift_lab.model.results import ArmReport, Estimate, Relation, Results, Row

FULL = Scope(quick=False, cores=2, devices=("library", "cpu"))
# What a row is about; every other column with a number is a figure.
ABOUT = {
    *("threads", "buffer_bytes", "transfer_bytes", "thread_blocks", "threads_per_block", "runs"),
    *("bytes", "cores_as_printed", "sm", "cores_per_sm", "dpus", "bytes_per_dpu", "sequence"),
}
# Files, and columns or rows of them, none of whose figures stands beside one of a run; and why.
REASONS = {
    "000-elsewhere-dpus-against-host": "compared as ratios to 64 DPUs: the host is not here",
    "000-elsewhere-host-transfers": "inputs of the projection, by the SDK; direct ones beside",
    "000-elsewhere-push-by-dpus": "what rates between 64 and 2,048 DPUs are held against",
    "000-elsewhere-transfers-by-dpus": "inputs of the projection: rates of transfers",
    "003-F3-datatypes-cpu int (4B)": "what the other types are compared with",
    "003-F14-log": "totals of a run of unknown length: compared as shares, ratios and sizes",
    "003-T1-languages normalized_performance_percent": "4,200 ms over the time beside it",
    "003-T2-os-threads normalized_performance_percent": "14 s over the time beside it",
    "003-T6-platform": "the document's machine, no figures",
    "003-V1-vectors": "two of the records that every device works in 003-F14",
    "004-R1-terminal-example average_delta_s": "bytes over the throughput beside it, rounded",
}


@cache
def every_pair() -> tuple[Pair, ...]:
    """What all experiments compare, where no arm could be had."""

    def pairs() -> Iterator[Pair]:
        for each in all_experiments():
            cells = (cell for group in each.groups(FULL) for cell in group)
            nothing = Results((), [ArmReport(each.name, cell, {}) for cell in cells])
            yield from compare_published(each.published(nothing), nothing, no_ratio, each.name)

    return tuple(pairs())


def no_ratio(one: Row, other: Row) -> Estimate:
    raise AssertionError(one, other)


def names() -> list[str]:
    folder = files("sealift_lab") / "data" / "published"
    return sorted(each.name.removesuffix(".csv") for each in folder.iterdir())


def test_every_claim_in_words_stands_beside_a_run_or_beside_a_reason() -> None:
    printed = [(each.figure[:3], f"{each.source} {each.note}") for each, _ in every_pair()]
    missing = [
        f"{name}: {row['claim_id']} ({row['as_printed']})"
        for name in names()
        if name.endswith("-X1-claims")
        for row in table(name)
        if not any(document == name[:3] and row["as_printed"] in text for document, text in printed)
    ]
    assert not missing, f"no experiment's published= quotes {len(missing)}:\n" + "\n".join(missing)


def test_every_figure_of_a_table_stands_beside_a_run_or_beside_a_reason() -> None:
    printed = defaultdict(list)
    for each, _ in every_pair():
        printed[each.figure[:3]].append(each)
    missing = []
    for name in names():
        left = printed[name[:3]]
        for row in () if name.endswith("-X1-claims") else table(name):
            for column, text in figures(name, row):
                source = row.get("panel") or row["source"]
                fitting = (each for each in left if is_of(each, source, text))
                if (found := next(fitting, None)) is None:
                    what = ", ".join(f"{key} {row[key]}" for key in row if key != "source")
                    missing.append(f"{name}: {column} of {what}")
                elif is_same(found.value, float(text)):
                    # It stands for one row: two may have the same value.
                    left.remove(found)
    assert not missing, f"no published= has {len(missing)} figures:\n" + "\n".join(missing)


def is_of(published: Published, source: str, text: str) -> bool:
    """Whether it is that figure, in any unit, or is made of it: `Java: 4200/7550 ms`."""
    is_quoted = re.search(rf"(?<![\d.]){re.escape(text)}(?![\d.])", published.what) is not None
    return source in published.source and (is_quoted or is_same(published.value, float(text)))


def is_same(one: float, other: float) -> bool:
    """Whether units make all of the difference between two values."""
    powers = math.log10(one / other) if one and other else one - other
    return math.isclose(powers, round(powers), abs_tol=1e-9)


def figures(name: str, row: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The columns of a row that hold a figure, without those that have a reason."""
    first = next(iter(row.values()))
    for column, text in row.items():
        of = (name, f"{name} {column}", f"{name} {first}")
        is_number = re.fullmatch(r"\d+(\.\d*)?", text)
        if is_number and column not in ABOUT and not any(each in REASONS for each in of):
            yield column, text


def test_reasons_are_of_what_is_stored() -> None:
    assert {reason.partition(" ")[0] for reason in REASONS} <= {*names()}
    assert {name[:3] for name in names()} == DOCUMENTS.keys()


def test_what_is_not_here_has_a_reason() -> None:
    assert not [
        f"{published.figure}, {published.what}"
        for published, claim in every_pair()
        if claim.relation is Relation.UNTESTED and not claim.reason
    ]
