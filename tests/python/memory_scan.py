"""Looks for secrets in memory and vector registers of a live process, from outside (Linux)."""

import ctypes
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np


class Scanner:
    """Finds any 8 bytes of some secrets, wherever they begin; secrets repeat no 8 bytes."""

    def __init__(self, secrets: Mapping[str, bytes]) -> None:
        self._names: dict[bytes, str] = {}
        # Which two bytes a word begins with, and which follow.
        self._pairs = np.zeros((2, 1 << 16), np.bool_)
        for name, secret in secrets.items():
            for at in range(0, len(secret) - 7, 8):
                for word in (secret[at : at + 8], secret[at : at + 8][::-1]):
                    self._names[word] = f"{name}, byte {at}"
                    self._pairs[(0, 1), np.frombuffer(word[:4], "<u2")] = True

    def process(self, pid: int) -> list[str]:
        """What is found in a process whose threads all wait, and where."""
        places = [*_registers(pid), *_memory(pid)]
        return [f"{found} at {name}+{at:#x}" for name, data in places for at, found in self(data)]

    def __call__(self, data: bytes) -> Iterator[tuple[int, str]]:
        """Offsets in `data` and the secret there."""
        for start in (0, 1):
            pairs = np.ndarray((len(data) - start) // 2, "<u2", data, offset=start)
            first = np.flatnonzero(self._pairs[0].take(pairs[:-1]))
            both = first[self._pairs[1].take(pairs[first + 1])]
            for at in start + 2 * both:
                if name := self._names.get(data[at : at + 8]):
                    yield int(at), name


def _memory(pid: int) -> Iterator[tuple[str, bytes]]:
    """The pages of each mapping that can be written to and were used: a name and the bytes."""
    process = Path(f"/proc/{pid}")
    with (process / "mem").open("rb", 0) as memory, (process / "pagemap").open("rb", 0) as pages:
        for line in (process / "maps").read_text().splitlines():
            span, access, _, _, _, *name = line.split(maxsplit=5)
            if not access.startswith("rw"):
                continue
            start, end = (int(address, 16) for address in span.split("-"))
            for first, last in _used(pages.fileno(), start // PAGE, end // PAGE):
                data = os.pread(memory.fileno(), (last - first) * PAGE, first * PAGE)
                yield f"{name[0] if name else 'memory'}, {first * PAGE:#x}", data


def _used(pages: int, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Runs of pages that are in memory or swapped out: the two highest bits of eight bytes each."""
    entries = np.frombuffer(os.pread(pages, 8 * (last - first), 8 * first), np.uint64)
    is_used = np.pad(entries >> 62 != 0, 1)
    edges = first + np.flatnonzero(is_used[1:] != is_used[:-1])
    return zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


def _registers(pid: int) -> Iterator[tuple[str, bytes]]:
    """The vector registers of each thread."""
    for task in sorted(Path(f"/proc/{pid}/task").iterdir()):
        thread = int(task.name)
        _ptrace(PTRACE_ATTACH, thread, None, None)
        os.waitpid(thread, WAIT_ALL)
        state = (ctypes.c_char * STATE_BYTES)()
        span = _Span(ctypes.addressof(state), STATE_BYTES)
        try:
            _ptrace(PTRACE_GETREGSET, thread, NT_X86_XSTATE, ctypes.addressof(span))
        finally:
            _ptrace(PTRACE_DETACH, thread, None, None)
        owner = "the main thread" if thread == pid else f"thread {thread}"
        yield f"registers of {owner}", bytes(state)


class _Span(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def _ptrace(*arguments: Any) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    if libc.ptrace(*arguments) == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), f"ptrace{arguments}")


# From <sys/ptrace.h>, <elf.h> and <sys/wait.h>.
PTRACE_ATTACH, PTRACE_DETACH, PTRACE_GETREGSET = 16, 17, 0x4204
NT_X86_XSTATE = 0x202
WAIT_ALL = 0x40000000
PAGE = os.sysconf("SC_PAGESIZE")
# More than any processor has.
STATE_BYTES = 16 << 10
