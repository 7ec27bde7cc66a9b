"""Parts of the model as switches: the same load with one of them off, and with all of them."""

from collections.abc import Mapping
from dataclasses import dataclass

from sealift.lab.boards.board import BROADCOM, HIFN, Board, Simulated, Spot


@dataclass(frozen=True)
class Switch:
    """What is otherwise than in the tables.

    Attributes:
        changes: Of what a board is asked for.
        says: What the document says of it, or "".
        on: The boards that it is asked of.
    """

    changes: Mapping[str, object]
    says: str = ""
    on: tuple[Board, ...] = (HIFN, BROADCOM)

    def asked(self, board: Board, spot: Spot, seed: int) -> Simulated:
        """What a simulation gives."""
        changes = dict(self.changes)
        if THREE_OF in changes:
            rate_gbit_s = board.played_constants.rate_mbit_s / 1_000
            changes["rates_gbit_per_s"] = (rate_gbit_s,) * int(str(changes.pop(THREE_OF)))
        return board.simulated(spot, seed=seed, **changes)


THREE_OF = "cards"
AS_PLAYED = "as in the tables"
OWN_LINES, IN_TURN = "a line for each card", "completions in turn"
THREE = "three cards"
THEORY = "host and cards alone"
SWITCHES: Mapping[str, Switch] = {
    AS_PLAYED: Switch({}),
    OWN_LINES: Switch(
        {"shares_line": False}, "separate lines did not significantly improve throughput"
    ),
    IN_TURN: Switch(
        {"completions_first": False},
        "with completions first the queue almost drains before applications issue requests again",
    ),
    THREE: Switch({THREE_OF: 3}, "with 16,384 B three 5820 did more than four", (BROADCOM,)),
    "no chained requests": Switch(
        {"chain_requests": 1}, "fewer interrupts than requests, which chaining gives", (BROADCOM,)
    ),
    "no limit of the bus": Switch({"has_bus": False}, "38 % of the bus in use", (BROADCOM,)),
    "no wait for memory": Switch(
        {"shares_memory": False}, "three writes a byte use up what memory takes", (BROADCOM,)
    ),
}
# What mean-value analysis is exact for, in a load long enough for 2 %.
EXPONENTIAL = Switch(
    {
        "batches": 4_000,
        "law": "all",
        "has_bus": False,
        "shares_memory": False,
        "completions_first": False,
        "look_us": 0.0,
    },
    on=(HIFN,),
)
CLIENTS = 32
SIZES = (16, 16_384)
THEORY_SPOTS = (Spot(2, 16), Spot(4, 1_024), Spot(32, 1_024))
