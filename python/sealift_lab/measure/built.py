"""Programs and libraries built from an experiment's own sources, and their machine code.

A build has a folder in the user's cache, named by all that it depends on: processes of a run, and
later runs, build nothing again. A build that no process took for a week is deleted.
"""

import hashlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sealift_lab.machine.facts import describe
from sealift_lab.model.arm import Skip


@dataclass(frozen=True)
class Tool:
    """A command that builds or runs programs.

    Attributes:
        package: The one that has it.
        version: Arguments with which it prints its version.
        install: What installs the package.
    """

    command: str
    package: str
    version: tuple[str, ...] = ("--version",)
    install: str = "Debian: apt-get install"

    @property
    def advice(self) -> str:
        """How one gets it."""
        return f"install it ({self.install} {self.package})"

    def check(self) -> str:
        """The first line that it prints of its version; raises Skip where it can't be run."""
        return _version(self)


@dataclass(frozen=True)
class Build:
    """A finished build: its folder, and the command with its version."""

    folder: Path
    detail: str


def build(source: Path, tool: Tool, *arguments: str) -> Build:
    """Builds a source, unless that was done before; arguments name what comes out, `-o program`.

    Raises:
        Skip: If the tool is not here or fails, or nothing can be kept.
    """
    return build_text(source.name, source.read_bytes(), tool, *arguments)


def build_text(source: str, text: bytes, tool: Tool, *arguments: str) -> Build:
    """The same of a text; `source` is the name of its file."""
    version, command = tool.check(), (tool.command, *arguments, source)
    # Code for this processor is no code for another one that shares the folder.
    folder = _programs() / _digest(*command, _processor(), version, text.hex())
    if not _take(folder):
        _make(folder, source, text, tool, command)
        _delete_unused(folder.parent)
    return Build(folder, f"{' '.join(command)} ({version})")


def machine_code(library: Path, function: str) -> str:
    """With which instructions a function multiplies, `AVX-512: vmulps`; or why that is unknown."""
    if platform.machine() != "x86_64":
        return "unknown: it is read on x86-64 only"
    command = ("objdump", "-d", "--no-show-raw-insn", f"--disassemble={function}", str(library))
    try:
        listed = subprocess.run(command, capture_output=True, text=True, check=True)
    except OSError:
        return f"unknown: objdump is not on PATH; {OBJDUMP.advice}"
    except subprocess.CalledProcessError as error:
        return f"unknown: objdump failed: {_first_line(error.stderr)}"
    return multiplications(listed.stdout)


def multiplications(listing: str) -> str:
    """The widest registers that a listing of x86-64 multiplies in, and by which instructions.

    Where numbers are floats, integers only count loops and places.
    """
    found = [(match[1], match[2]) for match in MULTIPLICATION.finditer(listing)]
    floats = [each for each in found if re.search(r"[sp][sdh]$", each[0])]
    of: dict[str, dict[str, None]] = {}
    for name, operands in floats or found:
        of.setdefault(_kind(name, operands), {})[name] = None
    for kind in KINDS:
        if kind in of:
            return f"{kind}: {', '.join(of[kind])}"
    return "unknown: no multiplication was found"


def _kind(name: str, operands: str) -> str:
    if not re.search(r"p[sdh]$|^v?pmul", name):
        return "scalar"
    for register, kind in (("%zmm", "AVX-512"), ("%ymm", "AVX2")):
        if register in operands:
            return kind
    return "AVX, 128 bits" if name.startswith("v") else "SSE2"


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:32]


@cache
def _version(tool: Tool) -> str:
    command = (tool.command, *tool.version)
    try:
        shown = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise Skip(f"{tool.command} is not on PATH; {tool.advice}") from error
    if shown.returncode:
        # The last line of Python's is the one that says what is wrong.
        why = _first_line("\n".join(reversed(shown.stderr.splitlines())))
        raise Skip(f"{' '.join(command)} failed: {why}; {tool.advice}")
    return _first_line(shown.stdout or shown.stderr)


@cache
def _processor() -> str:
    return str(describe()["cpu_model"].value)


def _programs() -> Path:
    """Where builds are kept: beside what calibration keeps of costs."""
    homes = (os.environ.get("XDG_CACHE_HOME", ""), os.environ.get("HOME", ""))
    caches, home = map(Path, homes)
    if not caches.is_absolute():
        caches = home / ".cache"
    if not caches.is_absolute():
        raise Skip("neither $XDG_CACHE_HOME nor $HOME names a folder to keep programs in; set one")
    return caches / "sealift" / "programs"


def _take(folder: Path) -> bool:
    """Whether a build is there; the time of its folder becomes that of its last use."""
    # A build that another user owns can be used, too.
    with suppress(OSError):
        os.utime(folder)
    return folder.is_dir()


def _delete_unused(programs: Path) -> None:
    """Deletes old builds: other runs, of this checkout or another one, may be using newer ones."""
    for each in programs.iterdir():
        with suppress(OSError):
            if each.stat().st_mtime < time.time() - UNUSED_S:
                shutil.rmtree(each, ignore_errors=True)


def _make(folder: Path, source: str, text: bytes, tool: Tool, command: tuple[str, ...]) -> None:
    """Builds in a folder of its own, which gets its name when it is whole."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(dir=folder.parent))
    except OSError as error:
        raise Skip(
            f"{error.filename}: {error.strerror}; name a folder for programs in XDG_CACHE_HOME"
        ) from error
    try:
        (place / source).write_bytes(text)
        subprocess.run(command, cwd=place, capture_output=True, text=True, check=True)
        # Another process may have made the same meanwhile.
        with suppress(OSError):
            place.rename(folder)
    except subprocess.CalledProcessError as error:
        # .NET writes its errors to standard output.
        why = _error_line(error.stderr or error.stdout)
        raise Skip(f"{' '.join(command)} failed: {why}; {tool.advice}") from error
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _error_line(text: str) -> str:
    """The first line that names an error, which a head may stand above; else the first one."""
    return next((line for line in text.splitlines() if "error" in line), _first_line(text)).strip()


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "without a message")


UNUSED_S = 7 * 24 * 3600.0
OBJDUMP = Tool("objdump", "binutils")
MULTIPLICATION = re.compile(r"\t(i?mul\w*|v?p?mul\w+|v?fn?m(?:add|sub)\w+)\s+(\S.*)")
KINDS = ("AVX-512", "AVX2", "AVX, 128 bits", "SSE2", "scalar")
