"""The break-even figure on the page, the words beside it, and the command that draws it."""

import html
import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from command import invoke
from lab.test_report import Outline
from made_card import made_card
from sealift import Card
from sealift.lab import registry, report, store
from sealift.lab.advise import Wish, sized_works
from sealift.lab.grid import MANY_KEYS
from sealift.lab.report.extent import Extent
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


def specs(page: str) -> dict[str, Any]:
    said = re.search(r'id="specs">(.*?)</script>', page, re.DOTALL)
    assert said
    held: dict[str, Any] = json.loads(said[1])
    return held


def values(page: str) -> list[dict[str, Any]]:
    held: list[dict[str, Any]] = specs(page)["figure-break-even"]["data"]["values"]
    return held


def section(text: str) -> str:
    told = re.search(r'<section id="break-even">.*?</section>', text, re.DOTALL)
    assert told
    return told[0]


def measured(folder: Path, sizes: Sequence[int]) -> Run:
    """A made-up run of `sealift advise` over these sizes."""
    wish = Wish(sized_works(sizes, (MANY_KEYS,)), SCOPE.devices, (1,), None)
    experiment, _ = wish.measurement(SCOPE)
    return store.read(write_run(folder, made(), [experiment]))


def test_the_figure_stands_before_everything_but_the_answer_and_its_trust(page: str) -> None:
    outline = Outline(page)
    place = outline.headings.index("Break-even by size of a message")
    assert outline.headings[place + 1] == "Published figures, and here"
    assert outline.text.index("Noise floor") < outline.text.index("What a message takes by size")


def test_real_devices_have_their_medians_and_the_boards_of_2003_fold_away(
    page: str, run: Run
) -> None:
    told = Outline(section(page)).text
    series = {value["series"].split("\n")[0] for value in values(page)}
    assert series == {"library", "cpu", "intel-qat-gen4, projected"}
    for value in (each for each in values(page) if each["series"] in ("library", "cpu")):
        rows = gather(run).shown[0].found
        row = rows.row(device=value["series"], size_bytes=value["x"])
        assert row
        assert value["y"] == pytest.approx(row.ns_per_operation.median, rel=1e-3)
    assert "<summary>quad-hifn-7751 and four-broadcom-5820 are not drawn: " in section(page)
    assert (
        "cpu is ahead at every size measured; in batches that are long enough intel-qat-gen4 is "
        "back earlier (projected)." in told
    )
    assert "Rates are those of AES-128-XTS, not of AES-GCM." in told
    assert "Rates are those of 3DES, not of AES-GCM." in told
    assert "cpu, intel-qat-gen4: break-even near" in told
    assert "library, cpu: cpu is" in told
    assert told.count("no batch is long enough for the card to be done earlier.") == 4
    assert "AES-128, sealed, 1,024 sessions, 1 thread, batches of 1,024" in told


def test_a_card_that_wins_has_a_size_a_number_of_messages_and_a_mark(
    run: Run, tmp_path: Path
) -> None:
    # library takes 75 ns and 0.21 a byte, cpu 24 and 0.09.
    card = made_card(tmp_path, message_ns=40, byte_ns=0.12, way_ns=2_000)
    text = report.page_of(with_cards(run, card))
    told = Outline(section(text)).text
    series = {each["series"].split("\n")[0] for each in values(text)}
    assert "pretend, projected" in series
    assert "not drawn" not in told
    assert (
        "cpu is ahead at every size measured; no card described here would ever be done earlier."
        in told
    )
    assert "library, pretend: pretend is" in told
    assert "a batch on the card is done earlier from" in told
    assert "cpu, pretend: cpu is" in told
    assert "Rates are those of" not in told
    assert re.search(r" 16 B from \d+ \[\d+\.\.\d+\]( |$)", told)
    never = re.search(r"never: ([\d.]+) times as long \[([\d.]+)\.\.([\d.]+)\]", told)
    assert never
    assert float(never[2]) <= float(never[1]) <= float(never[3])
    crossing = made_card(tmp_path, name="crossing", message_ns=10, byte_ns=0.15)
    text = report.page_of(with_cards(run, crossing))
    told = Outline(section(text)).text
    assert "cpu, crossing: break-even near" in told
    assert "in batches that are long enough crossing is back earlier (projected)." in told
    # Those whose lines cross stand before those whose don't.
    assert told.index("cpu, crossing:") < told.index("library, crossing:")
    marks = [layer for layer in specs(text)["figure-break-even"]["layer"] if "data" in layer]
    (label,) = marks[-1]["data"]["values"]
    # 24 + 0.09 b is 10 + 0.15 b at 233 bytes.
    assert label["x"] == pytest.approx(233, rel=0.1)


def test_labels_of_crossings_that_are_near_each_other_stand_above_and_below(
    run: Run, tmp_path: Path
) -> None:
    cards = [
        made_card(tmp_path, name=f"card-{place}", message_ns=message_ns, byte_ns=0.15)
        for place, message_ns in enumerate((6, 10, 14))
    ]
    text = report.page_of(with_cards(run, *cards))
    layers = [each for each in specs(text)["figure-break-even"]["layer"] if "data" in each]
    ring, above, below = ([round(v["x"]) for v in each["data"]["values"]] for each in layers)
    # 24 + 0.09 b is 6 + 0.15 b at 300 bytes, 10 + 0.15 b at 233 and 14 + 0.15 b at 167.
    assert sorted(above + below) == sorted(ring)
    assert above == [pytest.approx(167, rel=0.1), pytest.approx(300, rel=0.1)]
    assert below == [pytest.approx(233, rel=0.1)]


def test_without_a_card_the_devices_stand_alone(run: Run) -> None:
    told = Outline(section(report.page_of(with_cards(run)))).text
    assert "library, cpu: cpu is" in told
    assert "projected." not in told
    assert "From how many messages" not in told


def test_the_command_below_it_draws_the_same(page: str, tmp_path: Path) -> None:
    said = re.search(r"<code>(sealift lab plot .*?)</code>", section(page))
    assert said
    words = shlex.split(html.unescape(said[1]))[1:-1]
    file = tmp_path / "even.html"
    ran = invoke(*words, str(file))
    assert ran.exit_code == 0, ran.stderr
    drawn = re.search(r'id="spec">(.*?)</script>', file.read_text(encoding="utf-8"), re.DOTALL)
    assert drawn
    assert json.loads(drawn[1])["data"]["values"] == values(page)


def test_one_size_and_no_size_are_no_figure(tmp_path: Path) -> None:
    one = measured(tmp_path / "one", (128,))
    assert 'id="break-even"' not in report.page(one)
    none = write_run(tmp_path / "none", made(blocks=0, ending=None))
    assert 'id="break-even"' not in report.page(store.read(none))
    other = write_run(tmp_path / "other", made(), [registry.find("premise")])
    assert 'id="break-even"' not in report.page(store.read(other))


def test_a_device_that_is_not_for_real_work_has_no_line(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", made(), [registry.find("aes-gcm-by-size")])
    file = path / "verify.jsonl"
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        # The second arm is cpu.
        if line["arm"] == 1:
            line["facts"]["role"] = "oracle"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    series = {value["series"] for value in values(report.page(store.read(path)))}
    assert "library" in series
    assert "cpu" not in series


@pytest.mark.parametrize("size_bytes", [2**40, 0.5, 1e300])
def test_a_folder_with_sizes_that_no_message_has_is_a_page_all_the_same(
    size_bytes: float, tmp_path: Path
) -> None:
    path = write_run(tmp_path / "run", made(blocks=8), [registry.find("aes-gcm-by-size")])
    plan = json.loads((path / "plan.json").read_text(encoding="utf-8"))
    for cell in plan["experiments"][0]["groups"][0]:
        cell["size_bytes"] = size_bytes
    (path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    page = report.page(store.read(path))
    assert len({value["x"] for value in values(page)}) == 6


def test_a_page_that_has_to_be_small_draws_some_of_the_sizes(tmp_path: Path) -> None:
    run = measured(tmp_path / "many", range(16, 416, 16))
    whole = gather(run)
    assert len(whole.rows) == 50
    assert len({value["x"] for value in values(report.page_of(whole))}) == 25
    small = report.page_of(replace(whole, extent=Extent(points=20)))
    sizes = sorted({value["x"] for value in values(small)})
    assert 5 < len(sizes) <= 10
    assert sizes[0] == 16
