"""Document 001: what the experiments on files compare with what was published."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from lab.test_experiments import FULL, found, matches
from sealift.lab import registry
from sealift.lab.published import Match
from sealift.lab.result import Found
from sealift.lab.spec import Experiment


def file_times(experiment: Experiment, slow: Mapping[str, float], **only: object) -> Found:
    """What is found where conditions take so many times as long, and the others as long as none."""
    everything = found(experiment, lambda cell: 100.0 / slow.get(str(cell["condition"]), 1.0))
    rows = [row for row in everything.rows if only.items() <= row.cell.items()]
    return Found(rows, everything.verified)


def test_a_lock_a_byte_reproduces_document_001_and_its_recommendation_half() -> None:
    experiment = registry.find("001-F2")
    locked = {"a rank's runtime": 2.0, "a rank's runtime, freed": 2.0}
    told = matches(experiment.published(file_times(experiment, locked, reader="getc")))
    rank = "slow-down of reading: a rank's runtime, getc, 1 thread"
    assert told[f"least {rank}"] == {Match.LARGER}
    assert told[f"most {rank}"] == {Match.SMALLER}
    assert told["supposed cause, virtual pages: huge pages alone, getc, 1 thread"] == {
        Match.NO_EFFECT
    }
    assert told["recommendation, first half: getc, 1 thread"] == {Match.NO_EFFECT}
    # Loading and going through memory together take as long as reading beside a rank's runtime.
    assert told["recommendation, second half: getc, 1 thread"] == {Match.NO_EFFECT}


def test_the_recommendation_is_judged_by_what_it_takes_in_all_and_told_in_parts() -> None:
    experiment = registry.find("001-F2")
    slow = {"a rank's runtime": 6.0, "a rank's runtime, freed": 6.0}
    fast = {"loaded, then a rank's runtime": 0.5}
    everything = file_times(experiment, slow | fast, reader="getc", threads=1, cache="warm")
    second, *others = (
        each
        for each in experiment.published(everything)
        if each.what.startswith("recommendation, second half: ")
    )
    assert not others, "what loading takes is not known where blocks are read"
    assert second.here is not None
    assert second.here.median == pytest.approx(6 / (1 + 0.5))
    assert "which loading takes at most, and to go through memory once" in second.note
    (parts,) = experiment.listings(everything)
    assert [row[1] for row in parts.rows] == [
        "read with a rank's runtime",
        "free it, then read",
        "load first, go through memory",
    ]
    before, freed, loaded = ([cell.partition(" ")[0] for cell in row[2:]] for row in parts.rows)
    us = float(before[0].replace(",", ""))
    assert float(loaded[2].replace(",", "")) == pytest.approx(us / 4, rel=0.01)
    assert (before[1], before[3], freed[3], loaded[3]) == ("", "", "1.000", "4.000")
    assert not experiment.listings(Found((), ()))


def test_writing_as_fast_with_a_rank_reproduces_document_001() -> None:
    experiment = registry.find("001-W1")
    told = matches(experiment.published(file_times(experiment, {"a PIM rank": 1.5})))
    assert told["slow-down of writing: a rank's runtime, write of 4,096 B"] == {Match.REPRODUCED}
    assert told["slow-down of writing: a PIM rank, fwrite of 4,096 B"] == {Match.LARGER}
    assert not any("putc" in what for what in told), "what was printed is of blocks"


def test_the_first_groups_of_file_experiments_hold_every_condition() -> None:
    for name in ("001-F2", "001-W1"):
        experiment = registry.find(name)
        assert experiment.essential
        first = experiment.groups(FULL)[: experiment.essential]
        assert all({"none", "a PIM rank"} <= {cell["condition"] for cell in each} for each in first)


def test_what_an_idle_thread_costs_is_told_with_what_to_do() -> None:
    experiment = registry.find("001-F2")
    said = experiment.says(file_times(experiment, {"one idle thread": 2.0}))
    assert said.startswith("Reading byte by byte takes 2.000 [1.998..2.002] times as long here")
    assert "getc_unlocked" in said
    assert "costs such a reader little" in experiment.says(file_times(experiment, {}))
    assert experiment.says(Found((), ())) == ""


def test_what_an_idle_thread_costs_is_no_advice_while_blocks_are_few_or_noise_is_loud() -> None:
    experiment = registry.find("001-F2")
    whole = file_times(experiment, {"one idle thread": 2.0})
    few = [replace(row, ratio=row.ratio and replace(row.ratio, blocks=7)) for row in whole.rows]
    loud = [replace(row, noise_floor=0.5) for row in whole.rows]
    for rows in (few, loud):
        said = experiment.says(Found(rows, whole.verified))
        assert "settles nothing yet" in said
        assert "getc_unlocked" not in said
