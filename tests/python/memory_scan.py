"""Looks for secrets in the memory and the vector registers of a live process, from outside (Linux)."""

import ctypes
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


class Scanner:
    """Finds any 8 bytes of some secrets, wherever they begin; secrets repeat no 8 bytes."""

    def __init__(self, secrets: Mapping[str, bytes]) -> None:
        self._names: dict[int, str] = {}
        self._low_halves = np.zeros(1 << 16, np.bool_)
        for name, secret in secrets.items():
            for at in range(0, len(secret) - 7, 8):
                for word in (secret[at : at + 8], secret[at : at + 8][::-1]):
                    number = int.from_bytes(word, "little")
                    self._names[number] = f"{name}, byte {at}"
                    self._low_halves[number & 0xFFFF] = True
        self._words = np.array(list(self._names), np.uint64)

    def process(self, pid: int) -> list[str]:
        """What is found in a process whose threads all wait, and where."""
        places = [*_registers(pid), *_memory(pid)]
        return [f"{found} at {name}+{at:#x}" for name, data in places for at, found in self(data)]

    def __call__(self, data: bytes) -> Iterator[tuple[int, str]]:
        """Offsets in `data` and the secret there."""
        words = np.ndarray((len(data) - 7,), "<u8", data, strides=(1,))
        at = self._candidates(data)
        at = at[np.isin(words[at], self._words)]
        for offset, word in zip(at.tolist(), words[at].tolist(), strict=True):
            yield offset, self._names[word]

    def _candidates(self, data: bytes) -> npt.NDArray[np.intp]:
        """Where a word may begin by its first two bytes."""
        words = len(data) - 7
        even = np.ndarray((words + 1) // 2, "<u2", data)
        odd = np.ndarray(words // 2, "<u2", data, offset=1)
        found = [2 * np.flatnonzero(self._low_halves[half]) + at for at, half in enumerate((even, odd))]
        return np.concatenate(found)


def _memory(pid: int) -> Iterator[tuple[str, bytes]]:
    """Each mapping that was written to: its name and its bytes."""
    lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        for line in lines:
            span, access, _, _, _, *name = line.split(maxsplit=5)
            if "w" not in access or "r" not in access:
                continue
            start, end = (int(address, 16) for address in span.split("-"))
            memory.seek(start)
            yield f"{name[0] if name else 'memory'} {start:#x}", memory.read(end - start)


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
        yield f"registers of thread {thread}", bytes(state)


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
# More than any processor has.
STATE_BYTES = 16 << 10
