"""Forked and spawned children: they work or raise, and never hang."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

import sealift
from sealift import AESGCM, Engine

KEY, NONCE = bytes(range(32)), bytes(12)
SEALED = AESGCM(KEY).encrypt(NONCE, b"text", b"aad")

# Python 3.12 and newer warn of every fork in a process with threads, which is what is tested here.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def in_child(work: Callable[[], object], seconds: float = 600.0) -> None:
    """Runs `work` in a forked child and fails when it raises or takes too long."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    deadline = time.monotonic() + seconds
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise AssertionError(f"the child was still running after {seconds} s")
        time.sleep(0.005)
    assert os.waitstatus_to_exitcode(ended[1]) == 0


def use_aesgcm(cipher: AESGCM) -> None:
    """What a child does with a cipher that its parent made."""
    for _ in range(3):
        assert cipher.encrypt(NONCE, b"text", b"aad") == SEALED
        assert cipher.decrypt(NONCE, bytearray(SEALED), b"aad") == b"text"
        with pytest.raises(sealift.InvalidTag):
            cipher.decrypt(NONCE, SEALED, b"other")
    buf = bytearray(20)
    assert cipher.encrypt_into(NONCE, b"text", b"aad", buf) == 20
    assert AESGCM(KEY).decrypt(NONCE, buf, b"aad") == b"text"


def use_new_engine() -> None:
    """What a child is told to do instead of using its parent's engine."""
    engine = Engine.detect()
    session = engine.session(KEY)
    sealed = engine.seal_batch(session, [NONCE] * 100, [b"text"] * 100, b"aad")
    assert sealed == [SEALED] * 100
    assert engine.open_batch(session, [NONCE] * 100, sealed, b"aad") == [b"text"] * 100


def test_a_cipher_works_on_in_a_child_and_in_its_child() -> None:
    cipher = AESGCM(KEY)
    use_aesgcm(cipher)

    def grandparent() -> None:
        use_aesgcm(cipher)
        in_child(lambda: use_aesgcm(cipher))
        use_aesgcm(cipher)

    in_child(grandparent)
    in_child(lambda: in_child(lambda: use_aesgcm(cipher)))
    use_aesgcm(cipher)


def test_an_engine_and_its_sessions_raise_in_a_child(engine: Engine) -> None:
    session = engine.session(KEY)
    engine.seal_batch(session, [NONCE], [b"text"])

    def child() -> None:
        for use in (
            lambda: engine.seal_batch(session, [NONCE], [b"text"]),
            lambda: engine.open_batch([KEY], [NONCE], [SEALED], b"aad"),
            lambda: engine.session(KEY),
            session.next_nonce,
            engine.records,
            lambda: engine.counters(engine.devices[0].name),
            lambda: session.sealed,
        ):
            with pytest.raises(sealift.ForkedError, match="make a new engine"):
                use()
        assert engine.devices
        session.close()
        use_new_engine()

    in_child(child)
    assert session.next_nonce()


def test_the_threads_of_a_child_share_a_cipher_and_wait_for_nobody() -> None:
    cipher, text = AESGCM(KEY), os.urandom(300_000)
    sealed = cipher.encrypt(NONCE, text, None)

    def child() -> None:
        with ThreadPoolExecutor(4) as pool:
            opened = pool.map(lambda _: cipher.decrypt(NONCE, sealed, None), range(200))
            assert all(found == text for found in opened)

    in_child(child)


def test_a_fork_while_another_thread_is_inside_a_batch(engine: Engine) -> None:
    text = bytearray(32 << 20)
    session, cipher = engine.session(KEY), AESGCM(KEY)
    running, stop = threading.Event(), threading.Event()

    def work() -> None:
        while not stop.is_set():
            running.set()
            engine.seal_batch(session, [os.urandom(12) for _ in range(4)], [text] * 4)
            cipher.encrypt(NONCE, text, None)

    def child() -> None:
        use_aesgcm(cipher)
        use_new_engine()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        assert running.wait(600)
        for _ in range(10):
            in_child(child)
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_a_fork_while_other_threads_count_their_batches(engine: Engine) -> None:
    device, stop = engine.devices[0].name, threading.Event()
    session, working = engine.session(KEY), threading.Barrier(3)

    def work() -> None:
        working.wait(600)
        while not stop.is_set():
            engine.seal_batch(session, [NONCE], [b"text"])

    def child() -> None:
        for use in (
            engine.records,
            lambda: engine.counters(device),
            lambda: session.sealed,
            lambda: engine.seal_batch(session, [NONCE], [b"text"]),
        ):
            with pytest.raises(sealift.ForkedError, match="make a new engine"):
                use()
        session.close()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        working.wait(600)
        for _ in range(60):
            in_child(child)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert session.sealed > 0


def test_a_child_ends_by_itself_and_drops_what_it_inherited() -> None:
    program = """
import os, sealift
engine, cipher = sealift.Engine.detect(), sealift.AESGCM(bytes(16))
session = engine.session(bytes(16))
engine.seal_batch(session, [bytes(12)], [b"text"])
cipher.encrypt(bytes(12), b"text", None)
child = os.fork()
if child:
    raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
cipher.encrypt(bytes(12), b"text", None)
del session, engine
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(sealift.__file__).parents[1])}
    command = [sys.executable, "-W", "ignore", "-c", program]
    assert subprocess.run(command, env=environment, timeout=600, check=False).returncode == 0


def seal_in_pool(message: int) -> bytes:
    """Runs in a process of a pool, whichever way that was started."""
    return AESGCM(KEY).encrypt(message.to_bytes(12), b"text", b"aad")


def fail_in_pool(sealed: bytes) -> bytes:
    """Raises in a process of a pool."""
    return AESGCM(KEY).decrypt(NONCE, sealed, None)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_pools_of_processes_work_however_they_start(method: str) -> None:
    expected = [seal_in_pool(message) for message in range(8)]
    with ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:
        assert list(pool.map(seal_in_pool, range(8), timeout=600)) == expected
        with pytest.raises(sealift.InvalidTag) as raised:
            pool.submit(fail_in_pool, SEALED).result(600)
    assert raised.value.indices == (0,)
