"""`sealift explain`: who gets a batch, and why."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from command import invoke
from conftest import skip
from made_load import card
from sealift import drivers, policies
from sealift.cli.explaining import Asked, Taken, taken_of

REAL = [driver.name for driver in drivers() if driver.role == "real"]
BATCH = ("explain", "--messages", "64", "--bytes", "128")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    return tmp_path / "caches" / "sealift"


def explained(*arguments: str) -> dict[str, Any]:
    ran = invoke(*BATCH, "--json", *arguments)
    assert ran.exit_code == 0, ran.stderr
    document: dict[str, Any] = json.loads(ran.stdout)
    return document


def test_help_lists_every_policy_with_what_it_does() -> None:
    shown = " ".join(invoke("explain", "--help").output.split())
    for policy in policies():
        assert f"{policy.name} {policy.summary}" in shown
    assert "sealift explain --messages 1024 --bytes 128" in shown
    assert "predicted ns what one batch is predicted to take" in shown


def test_json_says_what_each_quoted_who_won_and_how_long_it_took() -> None:
    document = explained()
    assert document["schema"] == "sealift-explanation/1"
    assert (document["messages"], document["message_bytes"]) == (64, 128)
    assert document["policy"] == "earliest-finish"
    assert [each["device"] for each in document["devices"]] == REAL
    quickest = min(document["devices"], key=lambda each: each["predicted_ns"])
    assert document["device"] == quickest["device"]
    assert document["because"] == "it is predicted to finish first" or len(REAL) == 1
    for each in document["devices"]:
        cost = each["cost"]
        straight = cost["setup_ns"] + 64 * cost["per_message_ns"] + 64 * 128 * cost["per_byte_ns"]
        # Rare slow batches are counted in.
        assert each["predicted_ns"] >= straight * (1 - 1e-6)
        assert each["host_ns"] == each["predicted_ns"]
        assert each["predicted_messages_per_s"] == pytest.approx(64e9 / each["predicted_ns"])
        taken = each["taken"]
        assert 0 < taken["low_ns"] <= taken["median_ns"] <= taken["high_ns"]
        # Both are of this machine in this second; only one out of thin air is ten times off.
        assert 0.1 < taken["median_ns"] / each["predicted_ns"] < 10
        assert each["not_run"] is None
    assert sum(each["batches"] for each in document["given"]) > 0
    assert {each["device"] for each in document["given"]} <= set(REAL)


def test_few_samples_have_a_middle_half_within_them_or_none() -> None:
    assert taken_of([3.0, 1.0, 2.0]) == Taken(3, 2.0, None, None)
    assert taken_of([5.0]) == Taken(1, 5.0, None, None)
    assert taken_of([4.0, 1.0, 2.0, 3.0]) == Taken(4, 2.5, 1.75, 3.25)


def test_costs_are_measured_once_and_anew_when_asked(cache: Path) -> None:
    first = explained()
    assert {each["cost"]["source"] for each in first["devices"]} == {"measured"}
    (file,) = cache.iterdir()
    assert first["cache"] == {"file": str(file), "remarks": []}
    text = file.read_text()
    second = explained()
    assert {each["cost"]["source"] for each in second["devices"]} == {"cache"}
    for one, other in zip(first["devices"], second["devices"], strict=True):
        assert one["cost"]["setup_ns"] == other["cost"]["setup_ns"]
        assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", other["cost"]["measured_at"])
    assert file.read_text() == text
    # As costs of yesterday that another neighbour slowed down.
    file.write_text("".join(map(slowed_yesterday, text.splitlines(keepends=True))))
    stale = invoke(*BATCH).stdout
    for name in REAL:
        assert re.search(
            rf"^{name}: measured [\d,.]+ ns, predicted [\d,.]+ ns \([\d.]+ times as fast\): "
            r"costs were measured 20\d\d-\S+ \S+ UTC, 26 hours ago; "
            r"renew them with `sealift explain --messages 64 --bytes 128 --calibrate`$",
            stale,
            re.MULTILINE,
        ), stale
    third = explained("--calibrate")
    assert {each["cost"]["source"] for each in third["devices"]} == {"measured"}
    assert file.read_text() != text


def slowed_yesterday(line: str) -> str:
    """A line of the cache whose costs are ten times as high and 26 hours older."""
    fields = line.rstrip("\n").split("\t")
    if len(fields) < 7:
        return line
    costs = [f"{10 * float(cost):g}" for cost in fields[3:6]]
    return "\t".join([*fields[:3], *costs, str(int(fields[6]) - 26 * 3_600)]) + "\n"


def test_what_batches_take_is_beside_what_was_predicted_where_that_is_far_off() -> None:
    asked = Asked(
        device="cpu",
        role="real",
        asked=True,
        predicted_ns=100.0,
        host_ns=None,
        known=None,  # type: ignore[arg-type]
        taken=Taken(4, 129.0, None, None),
        not_run=None,
    )
    assert (asked.disagrees, asked.taken_over_predicted) == ("", 1.29)
    slow = replace(asked, taken=Taken(4, 180.0, None, None))
    assert slow.disagrees == "1.80 times as long"
    assert replace(asked, taken=Taken(4, 50.0, None, None)).disagrees == "2.00 times as fast"
    assert replace(asked, taken=None).taken_over_predicted is None


def test_a_cache_in_the_way_is_told_of_and_changes_nothing(cache: Path) -> None:
    cache.parent.mkdir()
    cache.write_text("no folder")
    ran = invoke(*BATCH)
    assert ran.exit_code == 0
    assert f"{cache} is no folder" in ran.stderr
    assert "measured just now" in ran.stdout
    assert cache.read_text() == "no folder"


def test_the_table_shows_sources_pairs_and_what_was_done() -> None:
    ran = invoke(*BATCH, "--devices", "library,reference")
    assert ran.exit_code == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[0].startswith("64 messages of 128 bytes, earliest-finish: library, because ")
    assert lines[2].split() == [
        "device", "predicted", "ns", "messages/s", "host", "CPU", "ns", "taken", "ns", "middle",
        "half",
    ]  # fmt: skip
    assert re.search(r"^library .* \[[\d.,]+\] of [\d,]+$", lines[3])
    assert lines[4].endswith("(not asked, its role is oracle)")
    assert re.search(
        r"\n[\d,]+ such batches were run just now without naming a device: library [\d,]+ ",
        ran.stdout,
    )
    assert "By these costs, for batches of 64:\n  library is at least as fast" in ran.stdout
    assert "\nCost of reference: " in ran.stdout
    assert "--calibrate measures anew" in ran.stdout


def test_a_policy_is_shown_as_it_would_choose() -> None:
    if "cpu" not in REAL:
        skip("cpu", "there is no cpu beside the library to choose between")
    document = explained("--devices", "library,cpu:isa=aesni", "--policy", "failover")
    assert (document["device"], document["because"]) == ("library", "it is the first in order")
    turns = explained("--devices", "cpu:isa=aesni,library", "--policy", "round-robin")
    counts = {each["device"]: each["batches"] for each in turns["given"]}
    assert set(counts) == {"cpu:isa=aesni", "library"}
    assert abs(counts["library"] - counts["cpu:isa=aesni"]) <= 1
    assert {each["because"] for each in turns["given"]} == {"it was its turn"}


def test_a_device_that_fails_is_shown_with_its_reason() -> None:
    document = explained("--devices", "fault:fail=1(library),library")
    broken, library = document["devices"]
    assert (broken["taken"], broken["asked"]) == (None, False)
    assert "failed" in broken["not_run"]
    assert broken["cost"]["source"] == "known"
    assert "failed" in broken["cost"]["reason"]
    assert library["taken"]["batches"] > 0


def test_what_would_take_too_long_or_too_much_memory_is_predicted_and_not_run() -> None:
    many = ("explain", "--messages", "1000000", "--bytes", "1000000000", "--json")
    ran = invoke(*many, "--devices", "library")
    assert ran.exit_code == 0, ran.stderr
    document = json.loads(ran.stdout)
    assert document["devices"][0]["predicted_ns"] > 1e9
    assert "GB are free" in document["devices"][0]["not_run"]
    assert document["given"] == []
    slow = explained("--devices", "cpu:isa=model,library", "--messages", "1000", "--bytes", "20000")
    assert re.fullmatch(r"one would take [\d.]+ s", slow["devices"][0]["not_run"])
    assert slow["devices"][1]["taken"]


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
    names = [*REAL, "quick", "slow"]
    assert len(document["break_even"]) == len(names) * (len(names) - 1) / 2
    for pair in document["break_even"]:
        is_card = {pair["device"], pair["other"]} & {"quick", "slow"}
        assert pair["origin"] == ("projected" if is_card else "fitted")
        assert (pair["least_bytes"], pair["most_bytes"]) == (16, 4_096)


def test_a_card_among_devices_takes_what_its_description_says_and_nothing_of_it_is_measured(
    tmp_path: Path,
) -> None:
    bent = card(tmp_path, name="bent", host_ns=2_000, rate_gbit_per_s=1, algorithm="3des")
    file = tmp_path / "bent.toml"
    reckoned = bent.predict(64, 128)
    line = bent.cost()
    straight_ns = line.setup_ns + 64 * (line.per_message_ns + 128 * line.per_byte_ns)
    assert straight_ns != pytest.approx(reckoned.batch_ns, rel=0.05), "who goes by it errs"
    given = ("--devices", f"library,{bent.spec}")
    document = explained(*given)
    told = document["devices"][1]
    assert (told["device"], told["origin"]) == (bent.spec, "projected")
    assert (told["predicted_ns"], told["host_ns"]) == (reckoned.batch_ns, reckoned.host_ns)
    assert told["taken"]["median_ns"] == pytest.approx(reckoned.batch_ns, rel=0.01)
    (among,) = document["break_even"]
    (beside,) = explained("--devices", "library", "--device", str(file))["break_even"]
    assert (among["origin"], beside["origin"]) == ("projected", "projected")
    assert (among["is_faster"], among["message_bytes"]) == (
        beside["is_faster"],
        beside["message_bytes"],
    )
    shown = invoke(*BATCH, *given).stdout
    assert "(not asked, its role is simulated; its times are projected)" in shown
    assert f"{bent.spec}: measured" not in shown
    assert f"Projected: {bent.spec}: a card that never was" in shown
    refused = invoke(*BATCH, "--devices", f"{bent.spec},cards:quad-hifn-7751")
    assert refused.exit_code == 2
    assert f"what cards would take: --device {file} --device quad-hifn-7751" in refused.stderr


def test_what_a_card_was_fitted_to_and_how_badly_stands_beside_it() -> None:
    shown = invoke(*BATCH, "--devices", "library", "--device", "four-broadcom-5820").stdout
    assert re.search(
        r"Fitted: card\.setup_us = 10\.29 us \(.*mean error is [\d.]+ %, the worst \d+ %\); host",
        shown,
    )
    assert "`sealift lab run 'cards-*'` plays such boards event by event" in shown


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
    assert re.search(r"slow \(projected\) from 16 to 4,096 bytes$", shown, re.MULTILINE)
    assert re.search(
        r"^Projected: slow: a card that never was; from a test\. host\.copy_gbit_per_s is [\d.,]+ "
        r"Gbit/s, measured here: .*\. Its rate is that of 3des\.$",
        shown,
        re.MULTILINE,
    )


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--policy", "round-rubin"), 2, 'there are earliest-finish, .*mean "round-robin"'),
        (("--policy", "size-split:bytes=x"), 2, "write size-split:bytes=4096"),
        (("--policy", ""), 2, "write a name, .* there are earliest-finish"),
        (("--devices", "libary"), 2, "did you mean 'library'"),
        (("--devices", "reference,null"), 2, "goes to a real one, and there is none in reference"),
        (("--devices", "gpu"), 2, "no driver is called 'gpu'; GPUs are the devices cuda and"),
        (("--messages", "0"), 2, "--messages"),
        (
            ("--device", "quad-hifn"),
            2,
            "no card is called 'quad-hifn'; did you mean quad-hifn-7751",
        ),
        (("--device", "cpu"), 2, "'cpu' is no card but a device of this machine: --devices cpu"),
        (("--device", "H200"), 2, "no card but a GPU. Projected, a message of 128 bytes"),
        (("--device", "cards:quad-hifn-7751"), 2, "its card: --device quad-hifn-7751"),
        (("--device", "nowhere.toml"), 2, "nowhere.toml"),
        (("--bytes", "-1"), 2, "--bytes"),
    ],
)
def test_wrong_usage_ends_with_2_and_what_would_be_right(
    arguments: tuple[str, ...], code: int, said: str
) -> None:
    ran = invoke(*BATCH, *arguments)
    assert ran.exit_code == code
    assert re.search(said, ran.stderr), ran.stderr
    assert ran.stdout == ""
