"""What is needed and what is there, on made-up machines."""

from pathlib import Path

import pytest

from sealift_lab.machine.facts import check_memory, free_bytes
from sealift_lab.measure.native import gcm_bytes
from sealift_lab.model.arm import Skip
from sealift_lab.model.workload import ONE_KEY, SEAL_ONLY, KeyRegime, Keys, of_size

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


def test_what_is_free_is_the_least_of_machine_and_cgroups(root: Path) -> None:
    assert free_bytes(root) == 8 * GIB
    limit(root, "a/b", "max")
    assert free_bytes(root) == 8 * GIB
    limit(root, "a", str(4 * GIB))
    assert free_bytes(root) == 3 * GIB
    limit(root, "a/b", str(GIB // 2))
    assert free_bytes(root) == 0


def test_a_machine_that_has_no_figures_refuses_nothing(tmp_path: Path) -> None:
    assert free_bytes(tmp_path) is None
    check_memory(1 << 60, tmp_path)


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
