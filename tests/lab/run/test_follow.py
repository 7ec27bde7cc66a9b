"""Run folders that another process writes, read while they grow."""

import errno
import fcntl
import os
from pathlib import Path

import pytest
from tests.lab.run import made_up as made

from sealift_lab.measure.write_folder import hold, write_ending
from sealift_lab.model.results import Origin
from sealift_lab.model.run import LOCK, REPORTS, SAMPLES, Ending
from sealift_lab.run.follow import Follower, ending_of
from sealift_lab.run.progress import Progress


def test_what_was_written_is_told_and_half_a_last_line_waits_for_its_end(tmp_path: Path) -> None:
    run = made.folder(tmp_path / "run", made.plan())
    progress = Progress(made.plan())
    follower = Follower(run, progress)
    follower.read()
    assert progress.standing is None
    made.add(run, SAMPLES, made.block(0, 0, clock_ghz=3.0))
    whole = (run / SAMPLES).read_bytes()
    with (run / SAMPLES).open("ab") as file:
        file.write(whole[:-30])
    follower.read()
    standing = progress.standing
    assert standing
    assert (standing.share, standing.group, standing.clock_ghz) == (1 / 6, 0, 3.0)
    assert standing.ns_per_operation == {0: 1_000, 1: 1_001}
    assert standing.payload_bytes == {0: 16, 1: 16}
    assert standing.left_s is None, "its budget was used up long ago"
    with (run / SAMPLES).open("ab") as file:
        file.write(whole[-30:])
    follower.read()
    assert progress.standing
    assert progress.standing.share == 2 / 6


def test_lines_that_are_cut_off_or_are_none_do_not_stop_it(tmp_path: Path) -> None:
    run = made.folder(tmp_path / "run", made.plan())
    progress = Progress(made.plan())
    follower = Follower(run, progress)
    made.add(run, SAMPLES, [*made.block(0, 0), made.line(0, block=1)])
    follower.read()
    whole = (run / SAMPLES).read_bytes().splitlines(keepends=True)
    # As of another plan.
    made.add(run, SAMPLES, made.block(7, 0))
    follower.read()
    # As after a process that was killed.
    (run / SAMPLES).write_bytes(b"".join(whole[:3]))
    follower.read()
    with (run / SAMPLES).open("ab") as file:
        file.write(b"nothing\n")
    made.add(run, SAMPLES, made.block(0, 1, restart=1))
    follower.read()
    assert progress.standing
    assert progress.standing.share == 2 / 6


def test_of_what_is_computed_the_cell_is_told(tmp_path: Path) -> None:
    plan = made.plan(made.planned(origin=Origin.SIMULATED, blocks=1))
    run = made.folder(tmp_path / "run", plan)
    progress = Progress(plan)
    follower = Follower(run, progress)
    made.add(run, REPORTS, [made.report(arm, facts={"cycles": 3.0}) for arm in (0, 1)])
    follower.read()
    assert progress.standing
    assert progress.standing.doing == "computing cpu at size_bytes=16"
    assert progress.standing.share == 1 / 4


def test_a_run_goes_on_as_long_as_a_process_holds_its_folder(tmp_path: Path) -> None:
    run = made.folder(tmp_path / "run", made.plan())
    stopped = ending_of(run)
    assert stopped
    assert stopped.ending == "stopped"
    assert stopped.reason.startswith("no process of this machine holds it; ")
    assert f"--resume {run}" in stopped.reason
    with hold(run):
        assert ending_of(run) is None
        write_ending(run, Ending("complete"))
        assert ending_of(run) is None, "its page is made"
    assert ending_of(run) == Ending("complete")


def test_where_the_lock_can_not_be_tried_the_ending_alone_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    run = made.folder(tmp_path / "run", made.plan())
    (run / LOCK).touch()
    monkeypatch.setattr(fcntl, "flock", lacking)
    assert ending_of(run) is None
    write_ending(run, Ending("complete"))
    assert ending_of(run) == Ending("complete")
