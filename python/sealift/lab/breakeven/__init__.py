"""From which size, and from how many messages a batch, another device finishes a batch earlier.

Real devices stand with what was measured of them, without a fit between or beyond the measured
sizes. Cards stand with what their descriptions let reckon for the same batches: projected.
"""

from sealift.lab.breakeven.figure import DRAWN, drawn, real_records
from sealift.lab.breakeven.leading import far_cards, leading_text
from sealift.lab.breakeven.lines import MESSAGES_MOST, Line, Spot, chosen, lines
from sealift.lab.breakeven.needed import Needed, needed
from sealift.lab.breakeven.pairs import Pair, pairs
from sealift.lab.breakeven.words import needed_text, pair_text

__all__ = [
    "DRAWN",
    "MESSAGES_MOST",
    "Line",
    "Needed",
    "Pair",
    "Spot",
    "chosen",
    "drawn",
    "far_cards",
    "leading_text",
    "lines",
    "needed",
    "needed_text",
    "pair_text",
    "pairs",
    "real_records",
]
