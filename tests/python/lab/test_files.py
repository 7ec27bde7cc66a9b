"""Readers and writers in processes that hold something."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import skip
from run_report import ran
from sealift.lab.files import arm, processes
from sealift.lab.files.arm import Spec, file_arm, try_file
from sealift.lab.files.condition import (
    CONDITIONS,
    CUDA,
    FREED,
    LOADED,
    MEMORY,
    NONE,
    RANK,
    REAL_RANK,
)
from sealift.lab.files.hold import Hold
from sealift.lab.spec import Context, Skip, WrongResultError

NATIVE = ("getc", "getc_unlocked", "fgets", "getline", "read+memchr", "mmap+memchr")
PARSERS = ("needletail", "seq_io", "python")
SINGLE, SEVERAL = "single-threaded", "multi-threaded"


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    yield Context(seed=1, folder=tmp_path)
    processes.end_processes()
    arm.close_files()


def reading(condition: str, reader: str = "getc", *, threads: int = 1, cold: bool = False) -> Spec:
    return Spec(condition, "e.csv", reader=reader, threads=threads, cold=cold, reads=3_000)


def taken_for(spec: Spec, context: Context) -> str:
    told = file_arm(spec, context).verified()["c_library_takes_it_for"]
    if told == "unknown":
        skip("glibc", "this C library doesn't say whether a process is single-threaded")
    ran("glibc")
    return str(told)


@pytest.mark.parametrize("condition", [NONE, "one idle thread"])
def test_every_reader_reads_all_of_the_file_and_says_so(condition: str, context: Context) -> None:
    for reader in (*NATIVE, *PARSERS):
        each = file_arm(reading(condition, reader), context)
        operations = sum(each.sample(0.0).operations for _ in range(4))
        facts = each.verified()
        assert facts["sequences_checked"] == 1_000 * (operations + (0 if reader == "python" else 1))
        assert facts["checked_against"] == "what the file's maker wrote"


def test_only_a_process_that_holds_no_thread_has_none(context: Context) -> None:
    file_arm(reading(NONE), context).sample(0.0)
    file_arm(reading("eight idle threads"), context).sample(0.0)
    lines = (context.folder / "e.csv").read_text().splitlines()
    assert lines[0].startswith("condition,how,threads_or_block_bytes,kind,asked_s,ns,")
    assert [line.rpartition(",")[2] for line in lines[1:]] == ["1", "9"]
    assert [line.split('"')[1] for line in lines[1:]] == [NONE, "eight idle threads"]


def test_the_c_library_remembers_threads_that_are_gone(context: Context) -> None:
    assert taken_for(reading(NONE), context) == SINGLE
    assert taken_for(reading("reserved memory"), context) == SINGLE
    assert taken_for(reading(FREED), context) == SEVERAL
    assert taken_for(reading(LOADED), context) == SEVERAL


def test_a_reader_with_threads_of_its_own_leaves_the_process_of_the_others_alone(
    context: Context,
) -> None:
    several = file_arm(reading(NONE, threads=2), context)
    assert several.sample(0.0).operations % 2 == 0
    assert taken_for(reading(NONE), context) == SINGLE
    assert taken_for(reading(NONE, threads=2), context) == SEVERAL


def test_a_writer_writes_and_reads_back_and_leaves_no_file(context: Context) -> None:
    for writer, block_bytes in (("putc", 1), ("fwrite", 4_096), ("write", 1 << 20)):
        spec = Spec(NONE, "e.csv", writer=writer, block_bytes=block_bytes, fsync=writer == "write")
        sample = file_arm(spec, context).sample(0.0)
        assert sample.bytes == sample.operations << 16
    assert [path.name for path in context.folder.iterdir()] == ["e.csv"]


def test_a_file_that_changed_is_a_wrong_result(context: Context) -> None:
    each = file_arm(reading(NONE, "python"), context)
    file = arm._reads(context.folder, 1, 3_000, "warm").path
    with file.open("r+b") as there:
        # The bases of the third thousand's first sequence.
        there.seek(2 * there.seek(0, os.SEEK_END) // 3 + 40)
        there.write(b"ACGTACGTACGTACGTT")
    each.sample(0.0)
    with pytest.raises(WrongResultError, match="python: part 2 of the file"):
        each.sample(0.0)


def made(spec: Spec, context: Context) -> arm.FileArm | str:
    """An arm, or why there is none."""
    try:
        return file_arm(spec, context)
    except Skip as why:
        return str(why)


def test_what_is_not_here_is_left_out_with_what_would_help(context: Context) -> None:
    for condition, words in ((CUDA, "NVIDIA's driver"), (REAL_RANK, "dpu")):
        each = made(reading(condition), context)
        assert not isinstance(each, str) or words in each.lower() or words in each
    with pytest.raises(ValueError, match="right would be nothing, one idle thread"):
        Hold("a cat")


def test_all_conditions_are_tried_by_one_process_that_keeps_nothing(context: Context) -> None:
    writer = Spec(LOADED, "e.csv", writer="write", block_bytes=4_096)
    tried = {spec.condition: untried(spec, context) for spec in map(reading, CONDITIONS)}
    assert {condition for condition, why in tried.items() if why} <= {*MEMORY, CUDA, REAL_RANK}
    assert untried(writer, context) == tried[NONE] == ""
    (process,) = processes._processes.values()
    assert isinstance(process, processes.Process)
    children = Path(f"/proc/{process._child.pid}/task/{process._child.pid}/children")
    assert children.read_text() == ""
    # What children held was theirs.
    assert taken_for(reading(NONE), context) == SINGLE
    assert list(context.folder.iterdir()) == []


def untried(spec: Spec, context: Context) -> str:
    """Why something can't be had, or ""."""
    try:
        try_file(spec, context)
    except Skip as why:
        return str(why)
    return ""


def test_a_reader_that_can_not_be_had_is_told_when_it_is_tried(context: Context) -> None:
    with pytest.raises(RuntimeError, match="right would be nothing, one idle thread"):
        try_file(reading("a cat"), context)
    with pytest.raises(RuntimeError, match="right would be getc, "):
        try_file(reading(NONE, "a cat"), context)


def test_ifstream_is_built_here_or_left_out_with_a_reason(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    each = made(reading(NONE, "ifstream"), context)
    if isinstance(each, str):
        assert "C++ compiler" in each
    else:
        assert sum(each.sample(0.0).operations for _ in range(4)) >= 4
    compiled: list[str] = []
    run, open_files = arm._compiled, descriptors()

    def counted(command: list[str]) -> str:
        compiled.append(command[0])
        return run(command)

    monkeypatch.setattr(arm, "_compiled", counted)
    for compiler, words in (("/nowhere/c++", "can't be run"), ("false", "failed: nothing said")):
        monkeypatch.setenv("CXX", compiler)
        for _ in range(2):
            with pytest.raises(Skip, match=words):
                file_arm(reading(NONE, "ifstream"), context)
    assert compiled == ["/nowhere/c++", "false"], "each was run once"
    assert descriptors() == open_files, "what was to hold the library is closed"
    arm._built.cache_clear()


def descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_a_cold_file_is_read_from_the_disk_or_left_out_with_a_reason(context: Context) -> None:
    each = made(reading(NONE, "read+memchr", cold=True), context)
    if isinstance(each, str):
        assert "stays in memory" in each
        return
    each.sample(0.0)
    facts = each.verified()
    assert facts["pages_in_memory"] == 0
    assert int(facts["pages_looked_at"]) > 0


def test_busy_threads_memory_and_our_engine_can_be_held_or_say_why(context: Context) -> None:
    for condition in ("a poller", "a spinner", "huge pages", "our engine"):
        assert condition in CONDITIONS
        each = made(reading(condition), context)
        if isinstance(each, str):
            assert condition in MEMORY, each
        else:
            assert each.sample(0.0).operations >= 1


def test_an_answer_that_nobody_waited_for_is_not_taken_for_the_next_one(context: Context) -> None:
    each = file_arm(reading(NONE), context)
    process = each._process
    process._asked += 1
    process._send({"number": process._asked, "do": "sample", "arm": 0, "seconds": 0.0})
    assert each.verified()["checked_against"] == "what the file's maker wrote"


def test_a_process_that_ended_is_told_and_hangs_nobody(context: Context) -> None:
    each = file_arm(reading(NONE), context)
    each._process._child.kill()
    with pytest.raises(RuntimeError, match="ended with code -9"):
        each.sample(0.0)


def test_processes_end_with_their_parent_and_leave_no_file(tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    with parent.stdout as told:
        children = [int(each) for each in told.readline().split()]
        descriptors = [os.pidfd_open(child) for child in children]
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        for child, descriptor in zip(children, descriptors, strict=True):
            assert has_ended(descriptor), child
            os.close(descriptor)
    assert list(tmp_path.iterdir()) == []


def has_ended(descriptor: int) -> bool:
    return bool(select.select([descriptor], [], [], 30)[0])


PARENT = f"""
import signal
import sys
from pathlib import Path
from sealift.lab.files import processes
from sealift.lab.files.arm import Spec, file_arm
from sealift.lab.spec import Context
context = Context(seed=1, folder=Path(sys.argv[1]))
for condition in ({NONE!r}, {RANK!r}):
    file_arm(Spec(condition, "e.csv", reader="getc", reads=1_000), context)
print(*(each._child.pid for each in processes._processes.values()), flush=True)
signal.pause()
"""
