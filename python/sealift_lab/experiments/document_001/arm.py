"""Readers and writers as arms, whose work is done by a process that holds something."""

import csv
from collections.abc import Mapping

from sealift_lab.experiments.document_001.condition import LOADED, NONE
from sealift_lab.experiments.document_001.inputs import short_reads, stream_library
from sealift_lab.experiments.document_001.processes import Process, check_room, process_of
from sealift_lab.model.sample import Context, Sample
from sealift_lab.model.values import Cell, Value


def file_arm(cell: Cell, context: Context, *, reads: int = 1_000_000) -> "FileArm":
    """Prepares a reader or a writer in the process of its condition, which is started if need be.

    Args:
        cell: `condition`, and `reader`, `threads` and `cache`, or `writer`, `block_bytes` and
            `fsync`.
        context: For the seed, and the folder, in which files without a name are made.
        reads: How many short reads a reader's file holds.

    Raises:
        Skip: If the condition can't be had, or the file can't be read or written so.
        WrongResultError: If it reads something else than was written.
    """
    condition = str(cell["condition"])
    # Readers with threads have a process apart, and so has each file that is loaded first.
    loaded = str(cell.get("reader", "")) if condition == LOADED else ""
    process = process_of(condition, f"{int(cell.get('threads', 1)) > 1} {loaded}")
    method, arguments = _request(cell, context, reads)
    return FileArm(cell, context, process, process.request(method, **arguments))


def check_file(cell: Cell, context: Context) -> None:
    """Finds out on a short file whether a reader or a writer can be had; measures nothing.

    One process does so for all conditions: for each it has a child of its own, which acquires what
    the condition says, replies, and ends. Raises as `file_arm` does.
    """
    condition = str(cell["condition"])
    check_room(condition)
    method, arguments = _request(cell, context, READS_MIN)
    process_of(NONE, "False ").request(
        "try_in_child", condition=condition, method=method, arguments=arguments
    )


class FileArm:
    """An arm in another process; implements `model.sample.Arm`."""

    def __init__(self, cell: Cell, context: Context, process: Process, number: int) -> None:
        """Takes over an arm that the process has prepared."""
        self.process, self._number = process, number
        self._values = tuple(cell.values())
        self._evidence = context.folder / f"{FIGURES['writer' in cell]}-evidence.csv"

    def sample(self, seconds: float) -> Sample:
        """Runs for about `seconds`, and adds a line of what the system did to the run folder.

        Raises:
            WrongResultError: If it read or wrote something wrong.
        """
        fields, seen = self.process.request("sample", arm=self._number, seconds=seconds)
        sample = Sample(*fields)
        with self._evidence.open("a", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if not file.tell():
                writer.writerow(COLUMNS)
            figures = (round(seconds, 4), sample.ns, sample.operations)
            writer.writerow((*self._values, *figures, *(seen.get(name, "") for name in SEEN)))
        return sample

    def report(self) -> Mapping[str, Value]:
        """What it checked, and what the system did, up to now."""
        facts: Mapping[str, Value] = self.process.request("report", arm=self._number)
        return facts


def _request(cell: Cell, context: Context, reads: int) -> tuple[str, Mapping[str, object]]:
    """A method of the process's server that prepares the arm, and its arguments."""
    if "writer" in cell:
        return "write", {
            "folder": str(context.folder.resolve()),
            "writer": cell["writer"],
            "block_bytes": cell["block_bytes"],
            "fsync": cell["fsync"] == "yes",
            "seed": context.seed,
        }
    path, sums = short_reads(context.folder, context.seed, reads, str(cell["cache"]))
    reader = str(cell["reader"])
    return "read", {
        "path": str(path),
        "sums": sums,
        # A file that is loaded first is gone through in memory.
        "reader": IN_MEMORY[reader] if cell["condition"] == LOADED else reader,
        "library": str(stream_library()) if reader == "ifstream" else None,
        "threads": cell["threads"],
        "cold": cell["cache"] == "cold",
    }


FIGURES = ("001-F2", "001-W1")
# A file of short reads holds a multiple of it.
READS_MIN = 1_000
IN_MEMORY = {"getc": "memory byte by byte", "read+memchr": "memory by lines"}
SEEN = (
    *("major_faults", "minor_faults", "voluntary_switches"),
    *("pages_looked_at", "pages_in_memory", "threads_alive"),
)
COLUMNS = (
    *("condition", "how", "threads_or_block_bytes", "kind", "asked_s", "ns", "operations"),
    *SEEN,
)
