"""Facts about a machine: a value or a reason, never a gap."""

import json
import os
from dataclasses import asdict
from pathlib import Path

import pytest

from sealift_lab.machine.facts import describe, usable_cores
from sealift_lab.machine.sensors import surroundings
from sealift_lab.model.run import Fact


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, "proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU\nflags\t: aes vaes\n")
    write(tmp_path, "proc/self/cgroup", "0::/a/b\n")
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


def test_a_machine_without_proc_gives_reasons(tmp_path: Path) -> None:
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
