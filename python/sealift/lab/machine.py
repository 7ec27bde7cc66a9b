"""What the machine is: every item is a value, or the reason why there is none."""

import math
import os
import platform
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

Value = str | int | float | tuple[str, ...]


@dataclass(frozen=True)
class Fact:
    """A value, or the reason why it can't be had; exactly one of the two.

    Attributes:
        value: In the unit that the name of the fact ends in; None when unknown.
        reason: Why it is unknown; None when it is known.
    """

    value: Value | None
    reason: str | None

    def __post_init__(self) -> None:
        """Refuses a fact with both or neither."""
        if (self.value is None) == (self.reason is None):
            raise ValueError(f"a fact needs a value or a reason, not {self.value}, {self.reason}")

    def __str__(self) -> str:
        """The value, or the reason in brackets."""
        return f"({self.reason})" if self.value is None else str(self.value)


@dataclass(frozen=True)
class Machine:
    """The machine and what runs on it. No name, no address: results are passed around.

    Attributes:
        cpu_model: As the processor names itself.
        cpuinfo_clock_mhz: What /proc/cpuinfo says of the clock: on many virtual machines that of
            the time stamp counter, which no core runs at.
        cpu_flags: Instruction-set flags that matter to this work, of those the kernel lists.
        cores_affinity: Logical cores that this process may run on.
        cores_quota: Cores' worth of time that the cgroup allows.
        kernel: Name and release.
        libc: Name and version.
        python: Implementation and version.
        versions: Packages with their versions.
        load_1min: Mean number of runnable tasks over the last minute.
        steal_s: Time the hypervisor took from all cores since boot, in seconds.
    """

    cpu_model: Fact
    cpuinfo_clock_mhz: Fact
    cpu_flags: Fact
    cores_affinity: Fact
    cores_quota: Fact
    kernel: Fact
    libc: Fact
    python: Fact
    versions: Fact
    load_1min: Fact
    steal_s: Fact

    @property
    def usable_cores(self) -> int:
        """How many threads can run at once: the affinity mask, cut by the quota; at least 1."""
        allowed = [
            math.floor(fact.value)
            for fact in (self.cores_affinity, self.cores_quota)
            if isinstance(fact.value, int | float)
        ]
        return max(1, min(allowed, default=1))

    def as_dict(self) -> dict[str, dict[str, Value | None]]:
        """For JSON: each fact as `{"value": ..., "reason": ...}`."""
        return asdict(self)


def describe(root: Path = Path("/")) -> Machine:
    """Looks at this machine; reads a few files of /proc and /sys, changes nothing.

    Args:
        root: Where proc and sys are found; tests give a folder of their own.
    """
    proc = root / "proc"
    return Machine(
        cpu_model=fact_of(lambda: _cpuinfo(proc, "model name")),
        cpuinfo_clock_mhz=fact_of(lambda: float(_cpuinfo(proc, "cpu MHz"))),
        cpu_flags=fact_of(lambda: _flags(_cpuinfo(proc, "flags"))),
        cores_affinity=fact_of(lambda: len(os.sched_getaffinity(0))),
        cores_quota=fact_of(lambda: _quota(root)),
        kernel=Fact(f"{platform.system()} {platform.release()}", None),
        libc=fact_of(_libc),
        python=Fact(f"{platform.python_implementation()} {platform.python_version()}", None),
        versions=_versions(("sealift", "cryptography")),
        load_1min=fact_of(lambda: load_1min(root)),
        steal_s=fact_of(lambda: steal_s(root)),
    )


def cgroup_folders(root: Path = Path("/")) -> list[Path]:
    """This process's cgroup and those above it, up to the root; none without cgroup v2.

    Args:
        root: Where proc and sys are found; tests give a folder of their own.

    Raises:
        OSError: If the kernel doesn't tell.
    """
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
    """Time the hypervisor took from all cores since boot, in seconds.

    Raises:
        UnknownError: If this kernel doesn't count it.
    """
    fields = read_text(root / "proc/stat").splitlines()[0].split()
    if fields[0] != "cpu" or len(fields) < 9:
        raise UnknownError("the first line of /proc/stat has no steal column")
    return int(fields[8]) / os.sysconf("SC_CLK_TCK")


class UnknownError(Exception):
    """Carries the reason why something can't be known."""


def fact_of(look: Callable[[], Value]) -> Fact:
    """What `look` gives, or the reason why it gives nothing.

    Args:
        look: Reads something; raises `UnknownError`, or what reading and parsing raise.
    """
    try:
        return Fact(look(), None)
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


def _flags(line: str) -> tuple[str, ...]:
    present = set(line.split())
    return tuple(flag for flag in CPU_FLAGS if flag in present)


def _quota(root: Path) -> float:
    """The tightest limit on the way from this process's cgroup up to the root (cgroup v2)."""
    folders = cgroup_folders(root)
    if not folders:
        raise UnknownError("no cgroup v2 hierarchy, so no quota is read")
    limits = [_limit(folder) for folder in folders]
    known = [limit for limit in limits if limit is not None]
    if not known:
        raise UnknownError("no cgroup on the way up sets cpu.max, so there is no quota")
    return min(known)


def _limit(folder: Path) -> float | None:
    try:
        quota, period = read_text(folder / "cpu.max").split()
    except FileNotFoundError:
        return None
    return None if quota == "max" else int(quota) / int(period)


def _libc() -> str:
    name, version = platform.libc_ver()
    if not name:
        raise UnknownError("the Python executable doesn't name its C library")
    return f"{name} {version}"


def _versions(packages: Iterable[str]) -> Fact:
    # Slow to import, and of all processes of a run only one asks.
    from importlib import metadata

    found = []
    for package in packages:
        try:
            found.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            found.append(f"{package} not installed")
    return Fact(tuple(found), None)


CPU_FLAGS = (
    "sse2", "ssse3", "sse4_1", "aes", "pclmulqdq", "avx", "avx2", "vaes", "vpclmulqdq",
    "gfni", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vbmi", "fsrm", "hypervisor",
)  # fmt: skip
