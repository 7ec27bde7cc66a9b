"""What the figure shows in one sentence, and which cards are too far from it to be drawn."""

from collections.abc import Sequence

from sealift.lab.breakeven.lines import Line
from sealift.lab.breakeven.needed import needed
from sealift.lab.breakeven.pairs import Pair
from sealift.lab.finding import listed


def leading_text(found: Sequence[Line]) -> str:
    """Who is ahead at which sizes, and whether a card would ever be done earlier: a sentence.

    Args:
        found: From `lines`; at least one was measured.
    """
    real = [line for line in found if not line.card]
    cards = [line for line in found if line.card]
    told = _ahead(real)
    if not cards:
        return f"{told}."
    able = [card.device for card in cards if _is_ever_earlier(card, real)]
    if not able:
        return f"{told}; no card described here would ever be done earlier."
    verb = "is" if len(able) == 1 else "are"
    return (
        f"{told}; in batches that are long enough {listed(able)} {verb} back earlier (projected)."
    )


def far_cards(found: Sequence[Line]) -> set[str]:
    """Names of the cards whose line meets none that was measured, which are never done earlier.

    Args:
        found: From `lines`.
    """
    real = [line for line in found if not line.card]
    return {card.device for card in found if card.card and _is_far(card, real)}


def _ahead(real: Sequence[Line]) -> str:
    if len(real) == 1:
        return f"{real[0].device} is the only device measured"
    for line in real:
        others = [Pair(line, other) for other in real if other is not line]
        if all(set(pair.earlier.values()) == {line.device} for pair in others):
            return f"{line.device} is ahead at every size measured"
    names = {name for line in real for name in _shown_ahead(line, real)}
    if not names:
        return "No device was shown to be ahead of all others at any size measured"
    ordered = [line.device for line in real if line.device in names]
    if len(ordered) == 1:
        return f"{ordered[0]} is ahead at some sizes, and at the others nobody was shown to be"
    return f"Who is ahead depends on the size: {listed(ordered)} each are somewhere"


def _shown_ahead(line: Line, real: Sequence[Line]) -> set[str]:
    """Its name, if it was shown to be ahead of all others at some size."""
    others = [Pair(line, other).earlier for other in real if other is not line]
    sizes = [size for size in line.by_size if all(size in each for each in others)]
    wins = any(all(each[size] == line.device for each in others) for size in sizes)
    return {line.device} if wins else set()


def _is_ever_earlier(card: Line, real: Sequence[Line]) -> bool:
    """Whether there are a size and a batch in which it beats every device measured at that size."""
    sizes = {size for line in real for size in line.by_size}
    return any(
        all(_is_earlier(card, line, size) for line in real if size in line.by_size)
        for size in sizes
    )


def _is_far(card: Line, real: Sequence[Line]) -> bool:
    return not any(
        Pair(line, card).meetings or any(_is_earlier(card, line, size) for size in line.by_size)
        for line in real
    )


def _is_earlier(card: Line, line: Line, size: float) -> bool:
    assert card.card, "asked of cards only"
    return needed(card.card, line.by_size[size]).messages is not None
