"""The process that reads or writes under a condition.

`python -m sealift_lab.experiments.document_001.process PARENT DESCRIPTOR CONDITION` answers
requests on a pipe. It starts no thread of its own: whether it has one is what is measured. It ends
with the pipe, and with its parent.
"""

import ctypes
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple
from functools import cache, cached_property, partial
from itertools import cycle, islice
from multiprocessing.connection import Connection
from operator import add, sub
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from sealift.errors import DeviceError
from sealift_lab import _lab
from sealift_lab.experiments.document_001 import conditions
from sealift_lab.machine.memory import check_memory
from sealift_lab.measure.timed import timed
from sealift_lab.model.arm import Skip, WrongResultError


def main(parent: int, descriptor: int, condition: str) -> None:
    """Answers requests until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    server, pipe = _Server(condition), Connection(descriptor)
    while os.getppid() == parent:
        try:
            number, method, arguments = pipe.recv()
        except EOFError:
            return
        pipe.send((number, _reply(getattr(server, method), arguments)))


def _reply(method: Callable[..., object], arguments: Mapping[str, Any]) -> object:
    """What a method returns, or the exception that its caller gets."""
    try:
        return method(**arguments)
    except Skip as skip:
        return skip
    except (DeviceError, _lab.NotMeasurableError) as error:
        return Skip(str(error))
    except _lab.WrongResultError as error:
        return WrongResultError(str(error))
    except Exception as error:
        return RuntimeError(f"{type(error).__name__}: {error}")


class _Server:
    """The condition of this process, and its arms by number; a method for each request."""

    def __init__(self, condition: str) -> None:
        self._condition = condition
        self._arms: list[_lab.Arm | PythonReader] = []

    @cached_property
    def _held(self) -> _lab.Held:
        """What the condition says, acquired when it is first looked at."""
        return acquire(self._condition)

    def read(self, *, path: str, sums: list[int], reader: str, **options: Any) -> int:
        """Prepares a reader; before anything is held, where the condition is to load first."""
        if self._condition != conditions.LOADED:
            _ = self._held
        if reader == "python":
            return self._add(PythonReader(path, sums))
        return self._add(_lab.Arm.reads(path, sums, reader=reader, **options))

    def write(self, *, folder: str, **options: Any) -> int:
        """Prepares a writer on a file without a name."""
        _ = self._held
        with TemporaryFile(dir=folder) as file:
            return self._add(_lab.Arm.writes(f"/proc/self/fd/{file.fileno()}", **options))

    def check(self, *, condition: str, request: Mapping[str, Any]) -> None:
        """Prepares an arm under another condition, and lets go of both."""
        server, arguments = _Server(condition), dict(request)
        getattr(server, arguments.pop("method"))(**arguments)
        server._held.release()

    def _add(self, arm: "_lab.Arm | PythonReader") -> int:
        _ = self._held
        self._arms.append(arm)
        return len(self._arms) - 1

    def sample(self, *, arm: int, seconds: float) -> tuple[tuple[Any, ...], Mapping[str, int]]:
        """Takes a sample; returns its fields, and what the system did meanwhile."""
        which = self._arms[arm]
        before = which.counts
        self._held.wake()
        try:
            sample = which.sample(seconds)
        finally:
            self._held.rest()
        seen = {name: count - before.get(name, 0) for name, count in which.counts.items()}
        threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208 (a name each is enough)
        return sample, seen | {"threads_alive": threads}

    def report(self, *, arm: int) -> Mapping[str, str | int]:
        """What an arm checked, and whether the C library takes this process for single-threaded."""
        which = self._arms[arm]
        return {
            "checked_against": ", ".join(which.checked_against),
            **which.counts,
            "detail": which.detail,
            "cores": "+".join(map(str, which.cores)) or "any",
            "c_library_takes_it_for": _single_threaded(),
        }


def _single_threaded() -> str:
    """What glibc takes this process for; one that has had a second thread stays multi-threaded."""
    try:
        flag = ctypes.c_char.in_dll(ctypes.CDLL(None), "__libc_single_threaded")
    except ValueError:
        return "unknown"
    return "single-threaded" if flag.value != b"\0" else "multi-threaded"


class PythonReader:
    """Python's own loop over the lines of short reads, 1,000 sequences an operation.

    It has those members of a native arm that the process uses.
    """

    checked_against = ("what the file's maker wrote",)
    detail = "python"
    cores: tuple[int, ...] = ()

    def __init__(self, path: str, sums: Sequence[int]) -> None:
        """Reads the first parts of a file that `write_reads` made; they aren't counted."""
        part_bytes = Path(path).stat().st_size // len(sums)
        self._arm = timed(partial(next, _read_parts(path, sums)), payload_bytes=part_bytes)
        self.counts: Mapping[str, int] = dict.fromkeys(COUNTS, 0)

    def sample(self, seconds: float) -> tuple[Any, ...]:
        """Runs for about `seconds`; returns the fields of `model.arm.Sample`, or raises."""
        before = _usage()
        sample = self._arm.sample(seconds)
        added = (1_000 * sample.operations, *map(sub, _usage(), before))
        self.counts = dict(zip(COUNTS, map(add, self.counts.values(), added), strict=True))
        return astuple(sample)


def _read_parts(path: str, sums: Sequence[int]) -> Iterator[None]:
    """Reads 1,000 sequences at a time, again and again, and checks their sum."""
    with Path(path).open("rb") as file:
        for part, expected in cycle(enumerate(sums)):
            if part == 0:
                file.seek(0)
            total = 0
            for sequence in islice(file, 1, 4_000, 4):
                first, last = sequence[:8], sequence[-9:-1]
                total += int.from_bytes(first, "little") + 3 * int.from_bytes(last, "little")
            if total % 2**64 != expected:
                raise _lab.WrongResultError(f"python: part {part} of the file has another sum")
            yield


def _usage() -> tuple[int, int, int]:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_majflt, usage.ru_minflt, usage.ru_nvcsw


def acquire(condition: str) -> _lab.Held:
    """Takes what a condition says; raises if the machine or the system can't give it."""
    # All but the first fill as much.
    if condition in conditions.MEMORY[1:]:
        check_memory(512 << 20)
    if condition in FOREIGN:
        FOREIGN[condition]()
    held = _lab.Held(NATIVE.get(condition, condition))
    if condition == conditions.FREED:
        held.release()
    return held


@cache
def _cuda_context() -> object:
    """A context on the first device, as the first call of a CUDA program makes it."""
    cuda = _library("install NVIDIA's driver where there is such a device", "libcuda.so.1")
    device, context = ctypes.c_int(), ctypes.c_void_p()
    for name, *arguments in (
        ("cuInit", 0),
        ("cuDeviceGet", ctypes.byref(device), 0),
        ("cuDevicePrimaryCtxRetain", ctypes.byref(context), device),
        ("cuCtxSetCurrent", context),
    ):
        if code := cuda[name](*arguments):
            raise Skip(
                f"{name} gave {code}: NVIDIA's driver finds no device to use; nvidia-smi says more"
            )
    return cuda, context


@cache
def _pim_rank() -> object:
    """A rank of real processing units, allocated and not used, as in document 001."""
    library = _library(
        "install UPMEM's SDK where there are its DIMMs, and put its lib folder on LD_LIBRARY_PATH",
        "libdpu.so",
        "libdpu.so.0.0",
    )
    # Larger than the struct of any version: a kind and two pointers.
    units = ctypes.create_string_buffer(64)
    if code := library.dpu_alloc_ranks(1, b"backend=hw", units):
        raise Skip(
            f"dpu_alloc_ranks gave {code}: there is no free rank; dpu-diag says what is there"
        )
    return library, units


def _library(advice: str, *names: str) -> ctypes.CDLL:
    for name in names:
        with suppress(OSError):
            return ctypes.CDLL(name)
    raise Skip(f"{names[0]} is not on this machine; {advice}")


# As a native reader's, without pages: the file is in memory.
COUNTS = ("sequences_checked", "major_faults", "minor_faults", "voluntary_switches")
NATIVE = {
    **dict.fromkeys((conditions.NONE, conditions.CUDA, conditions.REAL_RANK), "nothing"),
    **dict.fromkeys((conditions.FREED, conditions.LOADED), conditions.RANK),
}
FOREIGN = {conditions.CUDA: _cuda_context, conditions.REAL_RANK: _pim_rank}
PR_SET_PDEATHSIG = 1

if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
