"""What may be said of a table: how far analysis and simulation are off, and what they miss."""

from collections.abc import Iterator
from functools import lru_cache
from statistics import mean

from sealift.lab.boards.board import COPIES, Board, Constants, Spot
from sealift.lab.boards.columns import (
    ANALYSIS,
    OTHERS,
    SIMULATION,
    Known,
    error,
    errors_text,
    named,
    threads_text,
)
from sealift.lab.units import format_measure

Miss = tuple[str, str, str, str]
"""What a model does not get: what it is, published, here, and why."""


def says(board: Board, known: Known) -> str:
    """How far both are off and where, once every cell was computed."""
    if len(known) < len(board.published):
        return ""
    every = list(known.values())
    count = 2 if board.is_rated else 3
    own = "" if board.writes == COPIES else f" with {count} of its own"
    worst = _worst(known)
    return " ".join(
        (
            f"{board.named}: exact mean-value analysis with {count} fitted numbers is off by "
            f"{errors_text(every, ANALYSIS)}, the simulation{own} by "
            f"{errors_text(every, SIMULATION)}; both were fitted to this very table.",
            _of_others(board, known),
            f"The simulation is off most with {named(worst)}, by "
            f"{error(known[worst], SIMULATION):+.1f} %{_because(why_off(board, worst, known))}.",
        )
    )


def misses(board: Board, known: Known) -> Iterator[Miss]:
    """What neither model gets of a table, and why; nothing before every cell was computed."""
    if len(known) < len(board.published):
        return
    for spot in dict.fromkeys((_worst(known), *_out_of_order(board))):
        facts = known[spot]
        here = f"{format_measure(float(facts[SIMULATION]))} ({error(facts, SIMULATION):+.1f} %)"
        why = why_off(board, spot, known) or "the fit leaves it: no single reason is known"
        yield f"{board.named}, {named(spot)}, Mbit/s", f"{board.published[spot]:g}", here, why
    if board.is_rated:
        yield from _dear_bytes(board)


def why_off(board: Board, spot: Spot, known: Known) -> str:
    """Why a cell is off, where that is known."""
    if spot in _out_of_order(board):
        least, most = (board.published[Spot(1, size)] for size in (LARGEST, BEFORE))
        return (
            f"one thread was measured at {least} Mbit/s with 16,384 B and at {most} with 8,192 B, "
            "for which the document gives no reason and no model here has one"
        )
    alone = Spot(1, spot.buffer_bytes)
    if not 1 < spot.threads < MANY or not {spot, alone} <= known.keys():
        return ""
    published, here = (
        [_each_us(one, told[one]) for one in (spot, alone)]
        for told in (
            board.published,
            {one: float(known[one][SIMULATION]) for one in (spot, alone)},
        )
    )
    if published[0] - published[1] >= here[0] - here[1]:
        return ""
    return (
        f"a request beside {threads_text(spot.threads - 1).replace('thread', 'other')} takes "
        f"{published[0] - published[1]:.1f} us longer than alone in the document and "
        f"{here[0] - here[1]:.1f} us here, where the host is one line in which a request waits for "
        f"all of another's {board.played_constants.host_us:.0f} us"
    )


def _because(why: str) -> str:
    return f": {why}" if why else ""


def _worst(known: Known) -> Spot:
    return max(known, key=lambda spot: abs(error(known[spot], SIMULATION)))


def _each_us(spot: Spot, mbit_s: float) -> float:
    """From one request of a thread to its next, in microseconds."""
    return 8 * spot.buffer_bytes * spot.threads / mbit_s


def _out_of_order(board: Board) -> tuple[Spot, ...]:
    """Where a longer buffer was measured slower than a shorter one, which nothing here gives."""
    return () if board.is_rated else (Spot(1, BEFORE), Spot(1, LARGEST))


def _dear_bytes(board: Board) -> Iterator[Miss]:
    """What bytes of short buffers cost with many threads."""
    copied_ns = 8 * COPIES / board.constant("host.copy_gbit_per_s")
    for small, large in ((16, 256), (256, 1_024)):
        first, last = (board.published[Spot(MANY, size)] for size in (small, large))
        each_ns = 8_000 * (large / last - small / first) / (large - small)
        yield (
            f"{board.named}, {MANY} threads: what each byte adds from {small} to {large:,} B, ns",
            f"{each_ns:.0f}",
            f"{copied_ns:.1f}",
            "the host copies each byte twice at the document's bandwidth; what else its bytes "
            "cost it there isn't said",
        )


def _of_others(board: Board, known: Known) -> str:
    """The second analysis: on rows that it wasn't fitted to, or with published constants."""
    others = [facts for facts in known.values() if OTHERS[board.is_rated] in facts]
    off = errors_text(others, OTHERS[board.is_rated])
    if board.is_rated:
        return (
            f"Fitted on 1 and 32 threads alone, analysis is off by {off} on the {len(others)} "
            "cells between, which it wasn't fitted to."
        )
    alone = board.published[Spot(1, BEFORE)]
    return (
        f"With published constants alone ({board.rated_mbit_s:.0f} Mbit/s a card, two copies) and "
        f"two fitted numbers analysis is off by {off}, because one thread alone was measured at "
        f"{alone} Mbit/s, set-up and copies included, so that a card is faster than it is rated, "
        "and because memory is written three times a byte (a faster card alone leaves "
        f"{_left(board, board.played_constants, COPIES)}, three writes alone "
        f"{_left(board, _rated(board), board.writes)})."
    )


def _left(board: Board, constants: Constants, writes: int) -> str:
    """The mean error of an analysis, in words."""
    errors = [
        abs(board.analysed(spot, constants, writes=writes) / published - 1)
        for spot, published in board.published.items()
    ]
    return f"{100 * mean(errors):.1f} %"


@lru_cache(maxsize=2)
def _rated(board: Board) -> Constants:
    """Fitted with cards as they are rated, and as many writes as the board has."""
    return board.fit(tuple(board.published), is_rated=True)


MANY = 32
BEFORE, LARGEST = 8_192, 16_384
