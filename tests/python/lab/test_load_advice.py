"""What is said of a load, on made-up runs whose answer is known."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from made_load import batch_ns, card, own, run_of
from sealift import Card
from sealift.lab import load
from sealift.lab.answer import Answer
from sealift.lab.load import Advice, Demand
from sealift.lab.load.device import Device, InBatches
from sealift.lab.load.fill import fill_ns_p99
from sealift.lab.store import read
from sealift.lab.summary import summarise
from sealift.lab.values import Cell


def at_once(_: Device, batch: InBatches, __: float) -> float:
    return batch.batch_ns.value


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on 128 bytes under 5,000 keys: 630 and 36.4 ns a message, alone and in batches."""
    return run_of(tmp_path_factory.mktemp("load") / "run")


def advice(
    folder: Path,
    *cards: Card,
    rate_per_s: float | None = 40_000,
    p99_ns: float | None = None,
    batch: int | None = None,
    core_price: float | None = None,
) -> Advice:
    run = read(folder)
    return Advice.of(
        run,
        summarise(run),
        Demand(rate_per_s, p99_ns, batch),
        rehearse=at_once,
        cards=cards,
        core_price=core_price,
    )


def said(folder: Path, *cards: Card, **changes: Any) -> Answer:
    return load.answer(advice(folder, *cards, **changes))


def test_a_load_that_one_core_hardly_notices_needs_nothing(folder: Path) -> None:
    told = said(folder, p99_ns=2e6)
    assert told.headline == "Buy nothing; run on your CPU, with Sealift's kernels"
    assert re.fullmatch(
        r"0\.18\d % of a core \[0\.18\d–0\.18\d\] at 40,000 messages/s", told.figure
    )
    assert told.basis == "128-byte messages, sealed, 5,000 keys, one core, batches of 64"
    assert told.care == ("p99 ≤ 1.79 ms of 2 ms (simulated).",)
    assert [(bar.device, bar.is_advised) for bar in told.bars] == [
        ("cpu", True),
        ("library", False),
        ("gpu", False),
    ]
    assert told.noise_text.startswith("noise ±")


def test_the_answer_is_short_with_a_card_too(folder: Path, tmp_path: Path) -> None:
    made = card(tmp_path, host_ns=10)
    pays = "pretend (projected) pays where a core costs over "
    for cards in ((), (made,)):
        text = said(folder, *cards, p99_ns=2e6).text(("Page", "sealift lab report runs/mine"))
        assert len(text.split()) < 80
        assert len(text.splitlines()) <= 15
        assert max(map(len, text.splitlines())) <= 80
        assert "p99 ≤ 1.79 ms of 2 ms (simulated)." in " ".join(text.split())
        assert (pays in " ".join(text.split())) is bool(cards)


@pytest.mark.parametrize("rate_per_s", [None, 40_000, 20e6, 50e6])
@pytest.mark.parametrize("price", [None, 900.0])
def test_the_answer_is_short_with_three_cards_and_says_how_many_bars_it_leaves_out(
    rate_per_s: float | None, price: float | None, folder: Path, tmp_path: Path
) -> None:
    names = ("pretend-to-be-a-card", "another-card", "third")
    cards = [card(tmp_path, name=name, host_ns=10, price=price, algorithm="3des") for name in names]
    told = said(folder, *cards, rate_per_s=rate_per_s, p99_ns=rate_per_s and 2e6)
    text = told.text(("Page", "sealift lab report runs/mine"), ("Your load", "sealift advise -h"))
    assert len(told.bars) == 6
    assert len(text.split()) < 80
    assert len(text.splitlines()) <= 15
    assert max(map(len, text.splitlines())) <= 80
    assert re.search(r"CPU kernels +█\S* +\S+ M messages/s\n", text)
    assert re.search(r"\n  and [345] more\n", text)
    assert told.care[0] in " ".join(text.split())


def test_of_several_cards_the_one_that_pays_first_is_the_condition(
    folder: Path, tmp_path: Path
) -> None:
    cards = [card(tmp_path, name=f"at-{price}", host_ns=10, price=price) for price in (900, 300)]
    cards.append(card(tmp_path, name="free", host_ns=5, price=None))
    assert said(folder, *cards, rate_per_s=20e6).headline.startswith(
        "Buy nothing unless a core costs you over 556 USD; run"
    )


def test_without_a_deadline_the_batch_fills_within_a_millisecond(folder: Path) -> None:
    told = said(folder)
    assert told.basis.endswith("batches of 16")
    assert told.care == ("p99 ≤ 527 us (simulated).",)
    alone = said(folder, rate_per_s=100)
    assert alone.basis.endswith("one at a time")
    assert alone.care == ("p99 0.637 us (simulated).",)
    assert alone.figure.startswith("0.0063")


def test_without_a_rate_the_fastest_is_named_with_its_lead(folder: Path) -> None:
    told = said(folder, rate_per_s=None)
    assert told.headline == "On your CPU, with Sealift's kernels"
    assert re.fullmatch(r"5\.7\d× AWS-LC \[5\.7\d–5\.7\d\]", told.figure)
    assert told.basis == "128-byte messages, sealed, 5,000 keys, one core, batches of 1,024"


def test_a_load_beyond_a_core_is_told_with_the_cores_that_there_are(folder: Path) -> None:
    told = said(folder, rate_per_s=50e6)
    assert told.headline == "CPU kernels can't keep up on one core"
    assert told.figure.startswith("1.85 cores [1.8")
    assert told.care == ("3 cores may do, and this machine has 2.",)
    two = "2 of the 2 cores here may do: --threads 2 measures them."
    assert said(folder, rate_per_s=45e6).care == (two,)
    assert said(folder, rate_per_s=500e6).care == ("21 cores may do, and this machine has 2.",)
    assert not any(bar.is_advised for bar in told.bars)


def test_a_core_that_is_nearly_full_is_told_with_what_helps(folder: Path, tmp_path: Path) -> None:
    for p99_ns in (None, 1e9):
        told = said(folder, rate_per_s=26e6, p99_ns=p99_ns)
        assert told.headline == (
            "CPU kernels on one core: too near to full to say how long messages take"
        )
        assert re.match(
            r"9[56]\.\d % of a core \[9[56]\.\d–9[567]\.\d\] at 26 million messages/s", told.figure
        )
        assert told.care[0].startswith("2 of the 2 cores here may do")
    near = card(tmp_path, host_ns=10, setup_ns=20)
    assert said(folder, near, rate_per_s=32e6).care[0].endswith("; its p99 was not simulated.")


def test_a_wish_for_p99_buys_no_cards_of_which_none_was_reckoned(
    folder: Path, tmp_path: Path
) -> None:
    made = card(tmp_path, host_ns=1, setup_ns=200)
    asked = {"rate_per_s": 10e6, "core_price": 1e9}
    assert said(folder, made, **asked).headline.startswith("Buy 3 × pretend (projected); else run")
    told = said(folder, made, **asked, p99_ns=1e9)
    assert told.headline.startswith("Buy nothing; ")
    assert told.care[-1].endswith("; its p99 was not simulated.")


def test_a_deadline_that_nothing_meets_is_told_with_what_comes_nearest(folder: Path) -> None:
    told = said(folder, p99_ns=100)
    assert told.headline == "No device here is shown to be back within 0.1 us"
    assert told.care == ("p99 0.637 us of 0.1 us (simulated).",)
    assert told.basis.endswith("one at a time")


def test_what_hardly_anybody_sends_or_can_work_is_told_in_few_digits(folder: Path) -> None:
    assert said(folder, rate_per_s=1.0).figure.startswith("under 0.001 % of a core")
    assert said(folder, rate_per_s=1e12).figure.endswith("at 1,000 billion messages/s")


def test_several_threads_share_the_load(tmp_path: Path) -> None:
    told = said(run_of(tmp_path / "run", own(threads=2)), rate_per_s=45e6)
    assert told.headline.startswith("Buy nothing")
    assert told.figure.startswith("1.66 cores [1.6")


def test_devices_that_are_the_same_are_both_named(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "run", ns=lambda cell: 40.0 + 600 / int(cell["batch"]))
    told = said(folder)
    assert " or " in told.headline
    assert {bar.device for bar in told.bars if bar.is_advised} == {"cpu", "library"}


def nearly_alike_ns(cell: Cell) -> float:
    """What takes as long on any device but for a tenth."""
    return batch_ns({**cell, "device": "cpu"}) * (1.1 if cell["device"] == "library" else 1.0)


def test_devices_that_noise_hides_are_not_told_apart(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "run", ns=nearly_alike_ns, noise=0.25)
    told = said(folder)
    assert " or " not in told.headline
    assert re.fullmatch(r".* and .* are not told apart\.", told.care[-1])
    fastest = said(folder, rate_per_s=None)
    assert fastest.headline.startswith("Not settled: ")
    assert fastest.headline.endswith(" (noise floor over 10 %)")
    assert not any(bar.is_advised for bar in fastest.bars)


def test_many_lengths_are_told_by_their_mean(tmp_path: Path) -> None:
    told = said(run_of(tmp_path / "run", own({40: 3, 1_500: 1})))
    assert told.basis.startswith("messages of 405 bytes on average, sealed, 5,000 keys, ")


def test_batches_of_one_size_only_still_take_longer_with_longer_messages(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "run", own({100: 97, 1_048_576: 3}, batch=1))
    told = advice(folder)
    for each in told.seen.devices:
        assert [batch.messages for batch in each.batches] == [1, 4]
        assert each.line.per_byte_ns > 0.01
    run = read(folder)
    found = Advice.of(run, summarise(run), Demand(40_000, 1e9), rehearse=load.rehearsed)
    fours = found.best.served.every[1]
    assert fours.p99_ns is not None
    # One of four such batches and more has a long message: that alone takes 0.05 ns a byte.
    assert fours.p99_ns.value > fill_ns_p99(4, 40_000) + 0.05 * 1_048_576


def test_messages_that_miss_the_mean_of_their_lengths_are_told(tmp_path: Path) -> None:
    rare = own({40: 1_000_000, 1 << 30: 1})
    folder = run_of(tmp_path / "run", rare)
    # A made-up run counts the bytes of the cell's size, which is the mean of 1,113.74, rounded.
    assert not any(each.startswith("Measured: ") for each in said(folder).care)
    samples = folder / "samples.jsonl"
    samples.write_text(re.sub(r'"bytes":\d+', '"bytes":40000', samples.read_text()))
    assert re.fullmatch(
        r"Measured: [\d.]+ bytes on average, not 1,114: too few messages for the rare lengths\.",
        said(folder).care[-1],
    )


def test_a_card_that_never_pays_is_said_so_with_the_cipher_of_its_rate(
    folder: Path, tmp_path: Path
) -> None:
    slow = card(tmp_path, host_ns=18_600, setup_ns=20_000)
    assert said(folder, slow).care[0] == "pretend (projected) never pays."
    other = card(tmp_path, host_ns=18_600, setup_ns=20_000, algorithm="3des")
    assert said(folder, other).care[0] == "pretend (projected, at its 3des rate) never pays."


def test_a_card_that_frees_a_little_pays_where_a_core_is_dear(folder: Path, tmp_path: Path) -> None:
    told = said(folder, card(tmp_path, host_ns=10))
    assert told.headline.startswith("Buy nothing; ")
    assert told.care[0] == "pretend (projected) pays where a core costs over 352,000 USD."


def test_a_card_that_frees_much_is_a_condition_and_a_price_settles_it(
    folder: Path, tmp_path: Path
) -> None:
    made = card(tmp_path, host_ns=10)
    asked = {"rate_per_s": 20e6}
    assert said(folder, made, **asked).headline == (
        "Buy nothing unless a core costs you over 1,670 USD; run on your CPU, with Sealift's "
        "kernels"
    )
    assert said(folder, made, **asked, core_price=500).headline.startswith("Buy nothing; ")
    bought = said(folder, made, **asked, core_price=5_000)
    assert bought.headline.startswith("Buy pretend (projected); else run on your CPU")
    free = card(tmp_path, name="free", host_ns=10, price=None)
    assert said(folder, free, **asked).headline.startswith(
        "Buy nothing unless 0.54 cores are worth free to you; "
    )


def test_a_card_is_told_when_nothing_here_does_what_is_asked(folder: Path, tmp_path: Path) -> None:
    made = card(tmp_path, host_ns=5, setup_ns=5)
    assert said(folder, made, rate_per_s=50e6).care[0] == "pretend (projected) would do it."


def test_a_card_that_is_too_late_is_no_buy(folder: Path, tmp_path: Path) -> None:
    made = card(tmp_path, host_ns=1, latency_ns=3e6)
    asked = {"p99_ns": 2e6, "core_price": 1e9}
    late = said(folder, made, rate_per_s=20e6, **asked)
    assert late.headline.startswith("Buy nothing; ")
    assert late.care[-1] == "2 × pretend (projected) is not shown to be back in time."


def test_a_card_has_a_bar_of_its_own_that_is_marked_as_projected(
    folder: Path, tmp_path: Path
) -> None:
    bars = {bar.device: bar for bar in said(folder, card(tmp_path, host_ns=10)).bars}
    assert bars["pretend"].text.endswith(" messages/s (projected)")
    assert not bars["pretend"].is_advised
    assert bars["cpu"].text.endswith(" messages/s")


def test_break_even_sizes_are_fitted_and_those_of_cards_projected(
    folder: Path, tmp_path: Path
) -> None:
    told = advice(folder, card(tmp_path, host_ns=10))
    found = list(csv.DictReader(io.StringIO(load.csv(told))))
    pairs = [each for each in found if each["about"] == "break-even"]
    for each in pairs:
        both = {each["device"], each["against"]}
        assert each["origin"] == ("projected" if "pretend" in both else "fitted")
    assert {each["origin"] for each in pairs} == {"projected", "fitted"}


def test_every_figure_has_its_origin(folder: Path, tmp_path: Path) -> None:
    told = advice(folder, card(tmp_path, host_ns=10), p99_ns=2e6)
    found = list(csv.DictReader(io.StringIO(load.csv(told))))
    origins = {(each["device"], each["figure"]): each["origin"] for each in found}
    assert origins["cpu", "batch_ns"] == "measured"
    assert origins["cpu", "p99_ns"] == "simulated"
    assert origins["pretend", "batch_ns"] == "projected"
    assert origins["pretend", "p99_ns"] == "simulated"
    assert origins["pretend", "cores_freed"] == "projected"
    assert {each["origin"] for each in found} == {"measured", "fitted", "simulated", "projected"}
    used = [each for each in found if each["used"] == "yes" and each["device"] == "cpu"]
    assert {each["batch"] for each in used} == {"64"}
    assert {each["figure"] for each in used} == {
        "messages_per_s_at_most", "batch_ns", "host_ns_per_message", "devices_needed",
        "cores_busy", "p99_ns",
    }  # fmt: skip
    wide = next(each for each in used if each["figure"] == "batch_ns")
    assert float(wide["low95"]) <= float(wide["value"]) <= float(wide["high95"])


def test_json_holds_answer_ranks_and_the_same_figures(folder: Path, tmp_path: Path) -> None:
    told = advice(folder, card(tmp_path, host_ns=10), core_price=500)
    document = json.loads(load.json_text(told))
    assert document["schema"] == "sealift-load-advice/2"
    assert document["answer"]["headline"] == load.answer(told).headline
    assert [(each["device"], each["rank"], each["origin"]) for each in document["devices"]] == [
        ("cpu", 1, "measured"),
        ("library", 2, "measured"),
        ("pretend", 1, "projected"),
    ]
    assert document["demand"]["core_price"] == 500
    assert document["messages"]["mean_bytes"] == 128
    assert len(document["figures"]) == len(load.csv(told).splitlines()) - 1
    assert all(each["origin"] for each in document["figures"])
    assert {row["batch"] for row in document["rows"]} == {1, 4, 16, 64, 256, 1_024}


def test_a_batch_that_was_not_measured_is_refused_with_those_that_were(folder: Path) -> None:
    assert advice(folder, batch=256).best.served.used.batch.messages == 256
    with pytest.raises(ValueError, match="a batch of 100 was not measured; there are 1, 4, 16, 64"):
        advice(folder, batch=100)
