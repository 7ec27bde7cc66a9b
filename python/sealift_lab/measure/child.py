"""A measuring process, seen from its parent."""

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

from sealift_lab.measure.job import COMMAND, Job


class Child:
    """A process that does a job; it holds the lock of the folder, too, as long as it lives."""

    def __init__(self, job: Job, say: Callable[[str], None]) -> None:
        """Starts it; `say` gets each line of its standard error, in a thread of its own."""
        with _signals_blocked():
            self._process = subprocess.Popen(
                COMMAND,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(job.lock,),
            )
        self._is_stopped = False
        self._has_ended_well = False
        self._last_line: deque[str] = deque(maxlen=1)
        self._reader = threading.Thread(target=self._read_stderr, args=(say,), daemon=True)
        self._reader.start()
        assert self._process.stdin is not None, "opened as a pipe"
        # One that has ended already is heard of by `events`.
        with suppress(BrokenPipeError), self._process.stdin as pipe:
            pipe.write(str(job).encode())

    def events(self) -> Iterator[dict[str, Any] | None]:
        """Its events until it has ended, and None twice a second while there are none.

        A process that it started, and that lives on, may hold its pipes open: their ends are not
        waited for.
        """
        for line in self._lines():
            event = None if line is None else json.loads(line)
            if event is not None and event["event"] in LAST_EVENTS:
                self._has_ended_well = True
            yield event
        self._reader.join(STDERR_GRACE_S)

    def stop(self) -> None:
        """Sends SIGTERM, and SIGKILL if it has not ended ten seconds later."""
        if self._is_stopped:
            return
        self._is_stopped = True
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
        """Why it ended before its work was done, or ""; known when there are no more events."""
        code = self._process.returncode
        if code < 0:
            return f"was ended by signal {-code} ({signal.Signals(-code).name})"
        if code:
            last = f": {self._last_line[-1]}" if self._last_line else ""
            return f"ended with code {code}{last}"
        return "" if self._has_ended_well else "left with code 0 before its work was done"

    def _lines(self) -> Iterator[bytes | None]:
        assert self._process.stdout is not None, "opened as a pipe"
        rest = b""
        with self._process.stdout as pipe:
            while True:
                # Polled before reading, so that its last lines are read.
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

    def _read_stderr(self, say: Callable[[str], None]) -> None:
        assert self._process.stderr is not None, "opened as a pipe"
        with TextIOWrapper(self._process.stderr, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if text := line.rstrip():
                    self._last_line.append(text)
                    say(text)


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """SIGINT and SIGTERM are blocked; a process started meanwhile begins with them blocked, too."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


TICK_S = 0.5
PIPE_BYTES = 65_536
LAST_EVENTS = ("ending", "failed", "not written")
GRACE_S = 10.0
STDERR_GRACE_S = 1.0
