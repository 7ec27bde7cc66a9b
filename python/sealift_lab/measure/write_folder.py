"""Writes run folders: journals by whole lines, files as a whole, one process at a time."""

import errno
import fcntl
import json
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from time import sleep
from typing import Any

from sealift_lab.model import run as names
from sealift_lab.model.run import Ending, Plan, Surroundings


class FolderError(ValueError):
    """A folder that can't be read, or not be taken for a run; says why, and what to try."""


class NotWrittenError(ValueError):
    """A file was not written: the disk is full, or the folder takes no files."""

    def __init__(self, path: Path, error: OSError) -> None:
        """The file, why, and what to do."""
        why, hint = error.strerror or str(error), "name a folder that can be written"
        if error.errno == errno.ELOOP:
            why, hint = "it is a link", "remove it"
        elif error.errno in NO_ROOM:
            hint = "make room there, or name another folder"
        super().__init__(f"{path} was not written: {why}; {hint}")


class Journal(AbstractContextManager["Journal"]):
    """A file of JSON lines that only grows; added lines are there as a whole, or not at all."""

    def __init__(self, path: Path) -> None:
        """Opens the file, makes it where it isn't there, and cuts off half a last line."""
        self._path = path
        with _naming(path):
            self.file = _open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
            _cut(self.file)

    def __exit__(self, *_: object) -> None:
        """Closes the file."""
        os.close(self.file)

    def add(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Adds lines in one write; where they don't all fit, none of them is there."""
        lines = "".join(f"{json.dumps(record, **COMPACT)}\n" for record in records)
        before = os.fstat(self.file).st_size
        with _naming(self._path):
            try:
                write_all(self.file, lines.encode(errors="replace"))
            except OSError:
                with suppress(OSError):
                    os.ftruncate(self.file, before)
                raise


def mend(folder: Path) -> None:
    """Cuts off what a killed process left behind whole lines and blocks; the folder is held."""
    for name in (names.SAMPLES, names.REPORTS, names.SENSORS, names.NOTES):
        path, marks = folder / name, BLOCK_ENDS if name == names.SAMPLES else ()
        with _naming(path), suppress(FileNotFoundError), _opened(path, os.O_RDWR) as file:
            _cut(file, *marks)


def write_file(path: Path, content: str | bytes) -> None:
    """Writes a file as a whole: readers see the old one or the new one, never half of one.

    Where a link stands, the file takes its place; what the link names stays as it is. Half of a
    surrogate pair becomes a question mark.
    """
    whole = content if isinstance(content, bytes) else content.encode(errors="replace")
    # A link can't stand at a name that can't be guessed.
    new = path.with_name(f".{os.urandom(8).hex()}.new")
    with _naming(path):
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "something else than a file stands there")
        try:
            with _opened(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as file:
                write_all(file, whole)
                os.fsync(file)
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Writes JSON as `write_file` does; a ValueError for a number that JSON doesn't have."""
    write_file(path, json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False) + "\n")


def create(path: Path, plan: Plan, machine: Surroundings) -> None:
    """Writes machine.json and plan.json into a folder that is empty or not there."""
    _check_new(path)
    with _naming(path):
        path.mkdir(parents=True, exist_ok=True)
    # The plan comes last: with it the folder is that of a run.
    write_json(path / names.MACHINE, asdict(machine))
    write_json(path / names.PLAN, asdict(plan))


def write_ending(path: Path, ending: Ending) -> None:
    """Writes ending.json, the last file of a run; raises as `write_file`."""
    write_json(path / names.ENDING, asdict(ending))


@contextmanager
def hold(path: Path) -> Iterator[int]:
    """Holds the lock of a run folder, which is made where it isn't there.

    Yields the descriptor that holds it; a process that inherits it holds it too. A FolderError if
    another run writes into the folder.
    """
    with _naming(path / names.LOCK):
        path.mkdir(parents=True, exist_ok=True)
        lock = _open(path / names.LOCK, os.O_RDWR | os.O_CREAT)
    try:
        try:
            _lock(lock)
        except BlockingIOError as error:
            why = "another run writes into it; wait until it has ended, or name another folder"
            raise FolderError(f"{path}: {why}") from error
        except OSError as error:
            why = f"can't be locked: {error.strerror}; name a folder on another file system"
            raise FolderError(f"{path / names.LOCK} {why}") from error
        yield lock
    finally:
        os.close(lock)


@contextmanager
def hold_new(path: Path) -> Iterator[int]:
    """As `hold`, of an empty or new folder; of a start that fails nothing is left."""
    _check_new(path)
    missing = [each for each in (path, *path.parents) if not each.exists()]
    try:
        with hold(path) as lock:
            yield lock
    finally:
        # With a plan it is the folder of a run, which can be resumed.
        if not (path / names.PLAN).exists():
            with suppress(OSError):
                for name in (names.MACHINE, names.LOCK):
                    (path / name).unlink(missing_ok=True)
                for folder in missing:
                    folder.rmdir()


@contextmanager
def reserve(folder: Path) -> Iterator[None]:
    """Takes room on the disk, and gives it back at the end, so that the last files still fit."""
    room = folder / RESERVE
    try:
        with _naming(room), _opened(room, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as file:
            os.posix_fallocate(file, 0, RESERVE_BYTES)
        yield
    finally:
        # A link stays: it is not the lab's.
        if not room.is_symlink():
            room.unlink(missing_ok=True)


def resume_command(path: Path) -> str:
    """The command line that measures what is missing in a run folder."""
    return f"sealift lab run --resume {shlex.quote(str(path))}"


def list_folder(path: Path) -> list[str]:
    """The names of what is in a folder, sorted; a FolderError if it can't be listed."""
    try:
        return sorted(each.name for each in path.iterdir())
    except OSError as error:
        raise FolderError(f"{path} can't be listed: {error.strerror}; name another") from error


def write_all(file: int, content: bytes) -> None:
    """Writes bytes to a descriptor, however many writes that takes."""
    while content:
        content = content[os.write(file, content) :]


def _lock(file: int) -> None:
    """Locks a file for this process alone; tries twice, as a watcher may hold it for a moment."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sleep(AGAIN_S)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _check_new(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise FolderError(f"{path} is a file; name a folder that is empty or not there")
    there = [name for name in list_folder(path) if name != names.LOCK] if path.exists() else []
    if names.PLAN in there:
        resume = resume_command(path)
        raise FolderError(f"{path} holds a run already; finish it with `{resume}`, or name another")
    if there:
        shown = ", ".join(there[:3]) + (", ..." if there[3:] else "")
        raise FolderError(f"{path} holds {shown}; name a folder that is empty or not there")


def _open(path: Path, flags: int) -> int:
    # Never through a link, which would lead out of the folder.
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    file = _open(path, flags)
    try:
        yield file
    finally:
        os.close(file)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NotWrittenError(path, error) from error


def _cut(file: int, *marks: bytes) -> None:
    """Cuts off half a last line; with marks, all behind the last line that has one of them."""
    text = os.pread(file, os.fstat(file).st_size, 0)
    end = text.rfind(b"\n") + 1
    if marks:
        last = max(text.rfind(mark, 0, end) for mark in marks)
        end = text.index(b"\n", last) + 1 if last >= 0 else 0
    if end < len(text):
        os.ftruncate(file, end)


BLOCK_ENDS = (b'"again":true', b'"again": true')
COMPACT: Mapping[str, Any] = {"allow_nan": False, "ensure_ascii": False, "separators": (",", ":")}
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
AGAIN_S = 0.1
RESERVE, RESERVE_BYTES = "reserve.bin", 4 * 2**20
