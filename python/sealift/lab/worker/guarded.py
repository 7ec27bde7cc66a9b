"""An arm whose own mistakes are told from wrong results, and how its errors are told."""

import traceback
from collections.abc import Mapping
from pathlib import Path

from sealift._sealift import NotMeasurableError
from sealift.lab import store
from sealift.lab.spec import Arm, Sample, WrongResultError
from sealift.lab.store.errors import NO_ROOM
from sealift.lab.values import Value, why_not_kept


class Guarded:
    """An arm that tells its own mistakes from wrong results.

    Attributes:
        failed: What it raised while it was measured, or "".
    """

    def __init__(self, arm: Arm, file: str | None) -> None:
        """Takes over an arm, and the file of one's own that it stands in."""
        self._arm = arm
        self._file = file
        self.failed = ""

    def sample(self, seconds: float) -> Sample:
        """Raises `WrongResultError` for a mistake of the arm's own, too."""
        try:
            sample = self._arm.sample(seconds)
            if not isinstance(sample, Sample):
                raise TypeError(f"sample() gave {sample!r}; right would be a Sample")
        except (WrongResultError, store.NotWrittenError):
            raise
        except Exception as error:
            check_room(error)
            self.failed = said(error, self._file)
            # The loop leaves out an arm that raises this.
            raise WrongResultError(self.failed) from error
        return sample

    def verified(self) -> Mapping[str, Value]:
        """Raises `FailedError` where the arm's own doesn't keep to its contract."""
        try:
            facts = dict(self._arm.verified())
            for name, value in facts.items():
                plain = str(value) if isinstance(value, bool) else value
                if why := why_not_kept(name) or why_not_kept(plain):
                    raise TypeError(f"verified() has {name}={value!r}, which {why}")
        except Exception as error:
            raise FailedError(said(error, self._file)) from error
        # A bool is an int to Python, and would be counted.
        return {
            str(name): str(value) if isinstance(value, bool) else value
            for name, value in facts.items()
        }


class FailedError(Exception):
    """An arm raised something that the contract doesn't name."""


def said(error: Exception, file: str | None) -> str:
    """Type and text of an exception, and the line of one's own file that led there.

    What native code says of itself is whole without either.
    """
    if file is None and isinstance(error, NotMeasurableError):
        return str(error)
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == file] or frames
    return f"{text} ({own[-1].filename}, line {own[-1].lineno})" if own else text


def check_room(error: Exception) -> None:
    """What has no room for its file ends the run, which can be resumed when there is some.

    Raises:
        store.NotWrittenError: Instead of such an error.
    """
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        path = Path(str(error.filename or "a file of the experiment"))
        raise store.NotWrittenError.of(path, error) from error
