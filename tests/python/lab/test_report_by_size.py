"""The chart by message size, and what cards would need to win."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from lab.test_report import Outline
from made_card import made_card
from sealift import Card
from sealift.lab import registry, report, store
from sealift.lab.advise import Wish, sized_works
from sealift.lab.grid import MANY_KEYS
from sealift.lab.report.material import Material, gather
from sealift.lab.store import Run
from synthetic_run import SCOPE, made, write_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("runs") / "whole"
    return store.read(write_run(folder, made(), [registry.find("aes-gcm-by-size")]))


@pytest.fixture(scope="module")
def page(run: Run) -> str:
    return report.page(run)


def with_cards(run: Run, *cards: Card) -> Material:
    return replace(gather(run), cards=cards)


def chart(text: str) -> str:
    told = re.search(r'<section class="card" id="by-size">.*?</section>', text, re.DOTALL)
    assert told
    return told[0]


def names(text: str) -> list[str]:
    """The lines of the chart, by the titles of their dots."""
    return re.findall(r"<title>([^:]*): ", chart(text))


def sizes(text: str) -> list[str]:
    told = re.search(r"<title>CPU kernels: (.*?)</title>", chart(text))
    assert told
    return [each.rpartition(" ")[0].rpartition(" ")[0] for each in told[1].split("; ")]


def measured(folder: Path, sizes: Sequence[int]) -> Run:
    """A made-up run of `sealift advise` over these sizes."""
    wish = Wish(sized_works(sizes, (MANY_KEYS,)), SCOPE.devices, (1,), None)
    experiment, _ = wish.measurement(SCOPE)
    return store.read(write_run(folder, made(), [experiment]))


def test_the_chart_stands_right_behind_the_answer_and_says_who_wins_where(page: str) -> None:
    outline = Outline(page)
    assert outline.headings[1] == "By message size"
    told = (
        "Time per message (sealed, 1,024 keys, one core, batches of 1,024), lower is better. "
        "CPU kernels win from 16 B to 16 KiB."
    )
    assert told in outline.text
    assert f'aria-label="{told}"' in chart(page)


def test_the_chart_has_a_line_a_band_and_a_dot_for_every_size(page: str, run: Run) -> None:
    assert sorted(names(page)) == ["AWS-LC", "CPU kernels"]
    assert sizes(page) == ["16 B", "64 B", "128 B", "256 B", "1 KiB", "8 KiB", "16 KiB"]
    assert chart(page).count("<polygon") == 2
    row = gather(run).shown[0].found.row(device="cpu", size_bytes=128)
    assert row
    assert f"128 B {row.ns_per_operation.median:.3g} ns" in chart(page)
    assert re.search(r'class="line first"', chart(page))


def test_no_label_of_the_chart_stands_on_another(page: str) -> None:
    places = re.findall(r'style="top:([\d.]+)%" class="\w+"', chart(page))
    assert len(places) == 2
    one, other = map(float, places)
    assert abs(one - other) >= 8
    lefts = [float(each) for each in re.findall(r'style="left:([\d.]+)%"', chart(page))]
    assert all(after - before > 7 for before, after in pairwise(lefts))
    wide = re.findall(r'<span style="left:([\d.]+)%">', chart(page))
    assert all(float(b) - float(a) > 15 for a, b in pairwise(wide))


def test_a_card_has_a_number_of_messages_or_never_with_its_source(run: Run, tmp_path: Path) -> None:
    # library takes 75 ns and 0.21 a byte, cpu 24 and 0.09.
    card = made_card(tmp_path, message_ns=40, byte_ns=0.12, way_ns=2_000)
    told = Outline(report.page_of(with_cards(run, card))).text
    assert re.search(r" 16 B from \d+ \[\d+\.\.\d+\] never: ", told)
    never = re.search(r"never: ([\d.]+) times as long \[([\d.]+)\.\.([\d.]+)\]", told)
    assert never
    assert float(never[2]) <= float(never[1]) <= float(never[3])
    assert "Projected, on an idle card." in told
    assert "Rates are those of" not in told
    ours = Outline(report.page(run)).text
    assert "Rates are those of AES-128-XTS, not of AES-GCM." in ours
    assert "Rates are those of 3DES, not of AES-GCM." in ours


def test_without_a_card_there_is_no_table_of_counts(run: Run) -> None:
    assert "From how many messages" not in Outline(report.page_of(with_cards(run))).text


def test_one_size_and_no_size_are_no_chart(tmp_path: Path) -> None:
    one = measured(tmp_path / "one", (128,))
    assert 'id="by-size"' not in report.page(one)
    none = write_run(tmp_path / "none", made(blocks=0, ending=None))
    assert 'id="by-size"' not in report.page(store.read(none))
    other = write_run(tmp_path / "other", made(), [registry.find("premise")])
    assert 'id="by-size"' not in report.page(store.read(other))


def test_a_device_that_is_not_for_real_work_has_no_line(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", made(), [registry.find("aes-gcm-by-size")])
    file = path / "verify.jsonl"
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        # The second arm is cpu.
        if line["arm"] == 1:
            line["facts"]["role"] = "oracle"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    assert names(report.page(store.read(path))) == ["AWS-LC"]


@pytest.mark.parametrize("size_bytes", [2**40, 0.5, 1e300])
def test_a_folder_with_sizes_that_no_message_has_is_a_page_all_the_same(
    size_bytes: float, tmp_path: Path
) -> None:
    path = write_run(tmp_path / "run", made(blocks=8), [registry.find("aes-gcm-by-size")])
    plan = json.loads((path / "plan.json").read_text(encoding="utf-8"))
    for cell in plan["experiments"][0]["groups"][0]:
        cell["size_bytes"] = size_bytes
    (path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    assert len(sizes(report.page(store.read(path)))) == 6


def test_however_many_sizes_there_are_labels_have_room(tmp_path: Path) -> None:
    text = report.page(measured(tmp_path / "many", range(16, 416, 16)))
    assert len(sizes(text)) == 25
    assert chart(text).count('style="left:') <= 14
