"""What a run that has ended shows on standard output."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sealift.lab.digest import Digest
    from sealift.lab.result import Found, Verified
    from sealift.lab.runner import Done
    from sealift.lab.spec import Brief
    from sealift.lab.store import Run


def summary(done: "Done", *, as_json: bool) -> str:
    """What a run found, for standard output: the answer and its page.

    Where the run asks for no answer, its experiments, one a line.

    Args:
        done: The run, which has said on standard error what failed.
        as_json: Whether it is for a program.

    Raises:
        StoreError: If its folder can't be read any more.
    """
    from sealift.lab import recall, store
    from sealift.lab.answer import answer_of
    from sealift.lab.digest import digest, headline
    from sealift.lab.export import summary_records
    from sealift.lab.summary import summarise

    run = store.read(done.path)
    found = recall.together(run, summarise(run))
    said, lead = answer_of(run, found), recall.lead(run, found)
    lines = digest(run, found)
    page = done.path / "report.html"
    if as_json:
        document = {
            "schema": "sealift-lab-run/2",
            "run": str(done.path),
            "page": str(page) if page.exists() else None,
            "ending": asdict(done.ending),
            "code": int(done.code),
            "answer": asdict(said) if said else None,
            "lead": asdict(lead) if lead else None,
            "experiments": [asdict(line) for line in lines],
            "rows": summary_records(run, found),
        }
        return json.dumps(document, indent=2, allow_nan=False) + "\n"
    name, end = ("Page", page) if page.exists() else ("Run", done.path)
    if said:
        return said.text((name, str(end)), ("Your load", YOUR_LOAD))
    first = [lead.question, f"{lead.origin}. {lead.answer}", lead.figures] if lead else []
    if not lead and any(each.rows for each in found.values()):
        first = [headline(run, found)]
    # Experiments that were not begun were told when the run ended, all in one line.
    told = [
        str(line) if found[line.name].rows else _lost(line, done)
        for line in lines
        if not all(each.left_out for each in found[line.name].verified)
    ]
    parts = ["\n".join(first), "\n".join([*told, *_tables(run, found)]), str(end)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _tables(run: "Run", found: "Mapping[str, Found]") -> list[str]:
    """What was computed, as narrow tables where these are few; the page has all of it."""
    from sealift.lab import recall
    from sealift.lab.table import computed_text

    made = []
    for planned in run.plan.experiments:
        brief = recall.brief(planned)
        cells = [] if planned.is_timed else _first(found[planned.name], brief)
        # A run that has ended early may have none of those that matter first.
        if cells:
            made.append((planned, brief, cells))
    if len(made) > TABLES_MOST:
        return []
    told = []
    for planned, brief, cells in made:
        axes = [axis.name for axis in planned.axes]
        if not brief and len(cells) > CELLS_MOST:
            continue
        table = computed_text(cells, axes, brief).rstrip()
        if max(map(len, table.splitlines())) <= COLUMNS_MOST:
            heading = f"{planned.name}, {planned.origin.value}; report.html has every column:"
            told += ["", heading, table]
    return told


def _first(found: "Found", brief: "Brief | None") -> "list[Verified]":
    """The cells that were computed and are shown on a terminal."""
    where = brief.where.items() if brief else ()
    return [
        each
        for each in found.verified
        if each.facts and all(each.cell.get(name) == value for name, value in where)
    ]


def _lost(line: "Digest", done: "Done") -> str:
    """The line of an experiment without rows; how one failed was told, with its line."""
    from sealift.lab.store import How

    failed = done.ending.how is How.FAILED and line.name in done.ending.reason
    return f"{line.name}: not measured, because it failed" if failed else str(line)


TABLES_MOST, CELLS_MOST, COLUMNS_MOST = 3, 24, 120
YOUR_LOAD = "sealift advise --size 128 --keys 5000 --rate 40k"
