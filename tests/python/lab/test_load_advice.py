"""What is said of a load, on made-up runs whose answer is known."""

import csv
import io
import json
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
from sealift.lab.result import Origin
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


def answer(folder: Path, *cards: Card, **changes: Any) -> Answer:
    return load.answer(advice(folder, *cards, **changes))


RUN_ON_KERNELS = "run on your CPU, with Sealift's kernels"
PAYS = "pretend (projected) pays where a core costs over 1,670 USD."


@pytest.mark.parametrize(
    ("changes", "headline", "figure", "care"),
    [
        (
            {"p99_ns": 2e6},
            f"Buy nothing; {RUN_ON_KERNELS}",
            "0.18 % of a core [0.18–0.18] at 40,000 messages/s",
            "p99 ≤ 1.79 ms (simulated).",
        ),
        (
            {"rate_per_s": 100},
            f"Buy nothing; {RUN_ON_KERNELS}",
            "0.0064 % of a core [0.0064–0.0064] at 100 messages/s",
            "p99 0.637 us (simulated).",
        ),
        ({"rate_per_s": None}, "On your CPU, with Sealift's kernels", "5.78× AWS-LC", None),
        (
            {"rate_per_s": 50e6},
            "CPU kernels can't keep up on one core",
            "1.85 cores",
            "3 cores may do, and this machine has 2.",
        ),
        (
            {"rate_per_s": 45e6},
            "CPU kernels can't keep up on one core",
            "1.66 cores",
            "2 of the 2 cores here may do: --threads 2 measures them.",
        ),
        (
            {"rate_per_s": 26e6},
            "CPU kernels on one core: too near to full to say how long messages take",
            "96 % of a core",
            "2 of the 2 cores here may do: --threads 2 measures them.",
        ),
        (
            {"p99_ns": 100},
            "No device here is shown to be back within 0.1 us",
            "2.5 % of a core",
            "p99 0.637 us (simulated).",
        ),
        (
            {"rate_per_s": 0.01},
            f"Buy nothing; {RUN_ON_KERNELS}",
            "under 0.001 % of a core",
            "p99 0.637 us (simulated).",
        ),
    ],
)
def test_a_load_is_answered_with_what_it_takes(
    changes: dict[str, Any], headline: str, figure: str, care: str | None, folder: Path
) -> None:
    said = answer(folder, **changes)
    assert said.headline == headline
    assert said.figure.startswith(figure)
    assert care is None or care in said.care
    assert len(said.text(("Page", "runs/x/report.html")).splitlines()) <= 15


def test_several_threads_share_the_load(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "run", own(threads=2))
    assert answer(folder, rate_per_s=45e6).headline == f"Buy nothing; {RUN_ON_KERNELS}"


def test_devices_that_are_the_same_are_both_named(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "run", ns=lambda cell: 40.0 + 600 / int(cell["batch"]))
    said = answer(folder).headline
    assert "Sealift's kernels" in said
    assert "AWS-LC" in said


def nearly_alike_ns(cell: Cell) -> float:
    """What takes as long on any device but for a tenth."""
    return batch_ns({**cell, "device": "cpu"}) * (1.1 if cell["device"] == "library" else 1.0)


def test_devices_that_noise_hides_are_not_told_apart(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "run", ns=nearly_alike_ns, noise=0.25)
    assert "CPU kernels and AWS-LC are not told apart." in answer(folder).care


def test_many_lengths_are_told_by_their_mean(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "run", own({40: 3, 1_500: 1}))
    assert answer(folder).basis.startswith("messages of 405 bytes on average")


@pytest.mark.parametrize(
    ("made", "changes", "headline", "care"),
    [
        (
            {"host_ns": 18_600, "setup_ns": 20_000},
            {},
            f"Buy nothing; {RUN_ON_KERNELS}",
            "pretend (projected) never pays.",
        ),
        (
            {"host_ns": 10},
            {},
            f"Buy nothing; {RUN_ON_KERNELS}",
            "pretend (projected) pays where a core costs over 352,000 USD.",
        ),
        (
            {"host_ns": 10},
            {"rate_per_s": 20e6},
            f"Buy nothing unless a core costs you over 1,670 USD; {RUN_ON_KERNELS}",
            PAYS,
        ),
        (
            {"host_ns": 10},
            {"rate_per_s": 20e6, "core_price": 500},
            f"Buy nothing; {RUN_ON_KERNELS}",
            PAYS,
        ),
        (
            {"host_ns": 10},
            {"rate_per_s": 20e6, "core_price": 5_000},
            f"Buy pretend (projected), or {RUN_ON_KERNELS}",
            PAYS,
        ),
        (
            {"host_ns": 5, "setup_ns": 5},
            {"rate_per_s": 50e6},
            "CPU kernels can't keep up on one core",
            "pretend (projected) would do it.",
        ),
        (
            {"host_ns": 1, "latency_ns": 3e6},
            {"rate_per_s": 20e6, "p99_ns": 2e6, "core_price": 1e9},
            f"Buy nothing; {RUN_ON_KERNELS}",
            "2 × pretend (projected) is not shown to be back in time.",
        ),
    ],
)
def test_whether_a_card_pays_is_one_line(
    made: dict[str, Any],
    changes: dict[str, Any],
    headline: str,
    care: str,
    folder: Path,
    tmp_path: Path,
) -> None:
    said = answer(folder, card(tmp_path, **made), **changes)
    assert said.headline == headline
    assert care in said.care
    assert [bar.origin for bar in said.bars if bar.device == "pretend"] == [Origin.PROJECTED]


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
