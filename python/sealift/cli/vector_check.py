"""`sealift check --vectors`: the operations of vector files on a device, and their log."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import sealift
from sealift import SealiftError
from sealift.operations import Done, head_of, log_lines, run_all, totals, why_not
from sealift.vectors import VectorFile, read_vectors

Document = dict[str, Any]
"""A part of the JSON of the command."""


@dataclass(frozen=True)
class FileResult:
    """The result of the operations of a file, with the attributes of `sealift.CheckResult`."""

    passed: bool
    text: str
    messages: int
    refused: int


class VectorCheck:
    """A device that works vector files; `check` uses it as a `sealift.DeviceCheck`.

    A check is a file. Raises as `sealift.Engine` does, and ValueError as `read_vectors`.
    """

    def __init__(
        self,
        extension: ModuleType,
        spec: str,
        paths: Sequence[str],
        tell: Callable[[Document], None],
    ) -> None:
        """Opens the device and reads the files; `tell` gets how far the work has come."""
        self._engine, self._tell = extension.Engine([spec]), tell
        (self.device,) = self._engine.devices
        self.compared_with = f"{len(paths)} file{'s' * (len(paths) > 1)}"
        self._files = {_check_of(path): read_vectors(Path(path)) for path in paths}
        names = [Path(path).name for path in paths]
        # The log repeats them for each operation.
        shown = names if len({*names}) == len(names) else paths
        self._shown = dict(zip(self._files, shown, strict=True))
        self._done: list[tuple[str, Done]] = []
        self._not_run = sum((Counter(each.left_out) for each in self._files.values()), Counter())
        self._of = sum(len(each.records) for each in self._files.values())
        self._passed_by = 0

    @property
    def checks(self) -> list[str]:
        """A sentence for each file that is true of a right device."""
        return [*self._files]

    def run(self, check: str) -> FileResult:
        """Works the operations of a file, and compares what came with what is published."""
        file = self._files[check]
        reasons = [why_not(self.device, record) for record in file.records]
        self._not_run.update(filter(None, reasons))
        taken = [each for each, why in zip(file.records, reasons, strict=True) if not why]
        self._passed_by += len(file.records) - len(taken)
        try:
            done = run_all(self._engine, taken, self._progress)
        except SealiftError as error:
            return FileResult(passed=False, text=str(error), messages=0, refused=0)
        self._done += [(self._shown[check], each) for each in done]
        faults = [fault for each in done if (fault := each.fault)]
        refused = sum(each.record.expected is None and each.calculated is None for each in done)
        text = f"{len(done):,} operations as planned"
        if faults:
            more = f"; and {len(faults) - 1:,} more" if faults[1:] else ""
            text = f"{faults[0]}{more}"
        return FileResult(not faults, text, len(done), refused)

    def totals(self) -> Document:
        """Counts of all operations; those that were not run by the reason."""
        done = (each for _, each in self._done)
        return {**totals(done), "not_run": dict(self._not_run)}

    def write_log(self, path: Path, *, is_right: bool) -> None:
        """Adds the log of this device to a file; an OSError if it can't be written."""
        with path.open("a", encoding="utf-8") as file:
            file.writelines(f"{_printable(line)}\n" for line in self._log(is_right=is_right))

    def _log(self, *, is_right: bool) -> Iterator[str]:
        files = self._files.values()
        counts = self.totals()
        head = {
            "Algorithm": "AES-GCM",
            "Kinds of operations": "encryption, decryption and authentication",
            "Input": ", ".join(file.name for file in files),
            "Size of the input, bytes": f"{sum(file.size_bytes for file in files):,}",
            "Platform": f"{self.device.name}: {self.device.detail}; {_machine()}",
            "Time": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC",
            "Written by": f"Sealift {sealift.__version__}",
            **head_of(counts),
            "Operations not run": not_run_text(counts["not_run"]) or "0",
            "Verdict": "right" if is_right else "WRONG",
        }
        yield from log_lines(head, self._done)
        yield ""

    def _progress(self, done: int) -> None:
        self._tell({"done": len(self._done) + self._passed_by + done, "of": self._of})


def read_all(paths: Sequence[str]) -> list[VectorFile]:
    """The files in their order; ValueError if one is not as it should be, or named twice."""
    if len({*map(os.path.realpath, paths)}) != len(paths):
        raise ValueError("a file stands twice; name each once")
    return [read_vectors(Path(path)) for path in paths]


def not_run_text(not_run: Mapping[str, int]) -> str:
    """Counts and reasons in words: `6 have a nonce of 0 bytes, 2 may succeed or fail`; or ""."""
    return ", ".join(f"{count:,} {reason}" for reason, count in not_run.items())


def _printable(line: str) -> str:
    """The line with control characters, and bytes of file names that are not text, escaped."""
    if line.isprintable():
        return line
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in line)


def _check_of(path: str) -> str:
    return f"every operation of {path} ends as planned"


def _machine() -> str:
    """The processor's name and how many cores this process may use."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return f"{next(names, 'processor unknown')}, {len(os.sched_getaffinity(0))} cores"
