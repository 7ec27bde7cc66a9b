"""The native arms, as the lab calls them."""

import os
import signal
import threading
import time
from array import array
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from conftest import skip
from run_report import ran
from sealift import UnknownDeviceError, _sealift
from sealift._sealift import Arm
from sealift.lab import ipp, native
from sealift.lab.ipp import find_ipp, with_ipp
from sealift.lab.native import NativeArm, effective_clock_ghz, gcm, primitive, read_memory
from sealift.lab.spec import Context, Sample, Skip, WrongResultError
from sealift.lab.workload import (
    FRESH_KEYS,
    ONE_KEY,
    SEAL_ONLY,
    Mix,
    Regime,
    as_logged,
    of_size,
)

CONTEXT = Context(seed=1, folder=Path())
MIXED = Mix(50, 25, 25)


def columns(messages: int = 4, **changes: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "operation": array("B", [0, 1, 2, 0] * (messages // 4)),
        "key_len": array("B", [16] * messages),
        "nonce_len": array("B", [12] * messages),
        "aad_len": array("I", [3] * messages),
        "text_len": array("Q", [40] * messages),
        "tag_len": array("B", [16] * messages),
        "keys": "sessions",
        "sessions": 2,
        "batch": 4,
        "threads": 1,
        "seed": 1,
    }
    return plain | changes


def whole(arm: NativeArm, seconds: float, messages: int = 64) -> Sample:
    """The first of some samples that works all messages.

    A machine that paused the warm-up is taken for a slow one, of which a sample works a part.
    """
    samples = (arm.sample(seconds) for _ in range(100))
    return next(sample for sample in samples if sample.operations >= messages)


def small(device: str, *, regime: Regime = ONE_KEY, threads: int = 1) -> NativeArm:
    work = of_size(40, regime, MIXED, messages=64)
    return gcm(device, work, threads=threads, batch=16, context=CONTEXT)


def test_a_sample_counts_whole_passes_with_the_clock_beside_it() -> None:
    sample = whole(small("library"), 0.005)
    assert sample.ns > 0
    assert sample.operations > 0
    assert sample.operations % 64 == 0
    assert sample.bytes == 40 * sample.operations
    assert sample.involuntary_switches >= 0
    assert 0 <= sample.cpu_share <= 1
    assert sample.steal_ns >= 0
    assert (sample.clock_ghz is None) == (effective_clock_ghz() is None)
    assert sample.clock_ghz is None or 0.3 < sample.clock_ghz < 10


@pytest.mark.parametrize(
    ("device", "role", "checker"),
    [
        ("library", "real", "reference"),
        ("reference", "oracle", "library"),
        ("null", "null", "nothing"),
        ("table", "test only", "library"),
        ("slowed:percent=5(library)", "test only", "reference"),
        ("slowed:percent=5(table)", "test only", "library"),
        ("slowed:percent=5(null)", "null", "nothing"),
    ],
)
def test_an_arm_says_what_it_is_and_who_checked_it(device: str, role: str, checker: str) -> None:
    for regime in (ONE_KEY, Regime.parse("sessions:8"), FRESH_KEYS):
        arm = small(device, regime=regime)
        before = arm.verified()
        assert (before["role"], before["checked_against"]) == (role, checker)
        assert before["messages_checked"] == (0 if role == "null" else 64)
        assert before["detail"]
        arm.sample(0.001)
        timed = "messages_checked_while_timed"
        assert (int(arm.verified()[timed]) > int(before[timed])) == (role != "null")


def test_failures_are_counted_as_they_were_planned() -> None:
    arm = small("library")
    whole(arm, 0.005)
    before = arm.verified()
    sample = arm.sample(0.005)
    after = arm.verified()

    def grown(name: str) -> int:
        return int(after[name]) - int(before[name])

    assert grown("messages_worked") == sample.operations
    assert grown("failures_planned") == grown("failures_found") == sample.operations // 4


def test_threads_keep_to_cores_of_their_own_and_the_caller_gets_its_own_back() -> None:
    mine = os.sched_getaffinity(0)
    arm = small("library", threads=len(mine))
    arm.sample(0.002)
    cores = {int(core) for core in str(arm.verified()["cores"]).split("+")}
    assert cores == mine
    assert os.sched_getaffinity(0) == mine
    crowded = small("library", threads=len(mine) + 1)
    assert crowded.verified()["cores"] == "any"
    assert crowded.sample(0.002).operations % (len(mine) + 1) == 0


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"operation": array("B", [0, 1, 2, 3])}, "operation 3: 0 seals, 1 opens, 2 must fail"),
        ({"tag_len": array("B", [5] * 4)}, "a tag of 5: right would be 4, 8 or 12 to 16 bytes"),
        ({"text_len": array("Q", [1] * 3)}, "text_bytes of 3: right would be 4"),
        ({"keys": "many"}, 'keys "many": one, sessions or fresh'),
        ({"sessions": 0}, "sessions of 0: right would be 1"),
        ({"sessions": 5}, "sessions of 5: right would be 1 to 4"),
        ({"batch": 0}, "batch of 0"),
        ({"threads": 0}, "threads of 0"),
    ],
)
def test_wrong_columns_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Arm.gcm("library", **columns(**changes))


def test_a_batch_of_none_is_refused_with_what_would_be_right() -> None:
    with pytest.raises(ValueError, match="batch of 0: right would be 1 or more"):
        gcm(
            "library",
            of_size(40, ONE_KEY, SEAL_ONLY, messages=4),
            threads=1,
            batch=0,
            context=CONTEXT,
        )


def test_a_device_that_is_none_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(UnknownDeviceError, match=r'did you mean "table"\?'):
        small("tabel")
    with pytest.raises(UnknownDeviceError, match=r"give 0\.1 to 1000"):
        small("slowed:percent=x(library)")


def test_a_device_that_is_absent_or_refuses_is_skipped_with_its_reason() -> None:
    with pytest.raises(Skip, match=r"ipp:lib=/nowhere\.so is absent.*pip install ipp-crypto"):
        small("ipp:lib=/nowhere.so")
    odd_nonces = replace(of_size(40, ONE_KEY, SEAL_ONLY, messages=4), nonce_len=((5, 1),))
    with pytest.raises(Skip, match="reference does not take nonces of 5 bytes"):
        gcm("reference", odd_nonces, threads=1, batch=4, context=CONTEXT)


def test_document_003_as_logged_is_checked_on_peers_and_on_those_that_check_them() -> None:
    for device in ("library", "reference", "table"):
        arm = gcm(device, as_logged(), threads=1, batch=1_024, context=CONTEXT)
        assert arm.verified()["messages_checked"] == 37_800


def test_intels_library_is_found_in_its_package_and_checked() -> None:
    path = find_ipp()
    if path is None:
        skip("ipp", "ipp-crypto is not installed: `pip install ipp-crypto`")
    ran("ipp")
    assert path.name.startswith("libippcp.so")
    for device in ("ipp", f"ipp:lib={path}", "slowed:percent=5(ipp)"):
        arm = gcm(device, as_logged(), threads=1, batch=1_024, context=CONTEXT)
        facts = arm.verified()
        assert (facts["role"], facts["checked_against"]) == ("test only", "library")
        assert "Intel IPP cryptography" in str(facts["detail"])
        assert arm.sample(0.005).operations > 0


def test_without_its_package_intels_library_is_left_to_the_loader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none(_: str) -> NoReturn:
        raise PackageNotFoundError

    monkeypatch.setattr(ipp, "files", none)
    assert find_ipp() is None
    assert with_ipp("slowed:percent=5(ipp)") == "slowed:percent=5(ipp)"


def test_a_path_that_no_device_can_name_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ipp, "find_ipp", lambda: Path("/a (b), c/libippcp.so.13"))
    with pytest.raises(Skip, match=r"can't name /a \(b\), c/libippcp.so.13 because of its \( \) ,"):
        small("ipp")
    assert with_ipp("library") == "library"
    assert with_ipp("ipp:lib=/x") == "ipp:lib=/x"


def test_a_wrong_result_is_the_labs_own_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*_: object, **__: object) -> NoReturn:
        raise _sealift.WrongResultError("library gave a wrong result: byte 3 differs")

    fake = SimpleNamespace(
        Arm=SimpleNamespace(gcm=wrong),
        WrongResultError=_sealift.WrongResultError,
        NotMeasurableError=_sealift.NotMeasurableError,
    )
    monkeypatch.setattr(native, "_sealift", fake)
    with pytest.raises(WrongResultError, match="byte 3 differs"):
        small("library")
    with pytest.raises(WrongResultError, match="byte 3 differs"):
        NativeArm(SimpleNamespace(sample=wrong)).sample(0.001)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", _sealift.primitives())
def test_every_primitive_is_measured_on_messages_of_its_length(name: str) -> None:
    for message_bytes, threads in ((0, 1), (128, 2)):
        arm = primitive(name, message_bytes, threads=threads, context=CONTEXT)
        sample = arm.sample(0.002)
        assert sample.bytes == message_bytes * sample.operations
        facts = arm.verified()
        assert "role" not in facts
        assert str(facts["detail"]).startswith("AWS-LC")
        assert int(facts["results_checked"]) > 0


def test_a_primitive_that_is_none_is_told_the_nearest() -> None:
    with pytest.raises(
        ValueError, match=r"'sha256' \(did you mean 'sha-256'\?\); there are sha-256,"
    ):
        primitive("sha256", 128, threads=1, context=CONTEXT)


def test_memory_is_read_and_its_sums_are_checked() -> None:
    arm = read_memory(1 << 20, threads=2)
    before = int(arm.verified()["sums_checked"])
    sample = arm.sample(0.005)
    assert sample.bytes == 65_536 * sample.operations
    assert int(arm.verified()["sums_checked"]) - before == sample.operations
    with pytest.raises(ValueError, match="bytes of a buffer of 65536: right would be 131072"):
        read_memory(65_536, threads=2)


@pytest.mark.parametrize(
    "make",
    [
        lambda: gcm(
            "library",
            of_size(2**36 - 32, ONE_KEY, SEAL_ONLY, messages=1_024),
            threads=1,
            batch=1,
            context=CONTEXT,
        ),
        lambda: primitive("sha-256", 2**30, threads=1_000, context=CONTEXT),
        lambda: read_memory(2**45, threads=1),
    ],
    ids=["gcm", "primitive", "read_memory"],
)
def test_more_than_memory_holds_is_skipped_before_anything_is_made(make: Any) -> None:
    start_s = time.monotonic()
    with pytest.raises(Skip, match=r"need [\d,.]+ GB and [\d,.]+ GB are free"):
        make()
    assert time.monotonic() - start_s < 5


def test_two_threads_do_not_measure_at_once() -> None:
    arms = [small("library"), read_memory(1 << 20, threads=1)]
    refused: list[str] = []

    def measure(arm: NativeArm) -> None:
        try:
            arm.sample(0.1)
        except RuntimeError as error:
            refused.append(str(error))

    # Either may come first, so each catches; a round in which one was done already is repeated.
    for _ in range(100):
        threads = [threading.Thread(target=measure, args=(arm,)) for arm in arms]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if refused:
            break
    assert refused
    assert refused[0].startswith("another thread measures")


def in_time(seconds: float, work: Any) -> None:
    """SIGALRM comes after 0.3 seconds, and has ended the work in so many."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    start_s = time.monotonic()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - start_s < seconds


def test_a_signal_ends_a_long_sample_soon() -> None:
    for arm in (small("library"), primitive("sha-256", 16, threads=1, context=CONTEXT)):
        in_time(10, lambda arm=arm: arm.sample(60.0))


def test_a_signal_ends_the_preparing_soon() -> None:
    # Every thread has messages of its own: minutes of work for the reference.
    work = columns(4_096, text_len=array("Q", [65_536] * 4_096), threads=16, batch=1)
    in_time(10, lambda: Arm.gcm("library", **work))
    # 64 signatures for each of a thousand threads.
    in_time(10, lambda: primitive("ecdsa-p384-sign", 1, threads=1_000, context=CONTEXT))
    # Nothing of it is left behind that would keep others from measuring.
    assert small("library").sample(0.001).operations > 0
