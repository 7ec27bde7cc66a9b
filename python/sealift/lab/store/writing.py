"""Writes a run folder: once before measuring, a line at a time meanwhile, and last the ending."""

import fcntl
import json
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from sealift.lab.record import Record, csv_text, summary_columns
from sealift.lab.store import names
from sealift.lab.store.errors import NotWrittenError, StoreError
from sealift.lab.store.files import OWN, json_text, kept_bytes, write_all, write_file
from sealift.lab.store.lines import read_lines
from sealift.lab.store.plan import Plan
from sealift.lab.store.reading import listed, read_plan, read_samples
from sealift.lab.store.run import Ending, Surroundings


def default_path(now: datetime) -> Path:
    """Where a run goes that is told no folder: `runs/2026-11-21T142100Z`, or with a number behind.

    Args:
        now: With its time zone.
    """
    name = f"{now.astimezone(UTC):%Y-%m-%dT%H%M%S}Z"
    number = 1
    path = Path("runs") / name
    while path.exists():
        number += 1
        path = Path("runs") / f"{name}-{number}"
    return path


def resume_command(path: Path) -> str:
    """The command line that measures what is missing in a run folder."""
    return f"sealift lab run --resume {shlex.quote(str(path))}"


@contextmanager
def hold(path: Path) -> Iterator[int]:
    """Holds the lock of a run folder, which is made where it isn't there.

    Yields:
        The descriptor that holds it; a process that inherits it holds it too.

    Raises:
        NotWrittenError: If the folder can't be made, or takes no files.
        StoreError: If somebody else writes into it.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = os.open(path / names.LOCK, os.O_RDWR | os.O_CREAT | OWN, 0o666)
    except OSError as error:
        raise NotWrittenError.of(path, error) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(lock)
        raise StoreError(
            f"{path}: another run writes into it; wait until it has ended, or name another folder"
        ) from error
    except OSError as error:
        os.close(lock)
        raise StoreError(
            f"{path / names.LOCK} can't be locked: {error.strerror}; name a folder on another file "
            "system"
        ) from error
    try:
        yield lock
    finally:
        os.close(lock)


@contextmanager
def hold_new(path: Path) -> Iterator[int]:
    """Holds the folder of a new run, and makes it; a start that fails leaves nothing of it.

    Yields:
        As `hold`.

    Raises:
        NotWrittenError: If the folder can't be made, or takes no files.
        StoreError: If something is in it, or somebody else writes into it.
    """
    check_new(path)
    missing = [each for each in (path, *path.parents) if not each.exists()]
    try:
        with hold(path) as lock:
            check_new(path)
            yield lock
    except BaseException:
        # With a plan it is the folder of a run, which can be resumed.
        if not (path / names.PLAN).exists():
            _unmake(path, missing)
        raise


def _unmake(path: Path, folders: Sequence[Path]) -> None:
    with suppress(OSError):
        for name in (names.MACHINE, names.LOCK):
            (path / name).unlink(missing_ok=True)
        # One that holds something else now stays.
        for folder in folders:
            folder.rmdir()


def check_new(path: Path) -> None:
    """Says whether a folder may become that of a new run: it isn't there, or is empty.

    Raises:
        StoreError: If something is in it, or it is a file.
    """
    if path.exists() and not path.is_dir():
        raise StoreError(f"{path} is a file; name a folder that is empty or not there")
    held = [name for name in listed(path) if name != names.LOCK] if path.exists() else []
    if names.PLAN in held:
        raise StoreError(
            f"{path} holds a run already; finish it with `{resume_command(path)}`, or name "
            "another folder"
        )
    if held:
        shown = ", ".join(held[:3]) + (", ..." if held[3:] else "")
        raise StoreError(f"{path} holds {shown}; name a folder that is empty or not there")


def create(path: Path, plan: Plan, machine: Surroundings) -> None:
    """Makes the folder of a new run, with plan.json and machine.json in it.

    Args:
        path: Of the folder; held by the caller where others could want it too.
        plan: What is to be done.
        machine: Where.

    Raises:
        StoreError: If something is in the folder already.
        NotWrittenError: If it takes no files.
    """
    check_new(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NotWrittenError.of(path, error) from error
    # The plan comes last: with it the folder is that of a run.
    write_file(path / names.MACHINE, json_text(machine.as_dict()))
    write_file(path / names.PLAN, json_text(plan.as_dict()))


def write_ending(path: Path, ending: Ending) -> None:
    """Writes ending.json, the last file of a run.

    Raises:
        NotWrittenError: If the folder takes no files.
    """
    write_file(path / names.ENDING, json_text({"ending": ending.how, "reason": ending.reason}))


def write_summary(path: Path, records: Sequence[Record]) -> None:
    """Writes summary.csv: all experiments, with the axes of all of them as columns.

    Args:
        path: Of the run folder.
        records: From `record.record`.

    Raises:
        NotWrittenError: If the folder takes no files.
    """
    write_file(path / names.SUMMARY, csv_text(records, summary_columns(records)))


def renew_summary(path: Path, records: Sequence[Record]) -> bool:
    """Writes summary.csv anew where it is missing or holds something else than these records.

    Not while somebody measures into the folder, who writes it at the end.

    Args:
        path: Of the run folder.
        records: From `record.record`.

    Returns:
        Whether it was written.

    Raises:
        NotWrittenError: If the folder takes no files.
    """
    right = kept_bytes(csv_text(records, summary_columns(records)))
    if _holds(path / names.SUMMARY, right) or _is_held(path):
        return False
    write_summary(path, records)
    return True


def _holds(file: Path, content: bytes) -> bool:
    try:
        return file.is_file() and file.read_bytes() == content
    except OSError:
        return False


def _is_held(path: Path) -> bool:
    """Whether somebody else holds the lock of a run folder; makes none where there is none."""
    try:
        lock = os.open(path / names.LOCK, os.O_RDONLY | os.O_NONBLOCK | OWN)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


def mend(path: Path) -> None:
    """Cuts off what a killed process left half-written, so that lines can be added again.

    Args:
        path: Of a run folder that is held.

    Raises:
        StoreError: If more than that is damaged.
        NotWrittenError: If a file can't be cut.
    """
    plan = read_plan(path)
    ends = {names.SAMPLES: read_samples(path, plan).end}
    for name in (names.VERIFY, names.SENSORS, names.NOTES):
        ends[name] = read_lines(path / name).end
    for name, end in ends.items():
        file = path / name
        try:
            _cut(file, end)
        except OSError as error:
            raise NotWrittenError.of(file, error) from error


def _cut(file: Path, end: int) -> None:
    with suppress(FileNotFoundError):
        descriptor = os.open(file, os.O_WRONLY | OWN)
        try:
            if os.fstat(descriptor).st_size > end:
                os.ftruncate(descriptor, end)
        finally:
            os.close(descriptor)


class Journal:
    """A file of lines that only grows; what is added is there as a whole, or not at all."""

    def __init__(self, path: Path) -> None:
        """Opens the file, and makes it where it isn't there.

        Raises:
            NotWrittenError: If that can't be.
        """
        self._path = path
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | OWN, 0o666)
        except OSError as error:
            raise NotWrittenError.of(path, error) from error

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the file."""
        os.close(self._file)

    def fileno(self) -> int:
        """The descriptor."""
        return self._file

    def add(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Adds lines, in one write.

        Raises:
            NotWrittenError: If they didn't all fit; then none of them is there.
        """
        lines = kept_bytes("".join(f"{_line(record)}\n" for record in records))
        before = os.fstat(self._file).st_size
        try:
            write_all(self._file, lines)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._file, before)
            raise NotWrittenError.of(self._path, error) from error


class Reserve:
    """Room on the disk that is given back when it is full, so that the last files still fit."""

    def __init__(self, path: Path) -> None:
        """Takes the room.

        Args:
            path: Of a run folder that is held.

        Raises:
            NotWrittenError: If there is too little of it.
        """
        self._path = path / names.RESERVE
        try:
            file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | OWN, 0o666)
            try:
                os.posix_fallocate(file, 0, RESERVE_BYTES)
            finally:
                os.close(file)
        except OSError as error:
            self.give_back()
            raise NotWrittenError.of(self._path, error) from error

    def give_back(self) -> None:
        """Gives the room back; once more does nothing."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, allow_nan=False, ensure_ascii=False, separators=(",", ":"))


RESERVE_BYTES = 4 * 2**20
