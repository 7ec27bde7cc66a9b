"""What document 002 says of its cards in words: each claim beside what the simulation gives.

A number is reproduced within a tenth or contradicted; only that one thing is more than another has
a shape. Each is judged by the mean and the ends of plays with several seeds. What was given to
the model is no result of it, nor is what it leaves out: both are told and counted apart.
"""

from collections.abc import Iterable, Mapping, Sequence

from sealift.lab.boards import model, seeds, spread_facts, spread_in
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
from sealift.lab.result import Found, Origin
from sealift.lab.spec import Axis, Brief, Computed, Context, Experiment, Scope
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
            ABOUT: row["quantity"],
            PRINTED: _printed(row),
            **here,
            HOW: claim.how(plays),
        }
    )


def _printed(row: Mapping[str, str]) -> str:
    return f"{as_printed(float(row['value']))} {row['unit']}" if row["value"] else IN_WORDS


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
    return printed.beside(spread_in(facts, HERE), str(facts[HOW]))


def _says(found: Found) -> str:
    """What the model contradicts, each with its figures, and what it is not asked about."""
    compared = _published(found)
    matches = [each.match for each in compared]
    if Match.NOT_RUN in matches:
        return ""
    against = [_against(each) for each in compared if each.match is Match.CONTRADICTED]
    given, beyond = (matches.count(each) for each in (Match.GIVEN, Match.BEYOND))
    judged = len(matches) - given - beyond
    told = f": {'; '.join(against)}" if against else ""
    return (
        f"Of {judged} claims that the model can be held to it contradicts {len(against)}{told}. "
        f"Of the other {given + beyond} it was given {given} and {beyond} are beyond it, so that "
        "they count neither way."
    )


def _against(each: Comparison) -> str:
    """A claim with what was published and what is here; of a ratio what was reckoned."""
    assert each.here is not None, "what was not computed is not contradicted"
    if each.kind is Kind.SHAPE:
        return f"{each.what} ({each.note.partition(', because')[0]})"
    published, here = claimed(each, as_printed), format_measure(each.here.median)
    return f"{each.what} (published {published} {each.unit}, here {here})"


CLAIM = Axis("claim", "claim")
ABOUT, PRINTED, HERE, HOW = "about", "published", "here", "how"
PUT = {Kind.GIVEN: "put in", Kind.BEYOND: "left out"}

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
    weight=0.2,
    origin=Origin.SIMULATED,
    takes_s=1.2,
    stands_on=model.SIMULATED,
    brief=Brief({ABOUT: "about", PRINTED: "published", HERE: "here"}),
)
