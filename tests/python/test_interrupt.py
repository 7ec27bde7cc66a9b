"""Ctrl-C in a long batch."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from sealift import Engine

# Long associated data make a batch long that takes little memory.
ROWS, WIDTH, AAD = 40_000, 16, bytes(1 << 20)
UNTOUCHED = 0xEE
WAIT_S = 600.0


@contextmanager
def interrupted_once(is_so: Callable[[], object]) -> Iterator[None]:
    """Ctrl-C as soon as something is so."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.001):
            if is_so():
                os.kill(os.getpid(), signal.SIGINT)
                return

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
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

    with (
        interrupted_once(lambda: (out != UNTOUCHED).any()),
        pytest.raises(KeyboardInterrupt) as caught,
    ):
        engine.seal_batch(session, nonces, texts, AAD, out=out, tags=tags)
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
    with interrupted_once(texts.any), pytest.raises(KeyboardInterrupt) as caught:
        engine.seal_batch(session, None, texts, AAD, out=texts)
    some = np.flatnonzero(np.frombuffer(caught.value.status, np.uint8) == 0)[::100]  # type: ignore[attr-defined]
    nonces, tags = (np.asarray(getattr(caught.value, name))[some] for name in ("nonces", "tags"))
    opened = engine.open_batch(session, nonces, texts[some], AAD, tags=tags)
    assert not np.asarray(opened.text).any()


def test_another_thread_is_not_interrupted() -> None:
    engine = Engine(["library"], threads=1)
    texts, lengths = np.zeros((ROWS, WIDTH), np.uint8), list[int]()
    out, session = np.zeros_like(texts), engine.session(bytes(16))

    def work() -> None:
        lengths.append(len(engine.seal_batch(session, None, texts, AAD[: 128 << 10], out=out)))

    worker = threading.Thread(target=work)
    with interrupted_once(out.any), pytest.raises(KeyboardInterrupt):
        _start_and_wait(worker)
    worker.join()
    assert lengths == [ROWS]


def _start_and_wait(thread: threading.Thread) -> None:
    thread.start()
    threading.Event().wait(WAIT_S)
