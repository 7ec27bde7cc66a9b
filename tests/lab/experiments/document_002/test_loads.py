"""Document 002's boards otherwise: one part changed, loads they never had, and a card of today."""

from collections.abc import Callable, Mapping

import pytest

from sealift_lab._lab import cards
from sealift_lab.experiments.document_002 import boards, loads
from sealift_lab.model.arm import Value
from sealift_lab.model.results import Origin, Results

Compute = Callable[[str], Results]
Facts = dict[tuple[int, str], Mapping[str, Value]]


@pytest.fixture(name="answers")
def fixture_answers(computed: Compute) -> Facts:
    return {
        (int(each.cell["buffer_bytes"]), str(each.cell["question"])): each.facts
        for each in computed("002-Q").facts()
    }


def test_every_question_is_answered_and_the_cards_dead_or_unequal_do_as_they_should(
    answers: Facts,
) -> None:
    times = {key: float(facts[loads.TIMES]) for key, facts in answers.items()}
    assert len(times) == 3 * len(loads.QUESTIONS) - 1
    assert times[16, loads.LEAST] == 1
    assert times[16, "batches of 256"] > times[16, "batches of 16"] > 2
    for (size, name), facts in answers.items():
        is_moved = not str(facts["moved"]).startswith("0 ")
        assert is_moved == (name == loads.DIES), (size, name)
        assert (loads.P99_US in facts) != (f"{loads.P99_US}, why none" in facts)
    by_rounds, by_costs = (
        times[16_384, f"unequal cards, {each}"] for each in ("round-robin", "cost model")
    )
    assert by_costs > by_rounds


def test_software_pays_for_short_messages_and_costs_for_long_ones_because_cards_wait(
    answers: Facts,
) -> None:
    pays, costs = set(), set()
    for size in (16, 1_024, 16_384):
        for name in loads.SOFTWARE:
            facts = answers[size, name]
            if float(facts[f"{loads.TIMES}, least"]) > 1.025:
                pays.add((size, name))
            if float(facts[f"{loads.TIMES}, most"]) < 1 / 1.025:
                costs.add((size, name))
    assert {(16, name) for name in loads.SOFTWARE} <= pays
    assert {(1_024, name) for name in loads.SOFTWARE} <= costs
    for size, name in costs:
        alone, beside = answers[size, loads.COST], answers[size, name]
        assert float(beside[boards.CARDS_BUSY]) < float(alone[boards.CARDS_BUSY])
        assert float(beside[loads.SOFTWARE_US]) > 0 == alone[loads.SOFTWARE_US]


def test_batches_too_large_are_left_out_because_the_cards_are_busy_already(
    computed: Compute, answers: Facts
) -> None:
    (skipped,) = (each.skipped for each in computed("002-Q").reports if each.skipped)
    assert skipped.startswith("256 messages of 16,384 B are 4 MiB a batch and 32 threads hold one")
    assert float(answers[16_384, "batches of 16"][boards.CARDS_BUSY]) > 95


def test_switches_change_the_load_and_the_simulation_meets_theory(computed: Compute) -> None:
    facts = {
        (str(each.cell["board"]), int(each.cell["buffer_bytes"]), str(each.cell["switch"])): each
        for each in computed("002-X2").facts()
    }
    assert facts["Hifn 7751", 16, loads.UNCHANGED].facts[loads.SWITCH_TIMES] == 1
    first, turn = (
        float(facts["Broadcom 5820", 16_384, name].facts[boards.IDLE])
        for name in (loads.UNCHANGED, loads.IN_TURN)
    )
    assert turn > first
    three = facts["Broadcom 5820", 16_384, loads.THREE].facts[loads.SWITCH_TIMES]
    assert float(three) == pytest.approx(1, abs=0.01)
    reports = computed("002-X2").facts(switch=loads.THEORY)
    off = [float(each.facts[loads.OFF]) for each in reports]
    assert len(off) == 3
    assert max(map(abs, off)) < 2


def test_each_described_card_is_projected_by_its_own_prediction(computed: Compute) -> None:
    assert loads.TODAY.origin is Origin.PROJECTED
    known = {card.name: card for card in cards()}
    found = list(computed("002-M1").facts())
    assert {str(each.cell["card"]) for each in found} == {*known}
    for each in found:
        predicted = known[str(each.cell["card"])].predict(1, int(each.cell["buffer_bytes"]))
        assert each.facts[loads.ALONE_US] == predicted.batch_ns / 1_000
        assert each.facts[loads.LIMIT] == predicted.bound_by
