"""How far a simulation has come, on standard error."""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self


class Waiting:
    """Says something after two seconds: one line that is renewed, or one every ten seconds."""

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        """Begins now."""
        self._clock_s = clock_s
        self._next_s = clock_s() + FIRST_S
        self._is_terminal = sys.stderr.isatty()
        self._width = 0

    def say(self, text: str) -> None:
        """Where it stands now."""
        now_s = self._clock_s()
        if now_s < self._next_s:
            return
        self._next_s = now_s + (RENEWED_S if self._is_terminal else LINE_S)
        if self._is_terminal:
            self._print(f"\r{text:<{self._width}}", "")
            self._width = len(text)
        else:
            self._print(f"sealift: {text}", "\n")

    def __enter__(self) -> Self:
        """What was begun."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Takes the renewed line away."""
        if self._width:
            self._print(f"\r{'':<{self._width}}\r", "")

    def _print(self, text: str, end: str) -> None:
        # It goes on where nobody listens any more.
        with suppress(OSError):
            print(text, end=end, file=sys.stderr, flush=True)


FIRST_S = 2.0
RENEWED_S = 0.2
LINE_S = 10.0
