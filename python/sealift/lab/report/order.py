"""In which order pages have what belongs to one document."""

import re


def place(name: str) -> tuple[str, int, str]:
    """Where a figure, a table or an experiment stands: the document, and its place there.

    Tables come first, then projections, figures and what else the document has; what it says in
    words, and questions beyond it, last.

    Args:
        name: As documents have them, `000-T1`; anything else goes among the others, as does "".
    """
    document, _, own = name.partition("-")
    known = re.match(NUMBERED, own)
    return document, RANKS.get(known[1], OTHERS) if known else OTHERS, own


# Q has no number.
NUMBERED = r"([TPFX](?=\d)|Q)"
OTHERS = 3
RANKS = {"T": 0, "P": 1, "F": 2, "X": 4, "Q": 5}
