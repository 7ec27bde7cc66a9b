"""How long a run still takes, and what is said meanwhile, on made-up events."""

import io
import sys
from collections.abc import Sequence
from dataclasses import replace
from math import inf

import pytest

from lab import made_up_run as made
from sealift.lab.progress import LINE_EVERY_S, Course, Forecast, Lines, Step, telling


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s

    def passes(self, seconds: float) -> None:
        self.now_s += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


def step(name: str = "by-size", **changes: float) -> Step:
    """A step whose samples could fill hours."""
    fields = {"weight": 1.0, "blocks": 10, "blocks_least": 0, "samples": 100_000} | changes
    return Step(
        experiment=name,
        weight=fields["weight"],
        blocks=int(fields["blocks"]),
        blocks_least=int(fields["blocks_least"]),
        samples=int(fields["samples"]),
    )


def course(clock: Clock, steps: Sequence[Step], budget_s: float = 60.0) -> Course:
    names = dict.fromkeys(each.experiment for each in steps)
    experiments = [made.planned(name=name, blocks=5) for name in names]
    return Course(experiments, {}, Forecast(steps, budget_s, clock_s=clock))


def test_at_first_a_run_takes_its_budget(clock: Clock) -> None:
    forecast = Forecast([step(), step("other")], 60.0, clock_s=clock)
    assert forecast.left_s() == pytest.approx(60.0)
    assert Forecast([], 60.0, clock_s=clock).left_s() == 0


def test_shares_follow_weights_and_what_is_left(clock: Clock) -> None:
    forecast = Forecast([step(weight=1), step("other", weight=3)], 60.0, clock_s=clock)
    assert forecast.share_s(0) == pytest.approx(15.0)
    clock.passes(20.0)
    assert forecast.share_s(1) == pytest.approx(40.0)
    clock.passes(60.0)
    assert forecast.share_s(1) == 0


def test_blocks_that_are_measured_in_any_case_end_with_a_share_of_what_is_granted(
    clock: Clock,
) -> None:
    steps = [step(weight=1, blocks_least=8), step("other", weight=3)]
    forecast = Forecast(steps, 60.0, grace_s=4.0, clock_s=clock)
    assert forecast.most_s(0) == pytest.approx(16.0)
    forecast.begin(0)
    forecast.measuring(10)
    clock.passes(16.0)
    forecast.block()
    # Eight blocks of 16 s each are more than there can be.
    assert forecast.left_s() == pytest.approx(64.0 - 16.0)
    # Who took all that was granted took nothing from the next one's.
    assert (forecast.share_s(1), forecast.most_s(1)) == pytest.approx((44.0, 48.0))


def test_what_comes_after_the_last_step_is_kept_for_it(clock: Clock) -> None:
    forecast = Forecast([step(), step("other")], 60.0, grace_s=6.0, clock_s=clock)
    forecast.keep(10.0)
    assert (forecast.share_s(0), forecast.most_s(0)) == pytest.approx((25.0, 28.0))
    assert forecast.left_s() == pytest.approx(60.0)


def test_samples_that_can_not_fill_a_share_are_not_waited_for(clock: Clock) -> None:
    # Four samples of a quarter of a second each, and of their lead-ins.
    forecast = Forecast([step(samples=4), step("other", samples=8)], 60.0, clock_s=clock)
    assert forecast.left_s() == pytest.approx(3 * 1.25)


def test_what_is_computed_takes_what_it_says_and_its_share_where_it_says_nothing(
    clock: Clock,
) -> None:
    known, unknown = (replace(step(samples=900), computed_s=each) for each in (2.0, inf))
    assert Forecast([known, known], 60.0, clock_s=clock).left_s() == pytest.approx(4.0)
    assert Forecast([unknown], 60.0, clock_s=clock).left_s() == pytest.approx(60.0)
    forecast = Forecast([known], 60.0, clock_s=clock)
    forecast.begin(0)
    clock.passes(1.5)
    assert forecast.left_s() == pytest.approx(0.5)
    clock.passes(5.0)
    assert forecast.left_s() == 0


def test_what_is_computed_takes_its_time_whatever_the_budget_and_others_share_the_rest(
    clock: Clock,
) -> None:
    known = replace(step("model"), computed_s=4.0)
    steps = [step(weight=1), known, step("other", weight=3)]
    forecast = Forecast(steps, 60.0, clock_s=clock)
    assert (forecast.share_s(0), forecast.share_s(2)) == pytest.approx((14.0, 60.0))
    assert forecast.share_s(1) == pytest.approx(15.0), "as others, where that is more"
    short = Forecast(steps, 1.0, clock_s=clock)
    assert (short.share_s(0), short.share_s(1)) == pytest.approx((0.0, 3 * 4.0))
    assert Forecast([known, known], 1.0, clock_s=clock).left_s() == pytest.approx(8.0)
    short.begin(1)
    clock.passes(1.5)
    assert short.left_s() == pytest.approx(2.5)


def test_a_step_gets_what_it_needs_and_its_share_of_what_those_that_fit_leave(
    clock: Clock,
) -> None:
    first = replace(step(weight=1), prepared_s=5.0, enough_s=15.0)
    large = replace(step("large", weight=1), enough_s=50.0)
    last = replace(step("last", weight=3), enough_s=10.0)
    forecast = Forecast([first, large, last], 60.0, grace_s=0.0, clock_s=clock)
    # 30 s are left when `large`, which does not fit, is left out.
    assert forecast.share_s(0) == pytest.approx(20.0 + 30.0 / 4)
    assert forecast.planned_s("by-size") == pytest.approx(27.5)
    assert forecast.planned_s("last") == pytest.approx(32.5)
    assert forecast.planned_s("large") is None
    assert [forecast.fits(each) for each in range(3)] == [True, True, True]
    clock.passes(55.0)
    assert forecast.share_s(2) == pytest.approx(5.0)


def test_what_is_begun_is_finished_on_a_slow_machine_and_later_ones_have_no_time(
    clock: Clock,
) -> None:
    slow = replace(step(), prepared_s=2.0, enough_s=8.0, least_s=4.0)
    later = replace(slow, experiment="later")
    forecast = Forecast([slow, later], 30.0, grace_s=0.0, clock_s=clock)
    assert (forecast.share_s(0), forecast.most_s(0)) == pytest.approx((15.0, 30.0))
    assert forecast.fits(1)
    forecast.begin(0)
    clock.passes(14.0)
    forecast.measuring(10)
    # Preparing took (2 + 14) / (2 + 2) times as long as was expected.
    clock.passes(3.0)
    assert forecast.fits(1)
    clock.passes(2.0)
    assert not forecast.fits(1)


def test_what_is_left_of_a_step_follows_its_pace(clock: Clock) -> None:
    forecast = Forecast([step()], 60.0, clock_s=clock)
    forecast.begin(0)
    clock.passes(10.0)
    assert forecast.left_s() == pytest.approx(50.0)
    forecast.measuring(10)
    clock.passes(4.0)
    forecast.block()
    forecast.block()
    assert forecast.left_s() == pytest.approx(8 * 2.0)


def test_a_slow_step_ends_with_its_share(clock: Clock) -> None:
    forecast = Forecast([step()], 60.0, clock_s=clock)
    forecast.begin(0)
    forecast.measuring(10)
    clock.passes(20.0)
    forecast.block()
    assert forecast.left_s() == pytest.approx(40.0)
    clock.passes(50.0)
    assert forecast.left_s() == 0


def test_blocks_that_are_measured_in_any_case_are_waited_for(clock: Clock) -> None:
    forecast = Forecast([step(blocks_least=8)], 60.0, clock_s=clock)
    forecast.begin(0)
    forecast.measuring(10)
    clock.passes(20.0)
    forecast.block()
    assert forecast.left_s() == pytest.approx(7 * 20.0)


def test_blocks_of_later_steps_that_are_measured_in_any_case_take_what_others_took(
    clock: Clock,
) -> None:
    steps = [step(blocks_least=10), step("other"), step(blocks_least=10)]
    forecast = Forecast(steps, 60.0, clock_s=clock)
    forecast.begin(0)
    forecast.measuring(10)
    for _ in range(10):
        clock.passes(20.0)
        forecast.block()
    forecast.begin(1)
    assert forecast.left_s() == pytest.approx(10 * 20.0)
    # A page is made between steps; blocks take no longer for it.
    clock.passes(50.0)
    forecast.begin(2)
    assert forecast.left_s() == pytest.approx(10 * 20.0)
    forecast.measuring(10)
    assert forecast.left_s() == pytest.approx(10 * 20.0)


def test_blocks_of_later_steps_are_waited_for_from_the_first_block_on(clock: Clock) -> None:
    forecast = Forecast([step(blocks_least=10), step(blocks_least=10)], 60.0, clock_s=clock)
    forecast.begin(0)
    forecast.measuring(10)
    clock.passes(20.0)
    forecast.block()
    assert forecast.left_s() == pytest.approx((9 + 10) * 20.0)


def test_blocks_that_turned_out_not_to_be_there_are_not_waited_for(clock: Clock) -> None:
    forecast = Forecast([step(blocks_least=10)], 60.0, clock_s=clock)
    forecast.begin(0)
    forecast.measuring(2)
    clock.passes(1.0)
    forecast.block()
    assert forecast.left_s() == pytest.approx(1.0)


def test_preparing_is_expected_to_take_as_long_as_before(clock: Clock) -> None:
    steps = [step(samples=4), step("other", samples=4), step(samples=4)]
    forecast = Forecast(steps, 600.0, clock_s=clock)
    forecast.begin(0)
    clock.passes(8.0)
    forecast.measuring(10)
    # Each takes at most 1.25 s of samples; two preparations of 8 s are still to come.
    assert forecast.left_s() == pytest.approx(3 * 1.25 + 2 * 8.0)
    forecast.begin(1)
    assert forecast.left_s() == pytest.approx(2 * 1.25 + 2 * 8.0)


def test_a_line_says_who_is_how_fast_and_how_much_was_clean(clock: Clock) -> None:
    run = course(clock, [step()])
    run.begin(0, "by-size")
    assert run.state("by-size") == "preparing"
    run.preparing({"size_bytes": 128, "device": "cpu"})
    assert run.state("by-size") == "preparing cpu at size_bytes=128"
    run.measuring(10)
    assert run.state("by-size") == "measuring"
    for ns in (31.0, 30.0, 35.0):
        run.block(1, {0: 2 * ns, 1: ns}, samples=4, clean=3)
    assert run.state("by-size") == "cpu at size_bytes=128: 31.00 ns/message, 75 % clean"
    assert run.state("other") == ""
    assert run.done == {"by-size": 3}
    assert run.total("by-size") == 10


def test_times_of_one_group_are_not_mixed_with_those_of_another(clock: Clock) -> None:
    run = course(clock, [step()])
    run.begin(0, "by-size")
    run.measuring(10)
    run.block(0, {0: 5.0}, samples=1, clean=1)
    run.block(1, {0: 50.0}, samples=1, clean=1)
    run.block(0, {0: 7.0}, samples=1, clean=1)
    assert run.state("by-size").startswith("library at size_bytes=16: 6.000 ns")


def test_long_times_are_told_in_minutes(clock: Clock) -> None:
    assert course(clock, [step()], 119.0).left() == "about 119 s left"
    assert course(clock, [step()], 300.0).left() == "about 5 min left"
    assert course(clock, []).left() == "about 1 s left"


def test_plain_lines_come_every_ten_seconds(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    run = course(clock, [step()])
    lines = Lines(run, clock_s=clock)
    lines.renew()
    assert capsys.readouterr().err == ""
    run.begin(0, "by-size")
    lines.renew()
    assert capsys.readouterr().err == "by-size: 0 %, preparing, about 60 s left\n"
    run.measuring(10)
    clock.passes(LINE_EVERY_S - 0.1)
    run.block(0, {0: 5.0}, samples=1, clean=1)
    lines.renew()
    assert capsys.readouterr().err == ""
    clock.passes(0.1)
    lines.renew()
    said = capsys.readouterr()
    assert said.err == (
        "by-size: 10 %, library at size_bytes=16: 5.000 ns/message, 100 % clean, about 50 s left\n"
    )
    lines.say("something")
    assert capsys.readouterr().err == "sealift: something\n"
    assert said.out == ""


def test_a_run_goes_on_when_nobody_listens(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(io.StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Broken())
    Lines(course(clock, [step()]), clock_s=clock).say("something")


def test_a_terminal_gets_a_bar_for_each_experiment(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    run = course(clock, [step(), step("other")])
    with telling(run) as teller:
        run.begin(0, "by-size")
        run.measuring(10)
        run.block(1, {1: 12.5}, samples=1, clean=1)
        teller.renew()
        teller.say("no [such] device")
    shown = terminal.getvalue()
    assert "by-size" in shown
    assert "other" in shown
    assert "cpu at size_bytes=128: 12.50 ns/message, 100 % clean" in shown
    assert "sealift: no [such] device" in shown
    assert "s left" in shown
