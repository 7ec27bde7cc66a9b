"""Files without names: short reads, and the reader `ifstream`, built from source."""

import os
import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import IO

from sealift_lab.measure.native import stream_source, write_reads
from sealift_lab.model.sample import Skip


@lru_cache(maxsize=4)
def short_reads(folder: Path, seed: int, reads: int, kind: str) -> tuple[Path, list[int]]:
    """A file of short reads as FASTQ, which has no name.

    Args:
        folder: In whose file system it lies.
        seed: Of what is drawn.
        reads: How many, a multiple of 1,000.
        kind: `cold` or `warm`: cold reading evicts its file, which is another one therefore.

    Returns:
        A path by which processes of the same user open it, and a sum over each 1,000 sequences.

    Raises:
        Skip: If it can't be written.
    """
    assert kind in ("cold", "warm"), kind
    file: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (closed at the end)
    _files.append(file)
    path = Path(f"/proc/{os.getpid()}/fd/{file.fileno()}")
    sums = write_reads(path, reads=reads, seed=seed)
    # Pages that are not yet on the disk can't be evicted, and are written while others measure.
    os.fsync(file.fileno())
    return path, sums


def close_files() -> None:
    """Closes the files of short reads, which are gone then."""
    short_reads.cache_clear()
    for file in _files:
        file.close()
    _files.clear()


def stream_library() -> Path:
    """The reader `ifstream`, built by the system's C++ compiler.

    Raises:
        Skip: If there is no compiler, or it fails.
    """
    built = _build(os.environ.get("CXX", ""))
    if isinstance(built, str):
        raise Skip(built)
    return built


@lru_cache(maxsize=4)
def _build(cxx: str) -> Path | str:
    """The library, for the life of this process, or why there is none: a compiler runs once."""
    compiler = cxx.split() or next(([each] for each in COMPILERS if shutil.which(each)), [])
    if not compiler:
        return (
            f"there is no C++ compiler ({', '.join(COMPILERS)}) on PATH to build it with; install "
            "one (Debian: apt-get install g++), or name one in CXX"
        )
    file = os.memfd_create("sealift-ifstream")
    library = Path(f"/proc/{os.getpid()}/fd/{file}")
    if failure := _compile([*compiler, *FLAGS, "-o", str(library)]):
        os.close(file)
        return failure
    return library


def _compile(command: list[str]) -> str:
    """Why a compiler made nothing of the reader, or ""."""
    try:
        done = subprocess.run(
            command, input=stream_source(), capture_output=True, text=True, check=False
        )
    except OSError as error:
        return f"{command[0]} can't be run ({error.strerror}); set CXX"
    message = (done.stderr.strip().splitlines() or ["without a message"])[0]
    return f"{' '.join(command)} failed: {message}" if done.returncode else ""


_files: list[IO[bytes]] = []

COMPILERS = ("c++", "g++", "clang++")
FLAGS = ("-O2", "-std=c++11", "-shared", "-fPIC", "-x", "c++", "-")
