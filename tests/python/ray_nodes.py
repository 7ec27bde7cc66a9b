"""A Ray cluster of two nodes on this machine, for tests.

The head has the address 127.0.0.2, the other node 127.0.0.3: Ray rewrites 127.0.0.1 to the address
of the machine, and its nodes then wait for each other for ever (ray#26293, ray#59110).
"""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
import ray
from ray._private.authentication_test_utils import reset_auth_token_state

ADDRESSES = ("127.0.0.2", "127.0.0.3")
CPUS_PER_NODE, ROOM = 2, 2
VARIABLES = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # A killed node counts as dead after five refused calls, one each half second instead of three.
    "RAY_health_check_period_ms": "500",
}
WARNINGS = (r"ignore::DeprecationWarning:ray\..*", r"ignore::FutureWarning:ray\..*")
"""For `pytest.mark.filterwarnings`: what Ray raises in its own modules as it connects."""


@dataclass(frozen=True)
class RayNodes:
    """A running cluster: node 0 is the head."""

    address: str
    """IP and port of the head, for `ray.init(address=...)`."""
    token: str
    folder: Path
    """Logs and sockets of both nodes."""
    _starters: list[subprocess.Popen[str]]

    def processes(self, name: str) -> list[int]:
        """The living processes of this name on both nodes, such as "raylet"."""
        found = (each for starter in self._starters for each in _session(starter.pid))
        return [each for each in found if _name(each) == name]

    def kill(self, index: int) -> None:
        """Kills all processes of a node at once, as a power failure does."""
        _kill(self._starters[index])


@contextmanager
def ray_nodes(object_store_bytes: int = 100_000_000) -> Iterator[RayNodes]:
    """Starts two nodes, sets Ray's variables in this process, and ends and removes all of it."""
    token = secrets.token_hex(32)
    folder = Path(tempfile.mkdtemp(prefix="r", dir="/tmp"))  # a socket's path has 107 bytes
    starters: list[subprocess.Popen[str]] = []
    with _variables(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=token, **VARIABLES):
        try:
            store = f"--object-store-memory={object_store_bytes}"
            head = ("--head", "--port=0", "--include-dashboard=false")
            starters.append(_start(folder, ADDRESSES[0], store, *head))
            address = (folder / "ray_current_cluster").read_text(encoding="utf-8")
            starters.append(_start(folder, ADDRESSES[1], store, f"--address={address}"))
            yield RayNodes(address, token, folder, starters)
        finally:
            ray.shutdown()
            for starter in starters:
                _kill(starter)
            shutil.rmtree(folder)


@contextmanager
def _variables(**variables: str) -> Iterator[None]:
    """Sets variables of the environment; Ray, which reads them when imported, reads them again."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        reset_auth_token_state()
        yield
    reset_auth_token_state()


def _start(folder: Path, address: str, *options: str) -> subprocess.Popen[str]:
    """Starts a node, and returns when it takes work."""
    command = [
        *(sys.executable, "-m", "ray.scripts.scripts", "start", "--block", *options),
        *(f"--node-ip-address={address}", f"--temp-dir={folder}", f"--num-cpus={CPUS_PER_NODE}"),
        *("--min-worker-port=0", "--max-worker-port=0"),
        f'--resources={{"room": {ROOM}}}',
    ]
    starter = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        start_new_session=True,
    )
    assert starter.stdout is not None
    output = []
    for line in starter.stdout:
        output.append(line)
        if "will now block" in line:
            return starter
    _kill(starter)
    raise RuntimeError(f"`ray start` of node {address} ended:\n{''.join(output)}")


def _kill(starter: subprocess.Popen[str]) -> None:
    """Kills a node's processes, which all are of the session that `ray start` leads."""
    while processes := _session(starter.pid):
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
    starter.wait()
    assert starter.stdout is not None
    starter.stdout.close()


def _name(process: int) -> str:
    try:
        return Path(f"/proc/{process}/comm").read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return ""


def _session(leader: int) -> list[int]:
    """The living processes of a session; groups won't do, Ray gives each worker its own."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            state, *fields = status.read_text(encoding="utf-8").rpartition(")")[2].split()
            if int(fields[2]) == leader and state != "Z":
                found.append(int(status.parent.name))
    return found
