"""Times a Python function: the arm for experiments of one's own.

The loop is a Python loop, and a sample holds it: nothing is subtracted, because what a loop costs
around one function is not what it costs around another. Its price around a function that does
nothing, some tens of nanoseconds a call, is told with the arm's record as `loop_ns_per_call`, and
as a share of what a call took. Where that share is over 2 %, let one call do many operations and
say how many.
"""

import resource
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import repeat
from types import TracebackType
from typing import Self

from sealift.lab.machine import UnknownError, steal_s
from sealift.lab.spec import Arm, Sample
from sealift.lab.units import NS_PER_S, format_share
from sealift.lab.values import Value


def timed(function: Callable[[], object], *, operations: int = 1, payload_bytes: int = 0) -> Arm:
    """Makes an arm of a function; calls it at once, to warm up and to find how often to call it.

    The function is called on one thread, and Ctrl-C is noticed between two calls. A sample in
    which another thread worked for it, or in which it slept, is not a clean one: the CPU time that
    is counted is that of the calling thread.

    Args:
        function: What to time; called without arguments. It raises
            `sealift.lab.WrongResultError` when it notices that it computed something wrong.
        operations: How many operations one call does.
        payload_bytes: Payload of one operation in bytes; 0 where there is none.

    Raises:
        TypeError: If `function` can't be called.
        ValueError: If `operations` is below 1 or `payload_bytes` below 0.
    """
    if not callable(function):
        raise TypeError(f"timed({function!r}): right would be a function without arguments")
    if type(operations) is not int or operations < 1:
        raise ValueError(f"{operations!r} operations a call; right would be a whole number above 0")
    if type(payload_bytes) is not int or payload_bytes < 0:
        raise ValueError(
            f"{payload_bytes!r} payload bytes an operation; right would be a whole number"
        )
    return _Timed(function, operations, payload_bytes)


class Stopwatch:
    """Times what the calling thread does inside a `with`, and what the system did to it.

    The thread's CPU clock and /proc/stat are read outside of the timed stretch: where the clock is
    virtual they cost microseconds each.
    """

    def __enter__(self) -> Self:
        """Starts."""
        self._steal_ns = -_stolen_ns()
        self._switches = -_switches()
        self._cpu_ns = -time.thread_time_ns()
        self.ns = -time.perf_counter_ns()
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        """Stops."""
        self.ns += time.perf_counter_ns()
        self._cpu_ns += time.thread_time_ns()
        self._switches += _switches()
        self._steal_ns += _stolen_ns()

    def sample(self, operations: int, payload_bytes: int) -> Sample:
        """What was timed, as a sample.

        Args:
            operations: How many were done.
            payload_bytes: Payload of all of them together.
        """
        ns = max(1, self.ns)
        return Sample(
            ns=ns,
            operations=operations,
            bytes=payload_bytes,
            involuntary_switches=self._switches,
            cpu_share=min(1.0, self._cpu_ns / ns),
            steal_ns=max(0, self._steal_ns),
        )


class _Timed:
    """An arm around a function."""

    def __init__(self, function: Callable[[], object], operations: int, payload_bytes: int) -> None:
        self._function = function
        self._operations = operations
        self._payload_bytes = payload_bytes
        function()
        self._ns_per_call = _ns_per_call(function)
        self._calls = 0

    def sample(self, seconds: float) -> Sample:
        calls = max(1, round(seconds * NS_PER_S / self._ns_per_call))
        with Stopwatch() as watch:
            _call(self._function, calls)
        # The next sample is to be as long as asked for, even if the function slowed down since.
        self._ns_per_call = max(1.0, watch.ns / calls)
        self._calls += calls
        operations = calls * self._operations
        return watch.sample(operations, operations * self._payload_bytes)

    def verified(self) -> Mapping[str, Value]:
        return {
            "checked_against": "nothing: the function checks itself",
            "calls": self._calls,
            "loop_ns_per_call": round(_loop_ns_per_call(), 1),
            "loop_share": format_share(min(1.0, _loop_ns_per_call() / self._ns_per_call)),
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
        took_ns = time.perf_counter_ns() - begin_ns
        if took_ns >= CALIBRATION_NS:
            return took_ns / calls
        calls *= 2


@lru_cache(maxsize=1)
def _loop_ns_per_call() -> float:
    return min(_ns_per_call(_nothing) for _ in range(LOOP_TRIES))


def _nothing() -> None:
    """What the price of the loop is measured with."""


def _switches() -> int:
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw


def _stolen_ns() -> int:
    """Time the hypervisor took from all cores since boot; 0 where the kernel doesn't tell."""
    try:
        return round(steal_s() * NS_PER_S)
    except (UnknownError, OSError):
        return 0


CALIBRATION_NS = 1_000_000
LOOP_TRIES = 5
