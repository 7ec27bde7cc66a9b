"""How a run is asked to end: by Ctrl-C, by SIGTERM, or from inside."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from sealift.lab.runner.child import Child


class Stop:
    """Whether the run is to end, and the process that has to know.

    Attributes:
        signal: The name of the signal that came, or "".
        is_asked: Whether the run is to end, by a signal or for another reason.
    """

    def __init__(self) -> None:
        """Nothing was asked yet."""
        self.signal = ""
        self.is_asked = False
        self._child: Child | None = None

    def asked(self, number: int, _: FrameType | None) -> None:
        """A signal came. The second one is for those who don't want to wait."""
        if self.signal:
            raise KeyboardInterrupt
        self.signal = signal.Signals(number).name
        self.stop()

    def stop(self) -> None:
        """Ends the process that measures, and lets none begin."""
        self.is_asked = True
        if self._child is not None:
            self._child.stop()

    @contextmanager
    def ends(self, child: Child) -> Iterator[None]:
        """A signal ends this process, as long as the `with` lasts."""
        self._child = child
        # One that came while it was started found nobody.
        if self.is_asked:
            child.stop()
        try:
            yield
        finally:
            self._child = None
            child.kill()


@contextmanager
def heeded() -> Iterator[Stop]:
    """Ctrl-C and SIGTERM end a run in good order."""
    stop = Stop()
    before = {each: signal.signal(each, stop.asked) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
