"""The process that reads or writes under a condition: `python -m sealift.lab.files.process`.

It takes requests, a line of JSON each, from standard input, and answers each with a line on
standard output. It starts no thread of its own: whether it has one is what is measured. It ends
when its input does, and with its parent.
"""

import ctypes
import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from sealift import _sealift
from sealift.errors import DeviceError
from sealift.lab.files.condition import LOADED
from sealift.lab.files.hold import AbsentError, Hold

Timed = _sealift.Arm
"""What is timed here; Python's own loop has the same methods."""


def main() -> None:
    """Answers requests until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if not _ends_with(int(sys.argv[1])):
        return
    server = _Server(sys.argv[2])
    for line in sys.stdin:
        request = json.loads(line)
        number = request.pop("number")
        print(json.dumps({"number": number, **_answer(server, request)}), flush=True)


def _ends_with(parent: int) -> bool:
    """Ends this process when its parent does; false if that is gone already."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    return os.getppid() == parent


def _answer(server: "_Server", request: dict[str, Any]) -> dict[str, Any]:
    try:
        ask: Callable[..., dict[str, Any]] = getattr(server, request.pop("do"))
        return ask(**request)
    except (AbsentError, DeviceError, _sealift.NotMeasurableError) as error:
        return {"skipped": str(error)}
    except _sealift.WrongResultError as error:
        return {"wrong": str(error)}
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"}


class _Server:
    """What this process holds, and its arms by number."""

    def __init__(self, condition: str) -> None:
        self._condition = condition
        self._hold: Hold | None = None
        self._arms: list[Timed] = []

    def hold(self) -> dict[str, Any]:
        """Takes what the condition says."""
        if self._hold is None:
            self._hold = Hold(self._condition)
        return {}

    def read(self, **told: Any) -> dict[str, Any]:
        """Prepares a reader; before anything is held, where the condition is to load first."""
        if self._condition != LOADED:
            self.hold()
        return self._add(_reader(**told))

    def write(self, folder: str, **told: Any) -> dict[str, Any]:
        """Prepares a writer on a file without a name."""
        from tempfile import TemporaryFile

        self.hold()
        with TemporaryFile(dir=folder) as file:
            return self._add(_sealift.Arm.writes(f"/proc/self/fd/{file.fileno()}", **told))

    def sample(self, arm: int, seconds: float) -> dict[str, Any]:
        """Takes a sample."""
        assert self._hold is not None, "held before an arm was told"
        timed = self._arms[arm]
        before = timed.counts
        self._hold.wake()
        try:
            sample = timed.sample(seconds)
        finally:
            self._hold.rest()
        seen = {name: count - before.get(name, 0) for name, count in timed.counts.items()}
        return {"sample": sample, "seen": seen | {"threads_alive": _threads()}}

    def verified(self, arm: int) -> dict[str, Any]:
        """What an arm checked, and whether the C library takes this process for single-threaded."""
        timed = self._arms[arm]
        facts = {
            "checked_against": ", ".join(timed.checked_against),
            **timed.counts,
            "detail": timed.detail,
            "cores": "+".join(map(str, timed.cores)) or "any",
            "c_library_takes_it_for": _single_threaded(),
        }
        return {"facts": facts}

    def try_in_child(self, condition: str, request: dict[str, Any]) -> dict[str, Any]:
        """What a process of another condition would answer; this one has no thread, so it forks."""
        parent, (reading, writing) = os.getpid(), os.pipe()
        child = os.fork()
        if child == 0:
            if _ends_with(parent):
                os.write(writing, json.dumps(_answer(_Server(condition), request)).encode())
            os._exit(0)
        os.close(writing)
        with open(reading, "rb") as pipe:  # noqa: PTH123 (a descriptor)
            answer = pipe.read()
        _, code = os.waitpid(child, 0)
        if not answer:
            return {"failed": f"the process that held {condition} ended with status {code}"}
        told: dict[str, Any] = json.loads(answer)
        return told

    def _add(self, arm: Timed) -> dict[str, Any]:
        self.hold()
        self._arms.append(arm)
        return {"arm": len(self._arms) - 1}


def _reader(reader: str, path: str, sums: list[int], **told: Any) -> Timed:
    if reader == PYTHON:
        from sealift.lab.files.python import PythonReader

        return PythonReader(path, sums)  # type: ignore[return-value]
    return _sealift.Arm.reads(path, sums, reader=reader, **told)


def _threads() -> int:
    return len(os.listdir("/proc/self/task"))  # noqa: PTH208 (a name each is enough)


def _single_threaded() -> str:
    """What glibc says; a process that has had a second thread stays what it became."""
    try:
        flag = ctypes.c_char.in_dll(ctypes.CDLL(None), "__libc_single_threaded")
    except ValueError:
        return "unknown"
    return "single-threaded" if flag.value != b"\0" else "multi-threaded"


PR_SET_PDEATHSIG = 1
PYTHON = "python"

if __name__ == "__main__":
    main()
