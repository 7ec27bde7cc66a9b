"""Document 002's tables beside analysis and simulation, and what may be said of its claims."""

from statistics import mean

import pytest

from sealift import InputError
from sealift.lab import registry
from sealift.lab.boards import BROADCOM, HIFN, Board, Spot
from sealift.lab.experiments import cards_beyond, cards_claims
from sealift.lab.published import Kind, Match, table
from sealift.lab.result import Found, Origin, Verified
from sealift.lab.spec import Context, Experiment, Scope

FULL = Scope(quick=False, cores=2, devices=())


@pytest.fixture(scope="module", name="context")
def fixture_context(tmp_path_factory: pytest.TempPathFactory) -> Context:
    return Context(seed=1, folder=tmp_path_factory.mktemp("boards"))


def computed(experiment: Experiment, context: Context) -> Found:
    cells = [cell for group in experiment.groups(FULL) for cell in group]
    facts = [experiment.arm(cell, context).verified() for cell in cells]
    return Found(
        (),
        tuple(
            Verified(experiment.name, cell, each) for cell, each in zip(cells, facts, strict=True)
        ),
    )


@pytest.fixture(scope="module", name="slow")
def fixture_slow(context: Context) -> Found:
    return computed(registry.find("002-T1"), context)


@pytest.fixture(scope="module", name="fast")
def fixture_fast(context: Context) -> Found:
    return computed(registry.find("002-T2"), context)


def errors(found: Found, column: str) -> list[float]:
    name = f"{column}, error in %"
    return [abs(float(each.facts[name])) for each in found.verified if name in each.facts]


def test_two_fitted_numbers_give_table_1_by_analysis(slow: Found) -> None:
    off = errors(slow, "analysis, Mbit/s")
    assert len(off) == 30
    assert mean(off) <= 4.5
    assert max(off) <= 11


def test_fitted_on_1_and_32_threads_alone_analysis_gives_the_other_rows(slow: Found) -> None:
    off = errors(slow, "analysis fitted on 1 and 32 threads, Mbit/s")
    assert len(off) == 18
    assert mean(off) <= 4.5


def test_the_simulation_gives_table_1(slow: Found) -> None:
    off = errors(slow, "simulation, Mbit/s")
    assert len(off) == 30
    assert mean(off) <= 5
    assert max(off) <= 15


def test_three_fitted_numbers_give_table_2_and_the_published_constants_do_not(fast: Found) -> None:
    assert mean(errors(fast, "analysis, Mbit/s")) <= 7
    assert mean(errors(fast, "analysis with published constants, Mbit/s")) == pytest.approx(
        10.9, abs=0.5
    )
    said = registry.find("002-T2").says(fast)
    assert "300.88 Mbit/s" in said
    assert "three times a byte" in said


def test_every_cell_is_compared_with_its_origin(slow: Found) -> None:
    compared = registry.find("002-T1").published(slow)
    assert [each.published for each in compared] == list(HIFN.published.values())
    assert all(each.origin is Origin.SIMULATED and each.kind is Kind.MODEL for each in compared)
    assert {each.match for each in compared} <= {Match.REPRODUCED, Match.IN_SHAPE}
    assert all("by analysis" in each.note for each in compared)


@pytest.mark.parametrize("board", [HIFN, BROADCOM], ids=lambda board: board.card)
def test_no_cell_exceeds_the_bounds(board: Board, slow: Found, fast: Found) -> None:
    for each in (slow if board is HIFN else fast).verified:
        spot = Spot(int(each.cell["threads"]), int(each.cell["buffer_bytes"]))
        bound = board.bound(spot)
        assert board.analysed(spot) <= bound * (1 + 1e-9)
        # Times that are drawn have a mean beside the true one.
        assert float(each.facts["simulation, Mbit/s"]) <= bound * 1.03


def test_each_claim_has_a_verdict_or_a_reason(context: Context) -> None:
    compared = cards_claims.EXPERIMENT.published(computed(cards_claims.EXPERIMENT, context))
    assert len(compared) == len(table("002-X1-claims")) == 37
    verdicts = {each.source.partition(": ")[2]: each.match for each in compared}
    assert set(verdicts.values()) == {
        Match.REPRODUCED,
        Match.IN_SHAPE,
        Match.CONTRADICTED,
        Match.HOLDS,
        Match.BEYOND,
    }
    assert verdicts["841.7 Mbps in the case of 16 KB buffers"] is Match.CONTRADICTED
    assert all(each.note for each in compared)


def test_what_could_not_be_asked_is_answered_for_every_size(context: Context) -> None:
    found = computed(cards_beyond.EXPERIMENT, context)
    times = {
        (each.cell["buffer_bytes"], each.cell["question"]): float(each.facts[cards_beyond.TIMES])
        for each in found.verified
    }
    # All but batches of 256 of the largest, which are 4 MiB each.
    assert len(times) == 3 * len(cards_beyond.QUESTIONS) - 1
    assert times[16, "as asked in 2003"] == 1
    assert times[16, cards_beyond.BATCH_256] > times[16, cards_beyond.BATCH_16] > 2
    moved = [each.facts["moved"] for each in found.verified if each.cell["question"] == DIES]
    assert any(not str(each).startswith("0 ") for each in moved)
    unequal = [times[16_384, f"unequal cards, {how}"] for how in ("round-robin", "cost model")]
    assert unequal[1] > unequal[0]
    assert "batches of 256" in cards_beyond.EXPERIMENT.says(found)


def test_what_no_board_is_asked_for_is_refused() -> None:
    with pytest.raises(ValueError, match="'shares_lines' is nothing"):
        HIFN.simulated(Spot(1, 16), shares_lines=True)
    for name, value, said in (
        ("law", "none", "give fixed, host or all"),
        ("clients", 0, "clients is 0: give"),
        ("policy", "nobody", "nobody"),
        ("rates_gbit_per_s", (), "cards = 0"),
    ):
        with pytest.raises(InputError, match=said):
            HIFN.simulated(Spot(1, 16), **{name: value})


DIES = cards_beyond.DIES
