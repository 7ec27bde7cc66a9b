"""Ctrl-C in a long batch."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from sealift import Engine

# Long associated data make a batch long that takes little memory.
ROWS, WIDTH, AAD = 40_000, 16, bytes(128 << 10)
UNTOUCHED = 0xEE


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Ctrl-C so many seconds from now."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_batch_ends_soon_and_says_how_far_it_came(threads: int) -> None:
    engine = Engine(["library"], threads=threads)
    session = engine.session(bytes(16))
    texts = np.zeros((ROWS, WIDTH), np.uint8)
    out = np.full_like(texts, UNTOUCHED)
    tags = np.full((ROWS, 16), UNTOUCHED, np.uint8)
    nonces = np.zeros((ROWS, 12), np.uint8)
    nonces[:, :8] = np.arange(ROWS, dtype=np.uint64).view(np.uint8).reshape(ROWS, 8)

    def seal() -> None:
        engine.seal_batch(session, nonces, texts, AAD, out=out, tags=tags)

    with interrupted_after(0.01), pytest.raises(KeyboardInterrupt) as caught:
        seal()
    done = np.frombuffer(caught.value.status, np.uint8) == 0  # type: ignore[attr-defined]
    assert 0 < done.sum() < ROWS
    assert f"{done.sum()} of {ROWS} messages" in "".join(caught.value.__notes__)
    assert (out[~done] == UNTOUCHED).all()
    assert (tags[~done] == UNTOUCHED).all()
    some = np.flatnonzero(done)[:: max(1, done.sum() // 500)]
    opened = engine.open_batch(session, nonces[some], out[some], AAD, tags=tags[some])
    assert not np.asarray(opened.text).any()


def test_what_was_sealed_in_place_opens_with_the_nonces_of_the_exception() -> None:
    engine = Engine(["library"], threads=1)
    session, texts = engine.session(bytes(16)), np.zeros((ROWS, WIDTH), np.uint8)
    with interrupted_after(0.01), pytest.raises(KeyboardInterrupt) as caught:
        engine.seal_batch(session, None, texts, AAD, out=texts)
    some = np.flatnonzero(np.frombuffer(caught.value.status, np.uint8) == 0)[::100]  # type: ignore[attr-defined]
    nonces, tags = (np.asarray(getattr(caught.value, name))[some] for name in ("nonces", "tags"))
    opened = engine.open_batch(session, nonces, texts[some], AAD, tags=tags)
    assert not np.asarray(opened.text).any()


def test_another_thread_is_not_interrupted() -> None:
    engine = Engine(["library"], threads=1)
    texts, lengths = np.zeros((ROWS, WIDTH), np.uint8), list[int]()
    session = engine.session(bytes(16))

    def work() -> None:
        lengths.append(len(engine.seal_batch(session, None, texts, AAD)))

    worker = threading.Thread(target=work)
    worker.start()
    with interrupted_after(0.02), pytest.raises(KeyboardInterrupt):
        time.sleep(30)
    worker.join()
    assert lengths == [ROWS]
