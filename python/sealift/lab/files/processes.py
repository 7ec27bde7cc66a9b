"""Processes that hold something, as their parent sees them: started once, and asked for answers."""

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from io import TextIOWrapper
from typing import IO, Any

from sealift.lab.files.condition import FILLED_BYTES, FILLING, LOADED
from sealift.lab.memory import check_memory
from sealift.lab.spec import Skip, WrongResultError


def process_of(key: tuple[str, bool, str]) -> "Process":
    """The process of a condition; what could not be held is not tried again.

    Args:
        key: What tells it from others, the condition first.

    Raises:
        Skip: If the condition can't be had.
    """
    if not _processes:
        atexit.register(end_processes)
    known = _processes.get(key)
    if known is None:
        known = _processes[key] = _started(key[0])
    if isinstance(known, Skip):
        raise known
    return known


def end_processes() -> None:
    """Ends all of them, with everything that they hold."""
    for process in _processes.values():
        if isinstance(process, Process):
            process.end()
    _processes.clear()


def check_room(condition: str) -> None:
    """Looks whether there is the memory that a condition fills.

    Raises:
        Skip: If there is not.
    """
    if condition in FILLING:
        check_memory(FILLED_BYTES)


class Process:
    """A process that holds something, and its arms."""

    def __init__(self, condition: str) -> None:
        """Starts it; it holds nothing until it is asked to."""
        command = [sys.executable, "-P", "-m", PROCESS, str(os.getpid()), condition]
        self._child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self._asked = 0

    def ask(self, **request: Any) -> dict[str, Any]:
        """Its answer.

        Raises:
            Skip: If it can't do that here.
            WrongResultError: If something was read or written wrong.
            RuntimeError: If it failed, or has ended.
        """
        self._asked += 1
        try:
            self._send({"number": self._asked, **request})
            answer = self._heard()
            # Ctrl-C may have come before an answer was read.
            while answer["number"] < self._asked:
                answer = self._heard()
        except (BrokenPipeError, EOFError) as error:
            code = self._child.wait()
            raise RuntimeError(f"the process that held something ended with code {code}") from error
        if why := answer.get("skipped"):
            raise Skip(why)
        if why := answer.get("wrong"):
            raise WrongResultError(why)
        if why := answer.get("failed"):
            raise RuntimeError(why)
        return answer

    def _send(self, request: Mapping[str, Any]) -> None:
        assert self._child.stdin is not None, "opened as a pipe"
        self._child.stdin.write(f"{json.dumps(request)}\n")
        self._child.stdin.flush()

    def _heard(self) -> dict[str, Any]:
        assert self._child.stdout is not None, "opened as a pipe"
        line = self._child.stdout.readline()
        if not line:
            raise EOFError
        answer: dict[str, Any] = json.loads(line)
        return answer

    def end(self) -> None:
        """Ends it, and everything it holds."""
        self._child.kill()
        self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                _close(pipe)


def _started(condition: str) -> "Process | Skip":
    try:
        check_room(condition)
        process = Process(condition)
    except Skip as skip:
        return skip
    if condition == LOADED:
        return process
    try:
        process.ask(do="hold")
    except Skip as skip:
        process.end()
        return skip
    return process


def _close(pipe: IO[str] | TextIOWrapper) -> None:
    try:
        pipe.close()
    except BrokenPipeError:
        return


# By what tells a process from others.
_processes: dict[tuple[str, bool, str], Process | Skip] = {}

PROCESS = "sealift.lab.files.process"
