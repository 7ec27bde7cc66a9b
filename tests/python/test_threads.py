"""Many threads, and buffers that change under a batch."""

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import sealift_lab._lab as lab
from conftest import skip
from run_report import ran
from sealift import AESGCM, Engine, InputError

KEY, NONCE = bytes(range(16)), bytes(12)


def test_eight_threads_seal_on_one_engine(engine: Engine) -> None:
    shared = engine.session(KEY)

    def work(thread: int) -> None:
        for turn in range(30):
            key = bytes([thread, turn]) * 8
            texts = [bytes([thread]) * (turn * 9 + i) for i in range(20)]
            with engine.session(key) as session:
                nonces = [session.next_nonce() for _ in texts]
                sealed = engine.seal_batch(session, nonces, texts, b"aad")
                assert sealed[3] == AESGCM(key).encrypt(nonces[3], texts[3], b"aad")
                assert engine.open_batch(session, nonces, sealed, b"aad") == texts
            engine.seal_batch(shared, [shared.next_nonce()], [b"text"])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert shared.sealed == 8 * 30


@pytest.mark.parametrize("device", ["cpu", "library"])
def test_a_batch_on_several_threads_is_that_of_one(device: str) -> None:
    engine = Engine([device], threads=4)
    texts = np.frombuffer(os.urandom(3_000 * 500), np.uint8).reshape(3_000, 500)
    nonces = np.arange(3_000 * 12, dtype=np.uint64).astype(np.uint8).reshape(3_000, 12)
    nonces[:, :4] = np.arange(3_000, dtype=np.uint32).view(np.uint8).reshape(3_000, 4)
    session = engine.session(KEY)
    one, many = (engine.seal_batch(session, nonces, texts, threads=n) for n in (1, None))
    sealed, tags = (np.array(column).reshape(3_000, -1) for column in (many.text, many.tags))
    assert np.array_equal(np.asarray(one.text).reshape(3_000, -1), sealed)
    assert np.array_equal(np.asarray(one.tags).reshape(3_000, -1), tags)
    tags[2_999, 0] ^= 1
    opened = engine.open_batch(session, nonces, sealed, tags=tags, on_error="mask")
    assert [at for at, status in enumerate(opened.status) if status] == [2_999]
    plain = np.asarray(opened.text).reshape(3_000, -1)
    assert np.array_equal(plain[:2_999], texts[:2_999])
    assert not plain[2_999].any()


def test_a_number_of_threads_that_is_none_is_an_error(engine: Engine) -> None:
    with pytest.raises(InputError, match="threads is 0: give 1 or more"):
        Engine(["cpu"], threads=0)
    with pytest.raises(InputError, match="threads is -1: give 1 or more"):
        engine.seal_batch(engine.session(KEY), [NONCE], [b"text"], threads=-1)


def test_threads_never_get_the_same_nonce(engine: Engine) -> None:
    session = engine.session(KEY)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: [session.next_nonce() for _ in range(500)], range(8)))
    assert len({nonce for nonces in found for nonce in nonces}) == 8 * 500


def test_one_cipher_serves_eight_threads() -> None:
    cipher = AESGCM(KEY)
    text = os.urandom(40_000)
    sealed = cipher.encrypt(NONCE, text, None)

    def work(_: int) -> bool:
        return all(cipher.decrypt(NONCE, sealed, None) == text for _ in range(50))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


@pytest.mark.parametrize("form", ["batch", "single message", "associated data"])
def test_other_threads_go_on_meanwhile(engine: Engine, form: str) -> None:
    text, session = bytes(200_000_000), engine.session(KEY)
    calls: dict[str, Callable[[], object]] = {
        "batch": lambda: engine.seal_batch(session, [session.next_nonce()], [text]),
        "single message": lambda: AESGCM(KEY).encrypt(NONCE, text, None),
        "associated data": lambda: AESGCM(KEY).encrypt(NONCE, b"", text),
    }
    stop, ticks = threading.Event(), 0

    def tick() -> None:
        nonlocal ticks
        while not stop.is_set():
            ticks += 1
            time.sleep(0)

    def ticks_during_a_call() -> int:
        before = ticks
        calls[form]()
        return ticks - before

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        # With the GIL held there would be a handful: one switch before the call and one after it.
        # A busy machine may not run the thread at once, hence several calls.
        assert any(ticks_during_a_call() > 20 for _ in range(10))
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("device", ["cpu", "library", "reference"])
@pytest.mark.parametrize("length", [16, 64, 1_000, 40_000])
def test_a_buffer_that_changes_meanwhile_opens_right_or_not_at_all(
    length: int, device: str
) -> None:
    engine = lab.Engine()
    if device not in {found.name for found in engine.devices}:
        skip(device, f"{device} is absent: `sealift devices` says why")
    ran(device)
    count = 400_000 // length
    session, text = engine.session(KEY), bytes(range(256)) * (length // 256 + 1)
    texts = np.frombuffer(text[:length] * count, np.uint8).reshape(count, length)
    nonces = np.frombuffer(os.urandom(12 * count), np.uint8).reshape(count, 12)
    sealed = engine.seal_batch(session, nonces, texts)
    cipher = bytearray(np.asarray(sealed.text))
    stop = threading.Event()

    def flip() -> None:
        written = np.frombuffer(cipher, np.uint8)
        while not stop.is_set():
            for piece in np.array_split(written, 20):
                piece ^= 0x10
                piece ^= 0x10

    writer = threading.Thread(target=flip)
    writer.start()
    try:
        column = lab.Fixed(cipher, length)
        for _ in range(20):
            opened = engine.open_batch(
                session, nonces, column, tags=sealed.tags, on_error="mask", device=device
            )
            failed = np.frombuffer(opened.status, np.uint8).astype(bool)
            results = np.asarray(opened.text)
            assert not results[failed].any()
            assert np.array_equal(results[~failed], texts[~failed])
    finally:
        stop.set()
        writer.join()


def test_lists_may_change_while_a_batch_works_on_them(engine: Engine) -> None:
    session = engine.session(KEY)
    texts = [os.urandom(3_000) for _ in range(500)]
    nonces = [session.next_nonce() for _ in texts]
    expected = engine.seal_batch(session, nonces, texts)
    given, stop = list(texts), threading.Event()

    def shuffle() -> None:
        while not stop.is_set():
            given[:] = [b""] * 500
            given[:] = texts

    thread = threading.Thread(target=shuffle)
    thread.start()
    try:
        for _ in range(50):
            got = engine.seal_batch(session, nonces, given)
            # Read under the GIL: all of the one list or all of the other.
            assert got == expected or all(len(sealed) == 16 for sealed in got)
    finally:
        stop.set()
        thread.join()


def test_buffers_are_held_while_a_batch_works_and_free_afterwards(engine: Engine) -> None:
    memory = bytearray(16 << 20)
    session, stop = engine.session(KEY), threading.Event()

    def work() -> None:
        while not stop.is_set():
            engine.seal_batch(session, [session.next_nonce()], [memory])

    def grow_until_refused() -> None:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            memory.append(0)
            del memory[-1]

    thread = threading.Thread(target=work)
    thread.start()
    try:
        with pytest.raises(BufferError):
            grow_until_refused()
    finally:
        stop.set()
        thread.join()
    memory.append(0)
