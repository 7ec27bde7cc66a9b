"""What was published, and what may be said about it here.

The tables of the five documents stand in `data/published/`, transcribed with the place each value
stands in. A comparison never mixes origins: what was published keeps its printed value, and what
was measured here keeps its interval.
"""

from sealift.lab.published.comparison import IN_WORDS, UNJUDGED, Comparison, Kind, Match
from sealift.lab.published.here import (
    Here,
    Measured,
    conditions,
    counted,
    gain_a_thread,
    one_after_other,
    operation_speed,
    operation_time,
    payload_speed,
    quotient,
    times_as_fast,
)
from sealift.lab.published.printed import Printed
from sealift.lab.published.rounded import Rounded
from sealift.lab.published.rules import claimed, rules
from sealift.lab.published.shape import Place, point_kind
from sealift.lab.published.tables import table, table_row

__all__ = [
    "IN_WORDS",
    "UNJUDGED",
    "Comparison",
    "Here",
    "Kind",
    "Match",
    "Measured",
    "Place",
    "Printed",
    "Rounded",
    "claimed",
    "conditions",
    "counted",
    "gain_a_thread",
    "one_after_other",
    "operation_speed",
    "operation_time",
    "payload_speed",
    "point_kind",
    "quotient",
    "rules",
    "table",
    "table_row",
    "times_as_fast",
]
