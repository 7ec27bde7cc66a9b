"""What document 002 says of its cards in words: each claim beside what the simulation gives.

A number is reproduced within a tenth or contradicted; only that one thing is more than another has
a shape. Each is judged by the mean and the ends of plays with several seeds. What was given to
the model is no result of it, nor is what it leaves out: both are told and counted apart.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from sealift.lab.boards import FAST, SLOW, model, seeds, spread_facts, spread_in
from sealift.lab.boards.claims import CLAIMS, Play, Plays, rows
from sealift.lab.facts import why_none
from sealift.lab.published import (
    IN_WORDS,
    UNJUDGED,
    Comparison,
    Kind,
    Match,
    Printed,
    claimed,
)
from sealift.lab.result import Found, Listing, Origin
from sealift.lab.spec import Axis, Brief, Computed, Context, Experiment, Scope
from sealift.lab.stats import Interval
from sealift.lab.units import as_printed, format_measure
from sealift.lab.values import Cell, Value


def _cells(scope: Scope) -> Iterable[Cell]:
    return () if scope.quick else ({CLAIM.name: row["claim_id"]} for row in rows())


def _arm(cell: Cell, context: Context) -> Computed:
    """Computes what a claim is about, or says why a model can't."""
    name = str(cell[CLAIM.name])
    row, claim = next(row for row in rows() if row["claim_id"] == name), CLAIMS[name]
    plays = Plays([Play(seed) for seed in seeds(context.seed)])
    here: Mapping[str, Value] = (
        spread_facts(HERE, plays.each(claim.reckon))
        if claim.reckon
        else {why_none(HERE): UNJUDGED[claim.kind].value}
    )
    return Computed(
        {
            ABOUT: _about(row),
            UNIT: _unit(row),
            PRINTED: _printed(row),
            **here,
            HOW: claim.how(plays),
        }
    )


def _about(row: Mapping[str, str]) -> str:
    """What is compared: of words alone what they were read as."""
    return CLAIMS[row["claim_id"]].what or row["quantity"]


def _unit(row: Mapping[str, str]) -> str:
    return row["unit"] or ("x" if CLAIMS[row["claim_id"]].reckon else IN_WORDS)


def _printed(row: Mapping[str, str]) -> str:
    return as_printed(float(row["value"])) if row["value"] else IN_WORDS


def _published(found: Found) -> Sequence[Comparison]:
    known = {str(each.cell[CLAIM.name]): each.facts for each in found.verified if each.facts}
    return [_compared(row, known.get(row["claim_id"], {}), found) for row in rows()]


def _compared(row: Mapping[str, str], facts: Mapping[str, Value], found: Found) -> Comparison:
    name = row["claim_id"]
    claim = CLAIMS[name]
    value, unit = (float(row["value"]), row["unit"]) if row["value"] else (1.0, IN_WORDS)
    what = f"{row['quantity']}, {row['condition']}" if row["condition"] else row["quantity"]
    if claim.reckon and not row["value"]:
        # Of two simulations, so that its unit is none of the document's.
        what, unit = claim.what or f"{what}, read as 1 x", "x"
    printed = Printed(
        figure=EXPERIMENT.id,
        what=what,
        value=value,
        unit=unit,
        source=f"{row['source']}: {row['as_printed']}",
        kind=claim.kind,
        origin=Origin.SIMULATED,
    )
    if claim.reckon is None:
        return printed.beside(claim.how(Plays([])), PUT[claim.kind])
    if HERE not in facts:
        return printed.beside(found.why_not(**{CLAIM.name: name}), "not computed")
    here = spread_in(facts, HERE)
    return printed.beside(here, f"{facts[HOW]}{_below(row, here.interval)}")


def _below(row: Mapping[str, str], here: Interval) -> str:
    """That a number which the document is over isn't reached here, or ""."""
    if not row["value"] or not any(word in row["quantity"] for word in OVER):
        return ""
    short = 1 - here.median / float(row["value"])
    return f"; the document is over it, this is {100 * short:.1f} % below it" if short > 0 else ""


def _says(found: Found) -> str:
    """How many claims come out, which don't, and what the model is not asked about."""
    compared = _published(found)
    matches = [each.match for each in compared]
    if Match.NOT_RUN in matches:
        return ""
    counts = Counter(matches)
    open_ = counts[Match.UNSETTLED]
    given, beyond = counts[Match.GIVEN], counts[Match.BEYOND]
    agreeing = counts[Match.REPRODUCED] + counts[Match.IN_SHAPE]
    against = [each.what for each in compared if each.match is Match.CONTRADICTED]
    return (
        f"Of {len(compared)} claims {len(compared) - given - beyond} are tested, {given} were "
        f"given to the model and {beyond} are beyond it. Of those tested {agreeing} come out"
        f"{f', {open_} are not settled' if open_ else ''} and {len(against)} don't come out"
        f"{': ' if against else ''}{'; '.join(against)}. One of all these is put together from two "
        "that the document prints: three 5820 over four."
    )


def _listings(found: Found) -> Sequence[Listing]:
    """What the models do not get, each with its figures and the reason; of the tables, too."""
    rows_of = [
        (f"{each.what}, {each.unit}", *_figures(each), _reason(each))
        for each in _published(found)
        if each.match in MISSED
    ]
    for name, board in TABLES.items():
        if name in found.beside:
            rows_of += board.misses(found.beside[name])
    columns = ("what", "published", "here", "why")
    return [Listing(MISSES, columns, rows_of)] if rows_of else []


def _figures(each: Comparison) -> tuple[str, str]:
    here = "not in the model" if each.here is None else format_measure(each.here.median)
    return claimed(each, as_printed) or IN_WORDS, here


def _reason(each: Comparison) -> str:
    return each.note.removeprefix(f"{PUT[Kind.BEYOND]}: ")


CLAIM = Axis("claim", "claim")
ABOUT, UNIT, PRINTED, HERE, HOW = "about", "unit", "published", "here", "how"
PUT = {Kind.GIVEN: "put in", Kind.BEYOND: "left out"}
# In quantities of which the document prints what they are over.
OVER = ("(over)", "(in excess of)", "(slightly over)")
MISSED = (Match.CONTRADICTED, Match.UNSETTLED, Match.BEYOND)
MISSES = "What the models do not get, and why"
TABLES = {"cards-quad-hifn": SLOW, "cards-four-broadcom": FAST}

EXPERIMENT = Experiment(
    name="cards-claims",
    id="002-X1",
    title="What document 002 says of interrupts, bus, memory and kernel time",
    why="Which of its claims follow from the model that gives its tables, which don't, which were "
    "put into it, and which can't follow?",
    axes=(CLAIM,),
    compare=CLAIM.name,
    cells=_cells,
    arm=_arm,
    operation="request",
    published=_published,
    says=_says,
    listings=_listings,
    weight=0.2,
    order=3,
    origin=Origin.SIMULATED,
    takes_s=0.5,
    stands_on=model.SIMULATED,
    brief=Brief({ABOUT: "about", UNIT: "unit", PRINTED: "published", HERE: "here"}),
)
