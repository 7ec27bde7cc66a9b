"""Readers and writers as arms, each in a process that holds something while it works."""

import atexit
import csv
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Pipe
from pathlib import Path
from typing import IO, Any

from sealift_lab.measure.native import stream_source, write_reads
from sealift_lab.model.arm import Cell, Context, Sample, Skip, Value


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


def check_file(cell: Cell, context: Context) -> None:
    """Finds out on a short file whether a reader or a writer can be had; raises as `file_arm` does.

    One process does so for all conditions, and lets go of each.
    """
    request = _request(cell, context, reads=1_000)
    checks = _process_of(NONE, "for checks")
    checks.request("check", condition=cell["condition"], request=request)


@dataclass
class FileArm:
    """An arm that another process has prepared; implements `model.arm.Arm`."""

    cell: Cell
    folder: Path
    process: "Process"
    number: int

    def sample(self, seconds: float) -> Sample:
        """Runs for about `seconds`, and adds a line of what the system did to the run folder."""
        fields, seen = self.process.request("sample", arm=self.number, seconds=seconds)
        sample = Sample(*fields)
        figure = "001-W1" if "writer" in self.cell else "001-F2"
        with (self.folder / f"{figure}-evidence.csv").open(
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
        return facts


class Process:
    """A process that holds what its condition says, once it has prepared an arm."""

    def __init__(self, condition: str) -> None:
        """Starts it."""
        self.pipe, remote = Pipe()
        with remote:
            descriptor = remote.fileno()
            arguments = (str(os.getpid()), str(descriptor), condition)
            self.child = subprocess.Popen(
                [sys.executable, "-P", "-m", MODULE, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(descriptor,),
            )
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
            code = self.child.wait()
            raise RuntimeError(f"the process that held something ended with code {code}") from error
        if isinstance(reply, Exception):
            raise reply
        return reply

    def close(self) -> None:
        """Ends it, with everything that it holds."""
        self.child.kill()
        self.child.wait()
        self.pipe.close()


def _process_of(condition: str, *kind: Value) -> Process:
    """The process of a condition, which is started if need be; `kind` tells several apart."""
    key = condition, *kind
    if key not in processes or processes[key].child.poll() is not None:
        processes[key] = Process(condition)
    return processes[key]


def end_processes() -> None:
    """Ends those of all arms."""
    while processes:
        processes.popitem()[1].close()


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
    file = os.memfd_create("sealift-ifstream")
    library = f"/proc/{os.getpid()}/fd/{file}"
    command = [*compiler.split(), *FLAGS, "-o", library]
    try:
        subprocess.run(command, input=stream_source(), capture_output=True, text=True, check=True)
    except OSError as error:
        failure = (
            f"{command[0]} can't be run ({error.strerror}); install a C++ compiler "
            "(Debian: apt-get install g++), or name one in CXX"
        )
    except subprocess.CalledProcessError as error:
        message = (error.stderr.strip().splitlines() or ["without a message"])[0]
        failure = f"{' '.join(command)} failed: {message}"
    else:
        return library
    os.close(file)
    raise Skip(failure)


processes: dict[tuple[Value, ...], Process] = {}
atexit.register(end_processes)

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

MODULE = "sealift_lab.experiments.document_001.process"
IN_MEMORY = {"getc": "memory byte by byte", "read+memchr": "memory by lines"}
SEEN = (
    *("major_faults", "minor_faults", "voluntary_switches"),
    *("pages_looked_at", "pages_in_memory", "threads_alive"),
)
COLUMNS = (
    *("condition", "how", "threads_or_block_bytes", "kind", "asked_s", "ns", "operations"),
    *SEEN,
)
FLAGS = ("-O2", "-std=c++11", "-shared", "-fPIC", "-x", "c++", "-")
