"""Readers and writers in processes that hold something."""

import csv
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.lab.measure.running import wait_until

from sealift_lab.experiments.document_001 import processes
from sealift_lab.experiments.document_001.processes import FREED, LOADED, NONE, RANK, FileArm
from sealift_lab.model.arm import Cell, Context, Skip, WrongResultError

NATIVE = ("getc", "getc_unlocked", "fgets", "getline", "read+memchr", "mmap+memchr")
PARSERS = ("needletail", "seq_io", "python")
READS = 3_000


@pytest.fixture(name="context")
def fixture_context(tmp_path: Path) -> Iterator[Context]:
    yield Context(seed=1, folder=tmp_path)
    for each in processes.processes.values():
        each.end()
    processes.processes.clear()
    processes.background.clear()


def reading(condition: str, reader: str = "getc", *, threads: int = 1, cache: str = "warm") -> Cell:
    return {"condition": condition, "reader": reader, "threads": threads, "cache": cache}


def writing(condition: str, writer: str, block_bytes: int) -> Cell:
    fsync = "yes" if writer == "write" else "no"
    return {"condition": condition, "writer": writer, "block_bytes": block_bytes, "fsync": fsync}


def made(cell: Cell, context: Context) -> FileArm:
    return processes.file_arm(cell, context, reads=READS)


def evidence(context: Context, figure: str = "001-F2") -> list[dict[str, str]]:
    with (context.folder / f"{figure}-evidence.csv").open(encoding="utf-8") as file:
        return [*csv.DictReader(file)]


def arm_or_why(cell: Cell, context: Context) -> FileArm | str:
    try:
        return made(cell, context)
    except Skip as skip:
        return str(skip)


def is_single_threaded(cell: Cell, context: Context) -> bool:
    """What the C library takes the process of an arm for."""
    name = made(cell, context).report()["c_library_takes_it_for"]
    if name == "unknown":
        pytest.skip("this C library doesn't say whether a process is single-threaded")
    return name == "single-threaded"


@pytest.mark.parametrize("condition", [NONE, "one idle thread"])
def test_every_reader_reads_all_of_the_file_and_reports_it(
    condition: str, context: Context
) -> None:
    for reader in (*NATIVE, *PARSERS):
        arm = made(reading(condition, reader), context)
        operations = sum(arm.sample(0.0).operations for _ in range(4))
        facts = arm.report()
        warm_up = 0 if reader == "python" else 1
        assert facts["sequences_checked"] == 1_000 * (operations + warm_up)
        assert facts["checked_against"] == "what the file's maker wrote"


def test_only_a_process_that_holds_no_thread_has_none(context: Context) -> None:
    for condition in (NONE, "eight idle threads", "a spinner", "our engine"):
        made(reading(condition), context).sample(0.0)
    threads = {line["condition"]: int(line["threads_alive"]) for line in evidence(context)}
    assert (threads[NONE], threads["eight idle threads"], threads["a spinner"]) == (1, 9, 2)


def test_another_process_holds_one_condition_at_a_time_and_the_reader_none(
    context: Context,
) -> None:
    def wait_for_threads(pid: int | None, count: int) -> None:
        """The system lists a thread a moment longer than who joins it waits."""
        wait_until(lambda: len(list(Path(f"/proc/{pid}/task").iterdir())) == count)

    held = (NONE, "eight idle threads", RANK, FREED, LOADED, "touched memory")
    arms = {
        condition: processes.background_arm(reading(condition), context, reads=READS)
        for condition in held
    }
    for condition, others in zip(held, (0, 8, 8, 0, 8, 0), strict=True):
        assert arms[condition].sample(0.0).operations
        assert [*processes.background] == [condition]
        ((_, holder),) = processes.background.items()
        wait_for_threads(holder.child.pid, 1 + others)
        assert arms[condition].report()["c_library_takes_it_for"] != "multi-threaded"
    assert len({arm.process.child.pid for arm in arms.values()}) == 1
    first = processes.processes["eight idle threads", "in the background"]
    wait_for_threads(first.child.pid, 1)
    lines = evidence(context, "001-F2-background")
    assert {line["threads_alive"] for line in lines} == {"1"}
    tables = {line["condition"]: int(line["holders_page_tables_kb"]) for line in lines}
    # 512 MiB in pages of 4 KiB take 1 MiB of page tables.
    assert tables["touched memory"] - tables[NONE] > 900
    assert all(int(line["page_tables_kb"]) > 0 for line in lines)


def test_what_a_foreign_library_held_ends_with_its_process(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    arm = processes.background_arm(reading("one idle thread"), context, reads=READS)
    (holder,) = processes.background.values()
    monkeypatch.setitem(processes.FOREIGN, "one idle thread", lambda: None)
    processes.background_arm(reading(NONE), context, reads=READS)
    assert not holder.child.is_alive()
    assert arm.sample(0.0).operations, "another one holds it"


def test_the_c_library_remembers_threads_that_are_gone(context: Context) -> None:
    for condition in (NONE, "reserved memory", FREED, LOADED):
        is_alone = condition not in (FREED, LOADED)
        assert is_single_threaded(reading(condition), context) == is_alone, condition


def test_a_reader_with_threads_leaves_the_process_of_the_others_alone(context: Context) -> None:
    several = made(reading(NONE, threads=2), context)
    assert several.sample(0.0).operations % 2 == 0
    assert is_single_threaded(reading(NONE), context)
    assert not is_single_threaded(reading(NONE, threads=2), context)


def test_a_writer_writes_and_reads_back_and_leaves_no_file(context: Context) -> None:
    for writer, block_bytes in (("putc", 1), ("fwrite", 4_096), ("write", 1 << 20)):
        sample = made(writing(NONE, writer, block_bytes), context).sample(0.0)
        assert sample.bytes == sample.operations << 16
    assert [path.name for path in context.folder.iterdir()] == ["001-W1-evidence.csv"]


def test_a_file_that_changed_is_a_wrong_result(context: Context) -> None:
    arm = made(reading(NONE, "python"), context)
    _, path, _ = processes.short_reads(context.folder, 1, READS, "warm")
    with Path(path).open("r+b") as file:
        # The bases of the third thousand's first sequence.
        file.seek(2 * file.seek(0, os.SEEK_END) // 3 + 40)
        file.write(b"ACGTACGTACGTACGTT")
    with pytest.raises(WrongResultError, match="python: part 2 of the file"):
        # A part that was in a buffer already is right once more.
        list(map(arm.sample, [0.0] * 6))


def test_all_conditions_are_checked_by_one_process_that_lets_go_of_each(context: Context) -> None:
    why = {}
    for condition in processes.CONDITIONS:
        try:
            processes.check_file(reading(condition), context)
        except Skip as skip:
            why[condition] = str(skip)
    assert set(why) <= {*processes.MEMORY, processes.CUDA, processes.REAL_RANK}
    assert "NVIDIA's driver" in why.get(processes.CUDA, "NVIDIA's driver")
    assert "dpu" in why.get(processes.REAL_RANK, "dpu")
    processes.check_file(writing(LOADED, "write", 4_096), context)
    ((key, process),) = processes.processes.items()
    assert key == (NONE, "for checks")
    if processes.CUDA in why:
        assert len(list(Path(f"/proc/{process.child.pid}/task").iterdir())) == 1
    assert is_single_threaded(reading(NONE), context), "what was checked was not held there"
    assert list(context.folder.iterdir()) == []
    with pytest.raises(RuntimeError, match="right would be nothing, one idle thread"):
        processes.check_file(reading("a cat"), context)
    with pytest.raises(RuntimeError, match="right would be getc, "):
        processes.check_file(reading(NONE, "a cat"), context)


def open_files() -> set[tuple[str, str]]:
    """Numbers of this process's open files, and what they are; of the listing itself, nothing."""
    found = set()
    for file in list(Path("/proc/self/fd").iterdir()):
        with suppress(FileNotFoundError):
            found.add((file.name, str(file.readlink())))
    return found


def test_ifstream_is_built_or_skipped_with_a_reason(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    arm = arm_or_why(reading(NONE, "ifstream"), context)
    if isinstance(arm, str):
        assert "apt-get install g++" in arm
    else:
        assert sum(arm.sample(0.0).operations for _ in range(4)) >= 4
    before = open_files()
    for compiler, words in (
        ("/nowhere/c++", "is not on PATH"),
        ("false", "failed: without a mess"),
    ):
        monkeypatch.setenv("CXX", compiler)
        with pytest.raises(Skip, match=words):
            made(reading(NONE, "ifstream"), context)
    assert open_files() <= before


def test_a_cold_file_is_read_from_the_disk_or_skipped_with_a_reason(context: Context) -> None:
    arm = arm_or_why(reading(NONE, "read+memchr", cache="cold"), context)
    if isinstance(arm, str):
        assert "stays in memory" in arm
        return
    arm.sample(0.0)
    facts = arm.report()
    assert facts["pages_in_memory"] == 0
    assert int(facts["pages_looked_at"]) > 0


def test_a_reply_that_nobody_waited_for_is_not_taken_for_the_next_one(context: Context) -> None:
    arm = made(reading(NONE), context)
    arm.process.requests += 1
    arm.process.pipe.send((arm.process.requests, "sample", {"arm": 0, "seconds": 0.0}))
    assert arm.report()["checked_against"] == "what the file's maker wrote"


def test_a_process_that_ended_is_reported_and_hangs_nobody(context: Context) -> None:
    arm = made(reading(NONE), context)
    arm.process.child.kill()
    with pytest.raises(RuntimeError, match="ended with code -9"):
        arm.sample(0.0)


def test_processes_end_with_their_parent_and_leave_no_file(tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    with parent.stdout as pipe:
        children = [int(each) for each in pipe.readline().split()]
        descriptors = [os.pidfd_open(child) for child in children]
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        for child, descriptor in zip(children, descriptors, strict=True):
            assert select.select([descriptor], [], [], 30)[0], child
            os.close(descriptor)
    assert len(children) == 2
    assert list(tmp_path.iterdir()) == []


PARENT = f"""
import signal
import sys
from pathlib import Path
from sealift_lab.experiments.document_001.processes import file_arm
from sealift_lab.model.arm import Context
context = Context(seed=1, folder=Path(sys.argv[1]))
cell = {{"reader": "getc", "threads": 1, "cache": "warm"}}
arms = [
    file_arm({{"condition": name, **cell}}, context, reads=1_000) for name in ({NONE!r}, {RANK!r})
]
print(*(arm.process.child.pid for arm in arms), flush=True)
signal.pause()
"""
