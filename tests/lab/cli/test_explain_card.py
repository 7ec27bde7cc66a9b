"""`sealift explain --device`: cards beside the devices that are here."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.lab.advise.made_load import card
from tests.lab.cli.commands import invoke, refused

BATCH = ("explain", "--messages", "64", "--bytes", "128")


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))


def explained(*words: object) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(invoke(*BATCH, "--json", *words).stdout)
    return document


def test_a_card_stands_beside_as_projected(tmp_path: Path) -> None:
    quick = card(tmp_path, name="quick", host_ns=0, setup_ns=0.1, latency_ns=1, rate_gbit_per_s=1e6)
    slow = card(tmp_path, name="slow", latency_ns=1e9, algorithm="3des", price=None)
    file = tmp_path / "slow.toml"
    file.write_text(file.read_text().replace("copies = 0\ncopy_gbit_per_s = 1", "copies = 2"))
    given = ("--device", tmp_path / "quick.toml", "--device", file)
    document = explained(*given)
    found = {each["device"]: each for each in document["cards"]}
    assert {each["origin"] for each in found.values()} == {"projected"}
    prediction = quick.predict(64, 128)
    assert found[quick.name]["predicted_ns"] == prediction.batch_ns
    times = prediction.batch_ns / document["predicted_ns"]
    assert found[quick.name]["times_as_long"] == pytest.approx(times)
    assert found[quick.name]["times_as_long"] < 1 < found[slow.name]["times_as_long"]
    shown = invoke(*BATCH, *given, "--policy", "failover").stdout
    for line in (
        r"quick \(projected\) would get it under earliest-finish if it were here: \S+ takes "
        r"[\d.,]+ times as long",
        r"slow \(projected\) would not get it under earliest-finish if it were here: it takes "
        r"[\d.,]+ times as long as \S+",
        r"slow \(projected\) +2,000,000,000 .* \(bound by the \w+\)",
        r"Projected: slow: a card that never was; from a test\. host\.copy_gbit_per_s is [\d.,]+ "
        r"Gbit/s, measured here: .*\. Its rate is that of 3des, taken for AES-GCM\.",
    ):
        assert re.search(f"^{line}$", shown, re.MULTILINE), shown


def test_a_card_among_devices_is_not_chosen(tmp_path: Path) -> None:
    made = card(tmp_path, name="made")
    document = explained("--devices", f"library,{made.spec}", "--device", "four-broadcom-5820")
    told = document["devices"][1]
    assert (told["device"], told["origin"], told["asked"]) == (made.spec, "projected", False)
    (projection,) = document["cards"]
    fit = r"Fitted: card\.setup_us = 10\.29 us \(.*mean error is [\d.]+ %, the worst \d+ %\); host"
    assert re.search(fit, projection["notes"])
    assert "simulates such boards event by event" in projection["notes"]
    assert "goes to a real one" in refused(*BATCH, "--devices", f"{made.spec},null")


def test_what_is_no_card_ends_with_2_and_what_would_be_right() -> None:
    for text, said in (
        ("quad-hifn", "no card is called 'quad-hifn'; did you mean quad-hifn-7751"),
        ("cpu", "'cpu' is no card but a device of this machine: --devices cpu"),
        ("H200", "no card but a GPU"),
        ("nowhere.toml", "nowhere.toml"),
    ):
        assert said in refused(*BATCH, "--device", text)
