"""`lab watch` of a run that another process writes."""

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.lab.cli.commands import invoke, refused
from tests.lab.measure.running import wait_until
from tests.lab.run import made_up as made

from sealift_lab.cli.watch import watch
from sealift_lab.measure.write_folder import hold, write_ending
from sealift_lab.model.run import SAMPLES, Ending


def begin(*words: object) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "sealift", "lab", "watch", *map(str, words)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)


def test_a_pipe_gets_lines_and_sigterm_ends_it(tmp_path: Path) -> None:
    run = made.folder(tmp_path / "run")
    made.add(run, SAMPLES, made.block(0, 0))
    with hold(run):
        watching = begin(run)
        assert watching.stdout
        first = watching.stdout.readline()
        watching.send_signal(signal.SIGTERM)
        out, err = watching.communicate(timeout=300)
    assert first.startswith("by-size: 17 %, library at size_bytes=16: 1.00 µs/operation; clock ")
    assert (watching.returncode, out, err) == (0, "", "")


def test_it_ends_with_the_run(tmp_path: Path) -> None:
    run = made.folder(tmp_path / "run")
    with hold(run):
        watching = begin(run)
        # It is there once it has printed a line.
        assert watching.stdout
        first = watching.stdout.readline()
        write_ending(run, Ending("time was up", "60 s were too short for 2 of 6 blocks"))
    wait_until(lambda: watching.poll() is not None)
    out, err = watching.communicate(timeout=300)
    assert watching.returncode == 0
    text = f"{run} time was up: 60 s were too short for 2 of 6 blocks"
    assert err == f"sealift: {text}; `sealift lab show {run}`\n"
    assert "Traceback" not in first + out


def test_without_a_run_it_waits_for_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run, ending = Path("runs/monday"), Ending("complete")
    with ExitStack() as held:
        steps = iter(
            [
                lambda: held.enter_context(hold(made.folder(run))),
                lambda: (write_ending(run, ending), held.close()),
            ]
        )
        monkeypatch.setattr("sealift_lab.cli.watch.sleep", lambda _: next(steps)())
        done = invoke("lab", "watch")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == f"sealift: {run} complete; `sealift lab show {run}`\n"


def test_sigterm_has_its_handler_back_and_another_thread_leaves_it_alone(tmp_path: Path) -> None:
    run = made.folder(tmp_path / "run")
    write_ending(run, Ending("complete"))
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        mine = signal.getsignal(signal.SIGTERM)
        watch(run)
        assert signal.getsignal(signal.SIGTERM) is mine
        with ThreadPoolExecutor() as pool:
            pool.submit(watch, run).result()
        assert signal.getsignal(signal.SIGTERM) is mine
    finally:
        signal.signal(signal.SIGTERM, before)


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    assert "is not there; name the folder of a run" in refused("lab", "watch", tmp_path / "none")
    assert invoke("lab", "watch", "-h").exit_code == 0
