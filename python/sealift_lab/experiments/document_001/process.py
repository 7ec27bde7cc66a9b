"""The process that reads or writes under a condition.

`python -m sealift_lab.experiments.document_001.process PARENT DESCRIPTOR CONDITION` answers
requests on a pipe. It starts no thread of its own: whether it has one is what is measured. It ends
with the pipe, and with its parent.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Mapping
from multiprocessing.connection import Connection, Pipe
from tempfile import TemporaryFile
from typing import Any

from sealift.errors import DeviceError
from sealift_lab import _lab
from sealift_lab.experiments.document_001.condition import LOADED
from sealift_lab.experiments.document_001.python_reader import PythonReader
from sealift_lab.experiments.document_001.resources import Resources
from sealift_lab.model.sample import Skip, WrongResultError


def main(parent: int, descriptor: int, condition: str) -> None:
    """Answers requests until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    server, pipe = _Server(condition), Connection(descriptor)
    while _ends_with(parent):
        try:
            number, method, arguments = pipe.recv()
        except EOFError:
            return
        pipe.send((number, _reply(server, method, arguments)))


def _ends_with(parent: int) -> bool:
    """Makes this process end when its parent does; false if that has ended already."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    return os.getppid() == parent


def _reply(server: "_Server", method: str, arguments: Mapping[str, Any]) -> object:
    """What a method returns, or the exception that its caller gets."""
    try:
        return getattr(server, method)(**arguments)
    except (Skip, DeviceError, _lab.NotMeasurableError) as error:
        return Skip(str(error))
    except _lab.WrongResultError as error:
        return WrongResultError(str(error))
    except Exception as error:
        return RuntimeError(f"{type(error).__name__}: {error}")


class _Server:
    """The condition of this process, and its arms by number; a method for each request."""

    def __init__(self, condition: str) -> None:
        self._condition = condition
        self._resources: Resources | None = None
        self._arms: list[_lab.Arm | PythonReader] = []

    def read(self, *, path: str, sums: list[int], reader: str, **options: Any) -> int:
        """Prepares a reader; before anything is held, where the condition is to load first."""
        if self._condition != LOADED:
            self._acquire()
        if reader == "python":
            return self._add(PythonReader(path, sums))
        return self._add(_lab.Arm.reads(path, sums, reader=reader, **options))

    def write(self, *, folder: str, **options: Any) -> int:
        """Prepares a writer on a file without a name."""
        self._acquire()
        with TemporaryFile(dir=folder) as file:
            return self._add(_lab.Arm.writes(f"/proc/self/fd/{file.fileno()}", **options))

    def sample(self, *, arm: int, seconds: float) -> tuple[tuple[Any, ...], Mapping[str, int]]:
        """Takes a sample; returns its fields, and what the system did meanwhile."""
        assert self._resources is not None, "held before an arm has a number"
        timed = self._arms[arm]
        before = timed.counts
        self._resources.wake()
        try:
            sample = timed.sample(seconds)
        finally:
            self._resources.rest()
        seen = {name: count - before.get(name, 0) for name, count in timed.counts.items()}
        threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208 (a name each is enough)
        return sample, seen | {"threads_alive": threads}

    def report(self, *, arm: int) -> Mapping[str, str | int]:
        """What an arm checked, and whether the C library takes this process for single-threaded."""
        timed = self._arms[arm]
        return {
            "checked_against": ", ".join(timed.checked_against),
            **timed.counts,
            "detail": timed.detail,
            "cores": "+".join(map(str, timed.cores)) or "any",
            "c_library_takes_it_for": _single_threaded(),
        }

    def try_in_child(self, *, condition: str, method: str, arguments: Mapping[str, Any]) -> object:
        """The reply of a process of another condition: a child, as this one has no thread."""
        parent, (here, there) = os.getpid(), Pipe(duplex=False)
        child = os.fork()
        if child == 0:
            if _ends_with(parent):
                there.send(_reply(_Server(condition), method, arguments))
            os._exit(0)
        there.close()
        try:
            with here:
                return here.recv()
        except EOFError:
            return RuntimeError(f"the process that held {condition} ended without a reply")
        finally:
            os.waitpid(child, 0)

    def _acquire(self) -> None:
        if self._resources is None:
            self._resources = Resources(self._condition)

    def _add(self, arm: "_lab.Arm | PythonReader") -> int:
        self._acquire()
        self._arms.append(arm)
        return len(self._arms) - 1


def _single_threaded() -> str:
    """What glibc takes this process for; one that has had a second thread stays multi-threaded."""
    try:
        flag = ctypes.c_char.in_dll(ctypes.CDLL(None), "__libc_single_threaded")
    except ValueError:
        return "unknown"
    return "single-threaded" if flag.value != b"\0" else "multi-threaded"


PR_SET_PDEATHSIG = 1

if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
