"""Writes files whole, and through no link."""

import errno
import json
import os
import secrets
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sealift.lab.store.errors import NotWrittenError


def write_file(path: Path, content: str | bytes, *, mode: int = 0o666) -> None:
    """Writes a file as a whole: readers see the old one or the new one, never half of one.

    Where a link stands, the file takes its place; what the link names stays as it is.

    Args:
        path: Of the file.
        content: Text is written as UTF-8.
        mode: Of the file, less what the process's mask takes away.

    Raises:
        NotWrittenError: If the folder takes no files, or something else than a file stands there.
    """
    whole = content if isinstance(content, bytes) else kept_bytes(content)
    # Nobody can have put a link at a name that nobody could guess.
    new = path.with_name(f".{secrets.token_hex(8)}.new")
    try:
        _check_is_file(path)
        file = os.open(new, NEW_FILE, mode)
        try:
            write_all(file, whole)
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


def json_text(plain: Mapping[str, Any]) -> str:
    """An object as a file has it.

    Raises:
        ValueError: If a number in it is none that JSON has.
    """
    return json.dumps(plain, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def _check_is_file(path: Path) -> None:
    """Refuses to put a file in the place of a device or a pipe, or of a link to one."""
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(path.stat().st_mode):
            raise OSError(errno.EINVAL, "something else than a file stands there")


def kept_bytes(text: str) -> bytes:
    """UTF-8; a question mark for what UTF-8 doesn't have, as half of a surrogate pair."""
    return text.encode("utf-8", errors="replace")


def write_all(file: int, whole: bytes) -> None:
    """Writes bytes to a descriptor, however many writes that takes."""
    while whole:
        whole = whole[os.write(file, whole) :]


# Never through a link, which would lead out of the folder.
OWN = os.O_NOFOLLOW | os.O_CLOEXEC
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | OWN
