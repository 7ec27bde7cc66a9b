"""A process that measures, seen from its parent."""

import json
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sealift.lab.worker import Order


class Child:
    """A process that carries out an order."""

    def __init__(self, order: Order, lock: int, say: Callable[[str], None]) -> None:
        """Starts it.

        Args:
            order: What it is to do.
            lock: Descriptor that holds the folder; the process holds it too, as long as it lives.
            say: Is given each line of its standard error, in a thread of its own.
        """
        with _signals_wait():
            self._process = subprocess.Popen(
                order.command(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                pass_fds=(lock,),
            )
        self._stopped = False
        self._said: deque[str] = deque(maxlen=1)
        self._reader = threading.Thread(target=self._read_stderr, args=(say,), daemon=True)
        self._reader.start()

    def events(self) -> Iterator[dict[str, Any]]:
        """What it tells, until it has ended."""
        assert self._process.stdout is not None, "opened as a pipe"
        with self._process.stdout as lines:
            for line in lines:
                # A killed process can leave half a line.
                if line.endswith("\n"):
                    yield json.loads(line)
        self._process.wait()
        # A process that it started, and that lives on, may hold its standard error open.
        self._reader.join(LAST_WORDS_S)

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
        return ""

    def _read_stderr(self, say: Callable[[str], None]) -> None:
        assert self._process.stderr is not None, "opened as a pipe"
        with self._process.stderr as lines:
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


GRACE_S = 10.0
LAST_WORDS_S = 1.0
