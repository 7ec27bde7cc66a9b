"""Facts about a machine: a value or a reason, never a gap."""

import json
from dataclasses import fields, replace
from pathlib import Path

import pytest

from sealift.lab.machine import Fact, Machine, describe


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(
        tmp_path,
        "proc/cpuinfo",
        "processor\t: 0\nmodel name\t: Some CPU\nflags\t\t: fpu aes vaes\n",
    )
    write(tmp_path, "proc/self/cgroup", "0::/a/b\n")
    write(tmp_path, "proc/loadavg", "1.50 1.00 0.50 1/100 4711\n")
    write(tmp_path, "proc/stat", "cpu  1 2 3 4 5 6 7 250 0 0\ncpu0 1 2 3 4 5 6 7 250 0 0\n")
    write(tmp_path, "sys/fs/cgroup/a/cpu.max", "150000 100000\n")
    write(tmp_path, "sys/fs/cgroup/a/b/cpu.max", "max 100000\n")
    return tmp_path


def test_every_fact_of_this_machine_has_a_value_or_a_reason() -> None:
    machine = describe()
    for field in fields(Machine):
        fact = getattr(machine, field.name)
        assert (fact.value is None) != (fact.reason is None), field.name
        assert str(fact)
    assert machine.usable_cores >= 1
    assert json.loads(json.dumps(machine.as_dict(), allow_nan=False))


def test_facts_are_read_from_proc_and_sys(root: Path) -> None:
    machine = describe(root)
    assert machine.cpu_model.value == "Some CPU"
    assert machine.cpu_flags.value == ("aes", "vaes")
    assert machine.load_1min.value == 1.5
    assert machine.steal_s.value == pytest.approx(2.5)


def test_the_quota_is_the_tightest_one_on_the_way_up(root: Path) -> None:
    assert describe(root).cores_quota.value == 1.5
    write(root, "sys/fs/cgroup/a/b/cpu.max", "50000 100000\n")
    assert describe(root).cores_quota.value == 0.5
    write(root, "sys/fs/cgroup/a/b/cpu.max", "300000 100000\n")
    assert describe(root).cores_quota.value == 1.5


def test_a_machine_without_proc_gives_reasons(tmp_path: Path) -> None:
    machine = describe(tmp_path)
    for fact in (machine.cpu_model, machine.cores_quota, machine.load_1min, machine.steal_s):
        assert fact.value is None
        assert "No such file or directory" in str(fact)


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
    found = getattr(describe(root), fact)
    assert found.value is None
    assert reason in found.reason


def test_usable_cores_are_those_that_mask_and_quota_both_allow(root: Path) -> None:
    machine = replace(describe(root), cores_affinity=Fact(8, None))
    assert machine.usable_cores == 1
    assert replace(machine, cores_quota=Fact(4.0, None)).usable_cores == 4
    assert replace(machine, cores_quota=Fact(None, "no quota")).usable_cores == 8


def test_a_fact_is_a_value_or_a_reason_and_not_both() -> None:
    for value, reason in ((1, "why"), (None, None)):
        with pytest.raises(ValueError, match="a value or a reason"):
            Fact(value, reason)
