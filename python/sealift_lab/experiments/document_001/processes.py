"""Processes that hold something, as their parent sees them: started once, sent requests."""

import atexit
import os
import subprocess
import sys
from multiprocessing.connection import Pipe
from typing import Any

from sealift_lab.experiments.document_001.condition import FILLED_BYTES, FILLING
from sealift_lab.machine.memory import check_memory


def process_of(condition: str, kind: str) -> "Process":
    """The process of a condition, which is started if need be.

    Args:
        condition: One of `CONDITIONS`.
        kind: Tells processes of one condition apart.

    Raises:
        Skip: If there is not the memory that the condition fills.
    """
    key = condition, kind
    if key not in _processes:
        check_room(condition)
        _processes[key] = Process(condition)
    return _processes[key]


def end_processes() -> None:
    """Ends all of them, with everything that they hold."""
    for process in _processes.values():
        process.end()
    _processes.clear()


def check_room(condition: str) -> None:
    """Raises `Skip` if there is not the memory that a condition fills."""
    if condition in FILLING:
        check_memory(FILLED_BYTES)


class Process:
    """A process that holds something, and its arms."""

    def __init__(self, condition: str) -> None:
        """Starts it; it holds nothing until it prepares an arm."""
        self.pipe, remote = Pipe()
        descriptor = remote.fileno()
        with remote:
            self.child = subprocess.Popen(
                [
                    sys.executable,
                    "-P",
                    "-m",
                    MODULE,
                    *map(str, (os.getpid(), descriptor)),
                    condition,
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(descriptor,),
            )
        self.requests = 0

    def request(self, method: str, /, **arguments: object) -> Any:
        """Calls a method of the process's server, and returns what it does.

        Raises:
            Skip: If it can't do that here.
            WrongResultError: If it read or wrote something wrong.
            RuntimeError: If it failed, or has ended.
        """
        self.requests += 1
        try:
            self.pipe.send((self.requests, method, arguments))
            number, reply = self.pipe.recv()
            # Ctrl-C may have come before an earlier reply was read.
            while number < self.requests:
                number, reply = self.pipe.recv()
        except (ConnectionError, EOFError) as error:
            code = self.child.wait()
            raise RuntimeError(f"the process that held something ended with code {code}") from error
        if isinstance(reply, Exception):
            raise reply
        return reply

    def end(self) -> None:
        """Ends it, with everything that it holds."""
        self.child.kill()
        self.child.wait()
        self.pipe.close()


_processes: dict[tuple[str, str], Process] = {}
atexit.register(end_processes)

MODULE = "sealift_lab.experiments.document_001.process"
