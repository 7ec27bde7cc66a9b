"""From which size, or from how many messages at once, one device is the faster one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from sealift_lab.judge.judge import RunFiles, compare_rows
from sealift_lab.judge.verdicts import verdict
from sealift_lab.model.results import Estimate, Row, Verdict

Verdicts = Mapping[float, Verdict]
"""One device against another, by size or by messages at once."""


@dataclass(frozen=True)
class Crossing:
    """From where on one device is faster than another, at every place that was measured.

    Attributes:
        wins_from: The least such place; None where it is not faster at the largest one.
        loses_to: The largest place below at which it is slower: the crossing lies between. None
            where no smaller place is told apart.
        least: The smallest place that was measured of both.
        most: The largest one.
    """

    wins_from: float | None
    loses_to: float | None
    least: float
    most: float


@dataclass(frozen=True)
class BreakEven:
    """How many messages a batch needs so that a device of exact times is done earlier.

    Attributes:
        messages: By the measured time; None for never.
        fewest: By the upper end of its interval.
        most: By the lower end; None for never.
    """

    messages: int | None
    fewest: int | None
    most: int | None


def verdicts_by_place(
    run: RunFiles, one: Mapping[float, Row], other: Mapping[float, Row]
) -> dict[float, Verdict]:
    """Judges one device against another at every place that both were measured at."""
    return {
        at: compare_rows(run, one[at], other[at]).verdict
        for at in sorted(one.keys() & other.keys())
    }


def verdicts_of_models(
    one_ns: Callable[[float], float],
    other_ns: Callable[[float], float],
    places: Sequence[float],
    error: float = 0.0,
) -> dict[float, Verdict]:
    """The same for times that models give.

    Args:
        one_ns: Time of the one device at a place.
        other_ns: Time of the other one.
        places: Where they are compared.
        error: Share by which the worse of both models is off.
    """
    half = float(np.log1p(error))
    logs = {at: float(np.log(other_ns(at) / one_ns(at))) for at in sorted(places)}
    return {at: verdict(log, (log - half, log + half)) for at, log in logs.items()}


def crossing(verdicts: Verdicts) -> Crossing:
    """From where on a device is faster, to the end of what was measured.

    Raises:
        ValueError: If nothing was measured.
    """
    if not verdicts:
        raise ValueError("no place was measured of both devices; right would be one at least")
    *before, (last, wins_from, most) = stretches(verdicts)
    least = before[0][1] if before else wins_from
    if last is not Verdict.FASTER:
        return Crossing(None, None, least, most)
    loses_to = next((to for each, _, to in reversed(before) if each is Verdict.SLOWER), None)
    return Crossing(wins_from, loses_to, least, most)


def stretches(verdicts: Verdicts) -> list[tuple[Verdict, float, float]]:
    """Neighbouring places with one verdict: the verdict, the first place and the last."""
    by_verdict = groupby(sorted(verdicts), key=verdicts.__getitem__)
    parts = [(each, list(places)) for each, places in by_verdict]
    return [(each, places[0], places[-1]) for each, places in parts]


def break_even(message_ns: Callable[[int], float], time: Estimate, messages_most: int) -> BreakEven:
    """From how many messages a batch takes less a message than a device that was measured.

    The measured time stands for batches of every length; short ones cost a little more.

    Args:
        message_ns: Exact time a message in a batch of so many; it falls with their number.
        time: Measured, nanoseconds a message.
        messages_most: The longest batch that is tried; it stands for all longer ones.
    """
    ends = (time.value, time.high or time.value, time.low or time.value)
    return BreakEven(*(_least(message_ns, ns, messages_most) for ns in ends))


def _least(message_ns: Callable[[int], float], ns: float, most: int) -> int | None:
    """By doubling and then by halves."""
    high = 1
    while message_ns(high) >= ns:
        if high >= most:
            return None
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if message_ns(middle) >= ns else (low, middle)
    return high
