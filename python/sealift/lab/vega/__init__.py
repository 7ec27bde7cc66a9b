"""Points as a Vega-Lite specification: plain dicts, because the specification is the interface."""

from sealift.lab.vega.colours import COLOURS, GREYS, palette, shades
from sealift.lab.vega.figure import LEGEND_PART, Chart, Labels, Point, Scales, Spec, is_numeric
from sealift.lab.vega.specification import VERSION, room_px, specification
from sealift.lab.vega.words import format_bytes, shown

__all__ = [
    "COLOURS",
    "GREYS",
    "LEGEND_PART",
    "VERSION",
    "Chart",
    "Labels",
    "Point",
    "Scales",
    "Spec",
    "format_bytes",
    "is_numeric",
    "palette",
    "room_px",
    "shades",
    "shown",
    "specification",
]
