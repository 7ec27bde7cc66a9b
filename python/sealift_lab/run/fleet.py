"""Measures the nodes of a Ray cluster with `sealift lab run`, and brings their run folders here.

Nodes of one host are measured one after the other, because they share its cores; others at once.
"""

import ctypes
import io
import logging
import os
import re
import runpy
import select
import signal
import socket
import subprocess
import sys
import tarfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from sealift.exit_code import ExitCode
from sealift_lab.measure.process import PR_SET_PDEATHSIG
from sealift_lab.model.run import PLAN


@dataclass(frozen=True)
class NodeResult:
    """0 or the `ExitCode` of a node's run, and its folder here, or why there is none."""

    code: int
    folder: Path | None = None
    reason: str = ""


class Archive(NamedTuple):
    """The end of a run: its exit code, and its folder as a tar file, or why it has none."""

    code: int
    content: bytes
    reason: str


class Node(NamedTuple):
    """A node of a cluster: a unique name, and how many CPUs and GPUs it has for tasks."""

    id: str
    name: str
    cpus: float
    gpus: float


class RayCluster:
    """A cluster that this process is connected to."""

    def __init__(self) -> None:
        """Nothing runs yet."""
        self._tasks, self._is_cancelled = list[Any](), False

    def hosts(self) -> Sequence[Sequence[Node]]:
        """The nodes that are alive, by name; those of one host together.

        One that doesn't say its host within a minute counts as a host of its own.
        """
        import ray

        every: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
        nodes = [*_nodes(sorted((e for e in every if e["Alive"]), key=lambda e: e["NodeName"]))]
        boots = [_on(node, _boot_id, num_cpus=0).remote() for node in nodes]
        ray.wait(boots, num_returns=len(boots), timeout=BOOT_ID_S)
        hosts = defaultdict[str, list[Node]](list)
        for node, boot in zip(nodes, boots, strict=True):
            host = node.id
            with suppress(ray.exceptions.RayError):
                host = ray.get(boot, timeout=0)
            hosts[host].append(node)
        return [*hosts.values()]

    def run(self, node: Node, words: Sequence[str]) -> Iterator[str | Archive]:
        """Runs `sealift lab run WORDS` there: lines of its standard error, then the archive.

        Takes all CPUs and GPUs of the node, so that no other task is there meanwhile.
        """
        import ray

        how: dict[str, Any] = {"num_cpus": node.cpus, "num_gpus": node.gpus}
        task = _on(node, _run_here, num_returns="streaming", **how).remote(words)
        self._tasks.append(task)
        if self._is_cancelled:
            ray.cancel(task)
        try:
            for event in task:
                yield ray.get(event)
        except ray.exceptions.RayError as error:
            is_cancelled = isinstance(error, ray.exceptions.TaskCancelledError)
            code = ExitCode.INTERRUPTED if is_cancelled else ExitCode.PART_FAILED
            yield Archive(code, b"", "interrupted" if is_cancelled else _why_failed(error))

    def cancel(self) -> None:
        """Ends every run, and each that begins later."""
        import ray

        self._is_cancelled = True
        for task in self._tasks:
            ray.cancel(task)


@contextmanager
def connect(address: str) -> Iterator[RayCluster]:
    """Connects to the cluster whose head has this address, with the token of Ray's variables.

    This machine must be a node of it. A ValueError says what to try where that fails. What is
    printed inside is lost: Ray prints logs of nodes that die to standard output.
    """
    if not find_spec("ray"):
        raise ValueError('--fleet needs Ray: python -m pip install "sealift-lab[ray]"')
    # In seconds; Ray reads it when it is imported.
    os.environ.setdefault("RAY_NUM_REDIS_GET_RETRIES", "3")
    import ray

    with redirect_stdout(io.StringIO()):
        try:
            host, _, port = address.rpartition(":")
            # Ray would try for minutes.
            socket.create_connection((host, int(port)), CONNECT_S).close()
            ray.init(address=address, log_to_driver=False, logging_level=logging.CRITICAL)
        except (OSError, RuntimeError, ValueError) as error:
            raise ValueError(f"--fleet: {_why_not_connected(address, error)}") from error
        try:
            yield RayCluster()
        finally:
            ray.shutdown()


def measure_nodes(
    cluster: RayCluster, words: Sequence[str], out: Path, report: Callable[[str], None]
) -> dict[str, NodeResult]:
    """Measures each node into a folder of its name below `out`; Ctrl-C ends all of them.

    `report` gets lines of progress, each with the name of the node in front.
    """
    hosts, results = cluster.hosts(), dict[str, NodeResult]()
    if not hosts:
        raise ValueError("--fleet: no node of the cluster is alive; start one with `ray start`")

    def measure(nodes: Sequence[Node]) -> None:
        for node in nodes:
            for event in cluster.run(node, words):
                if isinstance(event, str):
                    report(f"{node.name}: {event}")
                else:
                    results[node.name] = found = _unpack(event, out / node.name)
                    report(f"{node.name}: {found.reason or 'measured'}")

    with ThreadPoolExecutor(len(hosts)) as pool:
        ends = [pool.submit(measure, nodes) for nodes in hosts]
        try:
            # Without an end it would not notice a signal that a thread of Ray got.
            while wait(ends, timeout=TICK_S).not_done:
                pass
        except (KeyboardInterrupt, SystemExit):
            # Ray makes the second of SIGTERM.
            cluster.cancel()
    for end in ends:
        end.result()
    return dict(sorted(results.items()))


def _unpack(archive: Archive, folder: Path) -> NodeResult:
    if not archive.content:
        return NodeResult(archive.code, None, archive.reason)
    try:
        with tarfile.open(fileobj=io.BytesIO(archive.content)) as tar:
            tar.extractall(folder, filter="data")
    except (OSError, tarfile.TarError) as error:
        reason = f"measured, but {folder} was not written: {error}"
        return NodeResult(ExitCode.NOT_WRITTEN, None, reason)
    return NodeResult(archive.code, folder)


def _nodes(alive: Sequence[dict[str, Any]]) -> Iterator[Node]:
    names = [re.sub(r"[^\w.-]", "_", each["NodeName"]) for each in alive]
    for at, (name, each) in enumerate(zip(names, alive, strict=True)):
        before, amounts = names[:at].count(name), each["Resources"]
        unique = f"{name}-{before + 1}" if before else name
        yield Node(each["NodeID"], unique, amounts.get("CPU", 0), amounts.get("GPU", 0))


def _on(node: Node, function: Callable[..., object], **options: object) -> Any:
    """A function that Ray calls on a node, and never again."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    placement = NodeAffinitySchedulingStrategy(node.id, soft=False)
    return ray.remote(function).options(max_retries=0, scheduling_strategy=placement, **options)


def _why_not_connected(address: str, error: Exception) -> str:
    if "InvalidAuthToken" in f"{error}{error.__cause__}":
        return f"{address} refuses the token; set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN to its own"
    first = str(error).partition("\n")[0]
    return f"{address}: {first}; name HOST:PORT of the head of a cluster that this node is in"


def _why_failed(error: Exception) -> str:
    from ray import exceptions as of

    if isinstance(error, (of.NodeDiedError, of.WorkerCrashedError, of.TaskUnschedulableError)):
        return "the node died, or Ray's worker there, before the run had ended"
    cause = getattr(error, "cause", None) or error
    if isinstance(cause, ImportError):
        return f"{cause}; install the same sealift-lab there"
    *_, last = ["", *str(cause).strip().splitlines()]
    return f"{type(cause).__name__}: {last}" if last else type(cause).__name__


def _boot_id() -> str:
    """The same for all nodes of one host, also in containers."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")


def _run_here(words: Sequence[str]) -> Iterator[str | Archive]:
    """Runs `sealift lab run` as a child that ends with this process."""
    # Ray cancels a task by what Ctrl-C does, which workers may ignore.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with TemporaryDirectory(prefix="sealift-") as scratch:
        folder, line = Path(scratch) / "run", ""
        command = [sys.executable, "-P", "-m", __name__, f"{os.getpid()}", "lab", "run", *words]
        command += ["--out", str(folder)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as child:
            try:
                for line in _lines(child):
                    # Its folder won't be there to be resumed.
                    yield line.removeprefix("sealift: ").partition("; the rest takes")[0]
                code = child.wait()
            finally:
                child.terminate()
                with suppress(subprocess.TimeoutExpired):
                    child.wait(GRACE_S)
                child.kill()
        content = io.BytesIO()
        if (folder / PLAN).exists():
            with tarfile.open(fileobj=content, mode="w:gz") as tar:
                tar.add(folder, ".")
        yield Archive(code, content.getvalue(), line.removeprefix("sealift: "))


def _lines(child: "subprocess.Popen[bytes]") -> Iterator[str]:
    """Its standard error; Python runs twice a second, which is when a cancellation is noticed."""
    assert child.stderr is not None, "opened as a pipe"
    rest, read = "", b"\n"
    while read:
        if select.select([child.stderr], [], [], TICK_S)[0]:
            read = os.read(child.stderr.fileno(), 65_536)
            *lines, rest = (rest + read.decode(errors="replace")).split("\n")
            yield from lines


def _main() -> None:
    """The child: ends with its parent, and takes back the niceness that Ray gives to workers."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != int(sys.argv.pop(1)):
        return
    try:
        os.setpriority(os.PRIO_PROCESS, 0, 0)
    except PermissionError:
        print(NICE.format(os.nice(0)), file=sys.stderr)
    runpy.run_module("sealift", run_name="__main__", alter_sys=True)


NICE = "measured at niceness {}, as Ray's workers run; RAY_worker_niceness=0 changes that"
CONNECT_S, BOOT_ID_S, GRACE_S, TICK_S = 10.0, 60.0, 15.0, 0.5

if __name__ == "__main__":
    _main()
