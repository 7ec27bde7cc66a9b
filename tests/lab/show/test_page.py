"""The page: answer first, few words, no script, nothing fetched, text never taken for markup."""

import re
from collections.abc import Callable
from dataclasses import replace

import msgspec

from sealift_lab.judge.rows import results
from sealift_lab.model.results import Origin
from sealift_lab.model.run import ReportLine
from sealift_lab.run.read_folder import Run
from sealift_lab.show.page import page

Make = Callable[..., Run]
THREE = {16: (100.0, 40.0), 1024: (100.0, 50.0), 16384: (100.0, 98.0)}


def test_a_page_has_the_answer_first_fetches_nothing_and_its_ids_are_its_own(a_run: Make) -> None:
    run = a_run(THREE)
    html = page(run, results(run))
    text = re.sub(r"<style>.*?</style>|<[^>]*>", " ", html, flags=re.DOTALL)
    assert text.index("On the processor") < text.index("AWS-LC [")
    assert len(text.split()) < 400
    assert len(html) < 60_000
    assert "<script" not in html
    assert not re.findall(r"""\b(?:src|href)=["']?(?!#)""", html)
    assert "default-src 'none'" in html
    ids = re.findall(r'\bid="([^"]*)"', html)
    assert len({*ids}) == len(ids)
    assert {*re.findall(r"url\(#([^)]*)\)", html)} <= {*ids}
    assert "currentColor" in html


def test_text_of_a_folder_is_never_markup(a_run: Make) -> None:
    evil = ReportLine("made-up", 0, 1, 0, {}, wrong="<script>alert(1)</script>")
    run = a_run({1024: (100.0, 50.0)}, reports=[evil])
    html = page(run, results(run))
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_little_or_nothing_measured_is_a_page_that_says_no_more_than_it_knows(a_run: Make) -> None:
    run = a_run(THREE, processes=1, blocks=1)
    html = page(run, results(run))
    assert "noise ±" not in html
    assert "scatter by" not in html
    (run.path / "samples.jsonl").write_bytes(b"")
    run = Run(run.path)
    assert "Nothing was measured" in page(run, results(run))


def test_experiments_that_the_time_did_not_reach_share_a_section(a_run: Make) -> None:
    run = a_run(THREE)
    (timed,) = run.plan.experiments
    late = replace(timed, name="late", title="Too late")
    plan = replace(run.plan, experiments=[timed, late])
    (run.path / "plan.json").write_bytes(msgspec.json.encode(plan))
    run = Run(run.path)
    html = page(run, results(run))
    assert 'id="late"' not in html
    assert html.count("Too late") == 1
    assert f"sealift lab run --resume {run.path}" in html


def test_a_quick_run_folds_what_is_computed_beside_what_is_measured(a_run: Make) -> None:
    run = a_run(THREE, reports=[ReportLine("modelled", 0, 0, 0, {"cycles": 11})])
    (timed,) = run.plan.experiments
    groups = [[{"size_bytes": 16, "device": "model"}]]
    modelled = replace(timed, name="modelled", title="By a model", groups=groups, charts=())
    modelled = replace(modelled, origin=Origin.SIMULATED, blocks=1)
    for quick, sections in ((False, 2), (True, 1)):
        plan = replace(run.plan, experiments=[timed, modelled], quick=quick)
        (run.path / "plan.json").write_bytes(msgspec.json.encode(plan))
        again = Run(run.path)
        html = page(again, results(again))
        assert html.count("<section id=") == sections
        assert html.count("By a model") == 1
