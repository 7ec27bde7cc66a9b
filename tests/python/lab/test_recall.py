"""Run folders that somebody else may have made: what they name is not run, and costs no page."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from lab.test_report import MINE, Outline
from sealift.lab import registry, report, store
from sealift.lab.beside import against_published
from sealift.lab.digest import digest
from sealift.lab.published import Comparison
from sealift.lab.result import Found
from sealift.lab.summary import summarise
from synthetic_run import made, write_run


def test_showing_a_run_runs_no_file_that_its_folder_names(tmp_path: Path) -> None:
    file, ran = tmp_path / "mine.py", tmp_path / "ran"
    file.write_text(MINE, encoding="utf-8")
    path = write_run(tmp_path / "run", made(), [registry.load(file)])
    # What somebody else made: a file, and a plan that tells its hash.
    file.write_text(f"open({str(ran)!r}, 'w').close()\n{MINE}", encoding="utf-8")
    plan = json.loads((path / "plan.json").read_text(encoding="utf-8"))
    plan["experiments"][0]["file_sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
    (path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    run = store.read(path)
    found = summarise(run)
    shown = Outline(report.page(run))
    digest(run, found)
    against_published(run, found)
    assert not ran.exists()
    assert "Lists <b>and</b> tuples" in shown.text
    assert "Mine & yours" in shown.text


def test_an_own_experiment_whose_file_is_gone_is_shown_whole(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(MINE, encoding="utf-8")
    path = write_run(tmp_path / "run", made(), [registry.load(file)])
    before = report.page(store.read(path))
    file.unlink()
    assert report.page(store.read(path)) == before


@pytest.mark.parametrize(
    ("compare", "said"),
    [
        (lambda _: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda _: None, "TypeError: 'NoneType' object is not iterable"),
        (lambda _: ["rubbish"], "TypeError: str is no Comparison"),
    ],
)
def test_published_figures_that_cant_be_compared_cost_nothing_else(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    compare: Callable[[Found], Sequence[Comparison]],
    said: str,
) -> None:
    name = "aes-gcm-by-threads"
    broken = replace(registry.find(name), published=compare)
    run = store.read(write_run(tmp_path / "run", made(), [broken]))
    monkeypatch.setattr(registry, "find", lambda _: broken)
    found = summarise(run)
    doubt = f"it can't be compared with what was published: {said}"
    assert f"Note: {doubt}." in Outline(report.page(run)).text
    assert doubt in str(digest(run, found)[0])
    assert against_published(run, found).notes == (f"{name}: {doubt}",)


def test_a_page_of_a_run_that_asked_nothing_about_encryption_says_what_was_measured(
    tmp_path: Path,
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(MINE, encoding="utf-8")
    quick = {"list": 100.0, "tuple": 50.0}
    how = made(ns=lambda cell: quick[str(cell["kind"])])
    text = report.page(store.read(write_run(tmp_path / "run", how, [registry.load(file)])))
    shown = Outline(text)
    assert "What was measured here?" in shown.text
    assert "Where should my bulk encryption run?" not in text
    assert "No answer" not in shown.text
    assert "Lists <b>and</b> tuples: tuple is the fastest kind in 2 of 2 comparisons" in shown.text


def test_an_own_experiment_of_a_known_name_is_no_device_of_the_answer(
    tmp_path: Path,
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(MINE, encoding="utf-8")
    path = write_run(tmp_path / "run", made(), [registry.load(file)])
    for name in ("memory-read", "aes-gcm-by-size"):
        for place in ("plan.json", "samples.jsonl", "verify.jsonl"):
            text = (path / place).read_text(encoding="utf-8")
            for known in ("mine", "memory-read"):
                text = text.replace(f'"{known}"', f'"{name}"')
            (path / place).write_text(text, encoding="utf-8")
        shown = Outline(report.page(store.read(path)))
        assert "What was measured here?" in shown.text


def test_sizes_of_an_own_experiment_may_be_words(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    devices = MINE.replace('"kind"', '"device"').replace('("list", "tuple")', '("library", "cpu")')
    file.write_text(devices, encoding="utf-8")
    path = write_run(tmp_path / "run", made(), [registry.load(file)])
    plan = json.loads((path / "plan.json").read_text(encoding="utf-8"))
    for group in plan["experiments"][0]["groups"]:
        for cell in group:
            cell["size_bytes"] = "small" if cell["size_bytes"] == 16 else "large"
    (path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    shown = Outline(report.page(store.read(path)))
    assert "no such work was measured here" in shown.text


@pytest.mark.parametrize(
    ("axis", "value"),
    [("size_bytes", "x"), ("size_bytes", -1), ("threads", 0), ("device", 1.5), ("batch", "")],
)
def test_a_plan_of_the_lab_that_somebody_changed_is_no_answer_and_still_a_page(
    tmp_path: Path, axis: str, value: object
) -> None:
    chosen = [registry.find("aes-gcm-by-size"), registry.find("memory-read")]
    path = write_run(tmp_path / "run", made(), chosen)
    plan = json.loads((path / "plan.json").read_text(encoding="utf-8"))
    for experiment in plan["experiments"]:
        cell = experiment["groups"][0][0]
        cell |= {axis: value} if axis in cell else {}
    (path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    run = store.read(path)
    shown = Outline(report.page(run))
    assert "What was measured here?" in shown.text
    assert digest(run, summarise(run))
