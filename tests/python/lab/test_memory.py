"""What is needed and what is there, on made-up machines."""

from pathlib import Path

import pytest

from sealift.lab.memory import check_memory, free_bytes, memory_needed_bytes
from sealift.lab.plan import Cell
from sealift.lab.workload import ONE_KEY, SEAL_ONLY, Keys, Regime, of_size

GIB = 1 << 30


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="ascii")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, "proc/meminfo", f"MemTotal: 1 kB\nMemAvailable: {8 * GIB // 1_024} kB\n")
    write(tmp_path, "proc/self/cgroup", "0::/a/b\n")
    return tmp_path


def limit(root: Path, group: str, most: str) -> None:
    write(root, f"sys/fs/cgroup/{group}/memory.max", f"{most}\n")
    write(root, f"sys/fs/cgroup/{group}/memory.current", f"{2 * GIB}\n")
    write(
        root,
        f"sys/fs/cgroup/{group}/memory.stat",
        f"anon {GIB}\ninactive_file {GIB // 2}\nactive_file {GIB // 2}\n",
    )


def cell(regime: Regime, messages: int, *devices: str) -> Cell:
    return Cell(of_size(16, regime, SEAL_ONLY, messages=messages), 1, 1_024, devices)


def test_what_is_free_is_the_least_of_machine_and_cgroups(root: Path) -> None:
    assert free_bytes(root) == 8 * GIB
    limit(root, "a/b", "max")
    assert free_bytes(root) == 8 * GIB
    limit(root, "a", str(4 * GIB))
    assert free_bytes(root) == 3 * GIB
    limit(root, "a/b", str(GIB // 2))
    assert free_bytes(root) == 0


def test_a_machine_that_does_not_tell_refuses_nothing(tmp_path: Path) -> None:
    assert free_bytes(tmp_path) is None
    check_memory([cell(ONE_KEY, 2**32 - 1, "library")], tmp_path)


def test_sessions_are_counted_for_every_device() -> None:
    many = Regime(Keys.SESSIONS, 1_000_000)
    for devices in (("library",), ("library", "cpu", "cuda")):
        one = memory_needed_bytes([cell(ONE_KEY, 1_000_000, *devices)])
        # The largest arm has them twice for a moment, when they are renewed.
        held = 512 * 1_000_000 * (len(devices) + 1)
        assert memory_needed_bytes([cell(many, 1_000_000, *devices)]) - one == held


def test_too_much_is_refused_with_both_figures(root: Path) -> None:
    cells = [cell(Regime(Keys.SESSIONS, 10_000_000), 10_000_000, "library")]
    with pytest.raises(MemoryError, match=r"need 15\.0 GB and 8\.6 GB are free.*sessions"):
        check_memory(cells, root)
    limit(root, "a", str(3 * GIB))
    check_memory([cell(ONE_KEY, 1_000_000, "library")], root)
    limit(root, "a", str(GIB + GIB // 2))
    with pytest.raises(MemoryError, match=r"need 0\.5 GB and 0\.5 GB are free"):
        check_memory([cell(ONE_KEY, 1_000_000, "library")], root)
