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
import subprocess
import sys
import tarfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Protocol

from sealift.exit_code import ExitCode
from sealift_lab.measure.process import PR_SET_PDEATHSIG
from sealift_lab.model.run import PLAN


class NodeError(Exception):
    """Why a node was not measured."""


class Archive(NamedTuple):
    """The end of a run: its exit code, its last line, and its folder as a tar file, or b""."""

    code: int
    last_line: str
    content: bytes


@dataclass(frozen=True)
class Node:
    """A node of a cluster: a unique name, and how many CPUs and GPUs it has for tasks."""

    id: str
    name: str
    cpus: float = 0.0
    gpus: float = 0.0


@dataclass(frozen=True)
class NodeResult:
    """0 or the `ExitCode` of a node's run, its folder here, or why there is none."""

    code: int
    folder: Path | None = None
    reason: str = ""


class Cluster(Protocol):
    """Nodes that carry out `sealift lab run`."""

    def hosts(self) -> Sequence[Sequence[Node]]:
        """The nodes that are alive, those of one host together."""

    def run(self, node: Node, words: Sequence[str]) -> Iterator[str | Archive]:
        """Runs `sealift lab run WORDS` there: lines of its standard error, then the archive."""

    def cancel(self) -> None:
        """Ends all runs, and lets no other begin: `run` raises a NodeError."""


def measure_nodes(
    cluster: Cluster, words: Sequence[str], out: Path, report: Callable[[str], None]
) -> dict[str, NodeResult]:
    """Measures each node into a folder of its name below `out`; Ctrl-C ends all of them.

    `report` gets lines of progress, each with the name of the node in front.
    """
    hosts, results = cluster.hosts(), dict[str, NodeResult]()

    def measure(nodes: Sequence[Node]) -> None:
        for node in nodes:
            result = _measure(cluster, node, words, out / node.name, report)
            results[node.name] = result
            report(f"{node.name}: {result.reason or 'measured'}")

    with ThreadPoolExecutor(len(hosts)) as pool:
        ends = [pool.submit(measure, nodes) for nodes in hosts]
        try:
            wait(ends)
        except KeyboardInterrupt:
            cluster.cancel()
    for end in ends:
        end.result()
    return dict(sorted(results.items()))


def _measure(
    cluster: Cluster, node: Node, words: Sequence[str], folder: Path, report: Callable[[str], None]
) -> NodeResult:
    try:
        for event in cluster.run(node, words):
            if isinstance(event, str):
                report(f"{node.name}: {event}")
            elif not event.content:
                return NodeResult(ExitCode.PART_FAILED, None, event.last_line)
            else:
                with tarfile.open(fileobj=io.BytesIO(event.content)) as tar:
                    tar.extractall(folder, filter="data")
                return NodeResult(event.code, folder)
    except NodeError as error:
        return NodeResult(ExitCode.PART_FAILED, None, str(error))
    raise AssertionError("a run ends with its archive or a NodeError")


class RayCluster:
    """The cluster that this machine is a node of, by the address of its head, `10.0.0.1:6379`.

    A ValueError says what to try where it can't be reached.
    """

    def __init__(self, address: str) -> None:
        """Connects; the token is that of Ray's own variables."""
        if not find_spec("ray"):
            raise ValueError('--fleet needs Ray: python -m pip install "sealift-lab[ray]"')
        # Read as Ray is imported; it would warn each second while it tries to connect.
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
        import ray

        self._address, self._tasks, self._is_cancelled = address, list[Any](), False
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.CRITICAL)
        except (OSError, RuntimeError, ValueError) as error:
            raise ValueError(f"{address}: {_why_not_connected(error)}") from error

    def hosts(self) -> Sequence[Sequence[Node]]:
        """As `Cluster`; a node that doesn't say its host in a minute counts as one of its own."""
        import ray

        alive = sorted((e for e in ray.nodes() if e["Alive"]), key=lambda e: e["NodeName"])
        if not alive:
            raise ValueError(f"{self._address} has no node that is alive; start one: ray start")
        nodes, names = list[Node](), list[str]()
        for each in alive:
            name, has = re.sub(r"[^\w.-]", "_", each["NodeName"]), each["Resources"]
            names.append(name)
            unique = f"{name}-{many}" if (many := names.count(name)) > 1 else name
            nodes.append(Node(each["NodeID"], unique, has.get("CPU", 0), has.get("GPU", 0)))
        boots = [_task(_boot_id, node.id, num_cpus=0).remote() for node in nodes]
        ray.wait(boots, num_returns=len(boots), timeout=BOOT_ID_S)
        hosts = defaultdict[str, list[Node]](list)
        for node, boot in zip(nodes, boots, strict=True):
            host = node.id
            with suppress(ray.exceptions.RayError):
                host = ray.get(boot, timeout=0)
            hosts[host].append(node)
        return [*hosts.values()]

    def run(self, node: Node, words: Sequence[str]) -> Iterator[str | Archive]:
        """As `Cluster`; takes all of the node's CPUs and GPUs, so that no other task is there."""
        import ray

        amounts: Any = {"num_cpus": node.cpus, "num_gpus": node.gpus}
        task = _task(_run_here, node.id, num_returns="streaming", **amounts).remote(words)
        self._tasks.append(task)
        if self._is_cancelled:
            ray.cancel(task)
        try:
            for event in task:
                yield ray.get(event)
        except ray.exceptions.RayError as error:
            raise NodeError(_why_failed(error)) from error

    def cancel(self) -> None:
        """As `Cluster`."""
        import ray

        self._is_cancelled = True
        for task in self._tasks:
            ray.cancel(task)


def _task(function: Callable[..., object], node_id: str, **options: object) -> Any:
    """A function that Ray calls once, on that node."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    placement = NodeAffinitySchedulingStrategy(node_id, soft=False)
    return ray.remote(function).options(max_retries=0, scheduling_strategy=placement, **options)


def _why_not_connected(error: Exception) -> str:
    if "InvalidAuthToken" in f"{error}{error.__cause__}":
        return "it refuses the token; set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN to the cluster's"
    first = str(error).partition("\n")[0]
    return f"{first}; name HOST:PORT of the head of a cluster that this machine is a node of"


def _why_failed(error: Exception) -> str:
    from ray import exceptions

    dead = (
        exceptions.NodeDiedError,
        exceptions.WorkerCrashedError,
        exceptions.TaskUnschedulableError,
    )
    if isinstance(error, exceptions.TaskCancelledError):
        return INTERRUPTED
    if isinstance(error, dead):
        return "the node died, or Ray's process there, before the run had ended"
    cause = getattr(error, "cause", None) or error
    if isinstance(cause, ImportError):
        return f"{cause}; install the same sealift-lab there"
    return f"{type(cause).__name__}: {str(cause).strip().splitlines()[-1]}"


def _boot_id() -> str:
    """The same for all nodes of one host, containers too."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")


def _run_here(words: Sequence[str]) -> Iterator[str | Archive]:
    """Runs `sealift lab run` as a child that ends with this process."""
    with TemporaryDirectory(prefix="sealift-") as scratch:
        folder, line = Path(scratch) / "run", ""
        command = [sys.executable, "-P", "-m", __name__, f"{os.getpid()}", "lab", "run", *words]
        command += ["--out", str(folder)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as child:
            try:
                for line in _lines(child):
                    yield line
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
        yield Archive(code, line, content.getvalue())


def _lines(child: "subprocess.Popen[bytes]") -> Iterator[str]:
    """Its standard error; twice a second Python runs, which is when Ray's cancellation comes."""
    assert child.stderr is not None, "opened as a pipe"
    rest = ""
    while True:
        if not select.select([child.stderr], [], [], 0.5)[0]:
            continue
        read = os.read(child.stderr.fileno(), 65_536).decode(errors="replace")
        *lines, rest = (rest + read).split("\n")
        yield from lines
        if not read:
            return


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


INTERRUPTED = "interrupted"
NICE = "sealift: runs at niceness {}, as Ray's workers do; RAY_worker_niceness=0 changes that"
BOOT_ID_S, GRACE_S = 60.0, 15.0

if __name__ == "__main__":
    _main()
