"""What a run says of how far it has come."""

import io
import sys

import pytest
from tests.lab.run import made_up as made

from sealift_lab.run.progress import Outlook, Progress, show_progress
from sealift_lab.run.schedule import GroupState, State


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def begin(progress: Progress) -> None:
    groups = [GroupState(0, (0, 1), 1), GroupState(1, (0, 1), 3)]
    progress.plan(State({"by-size": groups}, {}, frozenset(), is_wrong=False), 80.0)
    progress.begin("by-size")


def test_a_line_says_what_is_fastest_where_and_how_long_it_still_takes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = Clock()
    progress = Progress(made.plan(), clock_s=clock)
    begin(progress)
    progress.prepare({"size_bytes": 128, "device": "cpu"})
    progress.show()
    progress.block(0, {0: 20.0, 1: 10.0})
    progress.block(1, {0: 300.0, 1: 400.0})
    progress.block(1, {0: 500.0, 1: 400.0})
    clock.now_s += 5
    progress.show()
    clock.now_s += 5
    progress.show()
    clock.now_s += 40
    progress.show()
    assert capsys.readouterr().err.splitlines() == [
        "by-size: 33 %, preparing cpu at size_bytes=128, about 80 s left",
        "by-size: 83 %, library at size_bytes=128: 400 ns/operation, about 70 s left",
        "by-size: 83 %, library at size_bytes=128: 400 ns/operation, no result for 50 s, "
        "about 30 s left",
    ]


def test_what_is_left_follows_the_blocks_of_a_machine_that_became_slow() -> None:
    clock = Clock()
    progress = Progress(made.plan(), clock_s=clock)
    begin(progress)
    progress.begin("by-size", Outlook(blocks=10, seconds=20.0, later_s=5.0, most_s=60.0))

    def left_s(*blocks_s: float) -> float | None:
        """What is left after blocks that took so long."""
        for block_s in blocks_s:
            clock.now_s += block_s
            progress.block(0, {0: 20.0, 1: 10.0})
        assert progress.standing
        return progress.standing.left_s

    assert left_s() == 25, "as planned"
    # The first block has the preparations in it.
    assert left_s(10.0) == 15
    assert left_s(1.0) == 8 * 1.0 + 5
    assert left_s(5.0) == 7 * 3.0 + 5
    assert left_s(24.0) == 60 - 40, "its time is up then"
    progress.begin("by-size")
    clock.now_s += 1
    assert left_s(100.0) == -81, "nothing was said of this process"


def test_a_run_goes_on_when_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed(io.StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Closed())
    with show_progress(made.plan()) as progress:
        progress.say("something")
        begin(progress)
        progress.show()


def test_a_terminal_gets_a_bar_for_what_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with show_progress(made.plan()) as progress:
        progress.say("[bold] stays as it is")
        begin(progress)
        progress.block(1, {0: 500.0, 1: 400.0})
        progress.show()
    text = terminal.getvalue()
    assert "sealift: [bold] stays as it is" in text
    assert "by-size" in text
    assert "cpu at size_bytes=128: 400 ns/operation" in text
    assert "about 80 s left" in text
