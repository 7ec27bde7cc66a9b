"""What the machine is, each fact a value or the reason why there is none; and its free memory."""

import math
import os
import platform
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from sealift_lab._lab import NotMeasurableError
from sealift_lab.model.arm import Skip, Value
from sealift_lab.model.run import Fact


def describe(root: Path = Path("/")) -> dict[str, Fact]:
    """Facts of this machine by name, units last; no host name, no address: results are passed on.

    `cpuinfo_clock_mhz` is what /proc/cpuinfo says of the clock: on many virtual machines that of
    the time stamp counter, which no core runs at. `cores_quota` is what the cgroup allows, in
    cores' worth of time. Tests give a root of their own for proc and sys.
    """
    proc = root / "proc"
    return {
        "cpu_model": fact_of(lambda: _cpuinfo(proc, "model name")),
        "cpuinfo_clock_mhz": fact_of(lambda: float(_cpuinfo(proc, "cpu MHz"))),
        "cpu_flags": fact_of(
            lambda: [e for e in CPU_FLAGS if e in _cpuinfo(proc, "flags").split()]
        ),
        "cores_affinity": fact_of(lambda: len(os.sched_getaffinity(0))),
        "cores_quota": fact_of(lambda: _quota(root)),
        "kernel": Fact(f"{platform.system()} {platform.release()}"),
        "libc": fact_of(_libc),
        "python": Fact(f"{platform.python_implementation()} {platform.python_version()}"),
        "versions": Fact(_versions("sealift", "cryptography")),
        "load_1min": fact_of(lambda: load_1min(root)),
        "steal_s": fact_of(lambda: steal_s(root)),
    }


def usable_cores(facts: Mapping[str, Fact]) -> int:
    """How many threads can run at once: the affinity mask, cut by the quota; at least 1."""
    values = [facts[name].value for name in ("cores_affinity", "cores_quota")]
    allowed = [math.floor(value) for value in values if isinstance(value, int | float)]
    return max(1, min(allowed, default=1))


def cgroup_folders(root: Path = Path("/")) -> list[Path]:
    """This process's cgroup and those above it, up to the root; none without cgroup v2."""
    lines = read_text(root / "proc/self/cgroup").splitlines()
    own = next((line.removeprefix("0::") for line in lines if line.startswith("0::")), None)
    if own is None:
        return []
    mount = root / "sys/fs/cgroup"
    group = mount / own.lstrip("/")
    return [folder for folder in (group, *group.parents) if folder.is_relative_to(mount)]


def check_memory(needed_bytes: int, root: Path = Path("/")) -> None:
    """Raises Skip for an arm that would take more than half of the free memory."""
    free = free_bytes(root)
    if free is not None and needed_bytes > free // 2:
        raise Skip(
            f"its data need {needed_bytes / 1e9:,.1f} GB and {free / 1e9:,.1f} GB are free, of "
            "which half may be used; choose fewer or smaller messages, sessions or threads",
            is_transient=True,
        )


def free_bytes(root: Path = Path("/")) -> int | None:
    """What the kernel could still give to this process, or None where that is unknown.

    The least of what the machine has available and of what every cgroup (v2) on the way up still
    allows; its cached files could be dropped, so they don't count.
    """
    amounts = []
    try:
        amounts.append(_table(root / "proc/meminfo")["MemAvailable:"] * 1_024)
        folders = cgroup_folders(root)
    except (OSError, KeyError):
        folders = []
    for folder in folders:
        try:
            limit = (folder / "memory.max").read_text(encoding="ascii").strip()
            used = int((folder / "memory.current").read_text(encoding="ascii"))
            table = _table(folder / "memory.stat")
        except OSError:
            continue
        cached = table.get("inactive_file", 0) + table.get("active_file", 0)
        if limit != "max":
            amounts.append(max(0, int(limit) - used + cached))
    return min(amounts, default=None)


def load_1min(root: Path = Path("/")) -> float:
    """Mean number of runnable tasks over the last minute."""
    return float(read_text(root / "proc/loadavg").split()[0])


def steal_s(root: Path = Path("/")) -> float:
    """Time the hypervisor took from all cores since boot; an UnknownError if it isn't counted."""
    fields = read_text(root / "proc/stat").splitlines()[0].split()
    if fields[0] != "cpu" or len(fields) < 9:
        raise UnknownError("the first line of /proc/stat has no steal column")
    return int(fields[8]) / os.sysconf("SC_CLK_TCK")


class UnknownError(Exception):
    """Carries the reason why something can't be known."""


def fact_of(look: Callable[[], Value | list[str]]) -> Fact:
    """The value that `look` returns, or the reason why it has none, which it raises."""
    try:
        return Fact(look())
    except (UnknownError, NotMeasurableError) as unknown:
        return Fact(None, str(unknown))
    except OSError as error:
        return Fact(None, f"{error.filename}: {error.strerror}")
    except (AttributeError, LookupError, ValueError) as error:
        return Fact(None, f"not in the form expected: {error}")


def read_text(path: Path) -> str:
    """A file of /proc or /sys, whatever bytes are in it."""
    return path.read_text(encoding="utf-8", errors="replace")


def _table(path: Path) -> dict[str, int]:
    """The number behind the first word of each line."""
    lines = [line.split() for line in path.read_text(encoding="ascii").splitlines()]
    return {words[0]: int(words[1]) for words in lines if len(words) > 1}


def _cpuinfo(proc: Path, name: str) -> str:
    for line in read_text(proc / "cpuinfo").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name and value.strip():
            return value.strip()
    raise UnknownError(f"no {name!r} in {proc / 'cpuinfo'}")


def _quota(root: Path) -> float:
    folders, limits = cgroup_folders(root), []
    if not folders:
        raise UnknownError("no cgroup v2 hierarchy, so no quota is read")
    for folder in folders:
        with suppress(FileNotFoundError):
            quota, period = read_text(folder / "cpu.max").split()
            limits += [int(quota) / int(period)] if quota != "max" else []
    if not limits:
        raise UnknownError("no cgroup on the way up sets cpu.max, so there is no quota")
    return min(limits)


def _libc() -> str:
    name, version = platform.libc_ver()
    if not name:
        raise UnknownError("the Python executable doesn't name its C library")
    return f"{name} {version}"


def _versions(*packages: str) -> list[str]:
    found = [(name, next(iter(metadata.distributions(name=name)), None)) for name in packages]
    return [f"{name} {each.version if each else 'not installed'}" for name, each in found]


CPU_FLAGS = (
    "sse2", "ssse3", "sse4_1", "aes", "pclmulqdq", "avx", "avx2", "vaes", "vpclmulqdq",
    "gfni", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vbmi",
    "avx512_fp16", "fsrm", "hypervisor",
)  # fmt: skip
