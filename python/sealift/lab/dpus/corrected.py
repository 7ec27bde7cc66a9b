"""What the authors of document 000 made of its projection later, beside the simulation."""

from collections.abc import Iterator

from sealift.lab.dpus.system import SYSTEMS
from sealift.lab.published import Comparison, Kind, Printed, counted, table, table_row
from sealift.lab.result import Origin


def corrected(cycles_a_byte: float | str) -> Iterator[Comparison]:
    """The corrected figures.

    Args:
        cycles_a_byte: Of the document's algorithm with tasklets enough, or why that is not known.
    """
    for row in table(TABLE):
        printed = Printed(
            figure="000-P1",
            what=f"corrected by its authors: {row['quantity']}",
            value=float(row["value"]),
            unit=row["unit"],
            source=f"{row['source']}: {row['as_printed']}",
            kind=Kind.NUMBER,
            origin=Origin.PROJECTED,
        )
        if isinstance(cycles_a_byte, str):
            yield printed.beside(cycles_a_byte, "not computed")
        else:
            here = counted(_reckoned(row["claim_id"], cycles_a_byte), of=1)
            yield printed.beside(here, NOTE)


def _reckoned(claim: str, cycles_a_byte: float) -> float:
    """In the unit of the print."""
    a_second = CLOCK_HZ / cycles_a_byte
    if claim == "dpu640":
        return SYSTEMS[0].dpus * a_second / GIB
    if claim == "slowdown":
        core = float(table_row("000-X1-claims", claim_id="aesni")["value"])
        return CORE_HZ / core / a_second
    return cycles_a_byte


TABLE = "000-elsewhere-correction"
NOTE = "the document's algorithm, an instruction a cycle; rates are at 500 MHz, as there"
CLOCK_HZ, CORE_HZ, GIB = 500e6, 3e9, 2**30
