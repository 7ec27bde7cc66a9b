"""A run that was stopped or starved says so first, in every form of the advice."""

import csv
import io
import json
from pathlib import Path

import pytest

from lab.test_report import Outline
from made_load import run_of
from sealift.lab import registry, report, store
from sealift.lab.advise import Advice as GridAdvice
from sealift.lab.load import Advice, Demand, answer, json_text, rehearsed
from sealift.lab.load import csv as csv_of
from sealift.lab.shortfall import shortfall
from sealift.lab.store import Ending, How
from sealift.lab.summary import summarise
from synthetic_run import BLOCKS, made, write_run

STOPPED = {"ending": Ending(How.INTERRUPTED, "SIGINT came"), "seconds": range(3)}
FEW = ", as few as 3 for some work (verdicts need 8)."


def advice(path: Path, **changes: object) -> Advice:
    run = store.read(run_of(path, None, **changes))
    return Advice.of(run, summarise(run), Demand(), rehearse=rehearsed)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ""),
        (
            {**STOPPED, "blocks": 3},
            f"Interrupted after about 2 of 60 s, with 30 of 200 blocks{FEW}",
        ),
        (
            {**STOPPED, "blocks": 12},
            "Interrupted after about 2 of 60 s, with 120 of 200 blocks.",
        ),
        ({**STOPPED, "blocks": 20}, ""),
        (
            {"ending": Ending(How.TIME_UP, "too short"), "blocks": 3},
            f"Too little time: 60 s gave 30 of 200 blocks{FEW}",
        ),
        ({"ending": Ending(How.TIME_UP, "too short"), "blocks": 12}, ""),
        (
            {"ending": None, "blocks": 3, "seconds": range(3)},
            f"Killed, or not yet at its end, after about 2 of 60 s, with 30 of 200 blocks{FEW}",
        ),
    ],
)
def test_what_a_run_lacks_is_told_with_seconds_and_blocks(
    changes: dict[str, object], said: str, tmp_path: Path
) -> None:
    assert shortfall(store.read(run_of(tmp_path / "run", None, **changes))) == said


@pytest.mark.parametrize("how", [How.INTERRUPTED, How.FAILED, How.TIME_UP, None])
@pytest.mark.parametrize("files", [("samples", "verify"), ("samples",)])
def test_experiments_that_the_answer_does_not_stand_on_are_no_shortfall_of_it(
    files: tuple[str, ...], how: How | None, tmp_path: Path
) -> None:
    answering = "aes-gcm-by-size"
    names = (answering, "aes-gcm-by-threads", "memory-read")
    ending = how and Ending(how, "")
    path = write_run(tmp_path / "run", made(ending=ending), list(map(registry.find, names)))
    for file in files:
        keep(path / f"{file}.jsonl", answering)
    run = store.read(path)
    assert not run.is_whole
    assert shortfall(run) == ""


def test_where_a_part_failed_the_answer_takes_the_blocks_of_a_verdict_and_no_more(
    tmp_path: Path,
) -> None:
    failed = Ending(How.FAILED, "an arm raised")
    said = [
        shortfall(store.read(run_of(tmp_path / f"{blocks}", None, ending=failed, blocks=blocks)))
        for blocks in (8, 3)
    ]
    assert said == [
        "",
        f"Ended early (a part failed) after about 59 of 60 s, with 30 of 200 blocks{FEW}",
    ]


def keep(file: Path, name: str) -> None:
    """Of a file of a run only the lines of one experiment."""
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = (each for each in lines if json.loads(each)["experiment"] == name)
    file.write_text("".join(kept), encoding="utf-8")


def test_it_is_the_first_care_of_the_advice_on_a_load_and_a_field_for_programs(
    tmp_path: Path,
) -> None:
    found = advice(tmp_path / "run", **STOPPED, blocks=3)
    told = shortfall(found.run)
    assert answer(found).care[0] == told
    assert told in " ".join(answer(found).text().split())
    assert json.loads(json_text(found))["shortfall"] == told
    assert {row["shortfall"] for row in csv.DictReader(io.StringIO(csv_of(found)))} == {told}


def test_a_whole_run_has_an_empty_field_and_no_such_line(tmp_path: Path) -> None:
    found = advice(tmp_path / "run")
    assert "verdicts need" not in answer(found).text()
    assert json.loads(json_text(found))["shortfall"] is None
    assert {row["shortfall"] for row in csv.DictReader(io.StringIO(csv_of(found)))} == {""}


def test_it_is_the_first_care_of_the_advice_on_a_grid_and_a_field_for_programs(
    tmp_path: Path,
) -> None:
    how = made(**STOPPED, blocks=3)
    run = store.read(write_run(tmp_path / "run", how, [registry.find("aes-gcm-by-size")]))
    found = GridAdvice.of(run, summarise(run))
    told = shortfall(run)
    assert found.answer.care[0] == told
    assert told in " ".join(found.answer.text().split())
    assert told.startswith("Interrupted after about 2 of 60 s")
    assert json.loads(found.json())["shortfall"] == told
    assert {row["shortfall"] for row in csv.DictReader(io.StringIO(found.csv()))} == {told}


def test_a_run_that_left_groups_out_says_so(tmp_path: Path) -> None:
    by_size = [registry.find("aes-gcm-by-size")]
    path = write_run(tmp_path / "run", made(ending=None), by_size)
    samples = path / "samples.jsonl"
    lines = samples.read_text(encoding="utf-8").splitlines(keepends=True)
    samples.write_text("".join(each for each in lines if json.loads(each)["group"]), "utf-8")
    shown = Outline(report.page(store.read(path)))
    told = f"Some groups of arms were not sampled at all, though {BLOCKS} blocks were planned. A v"
    assert told in shown.text
