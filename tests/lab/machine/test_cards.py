"""Cards that are described by constants, as numbers, as devices, and in a rehearsal."""

import signal
import time
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from sealift import DeviceError, InputError, UnknownDeviceError
from sealift_lab._lab import Card, Cost, Engine, Rehearsal, cards, drivers, rehearse

LOAD: Any = {"batches_per_s": 1e3, "messages": 1, "message_bytes": 16}
CARD = """
name = "quick"
summary = "a card for tests"
source = "made up"

[card]
units = 2
rate_gbit_per_s = { value = 8, source = "its data sheet", fitted = true }
setup_us = 4
slots = 16
messages_per_request = 1

[host]
request_us = 1
copies = 0
copy_gbit_per_s = 1

[price]
watts = 7.5
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A card's description."""
    file = tmp_path / "quick.toml"
    file.write_text(CARD)
    return file


@pytest.fixture
def core(path: Path) -> Cost:
    """What a batch costs on a core that takes 4 microseconds a message and 1 ns a byte."""
    lone = CARD.replace("units = 2", "units = 1").replace("request_us = 1", "request_us = 0")
    path.with_name("core.toml").write_text(lone)
    return Card.read(path.with_name("core.toml")).cost()


def test_the_cards_that_come_along_say_where_each_number_is_from() -> None:
    quad, four, _ = cards()
    assert (quad.name, four.name) == ("quad-hifn-7751", "four-broadcom-5820")
    for card in (quad, four):
        assert (card.algorithm, card.units, card.spec) == ("3des", 4, f"cards:{card.name}")
        assert "document 002" in card.source
        assert card.summary
        fitted = [constant.name for constant in card.constants if constant.fitted]
        assert fitted == ["card.setup_us", "host.request_us"]
        assert all(constant.source for constant in card.constants)
        assert card.name in repr(card)
        assert "fitted" in repr(card.constants[2])


def test_the_card_of_today_takes_what_its_source_says() -> None:
    qat = cards()[2]
    assert (qat.name, qat.algorithm, qat.units) == ("intel-qat-gen4", "aes-128-xts", 2)
    assert "https://" in qat.source
    assert all(constant.source for constant in qat.constants)
    fitted = [constant.name for constant in qat.constants if constant.fitted]
    assert fitted == ["card.slots", "host.request_us", "link.latency_us"]
    # Requests of 4 KB: one after the other at 4 % of it, and at 12 GB/s where many are on the way.
    found = qat.predict(1, 4_096)
    assert found.batch_ns == pytest.approx(4_096 / (0.04 * 12), rel=0.05)
    assert found.interval_ns == pytest.approx(4_096 / 12, rel=0.02)


def test_a_file_says_what_a_card_is(path: Path) -> None:
    card = Card.read(path)
    assert (card.name, card.summary, card.source) == ("quick", "a card for tests", "made up")
    assert (card.algorithm, card.units, card.slots) == ("aes-gcm", 2, 16)
    assert (card.watts, card.price, card.currency) == (7.5, None, None)
    assert card.spec == Card.read(str(path)).spec == f"cards:{path}"
    rate = card.constants[1]
    assert (rate.name, rate.value, rate.unit) == ("card.rate_gbit_per_s", 8.0, "Gbit/s")
    assert (rate.source, rate.fitted) == ("its data sheet", True)


def test_predictions_are_those_that_one_reckons_by_hand(path: Path) -> None:
    card = Card.read(path)
    # 1 us at the host, then 5 us at one of two units.
    alone, many = card.predict(1, 1_000), card.predict(10, 1_000)
    assert (alone.batch_ns, alone.host_ns) == (6_000.0, 1_000.0)
    assert (many.interval_ns, many.bound_by) == (25_000.0, "card")
    assert "bound by card" in repr(many)
    line = card.cost()
    assert line.per_byte_ns > 0
    assert line.per_message_ns > 0


def test_how_fast_the_processor_copies_is_measured_where_it_is_left_out(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "no-caches"))
    unsaid = CARD.replace("copies = 0\ncopy_gbit_per_s = 1", "copies = 2")
    assert unsaid != CARD
    path.write_text(unsaid)
    card = Card.read(path)
    (rate,) = (constant for constant in card.constants if constant.measured)
    assert (rate.name, rate.unit, rate.fitted) == ("host.copy_gbit_per_s", "Gbit/s", False)
    assert rate.source.startswith("measured here: ")
    assert "measured here" in repr(rate)
    copied_ns = card.predict(1, 10**6).host_ns - card.predict(1, 0).host_ns
    assert copied_ns == pytest.approx(2 * 8e6 / rate.value)
    assert Card.read(path).constants[-2].value == rate.value, "once a process"
    path.write_text(unsaid.replace("copies = 2", "copies = 2\ncopy_gbit_per_s = 80"))
    assert not any(constant.measured for constant in Card.read(path).constants)


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("units = 2", "units = 0", r"line 7: card\.units is 0: give a whole number from 1"),
        ("slots = 16\n", "", r"card\.slots is missing"),
        ("setup_us", "setup_ms", r"no key card\.setup_ms"),
        ("[host]", "[host", r"line 13"),
    ],
)
def test_a_wrong_description_is_told_with_file_and_place(
    path: Path, right: str, wrong: str, said: str
) -> None:
    path.write_text(CARD.replace(right, wrong))
    with pytest.raises(InputError, match=said) as raised:
        Card.read(path)
    assert str(path) in str(raised.value)


def test_as_a_device_it_seals_true_bytes_in_reckoned_time(path: Path) -> None:
    card = Card.read(path)
    engine = Engine(["library", card.spec, f"{card.spec},number=2"])
    described = engine.devices[1]
    assert (described.name, described.driver, described.role) == (card.spec, "cards", "simulated")
    assert (described.origin, described.slots) == ("projected", 16)
    session = engine.session(bytes(16))
    nonces = [session.next_nonce() for _ in range(5)]
    texts = [bytes([number]) * 100 for number in range(5)]
    sealed = engine.seal_batch(session, nonces, texts, device=card.spec)
    assert sealed == engine.seal_batch(session, nonces, texts)
    mine, others = engine.records()[-2:]
    assert (mine.device, mine.origin) == (card.spec, "projected")
    assert mine.end_ns - mine.start_ns == pytest.approx(card.predict(5, 100).batch_ns, rel=0.01)
    assert (others.device, others.origin) == ("library", "measured"), "nobody asked for a card"


def test_a_driver_of_cards_is_no_device_without_one() -> None:
    driver = next(driver for driver in drivers() if driver.name == "cards")
    assert driver.state == "absent"
    assert driver.reason
    assert "cards:quad-hifn-7751" in driver.reason
    with pytest.raises(DeviceError, match="cards:quad-hifn-7751"):
        Engine(["cards"])
    with pytest.raises(UnknownDeviceError, match="four-broadcom-5820"):
        Engine(["cards:hifn"])


def test_a_rehearsal_gives_what_is_reckoned_where_one_batch_is_there_at_a_time(
    path: Path, core: Cost
) -> None:
    card = Card.read(path)
    load: Any = {"batches_per_s": 20, "messages": 3, "message_bytes": 1_000, "batches": 200}
    found = rehearse([card, ("core", core, 2)], **load, policy="round-robin")
    assert (found.batches, found.refused, found.lost) == (200, 0, 0)
    batches = {device.name: device.batches for device in found.devices}
    assert batches == {"quick": 100, "core": 100}
    core_ns = core.setup_ns + 3 * core.per_message_ns + 3_000 * core.per_byte_ns
    mean_ns = (card.predict(3, 1_000).batch_ns + core_ns) / 2
    assert found.response_ns_mean == pytest.approx(mean_ns, rel=0.01)
    assert found.response_ns_p99 >= found.response_ns_mean
    busy = found.devices[1].utilisation * 2 * found.span_ns
    assert busy == pytest.approx(100 * core_ns, rel=0.01)
    card_host, core_host = (device.host_utilisation for device in found.devices)
    assert core_host == pytest.approx(100 * core_ns / found.span_ns, rel=0.01)
    assert card_host * found.span_ns == pytest.approx(100 * card.predict(3, 1_000).host_ns)
    assert found.host_utilisation == card_host + core_host
    assert "200 batches" in repr(found)
    assert "quick" in repr(found.devices[0])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"batches_per_s": float("nan")}, "batches_per_s is NaN"),
        ({"batches_per_s": 0.001}, "batches / batches_per_s is 20000000 s"),
        ({"messages": -5}, "messages is -5"),
        ({"message_bytes": 2**30}, "messages of 1073741824 bytes may be in flight"),
        ({"policy": "fastest"}, "fastest"),
        ({"devices": []}, "there is no device"),
    ],
)
def test_a_rehearsal_of_what_cannot_be_is_refused(changed: dict[str, object], said: str) -> None:
    arguments: Any = {"devices": cards(), **LOAD, "batches_per_s": 100.0, **changed}
    with pytest.raises(InputError, match=said):
        rehearse(**arguments)


def test_devices_of_a_rehearsal_are_cards_or_tuples_of_different_names(core: Cost) -> None:
    def rehearsed(*devices: object) -> Rehearsal:
        return rehearse(devices, **LOAD, batches=20)  # type: ignore[arg-type]

    for wrong in ("core", ("core", 5, 1), ("core", core), 3):
        with pytest.raises(TypeError, match="give a Card, or a tuple"):
            rehearsed(wrong)
    with pytest.raises(DeviceError, match="core"):
        rehearsed(("core", core, 1), ("core", core, 2))
    with pytest.raises(InputError, match="workers is 0"):
        rehearsed(("core", core, 0))
    quad = cards()[0]
    names = [device.name for device in rehearsed(quad, quad).devices]
    assert names == ["quad-hifn-7751", "quad-hifn-7751,number=2"]


def test_a_rehearsal_can_be_interrupted(core: Cost) -> None:
    def stop(_: int, __: FrameType | None) -> None:
        raise KeyboardInterrupt

    def long() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        rehearse([("core", core, 1)], **LOAD, batches=10**7)

    before = signal.signal(signal.SIGALRM, stop)
    try:
        begin = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            long()
        assert time.monotonic() - begin < 20
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
