"""Times a Python function: the arm for experiments of one's own.

The loop is a Python loop, and a sample includes it: nothing is subtracted, because what a loop
costs around one function is not what it costs around another. Its cost around a function that does
nothing, some tens of nanoseconds a call, is reported as `loop_ns_per_call`, and as a share of a
call's time. Where that share is over 2 %, let one call do many operations and pass how many.
"""

import resource
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import repeat
from typing import Self

from sealift_lab.machine.facts import UnknownError, steal_s
from sealift_lab.model.arm import Arm, Sample, Value
from sealift_lab.model.units import format_percent


def timed(function: Callable[[], object], *, operations: int = 1, payload_bytes: int = 0) -> Arm:
    """Makes an arm of a function; calls it at once, to warm up and to find how often to call it.

    Ctrl-C is noticed between two calls. A sample in which another thread worked for it, or in which
    it slept, is not a clean one: the CPU time that is counted is that of the calling thread.

    Args:
        function: Called without arguments. It raises `sealift_lab.WrongResultError` when it notices
            that it computed something wrong.
        operations: How many operations one call does.
        payload_bytes: Payload of one operation in bytes; 0 where there is none.

    Raises:
        TypeError: If `function` can't be called.
        ValueError: If `operations` is below 1 or `payload_bytes` below 0.
    """
    if not callable(function):
        raise TypeError(f"timed({function!r}): right would be a function without arguments")
    counts = (operations, "operations a call", 1), (payload_bytes, "payload bytes an operation", 0)
    for count, name, least in counts:
        if type(count) is not int or count < least:
            raise ValueError(f"{count!r} {name}; right would be a whole number from {least}")
    return _Timed(function, operations, payload_bytes)


class Stopwatch:
    """Times the calling thread inside a `with`, and counts preemption and steal meanwhile.

    The thread's CPU clock and /proc/stat are read outside of the timed stretch: where the clock is
    virtual they cost microseconds each.
    """

    def __enter__(self) -> Self:
        """Starts."""
        self._steal_ns, self._switches = _steal_ns(), _switches()
        self._cpu_ns = time.thread_time_ns()
        self.ns = -time.perf_counter_ns()
        return self

    def __exit__(self, *_: object) -> None:
        """Stops."""
        self.ns += time.perf_counter_ns()
        self._cpu_ns = time.thread_time_ns() - self._cpu_ns
        self._switches = _switches() - self._switches
        self._steal_ns = _steal_ns() - self._steal_ns

    def sample(self, operations: int, payload_bytes: int) -> Sample:
        """The timed stretch as a sample of operations, with the payload of all of them together."""
        ns = max(1, self.ns)
        share, steal_ns = min(1.0, self._cpu_ns / ns), max(0, self._steal_ns)
        return Sample(ns, operations, payload_bytes, self._switches, share, steal_ns)


class _Timed:
    def __init__(self, function: Callable[[], object], operations: int, payload_bytes: int) -> None:
        self._function, self._operations, self._payload_bytes = function, operations, payload_bytes
        function()
        self._ns_per_call = _ns_per_call(function)
        self._calls = 0

    def sample(self, seconds: float) -> Sample:
        calls = max(1, round(seconds * 1e9 / self._ns_per_call))
        with Stopwatch() as watch:
            _call(self._function, calls)
        # The next sample is to be as long as wanted, even if the function slowed down since.
        self._ns_per_call = max(1.0, watch.ns / calls)
        self._calls += calls
        operations = calls * self._operations
        return watch.sample(operations, operations * self._payload_bytes)

    def report(self) -> Mapping[str, Value]:
        return {
            "checked_against": "nothing: the function checks itself",
            "calls": self._calls,
            "loop_ns_per_call": round(_loop_ns_per_call(), 1),
            "loop_share": format_percent(min(1.0, _loop_ns_per_call() / self._ns_per_call)),
        }


def _call(function: Callable[[], object], calls: int) -> None:
    for _ in repeat(None, calls):
        function()


def _ns_per_call(function: Callable[[], object]) -> float:
    """About how long a call takes, from as many as take a millisecond."""
    calls = 1
    while True:
        begin_ns = time.perf_counter_ns()
        _call(function, calls)
        passed_ns = time.perf_counter_ns() - begin_ns
        if passed_ns >= CALIBRATION_NS:
            return passed_ns / calls
        calls *= 2


@lru_cache(maxsize=1)
def _loop_ns_per_call() -> float:
    return min(_ns_per_call(lambda: None) for _ in range(LOOP_TRIES))


def _switches() -> int:
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw


def _steal_ns() -> int:
    """Time the hypervisor took from all cores since boot; 0 where the kernel doesn't count it."""
    try:
        return round(steal_s() * 1e9)
    except (UnknownError, OSError):
        return 0


CALIBRATION_NS = 1_000_000
LOOP_TRIES = 5
