"""Python's own loop over the lines of a file."""

import resource
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from itertools import islice
from pathlib import Path
from typing import Any

from sealift._sealift import WrongResultError
from sealift.lab.timed import Stopwatch


class PythonReader:
    """Reads short reads by iterating over the file's lines; 1,000 an operation."""

    checked_against = ("what the file's maker wrote",)
    detail = "python"
    cores = ()

    def __init__(self, path: str, sums: Sequence[int]) -> None:
        """Opens the file, reads its first part, and does not count that.

        Args:
            path: Of a file that `write_reads` made.
            sums: What that gave.

        Raises:
            WrongResultError: If something else is read than was written.
        """
        self._file = Path(path).open("rb")  # noqa: SIM115 (open as long as the process lives)
        self._sums = sums
        self._part_bytes = Path(path).stat().st_size // len(sums)
        self._next = 0
        self._once_s = 1.0
        self._faults = (0, 0, 0)
        self._read = 0
        self.sample(0.0)
        self._read, self._faults = 0, (0, 0, 0)

    def sample(self, seconds: float) -> tuple[Any, ...]:
        """Runs for about `seconds`; the figures are those of `spec.Sample`.

        Raises:
            WrongResultError: If something else is read than was written.
        """
        parts = max(1, round(seconds / self._once_s))
        before = _faults()
        with Stopwatch() as watch:
            for _ in range(parts):
                self._part()
        after = _faults()
        self._faults = tuple(  # type: ignore[assignment]
            known + late - early
            for known, early, late in zip(self._faults, before, after, strict=True)
        )
        self._read += parts
        self._once_s = watch.ns / 1e9 / parts
        return astuple(watch.sample(parts, parts * self._part_bytes))

    @property
    def counts(self) -> Mapping[str, int]:
        """As a native reader's, without the pages: what is read before is in memory."""
        major, minor, voluntary = self._faults
        return {
            "sequences_checked": self._read * SEQUENCES,
            "major_faults": major,
            "minor_faults": minor,
            "voluntary_switches": voluntary,
        }

    def _part(self) -> None:
        if self._next == len(self._sums):
            self._file.seek(0)
            self._next = 0
        total = 0
        for sequence in islice(self._file, 1, 4 * SEQUENCES, 4):
            first, last = sequence[:8], sequence[-9:-1]
            total += int.from_bytes(first, "little") + 3 * int.from_bytes(last, "little")
        if total % 2**64 != self._sums[self._next]:
            raise WrongResultError(f"python: part {self._next} of the file has another sum")
        self._next += 1


def _faults() -> tuple[int, int, int]:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_majflt, usage.ru_minflt, usage.ru_nvcsw


SEQUENCES = 1_000
