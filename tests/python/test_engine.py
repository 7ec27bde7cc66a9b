"""Engines, sessions, devices and what they report."""

import ctypes
import gc
import os
import pickle
import time

import numpy as np
import pytest
from cryptography import exceptions as theirs

import sealift
import sealift_lab._lab as lab
from conftest import skip
from run_report import ran
from sealift import Engine

KEY = bytes(range(16))


def test_every_driver_answers_with_what_it_found_or_why_not() -> None:
    found = sealift.drivers()
    assert [driver.name for driver in found] == ["cpu", "library", "cuda", "opencl"]
    for driver in found:
        assert driver.summary
        if driver.state == "present":
            assert driver.role
            assert driver.detail
            assert driver.reason is None
        else:
            assert (driver.state, driver.role, driver.detail) == ("absent", None, None)
            assert driver.reason
        assert driver.name in repr(driver)


def test_an_engine_opens_what_is_present(engine: Engine) -> None:
    present = [driver.name for driver in sealift.drivers() if driver.state == "present"]
    assert [device.name for device in engine.devices] == present
    for device in engine.devices:
        assert device.driver == device.name
        assert device.algorithms[0] == "AES-GCM"
        assert (12 in device.nonce_lengths, 16 in device.tag_lengths) == (True, True)
        assert min(device.workers, device.slots, device.messages_max, device.text_bytes_max) >= 1
        assert device.aad_bytes_max >= 64
        assert device.origin == "measured"


def test_an_engine_opens_what_is_named_in_that_order() -> None:
    engine = lab.Engine(["reference", "library"])
    assert [(device.name, device.role) for device in engine.devices] == [
        ("reference", "oracle"),
        ("library", "real"),
    ]
    session = engine.session(KEY)
    sealed = engine.seal_batch(session, [bytes(12)], [b"text"])
    assert engine.records()[-1].device == "library"
    assert engine.open_batch(session, [bytes(12)], sealed, device="reference") == [b"text"]


def test_devices_take_settings() -> None:
    cpu = next(driver for driver in sealift.drivers() if driver.name == "cpu")
    if cpu.state == "absent":
        skip("cpu", f"cpu is absent: {cpu.reason}")
    ran("cpu")
    engine = Engine(["cpu:isa=aesni"])
    assert engine.devices[0].name == "cpu:isa=aesni"
    sealed = engine.seal_batch(engine.session(KEY), [bytes(12)], [b"text"])
    assert sealed == [sealift.AESGCM(KEY).encrypt(bytes(12), b"text", None)]


def test_what_was_done_is_counted_and_recorded() -> None:
    engine = Engine(["library"])
    session = engine.session(KEY)
    nonces = [session.next_nonce() for _ in range(4)]
    sealed = engine.seal_batch(session, nonces, [b"x" * 10] * 4)
    engine.open_batch(session, nonces, [bytes(26), *sealed[1:]], on_error="mask")
    counters = engine.counters("library")
    assert (counters.batches, counters.messages, counters.text_bytes) == (2, 8, 80)
    assert (counters.auth_failed, counters.failed) == (1, 0)
    first, second = engine.records()
    assert (first.device, first.messages, first.text_bytes) == ("library", 4, 40)
    assert (first.auth_failed, second.auth_failed) == (0, 1)
    assert first.arrived_ns <= first.start_ns <= first.end_ns <= second.arrived_ns
    assert counters.busy_ns == sum(r.end_ns - r.start_ns for r in (first, second))
    assert "4 messages" in repr(first)
    assert "8 messages" in repr(counters)


def test_a_result_says_who_worked_it_and_how_long(engine: Engine) -> None:
    table, session = np.zeros((10, 12), np.uint8), engine.session(KEY)
    begin_s = time.monotonic()
    result = engine.seal_batch(session, table, table, device="library")
    end_s = time.monotonic()
    assert (result.device, len(result)) == ("library", 10)
    assert 0 < result.seconds <= end_s - begin_s
    assert "10 messages, 0 failed" in repr(result)


def test_next_nonces_count_up_from_a_random_one(engine: Engine) -> None:
    one, other = engine.session(KEY), engine.session(KEY)
    first = [int.from_bytes(one.next_nonce()) for _ in range(3)]
    assert [(nonce - first[0]) % 2**96 for nonce in first] == [0, 1, 2]
    assert one.next_nonce()[:8] != other.next_nonce()[:8]
    assert len(one.next_nonce()) == 12


def test_nonces_are_counted_where_none_are_given(engine: Engine) -> None:
    session, texts = engine.session(KEY), [os.urandom(n) for n in range(40)]
    first = int.from_bytes(session.next_nonce())
    result = engine.seal_batch(session, None, texts, b"aad")
    assert result.nonces is not None
    assert result.tags is None
    assert [(int.from_bytes(nonce) - first) % 2**96 for nonce in result.nonces] == [*range(1, 41)]
    assert engine.open_batch(session, result.nonces, result.text, b"aad") == texts
    more = session.next_nonces(3)
    assert np.asarray(more).shape == (3, 12)
    assert [(int.from_bytes(nonce) - first) % 2**96 for nonce in more] == [41, 42, 43]
    rows = np.frombuffer(os.urandom(90), np.uint8).reshape(9, 10)
    sessions = [engine.session(KEY) for _ in range(9)]
    ids = [session.id for session in sessions]
    for keys in (sessions, ids, tuple(ids), np.array(ids, np.uint64)):
        sealed = engine.seal_batch(keys, None, rows)
        assert sealed.nonces is not None
        opened = engine.open_batch(keys, sealed.nonces, sealed.text, tags=sealed.tags)
        assert (np.asarray(opened.text) == rows).all()
    assert all(session.sealed == 4 for session in sessions)
    with pytest.raises(TypeError, match=r"keys\[1\] is str among session ids"):
        engine.seal_batch([ids[0], "x"], None, rows[:2])  # type: ignore[arg-type]


def test_a_wrong_tag_is_pycas_invalid_tag_too(engine: Engine) -> None:
    assert issubclass(type(_invalid_tag(engine)), theirs.InvalidTag)
    copied: sealift.InvalidTag = pickle.loads(pickle.dumps(_invalid_tag(engine)))
    assert issubclass(type(copied), theirs.InvalidTag)
    assert copied.indices == (0,)


def _invalid_tag(engine: Engine) -> sealift.InvalidTag:
    with pytest.raises(sealift.InvalidTag) as raised:
        engine.open_batch([KEY], [bytes(12)], [bytes(20)])
    return raised.value


def test_a_session_says_what_it_is(engine: Engine) -> None:
    with engine.session(KEY) as session:
        assert session.algorithm == "AES-GCM"
        assert session.sealed == 0
        engine.seal_batch(session, [bytes(12)] * 2, [b""] * 2)
        assert session.sealed == 2
        assert "closed" not in repr(session)
    assert "closed" in repr(session)


def test_a_session_that_nobody_refers_to_is_retired(engine: Engine) -> None:
    number = np.array([engine.session(KEY).id], np.uint64)
    gc.collect()
    with pytest.raises(sealift.SessionError, match="it was dropped"):
        engine.seal_batch(number, [bytes(12)], [b"text"])


def test_forms_say_how_many_messages_there_are() -> None:
    assert len(sealift.Fixed(bytes(36), 12)) == 3
    assert len(sealift.Fixed(bytes(35), 5, stride=10)) == 4
    assert len(sealift.Fixed(bytes(36), 4, stride=12, start=8)) == 3
    assert len(sealift.Fixed(b"", 12)) == 0
    assert len(sealift.Fixed(bytes(36), 0, stride=12)) == 3
    assert len(sealift.Offsets(b"abc", [0, 1, 1, 3])) == 3
    assert repr(sealift.Fixed(bytes(36), 12)) == "Fixed(3 messages of 12 bytes, stride 12, from 0)"
    for kind in ("i4", "u4", "i8", "u8"):
        assert len(sealift.Offsets(b"abc", np.array([0, 3], kind))) == 1


def test_messages_to_read_may_lie_over_each_other(engine: Engine) -> None:
    memory, session = bytes(range(10)), engine.session(KEY)
    column = sealift.Fixed(memory, 4, stride=2)
    assert len(column) == 4
    nonces = [session.next_nonce() for _ in range(4)]
    result = engine.seal_batch(session, nonces, column)
    opened = engine.open_batch(session, nonces, result.text, tags=result.tags)
    assert list(opened.text) == [memory[i : i + 4] for i in (0, 2, 4, 6)]


@pytest.mark.parametrize("kind", ["u8", "i8", "u4", "i4"])
def test_integers_may_lie_at_odd_addresses(engine: Engine, kind: str) -> None:
    def odd(values: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        shifted = np.frombuffer(b"." + np.array(values, kind).tobytes(), np.uint8)[1:].view(kind)
        assert shifted.ctypes.data % 2 == 1
        return shifted

    assert list(np.diff(odd([0, 1, 3]))) == [1, 2]
    session, nonces = engine.session(KEY), [os.urandom(12) for _ in range(2)]
    result = engine.seal_batch(session, nonces, sealift.Offsets(b"abc", odd([0, 1, 3])))
    keys = odd([session.id] * 2) if "8" in kind else session
    opened = engine.open_batch(keys, nonces, result.text, tags=result.tags)
    assert list(opened.text) == [b"a", b"bc"]


def test_a_column_of_our_own_is_never_lent_column_by_column(engine: Engine) -> None:
    # Py_buffer of the stable ABI, and the flags of its documentation.
    view = ctypes.create_string_buffer(256)
    as_rows, as_columns = 0x0020 | 0x0018, 0x0040 | 0x0018
    get, release = ctypes.pythonapi.PyObject_GetBuffer, ctypes.pythonapi.PyBuffer_Release
    table = engine.seal_batch(engine.session(KEY), *[np.zeros((3, 12), np.uint8)] * 2).text
    with pytest.raises(BufferError, match="rows contiguous"):
        get(ctypes.py_object(table), view, as_columns)
    assert get(ctypes.py_object(table), view, as_rows) == 0
    release(view)


def test_offsets_are_copied(engine: Engine) -> None:
    ends = np.array([0, 2, 4], np.uint64)
    column = sealift.Offsets(b"abcd", ends)
    ends[:] = 100
    session, nonces = engine.session(KEY), [os.urandom(12) for _ in range(2)]
    result = engine.seal_batch(session, nonces, column)
    opened = engine.open_batch(session, nonces, result.text, tags=result.tags)
    assert list(opened.text) == [b"ab", b"cd"]
