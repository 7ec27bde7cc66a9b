"""Frames between two processes: every way, every byte, and ends that die."""

import os
import signal
from pathlib import Path

import pytest

from sealift_lab import _lab
from sealift_lab.experiments.document_004 import frames
from sealift_lab.measure.native import NativeArm, native
from sealift_lab.model.arm import Context, Skip

CONTEXT = Context(seed=1, folder=Path())


def exchange(way: str, pattern: str, frame_bytes: int = 65_536) -> NativeArm:
    """An arm; a machine that forbids this way skips the test."""
    try:
        work = {"way": way, "pattern": pattern, "frame_bytes": frame_bytes, "batch": 1}
        return native("frames", CONTEXT, **work)
    except Skip as reason:
        pytest.skip(f"{way}: {reason}")


def children() -> set[str]:
    """The processes that this one has started."""
    tasks = Path("/proc/self/task").glob("*/children")
    return {pid for task in tasks for pid in task.read_text(encoding="ascii").split()}


def test_the_ways_are_those_of_the_extension() -> None:
    assert _lab.frame_ways() == list(frames.WAYS)


@pytest.mark.parametrize("pattern", [frames.PING_PONG, frames.STREAM])
@pytest.mark.parametrize("way", frames.WAYS)
def test_frames_arrive_right(way: str, pattern: str) -> None:
    arm = exchange(way, pattern, frame_bytes=4_096)
    before = int(arm.report()["frames_checked"])
    sample = arm.sample(0.005)
    assert sample.bytes == sample.operations * 4_096
    facts = arm.report()
    assert facts["frames_checked"] == before + sample.operations
    assert ("round_trip" in facts) == (pattern == frames.PING_PONG)
    assert ("sealed by" in str(facts["detail"])) == (way == frames.SEALED)


def test_the_other_process_is_gone_with_its_arm() -> None:
    before = children()
    arm = exchange(frames.RING, frames.STREAM)
    assert len(children() - before) == 1
    del arm
    assert not children() - before


def test_an_end_that_died_is_reported() -> None:
    before = children()
    arm = exchange("pipe", frames.STREAM)
    (pid,) = children() - before
    os.kill(int(pid), signal.SIGKILL)
    with pytest.raises(_lab.NotMeasurableError, match="the process at the other end has ended"):
        arm.sample(0.01)
