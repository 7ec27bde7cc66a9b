"""What is said of a load, on made-up runs whose answer is known."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.lab.advise.made_load import BATCHES, COSTS, at_once, card, message_ns, messages, run_of

from sealift_lab._lab import Card
from sealift_lab.advise.advice import Advice, advise, answer
from sealift_lab.advise.figures import load_document
from sealift_lab.advise.load import Demand
from sealift_lab.claim.answer import Answer
from sealift_lab.claim.answer import answer as answer_of_run
from sealift_lab.cli import output
from sealift_lab.judge.rows import results
from sealift_lab.model.arm import Cell
from sealift_lab.model.results import Verdict
from sealift_lab.run.read_folder import Run
from sealift_lab.show.terminal import answer_text


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run on 128 bytes under 5,000 keys: 636 and 36.4 ns a message, alone and in batches."""
    return run_of(tmp_path_factory.mktemp("load") / "run")


def advice(
    run: Run,
    *cards: Card,
    rate_per_s: float | None = 40_000,
    p99_ns: float | None = None,
    batch: int | None = None,
    core_price: float | None = None,
) -> Advice:
    demand = Demand(rate_per_s, p99_ns, batch, core_price)
    return advise(run, results(run), demand, cards=cards, latency=at_once)


def said(run: Run, *cards: Card, **changes: Any) -> Answer:
    return answer(advice(run, *cards, **changes))


def remarks(found: Answer) -> Sequence[str]:
    """Those of the load: what was measured on and its noise are left out."""
    said = [each.text for each in found.remarks[:-1] if not each.text.startswith("noise")]
    return [text for text in said if text != ONE_PROCESS]


def printed(found: Answer, capsys: pytest.CaptureFixture[str]) -> str:
    output.show(answer_text(found))
    return capsys.readouterr().out


def test_a_load_that_one_core_hardly_notices_needs_nothing(run: Run) -> None:
    found = said(run, p99_ns=2e6)
    assert found.advice == "Buy nothing; run on your CPU, with Sealift's kernels"
    assert re.fullmatch(r"40,000 messages/s: 0\.18\d % of a core \[0\.18\d–0\.18\d\]", found.lead)
    assert found.basis == "128 B messages, 5,000 keys, sealed, 1 thread, batch 64"
    assert remarks(found) == ["simulated: p99 ≤ 1.79 ms of 2.00 ms"]
    bars = [(bar.claim.subject, bar.is_winner) for bar in found.bars]
    assert bars[:2] == [("Sealift's kernels", True), ("AWS-LC", False)]
    assert found.bars[2].rate is None


@pytest.mark.parametrize("rate_per_s", [None, 40_000, 20e6, 50e6])
def test_the_answer_is_short_with_three_cards(
    rate_per_s: float | None, run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("pretend-to-be-a-card", "another-card", "third")
    cards = [card(tmp_path, name=name, algorithm="3des") for name in names]
    found = said(run, *cards, rate_per_s=rate_per_s, p99_ns=rate_per_s and 2e6)
    assert len(found.bars) == 6
    text = printed(found, capsys)
    assert len(text.split()) < 80
    assert len(text.splitlines()) <= 15
    assert max(map(len, text.splitlines())) <= 80
    assert found.advice in " ".join(text.split())
    assert re.search(r"\n  and [345] more\n", text)


def test_of_several_cards_the_one_that_pays_first_is_the_condition(
    run: Run, tmp_path: Path
) -> None:
    cards = [card(tmp_path, name=f"at-{price}", price=price) for price in (900, 300)]
    cards.append(card(tmp_path, name="free", host_ns=5, price=None))
    assert said(run, *cards, rate_per_s=20e6).advice.startswith(
        "Buy nothing unless a core costs you over 556 USD; run"
    )


def test_where_the_largest_batch_was_not_measured_the_answer_takes_the_next_one(
    run: Run,
) -> None:
    (name, found), *_ = results(run).items()
    smaller = [row for row in found.rows if row.cell["batch"] != 1_024]
    page_answer = answer_of_run(run, {name: replace(found, rows=smaller)})
    assert page_answer.basis.endswith("1 thread, batch 256")


def test_without_a_rate_the_fastest_is_named_with_its_lead(run: Run) -> None:
    found = said(run, rate_per_s=None)
    assert found.advice == "On your CPU, with Sealift's kernels"
    assert re.fullmatch(r"5\.7\d× AWS-LC \[5\.7\d–5\.7\d\]", found.lead)
    assert found.basis.endswith("batch 1,024")


def test_a_load_beyond_a_core_is_told_with_the_cores_that_there_are(run: Run) -> None:
    found = said(run, rate_per_s=50e6)
    assert found.advice == "Sealift's kernels can't keep up on one core"
    assert re.fullmatch(r"50,000,000 messages/s: 1\.8\d cores \[1\.8\d–1\.8\d\]", found.lead)
    assert remarks(found) == ["3 cores may do, and this machine has 2"]
    assert not any(bar.is_winner for bar in found.bars)
    two = "2 of the 2 cores here may do: --threads 2 measures them"
    assert remarks(said(run, rate_per_s=45e6)) == [two]


def test_a_core_that_is_nearly_full_is_told_with_what_helps(run: Run, tmp_path: Path) -> None:
    found = said(run, rate_per_s=26e6, p99_ns=1e9)
    assert found.advice == "Sealift's kernels on one core: too near to full for a p99"
    assert remarks(found)[0].startswith("2 of the 2 cores here may do")
    near = card(tmp_path, setup_ns=20)
    assert remarks(said(run, near, rate_per_s=32e6))[0].endswith("; its p99 was not simulated")


def test_with_a_deadline_no_cards_are_bought_of_which_none_was_simulated(
    run: Run, tmp_path: Path
) -> None:
    made = card(tmp_path, host_ns=1, setup_ns=200)
    load: dict[str, float] = {"rate_per_s": 10e6, "core_price": 1e9}
    assert said(run, made, **load).advice.startswith("Buy 3 pretend cards (projected); else run on")
    late = said(run, made, **load, p99_ns=1e9)
    assert late.advice.startswith("Buy nothing; ")
    assert remarks(late)[-1].endswith("; its p99 was not simulated")


def test_a_deadline_that_nothing_meets_is_told_with_what_comes_nearest(run: Run) -> None:
    found = said(run, p99_ns=100)
    assert found.advice == "No device here is shown to be back within 100 ns"
    assert remarks(found) == ["simulated: p99 637 ns of 100 ns"]
    assert found.basis.endswith("batch 1")


def test_devices_that_are_the_same_are_both_named(tmp_path: Path) -> None:
    found = said(run_of(tmp_path / "run", ns=lambda cell: 40.0 + 600 / int(cell["batch"])))
    assert " or " in found.advice
    assert len([bar for bar in found.bars if bar.is_winner]) == 2


def test_devices_that_noise_hides_are_not_told_apart(tmp_path: Path) -> None:
    def nearly_alike_ns(cell: Cell) -> float:
        more = 1.1 if cell["device"] == "library" else 1.0
        return message_ns({**cell, "device": "cpu"}) * more

    run = run_of(tmp_path / "run", ns=nearly_alike_ns, noise=0.25)
    found = said(run, card(tmp_path), card(tmp_path, name="another"), p99_ns=2e6)
    assert " or " not in found.advice
    assert any(each.text.endswith(" are not told apart") for each in found.remarks)
    fastest = said(run, rate_per_s=None)
    assert fastest.advice == "Not settled here"
    assert not any(bar.is_winner for bar in fastest.bars)


@pytest.mark.parametrize(
    ("made", "text"),
    [
        ({"host_ns": 18_600, "setup_ns": 20_000}, "pretend never pays"),
        (
            {"host_ns": 18_600, "setup_ns": 20_000, "algorithm": "3des"},
            "pretend, at its 3des rate, never pays",
        ),
        ({}, "pretend pays where a core costs over 352,000 USD"),
        ({"price": None}, "pretend frees 0.00256 cores; its price isn't known"),
    ],
)
def test_a_card_is_told_with_what_it_frees(
    made: dict[str, Any], text: str, run: Run, tmp_path: Path
) -> None:
    assert remarks(said(run, card(tmp_path, **made)))[0].startswith(f"projected: {text}")


def test_a_card_that_frees_much_is_a_condition_and_a_price_settles_it(
    run: Run, tmp_path: Path
) -> None:
    made = card(tmp_path)
    asked = "Buy nothing unless a core costs you over 1,670 USD; run on your CPU, with Sealift's"
    assert said(run, made, rate_per_s=20e6).advice.startswith(asked)
    for price, begin in ((500, "Buy nothing; "), (5_000, "Buy pretend (projected); else run on")):
        assert said(run, made, rate_per_s=20e6, core_price=price).advice.startswith(begin)


def test_a_card_is_told_when_nothing_here_meets_the_demand(run: Run, tmp_path: Path) -> None:
    made = card(tmp_path, host_ns=5, setup_ns=5)
    found = said(run, made, rate_per_s=50e6)
    assert remarks(found)[0] == "projected: pretend would do it"
    late = card(tmp_path, name="late", host_ns=1, latency_ns=3e6)
    found = said(run, late, rate_per_s=20e6, p99_ns=2e6, core_price=1e9)
    assert found.advice.startswith("Buy nothing; ")
    assert remarks(found)[-1] == "projected: late (2 cards) is not shown to be back in time"


def test_messages_that_miss_the_mean_of_their_lengths_are_told(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", messages({40: 1_000_000, 1 << 30: 1}, batch=4))
    # A made-up run counts the bytes of the cell's size, which is the mean of 1,113.74, rounded.
    assert not any("on average" in each for each in remarks(said(run)))
    samples = run.path / "samples.jsonl"
    samples.write_text(re.sub(r'"bytes": *\d+', '"bytes":4000000', samples.read_text()))
    few = "measured: 40 bytes on average, not 1,114: too few messages for the rare lengths"
    assert remarks(said(Run(run.path)))[-1] == few


def test_devices_are_found_again_with_what_each_takes(run: Run) -> None:
    found = advice(run)
    assert [each.name for each in found.candidates] == ["cpu", "library"]
    for each in found.candidates:
        line, device = COSTS[each.name], each.device
        assert tuple(device.by_messages) == BATCHES
        for batch in device.batches:
            batch_ns = line.batch_ns(batch.messages, 128)
            assert batch.batch_ns.value == pytest.approx(batch_ns, rel=0.01)
            assert batch.host_ns.value == pytest.approx(batch_ns / batch.messages, rel=0.01)
            assert batch.per_s.value == pytest.approx(batch.messages * 1e9 / batch_ns, rel=0.01)
            longer_ns = line.batch_ns(batch.messages, 4_096)
            assert device.batch_ns(batch.messages, 4_096) == pytest.approx(longer_ns, rel=0.02)
        assert device.line.setup_ns == pytest.approx(line.setup_ns, rel=0.02)
        assert device.line.per_byte_ns == pytest.approx(line.per_byte_ns, rel=0.02)


def test_devices_that_are_no_advice_are_left_out_with_the_reason(tmp_path: Path) -> None:
    reports = {
        "table": {"role": "test only"},
        "cpu": {"wrong": "message 3: the tag differs"},
        "cpu:isa=aesni": {"skipped": "it is not here"},
    }
    run = run_of(
        tmp_path / "run",
        messages(devices=("library", *reports)),
        ns=lambda cell: float(cell["size_bytes"]),
        reports=reports,
    )
    found = advice(run)
    assert [each.name for each in found.candidates] == ["library"]
    assert found.left_out == {
        "table": "is no device to run on (test only)",
        "cpu": "computed something wrong: message 3: the tag differs",
        "cpu:isa=aesni": "it is not here",
    }
    assert said(run).bars[0].claim.subject == "AWS-LC"


def test_a_batch_that_was_not_measured_is_refused_with_those_that_were(run: Run) -> None:
    assert advice(run, batch=256).best.used.batch.messages == 256
    with pytest.raises(ValueError, match="a batch of 100 was not measured; there are 1, 4, 16, 64"):
        advice(run, batch=100)


def test_json_holds_answer_ranks_and_every_figure_with_its_origin(run: Run, tmp_path: Path) -> None:
    found = advice(run, card(tmp_path), p99_ns=2e6, core_price=500)
    whole = load_document(found, results(run), answer(found))
    document = msgspec.json.decode(msgspec.json.encode(whole))
    assert document["answer"]["advice"] == answer(found).advice
    assert [(each["device"], each["rank"], each["origin"]) for each in document["devices"]] == [
        ("cpu", 1, "measured"),
        ("library", 2, "measured"),
        ("pretend", 1, "projected"),
    ]
    assert document["demand"]["core_price"] == 500
    assert document["messages"]["mean_bytes"] == 128
    assert {row["batch"] for row in document["rows"]} == {*BATCHES}
    cpu = document["devices"][0]
    assert [each["messages"] for each in cpu["batches"]] == [*BATCHES]
    (used,) = [each for each in cpu["batches"] if each["messages"] == cpu["batch"]]
    best = found.best.used
    assert used["simulated_p99_ns"] == best.p99_ns
    assert used["batch_ns"]["high"] == best.batch.batch_ns.high
    assert cpu["cost_in_batches"]["setup_ns"] == found.best.device.line.setup_ns
    for each in document["break_even"]:
        is_projected = "pretend" in (each["device"], each["against"])
        assert each["origin"] == ("projected" if is_projected else "measured")
        assert {part["verdict"] for part in each["sizes"]} <= {*Verdict}
    (pretend,) = document["cards"]
    assert (pretend["origin"], pretend["pays"]) == ("projected", found.payoffs[0].pays)


# The runs here have one process; fuller answers have no room for it.
ONE_PROCESS = "another run may differ by 1 to 3 %"
