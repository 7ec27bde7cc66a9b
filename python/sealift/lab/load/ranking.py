"""Which device comes first; those that the samples don't tell apart share a rank."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sealift.lab.load.serving import Served, State
from sealift.lab.result import Origin, Row
from sealift.lab.stats import Verdict

Judge = Callable[[int, str, str], Row | None]
"""A device judged against another, in batches of a length: messages, the other, the one."""


@dataclass(frozen=True)
class Ranked:
    """A device with its rank.

    Attributes:
        served: The device under the load.
        rank: From 1; of a card the place that it would take.
        judged: As the SAME as the first of its rank, or UNSURE; None for that one and for cards.
    """

    served: Served
    rank: int
    judged: Row | None = None

    @property
    def name(self) -> str:
        """Of the device."""
        return self.served.device.name

    @property
    def is_projected(self) -> bool:
        """Whether the rank is a guess."""
        return _is_projected(self.served)


def rank(everyone: Sequence[Served], judge: Judge) -> tuple[Ranked, ...]:
    """Orders devices: those that were measured, and after them the cards.

    Who does what is asked for comes first, then who costs this machine's processors less; without a
    rate who does more messages a second. Each device that was measured is judged against the first
    of its rank, in that one's batches.

    Args:
        everyone: Devices under one load.
        judge: What the samples tell.
    """
    real = sorted((each for each in everyone if not _is_projected(each)), key=_key)
    ranked: list[Ranked] = []
    while real:
        first, *others = real
        judged = [(each, _judged(first, each, judge)) for each in others]
        peers = [(each, row) for each, row in judged if row and _is_untold(row)]
        place = len(ranked) + 1
        ranked += [Ranked(first, place), *(Ranked(each, place, row) for each, row in peers)]
        real = [each for each in others if all(each is not peer for peer, _ in peers)]
    cards = sorted((each for each in everyone if _is_projected(each)), key=_key)
    keys = [_key(each.served) for each in ranked]
    return (*ranked, *(Ranked(card, 1 + sum(key < _key(card) for key in keys)) for card in cards))


def _judged(first: Served, other: Served, judge: Judge) -> Row | None:
    if first.state is not other.state:
        return None
    return judge(first.used.batch.messages, first.device.name, other.device.name)


def _is_untold(row: Row) -> bool:
    """Whether two devices may be as fast as each other.

    A rank is less than a verdict: what lies beyond three times the noise is told apart, although
    another program took time meanwhile or the intervals of all together are too wide.
    """
    if row.verdict is not Verdict.UNSURE or row.ratio is None:
        return row.verdict in UNTOLD
    far = 1 + FAR_NOISE * row.noise_floor
    return row.ratio.high >= 1 / far and row.ratio.low <= far


def _key(served: Served) -> tuple[float, float]:
    used = served.used
    if used.cores_busy is None:
        return (0.0, -used.batch.per_s.value)
    return (list(State).index(served.state), used.cores_busy)


def _is_projected(served: Served) -> bool:
    return served.device.origin is not Origin.MEASURED


UNTOLD = (Verdict.SAME, Verdict.UNSURE)
FAR_NOISE = 3
