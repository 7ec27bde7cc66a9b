"""`sealift explain --device`: cards beside the devices that are here."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.lab.advise.made_load import card
from typer.testing import CliRunner, Result

from sealift import drivers
from sealift.cli.root import app

REAL = [driver.name for driver in drivers() if driver.role == "real"]
BATCH = ("explain", "--messages", "64", "--bytes", "128")


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, prog_name="sealift")


def explained(*arguments: str) -> dict[str, Any]:
    ran = invoke(*BATCH, "--json", *arguments)
    assert ran.exit_code == 0, ran.stderr
    document: dict[str, Any] = json.loads(ran.stdout)
    return document


def test_a_card_stands_beside_as_projected_and_is_never_run(tmp_path: Path) -> None:
    quick = card(tmp_path, name="quick", host_ns=0, setup_ns=0.1, latency_ns=1, rate_gbit_per_s=1e6)
    slow = card(tmp_path, name="slow", latency_ns=1e9, price=None)
    given = ("--device", str(tmp_path / "quick.toml"), "--device", str(tmp_path / "slow.toml"))
    document = explained(*given)
    assert document["device"] in REAL
    assert {each["device"] for each in document["given"]} <= set(REAL)
    found = {each["device"]: each for each in document["cards"]}
    for made in (quick, slow):
        told, reckoned = found[made.name], made.predict(64, 128)
        assert told["origin"] == "projected"
        assert (told["predicted_ns"], told["host_ns"]) == (reckoned.batch_ns, reckoned.host_ns)
        assert told["predicted_messages_per_s"] == pytest.approx(64e9 / reckoned.batch_ns)
        times = reckoned.batch_ns / document["predicted_ns"]
        assert told["times_as_long"] == pytest.approx(times)
        assert told["would_finish_first"] == (times < 1)
    assert {name for name, each in found.items() if each["would_finish_first"]} == {"quick"}
    assert len(document["break_even"]) == len(REAL) * (len(REAL) - 1) / 2
    for pair in document["break_even"]:
        assert pair["origin"] == "fitted"
        assert (pair["least_bytes"], pair["most_bytes"]) == (16, 4_096)


def test_a_card_among_devices_works_batches_but_is_not_chosen(tmp_path: Path) -> None:
    made = card(tmp_path, name="made")
    told = explained("--devices", f"library,{made.spec}")["devices"][1]
    assert (told["device"], told["origin"], told["asked"]) == (made.spec, "projected", False)
    assert told["taken"]["median_ns"] == pytest.approx(made.predict(64, 128).batch_ns, rel=0.01)
    shown = invoke(*BATCH, "--devices", f"library,{made.spec}").stdout
    assert "(not asked, its role is simulated; its times are projected)" in shown
    refused = invoke(*BATCH, "--devices", f"{made.spec},cards:quad-hifn-7751")
    assert refused.exit_code == 2


def test_what_a_card_was_fitted_to_and_how_badly_stands_beside_it() -> None:
    shown = invoke(*BATCH, "--devices", "library", "--device", "four-broadcom-5820").stdout
    assert re.search(
        r"Fitted: card\.setup_us = 10\.29 us \(.*mean error is [\d.]+ %, the worst \d+ %\); host",
        shown,
    )
    assert "`sealift lab run 'cards-*'` simulates such boards event by event" in shown


def test_a_card_is_said_to_get_the_batch_or_not_and_by_how_much(tmp_path: Path) -> None:
    card(tmp_path, name="quick", host_ns=0, setup_ns=0.1, latency_ns=1, rate_gbit_per_s=1e6)
    card(tmp_path, name="slow", latency_ns=1e9, algorithm="3des")
    file = tmp_path / "slow.toml"
    file.write_text(file.read_text().replace("copies = 0\ncopy_gbit_per_s = 1", "copies = 2"))
    shown = invoke(
        *BATCH,
        *("--device", str(tmp_path / "quick.toml"), "--device", str(tmp_path / "slow.toml")),
        *("--policy", "failover"),
    ).stdout
    assert re.search(
        r"^quick \(projected\) would get it under earliest-finish if it were here: \S+ takes "
        r"[\d.,]+ times as long$",
        shown,
        re.MULTILINE,
    )
    assert re.search(
        r"^slow \(projected\) would not get it under earliest-finish if it were here: it takes "
        r"[\d.,]+ times as long as \S+ \(rate of 3des taken for AES-GCM\)$",
        shown,
        re.MULTILINE,
    )
    assert re.search(
        r"^slow \(projected\) +2,000,000,000 .* \(bound by the \w+\)$", shown, re.MULTILINE
    )
    assert re.search(
        r"^Projected: slow: a card that never was; from a test\. host\.copy_gbit_per_s is [\d.,]+ "
        r"Gbit/s, measured here: .*\. Its rate is that of 3des\.$",
        shown,
        re.MULTILINE,
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--device", "quad-hifn"),
            "no card is called 'quad-hifn'; did you mean quad-hifn-7751",
        ),
        (("--device", "cpu"), "'cpu' is no card but a device of this machine: --devices cpu"),
        (("--device", "H200"), "no card but a GPU"),
        (("--device", "cards:quad-hifn-7751"), "its card: --device quad-hifn-7751"),
        (("--device", "nowhere.toml"), "nowhere.toml"),
    ],
)
def test_what_is_no_card_ends_with_2_and_what_would_be_right(
    arguments: tuple[str, ...], said: str
) -> None:
    ran = invoke(*BATCH, *arguments)
    assert ran.exit_code == 2
    assert re.search(said, ran.stderr), ran.stderr
    assert ran.stdout == ""
