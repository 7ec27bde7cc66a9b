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


def text(folder: Path, *cards: Card, **changes: Any) -> str:
    return load.text(advice(folder, *cards, **changes))


def first(folder: Path, *cards: Card, **changes: Any) -> str:
    return text(folder, *cards, **changes).splitlines()[0]


def second(folder: Path, *cards: Card, **changes: Any) -> str:
    return text(folder, *cards, **changes).splitlines()[1]


def test_a_load_that_one_core_hardly_notices_needs_nothing(folder: Path) -> None:
    assert first(folder, p99_ns=2e6) == (
        "Buy nothing: cpu on one core is 0.18 % busy with 40,000 messages a second of 128 bytes, "
        "sealed under 5,000 sessions, in batches of 64; p99 at most 1.79 ms of the 2 ms "
        "wanted (simulated)."
    )


def test_without_a_deadline_the_batch_fills_within_a_millisecond(folder: Path) -> None:
    assert first(folder).endswith("in batches of 16; p99 at most 527 us (simulated).")
    assert first(folder, rate_per_s=100).endswith(
        "is 0.0064 % busy with 100 messages a second of 128 bytes, sealed under 5,000 sessions, "
        "one at a time; p99 0.637 us (simulated)."
    )


def test_without_a_rate_the_fastest_is_named(folder: Path) -> None:
    assert first(folder, rate_per_s=None) == (
        "Run them on cpu: on one core at most 27 million messages a second of 128 bytes, sealed "
        "under 5,000 sessions, in batches of 1,024; one alone takes 0.637 us (measured)."
    )


def test_a_load_beyond_a_core_is_told_with_the_cores_that_there_are(folder: Path) -> None:
    assert first(folder, rate_per_s=50e6) == (
        "cpu on one core can't keep up: 50 million messages a second of 128 bytes, sealed under "
        "5,000 sessions, in batches of 1,024 take 1.8 cores; 3 cores may do, and this machine "
        "has 2."
    )
    assert first(folder, rate_per_s=45e6).endswith(
        "take 1.7 cores; of the 2 cores here 2 may do: --threads 2 measures them."
    )
    assert first(folder, rate_per_s=500e6).endswith(
        "take 18 cores; 21 cores may do, and this machine has 2."
    )


def test_a_core_that_is_nearly_full_is_told_with_what_helps(folder: Path, tmp_path: Path) -> None:
    for p99_ns in (None, 1e9):
        lines = text(folder, rate_per_s=26e6, p99_ns=p99_ns).splitlines()
        assert re.fullmatch(
            r"cpu on one core is 9[56] % busy with 26 million messages a second of 128 bytes, "
            r"sealed under 5,000 sessions, in batches of 1,024: too near to full to say how long "
            r"they take. A larger --batch or more cores would help; of the 2 cores here 2 may do: "
            r"--threads 2 measures them.",
            lines[0],
        )
        assert next(line for line in lines if " cpu " in line).endswith("too near to full to say")
    near = card(tmp_path, host_ns=10, setup_ns=20)
    assert second(folder, near, rate_per_s=32e6).endswith(
        "; it is too near to full to say its p99."
    )


def test_a_wish_for_p99_buys_no_cards_of_which_none_was_reckoned(
    folder: Path, tmp_path: Path
) -> None:
    made = card(tmp_path, host_ns=1, setup_ns=200)
    asked = {"rate_per_s": 10e6, "core_price": 1e9}
    assert first(folder, made, **asked).startswith("Buy 3 x pretend (projected): ")
    assert first(folder, made, **asked, p99_ns=1e9).startswith("Buy nothing: ")
    told = second(folder, made, **asked, p99_ns=1e9)
    assert told.endswith("; the p99 of 3 of them was not reckoned.")


def test_a_deadline_that_nothing_meets_is_told_with_what_comes_nearest(folder: Path) -> None:
    assert first(folder, p99_ns=100) == (
        "No device here is shown to be back within 0.1 us: cpu on one core comes nearest, p99 "
        "0.637 us (simulated), with 40,000 messages a second of 128 bytes, sealed under 5,000 "
        "sessions, one at a time."
    )


def test_what_hardly_anybody_sends_or_can_work_is_told_in_few_digits(folder: Path) -> None:
    assert "cpu on one core is under 0.001 % busy with 1 message a second of 128 bytes" in first(
        folder, rate_per_s=1.0
    )
    shown = text(folder, rate_per_s=1e12)
    assert "1,000 billion messages a second" in shown
    assert re.search(r"can't keep up: needs 3\d,\d{3} of them", shown)


def test_several_threads_share_the_load(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "run", own(threads=2))
    assert first(folder, rate_per_s=45e6).startswith("Buy nothing: cpu on 2 cores is 83 % busy")


def test_devices_that_are_the_same_are_both_named(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "run", ns=lambda cell: 40.0 + 600 / int(cell["batch"]))
    shown = text(folder)
    assert re.match(r"Buy nothing: (cpu or library|library or cpu) on one core", shown)
    assert re.search(r"^   1  cpu ", shown, re.MULTILINE)
    assert re.search(r"^   1  library ", shown, re.MULTILINE)
    assert " are the same within noise.\n" in shown


def nearly_alike_ns(cell: Cell) -> float:
    """What takes as long on any device but for a tenth."""
    return batch_ns({**cell, "device": "cpu"}) * (1.1 if cell["device"] == "library" else 1.0)


def test_devices_that_noise_hides_are_not_told_apart_and_one_is_named(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "run", ns=nearly_alike_ns, noise=0.25)
    shown = text(folder)
    assert not re.match("Buy nothing: .* or ", shown)
    assert re.search(r"don't tell \w+ and \w+ apart: noise floor over 10 %\.\n", shown)


def test_many_lengths_are_told_by_their_mean(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "run", own({40: 3, 1_500: 1}))
    shown = text(folder)
    assert "40,000 messages a second of 405 bytes on average" in shown
    assert "library and cpu, 2 lengths of 40 to 1,500 bytes, 405 on average, AES-128, " in shown


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
    assert "What was measured" not in text(folder)
    samples = folder / "samples.jsonl"
    samples.write_text(re.sub(r'"bytes":\d+', '"bytes":40000', samples.read_text()))
    assert re.search(
        r"What was measured has [\d.]+ bytes on average, and not 1,114: too few messages for the ",
        text(folder),
    )


def test_a_card_that_never_pays_is_said_so_with_the_reason(folder: Path, tmp_path: Path) -> None:
    slow = card(tmp_path, host_ns=18_600, setup_ns=20_000)
    assert second(folder, slow) == (
        "pretend (projected) never pays: a message takes this processor 18.6 us with it and "
        "0.0739 us on cpu, and no batch is back earlier."
    )
    shown = text(folder, slow)
    assert (
        "In time: never with 128 bytes a message: in batches of 1,048,576 it still takes " in shown
    )
    assert "In host CPU: never: a message takes this processor 18.6 us" in shown
    assert "In money: never with such batches: 900 USD free no core; it draws 25.00 W." in shown


def test_a_card_that_frees_a_little_pays_where_a_core_is_dear(folder: Path, tmp_path: Path) -> None:
    made = card(tmp_path, host_ns=10)
    assert first(folder, made).startswith("Buy nothing: ")
    assert second(folder, made) == (
        "pretend (projected) frees 0.0026 cores: for 900 USD it pays where a core costs over "
        "352,000 USD."
    )


def test_a_card_that_frees_much_is_a_condition_and_a_price_settles_it(
    folder: Path, tmp_path: Path
) -> None:
    made = card(tmp_path, host_ns=10)
    asked = {"rate_per_s": 20e6}
    assert first(folder, made, **asked).startswith(
        "Buy nothing unless a core costs you over 1,670 USD: cpu on one core is 74 % busy with "
    )
    assert first(folder, made, **asked, core_price=500).startswith("Buy nothing: ")
    assert first(folder, made, **asked, core_price=5_000).startswith("Buy pretend (projected): ")
    shown = text(folder, made, **asked, core_price=5_000)
    assert "In money: yes, at this load 900 USD pay where a core costs over 1,670 USD" in shown
    free = card(tmp_path, name="free", host_ns=10, price=None)
    assert first(folder, free, **asked).startswith(
        "Buy nothing unless 0.54 cores are worth free to you: "
    )


def test_a_card_is_told_when_nothing_here_does_what_is_asked(folder: Path, tmp_path: Path) -> None:
    made = card(tmp_path, host_ns=5, setup_ns=5)
    assert second(folder, made, rate_per_s=50e6) == (
        "pretend (projected) would do it, and frees 1.6 cores."
    )


def test_a_card_that_is_too_late_is_no_buy(folder: Path, tmp_path: Path) -> None:
    made = card(tmp_path, host_ns=1, latency_ns=3e6)
    asked = {"p99_ns": 2e6, "core_price": 1e9}
    assert first(folder, made, rate_per_s=20e6, **asked).startswith("Buy nothing: ")
    assert second(folder, made, rate_per_s=20e6, **asked) == (
        "2 x pretend (projected) is not shown to be back in time: a batch of 1,024 takes 6.03 ms "
        "and 51.1 us to fill."
    )
    assert re.fullmatch(
        r"pretend \(projected\) is not shown to be back in time: p99 (?:at most )?"
        r"6\.[\d]+ ms \(simulated\)\.",
        second(folder, made, rate_per_s=5e6, **asked),
    )


def test_the_table_marks_what_is_projected_and_what_cannot_keep_up(
    folder: Path, tmp_path: Path
) -> None:
    shown = text(folder, card(tmp_path, host_ns=10), rate_per_s=10e6).splitlines()
    table = [re.split(" {2,}", line.strip()) for line in shown[3:7]]
    assert table[0] == [
        "rank", "device", "origin", "batch", "messages/s", "MB/s", "one alone us", "batch us",
        "host ns/message", "cores busy", "p99 us at most",
    ]  # fmt: skip
    assert [row[:3] for row in table[1:]] == [
        ["1", "cpu", "measured"],
        ["2", "library", "measured"],
        ["~1", "pretend", "projected"],
    ]
    assert table[2][-1] == "can't keep up: needs 2.14 of them"


def test_break_even_sizes_stand_alone_and_in_the_batches_in_use(
    folder: Path, tmp_path: Path
) -> None:
    near = card(tmp_path, host_ns=10, rate_gbit_per_s=1_000, latency_ns=325)
    shown = text(folder, near)
    assert (
        "\nOne message at a time:\n  cpu is at least as fast as library from 16 to 2,048 bytes\n"
    ) in shown
    # 50 ns of ways, and 0.008 instead of 0.05 ns a byte.
    alone = re.search(
        r"from 16 to about ([\d,]+) bytes a message cpu is faster than pretend \(projected\), from "
        r"there to 2,048 pretend \(projected\)\n",
        shown,
    )
    assert alone is not None
    assert int(alone[1].replace(",", "")) == pytest.approx(50 / 0.042, rel=0.15)
    batches = shown.partition("\nIn batches of 16:\n")[2]
    assert "  pretend (projected) is at least as fast as cpu, cpu as library from 16 to " in batches


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
    assert document["schema"] == "sealift-load-advice/1"
    assert document["answer"] == load.text(told).splitlines()[:2]
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


def test_the_sources_name_what_was_measured_simulated_and_projected(
    folder: Path, tmp_path: Path
) -> None:
    made = card(tmp_path, algorithm="3des")
    shown = text(folder, made)
    sources = shown.partition("Where these figures come from:\n")[2]
    assert "Measured here: library and cpu, 128 bytes a message, AES-128, sealed under " in sources
    assert "Results checked byte for byte: library against reference; cpu against " in sources
    assert re.search(
        r"cpu: alone 6\d\d\.?\d* ns, 0\.0[45]\d* ns a byte \(at worst [\d.]+ % off\); in batches "
        r"6\d\d\.?\d* ns, (30|29|31)\.?\d* ns a message, 0\.0[45]\d* ns a byte \(at worst ",
        sources,
    )
    assert "Simulated: p99, by the engine's own scheduler in virtual time" in sources
    assert (
        "Projected: pretend: a card that never was; from a test. Its rate was published for 3des "
        "and is taken for AES-GCM.\n"
    ) in sources
    assert "without what changing keys would cost them.\n" in sources
    assert "without what changing keys" not in text(folder)
    assert "Simulated" not in text(folder, rate_per_s=None)


def test_a_byte_is_one_and_less_of_a_core_than_anybody_notices_is_told_as_such(
    tmp_path: Path,
) -> None:
    shown = text(run_of(tmp_path / "run", own({1: 1})), rate_per_s=0.01)
    assert "library and cpu, 1 byte a message, " in shown
    assert "  under 0.0001  " in shown
    assert "0.00000" not in shown.splitlines()[3]
