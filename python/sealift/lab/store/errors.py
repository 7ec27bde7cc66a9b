"""What can be wrong with a run folder."""

import errno
from pathlib import Path
from typing import ClassVar

from sealift.exit_code import ExitCode


class StoreError(ValueError):
    """A folder that can't be read, or not be written to; says why, and what to try."""

    code: ClassVar[ExitCode] = ExitCode.USAGE


class NotWrittenError(StoreError):
    """A file of the run was not written: the disk is full, or the folder takes no files."""

    code: ClassVar[ExitCode] = ExitCode.NOT_WRITTEN

    @classmethod
    def of(cls, path: Path, error: OSError) -> "NotWrittenError":
        """The sentence for an error of the system.

        Args:
            path: Of the file.
            error: What the system said.
        """
        why = error.strerror or str(error)
        if error.errno == errno.ELOOP:
            return cls(f"{path} was not written, because it is a link; take it away")
        if error.errno in NO_ROOM:
            return cls(f"{path} was not written: {why}; make room there, or name another folder")
        return cls(f"{path} was not written: {why}; name a folder that can be written")


NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
