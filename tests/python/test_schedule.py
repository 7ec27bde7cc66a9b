"""Which device an engine gives a batch, what it says about that, and what it knows of costs."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sealift
import sealift_lab._lab as lab
from conftest import skip
from sealift import Cost, Engine, InputError, UnknownDeviceError

KEY = bytes(range(16))
BOTH = ["library", "cpu:isa=aesni"]
TRIED_AGAIN = "it has not been tried for long"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "sealift"


def seal(engine: Engine, count: int, device: str | None = None) -> None:
    """Seals batches of four messages."""
    session = engine.session(KEY)
    for _ in range(count):
        nonces = [session.next_nonce() for _ in range(4)]
        engine.seal_batch(session, nonces, [b"x" * 10] * 4, device=device)


def test_an_engine_without_arguments_opens_what_is_present() -> None:
    present = [driver.name for driver in sealift.drivers() if driver.state == "present"]
    assert [device.name for device in Engine().devices] == present
    assert Engine().policy == Engine.detect().policy == sealift.policies()[0].name


@pytest.mark.parametrize("policy", [policy.name for policy in sealift.policies()])
def test_every_policy_does_what_it_was_explained_to_do(policy: str) -> None:
    if "cpu" not in [driver.name for driver in sealift.drivers() if driver.role == "real"]:
        skip("cpu", "there is no cpu beside the library to choose between")
    engine = Engine(BOTH, policy=policy)
    assert engine.policy == policy
    for _ in range(4):
        # The time at which a device is tried again may pass between any two of these.
        for _ in range(100):
            said, again = engine.explain(4, 10), engine.explain(4, 10)
            seal(engine, 1)
            done = engine.records()[-1]
            if TRIED_AGAIN not in (said.because, again.because, done.because):
                break
        assert (done.device, done.because) == (said.device, said.because)
        assert again.device == said.device
        assert [quote.device for quote in said.quotes] == [name for name, _ in done.quotes] == BOTH
        assert said.predicted_ns in [quote.predicted_ns for quote in said.quotes]
    assert said.device in repr(said)


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (
            "earliest-finnish",
            '"earliest-finnish" is no .*there are earliest-finish, .*did you mean',
        ),
        ("", "write a name, with settings as in size-split:bytes=4096; there are earliest-finish"),
        ("round-robin:x=1", 'round-robin has no setting "x": it takes none$'),
        ("earliest-finish:objective=money", "objective=money: there are time and host"),
    ],
)
def test_a_policy_that_is_none_is_answered_with_those_there_are(policy: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Engine(policy=policy)
    with pytest.raises(InputError, match=said):
        Engine(["library"], policy=policy)


def test_policies_are_listed_with_what_they_do() -> None:
    for policy in sealift.policies():
        assert policy.summary
        assert policy.name in repr(policy)


@pytest.mark.parametrize(
    ("messages", "message_bytes", "error", "said"),
    [
        (0, 1, InputError, "messages is 0: give 1 or more"),
        (1, -1, InputError, "message_bytes is -1: give 0 or more"),
        (2**32, 0, InputError, "4294967296 messages: a batch takes at most 4294967295"),
        (1, 2**40, sealift.LimitError, "library takes messages of at most"),
        (2**70, 1, InputError, f"messages is {2**70}: give 1 to {2**63 - 1}"),
        (1, 2**64, InputError, f"message_bytes is {2**64}: give 0 to"),
        ("a", 1, TypeError, "messages is of type str: give a whole number"),
    ],
)
def test_a_batch_that_can_not_be_is_not_explained(
    messages: Any, message_bytes: int, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        Engine(["library"]).explain(messages, message_bytes)


def test_no_device_is_real_and_nobody_is_explained() -> None:
    with pytest.raises(sealift.DeviceError, match="none of reference is real"):
        lab.Engine(["reference"]).explain(1, 1)


def test_a_batch_that_a_device_fails_is_done_elsewhere_and_the_records_tell() -> None:
    engine = lab.Engine(["fault:fail=1(library)", "library"])
    with pytest.raises(sealift.DeviceError, match="failed"):
        seal(engine, 1, "fault:fail=1(library)")
    seal(engine, 1)
    failed, done = engine.records()
    assert (failed.end, failed.device, failed.because) == (
        "failed",
        "fault:fail=1(library)",
        "it was named",
    )
    assert (done.end, done.device, done.attempt) == ("done", "library", 0)
    assert "failed, 4 messages" in repr(failed)
    counters = engine.counters("fault:fail=1(library)")
    assert (counters.failed, counters.batches) == (1, 0)
    assert (counters.abandoned, counters.wrong, counters.late) == (0, 0, 0)


def test_an_audit_finds_a_device_that_seals_wrongly_and_takes_it_out_of_use() -> None:
    wrong = "fault:wrong=1(library)"
    engine = lab.Engine([wrong, "library", "reference"], audit=1)
    with pytest.raises(sealift.DeviceError):
        seal(engine, 1, wrong)
    assert engine.state(wrong) == "quarantined"
    assert engine.records()[-1].end == "wrong"
    assert engine.counters(wrong).wrong == 1
    seal(engine, 3)
    assert (engine.state("library"), engine.counters("library").wrong) == ("up", 0)
    engine.reinstate(wrong)
    assert engine.state(wrong) == "up"


def test_without_an_audit_nobody_notices() -> None:
    wrong = "fault:wrong=1(library)"
    engine = lab.Engine([wrong, "library", "reference"])
    seal(engine, 1, wrong)
    assert (engine.state(wrong), engine.records()[-1].end) == ("up", "done")


@pytest.mark.parametrize("share", [0, -0.5, 1.01, float("nan")])
def test_an_audit_is_a_share(share: float) -> None:
    with pytest.raises(InputError, match="give a share above 0 and of at most 1"):
        lab.Engine(["library", "reference"], audit=share)
    with pytest.raises(InputError, match="it takes a second device"):
        Engine(["library"], audit=0.5)


def test_a_device_that_fails_again_and_again_is_down_until_it_is_reinstated() -> None:
    name = "fault:fail=1(library)"
    engine = lab.Engine([name])
    assert engine.state(name) == "up"
    for _ in range(3):
        with pytest.raises(sealift.DeviceError, match="failed"):
            seal(engine, 1, name)
    # It is down for some milliseconds, each time for twice as long: a busy machine may need two.
    states = []
    for _ in range(10):
        states.append(engine.state(name))
        if states[-1] == "down":
            break
        with pytest.raises(sealift.DeviceError, match="failed"):
            seal(engine, 1, name)
    assert states[-1] == "down"
    engine.reinstate(name)
    assert engine.state(name) == "up"
    for ask in (engine.state, engine.reinstate):
        with pytest.raises(UnknownDeviceError, match=r"no open device is called .*cpu"):
            ask("cpu")


def test_what_is_released_is_taken_again() -> None:
    engine = Engine(["library"])
    seal(engine, 1)
    engine.release()
    seal(engine, 1)
    assert engine.counters("library").batches == 2


def test_costs_are_learnt_from_batches() -> None:
    engine = lab.Engine(["reference", "library"])
    assert list(engine.costs()) == ["reference", "library"]
    before = engine.costs()["library"]
    # Some of them: a decision that is used again teaches nothing.
    seal(engine, 200, "library")
    after = engine.costs()["library"]
    assert (before.setup_ns, before.per_message_ns) != (after.setup_ns, after.per_message_ns)
    assert min(after.setup_ns, after.per_message_ns, after.per_byte_ns) >= 0


def test_costs_are_measured_once_kept_and_read_when_an_engine_is_made(cache: Path) -> None:
    first = lab.Engine(["library", "null"]).calibrate()
    assert {found.source for found in first.devices.values()} == {"measured"}
    assert first.file is not None
    assert (first.file.parent, first.remarks) == (cache, [])
    library = first.devices["library"].cost
    engine = Engine(["library"])
    assert _terms(engine.costs()["library"]) == _terms(library)
    again = engine.calibrate()
    assert list(again.devices) == ["library"]
    assert again.devices["library"].source == "cache"
    measured_at_s = again.devices["library"].measured_at_s
    assert measured_at_s is not None
    # Files' times are of a clock that is some milliseconds late.
    assert -1 < first.file.stat().st_mtime - measured_at_s < 60
    assert engine.records() == []
    anew = engine.calibrate(anew=True)
    assert anew.devices["library"].source == "measured"
    assert engine.counters("library").batches > 10


def test_calibration_says_in_words_what_it_is() -> None:
    found = Engine(["library"]).calibrate()
    assert repr(found).startswith("Calibration({'library': Calibrated(Cost(")
    assert "measured" in repr(found.devices["library"])
    assert "ns a message" in repr(found.devices["library"].cost)


def test_a_device_that_fails_is_not_calibrated() -> None:
    found = lab.Engine(["fault:fail=1(library)"]).calibrate().devices["fault:fail=1(library)"]
    assert (found.source, found.measured_at_s) == ("known", None)
    assert "failed" in str(found.reason)


def test_damage_and_links_in_the_cache_cost_a_remark_and_are_put_right(
    cache: Path, tmp_path: Path
) -> None:
    file = Engine(["library"]).calibrate().file
    assert file is not None
    good = file.read_text()
    file.write_text(good[: len(good) // 2])
    found = Engine(["library"]).calibrate()
    assert found.remarks == [f"{file} is damaged"]
    assert found.devices["library"].source == "measured"
    assert Engine(["library"]).calibrate().remarks == []

    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("not ours")
    file.unlink()
    file.symlink_to(elsewhere)
    found = Engine(["library"]).calibrate()
    assert "it is no plain file" in found.remarks[0]
    assert elsewhere.read_text() == "not ours"
    assert not file.is_symlink()
    assert [path.name for path in cache.iterdir()] == [file.name]


def test_where_there_is_no_home_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    found = Engine(["library"]).calibrate()
    assert found.file is None
    assert found.remarks == [
        "neither $XDG_CACHE_HOME nor $HOME names a folder to keep costs in",
    ]
    assert found.devices["library"].source == "measured"


def test_making_an_engine_writes_nothing(cache: Path) -> None:
    program = "import sealift; sealift.Engine(); sealift.AESGCM(bytes(16))"
    subprocess.run([sys.executable, "-c", program], env=os.environ.copy(), check=True)
    assert not cache.exists()


def test_a_forked_child_is_told_to_make_its_own_engine() -> None:
    engine = Engine(["library"])
    child = os.fork()
    if child == 0:
        calls: list[Callable[[], object]] = [
            lambda: engine.explain(1, 1),
            engine.costs,
            engine.calibrate,
            engine.release,
            lambda: engine.reinstate("library"),
            lambda: engine.state("library"),
            lambda: engine.policy,
        ]
        told = 0
        for call in calls:
            try:
                call()
            except sealift.ForkedError:
                told += 1
        os._exit(0 if told == len(calls) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _terms(cost: Cost) -> tuple[float, float, float]:
    return cost.setup_ns, cost.per_message_ns, cost.per_byte_ns
