"""The same play with several seeds, because the host's times are drawn."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from sealift.lab.facts import ends
from sealift.lab.published import Measured
from sealift.lab.stats import Interval
from sealift.lab.values import Value


def seeds(first: int) -> Sequence[int]:
    """The seeds of a run, which begin with its own."""
    return [(first + more) % 2**64 for more in range(SEEDS)]


def spread_facts(name: str, values: Iterable[float]) -> dict[str, Value]:
    """One value a seed as facts of a cell: their mean, which has this name, and both ends."""
    every = list(values)
    named = zip((name, *ends(name, SEEDS)), (fmean(every), min(every), max(every)), strict=True)
    return {title: kept(value) for title, value in named}


def spread_in(facts: Mapping[str, Value], name: str) -> Measured:
    """What `spread_facts` put under this name: the mean of all seeds, and both ends."""
    mean, low, high = (float(facts[each]) for each in (name, *ends(name, SEEDS)))
    return Measured(Interval(mean, low, high, 1.0, SEEDS))


def kept(value: float) -> float:
    """With six significant digits."""
    return float(f"{value:.6g}")


SEEDS = 3
