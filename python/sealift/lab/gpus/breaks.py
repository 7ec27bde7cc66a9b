"""Where document 003's lines break, beside what is projected and what is measured."""

from collections.abc import Sequence
from dataclasses import dataclass

from sealift.lab.gpus.cells import AS_PUBLISHED, CODE, MODE, PROCESSOR, REPLICATED, WORKLOAD
from sealift.lab.gpus.shown import Sweep, bend_text, document_gpu, sweeps
from sealift.lab.published import Comparison, Here, Kind, Measured, Printed, table_row
from sealift.lab.result import Found, Origin
from sealift.lab.spec import Axis
from sealift.lab.stats import SHOWN_CONFIDENCE, Bend, Interval


@dataclass(frozen=True)
class Break:
    """A break of a line that the document prints.

    Attributes:
        figure: The document's name for the figure.
        claim: Its name in the table of claims.
        along: The axis that it lies on.
        of: What there are as many of where it is: `multiprocessors`.
        kind: Whether the model has it as a result, or was given it.
        why: Which of the model's inputs put it there.
    """

    figure: str
    claim: str
    along: Axis
    of: str
    kind: Kind
    why: str

    def beside(self, found: Found, model: Bend | None, units: float) -> Sequence[Comparison]:
        """The printed place beside the projected one, and the measured one as a multiple.

        Args:
            found: By the experiment of the figure.
            model: Of the document's GPU.
            units: How many of those the measured device has.
        """
        row = table_row("003-X1-claims", claim_id=self.claim)
        source = f"{row['source']}: {row['as_printed']}"
        projected = Printed(
            self.figure,
            f"the line breaks at so many {row['unit']}",
            float(row["value"]),
            row["unit"],
            source,
            self.kind,
            origin=Origin.PROJECTED,
        )
        measured = Printed(self.figure, f"measured break / {self.of}", 1.0, "x", source, Kind.SLOPE)
        here, note = self._measured(found, units)
        return [
            projected.beside(
                _interval(model) if model else "the limit has no bend",
                f"projected for {document_gpu().name} from counts of the published program, "
                f"replicated: {self.why}",
            ),
            measured.beside(here, note),
        ]

    def _measured(self, found: Found, units: float) -> tuple[Here, str]:
        note = f"the published program, replicated; {WORKLOAD}"
        sweep = published_sweep(found, self.along)
        if sweep is None:
            why = found.why_not(**{CODE.name: AS_PUBLISHED, MODE.name: REPLICATED})
            return why, note
        if sweep.is_processor:
            return f"{PROCESSOR} has cores, and no multiprocessors", note
        places = f"its line over {len(sweep.line)} places"
        if not sweep.is_long:
            return f"{places} is too short to tell", note
        place = sweep.bend
        if place is None:
            return f"{places} {bend_text(None)}", note
        blocks = min(row.blocks for row in sweep.rows.values())
        told = _interval(place, blocks).scaled(1 / units)
        return told, f"{note}, {bend_text(place)} on {sweep.device}"


def published_sweep(found: Found, along: Axis) -> Sweep | None:
    """What the published program does as it was published, or None."""
    rows = [
        row
        for row in found.rows
        if row.cell[CODE.name] == AS_PUBLISHED and row.cell[MODE.name] == REPLICATED
    ]
    return next(iter(sweeps(Found(rows, found.verified), along)), None)


def _interval(place: Bend, blocks: int | None = None) -> Measured:
    count = place.points if blocks is None else blocks
    return Measured(Interval(place.at, place.low, place.high, SHOWN_CONFIDENCE, count))
