"""Batches in flight: futures for threads and for asyncio."""

import asyncio
import copy
import gc
import os
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from typing import Any, cast

import numpy as np
import pytest

import sealift
import sealift_lab._lab as lab
from sealift import Engine, Fixed, InvalidTag
from sealift.futures import Future

KEY = bytes(range(16))
TEXTS = [os.urandom(length) for length in range(100)]
NONCES = [number.to_bytes(12) for number in range(100)]
WAIT_S = 600.0


def threads() -> list[threading.Thread]:
    """Those that take results."""
    return [one for one in threading.enumerate() if one.name == "sealift-futures"]


def test_a_future_gives_what_the_call_gives(engine: Engine) -> None:
    session = engine.session(KEY)
    sealed = engine.seal_batch(session, NONCES, TEXTS, b"aad")
    assert engine.submit_seal(session, NONCES, TEXTS, b"aad").result(WAIT_S) == sealed
    assert engine.submit_open(session, NONCES, sealed, b"aad").result(WAIT_S) == TEXTS
    rows = np.frombuffer(os.urandom(50 * 33), np.uint8).reshape(50, 33)
    nonces = np.frombuffer(b"".join(NONCES[:50]), np.uint8).reshape(50, 12)
    expected = engine.seal_batch([KEY] * 50, nonces, rows, tag_length=13)
    found = engine.submit_seal([KEY] * 50, nonces, rows, tag_length=13).result(WAIT_S)
    for column in ("text", "tags"):
        assert bytes(getattr(found, column)) == bytes(getattr(expected, column))
    assert found.device in {device.name for device in engine.devices}
    opened = engine.submit_open([KEY] * 50, nonces, found.text, tags=found.tags, tag_length=13)
    assert bytes(opened.result(WAIT_S).text) == rows.tobytes()


def test_nonces_are_counted_for_futures_too(engine: Engine) -> None:
    session = engine.session(KEY)
    futures = [engine.submit_seal(session, None, TEXTS) for _ in range(20)]
    results = [future.result(WAIT_S) for future in futures]
    nonces = [result.nonces[at] for result in results if result.nonces for at in range(100)]
    assert len(set(nonces)) == 2_000
    for result in results:
        assert result.nonces is not None
        assert engine.submit_open(session, result.nonces, result.text).result(WAIT_S) == TEXTS


def test_what_does_not_open_is_raised_by_the_future_or_masked(engine: Engine) -> None:
    session = engine.session(KEY)
    sealed = engine.seal_batch(session, NONCES, TEXTS)
    sealed[7] = bytes(len(sealed[7]))
    future = engine.submit_open(session, NONCES, sealed)
    with pytest.raises(InvalidTag, match="1 of 100 messages") as raised:
        future.result(WAIT_S)
    assert raised.value.indices == (7,)
    assert isinstance(future.exception(WAIT_S), InvalidTag)
    masked = engine.submit_open(session, NONCES, sealed, on_error="mask").result(WAIT_S)
    assert masked == [None if at == 7 else text for at, text in enumerate(TEXTS)]


def test_bad_input_is_raised_at_once(engine: Engine) -> None:
    session = engine.session(KEY)
    with pytest.raises(sealift.InputError, match=r"nonces has 1 .* 100"):
        engine.submit_seal(session, NONCES[:1], TEXTS)
    with pytest.raises(TypeError, match=r"sealed\[0\] is int"):
        engine.submit_open(session, NONCES[:1], cast("Any", [7]))
    with pytest.raises(sealift.InputError, match="raw keys have no counter"):
        engine.submit_seal([KEY], None, [b"text"])
    with pytest.raises(sealift.UnknownDeviceError):
        engine.submit_seal(session, NONCES, TEXTS, device="none")


def test_callbacks_are_called_and_the_thread_ends_when_nothing_is_left(engine: Engine) -> None:
    session, called = engine.session(KEY), threading.Event()
    future = engine.submit_seal(session, NONCES, TEXTS)
    future.add_done_callback(lambda _: called.set())
    assert called.wait(WAIT_S)
    assert future.done()
    assert not future.cancel()
    for thread in threads():
        thread.join(WAIT_S)
    assert not threads()


def test_who_waits_too_short_is_told() -> None:
    late = "fault:late=1,late-ms=3000(library)"
    future = lab.Engine([late]).submit_seal([KEY] * 100, NONCES, TEXTS, device=late)
    with pytest.raises(TimeoutError):
        future.result(0)
    assert len(future.result(WAIT_S)) == 100


def test_an_engine_that_is_full_takes_more_later(engine: Engine) -> None:
    session = engine.session(KEY)
    futures = [engine.submit_seal(session, None, TEXTS[:3]) for _ in range(5_000)]
    nonces = {future.result(WAIT_S).nonces[0] for future in futures}  # type: ignore[index]
    assert len(nonces) == 5_000


def test_an_event_loop_needs_no_thread_and_loses_none_of_ten_thousand(engine: Engine) -> None:
    session = engine.session(KEY)

    async def seal(number: int) -> bytes:
        text = number.to_bytes(4)
        result = await engine.submit_seal(session, None, [text])
        assert not threads()
        opened = await engine.submit_open(session, result.nonces, result.text)  # type: ignore[arg-type]
        return opened[0]

    async def seal_all() -> list[bytes]:
        return await asyncio.gather(*(seal(number) for number in range(10_000)))

    for thread in threads():
        thread.join(WAIT_S)
    assert asyncio.run(seal_all()) == [number.to_bytes(4) for number in range(10_000)]


def test_an_event_loop_may_wait_in_the_way_of_threads_and_another_one_goes_on(
    engine: Engine,
) -> None:
    session = engine.session(KEY)

    async def block() -> list[bytes]:
        return engine.submit_seal(session, NONCES, TEXTS).result(WAIT_S)

    async def leave() -> Future[list[bytes]]:
        return engine.submit_seal(session, NONCES, TEXTS)

    sealed = asyncio.run(block())
    left = asyncio.run(leave())
    assert asyncio.run(block()) == sealed
    assert left.result(WAIT_S) == sealed


def test_objects_are_held_until_the_end_and_no_longer(engine: Engine) -> None:
    session = engine.session(KEY)
    buffer, text = bytearray(os.urandom(64 * 1_000)), os.urandom(1_000)
    before = sys.getrefcount(text)
    future = engine.submit_seal(session, None, Fixed(buffer, 64), aad=text)
    future.result(WAIT_S)
    buffer.extend(b"it can grow again")
    assert sys.getrefcount(text) == before
    # Nobody waits for this one: its buffers are held all the same.
    engine.submit_seal(session, None, [bytes(bytearray(1_000)) for _ in range(500)])
    gc.collect()
    assert len(engine.submit_seal(session, None, [text]).result(WAIT_S).text) == 1


def test_a_child_can_not_wait_for_its_parents_batches(engine: Engine) -> None:
    session = engine.session(KEY)
    future = engine.submit_seal(session, NONCES, TEXTS)
    child = os.fork()
    if child == 0:
        try:
            for use in (future.result, lambda: engine.submit_seal(session, NONCES, TEXTS)):
                try:
                    use()
                except sealift.ForkedError:
                    continue
                os._exit(1)
            fresh = Engine()
            sealed = fresh.submit_seal([KEY] * 100, NONCES, TEXTS).result(WAIT_S)
            os._exit(0 if len(sealed) == 100 else 2)
        finally:
            os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(future.result(WAIT_S)) == 100


EXITING = """
import os, sys, threading, time, sealift
engine = sealift.Engine()
session = engine.session(bytes(16))
texts = [bytes(2_000)] * 500
futures = [engine.submit_seal(session, None, texts) for _ in range(50)]
if sys.argv[2] == "thread":
    seal = lambda: [engine.seal_batch(session, None, texts) for _ in range(50)]
    threading.Thread(target=seal).start()
time.sleep(float(sys.argv[1]))
if sys.argv[2] == "dropped":
    del futures, engine, session
"""


@pytest.mark.parametrize("how", ["plain", "thread", "dropped"])
def test_the_interpreter_may_end_at_any_moment(how: str) -> None:
    for wait_s in (0.0, 0.001, 0.005, 0.02):
        command = [sys.executable, "-c", EXITING, str(wait_s), how]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        assert (ended.returncode, ended.stderr) == (0, "")


_OWN: list[Engine] = []


def _start() -> None:
    _OWN.append(Engine())


def _seal(texts: list[bytes]) -> list[bytes]:
    return _OWN[0].submit_seal([KEY] * len(texts), NONCES[: len(texts)], texts).result(WAIT_S)


def test_a_pool_of_processes_makes_its_engines(engine: Engine) -> None:
    for mine in (engine, engine.session(KEY), sealift.AESGCM(KEY)):
        for copying in (pickle.dumps, copy.copy):
            with pytest.raises(TypeError, match=r"can't be pickled.*ProcessPoolExecutor"):
                copying(mine)
    with ProcessPoolExecutor(2, initializer=_start) as pool:
        results = list(pool.map(_seal, [TEXTS[:at] for at in range(1, 20)]))
    expected = engine.seal_batch([KEY] * 19, NONCES[:19], TEXTS[:19])
    assert results == [expected[:at] for at in range(1, 20)]


def test_many_threads_submit_and_wait(engine: Engine) -> None:
    session, wrong = engine.session(KEY), []

    def work() -> None:
        for _ in range(100):
            result = engine.submit_seal(session, None, TEXTS[:20]).result(WAIT_S)
            opened = engine.submit_open(session, result.nonces, result.text)  # type: ignore[arg-type]
            if opened.result(WAIT_S) != TEXTS[:20]:
                wrong.append(opened)

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong
