"""Ends a run in good order: by Ctrl-C, by SIGTERM, or from inside."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from sealift_lab.measure.child import Child


class Stop:
    """Whether the run is to end, and the process that measures.

    Attributes:
        signal: Name of the signal that came, or "".
        is_requested: Whether the run is to end, by a signal or for another reason.
    """

    def __init__(self) -> None:
        """Nothing was requested yet."""
        self.signal = ""
        self.is_requested = False
        self._child: Child | None = None

    def handle(self, number: int, _: FrameType | None) -> None:
        """Handles a signal; a second one raises KeyboardInterrupt, which ends the run at once."""
        if self.signal:
            raise KeyboardInterrupt
        self.signal = signal.Signals(number).name
        self.request()

    def request(self) -> None:
        """Ends the process that measures; no other is to be started."""
        self.is_requested = True
        if self._child is not None:
            self._child.stop()

    @contextmanager
    def stopping(self, child: Child) -> Iterator[None]:
        """A request ends this process, as long as the `with` lasts; the end of the `with` does."""
        self._child = child
        # A signal that came while it was started reached no child.
        if self.is_requested:
            child.stop()
        try:
            yield
        finally:
            self._child = None
            child.kill()


@contextmanager
def signals() -> Iterator[Stop]:
    """Ctrl-C and SIGTERM request the end of a run, as long as the `with` lasts."""
    stop = Stop()
    before = {each: signal.signal(each, stop.handle) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
