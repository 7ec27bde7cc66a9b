"""The native arms, as the lab calls them."""

import signal
import threading
import time
from array import array
from typing import Any

import pytest

from sealift import UnknownDeviceError
from sealift._sealift import Arms, effective_clock_ghz
from sealift.lab.native import prepare
from sealift.lab.plan import Cell
from sealift.lab.workload import ONE_KEY, SEAL_ONLY, as_logged, of_size


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


def test_a_sample_counts_whole_passes_and_names_who_checked() -> None:
    arms = Arms(["library", "reference"])
    assert arms.prepare("library", **columns()) == (0, ["reference"])
    assert arms.prepare("reference", **columns(keys="fresh")) == (1, ["library"])
    ns, messages, text_bytes, switches, cpu_share, steal_ns = arms.sample(0, 0.005)
    assert ns > 0
    assert messages > 0
    assert messages % 4 == 0
    assert text_bytes == 40 * messages
    assert switches >= 0
    assert 0 <= cpu_share <= 1
    assert steal_ns >= 0
    ghz = effective_clock_ghz()
    assert ghz is None or 0.3 < ghz < 10


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
    ],
)
def test_wrong_columns_are_refused(changes: dict[str, Any], said: str) -> None:
    arms = Arms(["library", "reference"])
    with pytest.raises(ValueError, match=said):
        arms.prepare("library", **columns(**changes))


def test_what_is_not_there_is_said() -> None:
    arms = Arms(["library"])
    with pytest.raises(IndexError, match="arm 0: 0 are prepared"):
        arms.sample(0, 0.001)
    with pytest.raises(UnknownDeviceError, match="no open device is called"):
        arms.prepare("cpu", **columns())
    with pytest.raises(RuntimeError, match="no other device checks library"):
        arms.prepare("library", **columns())


def test_two_threads_do_not_measure_at_once() -> None:
    arms = Arms(["library", "reference"])
    arms.prepare("library", **columns())
    refused: list[str] = []

    def measure() -> None:
        try:
            arms.sample(0, 0.1)
        except RuntimeError as error:
            refused.append(str(error))

    # Either may come first, so each catches; a round in which one was done already is repeated.
    for _ in range(100):
        threads = [threading.Thread(target=measure) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if refused:
            break
    assert refused
    assert refused[0].startswith("another thread measures these arms")


def test_a_signal_ends_a_long_sample_soon() -> None:
    arms = Arms(["library", "reference"])
    arms.prepare("library", **columns())
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    start_s = time.monotonic()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            arms.sample(0, 60.0)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - start_s < 10


def test_a_signal_ends_the_preparing_soon() -> None:
    arms = Arms(["library", "reference"])
    # Every thread has messages of its own: minutes of work for the reference.
    work = columns(4_096, text_len=array("Q", [65_536] * 4_096), threads=16, batch=1)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    start_s = time.monotonic()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            arms.prepare("library", **work)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - start_s < 5
    with pytest.raises(IndexError, match="0 are prepared"):
        arms.sample(0, 0.001)


def test_document_003_as_logged_is_checked_on_every_device_that_is_here() -> None:
    cell = Cell(as_logged(), 1, 1_024, ("library", "reference"))
    prepared = prepare([cell], seed=1)
    assert (prepared.refusals, prepared.wrong) == ((), ())
    assert prepared.checked_against == {"library": ("reference",), "reference": ("library",)}


def test_a_length_that_takes_more_memory_than_there_is_is_refused() -> None:
    work = of_size(2**36 - 32, ONE_KEY, SEAL_ONLY, messages=1_024)
    with pytest.raises(MemoryError, match="name fewer or smaller sizes"):
        prepare([Cell(work, 1, 1, ("library",))], seed=1)
