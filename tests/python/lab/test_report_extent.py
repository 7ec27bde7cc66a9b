"""Pages of large runs: small enough for mail and browsers, and plain about what they leave out."""

import base64
import gzip
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from lab.test_report import Outline, Visible
from sealift.lab import registry, report, store
from sealift.lab.report import bottom, top
from sealift.lab.report.extent import EXTENTS, MOST_BYTES
from sealift.lab.report.material import gather
from synthetic_run import made, write_run

MANY = """
from sealift.lab import Axis, Experiment, Plot, timed

EXPERIMENT = Experiment(
    name="many",
    title="Many",
    axes=(Axis("way", "way", ("a", "b", "c", "d")), Axis("n", "n", tuple(range({groups})))),
    compare="way",
    arm=lambda cell, context: timed(lambda: None),
    plots=(Plot("{x}", "ns_per_operation", "{z}", "Time"),),
)
"""


def many(folder: Path, groups: int, *, x: str = "n", z: str = "way") -> store.Run:
    file = folder / "many.py"
    file.write_text(MANY.format(groups=groups, x=x, z=z), encoding="utf-8")
    how = made(ns=lambda cell: 100.0 + int(cell["n"]) + ord(str(cell["way"])), blocks=2)
    return store.read(write_run(folder / f"run-{groups}", how, [registry.load(file)]))


def held_csv(page: str) -> str:
    said = re.search(r'id="csv">(.*?)</script>', page, re.DOTALL)
    assert said
    held = json.loads(said[1])
    if isinstance(held, str):
        return held
    return gzip.decompress(base64.b64decode(held["gzip"])).decode()


def points(page: str) -> Sequence[int]:
    said = re.search(r'id="specs">(.*?)</script>', page, re.DOTALL)
    assert said
    return [len(spec["data"]["values"]) for spec in json.loads(said[1]).values() if "data" in spec]


def test_a_small_run_is_shown_whole_and_says_nothing_of_it(tmp_path: Path) -> None:
    page = report.page(many(tmp_path, 10))
    assert "So that this page stays below" not in Outline(page).text
    assert "All 40 rows" in page


def test_twelve_hundred_rows_stay_below_the_limit_with_all_data_behind_the_button(
    tmp_path: Path,
) -> None:
    run = many(tmp_path, 300)
    page = report.page(run)
    shown = Outline(page)
    assert len(page.encode()) <= MOST_BYTES
    assert "So that this page stays below 1.5 MB it leaves out the table of all rows" in shown.text
    said = re.search(r"The first (\d+) of 1,200 rows", shown.text)
    assert said
    assert int(said[1]) >= 100, "there is room for more than some"
    assert "The CSV has all 1,200 rows." in shown.text
    assert held_csv(page) == bottom.csv_text(gather(run))
    assert held_csv(page).count("\n") == 1_201
    assert 1_200 in points(page)


@pytest.mark.parametrize(("x", "z"), [("n", "way"), ("way", "n")], ids=["lines", "names"])
def test_five_thousand_rows_stay_below_the_limit_with_fewer_points(
    tmp_path: Path, x: str, z: str
) -> None:
    page = report.page(many(tmp_path, 1_250, x=x, z=z))
    shown = Outline(page)
    assert shown.open == []
    assert len(page.encode()) <= MOST_BYTES
    assert "points of a figure beyond about" in shown.text
    assert 4 <= max(points(page)) <= 400
    assert held_csv(page).count("\n") == 5_001


def test_rows_that_stand_in_the_csv_are_left_out_before_what_stands_nowhere_else() -> None:
    firsts = [
        next(at for at, each in enumerate(EXTENTS) if getattr(each, name) is not None)
        for name in ("rows", "figures", "listed")
    ]
    assert firsts == sorted({*firsts})


def test_each_step_leaves_out_more_and_the_last_one_holds_no_data(tmp_path: Path) -> None:
    material = gather(many(tmp_path, 150))
    sizes = [len(report.page_of(replace(material, extent=each))) for each in EXTENTS]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(sizes)
    last = report.page_of(replace(material, extent=EXTENTS[-1]))
    assert held_csv(last) == ""
    assert "All rows stand in summary.csv, beside this page." in Outline(last).text
    assert "save" not in Outline(last).ids


def test_every_line_of_a_thinned_figure_keeps_points(tmp_path: Path) -> None:
    material = gather(many(tmp_path, 300))
    thinned = next(each for each in EXTENTS if each.points)
    page = report.page_of(replace(material, extent=thinned))
    said = re.search(r'id="specs">(.*?)</script>', page, re.DOTALL)
    assert said
    values = json.loads(said[1])["figure-many-1"]["data"]["values"]
    by_line = [[each["x"] for each in values if each["series"] == way] for way in "abcd"]
    assert all(xs == by_line[0] for xs in by_line)
    assert 50 <= len(by_line[0]) <= 100
    assert by_line[0][0] == 0
    assert by_line[0][-1] > 290


def test_the_first_screen_has_no_more_words_than_a_terminal_gets_and_folds_the_rest(
    tmp_path: Path,
) -> None:
    experiments = [registry.find("aes-gcm-by-size")]
    material = gather(store.read(write_run(tmp_path / "run", made(), experiments)))
    found = material.answer
    assert found is not None
    why = [f"Reason {place} is one of three that are long enough." for place in range(3)]
    others = [replace(found.bars[1], name=f"Device {place}") for place in range(4)]
    crowded = replace(found, care=tuple(why), bars=(*found.bars, *others))
    for answer in (found, crowded):
        card = top.answer(replace(material, answer=answer))
        shown = Visible(card).words
        assert len(shown) < 80
        assert (answer.care[:1] or ("",))[0] in " ".join(shown)
        assert all(bar.name in card for bar in answer.bars)
        assert all(reason in card for reason in answer.care)
    assert re.search(r"[56] more$", " ".join(shown))
