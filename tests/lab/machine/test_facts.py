"""Facts about a machine: a value or a reason, never a gap."""

import json
import os
from dataclasses import asdict
from pathlib import Path

import pytest

from sealift_lab.machine.facts import check_memory, describe, free_bytes, usable_cores
from sealift_lab.machine.sensors import surroundings
from sealift_lab.measure.native import gcm_bytes
from sealift_lab.model.arm import Skip
from sealift_lab.model.run import Fact
from sealift_lab.model.workload import ONE_KEY, SEAL_ONLY, KeyRegime, Keys, of_size

GIB = 1 << 30


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, "proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU\nflags\t: aes vaes\n")
    write(tmp_path, "proc/self/cgroup", "0::/a/b\n")
    write(tmp_path, "proc/meminfo", f"MemTotal: 1 kB\nMemAvailable: {8 * GIB // 1_024} kB\n")
    write(tmp_path, "proc/loadavg", "1.50 1.00 0.50 1/100 4711\n")
    write(tmp_path, "proc/stat", "cpu  1 2 3 4 5 6 7 250 0 0\ncpu0 1 2 3 4 5 6 7 250 0 0\n")
    write(tmp_path, "sys/fs/cgroup/a/cpu.max", "150000 100000\n")
    write(tmp_path, "sys/fs/cgroup/a/b/cpu.max", "max 100000\n")
    return tmp_path


def test_everything_about_this_machine_is_a_value_or_a_reason_that_json_has() -> None:
    found = surroundings()
    for name, fact in {**found.facts, **found.sensors}.items():
        assert (fact.value is None) != (fact.reason is None), name
    assert "core_clock_ghz" in found.facts
    for device in found.devices:
        assert (device.state == "present") == (device.reason is None) == bool(device.role)
    text = json.dumps(asdict(found), allow_nan=False)
    assert os.uname().nodename not in text


def test_facts_are_read_from_proc_and_sys(root: Path) -> None:
    facts = describe(root)
    assert facts["cpu_model"].value == "Some CPU"
    assert facts["cpu_flags"].value == ["aes", "vaes"]
    assert facts["load_1min"].value == 1.5
    assert facts["steal_s"].value == pytest.approx(250 / os.sysconf("SC_CLK_TCK"))


@pytest.mark.parametrize(("cpu_max", "cores"), [("max", 1.5), ("50000", 0.5), ("300000", 1.5)])
def test_the_quota_is_the_tightest_one_on_the_way_up(
    root: Path, cpu_max: str, cores: float
) -> None:
    write(root, "sys/fs/cgroup/a/b/cpu.max", f"{cpu_max} 100000\n")
    assert describe(root)["cores_quota"].value == cores


def test_a_machine_without_proc_gives_reasons_and_refuses_nothing(tmp_path: Path) -> None:
    assert free_bytes(tmp_path) is None
    check_memory(1 << 60, tmp_path)
    facts = describe(tmp_path)
    for name in ("cpu_model", "cores_quota", "load_1min", "steal_s"):
        assert facts[name].value is None
        assert "No such file or directory" in str(facts[name].reason)


@pytest.mark.parametrize(
    ("name", "text", "fact", "reason"),
    [
        ("proc/cpuinfo", "processor: 0\n", "cpu_model", "no 'model name' in"),
        ("proc/self/cgroup", "1:cpu:/x\n", "cores_quota", "no cgroup v2 hierarchy"),
        ("proc/self/cgroup", "0::/c\n", "cores_quota", "so there is no quota"),
        ("proc/loadavg", "\n", "load_1min", "not in the form expected"),
        ("proc/stat", "cpu 1 2 3\n", "steal_s", "no steal column"),
    ],
)
def test_a_file_in_another_form_gives_a_reason(
    root: Path, name: str, text: str, fact: str, reason: str
) -> None:
    write(root, name, text)
    found = describe(root)[fact]
    assert found.value is None
    assert reason in str(found.reason)


@pytest.mark.parametrize(
    ("quota", "cores"),
    [(Fact(1.5), 1), (Fact(0.5), 1), (Fact(4.0), 4), (Fact(None, "no quota"), 8)],
)
def test_usable_cores_are_those_that_mask_and_quota_both_allow(quota: Fact, cores: int) -> None:
    assert usable_cores({"cores_affinity": Fact(8), "cores_quota": quota}) == cores


def limit(root: Path, group: str, most: str) -> None:
    write(root, f"sys/fs/cgroup/{group}/memory.max", f"{most}\n")
    write(root, f"sys/fs/cgroup/{group}/memory.current", f"{2 * GIB}\n")
    write(
        root,
        f"sys/fs/cgroup/{group}/memory.stat",
        f"anon {GIB}\ninactive_file {GIB // 2}\nactive_file {GIB // 2}\n",
    )


def test_what_is_free_is_the_least_of_machine_and_cgroups(root: Path) -> None:
    assert free_bytes(root) == 8 * GIB
    limit(root, "a/b", "max")
    assert free_bytes(root) == 8 * GIB
    limit(root, "a", str(4 * GIB))
    assert free_bytes(root) == 3 * GIB
    limit(root, "a/b", str(GIB // 2))
    assert free_bytes(root) == 0


def test_messages_are_counted_for_every_thread_and_once_more_while_they_are_made() -> None:
    work = of_size(1_000, ONE_KEY, SEAL_ONLY, messages=1_000)
    copy = gcm_bytes(work, threads=2, batch=1_000) - gcm_bytes(work, threads=1, batch=1_000)
    # Text, output and what it must be, and what goes with them.
    assert 3_000_000 < copy < 3_200_000
    assert gcm_bytes(work, threads=1, batch=1_000) == 2 * copy - 1_024


def test_sessions_are_counted_twice_because_they_are_renewed() -> None:
    many = KeyRegime(Keys.SESSIONS, 1_000_000)

    def needed(regime: KeyRegime) -> int:
        work = of_size(16, regime, SEAL_ONLY, messages=1_000_000)
        return gcm_bytes(work, threads=1, batch=1_024)

    assert needed(many) - needed(ONE_KEY) == 2 * 512 * 1_000_000


def test_too_much_is_skipped_with_both_figures(root: Path) -> None:
    with pytest.raises(Skip, match=r"need 15\.0 GB and 8\.6 GB are free.*sessions"):
        check_memory(15_000_000_000, root)
    check_memory(4 * GIB, root)
    with pytest.raises(Skip, match=r"need 4\.3 GB and 8\.6 GB"):
        check_memory(4 * GIB + 1, root)
    limit(root, "a", str(3 * GIB))
    check_memory(GIB, root)
    with pytest.raises(Skip, match=r"need 1\.1 GB and 2\.1 GB are free"):
        check_memory(GIB + 1, root)
