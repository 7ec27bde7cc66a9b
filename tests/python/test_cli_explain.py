"""`sealift explain`: who gets a batch, and why."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from command import invoke
from conftest import skip
from sealift import drivers, policies

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
    assert "predicted ns predicted time of the batch" in shown


def test_json_says_what_each_quoted_and_who_won() -> None:
    document = explained()
    assert document["schema"] == "sealift-explanation/3"
    assert (document["messages"], document["message_bytes"]) == (64, 128)
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
    third = explained("--calibrate")
    assert {each["cost"]["source"] for each in third["devices"]} == {"measured"}
    assert file.read_text() != text


def test_a_cache_in_the_way_is_told_of_and_changes_nothing(cache: Path) -> None:
    cache.parent.mkdir()
    cache.write_text("no folder")
    ran = invoke(*BATCH, "--devices", "library,reference")
    assert ran.exit_code == 0
    assert f"{cache} is no folder" in ran.stderr
    assert cache.read_text() == "no folder"
    lines = ran.stdout.splitlines()
    assert lines[0].startswith("64 messages of 128 bytes, earliest-finish: library, because ")
    heads = "device predicted ns messages/s host CPU ns"
    assert lines[2].split() == heads.split()
    assert re.fullmatch(r"library( +[\d.,]+){3}", lines[3])
    assert lines[4].endswith("(not asked, its role is oracle)")
    for text in (
        "\nCost of reference: .*; measured just now\n",
        "--calibrate measures anew",
    ):
        assert re.search(text, ran.stdout), ran.stdout


def test_a_policy_is_shown_as_it_would_choose() -> None:
    if "cpu" not in REAL:
        skip("cpu", "there is no cpu beside the library to choose between")
    document = explained("--devices", "library,cpu:isa=aesni", "--policy", "failover")
    assert (document["device"], document["because"]) == ("library", "it is the first in order")
    turns = explained("--devices", "cpu:isa=aesni,library", "--policy", "round-robin")
    assert turns["because"] == "it was its turn"


def test_a_device_that_fails_is_shown_with_its_reason() -> None:
    document = explained("--devices", "fault:fail=1(library),library")
    broken, library = document["devices"]
    assert (broken["asked"], library["asked"]) == (False, True)
    assert broken["cost"]["source"] == "known"
    assert "failed" in broken["cost"]["reason"]


def test_wrong_usage_ends_with_2_and_what_would_be_right() -> None:
    for arguments, said in (
        (("--policy", "round-rubin"), 'there are earliest-finish, .*mean "round-robin"'),
        (("--policy", "size-split:bytes=x"), "write size-split:bytes=4096"),
        (("--policy", ""), "write a name, .* there are earliest-finish"),
        (("--devices", "libary"), "did you mean 'library'"),
        (("--devices", "reference,null"), "goes to a real one, and there is none in reference"),
        (("--devices", "gpu"), "no driver is called 'gpu'; GPUs are the devices cuda and"),
        (("--messages", "0"), "--messages"),
        (("--bytes", "-1"), "--bytes"),
    ):
        ran = invoke(*BATCH, *arguments)
        assert (ran.exit_code, ran.stdout) == (2, "")
        assert re.search(said, ran.stderr), ran.stderr
