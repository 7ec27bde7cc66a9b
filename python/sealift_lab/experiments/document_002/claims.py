"""Claims of document 002 in words, beside what the simulation gives: 002-X1.

A number is reproduced within a tenth or contradicted; a claim that one thing is more than another
has a shape alone. Inputs of the model are no results of it, and neither is what it leaves out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sealift_lab.experiments.document_002 import boards
from sealift_lab.experiments.document_002.boards import (
    BROADCOM,
    CLIENTS,
    HIFN,
    HIFN_ONE_LINE,
    MBIT_S,
    WITH_CLOCKS,
    Board,
    Spot,
)
from sealift_lab.experiments.notes import read_legend, texts
from sealift_lab.model.arm import Cell, Computed, Context, Value
from sealift_lab.model.experiment import Axis
from sealift_lab.model.published import Fact, Kind, Missing, Published, table
from sealift_lab.model.results import Origin

At = Callable[..., float]
"""`_simulated` with a seed."""


@dataclass(frozen=True)
class CardClaim:
    """How the model relates to a claim; the notes say how it is computed, or why it is no result.

    Attributes:
        kind: NUMBER or SHAPE for what it gives, GIVEN for its inputs, else BEYOND.
        compute: The model's value; None where it gives none.
        what: The ratio, for a SHAPE that is claimed in words alone.
        is_fitted: Whether it is arithmetic on a throughput that constants were fitted to; so are
            interrupts, of which each simulated request raises one.
    """

    kind: Kind
    compute: Callable[[At], float] | None = None
    what: str = ""
    is_fitted: bool = False


def rows() -> Sequence[Mapping[str, str]]:
    """The claims as printed, those of several loads once for each of them.

    Behind "3x5820" stands one that two printed numbers make.
    """
    return [row for printed in table(TABLE) for row in _split(printed)]


def _split(row: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    if loads := LOADS.get(row["claim_id"]):
        for suffix, condition in loads.items():
            claim_id = f"{row['claim_id']}-{suffix}"
            yield {**row, "claim_id": claim_id, "of": row["claim_id"], "condition": condition}
        return
    yield row
    if row["claim_id"] == "3x5820":
        four_mbit_s = BROADCOM.published[Spot(CLIENTS, LARGE)]
        yield {
            **row,
            "claim_id": THREE_OVER_FOUR,
            "kind": "shape",
            "quantity": "throughput of three 5820 over that of four",
            "value": f"{float(row['value']) / four_mbit_s:.6g}",
            "unit": "x",
            "condition": "32 threads, 16 KB",
            "as_printed": f"{row['as_printed']}; table 2 has {four_mbit_s:g} with four cards",
        }


def _arm(cell: Cell, context: Context) -> Computed:
    row = next(row for row in rows() if row["claim_id"] == cell[CLAIM.name])
    claim = CLAIMS[row["claim_id"]]
    facts: dict[str, Value] = {
        ABOUT: claim.what or row["quantity"],
        UNIT: row["unit"] or ("x" if claim.compute else IN_WORDS),
        PRINTED: row["value"] or IN_WORDS,
    }
    if claim.compute is None:
        return Computed({**facts, f"{HERE}, why none": WHY_NONE[claim.kind]})
    values = [claim.compute(partial(_simulated, seed)) for seed in boards.seeds(context.seed)]
    return Computed.rounded(facts | boards.spread_facts(HERE, values))


def _simulated(
    seed: int, board: Board, size_bytes: int, figure: str = MBIT_S, **changes: Any
) -> float:
    """A figure of a simulation of 32 threads with requests of a size."""
    played = board.simulate(Spot(CLIENTS, size_bytes), seed=seed, **changes)
    return boards.FIGURES[figure](played)


def _published(row: Mapping[str, str]) -> Published:
    claim, note = CLAIMS[row["claim_id"]], NOTES[row.get("of", row["claim_id"])]
    what = f"{row['quantity']}, {row['condition']}" if row["condition"] else row["quantity"]
    unit, source = row["unit"] or IN_WORDS, f"{row['source']}: {row['as_printed']}"
    if claim.compute and not row["value"]:
        what, unit = claim.what or f"{what}, read as 1 x", "x"
    here = Fact({CLAIM.name: row["claim_id"]}, HERE) if claim.compute else Missing(note)
    of = ("002-X1", what, float(row["value"] or 1), unit, source, claim.kind, here)
    noted = note if claim.compute else ""
    return Published(*of, noted, origin=Origin.SIMULATED, is_fitted=claim.is_fitted)


def _at(at: At, board: Board, size_bytes: int, figure: str) -> float:
    return at(board, size_bytes, figure)


def _percent_of_rated(at: At, cards: int) -> float:
    return 100 * at(BROADCOM, LARGE, cards=cards) / (cards * BROADCOM.rated_mbit_s)


def _over_usual(at: At, figure: str = MBIT_S, **changes: Any) -> float:
    return at(BROADCOM, LARGE, figure, **changes) / at(BROADCOM, LARGE, figure)


TABLE = "002-X1-claims"
CLAIM = Axis("claim", "claim")
ABOUT, UNIT, PRINTED, HERE = "about", "unit", "published", "here"
WHY_NONE = {Kind.GIVEN: "given to the model", Kind.BEYOND: "beyond the model"}
IN_WORDS = "in words"
THREE_OVER_FOUR = "3x5820-over-4x5820"
SMALL, MIDDLE, LARGE = (16, 64, 256, 1_024), 8_192, 16_384
BOARDS = {"7751": HIFN, "5820": BROADCOM}
EACH_CASE = (*SMALL, MIDDLE)
# By claim: the loads that it is of, and the ends of their names.
LOADS: Mapping[str, Mapping[str, str]] = {
    "small-int": {
        "own-lines": "16 B over four 7751 with a line each",
        "one-line": "16 B over four 7751 on one line",
    },
    "large-int": {
        f"{board}-{size}": f"{size:,} B over four {board}"
        for board in BOARDS
        for size in (MIDDLE, LARGE)
    },
    "kernel-time": {str(size): f"{size:,} B over four 5820" for size in EACH_CASE},
}
# In the order of what is computed.
FITTED: Mapping[str, Callable[[At], float]] = {
    "7751-peak": lambda at: at(HIFN, LARGE),
    "7751-bus": lambda at: 2 * at(HIFN, LARGE),
    "7751-bus-util": lambda at: at(HIFN, LARGE, boards.BUS_BUSY),
    "small-int-own-lines": lambda at: at(HIFN, 16, WITH_CLOCKS),
    "small-int-one-line": lambda at: at(HIFN_ONE_LINE, 16, WITH_CLOCKS),
    "5820-peak": lambda at: at(BROADCOM, LARGE),
    "5820-bus": lambda at: 2 * at(BROADCOM, LARGE) / 1_000,
    "5820-bus-util": lambda at: at(BROADCOM, LARGE, boards.BUS_BUSY),
    "5820-util": lambda at: _percent_of_rated(at, 4),
    **{
        f"large-int-{name}-{size}": partial(_at, board=board, size_bytes=size, figure=WITH_CLOCKS)
        for name, board in BOARDS.items()
        for size in (MIDDLE, LARGE)
    },
    "5820-small-int-low": lambda at: min(at(BROADCOM, size, WITH_CLOCKS) for size in SMALL),
    "5820-small-int-high": lambda at: max(at(BROADCOM, size, WITH_CLOCKS) for size in SMALL),
    "5820-8k-int": lambda at: at(BROADCOM, MIDDLE, WITH_CLOCKS),
    "16k-int": lambda at: at(BROADCOM, LARGE, WITH_CLOCKS),
    "transfer": lambda at: at(BROADCOM, LARGE),
}
NUMBERS: Mapping[str, Callable[[At], float]] = {
    **{
        f"kernel-time-{size}": partial(_at, board=BROADCOM, size_bytes=size, figure=boards.KERNEL)
        for size in EACH_CASE
    },
    "kernel-time-16k": lambda at: at(BROADCOM, LARGE, boards.KERNEL),
    "3x5820": lambda at: at(BROADCOM, LARGE, cards=3),
    "3x5820-util": lambda at: _percent_of_rated(at, 3),
    "irq-no-gain": lambda at: _over_usual(at, line_cards=1),
}
GIVEN = (
    *("7751-util", "7751-bus-max", "clock-int-a", "clock-int-b", "5820-bus-max", "5820-rated"),
    *("5820-max", "user-time-16k", "mem-write", "mem-writes", "spl-delay", "shared-irq"),
)
BEYOND = ("7751-bridge", "isa-bus", "slow-slot", "mem-reads")
CLAIMS: Mapping[str, CardClaim] = {
    **dict.fromkeys(GIVEN, CardClaim(Kind.GIVEN)),
    **dict.fromkeys(BEYOND, CardClaim(Kind.BEYOND)),
    **{name: CardClaim(Kind.NUMBER, each, is_fitted=True) for name, each in FITTED.items()},
    **{name: CardClaim(Kind.NUMBER, each) for name, each in NUMBERS.items()},
    "copy-cost": CardClaim(
        Kind.SHAPE,
        lambda at: 1 / (100 / at(BROADCOM, LARGE, boards.COPYING) - 1),
        "copying over all else that the host does",
    ),
    "convoy": CardClaim(
        Kind.SHAPE,
        lambda at: 1 / _over_usual(at, boards.IDLE, order=boards.IN_TURN),
        "time without work for any card, in rounds over in turn",
    ),
    THREE_OVER_FOUR: CardClaim(Kind.SHAPE, lambda at: _over_usual(at, cards=3)),
}
NOTES = read_legend(__package__, "claims")

EXPERIMENT = boards.simulated_experiment(
    **texts(__package__, "cards-claims"),
    id="002-X1",
    axes=(CLAIM,),
    compare=CLAIM.name,
    cells=lambda _: ({"claim": row["claim_id"]} for row in rows()),
    arm=_arm,
    published=lambda _: [_published(row) for row in rows()],
    columns={ABOUT: "about", UNIT: "unit", PRINTED: "published", HERE: "here"},
    estimated_s=0.5,
)
