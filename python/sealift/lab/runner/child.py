"""A process that measures, seen from its parent."""

import json
import os
import select
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import Any

from sealift.lab.worker import Order


class Child:
    """A process that carries out an order."""

    def __init__(self, order: Order, say: Callable[[str], None]) -> None:
        """Starts it; it holds the lock of the folder, too, as long as it lives.

        Args:
            order: What it is to do.
            say: Is given each line of its standard error, in a thread of its own.
        """
        with _signals_wait():
            self._process = subprocess.Popen(
                order.command(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(order.lock,),
            )
        self._stopped = False
        self._has_said_why = False
        self._said: deque[str] = deque(maxlen=1)
        self._reader = threading.Thread(target=self._read_stderr, args=(say,), daemon=True)
        self._reader.start()

    def events(self) -> Iterator[dict[str, Any] | None]:
        """What it tells, until it has ended, and None twice a second while it tells nothing.

        A process that it started, and that lives on, may hold its pipes open: their ends are not
        waited for.
        """
        for line in self._lines():
            event = None if line is None else json.loads(line)
            if event is not None and event["event"] in LAST_EVENTS:
                self._has_said_why = True
            yield event
        self._reader.join(LAST_WORDS_S)

    def _lines(self) -> Iterator[bytes | None]:
        assert self._process.stdout is not None, "opened as a pipe"
        rest = b""
        with self._process.stdout as pipe:
            while True:
                # Asked before reading, so that its last words are read.
                has_ended = self._process.poll() is not None
                if not select.select([pipe], [], [], 0 if has_ended else TICK_S)[0]:
                    if has_ended:
                        return
                    yield None
                    continue
                chunk = os.read(pipe.fileno(), PIPE_BYTES)
                if not chunk:
                    break
                # A killed process can leave half a line.
                *lines, rest = (rest + chunk).split(b"\n")
                yield from lines
        while self._process.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(TICK_S)
                return
            yield None

    def stop(self) -> None:
        """Asks it to end, and ends it when it doesn't."""
        if self._stopped:
            return
        self._stopped = True
        self._process.terminate()
        killer = threading.Timer(GRACE_S, self._process.kill)
        killer.daemon = True
        killer.start()

    def kill(self) -> None:
        """Ends it at once, if it has not ended."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    @property
    def failed(self) -> str:
        """How it ended when it wasn't by itself, or ""; known when there are no more events."""
        code = self._process.returncode
        if code < 0:
            return f"was ended by signal {-code} ({signal.Signals(-code).name})"
        if code:
            last = f": {self._said[-1]}" if self._said else ""
            return f"ended with code {code}{last}"
        if not self._has_said_why:
            return "left with code 0 before its work was done"
        return ""

    def _read_stderr(self, say: Callable[[str], None]) -> None:
        assert self._process.stderr is not None, "opened as a pipe"
        with TextIOWrapper(self._process.stderr, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                text = line.rstrip()
                if text:
                    self._said.append(text)
                    say(text)


@contextmanager
def _signals_wait() -> Iterator[None]:
    """Signals that end a run wait; a process started meanwhile begins with them waiting, too."""
    ending = {signal.SIGINT, signal.SIGTERM}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ending)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


TICK_S = 0.5
PIPE_BYTES = 65_536
LAST_EVENTS = ("ending", "failed", "not written")
GRACE_S = 10.0
LAST_WORDS_S = 1.0
