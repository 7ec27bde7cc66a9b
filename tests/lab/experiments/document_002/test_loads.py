"""Document 002's boards with loads they never had, and a card of today."""

from collections.abc import Callable, Mapping

import pytest

from sealift_lab.experiments.document_002 import boards, loads
from sealift_lab.model.arm import Value
from sealift_lab.model.results import Results

Compute = Callable[[str], Results]
Facts = dict[tuple[int, str], Mapping[str, Value]]


@pytest.fixture(name="answers")
def fixture_answers(computed: Compute) -> Facts:
    return {
        (int(each.cell["buffer_bytes"]), str(each.cell["question"])): each.facts
        for each in computed("002-Q").facts()
    }


def test_every_question_is_answered_and_the_cards_dead_or_unequal_do_as_they_should(
    computed: Compute, answers: Facts
) -> None:
    times = {key: float(facts[loads.TIMES]) for key, facts in answers.items()}
    assert len(times) == 3 * len(loads.QUESTIONS) - 1
    assert times[16, loads.LEAST] == 1
    assert times[16, "batches of 256"] > times[16, "batches of 16"] > 2
    assert times[16_384, "unequal cards, cost model"] > times[16_384, "unequal cards, round-robin"]
    for (size, name), facts in answers.items():
        is_moved = not str(facts["moved"]).startswith("0 ")
        assert is_moved == (name == loads.DIES), (size, name)
        assert (loads.P99_US in facts) != (f"{loads.P99_US}, why none" in facts)
    # Batches too large are left out because the cards are busy already.
    (skipped,) = (each.skipped for each in computed("002-Q").reports if each.skipped)
    assert skipped.startswith("256 messages of 16,384 B are 4 MiB a batch and 32 threads hold one")
    assert float(answers[16_384, "batches of 16"][boards.CARDS_BUSY]) > 95


def test_software_pays_for_short_messages_and_costs_for_long_ones_because_cards_wait(
    answers: Facts,
) -> None:
    for name in loads.SOFTWARE:
        assert float(answers[16, name][f"{loads.TIMES}, least"]) > 1.025
        alone, beside = answers[1_024, loads.COST], answers[1_024, name]
        assert float(beside[f"{loads.TIMES}, most"]) < 1 / 1.025
        assert float(beside[boards.CARDS_BUSY]) < float(alone[boards.CARDS_BUSY])
        assert float(beside[loads.SOFTWARE_US]) > 0 == alone[loads.SOFTWARE_US]
