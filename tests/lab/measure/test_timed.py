"""Timing a Python function: how often it is called, and what its report says."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from sealift_lab.measure.timed import Stopwatch, timed


@dataclass
class Waiting:
    """A function that takes a while by a clock that moves only while it is called."""

    ns: int
    now_ns: int = 0
    calls: int = 0

    def __call__(self) -> None:
        self.calls += 1
        self.now_ns += self.ns


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Waiting]:
    def make(ns: int) -> Waiting:
        function = Waiting(ns)
        monkeypatch.setattr(time, "perf_counter_ns", lambda: function.now_ns)
        return function

    return make


def test_a_function_is_called_as_often_as_fills_the_time(
    waiting: Callable[[int], Waiting],
) -> None:
    function = waiting(50_000)
    arm = timed(function, operations=10, payload_bytes=128)
    before = function.calls
    sample = arm.sample(0.005)
    assert function.calls - before == 100
    assert (sample.ns, sample.operations, sample.bytes) == (5_000_000, 1_000, 128_000)


def test_a_function_that_became_slower_is_called_less_often(
    waiting: Callable[[int], Waiting],
) -> None:
    function = waiting(10_000)
    arm = timed(function)
    function.ns = 500_000
    assert arm.sample(0.001).operations == 100
    assert arm.sample(0.001).operations == 2


def test_the_cost_of_the_loop_is_reported_and_calls_are_counted() -> None:
    arm = timed(lambda: None)
    operations = sum(arm.sample(0.001).operations for _ in range(2))
    facts = arm.report()
    assert facts["calls"] == operations
    assert isinstance(facts["loop_ns_per_call"], float)
    assert 1 < facts["loop_ns_per_call"] < 10_000
    slow = str(timed(partial(time.sleep, 0.01)).report()["loop_share"])
    assert re.fullmatch(r"0\.\d %", slow)


def test_sleep_is_not_work_of_this_thread() -> None:
    with Stopwatch() as watch:
        time.sleep(0.02)
    assert watch.sample(1, 0).cpu_share < 0.5
    with Stopwatch() as watch:
        sum(range(1_000_000))
    sample = watch.sample(3, 7)
    assert (sample.operations, sample.bytes) == (3, 7)
    assert 0 < sample.cpu_share <= 1


@pytest.mark.parametrize(
    ("function", "options", "error", "text"),
    [
        (3, {}, TypeError, "timed(3): right would be a function without arguments"),
        (int, {"operations": 0}, ValueError, "0 operations a call; right would be a whole number"),
        (int, {"operations": 1.5}, ValueError, "1.5 operations a call"),
        (int, {"payload_bytes": -1}, ValueError, "-1 payload bytes an operation"),
    ],
)
def test_what_can_not_be_timed_is_refused(
    function: Any, options: Any, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=re.escape(text)):
        timed(function, **options)
