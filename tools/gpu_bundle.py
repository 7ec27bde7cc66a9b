"""Puts the program for GPU machines in its place, when it runs on them.

Usage: python tools/gpu_bundle.py BUILT PLACE

It may need no newer C library than GLIBC_MOST, no library but the system's own, and no more room
than BYTES_MOST. Needs nothing but Python: versions and libraries are read from the ELF file.
"""

import shutil
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


def main() -> int:
    """Checks and copies; says what is wrong, or how large it is."""
    built, place = Path(sys.argv[1]), Path(sys.argv[2])
    whole = built.read_bytes()
    found = list(faults(whole))
    for fault in found:
        print(f"{built}: {fault}", file=sys.stderr)
    if found:
        return 1
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(built, place)
    newest = ".".join(map(str, glibc(Program(whole))))
    print(f"{place}: {len(whole) / 2**20:.1f} MiB, for glibc {newest} and newer")
    return 0


def faults(whole: bytes) -> Iterator[str]:
    """Why a program would not run on a machine that has nothing but a driver.

    Args:
        whole: The ELF file.
    """
    if len(whole) > BYTES_MOST:
        yield f"{len(whole):,} bytes, and {BYTES_MOST:,} are the most"
    program = Program(whole)
    newest = glibc(program)
    if newest > GLIBC_MOST:
        wanted, most = (".".join(map(str, each)) for each in (newest, GLIBC_MOST))
        yield f"needs glibc {wanted}, and {most} is the most: build it on an older system"
    for library in program.needed:
        if library not in LIBRARIES:
            yield f"needs {library}, which a bare machine may lack"


def glibc(program: "Program") -> tuple[int, ...]:
    """The newest version of the C library that a program's symbols want."""
    prefix = "GLIBC_"
    wanted = [name.removeprefix(prefix) for name in program.versions if name.startswith(prefix)]
    return max(tuple(map(int, each.split("."))) for each in wanted if each[0].isdigit())


@dataclass(frozen=True)
class Section:
    """A section of an ELF file.

    Attributes:
        kind: As the format counts them.
        content: Its bytes.
        link: The section of its names.
        entries: How many it has, where it says so.
    """

    kind: int
    content: bytes
    link: int
    entries: int


class Program:
    """An ELF file of 64 bits."""

    def __init__(self, whole: bytes) -> None:
        """Reads its sections.

        Raises:
            ValueError: If it is none.
        """
        if whole[:6] != b"\x7fELF\x02\x01":
            raise ValueError("no ELF file of 64 bits, little-endian")
        (at,) = struct.unpack_from("<Q", whole, 0x28)
        each, count = struct.unpack_from("<HH", whole, 0x3A)
        self._sections = [_section(whole, at + number * each) for number in range(count)]

    @property
    def needed(self) -> list[str]:
        """Libraries that are loaded with it."""
        return [
            _name(self._sections[section.link], value)
            for section in self._of(DYNAMIC)
            for tag, value in struct.iter_unpack("<QQ", section.content)
            if tag == NEEDED
        ]

    @property
    def versions(self) -> list[str]:
        """Versions of libraries that its symbols want."""
        found = []
        for section in self._of(VERSIONS):
            at = 0
            for _ in range(section.entries):
                _, count, _, first, following = struct.unpack_from("<HHIII", section.content, at)
                inner = at + first
                for _ in range(count):
                    _, _, _, name, more = struct.unpack_from("<IHHII", section.content, inner)
                    found.append(_name(self._sections[section.link], name))
                    inner += more
                at += following
        return found

    def _of(self, kind: int) -> Iterator[Section]:
        return (section for section in self._sections if section.kind == kind)


def _section(whole: bytes, at: int) -> Section:
    _, kind, _, _, begin, size, link, entries = struct.unpack_from("<IIQQQQII", whole, at)
    content = b"" if kind == EMPTY else whole[begin : begin + size]
    return Section(kind, content, link, entries)


def _name(names: Section, at: int) -> str:
    return names.content[at : names.content.index(b"\0", at)].decode()


GLIBC_MOST = (2, 36)
BYTES_MOST = 50 * 2**20
LIBRARIES = {
    "libc.so.6",
    "libm.so.6",
    "libgcc_s.so.1",
    "libpthread.so.0",
    "libdl.so.2",
    "librt.so.1",
    "ld-linux-x86-64.so.2",
}
# Types and tags of ELF.
DYNAMIC, EMPTY, VERSIONS = 6, 8, 0x6FFFFFFE
NEEDED = 1

if __name__ == "__main__":
    sys.exit(main())
