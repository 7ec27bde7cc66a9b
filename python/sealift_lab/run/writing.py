"""Writes the files of a run folder: whole, through no link, and by one process at a time."""

import errno
import fcntl
import os
import secrets
import shlex
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from sealift_lab.measure.journal import OWN, NotWrittenError, write_all
from sealift_lab.model.run import ENDING, LOCK, MACHINE, PLAN, Ending, Plan, Surroundings
from sealift_lab.run.errors import EXAMPLE, FolderError
from sealift_lab.run.folder import Run, list_folder


def default_path(now: datetime) -> Path:
    """The folder of a run that names none: `runs/2026-11-21T142100Z`, or with a number behind."""
    first = path = EXAMPLE.parent / f"{now.astimezone(UTC):%Y-%m-%dT%H%M%S}Z"
    number = 1
    while path.exists():
        number += 1
        path = first.with_name(f"{first.name}-{number}")
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
        FolderError: If somebody else writes into it.
    """
    with _not_written(path):
        path.mkdir(parents=True, exist_ok=True)
        lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | OWN, 0o666)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            why = "another run writes into it; wait until it has ended, or name another folder"
            raise FolderError(f"{path}: {why}") from error
        except OSError as error:
            why = f"can't be locked: {error.strerror}; name a folder on another file system"
            raise FolderError(f"{path / LOCK} {why}") from error
        yield lock
    finally:
        os.close(lock)


@contextmanager
def hold_new(path: Path) -> Iterator[int]:
    """As `hold`, of an empty or new folder; of a start that fails nothing is left.

    Raises:
        FolderError: If something is in it, or as `hold`.
        NotWrittenError: As `hold`.
    """
    _check_new(path)
    missing = [each for each in (path, *path.parents) if not each.exists()]
    try:
        with hold(path) as lock:
            yield lock
    finally:
        # With a plan it is the folder of a run, which can be resumed.
        if not (path / PLAN).exists():
            with suppress(OSError):
                for name in (MACHINE, LOCK):
                    (path / name).unlink(missing_ok=True)
                for folder in missing:
                    folder.rmdir()


def create(path: Path, plan: Plan, machine: Surroundings) -> None:
    """Writes machine.json and plan.json into a folder that is empty or not there.

    Raises:
        FolderError: If something is in the folder already.
        NotWrittenError: If it takes no files.
    """
    _check_new(path)
    with _not_written(path):
        path.mkdir(parents=True, exist_ok=True)
    # The plan comes last: with it the folder is that of a run.
    write_file(path / MACHINE, _json(machine))
    write_file(path / PLAN, _json(plan))


def write_ending(path: Path, ending: Ending) -> None:
    """Writes ending.json, the last file of a run; raises as `write_file`."""
    write_file(path / ENDING, _json(ending))


def mend(path: Path) -> None:
    """Cuts off what a killed process left half-written, in a folder that is held.

    Raises:
        FolderError: If more than that is damaged.
        NotWrittenError: If a file can't be cut.
    """
    for name, end in Run(path).ends().items():
        with _not_written(path / name), suppress(FileNotFoundError):
            file = os.open(path / name, os.O_WRONLY | OWN)
            try:
                if os.fstat(file).st_size > end:
                    os.ftruncate(file, end)
            finally:
                os.close(file)


def write_file(path: Path, content: str | bytes) -> None:
    """Writes a file as a whole: readers see the old one or the new one, never half of one.

    Where a link stands, the file takes its place; what the link names stays as it is.

    Args:
        path: Of the file.
        content: Text is written as UTF-8; half of a surrogate pair becomes a question mark.

    Raises:
        NotWrittenError: If the folder takes no files, or something else than a file stands there.
    """
    whole = content if isinstance(content, bytes) else content.encode(errors="replace")
    # A link can't stand at a name that can't be guessed.
    new = path.with_name(f".{secrets.token_hex(8)}.new")
    with _not_written(path):
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(path.stat().st_mode):
                raise OSError(errno.EINVAL, "something else than a file stands there")
        try:
            file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | OWN, 0o666)
            try:
                write_all(file, whole)
                os.fsync(file)
            finally:
                os.close(file)
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)


@contextmanager
def reserve(path: Path) -> Iterator[None]:
    """Takes room on the disk, and gives it back at the end, so that the last files still fit.

    Raises:
        NotWrittenError: If there is too little of it.
    """
    room = path / RESERVE
    try:
        with _not_written(room):
            file = os.open(room, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | OWN, 0o666)
            try:
                os.posix_fallocate(file, 0, RESERVE_BYTES)
            finally:
                os.close(file)
        yield
    finally:
        # A link stays: it is not the lab's.
        if not room.is_symlink():
            room.unlink(missing_ok=True)


@contextmanager
def _not_written(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NotWrittenError.from_os(path, error) from error


def _check_new(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise FolderError(f"{path} is a file; name a folder that is empty or not there")
    held = [name for name in list_folder(path) if name != LOCK] if path.exists() else []
    if PLAN in held:
        resume = resume_command(path)
        raise FolderError(f"{path} holds a run already; finish it with `{resume}`, or name another")
    if held:
        shown = ", ".join(held[:3]) + (", ..." if held[3:] else "")
        raise FolderError(f"{path} holds {shown}; name a folder that is empty or not there")


def _json(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


RESERVE, RESERVE_BYTES = "reserve.bin", 4 * 2**20
