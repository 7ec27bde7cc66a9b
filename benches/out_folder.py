"""The folder that a benchmark writes its results into."""

import tempfile
from pathlib import Path


def check_writable(folder: Path) -> None:
    """Makes the folder and writes into it, before anything is measured for it.

    Raises:
        ValueError: If it takes no files.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"x")
    except OSError as error:
        raise ValueError(
            f"{folder} takes no files: {error.strerror}; name a folder that can be written"
        ) from error
