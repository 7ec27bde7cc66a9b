"""Break-evens in words."""

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise

from sealift.lab.breakeven.lines import MESSAGES_MOST
from sealift.lab.breakeven.needed import Needed
from sealift.lab.breakeven.pairs import Pair
from sealift.lab.finding import listed
from sealift.lab.vega import format_bytes


def pair_text(pair: Pair) -> str:
    """Which of two is faster at which sizes, and where that changes; without a stop."""
    earlier = pair.earlier
    winners = dict.fromkeys(name for name in earlier.values() if name)
    if not winners:
        return f"neither was shown to be faster {_everywhere(pair)}{_by_medians(pair)}"
    if len(winners) > 1:
        return _changes(pair)
    (winner,) = winners
    if None not in earlier.values():
        return f"{winner} is {_factors(pair)} as fast {_everywhere(pair)}: no break-even"
    won = _sizes([size for size, name in earlier.items() if name], pair.sizes)
    rest = _sizes([size for size, name in earlier.items() if not name], pair.sizes)
    return f"{winner} is faster {won}; {rest} neither was shown to be{_by_medians(pair)}"


def needed_text(found: Sequence[Needed]) -> str:
    """From how many messages a batch a card is done earlier, over all sizes; without a stop."""
    able = [each for each in found if each.messages is not None]
    if not able:
        return "no batch is long enough for the card to be done earlier"
    least = min(able, key=lambda each: each.messages or MESSAGES_MOST)
    sizes = [each.size_bytes for each in found]
    never = [each.size_bytes for each in found if each.messages is None]
    rest = f", and never {_sizes(never, sizes)}" if never else ""
    many = "message" if least.messages == 1 else "messages"
    return (
        f"a batch on the card is done earlier from {least.messages:,} {many} on "
        f"(of {format_bytes(least.size_bytes)}){rest}"
    )


def about(size_bytes: float) -> str:
    """A size between measured ones, with two digits: `91 B`, `1.4 KiB`, `190 KiB`."""
    unit, name = next((unit, name) for unit, name in UNITS if size_bytes >= unit or unit == 1)
    return f"{float(f'{size_bytes / unit:.2g}'):,g} {name}"


def _changes(pair: Pair) -> str:
    """Each change between the two nearest sizes at which it was shown."""
    won = [(size, name) for size, name in pair.earlier.items() if name]
    told = []
    for (low, below), (high, above) in pairwise(won):
        if below != above:
            there = [about(size) for size, _ in pair.meetings if low <= size <= high]
            near = f"near {' and '.join(there)}, " if there else ""
            told.append(
                f"break-even {near}between {format_bytes(low)} and {format_bytes(high)}: below "
                f"{below} is faster, above {above}"
            )
    return "; then ".join(told)


def _by_medians(pair: Pair) -> str:
    there = [about(size) for size, _ in pair.meetings]
    return f", though the lines cross near {listed(there)}" if there else ""


def _factors(pair: Pair) -> str:
    """How many times as fast the faster one is, by medians: the least and the most."""
    times = [max(each, 1 / each) for each in map(pair.times, pair.sizes)]
    ends = dict.fromkeys(f"{float(f'{each:.3g}'):,g}" for each in (min(times), max(times)))
    return f"{' to '.join(ends)} times"


def _everywhere(pair: Pair) -> str:
    return _sizes(pair.sizes, pair.sizes)


def _sizes(some: Iterable[float], every: Sequence[float]) -> str:
    """`at 16 B`, `from 16 B to 1 KiB`, `from 16 B to 1 KiB and at 1 MiB`."""
    wanted = set(some)
    runs = [list(group) for is_in, group in groupby(every, key=wanted.__contains__) if is_in]
    told = (
        f"at {format_bytes(run[0])}"
        if len(run) == 1
        else f"from {format_bytes(run[0])} to {format_bytes(run[-1])}"
        for run in runs
    )
    return listed(list(told))


UNITS = ((1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))
