"""Writes a run folder: once before measuring, a line at a time meanwhile, and last the ending."""

import errno
import fcntl
import json
import os
import secrets
import shlex
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from sealift.lab.record import Record, csv_text, summary_columns
from sealift.lab.store import names
from sealift.lab.store.errors import NotWrittenError, StoreError
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
        lock = os.open(path / names.LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise NotWrittenError.of(path, error) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(lock)
        raise StoreError(
            f"{path}: another run writes into it; wait until it has ended, or name another folder"
        ) from error
    try:
        yield lock
    finally:
        os.close(lock)


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
    write_file(path / names.MACHINE, _json(machine.as_dict()))
    try:
        write_file(path / names.PLAN, _json(plan.as_dict()))
    except NotWrittenError:
        # So that the folder can be named again when there is room.
        (path / names.MACHINE).unlink()
        raise


def write_ending(path: Path, ending: Ending) -> None:
    """Writes ending.json, the last file of a run.

    Raises:
        NotWrittenError: If the folder takes no files.
    """
    write_file(path / names.ENDING, _json({"ending": ending.how, "reason": ending.reason}))


def write_summary(path: Path, records: Sequence[Record]) -> None:
    """Writes summary.csv: all experiments, with the axes of all of them as columns.

    Args:
        path: Of the run folder.
        records: From `record.record`.

    Raises:
        NotWrittenError: If the folder takes no files.
    """
    write_file(path / names.SUMMARY, csv_text(records, summary_columns(records)))


def write_file(path: Path, content: str | bytes) -> None:
    """Writes a file as a whole: readers see the old one or the new one, never half of one.

    Where a link stands, the file takes its place; what the link names stays as it is.

    Args:
        path: Of the file.
        content: Text is written as UTF-8.

    Raises:
        NotWrittenError: If the folder takes no files, or something else than a file stands there.
    """
    whole = content if isinstance(content, bytes) else kept_bytes(content)
    # Nobody can have put a link at a name that nobody could guess.
    new = path.with_name(f".{secrets.token_hex(8)}.new")
    try:
        _check_is_file(path)
        file = os.open(new, NEW_FILE, 0o666)
        try:
            _write_all(file, whole)
            os.fsync(file)
        finally:
            os.close(file)
        new.replace(path)
    except OSError as error:
        raise NotWrittenError.of(path, error) from error
    finally:
        # It is gone where all went well.
        with suppress(OSError):
            new.unlink()


def _check_is_file(path: Path) -> None:
    """Refuses to put a file in the place of a device or a pipe."""
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(mode := path.lstat().st_mode) and not stat.S_ISLNK(mode):
            raise OSError(errno.EINVAL, "something else than a file stands there")


def kept_bytes(text: str) -> bytes:
    """UTF-8; a question mark for what UTF-8 doesn't have, as half of a surrogate pair."""
    return text.encode("utf-8", errors="replace")


def _write_all(file: int, whole: bytes) -> None:
    while whole:
        whole = whole[os.write(file, whole) :]


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
            if file.exists() and file.stat().st_size > end:
                os.truncate(file, end)
        except OSError as error:
            raise NotWrittenError.of(file, error) from error


class Journal:
    """A file of lines that only grows; what is added is there as a whole, or not at all."""

    def __init__(self, path: Path) -> None:
        """Opens the file, and makes it where it isn't there.

        Raises:
            NotWrittenError: If that can't be.
        """
        self._path = path
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise NotWrittenError.of(path, error) from error

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the file."""
        os.close(self._file)

    def add(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Adds lines, in one write.

        Raises:
            NotWrittenError: If they didn't all fit; then none of them is there.
        """
        text = "".join(f"{_line(record)}\n" for record in records).encode()
        before = os.fstat(self._file).st_size
        try:
            while text:
                text = text[os.write(self._file, text) :]
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
            with self._path.open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, RESERVE_BYTES)
        except OSError as error:
            self.give_back()
            raise NotWrittenError.of(self._path, error) from error

    def give_back(self) -> None:
        """Gives the room back; once more does nothing."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


def _json(plain: Mapping[str, Any]) -> str:
    return json.dumps(plain, indent=1, allow_nan=False) + "\n"


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, allow_nan=False, separators=(",", ":"))


RESERVE_BYTES = 4 * 2**20
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
