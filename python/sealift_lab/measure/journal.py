"""Writes into run folders: files as a whole, and journals that grow by whole lines."""

import errno
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self


class NotWrittenError(ValueError):
    """A file of the run was not written: the disk is full, or the folder takes no files."""

    @classmethod
    def from_os(cls, path: Path, error: OSError) -> "NotWrittenError":
        """The message for an error of the system: the file, why, and what to do."""
        why = error.strerror or str(error)
        if error.errno == errno.ELOOP:
            return cls(f"{path} was not written, because it is a link; remove it")
        if error.errno in NO_ROOM:
            return cls(f"{path} was not written: {why}; make room there, or name another folder")
        return cls(f"{path} was not written: {why}; name a folder that can be written")


class Journal:
    """A file of JSON lines that only grows; added lines are there as a whole, or not at all."""

    def __init__(self, path: Path) -> None:
        """Opens the file, makes it where it isn't there, and cuts off half a last line.

        Raises:
            NotWrittenError: If that can't be.
        """
        self._path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | OWN, 0o666)
            _cut_half_line(self._file)
        except OSError as error:
            raise NotWrittenError.from_os(path, error) from error

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
        lines = "".join(f"{json.dumps(record, **COMPACT)}\n" for record in records)
        before = os.fstat(self._file).st_size
        try:
            write_all(self._file, lines.encode("utf-8", errors="replace"))
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._file, before)
            raise NotWrittenError.from_os(self._path, error) from error


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Writes a file as a whole: readers see the old one or the new one, never half of one.

    Raises:
        NotWrittenError: If the folder takes no files.
        ValueError: If a number in it is none that JSON has.
    """
    text = json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    new = path.with_name(f".{path.name}.new")
    try:
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | OWN, 0o666)
        try:
            write_all(file, text.encode("utf-8", errors="replace"))
            os.fsync(file)
        finally:
            os.close(file)
        new.replace(path)
    except OSError as error:
        with suppress(OSError):
            new.unlink()
        raise NotWrittenError.from_os(path, error) from error


def write_all(file: int, content: bytes) -> None:
    """Writes bytes to a descriptor, however many writes that takes."""
    while content:
        content = content[os.write(file, content) :]


def _cut_half_line(file: int) -> None:
    """A killed process can leave one, and the next line would be appended to it."""
    size = os.fstat(file).st_size
    # A block of a thousand arms has a quarter of a mebibyte.
    begin = max(0, size - TAIL_BYTES)
    tail = os.pread(file, size - begin, begin)
    if (end := begin + tail.rfind(b"\n") + 1) < size:
        os.ftruncate(file, end)


COMPACT: Mapping[str, Any] = {"allow_nan": False, "ensure_ascii": False, "separators": (",", ":")}
TAIL_BYTES = 1 << 24
# Never through a link, which would lead out of the folder.
OWN = os.O_NOFOLLOW | os.O_CLOEXEC
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
