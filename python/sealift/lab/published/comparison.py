"""A published figure beside what was found here, and the verdict on the two."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from sealift.lab.published.doubt import doubt
from sealift.lab.published.rounded import Rounded
from sealift.lab.result import Origin
from sealift.lab.stats import Interval, least_told
from sealift.lab.values import Cell


class Kind(StrEnum):
    """What a published figure is."""

    VALUE = "value"
    """An absolute value, of another machine: nobody expects the same one here."""
    RATIO = "ratio"
    """A ratio of two values of one machine: the shape of a result, which should hold here too. It
    has a side of 1, so that it is never 1 itself."""
    SLOPE = "slope"
    """What each of several adds, as the speed-up a thread: a ratio without a side of 1."""
    SHAPE = "shape"
    """A claim that a ratio lies above 1. Its published value is that 1, or the ratio of what was
    printed, which it need not reach."""
    READING = "reading"
    """As a shape, but what is claimed is only our reading of a sentence that claims no speed."""
    COUNT = "count"
    """What follows from counts, which are exact but for the rounding of their print."""
    NUMBER = "number"
    """A number that a model gives for the document's own machine: the same one is expected."""
    MODEL = "model"
    """The same of a point of a table or a curve whose neighbours lie above and below it as in the
    document (`point_kind`): it can have the shape of that where it doesn't have its value."""
    OPEN = "open"
    """The same of a point of which it is not known how its neighbours stand: nor is its shape."""
    LIMIT = "limit"
    """The same of a limit of a device, which nothing that was measured or simulated stands behind:
    that it is alike reproduces nothing."""
    GIVEN = "given"
    """What was put into a model, fitted or as it was printed: no result of it."""
    BEYOND = "beyond"
    """What a model leaves out, so that it can't give it."""
    WITHIN = "within"
    """A figure that other figures of its own document contradict: nothing is measured."""


class Match(StrEnum):
    """What may be said about a published figure."""

    REPRODUCED = "reproduced"
    HOLDS = "holds here"
    ALIKE = "about as fast here"
    FASTER = "faster here"
    SLOWER = "slower here"
    LARGER = "larger here"
    SMALLER = "smaller here"
    DIFFERS = "differs here"
    NO_EFFECT = "no such effect here"
    IN_SHAPE = "reproduced in shape"
    PROJECTED = "projected alike"
    GIVEN = "given to the model"
    BEYOND = "beyond the model"
    READING_HOLDS = "our reading holds here"
    READING_FAILS = "our reading fails here"
    CONTRADICTED = "contradicted"
    AGAINST_ITSELF = "contradicts itself"
    UNSETTLED = "not settled here"
    NOT_RUN = "not run here"


@dataclass(frozen=True)
class Comparison:
    """A published figure beside what was found here.

    Attributes:
        figure: The document's name for it: `003-T4`.
        what: Which value it is, in words.
        published: As printed, in `unit`.
        unit: Of both.
        source: Where it stands.
        kind: What kind of figure it is, which says what it is judged by.
        here: What was found, in the same unit; None when it was not run.
        note: With what it was compared, or why it was not run.
        series: Whose line it belongs to where the figure is redrawn, as `i7-12700H`; empty for a
            figure that is not drawn.
        at: Where it stands there: axes with values, as `{"threads": 20}`. Without the axis that the
            figure has below, it is drawn as a line across.
        noise_floor: The largest of what was measured for `here`, as a share.
        machine_busy: Whether the machine was, while that was measured.
        span: For a count the values that round to `published`; for a figure that its document
            contradicts what follows from the others there.
        origin: Where `here` comes from.
        is_fitted_to: Whether it stands in a table that numbers of the model were fitted to, so that
            its agreement tells of the fit.
    """

    figure: str
    what: str
    published: float
    unit: str
    source: str
    kind: Kind
    here: Interval | None
    note: str
    series: str = ""
    at: Cell = field(default_factory=dict)
    noise_floor: float = 0.0
    machine_busy: bool = False
    span: Rounded | None = None
    origin: Origin = Origin.MEASURED
    is_fitted_to: bool = False

    def __post_init__(self) -> None:
        """Refuses what can't be judged, and a figure that was not run for no reason."""
        named = f"{self.figure}, {self.what}"
        if self.here is None and not self.note:
            raise ValueError(f"{named}: not run, and no reason given")
        if self.kind is Kind.RATIO and self.published == 1:
            raise ValueError(
                f"{named}: a ratio of 1 has no side of 1 and could only be contradicted; "
                "compare it as a slope or a shape"
            )
        if self.kind in SPANNED and self.span is None:
            raise ValueError(f"{named}: a figure of kind {self.kind} needs a span to be judged by")
        if self.kind is Kind.WITHIN and self.span and _inside(self.published, self.span):
            raise ValueError(f"{named}: the document's other figures give the same")

    @property
    def ratio(self) -> Interval | None:
        """Here over published; None where nothing was run or nothing is what was published."""
        if self.here is None or not self.published:
            return None
        return self.here.scaled(1 / self.published)

    @property
    def match(self) -> Match:
        """The verdict.

        What was measured is judged by its whole interval and a margin around it, the noise floor
        or 2 %: a VALUE is ALIKE, a RATIO or a SLOPE REPRODUCED within a tenth of what was
        published. A RATIO is CONTRADICTED beyond 1 only, a SHAPE below it. An interval that
        reaches over a limit leaves the figure UNSETTLED, unless all of it lies within a tenth of
        1, where a RATIO well above 1 has NO_EFFECT; and so do too few blocks, too much noise
        and a busy machine. A COUNT is REPRODUCED when it rounds to what was printed; a printed 0
        is CONTRADICTED by anything else. A NUMBER of a model is REPRODUCED within a tenth and
        CONTRADICTED beyond, a LIMIT no more than PROJECTED within; a MODEL, whose neighbours stand
        as published, is IN_SHAPE within half as much again or two thirds, and an OPEN one UNSETTLED
        there. A SHAPE that was not measured is IN_SHAPE above the margin over 1 and CONTRADICTED
        elsewhere. All of these are UNSETTLED where the ends of what plays with several seeds gave
        are on two sides of a limit, or far from what was published on both sides of it. What was
        GIVEN to a model, and what is BEYOND one, has no verdict but that.
        """
        if self.kind in UNJUDGED:
            return UNJUDGED[self.kind]
        if self.here is None:
            return Match.NOT_RUN
        if self.kind is Kind.COUNT:
            return self._counted(self.here)
        if self.kind in MODELLED:
            return self._agreeing(self.here)
        if self.kind is Kind.SHAPE and self.origin is not Origin.MEASURED:
            return _agreed(self._shaped, self.here)
        return Match.UNSETTLED if self.doubt else self._judged(self.here)

    @property
    def doubt(self) -> str:
        """Why what was measured settles nothing, or ""."""
        if self.here is None or self.kind in {*SPANNED, *UNJUDGED}:
            return ""
        if self.kind in MODELLED or self.origin is not Origin.MEASURED:
            is_of_seeds = self.kind in {*MODELLED, Kind.SHAPE}
            if not is_of_seeds or self.match is not Match.UNSETTLED:
                return ""
            if self.kind is Kind.OPEN and self._modelled(self.here.median) is Match.UNSETTLED:
                return "how it stands among its neighbours is not known here"
            return f"its {self.here.blocks} seeds give both sides of a limit"
        unsettled = self._judged(self.here) is Match.UNSETTLED
        # What lies clear of all limits by so much noise is told.
        floor = self.noise_floor if unsettled else 0.0
        if why := doubt(self.here, floor, machine_busy=self.machine_busy):
            return why
        if unsettled:
            return f"the interval comes within {100 * self._margin:.2g} % of a limit, or over it"
        return ""

    @property
    def noted(self) -> str:
        """The note, and why what was found settles nothing."""
        return f"{self.note}; not settled: {self.doubt}" if self.doubt else self.note

    @property
    def _margin(self) -> float:
        return least_told(self.noise_floor)

    def _judged(self, here: Interval) -> Match:
        low, high = here.low / (1 + self._margin), here.high * (1 + self._margin)
        fitting = (said for least, most, said in self._regions() if least <= low and high <= most)
        return next(fitting, Match.UNSETTLED)

    def _regions(self) -> Iterator[tuple[float, float, Match]]:
        """From where to where which verdict holds."""
        if self.kind in SIDES:
            below, above = SIDES[self.kind]
            yield 0.0, 1.0, below
            yield 1.0, math.inf, above
            return
        near, far = self.published * (1 - NEAR), self.published * (1 + NEAR)
        less, alike, more = WORDS[self.kind]
        yield near, far, alike
        first, last = 0.0, math.inf
        if self.kind is Kind.RATIO and self.published > 1:
            first = min(1.0, near)
            yield 0.0, first, Match.CONTRADICTED
        elif self.kind is Kind.RATIO:
            last = max(1.0, far)
            yield last, math.inf, Match.CONTRADICTED
        yield first, near, less
        yield far, last, more
        if self.kind is Kind.RATIO and near >= 1 + NEAR:
            # Last: what lies on one side of 1 as a whole is told so.
            yield 1 - NEAR, 1 + NEAR, Match.NO_EFFECT

    def _shaped(self, value: float) -> Match:
        return Match.IN_SHAPE if value > 1 + self._margin else Match.CONTRADICTED

    def _agreeing(self, here: Interval) -> Match:
        """Of a model: what lies far from what was published on both sides tells nothing."""
        said = _agreed(self._modelled, here)
        is_around = here.low < self.published < here.high
        return Match.UNSETTLED if said is Match.CONTRADICTED and is_around else said

    def _modelled(self, value: float) -> Match:
        times = value / self.published
        if 1 - NEAR <= times <= 1 + NEAR:
            return Match.PROJECTED if self.kind is Kind.LIMIT else Match.REPRODUCED
        if self.kind in (Kind.NUMBER, Kind.LIMIT) or not 1 / ALIKE <= times <= ALIKE:
            return Match.CONTRADICTED
        return Match.IN_SHAPE if self.kind is Kind.MODEL else Match.UNSETTLED

    def _counted(self, here: Interval) -> Match:
        assert self.span is not None, "checked when it was made"
        if _inside(here.median, self.span):
            return Match.REPRODUCED
        return Match.DIFFERS if self.published else Match.CONTRADICTED


def _agreed(judge: Callable[[float], Match], here: Interval) -> Match:
    """What may be said of an interval as a whole."""
    said = {judge(value) for value in (here.low, here.median, here.high)}
    return said.pop() if len(said) == 1 else Match.UNSETTLED


def _inside(value: float, span: Rounded) -> bool:
    return span.low <= value <= span.high


# Stands in the place of a unit where a document prints no number.
IN_WORDS = "in words"
# A tenth more or less is the same, on another machine and by a model.
NEAR = 0.10
# How far a point may be off whose table or curve has the document's shape there.
ALIKE = 1.5
SPANNED = (Kind.COUNT, Kind.WITHIN)
MODELLED = (Kind.NUMBER, Kind.MODEL, Kind.OPEN, Kind.LIMIT)
# What nothing that was found here is held against.
UNJUDGED = {
    Kind.WITHIN: Match.AGAINST_ITSELF,
    Kind.GIVEN: Match.GIVEN,
    Kind.BEYOND: Match.BEYOND,
}
SIDES = {
    Kind.SHAPE: (Match.CONTRADICTED, Match.HOLDS),
    Kind.READING: (Match.READING_FAILS, Match.READING_HOLDS),
}
WORDS = {
    Kind.VALUE: (Match.SLOWER, Match.ALIKE, Match.FASTER),
    Kind.RATIO: (Match.SMALLER, Match.REPRODUCED, Match.LARGER),
    Kind.SLOPE: (Match.SMALLER, Match.REPRODUCED, Match.LARGER),
}
