"""Frames between two processes, as the lab exchanges and shows them."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import skip
from lab.test_experiments import found
from sealift import _sealift
from sealift.lab import registry, report, store
from sealift.lab.experiments import frames_between_processes as frames
from sealift.lab.native import NativeArm, exchange_frames
from sealift.lab.published import Match
from sealift.lab.result import Found
from sealift.lab.spec import Context, Scope, Skip, WrongResultError
from sealift.lab.summary import summarise
from sealift.lab.worker.guarded import Guarded
from synthetic_run import made, write_run

CONTEXT = Context(seed=1, folder=Path())
FULL = Scope(quick=False, cores=2, devices=("library", "cpu"))
# A stream of 64 KiB.
PUBLISHED_GROUP = 4


def exchanging(way: str, pattern: str, frame_bytes: int = 65_536, batch: int = 1) -> NativeArm:
    """An arm; a machine that forbids this way skips the test."""
    try:
        return exchange_frames(way, pattern, frame_bytes=frame_bytes, batch=batch, context=CONTEXT)
    except Skip as reason:
        skip(way, str(reason))


def children() -> set[str]:
    """The processes that this one has started."""
    tasks = Path("/proc/self/task").glob("*/children")
    return {pid for task in tasks for pid in task.read_text(encoding="ascii").split()}


def test_the_ways_are_those_of_the_experiment() -> None:
    assert _sealift.frame_ways() == list(frames.WAYS)


@pytest.mark.parametrize("pattern", [frames.PING_PONG, frames.STREAM])
@pytest.mark.parametrize("way", frames.WAYS)
def test_thousands_of_frames_arrive_right(way: str, pattern: str) -> None:
    arm = exchanging(way, pattern, frame_bytes=4_096)
    before = int(arm.verified()["frames_checked"])
    frame_count = 0
    while frame_count < 2_000:
        sample = arm.sample(0.002)
        assert sample.bytes == sample.operations * 4_096
        frame_count += sample.operations
    facts = arm.verified()
    assert facts["frames_checked"] == before + frame_count
    assert facts["checked_against"] == "the seed, every byte of every frame"
    assert ("round_trip" in facts) == (pattern == frames.PING_PONG)
    assert ("sealed by" in str(facts["detail"])) == (way == frames.SEALED)


def test_the_other_process_is_gone_with_its_arm() -> None:
    before = children()
    arm = exchanging(frames.RING, frames.STREAM)
    assert len(children() - before) == 1
    del arm
    assert not children() - before


def test_what_can_not_be_is_refused_with_what_would_be_right() -> None:
    with pytest.raises(ValueError, match='a way for frames of "udp": right would be ring, ring-'):
        exchanging("udp", frames.STREAM)
    with pytest.raises(ValueError, match='a pattern of frames of "swarm": right would be ping-'):
        exchanging(frames.RING, "swarm")
    with pytest.raises(ValueError, match="bytes of a frame of 8: right would be 16 to 67108864"):
        exchanging(frames.RING, frames.STREAM, frame_bytes=8)


def test_an_end_that_died_is_told_as_it_was_without_a_line_of_ours() -> None:
    before = children()
    arm = Guarded(exchanging("pipe", frames.STREAM), None)
    (pid,) = children() - before
    os.kill(int(pid), signal.SIGKILL)
    with pytest.raises(WrongResultError, match=r"^[^/]*the process at the other end has ended"):
        arm.sample(0.01)


def test_answering_where_nobody_can_ask_ends_at_once_and_says_why() -> None:
    code = "from sealift._sealift import answer_frames; answer_frames()"
    command = [sys.executable, "-P", "-c", code]
    ran = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60
    )
    assert ran.returncode == 1
    assert "ValueError: a descriptor for frames of another kind: right would be" in ran.stderr


def test_what_the_documents_frames_take_is_told_without_a_verdict() -> None:
    experiment = registry.find("004-I")
    speeds = {"ring": 12_000.0, "ring-sealed": 6_000.0, "pipe": 2_000.0, "unix-socket": 4_000.0}
    everything = found(experiment, lambda cell: speeds.get(str(cell["way"]), 0.0))
    said = experiment.says(everything)
    assert said.startswith(
        "Frames of 64 KiB, one after the other: a ring in memory that both have 12"
    )
    assert "sealed and opened on the way 6" in said
    assert "of what the system has, Unix sockets most, 4" in said
    assert experiment.says(Found((), ())) == ""


def test_the_published_speed_stands_beside_each_way_and_round_trips_on_the_page(
    tmp_path: Path,
) -> None:
    whole = registry.find("004-I")
    group = whole.groups(FULL)[PUBLISHED_GROUP]
    experiment = replace(whole, cells=lambda _: group)
    # A frame takes a nanosecond for each ten bytes: 10 GB/s, where the document has 0.15.
    how = made(
        ns=lambda cell: int(cell["frame_bytes"]) / 10, facts={"round_trip": "p50 7.5 µs of many"}
    )
    run = store.read(write_run(tmp_path / "run", how, [experiment], scope=FULL))
    (found,) = summarise(run).values()
    compared = experiment.published(found)
    assert len(compared) == len(frames.WAYS)
    assert {each.match for each in compared} == {Match.FASTER}
    assert all(each.published == 150 and each.unit == "MB/s" for each in compared)
    assert report.page(run).count("p50 7.5 µs of many") == len(found.verified)
