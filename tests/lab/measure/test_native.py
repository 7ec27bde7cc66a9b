"""The native arms, as experiments make them."""

import signal
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import pytest

from sealift import UnknownDeviceError
from sealift_lab import _lab
from sealift_lab.measure import native as module
from sealift_lab.measure.native import NativeArm, find_ipp, gcm, native, with_ipp
from sealift_lab.model.arm import Context, Sample, Skip, WrongResultError
from sealift_lab.model.workload import (
    FRESH_KEYS,
    ONE_KEY,
    SEAL_ONLY,
    KeyRegime,
    Mix,
    Operation,
    Shape,
    Workload,
    of_size,
)

CONTEXT = Context(seed=1, folder=Path())


def small(device: str, *, regime: KeyRegime = ONE_KEY, threads: int = 1) -> NativeArm:
    work = of_size(40, regime, Mix(50, 25, 25), messages=64)
    return gcm(device, work, threads=threads, batch=16, context=CONTEXT)


def whole(arm: NativeArm) -> Sample:
    """The first of some samples that works all messages.

    A machine that paused the warm-up is taken for a slow one, of which a sample works a part.
    """
    samples = (arm.sample(0.005) for _ in range(100))
    return next(sample for sample in samples if sample.operations >= 64)


def test_a_sample_counts_whole_passes_with_the_clock_beside_it() -> None:
    sample = whole(small("library"))
    assert sample.operations % 64 == 0
    assert sample.bytes == 40 * sample.operations
    assert (sample.clock_ghz is None) == (_lab.effective_clock_ghz() is None)
    assert sample.clock_ghz is None or 0.3 < sample.clock_ghz < 10


@pytest.mark.parametrize(
    ("device", "role", "checker"),
    [
        ("library", "real", "reference"),
        ("reference", "oracle", "library"),
        ("null", "null", "nothing"),
        ("table", "test only", "library"),
        ("slowed:percent=5(library)", "test only", "reference"),
    ],
)
def test_a_report_has_the_role_and_what_the_arm_was_checked_against(
    device: str, role: str, checker: str
) -> None:
    for regime in (ONE_KEY, KeyRegime.parse("sessions:8"), FRESH_KEYS):
        arm = small(device, regime=regime)
        before = arm.report()
        assert (before["role"], before["checked_against"]) == (role, checker)
        assert before["messages_checked"] == (0 if role == "null" else 64)
        assert before["detail"]
        arm.sample(0.001)
        timed = "messages_checked_while_timed"
        assert (int(arm.report()[timed]) > int(before[timed])) == (role != "null")


def test_a_device_that_is_none_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(UnknownDeviceError, match=r'did you mean "table"\?'):
        small("tabel")
    work = of_size(40, ONE_KEY, SEAL_ONLY, messages=4)
    with pytest.raises(ValueError, match="batch of 0: right would be 1 or more"):
        gcm("library", work, threads=1, batch=0, context=CONTEXT)


def test_a_device_that_is_absent_or_refuses_is_skipped_with_its_reason() -> None:
    with pytest.raises(Skip, match=r"ipp:lib=/nowhere\.so is absent.*pip install ipp-crypto"):
        small("ipp:lib=/nowhere.so")
    odd_nonces = Workload("odd", (Shape(Operation.SEAL, 128, 5, 0, 40, 16, 1),), ONE_KEY, 4, 1)
    with pytest.raises(Skip, match="reference does not take nonces of 5 bytes"):
        gcm("reference", odd_nonces, threads=1, batch=4, context=CONTEXT)


def test_intels_library_is_named_where_its_package_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = find_ipp()
    assert with_ipp("slowed:percent=5(ipp)") == (
        f"slowed:percent=5(ipp:lib={path})" if path else "slowed:percent=5(ipp)"
    )
    assert with_ipp("ipp:lib=/x") == "ipp:lib=/x"
    monkeypatch.setattr(module, "find_ipp", lambda: Path("/a (b), c/libippcp.so.13"))
    with pytest.raises(Skip, match=r"can't name /a \(b\), c/libippcp.so.13 because of its \( \) ,"):
        small("ipp")


def test_a_wrong_result_is_the_labs_own_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*_: object, **__: object) -> NoReturn:
        raise _lab.WrongResultError("library gave a wrong result: byte 3 differs")

    fake = SimpleNamespace(
        Arm=SimpleNamespace(gcm=wrong),
        WrongResultError=_lab.WrongResultError,
        NotMeasurableError=_lab.NotMeasurableError,
    )
    monkeypatch.setattr(module, "_lab", fake)
    with pytest.raises(WrongResultError, match="byte 3 differs"):
        small("library")
    with pytest.raises(WrongResultError, match="byte 3 differs"):
        NativeArm(SimpleNamespace(sample=wrong)).sample(0.001)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", _lab.primitives())
def test_every_primitive_is_measured_on_messages_of_its_length(name: str) -> None:
    arm = native("primitive", CONTEXT, name=name, message_bytes=128, threads=1)
    sample = arm.sample(0.002)
    assert sample.bytes == 128 * sample.operations
    facts = arm.report()
    assert "role" not in facts
    assert str(facts["detail"]).startswith("AWS-LC")
    assert int(facts["results_checked"]) > 0


def test_memory_is_read_and_its_sums_are_checked() -> None:
    arm = native("read", buffer_bytes=1 << 20, threads=2)
    before = int(arm.report()["sums_checked"])
    sample = arm.sample(0.005)
    assert sample.bytes == 65_536 * sample.operations
    assert int(arm.report()["sums_checked"]) - before == sample.operations


LARGE = of_size(2**36 - 32, ONE_KEY, SEAL_ONLY, messages=1_024)


@pytest.mark.parametrize(
    "make",
    [
        lambda: gcm("library", LARGE, threads=1, batch=1, context=CONTEXT),
        lambda: native("primitive", CONTEXT, name="sha-256", message_bytes=2**30, threads=1_000),
        lambda: native("read", buffer_bytes=2**45, threads=1),
        lambda: native("copy", CONTEXT, function="glibc", bytes=2**44),
    ],
)
def test_more_than_memory_holds_is_skipped_before_anything_is_made(
    make: Callable[[], NativeArm], monkeypatch: pytest.MonkeyPatch
) -> None:
    def make_it(*_: object, **__: object) -> NoReturn:
        raise AssertionError("it is made")

    arms = dict.fromkeys(("gcm", "primitive", "read", "copy"), make_it)
    monkeypatch.setattr(_lab, "Arm", SimpleNamespace(**arms))
    with pytest.raises(Skip, match=r"need [\d,.]+ GB and [\d,.]+ GB are free") as skipped:
        make()
    assert skipped.value.is_transient


def test_a_signal_ends_a_long_sample_soon() -> None:
    arm = small("library")

    def sample() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        arm.sample(SECONDS)

    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    start_s = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            sample()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - start_s < SECONDS / 2, "it is ended half-way"


SECONDS = 120.0
