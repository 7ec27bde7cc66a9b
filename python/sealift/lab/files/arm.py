"""Arms whose work is done by a process that holds something, seen from the one that measures."""

import atexit
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

from sealift.lab.files.condition import LOADED, NONE
from sealift.lab.files.processes import Process, check_room, process_of
from sealift.lab.native import stream_source, write_reads
from sealift.lab.spec import Context, Sample, Skip
from sealift.lab.values import Value


@dataclass(frozen=True)
class Spec:
    """What is to be read or written, and under which condition.

    Attributes:
        condition: One of `CONDITIONS`.
        evidence: Name of the file in the run's folder that gets a line for each sample.
        reader: As `getc`; "" for a writer.
        threads: That each read the whole file.
        cold: Whether the file is taken out of memory before each sample.
        writer: `putc`, `fwrite` or `write`; "" for a reader.
        block_bytes: Of each call of a writer.
        fsync: Whether a writer waits for the disk after each 1 MiB.
        reads: How many short reads the file holds.
    """

    condition: str
    evidence: str
    reader: str = ""
    threads: int = 1
    cold: bool = False
    writer: str = ""
    block_bytes: int = 1
    fsync: bool = False
    reads: int = 1_000_000

    @property
    def cache(self) -> str:
        """Where the file is when a sample begins."""
        return "cold" if self.cold else "warm"

    @property
    def process(self) -> tuple[str, bool, str]:
        """What tells its process from others: readers with threads of their own have one apart.

        So has each file that is loaded before anything is held.
        """
        return self.condition, self.threads > 1, self.reader if self.condition == LOADED else ""

    @property
    def reader_there(self) -> str:
        """The reader by its native name: what was loaded is gone through in memory."""
        return IN_MEMORY[self.reader] if self.condition == LOADED else self.reader


def file_arm(spec: Spec, context: Context) -> "FileArm":
    """Prepares a reader or a writer in the process of its condition, which is started if need be.

    Args:
        spec: What it does.
        context: For the seed, and the folder, in which files without a name are made.

    Raises:
        Skip: If the condition can't be had, or the file can't be read or written so.
        WrongResultError: If something else is read than was written.
    """
    process = process_of(spec.process)
    answer = process.ask(**_request(spec, context))
    return FileArm(spec, process, answer["arm"], context.folder / spec.evidence)


def try_file(spec: Spec, context: Context) -> None:
    """Finds out whether a reader or a writer can be had, on a short file, and measures nothing.

    One process does so for all conditions: for each it has a child of its own, which holds what the
    condition says, answers, and is gone.

    Args:
        spec: As for `file_arm`.
        context: As for `file_arm`.

    Raises:
        Skip: As `file_arm` does.
        WrongResultError: As `file_arm` does.
    """
    check_room(spec.condition)
    request = _request(replace(spec, reads=READS_LEAST), context)
    nothing_held = process_of(Spec(NONE, "").process)
    nothing_held.ask(do="try_in_child", condition=spec.condition, request=request)


class FileArm:
    """An arm in another process; implements `spec.Arm`."""

    def __init__(self, spec: Spec, process: Process, number: int, evidence: Path) -> None:
        """Takes over an arm that the process has prepared."""
        self._process = process
        self._number = number
        self._evidence = _Evidence(spec, evidence)

    def sample(self, seconds: float) -> Sample:
        """Runs for about `seconds`.

        Raises:
            WrongResultError: If something else was read or written than should be.
        """
        answer = self._process.ask(do="sample", arm=self._number, seconds=seconds)
        sample = Sample(*answer["sample"])
        self._evidence.add(seconds, sample, answer["seen"])
        return sample

    def verified(self) -> Mapping[str, Value]:
        """What it checked, and what the system did, up to now."""
        facts: Mapping[str, Value] = self._process.ask(do="verified", arm=self._number)["facts"]
        return facts


class _Evidence:
    """A line for each sample, in the run's folder: what the system did to it."""

    def __init__(self, spec: Spec, path: Path) -> None:
        self._path = path
        kind = (spec.reader, spec.threads, spec.cache)
        if spec.writer:
            kind = (spec.writer, spec.block_bytes, "fsync" if spec.fsync else "no fsync")
        self._arm = ",".join(f'"{value}"' for value in (spec.condition, *kind))

    def add(self, seconds: float, sample: Sample, seen: Mapping[str, int]) -> None:
        figures = (
            round(seconds, 4),
            sample.ns,
            sample.operations,
            *(seen.get(name, "") for name in SEEN),
        )
        with self._path.open("a", encoding="utf-8") as file:
            if not file.tell():
                file.write(f"condition,how,threads_or_block_bytes,kind,{','.join(FIGURES)}\n")
            file.write(f"{self._arm},{','.join(map(str, figures))}\n")


@dataclass(frozen=True)
class _Reads:
    """A file of short reads that has no name.

    Attributes:
        path: By which processes of the same user open it.
        sums: Over each 1,000 sequences.
    """

    path: Path
    sums: list[int]


def close_files() -> None:
    """Closes the files of short reads, which have no names and are gone then."""
    _reads.cache_clear()
    for file in _files:
        file.close()
    _files.clear()


def _request(spec: Spec, context: Context) -> dict[str, Any]:
    """What the process of a condition is asked for."""
    if spec.writer:
        return {
            "do": "write",
            "folder": str(context.folder.resolve()),
            "writer": spec.writer,
            "block_bytes": spec.block_bytes,
            "fsync": spec.fsync,
            "seed": context.seed,
        }
    reads = _reads(context.folder, context.seed, spec.reads, spec.cache)
    return {
        "do": "read",
        "path": str(reads.path),
        "sums": reads.sums,
        "reader": spec.reader_there,
        "library": str(_stream_library()) if spec.reader == "ifstream" else None,
        "threads": spec.threads,
        "cold": spec.cold,
    }


@lru_cache(maxsize=4)
def _reads(folder: Path, seed: int, reads: int, _kind: str) -> _Reads:
    """Cold reading has a file of its own: what it takes out of memory nobody else misses."""
    file: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (closed at the end)
    if not _files:
        atexit.register(close_files)
    _files.append(file)
    path = Path(f"/proc/{os.getpid()}/fd/{file.fileno()}")
    sums = write_reads(path, reads=reads, seed=seed)
    # Pages that are not yet on the disk stay in memory, and are written while others are measured.
    os.fsync(file.fileno())
    return _Reads(path, sums)


def _stream_library() -> Path:
    """The reader `ifstream`, built by the system's C++ compiler into a file without a name.

    Raises:
        Skip: If there is no compiler, or it fails.
    """
    built = _built(os.environ.get("CXX", ""))
    if isinstance(built, str):
        raise Skip(built)
    return built


@lru_cache(maxsize=1)
def _built(named: str) -> Path | str:
    """The library, as long as this process lives, or why there is none: a compiler is run once.

    Args:
        named: The compiler that a user wants, or "".
    """
    found = named.split() or next(([each] for each in COMPILERS if shutil.which(each)), [])
    if not found:
        return (
            f"there is no C++ compiler ({', '.join(COMPILERS)}) on PATH to build it with; install "
            "one (Debian: apt-get install g++), or name one in CXX"
        )
    file = os.memfd_create("sealift-ifstream")
    library = Path(f"/proc/{os.getpid()}/fd/{file}")
    if failed := _compiled([*found, *FLAGS, "-o", str(library)]):
        os.close(file)
        return failed
    return library


def _compiled(command: list[str]) -> str:
    """Why a compiler made nothing of the reader, or ""."""
    try:
        done = subprocess.run(
            command, input=stream_source(), capture_output=True, text=True, check=False
        )
    except OSError as error:
        return f"{command[0]} can't be run ({error.strerror}); set CXX"
    if not done.returncode:
        return ""
    said = (done.stderr.strip().splitlines() or ["nothing said"])[0]
    return f"{' '.join(command)} failed: {said}"


_files: list[IO[bytes]] = []

# What a file of short reads holds at least, and is told in.
READS_LEAST = 1_000
COMPILERS = ("c++", "g++", "clang++")
FLAGS = ("-O2", "-std=c++11", "-shared", "-fPIC", "-x", "c++", "-")
IN_MEMORY = {"getc": "memory byte by byte", "read+memchr": "memory by lines"}
SEEN = (
    "major_faults",
    "minor_faults",
    "voluntary_switches",
    "pages_looked_at",
    "pages_in_memory",
    "threads_alive",
)
FIGURES = ("asked_s", "ns", "operations", *SEEN)
