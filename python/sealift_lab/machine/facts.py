"""What the machine is: every fact is a value, or the reason why there is none."""

import math
import os
import platform
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from sealift_lab.model.arm import Value
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
    except UnknownError as unknown:
        return Fact(None, str(unknown))
    except OSError as error:
        return Fact(None, f"{error.filename}: {error.strerror}")
    except (AttributeError, LookupError, ValueError) as error:
        return Fact(None, f"not in the form expected: {error}")


def read_text(path: Path) -> str:
    """A file of /proc or /sys, whatever bytes are in it."""
    return path.read_text(encoding="utf-8", errors="replace")


def _cpuinfo(proc: Path, name: str) -> str:
    for line in read_text(proc / "cpuinfo").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name and value.strip():
            return value.strip()
    raise UnknownError(f"no {name!r} in {proc / 'cpuinfo'}")


def _quota(root: Path) -> float:
    """The tightest limit on the way from this process's cgroup up to the root (cgroup v2)."""
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
    found = {name: [*metadata.distributions(name=name)] for name in packages}
    return [
        f"{name} {each[0].version if each else 'not installed'}" for name, each in found.items()
    ]


CPU_FLAGS = (
    "sse2", "ssse3", "sse4_1", "aes", "pclmulqdq", "avx", "avx2", "vaes", "vpclmulqdq",
    "gfni", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vbmi", "fsrm", "hypervisor",
)  # fmt: skip
