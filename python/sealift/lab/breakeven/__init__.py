"""From which size, and from how many messages a batch, another device finishes a batch earlier.

Real devices stand with what was measured of them, without a fit between or beyond the measured
sizes. Cards stand with what their descriptions let reckon for the same batches: projected.
"""

from sealift.lab.breakeven.figure import DRAWN, drawn, real_records
from sealift.lab.breakeven.lines import Line, Spot, lines
from sealift.lab.breakeven.needed import Needed, needed

__all__ = [
    "DRAWN",
    "Line",
    "Needed",
    "Spot",
    "drawn",
    "lines",
    "needed",
    "real_records",
]
