"""Python's own loop over the lines of a file."""

import resource
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from itertools import islice
from pathlib import Path
from typing import Any

from sealift_lab._lab import WrongResultError
from sealift_lab.measure.timed import Stopwatch


class PythonReader:
    """Iterates over the lines of short reads, 1,000 sequences an operation.

    It has those members of a native arm that the process uses.
    """

    checked_against = ("what the file's maker wrote",)
    detail = "python"
    cores: tuple[int, ...] = ()

    def __init__(self, path: str, sums: Sequence[int]) -> None:
        """Opens a file that `write_reads` made, reads its first part, and doesn't count that.

        Raises:
            WrongResultError: If a sum is another one than `write_reads` returned.
        """
        self._file = Path(path).open("rb")  # noqa: SIM115 (open as long as the process lives)
        self._sums = sums
        self._part_bytes = Path(path).stat().st_size // len(sums)
        self._next, self._part_s = 0, 1.0
        self.counts: Mapping[str, int] = dict.fromkeys(COUNTS, 0)
        self.sample(0.0)
        self.counts = dict.fromkeys(COUNTS, 0)

    def sample(self, seconds: float) -> tuple[Any, ...]:
        """Runs for about `seconds`; returns the fields of `model.sample.Sample`, or raises."""
        parts = max(1, round(seconds / self._part_s))
        before = _usage()
        with Stopwatch() as watch:
            for _ in range(parts):
                self._read_part()
        usage = (late - early for late, early in zip(_usage(), before, strict=True))
        added = dict(zip(COUNTS, (1_000 * parts, *usage), strict=True))
        self.counts = {name: count + added[name] for name, count in self.counts.items()}
        self._part_s = watch.ns / 1e9 / parts
        return astuple(watch.sample(parts, parts * self._part_bytes))

    def _read_part(self) -> None:
        if self._next == len(self._sums):
            self._file.seek(0)
            self._next = 0
        total = 0
        for sequence in islice(self._file, 1, 4_000, 4):
            first, last = sequence[:8], sequence[-9:-1]
            total += int.from_bytes(first, "little") + 3 * int.from_bytes(last, "little")
        if total % 2**64 != self._sums[self._next]:
            raise WrongResultError(f"python: part {self._next} of the file has another sum")
        self._next += 1


def _usage() -> tuple[int, int, int]:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_majflt, usage.ru_minflt, usage.ru_nvcsw


# As a native reader's, without pages: the file is in memory.
COUNTS = ("sequences_checked", "major_faults", "minor_faults", "voluntary_switches")
