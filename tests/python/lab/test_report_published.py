"""Published figures and the documents' devices on the page: what is coloured and how it is told."""

import html
import re
from dataclasses import replace
from pathlib import Path

import pytest

from sealift.lab import absent, registry, report, store
from sealift.lab.published import Match
from sealift.lab.report.compared import AGREE, APART, COLOURS, DIFFER
from sealift.lab.report.material import Material, gather
from sealift.lab.result import Origin
from synthetic_run import SCOPE, SURROUNDINGS, made, write_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> store.Run:
    return store.read(write_run(tmp_path_factory.mktemp("runs") / "whole", made()))


@pytest.fixture(scope="module")
def page(run: store.Run) -> str:
    return report.page(run)


@pytest.fixture(scope="module")
def material(run: store.Run) -> Material:
    return gather(run)


def page_of(path: Path, **changes: object) -> str:
    by_threads = [registry.find("003-F5")]
    return report.page(store.read(write_run(path, made(**changes), by_threads)))


def test_only_what_is_reproduced_or_holds_is_green_and_a_contradiction_red() -> None:
    by_colour: dict[str, set[Match]] = {}
    for match in Match:
        by_colour.setdefault(COLOURS[match], set()).add(match)
    assert by_colour["good"] == {Match.REPRODUCED, Match.IN_SHAPE, Match.HOLDS}
    assert by_colour["bad"] == {Match.CONTRADICTED, Match.AGAINST_ITSELF}


def test_what_is_not_settled_says_why_on_the_page(tmp_path: Path) -> None:
    noisy = page_of(tmp_path / "noisy", noise=0.25)
    assert "not settled: the same code differed from itself by" in noisy
    few = page_of(tmp_path / "few", blocks=5)
    assert "not settled: 5 blocks are too few, 8 are needed" in few


def test_gpus_stand_beside_both_readings_of_their_messages_and_by_messages(
    material: Material, page: str
) -> None:
    wishes = absent.wishes(material.rows, SURROUNDINGS.devices)
    stated, logged = (wish for wish in wishes if wish.device == "RTX 4070 (2023)")
    assert ("as stated" in stated.nearest, "as logged" in logged.nearest) == (True, True)
    assert stated.published_messages_per_s == pytest.approx(4_200e6 / 128)
    assert logged.published_messages_per_s == pytest.approx(4_200e6 / 26.73, rel=1e-3)
    for wish in (stated, logged):
        assert wish.best_messages_per_s is not None
        assert wish.factor_in_messages is not None
        assert wish.factor_in_messages.median == pytest.approx(
            wish.best_messages_per_s.median / (wish.published_messages_per_s or 0)
        )
    assert stated.best_messages_per_s != logged.best_messages_per_s
    assert "this GPU's own log" in logged.how
    assert "log of another GPU" in next(w.how for w in wishes if "as logged" in w.work)
    assert "157,100,000 messages/s" in page


def test_what_a_document_only_reckoned_is_projected_and_its_contradiction_told(
    material: Material, page: str
) -> None:
    wishes = absent.wishes(material.rows, SURROUNDINGS.devices)
    reckoned = [wish for wish in wishes if wish.origin is Origin.PROJECTED]
    assert {wish.device for wish in reckoned} == {"UPMEM, 640 DPUs"}
    assert [round(wish.published_mb_per_s) for wish in reckoned] == [315, 3579]
    for wish in reckoned:
        assert "11-fold against the other" in wish.how
        assert "550 cycles a byte, the rate of one tasklet alone" in wish.how
    absent_part = page.split('id="absent"')[1]
    assert absent_part.count("projected from published inputs</span>") == len(reckoned)


def test_a_page_of_copies_says_what_each_experiment_found_and_asks_nothing_of_devices(
    tmp_path: Path,
) -> None:
    experiments = [registry.find("memory-ceiling"), registry.find("copy-offsets")]
    how = made(ns=lambda cell: float(cell["size_bytes"]) / 30)
    full = replace(SCOPE, quick=False)
    folder = write_run(tmp_path / "run", how, experiments, scope=full)
    page = re.sub(r"<script.*?</script>|<[^>]*>", " ", report.page(store.read(folder)), flags=re.S)
    answer, _, rest = re.sub(r"\s+", " ", html.unescape(page)).partition(
        "Beside what was published"
    )
    assert "On this machine with 1 thread memory moves " in answer.replace(", with", " with")
    assert "The C library's copy does not collapse at any offset" in answer
    assert "copies/s" in rest
    assert "would need to win" not in rest


def test_a_document_has_a_row_with_counts_that_add_up(page: str, material: Material) -> None:
    every = [each for shown in material.shown for each in shown.comparisons]
    row = re.search(r"<tr><th[^>]*>003 AES-GCM on CPU and GPU(.*?)</th>(.*?)</tr>", page)
    assert row
    figures, agree, differ, unsettled = map(int, re.findall(r">(\d+)</td>", row[2]))
    of_003 = [each for each in every if each.figure.startswith("003")]
    apart = sum(int(count) for count in re.findall(r"(\d+) ", re.sub(r"<[^>]*>", " ", row[1])))
    assert figures == len(of_003)
    assert agree + differ + unsettled + apart == figures
    assert f"{sum(each.match is Match.NOT_RUN for each in of_003)} not run" in row[1]


def test_every_match_is_counted_once() -> None:
    counted = [*AGREE, *DIFFER, *APART, Match.UNSETTLED]
    assert sorted(counted) == sorted(Match)
