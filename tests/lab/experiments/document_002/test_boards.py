"""Document 002's boards: exact analysis, its bound, fits, and the simulation beside them."""

from dataclasses import replace
from functools import cache
from operator import mul
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealift import InputError
from sealift_lab.experiments.document_002 import boards, tables
from sealift_lab.experiments.document_002.boards import (
    BROADCOM,
    FIGURES,
    HIFN,
    HIFN_ONE_LINE,
    Board,
    Spot,
)

DEMANDS_US = st.floats(0.1, 100.0)


def mean_value_analysis(host_us: float, card_us: float, clients: tuple[int, ...]) -> float:
    """The recursion of Reiser and Lavenberg with a class for each card."""

    @cache
    def solve(population: tuple[int, ...]) -> tuple[float, tuple[float, ...], float]:
        rates, at_cards = [0.0] * len(population), [0.0] * len(population)
        at_host = 0.0
        for card, count in enumerate(population):
            if count:
                less = (*population[:card], count - 1, *population[card + 1 :])
                host_before, cards_before, _ = solve(less)
                host_stay = host_us * (1 + host_before)
                card_stay = card_us * (1 + cards_before[card])
                rates[card] = count / (host_stay + card_stay)
                at_host += rates[card] * host_stay
                at_cards[card] = rates[card] * card_stay
        return at_host, tuple(at_cards), sum(rates)

    return solve(clients)[2]


@settings(max_examples=60, deadline=None)
@given(DEMANDS_US, DEMANDS_US, st.integers(1, 9), st.integers(1, 4))
def test_convolution_gives_what_mean_value_analysis_gives_and_never_exceeds_the_bound(
    host_us: float, card_us: float, count: int, cards: int
) -> None:
    clients = boards.spread(count, cards)
    exact = boards.throughput(host_us, card_us, clients)
    assert exact == pytest.approx(mean_value_analysis(host_us, card_us, clients), rel=1e-9)
    assert exact <= boards.bound(host_us, card_us, clients) * (1 + 1e-9)
    if count == 1:
        assert exact == pytest.approx(boards.bound(host_us, card_us, clients))


@pytest.mark.parametrize(
    "board", [HIFN, BROADCOM, tables.AS_RATED], ids=["7751", "5820", "as rated"]
)
@pytest.mark.parametrize("factors", [(0.7, 1.8, 0.8), (1.5, 0.6, 1.2)], ids=str)
def test_a_fit_from_a_far_start_ends_where_it_ends_from_a_near_one(
    board: Board, factors: tuple[float, ...]
) -> None:
    start = boards.Constants(*map(mul, board.played, factors))
    far = replace(board, played=start).constants
    assert far == pytest.approx(board.constants, rel=1e-6)


def test_a_fit_that_has_not_ended_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boards, "FIT_STEPS", 2)
    with pytest.raises(AssertionError, match="Four Hifn 7751: the fit's last step led from "):
        replace(HIFN, played=boards.Constants(10.0, 40.0, 83.0)).constants  # noqa: B018


@pytest.mark.parametrize("board", [HIFN, HIFN_ONE_LINE, BROADCOM], ids=["own", "one", "5820"])
def test_constants_of_the_simulation_are_those_that_it_is_fitted_with(board: Board) -> None:
    assert board.refit() == pytest.approx(board.played, rel=0.03)


@pytest.mark.parametrize("board", [HIFN, BROADCOM], ids=lambda board: board.card)
def test_notes_have_every_constant_with_its_value_and_the_fitted_ones(board: Board) -> None:
    assert HIFN.constant("host.request_us") == pytest.approx(HIFN.constants.host_us, rel=0.003)
    assert HIFN.constant("card.setup_us") == pytest.approx(HIFN.constants.card_us, rel=0.003)
    notes = (tables.QUAD_HIFN if board is HIFN else tables.FOUR_BROADCOM).notes
    for each in boards.described_cards()[board.card].constants:
        if each.name not in ("host.request_us", "card.setup_us"):
            assert f"| {each.name} | {each.value:g} " in notes, each.name
    assert board.line_cards == board.constant("board.line_units")
    for taken in (board.constants, board.played):
        numbers = taken[: 2 if board.is_rated else 3]
        assert " / ".join(f"{value:.4g}" for value in numbers) in notes


def test_the_causes_that_notes_give_are_so() -> None:
    small, middle, large = (BROADCOM.simulate(Spot(32, size)) for size in (16, 8_192, 16_384))
    assert FIGURES[boards.INTERRUPTS_EACH](HIFN.simulate(Spot(32, 16))) == 1
    assert 1 <= 1 / FIGURES[boards.INTERRUPTS_EACH](small) < 2
    # The host is what all wait for, with large buffers for memory.
    assert small.host_ns / small.span_ns > 0.95
    assert min(each.copy_ns / each.span_ns for each in (middle, large)) > 0.8
    # 1.9 % of the time of a request with 16 KB.
    per_s = 1e6 * BROADCOM.published[Spot(32, 16_384)] / (8 * 16_384)
    assert round(0.019e6 / per_s, 1) == BROADCOM.constant("board.user_us")
    for threads in (2, 3, 4):
        spot = Spot(threads, 16)
        assert 0.9 < HIFN.analyse(spot) / HIFN.published[spot] < 0.98
    # What each byte adds with 32 threads, in ns.
    us = {size: 8 * size / HIFN.published[Spot(32, size)] for size in (16, 256, 1_024)}
    assert round(1_000 * (us[256] - us[16]) / 240) == 18
    assert round(1_000 * (us[1_024] - us[256]) / 768) == 14


def test_messages_of_3des_are_encrypted_and_compared_as_far_as_they_are_drawn() -> None:
    whole = HIFN.simulate(Spot(4, 16), batches=200)
    assert (whole.cipher, whole.encrypted) == ("3des-cbc", 200)
    assert 1 <= HIFN.simulate(Spot(4, 16_384), batches=200).encrypted < 50
    refused: list[tuple[dict[str, Any], str]] = [
        ({"law": "none"}, 'law is "none": give fixed, host or all'),
        ({"memory": "none"}, 'memory is "none": give unlimited, in order or copies first'),
        ({"order": "none"}, 'order is "none": give in turn, completions first or rounds'),
        ({"line_cards": 0}, "line_cards = 0"),
    ]
    for wrong, right in refused:
        with pytest.raises(InputError, match=right):
            HIFN.simulate(Spot(1, 16), **wrong)
