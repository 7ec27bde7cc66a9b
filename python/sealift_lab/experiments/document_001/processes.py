"""Readers and writers as arms, each in a process that holds something while it works."""

import csv
import ctypes
import os
import resource
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, field
from functools import cache, cached_property, partial
from itertools import cycle, islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from operator import add, sub
from pathlib import Path
from typing import IO, Any

from sealift.errors import DeviceError
from sealift_lab import _lab
from sealift_lab.experiments.document_001 import kernel
from sealift_lab.machine.facts import check_memory
from sealift_lab.measure.built import Tool, build_text
from sealift_lab.measure.native import stream_source, write_reads
from sealift_lab.measure.timed import timed
from sealift_lab.model.arm import Cell, Context, Sample, Skip, Value, WrongResultError


def file_arm(cell: Cell, context: Context, *, reads: int = 1_000_000) -> "FileArm":
    """Prepares a reader or a writer in the process of its condition, which is started if need be.

    Its file has no name and lies in the run folder; a reader's holds `reads` short reads.

    Raises:
        Skip: If the condition can't be had, or the file can't be read or written so.
        WrongResultError: If it reads something else than was written.
    """
    condition = str(cell["condition"])
    # Readers with threads have a process apart, and so has each file that is loaded first.
    loaded = cell.get("reader", "") if condition == LOADED else ""
    process = _process_of(condition, int(cell.get("threads", 1)) > 1, loaded)
    number = process.request(**_request(cell, context, reads))
    return FileArm(cell, context.folder, process, number)


def background_arm(cell: Cell, context: Context, *, reads: int = 1_000_000) -> "FileArm":
    """The same in a process that holds nothing, while another one holds what the cell says.

    Arguments and exceptions as of `file_arm`. One condition is held at a time, from an arm's sample
    to the next one's of another condition.
    """
    condition = str(cell["condition"])
    _hold_in_background(condition)
    process = _process_of(NONE, "beside another", int(cell.get("threads", 1)) > 1)
    number = process.request(**_request(cell, context, reads))
    return FileArm(cell, context.folder, process, number, held_by_another=condition)


def check_file(cell: Cell, context: Context) -> None:
    """Finds out on a short file whether a reader or a writer can be had; raises as `file_arm` does.

    One process does so for all conditions, and lets go of each.
    """
    request = _request(cell, context, reads=1_000)
    checks = _process_of(NONE, "for checks")
    checks.request("check", condition=cell["condition"], request=request)


@dataclass
class FileArm:
    """An arm that another process has prepared; implements `model.arm.Arm`.

    Attributes:
        held_by_another: The condition that another process holds; "" where the arm's own does.
        totals: The kernel's counts over all samples.
    """

    cell: Cell
    folder: Path
    process: "Process"
    number: int
    held_by_another: str = ""
    totals: Counter[str] = field(default_factory=Counter)

    def sample(self, seconds: float) -> Sample:
        """Runs for about `seconds`, and adds a line of what the system did to the run folder."""
        holder = _hold_in_background(self.held_by_another) if self.held_by_another else self.process
        before = kernel.counters()
        fields, seen = self.process.request("sample", arm=self.number, seconds=seconds)
        sample, after = Sample(*fields), kernel.counters()
        counted = {name: after[name] - count for name, count in before.items() if name in after}
        self.totals.update(counted)
        tables = (kernel.page_tables_kb(each.child.pid) for each in (self.process, holder))
        seen |= counted | dict(zip(PAGE_TABLES, tables, strict=True))
        figure = "001-W1" if "writer" in self.cell else "001-F2"
        where = "-background" if self.held_by_another else ""
        with (self.folder / f"{figure}{where}-evidence.csv").open(
            "a", encoding="utf-8", newline=""
        ) as file:
            writer = csv.writer(file, lineterminator="\n")
            if not file.tell():
                writer.writerow(COLUMNS)
            figures = (round(seconds, 4), sample.ns, sample.operations)
            seen_figures = (seen.get(name, "") for name in SEEN)
            writer.writerow((*self.cell.values(), *figures, *seen_figures))
        return sample

    def report(self) -> Mapping[str, Value]:
        """What it checked, and what the system did, up to now."""
        facts: Mapping[str, Value] = self.process.request("report", arm=self.number)
        return {**facts, **self.totals}


class Process:
    """A process that holds what its condition says, once it has prepared an arm.

    It starts no thread of its own: whether it has one is what is measured. It ends with the pipe,
    and with its parent.
    """

    def __init__(self, condition: str) -> None:
        """Starts it."""
        spawn = get_context("spawn")
        self.pipe, remote = spawn.Pipe()
        self.child = spawn.Process(target=_serve, args=(condition, remote), daemon=True)
        self.child.start()
        remote.close()
        self.requests = 0

    def request(self, method: str, **arguments: object) -> Any:
        """Calls a method of the process's server; returns or raises what that does.

        Raises:
            RuntimeError: If it has ended.
        """
        self.requests += 1
        number, reply = 0, None
        try:
            self.pipe.send((self.requests, method, arguments))
            # Ctrl-C may have come before an earlier reply was read.
            while number < self.requests:
                number, reply = self.pipe.recv()
        except (ConnectionError, EOFError) as error:
            self.child.join()
            code = self.child.exitcode
            raise RuntimeError(f"the process that held something ended with code {code}") from error
        if isinstance(reply, Exception):
            raise reply
        return reply

    def end(self) -> None:
        """Ends it, and with it all that it holds."""
        self.child.kill()
        self.child.join()


def _hold_in_background(condition: str) -> Process:
    """The process that holds a condition from now on, alone: what was held before is let go of."""
    if condition not in background:
        for name, holder in [*background.items()]:
            del background[name]
            if name in FOREIGN:
                # The libraries that were loaded for it may keep something.
                holder.end()
            else:
                holder.request("release")
        holder = _process_of(condition, "in the background")
        holder.request("hold")
        background[condition] = holder
    return background[condition]


def _process_of(condition: str, *kind: Value) -> Process:
    """The process of a condition, which is started if need be; `kind` tells several apart."""
    key = condition, *kind
    if key not in processes or not processes[key].child.is_alive():
        processes[key] = Process(condition)
    return processes[key]


def _request(cell: Cell, context: Context, reads: int) -> dict[str, Any]:
    """A method of the process's server that prepares the arm, and its arguments."""
    if "writer" in cell:
        return {
            "method": "write",
            "folder": str(context.folder.resolve()),
            "writer": cell["writer"],
            "block_bytes": cell["block_bytes"],
            "fsync": cell["fsync"] == "yes",
            "seed": context.seed,
        }
    _, path, sums = short_reads(context.folder, context.seed, reads, str(cell["cache"]))
    reader = str(cell["reader"])
    compiler = os.environ.get("CXX") or "c++"
    return {
        "method": "read",
        "path": path,
        "sums": sums,
        # A file that is loaded first is gone through in memory.
        "reader": IN_MEMORY[reader] if cell["condition"] == LOADED else reader,
        "library": stream_library(compiler) if reader == "ifstream" else None,
        "threads": cell["threads"],
        "cold": cell["cache"] == "cold",
    }


@cache
def short_reads(folder: Path, seed: int, reads: int, kind: str) -> tuple[IO[bytes], str, list[int]]:
    """A file of short reads as FASTQ, its path while it is open here, and sums of each 1,000 reads.

    Cold reading evicts its file, which is another one than that of the kind `warm`.
    """
    file = tempfile.TemporaryFile(dir=folder, prefix=kind)  # noqa: SIM115 (open until the end)
    path = Path(f"/proc/{os.getpid()}/fd/{file.fileno()}")
    sums = write_reads(path, reads=reads, seed=seed)
    # Pages that are not yet on the disk can't be evicted, and are written while others measure.
    os.fsync(file.fileno())
    return file, str(path), sums


@cache
def stream_library(compiler: str) -> str:
    """The reader `ifstream`, built by a C++ compiler; raises `Skip` if that fails."""
    command, *options = compiler.split()
    arguments, text = (*options, *FLAGS, "-o", LIBRARY), stream_source().encode()
    made = build_text("ifstream.cpp", text, Tool(command, "g++"), *arguments)
    return str(made.folder / LIBRARY)


def _serve(condition: str, pipe: Connection) -> None:
    """Answers requests until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What libraries print is no part of their caller's output.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    server = _Server(condition)
    with suppress(EOFError, ConnectionError):
        while True:
            number, method, arguments = pipe.recv()
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

    def hold(self) -> None:
        """Takes what the condition says, until `release`: its threads are awake all the time."""
        self._held.wake()

    def release(self) -> None:
        """Gives it back."""
        self._held.rest()
        self._held.release()
        del self._held

    def read(self, *, path: str, sums: list[int], reader: str, **options: Any) -> int:
        """Prepares a reader; before anything is held, where the condition is to load first."""
        if self._condition != LOADED:
            _ = self._held
        if reader == "python":
            return self._add(PythonReader(path, sums))
        return self._add(_lab.Arm.reads(path, sums, reader=reader, **options))

    def write(self, *, folder: str, **options: Any) -> int:
        """Prepares a writer on a file without a name."""
        _ = self._held
        with tempfile.TemporaryFile(dir=folder) as file:
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
    if condition in MEMORY[1:]:
        check_memory(512 << 20)
    if condition in FOREIGN:
        FOREIGN[condition]()
    held = _lab.Held(NATIVE.get(condition, condition))
    if condition == FREED:
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


processes: dict[tuple[Value, ...], Process] = {}
background: dict[str, Process] = {}
"""The condition that is held in the background now, if any, by its name."""

NONE = "none"
RANK = "a rank's runtime"
FREED = "a rank's runtime, freed"
LOADED = "loaded, then a rank's runtime"
REAL_RANK = "a PIM rank"
CUDA = "a CUDA context"
MEMORY = ("reserved memory", "touched memory", "locked memory", "huge pages")
CONDITIONS = (
    *(NONE, "one idle thread", "eight idle threads", "a poller", "a spinner", *MEMORY),
    *(RANK, FREED, LOADED, CUDA, REAL_RANK, "our engine", "our engine, released"),
)

IN_MEMORY = {"getc": "memory byte by byte", "read+memchr": "memory by lines"}
# Of the process that reads or writes, and of the one that holds something.
PAGE_TABLES = ("page_tables_kb", "holders_page_tables_kb")
SEEN = (
    *("major_faults", "minor_faults", "voluntary_switches"),
    *("pages_looked_at", "pages_in_memory", "threads_alive"),
    *(*kernel.NAMES, *PAGE_TABLES),
)
COLUMNS = (
    *("condition", "how", "threads_or_block_bytes", "kind", "asked_s", "ns", "operations"),
    *SEEN,
)
FLAGS, LIBRARY = ("-O2", "-std=c++11", "-shared", "-fPIC"), "library.so"
# As a native reader's, without pages: the file is in memory.
COUNTS = ("sequences_checked", "major_faults", "minor_faults", "voluntary_switches")
NATIVE = {
    **dict.fromkeys((NONE, CUDA, REAL_RANK), "nothing"),
    **dict.fromkeys((FREED, LOADED), RANK),
}
FOREIGN = {CUDA: _cuda_context, REAL_RANK: _pim_rank}
