"""A figure as a document prints it."""

from dataclasses import dataclass, field

from sealift.lab.published.comparison import Comparison, Kind
from sealift.lab.published.here import Here, Measured
from sealift.lab.published.rounded import Rounded
from sealift.lab.result import Origin
from sealift.lab.values import Cell


@dataclass(frozen=True)
class Printed:
    """A figure as a document prints it, before anything stands beside it.

    Attributes:
        figure: The document's name for it: `003-T4`.
        what: Which value it is, in words.
        value: As printed, in `unit`.
        unit: `MB/s`, `x`.
        source: Where it stands.
        kind: What kind of figure it is.
        series: Whose line it belongs to where the figure is redrawn, or "".
        at: Where it stands there.
        span: What a count is judged by.
        origin: Where that which stands beside it comes from.
        is_fitted_to: Whether numbers of the model were fitted to its table.
    """

    figure: str
    what: str
    value: float
    unit: str
    source: str
    kind: Kind
    series: str = ""
    at: Cell = field(default_factory=dict)
    span: Rounded | None = None
    origin: Origin = Origin.MEASURED
    is_fitted_to: bool = False

    def beside(self, here: Here, note: str) -> Comparison:
        """The figure beside what was found here.

        Args:
            here: In the figure's unit, or why there is nothing.
            note: With what it is compared.
        """
        if isinstance(here, str):
            return self._comparison(None, f"{note}: {here}")
        return self._comparison(here, note if here.is_paired else f"{note}; not paired")

    def _comparison(self, here: Measured | None, note: str) -> Comparison:
        return Comparison(
            figure=self.figure,
            what=self.what,
            published=self.value,
            unit=self.unit,
            source=self.source,
            kind=self.kind,
            here=here.interval if here else None,
            note=note,
            series=self.series,
            at=self.at,
            noise_floor=here.noise_floor if here else 0.0,
            machine_busy=here.machine_busy if here else False,
            span=self.span,
            origin=self.origin,
            is_fitted_to=self.is_fitted_to,
        )
