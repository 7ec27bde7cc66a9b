"""An arm whose own mistakes are told apart from wrong results, and errors as text."""

import traceback
from collections.abc import Mapping
from pathlib import Path

from sealift_lab._lab import NotMeasurableError
from sealift_lab.measure.journal import NO_ROOM, NotWrittenError
from sealift_lab.model.sample import Arm, Computed, Sample, WrongResultError
from sealift_lab.model.values import Value, why_not_stored


class Guarded:
    """An arm that keeps to its contract, whatever the one inside does.

    Attributes:
        failure: What it raised while it was measured, or "".
    """

    def __init__(self, arm: Arm, file: str | None, *, is_timed: bool) -> None:
        """Takes over an arm, and the file of one's own that made it.

        Raises:
            TypeError: If a computed arm stands for a timed one, or the other way round.
        """
        if isinstance(arm, Computed) and is_timed:
            raise TypeError("a Computed is no measurement; give the experiment an origin=")
        if not isinstance(arm, Computed) and not is_timed:
            raise TypeError(f"{type(arm).__name__} is no Computed, and nothing is timed here")
        self._arm = arm
        self._file = file
        self.failure = ""

    def sample(self, seconds: float) -> Sample:
        """Raises `WrongResultError` for a mistake of the arm's own, too, so that it is left out."""
        try:
            sample = self._arm.sample(seconds)
            if not isinstance(sample, Sample):
                raise TypeError(f"sample() gave {sample!r}; right would be a Sample")
        except (WrongResultError, NotWrittenError):
            raise
        except Exception as error:
            check_room(error)
            self.failure = format_error(error, self._file)
            raise WrongResultError(self.failure) from error
        return sample

    def report(self) -> Mapping[str, Value]:
        """Facts that can be stored; a bool as text, because integers are added up.

        Raises:
            ReportError: If the arm raises, or a fact can't be stored.
        """
        try:
            facts = {
                name: str(value) if isinstance(value, bool) else value
                for name, value in self._arm.report().items()
            }
            for name, value in facts.items():
                if why := why_not_stored(name) or why_not_stored(value):
                    raise TypeError(f"report() has {name}={value!r}, which {why}")
        except Exception as error:
            raise ReportError(format_error(error, self._file)) from error
        return {str(name): value for name, value in facts.items()}


class ReportError(Exception):
    """The report of an arm doesn't keep to its contract."""


def format_error(error: Exception, file: str | None) -> str:
    """Type and text of an exception, and the line of one's own file that led there.

    Errors of native code are sentences without either.
    """
    if file is None and isinstance(error, NotMeasurableError):
        return str(error)
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == file] or frames
    return f"{text} ({own[-1].filename}, line {own[-1].lineno})" if own else text


def check_room(error: Exception) -> None:
    """A full disk under an experiment's own file ends the run, which can then be resumed.

    Raises:
        NotWrittenError: Instead of such an error.
    """
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        path = Path(str(error.filename or "a file of the experiment"))
        raise NotWrittenError.from_os(path, error) from error
