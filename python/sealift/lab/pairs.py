"""From which message size on one of two devices is the faster one."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from sealift.lab.costs import Line

if TYPE_CHECKING:
    from sealift import Card


@runtime_checkable
class Straight(Protocol):
    """What batches take on a device, as a straight line: a `Cost` is one, and a `Line`."""

    @property
    def setup_ns(self) -> float:
        """What every batch takes."""

    @property
    def per_message_ns(self) -> float:
        """What each message adds."""

    @property
    def per_byte_ns(self) -> float:
        """What each byte adds."""


@dataclass(frozen=True)
class Pair:
    """From which message size on one device is at least as fast as another.

    Attributes:
        device: The one.
        other: The other one.
        is_faster: "always", "never", "from" a size, "up to" one, "between" two, or "untold" where
            what is known doesn't tell them apart.
        least_bytes: The smallest size that this is said of.
        most_bytes: The largest one.
        origin: "fitted" by straight lines, or "projected" where a card is one of the two.
        message_bytes: That size, or the smaller one of the two; else None.
        message_bytes_most: The larger one of two; else None.
    """

    device: str
    other: str
    is_faster: str
    least_bytes: int
    most_bytes: int
    origin: str
    message_bytes: float | None = None
    message_bytes_most: float | None = None


@dataclass(frozen=True)
class Within:
    """What a comparison holds for.

    Attributes:
        least_bytes: The smallest message that was measured.
        most_bytes: The largest one.
        noise: Devices that differ less at every size are not told apart, as a share.
    """

    least_bytes: int
    most_bytes: int
    noise: float


def pairs(
    costs: "Mapping[str, Straight | Card]", messages: int, within: Within
) -> tuple[Pair, ...]:
    """Compares every two devices on batches of so many messages, at the sizes that were measured.

    They are told apart where they differ by more than the noise, and than any of both lines is off.
    """
    return tuple(
        _pair(one, other, costs[one], costs[other], messages, within)
        for one, other in combinations(costs, 2)
    )


def in_words(found: Iterable[Pair], cards: Collection[str] = ()) -> Iterator[str]:
    """Which devices are faster than which others, from which message size on; sentences.

    Args:
        found: From `pairs`.
        cards: Names of those that are projected.
    """
    always: dict[tuple[str, str], list[str]] = {}
    rest = []
    for pair in found:
        one, other = (_named(name, cards) for name in (pair.device, pair.other))
        sizes = f"from {pair.least_bytes:,} to {pair.most_bytes:,} bytes"
        if pair.is_faster == "always":
            always.setdefault((one, sizes), []).append(other)
        elif pair.is_faster == "never":
            always.setdefault((other, sizes), []).append(one)
        elif pair.is_faster == "untold":
            rest.append(f"{sizes} a message {one} and {other} are not told apart")
        else:
            rest.append(_changing(pair, one, other))
    yield from _in_order(always)
    yield from rest


def _in_order(always: Mapping[tuple[str, str], list[str]]) -> Iterator[str]:
    """Who is at least as fast as whom; what follows from two of it isn't said."""
    nexts: dict[tuple[str, str], list[str]] = {}
    for (device, sizes), others in always.items():
        behind = {each for other in others for each in always.get((other, sizes), ())}
        nexts[device, sizes] = [other for other in others if other not in behind]
    followed = {(others[0], sizes) for (_, sizes), others in nexts.items() if len(others) == 1}
    for (device, sizes), others in nexts.items():
        if (device, sizes) in followed:
            continue
        told = f"{device} is at least as fast as {_listed(others)}"
        while len(others) == 1 and (one := others[0], sizes) in nexts:
            others = nexts[one, sizes]
            told += f", {one} as {_listed(others)}"
        yield f"{told} {sizes}"


def _pair(
    one: str,
    other: str,
    cost: "Straight | Card",
    against: "Straight | Card",
    messages: int,
    within: Within,
) -> Pair:
    low, high = within.least_bytes, within.most_bytes
    are_lines = isinstance(cost, Straight) and isinstance(against, Straight)
    inside = () if are_lines else (1 << power for power in range(high.bit_length()))
    sizes = sorted({low, *(size for size in inside if low < size < high), high})
    apart = max(within.noise, _worst_share(cost), _worst_share(against))
    rest = (low, high, "fitted" if are_lines else "projected")

    def times(size: int) -> tuple[float, float]:
        return _batch_ns(cost, messages, size), _batch_ns(against, messages, size)

    if all(abs(mine - theirs) < apart * min(mine, theirs) for mine, theirs in map(times, sizes)):
        return Pair(one, other, "untold", *rest)

    def is_first(size: int) -> bool:
        mine, theirs = times(size)
        return mine <= theirs

    sides = [(size, is_first(size)) for size in sizes]
    begins = sides[0][1]
    changes: list[float] = [
        _change(below, above, is_first)
        for (below, before), (above, then) in pairwise(sides)
        if before != then
    ]
    if not changes:
        return Pair(one, other, "always" if begins else "never", *rest)
    if len(changes) == 1:
        if isinstance(cost, Straight) and isinstance(against, Straight):
            changes = [min(max(_crossing(cost, against, messages), low), high)]
        return Pair(one, other, "up to" if begins else "from", *rest, changes[0])
    faster, slower = (other, one) if begins else (one, other)
    return Pair(faster, slower, "between", *rest, changes[0], changes[-1])


def _crossing(one: Straight, other: Straight, messages: int) -> float:
    """At which size two lines that cross do; 0 where they cross by rounding only."""
    if one.per_byte_ns == other.per_byte_ns:
        return 0.0
    setup_ns = (one.setup_ns - other.setup_ns) / messages
    more_ns = setup_ns + one.per_message_ns - other.per_message_ns
    return -more_ns / (one.per_byte_ns - other.per_byte_ns)


def _worst_share(cost: "Straight | Card") -> float:
    return cost.worst_share if isinstance(cost, Line) else 0.0


def _named(name: str, cards: Collection[str]) -> str:
    return f"{name} (projected)" if name in cards else name


def _change(low: int, high: int, is_first: Callable[[int], bool]) -> int:
    """The least size above one that is on the other side than it, as another one is."""
    there = is_first(high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_first(middle) == there else (middle, high)
    return high


def _batch_ns(cost: "Straight | Card", messages: int, message_bytes: int) -> float:
    if isinstance(cost, Straight):
        a_message_ns = cost.per_message_ns + cost.per_byte_ns * message_bytes
        return cost.setup_ns + messages * a_message_ns
    return cost.predict(messages, message_bytes).batch_ns


def _changing(pair: Pair, one: str, other: str) -> str:
    size = _about(pair.message_bytes)
    if pair.is_faster == "between":
        most = _about(pair.message_bytes_most)
        return f"between about {size} and {most} bytes a message {one} is faster than {other}"
    first, then = (other, one) if pair.is_faster == "from" else (one, other)
    return (
        f"from {pair.least_bytes:,} to about {size} bytes a message {first} is faster than {then}, "
        f"from there to {pair.most_bytes:,} {then}"
    )


def _about(size: float | None) -> str:
    return f"{float(f'{size or 0.0:.2g}'):,.0f}"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
