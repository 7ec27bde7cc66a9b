"""Futures of batches that devices work meanwhile.

`Engine.submit_seal` and `Engine.submit_open` give a `Future`:

    future = engine.submit_seal(session, None, texts)
    sealed = future.result(timeout=1.0)

or in asyncio, where no thread is started:

    sealed = await engine.submit_seal(session, None, texts)
"""

import asyncio
import os
import threading
from collections import deque
from collections.abc import Generator
from concurrent import futures
from typing import Any, Generic, TypeVar, cast

from sealift._sealift import Finished, InFlight, Submission
from sealift.errors import ForkedError

__all__ = ["Future"]

T = TypeVar("T")


class Future(futures.Future[T], Generic[T]):
    """A batch in flight: what `concurrent.futures.Future` is, and awaitable.

    It can't be cancelled. Dropping it does not stop the batch.
    """

    def __init__(self, owner: "Futures") -> None:
        """Of a batch that was given to an engine."""
        super().__init__()
        self._owner = owner
        self._pid = os.getpid()
        self.set_running_or_notify_cancel()

    def result(self, timeout: float | None = None) -> T:
        """What `seal_batch` or `open_batch` returns for the batch; raises what they raise.

        Args:
            timeout: Seconds to wait, after which it raises `TimeoutError`; None waits for ever.

        Raises:
            ForkedError: In a forked child.
        """
        self._prepare_to_wait()
        return super().result(timeout)

    def done(self) -> bool:
        """Whether it is finished."""
        if not super().done():
            self._owner.look_after_closed_loops()
        return super().done()

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """What `result` would raise, or None. Waits like it."""
        self._prepare_to_wait()
        return super().exception(timeout)

    def __await__(self) -> Generator[Any, None, T]:
        """Waits without blocking the event loop."""
        return asyncio.wrap_future(self).__await__()

    def _prepare_to_wait(self) -> None:
        if self._pid != os.getpid():
            message = "this batch was submitted before the process forked: wait in the parent"
            raise ForkedError(message)
        if not super().done():
            # Its event loop may be what waits here.
            self._owner.start_thread()


class Futures:
    """The futures of one engine: gives batches to it and takes results back.

    Results are taken by the event loops that submit; for other threads by one thread, which ends
    when nothing is in flight.
    """

    def __init__(self, in_flight: InFlight) -> None:
        """None yet."""
        self._in_flight = in_flight
        # Also held while the engine is given a batch, so that its ticket is known before its end.
        self._lock = threading.Lock()
        self._given: dict[int, tuple[Submission, Future[Any]]] = {}
        self._waiting: deque[tuple[Submission, Future[Any]]] = deque()
        self._thread: threading.Thread | None = None
        # Those that take results, each with the time when it looks again unasked.
        self._loops: dict[asyncio.AbstractEventLoop, asyncio.TimerHandle] = {}

    def submit(self, submission: Submission) -> Future[Any]:
        """Gives a batch to the engine, or keeps it until the engine has room."""
        future: Future[Any] = Future(self)
        with self._lock:
            if self._waiting or not self._give(submission, future):
                self._waiting.append((submission, future))
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.start_thread()
        else:
            self._watch(loop)
        return future

    def start_thread(self) -> None:
        """Has a thread take results as long as there are any to come."""
        with self._lock:
            if self._thread is None and (self._given or self._waiting):
                # Not a daemon: the interpreter waits for it before it ends.
                thread = threading.Thread(target=self._take_all, name="sealift-futures")
                thread.start()
                self._thread = thread

    def look_after_closed_loops(self) -> None:
        """An event loop that was closed takes no results any more."""
        with self._lock:
            is_closed = any(loop.is_closed() for loop in list(self._loops))
        if is_closed:
            self.start_thread()

    def _give(self, submission: Submission, future: Future[Any]) -> bool:
        ticket = self._in_flight.submit(submission)
        if ticket is not None:
            self._given[ticket] = submission, future
        return ticket is not None

    def _take_all(self) -> None:
        is_over = False
        try:
            while not is_over:
                self._take(LOOK_S)
                with self._lock:
                    is_over = not self._given and not self._waiting
                    if is_over:
                        self._thread = None
        finally:
            if not is_over:
                # Who waits starts another one.
                with self._lock:
                    self._thread = None

    def _take(self, timeout_s: float) -> None:
        """Completes what is finished and gives the engine what waits for room."""
        finished = self._in_flight.take(timeout_s)
        failed: list[tuple[Future[Any], Exception]] = []
        with self._lock:
            taken = [
                (*self._given.pop(ticket), done)
                for ticket, done in finished
                if ticket in self._given
            ]
            while self._waiting:
                submission, future = self._waiting[0]
                try:
                    if not self._give(submission, future):
                        break
                except Exception as error:  # whatever it is, it is the future's
                    failed.append((future, error))
                self._waiting.popleft()
        for submission, future, done in taken:
            self._complete(submission, future, done)
        for future, cause in failed:
            future.set_exception(cause)

    def _complete(self, submission: Submission, future: Future[Any], done: Finished) -> None:
        try:
            result = self._in_flight.result(submission, done)
        except BaseException as error:  # whatever it is, it is the future's
            future.set_exception(error)
        else:
            future.set_result(cast("Any", result))

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Has an event loop take results as long as there are any to come."""
        with self._lock:
            open_loops = [one for one in list(self._loops) if not one.is_closed()]
            self._loops = {one: self._loops[one] for one in open_loops}
            is_new = loop not in self._loops
        if is_new:
            loop.add_reader(self._in_flight.descriptor(), self._take_in, loop)
            self._look_again(loop)

    def _take_in(self, loop: asyncio.AbstractEventLoop) -> None:
        self._take(0.0)
        if not self._given and not self._waiting and loop in self._loops:
            self._loops.pop(loop).cancel()
            loop.remove_reader(self._in_flight.descriptor())

    def _look_again(self, loop: asyncio.AbstractEventLoop) -> None:
        """A device that does not answer is only noticed by looking."""
        self._loops[loop] = loop.call_later(LOOK_S, self._look_again, loop)
        self._take_in(loop)


LOOK_S = 0.25
"""How often to look for devices that don't answer, in seconds."""
