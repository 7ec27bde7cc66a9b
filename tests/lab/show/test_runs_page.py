"""The page of several runs: a column for each, judged against the first, and why one is missing."""

import re
from collections.abc import Callable
from pathlib import Path

from tests.lab.cli.commands import invoke, refused

from sealift_lab.judge.rows import changes, results
from sealift_lab.model.run import ReportLine
from sealift_lab.model.units import format_measure
from sealift_lab.run.read_folder import Run
from sealift_lab.show.runs_page import runs_page

Make = Callable[..., Run]
ROOT = Path(__file__).parents[3]
STORED = sorted(ROOT.glob("results/2026-11-2[23]/*/lab"))


def lines(html: str) -> list[list[str]]:
    """The cells of all rows of all tables, as text."""
    rows = re.findall(r"<tr.*?</tr>", html)
    return [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row) for row in rows]


def test_each_run_has_a_column_and_its_ratio_to_the_first_with_the_verdict(a_run: Make) -> None:
    slow, fast = a_run({16: (100.0, 40.0)}, "a"), a_run({16: (100.0, 20.0)}, "b", seed=2)
    html = runs_page({"a": slow, "b": fast}, {})
    head, *found = [line for line in lines(html) if len(line) == 4]
    assert head == ["device", "a, MB/s", "b, MB/s", "times a"]
    (library, kernels) = found
    assert library[0] == "AWS-LC"
    assert library[3].endswith(", same")
    rates = [results(run)["made-up"].rows[1].payload_mb_per_s for run in (slow, fast)]
    assert kernels[1:3] == [format_measure(rate.value) for rate in rates if rate]
    assert re.fullmatch(r"(1\.99|2\.0\d) \[.*\], faster", kernels[3])


def test_what_one_run_lacks_or_computed_wrong_is_no_figure(a_run: Make) -> None:
    wrong = ReportLine("made-up", 0, 1, 0, {}, wrong="another tag")
    one = a_run({16: (100.0, 40.0)}, "a")
    other = a_run({16: (100.0, 40.0), 1024: (100.0, 50.0)}, "b", reports=[wrong])
    html = runs_page({"a": one, "b": other}, {"c": "<it died>"})
    table = {tuple(line[:2]): line[2:] for line in lines(html) if len(line) == 6}
    assert table["16 B", "Kernels"] == ["400.0", "wrong result", "–", "–"]
    assert table["1 KiB", "AWS-LC"][0] == "–"
    assert table["1 KiB", "AWS-LC"][2:] == ["–", "–"]
    assert "no run: &lt;it died&gt;" in html


def test_two_stored_runs_are_one_page_with_the_verdicts_of_the_judge(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert invoke("lab", "report", *STORED, "--out", page).stdout == f"{page}\n"
    html = page.read_text(encoding="utf-8")
    assert "times 2026-11-22" in html
    assert "<script" not in html
    verdicts = [each.comparison.verdict for each in changes(*map(Run, STORED))]
    for verdict in {*verdicts}:
        assert html.count(f"], {verdict}</td>") == verdicts.count(verdict)


def test_several_runs_need_a_file_and_each_is_named_once() -> None:
    assert "2 runs needs --out FILE" in refused("lab", "report", *STORED)
    words = ("lab", "report", STORED[0], STORED[0], "--out", "page.html")
    assert "is named twice" in refused(*words)
