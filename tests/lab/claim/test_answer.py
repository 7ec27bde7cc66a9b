"""The answer is about preferred work, settled before unsettled; a winner was shown to win."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from sealift_lab.claim.answer import answer, claims, machine_text
from sealift_lab.claim.claims import compare, experiment_claims, finding
from sealift_lab.claim.words import sentence
from sealift_lab.judge.rows import gauge, results
from sealift_lab.model.results import Relation
from sealift_lab.model.run import DeviceState, Fact, ReportLine, Surroundings
from sealift_lab.run.read_folder import Run

Make = Callable[..., Run]
THREE = {16: (100.0, 40.0), 1024: (100.0, 50.0), 16384: (100.0, 98.0)}


def test_the_winner_of_the_preferred_work_is_recommended_with_one_figure(a_run: Make) -> None:
    run = a_run(THREE)
    first = answer(run, results(run))
    assert first.question == "Where should my bulk encryption run?"
    assert first.advice == "On the processor"
    assert first.lead.startswith("2.00× AWS-LC [")
    assert first.basis == "1 KiB messages"
    bars = [(bar.claim.subject, bar.is_winner) for bar in first.bars]
    assert bars == [("Kernels", True), ("AWS-LC", False), ("gpu", False)]
    assert any("Example 9000, 2 cores, 2026-11-25" in remark.text for remark in first.remarks)


def test_bars_that_give_another_ratio_than_the_headline_say_why(a_run: Make) -> None:
    run = a_run(THREE)
    first = answer(run, results(run))
    assert first.note == "", "the same ratio to three digits"
    winner, other, *rest = first.bars
    assert other.rate is not None
    slower = replace(other, rate=other.rate.scaled(0.9))
    apart = replace(first, bars=[winner, slower, *rest])
    told = r"the bars are medians and give 2\.2\d×; 2\.00× compares samples taken in turn"
    assert re.fullmatch(told, apart.note)
    assert replace(apart, headline=None).note == replace(apart, bars=[winner]).note == ""


def test_a_run_of_one_process_says_that_it_speaks_of_that_one(a_run: Make) -> None:
    said = [
        [remark.text for remark in answer(run, results(run)).remarks]
        for run in (a_run(THREE, "one", processes=1, blocks=12), a_run(THREE))
    ]
    caveat = "another run may differ by 1 to 3 %"
    assert [caveat in texts for texts in said] == [True, False]


def test_a_noisy_run_does_not_say_that_another_differs_by_less(
    a_run: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = a_run(THREE, processes=1, blocks=12)
    found = gauge(run.samples)
    assert found is not None
    noisy = replace(found, noise=0.5)
    monkeypatch.setattr("sealift_lab.claim.answer.gauge", lambda _: noisy)
    texts = [remark.text for remark in answer(run, results(run)).remarks]
    assert "noise ±50.0 %" in texts
    assert not any("another run" in text for text in texts)


def test_settled_work_goes_before_what_is_preferred_and_not_settled(a_run: Make) -> None:
    run = a_run({16: (100.0, 50.0), 1024: (100.0, 97.6)}, blocks=1)
    first = answer(run, results(run))
    assert first.headline is not None
    assert (first.headline.relation, first.basis) == (Relation.FASTEST, "16 B messages")


def test_equal_arms_are_no_recommendation(a_run: Make) -> None:
    run = a_run({1024: (100.0, 100.0)})
    first = answer(run, results(run))
    assert first.headline is not None
    assert first.headline.relation is Relation.SAME
    assert first.advice == "No difference"
    assert not any(bar.is_winner for bar in first.bars)


def test_where_the_reference_wins_the_ratio_is_turned_round(a_run: Make) -> None:
    run = a_run({1024: (50.0, 100.0, 200.0)})
    first = answer(run, results(run))
    assert (first.advice, first.lead[:14]) == ("AWS-LC", "2.00× Kernels ")


def test_a_device_that_computed_wrong_is_no_advice_and_a_reason_for_care(a_run: Make) -> None:
    wrong = ReportLine("made-up", 0, 1, 0, {}, wrong="tag 7 differs")
    run = a_run({1024: (100.0, 50.0)}, reports=[wrong])
    first = answer(run, results(run))
    assert first.advice == "Nothing to compare with"
    cares = [remark.text for remark in first.remarks if remark.is_care]
    assert any(text.startswith("Kernels computed something wrong") for text in cares)


def test_an_oracle_is_no_advice(a_run: Make) -> None:
    oracle = ReportLine("made-up", 0, 1, 0, {"role": "oracle"})
    run = a_run({1024: (100.0, 50.0)}, reports=[oracle])
    assert answer(run, results(run)).advice == "Nothing to compare with"


def test_who_wins_from_where_follows_from_verdicts_alone(a_run: Make) -> None:
    run = a_run({16: (100.0, 40.0), 64: (99.0, 50.0), 1024: (100.0, 100.0), 4096: (50.0, 90.0)})
    told = [sentence(claim) for claim in claims(run, results(run))]
    assert "Kernels: fastest from 16 B to 64 B" in told
    assert not [text for text in told if text.startswith("AWS-LC: fastest")]


def test_claims_name_absent_devices_in_short_and_once(a_run: Make) -> None:
    run = a_run(THREE)
    absent = [each for each in claims(run, results(run)) if each.relation is Relation.ABSENT]
    assert [sentence(claim) for claim in absent] == ["gpu is absent: no driver"]


def test_a_device_beside_the_one_that_was_measured_is_named(a_run: Make) -> None:
    run = a_run(THREE)
    others = ("cpu", "cpu:isa=aesni", "cpu:1", "gpu:1")
    found = [DeviceState(spec, spec[:3], "present", "real") for spec in others]
    run.machine = replace(run.machine, devices=found)
    texts = [remark.text for remark in answer(run, results(run)).remarks]
    assert [text for text in texts if "also here" in text] == ["also here, not measured: cpu:1"]


def test_a_finding_counts_verdicts_and_spans_ratios(a_run: Make) -> None:
    run = a_run(THREE)
    told = finding(run.plan.experiments[0], results(run)["made-up"])
    assert "Kernels: 1.02 to 2.50× AWS-LC" in told
    assert "3 comparisons: 2 faster, 1 same" in told


def test_a_later_run_that_is_faster_is_called_so_cell_by_cell(a_run: Make) -> None:
    before = a_run({16: (100.0, 50.0), 64: (10.0,)}, "before")
    now = a_run({16: (100.0, 40.0), 1024: (9.0,)}, "now", seed=2)
    pairs, notes = compare(before, now)
    told = [(claim.subject, claim.relation) for _, claim in pairs]
    assert told == [
        ("16 B messages, AWS-LC", Relation.SAME),
        ("16 B messages, Kernels", Relation.FASTER),
    ]
    assert [round(each.before.value) for each, _ in pairs] == [100, 50]
    assert len(notes) == 2
    assert "1 of made-up" in notes[0]


def test_one_process_of_each_settles_nothing_and_says_so(a_run: Make) -> None:
    before = a_run({16: (100.0, 50.0)}, "before", processes=1, blocks=20)
    now = a_run({16: (100.0, 40.0)}, "now", processes=1, blocks=20)
    (_, (_, claim)), _ = compare(before, now)
    assert claim.relation is Relation.INCONCLUSIVE
    assert "process" in claim.reason


def test_numbers_that_are_compared_are_said_with_what_they_count(a_run: Make) -> None:
    run = a_run({1024: (100.0, 50.0)})
    [planned], [found] = run.plan.experiments, results(run).values()
    row = next(row for row in found.rows if row.ratio)
    row = replace(
        row, cell={**row.cell, "streams_percent": 50}, compare="streams_percent", reference=0
    )
    planned = replace(planned, compare="streams_percent")
    said = experiment_claims(planned, replace(found, rows=[row]))
    assert (said[0].subject, said[0].other) == ("streams 50 %", "streams 0 %")


def test_a_machine_is_named_with_what_tells_its_kernels() -> None:
    facts: dict[str, Fact] = {"cpu_model": Fact("Intel(R) Xeon(R) Processor @ 2.10GHz")}
    assert machine_text(Surroundings(facts)) == "Intel Xeon"
    facts["cores_affinity"] = Fact(2)
    facts["cpu_flags"] = Fact(["aes", "avx512f", "hypervisor"])
    assert machine_text(Surroundings(facts)) == "Intel Xeon with AVX-512, 2 cores, virtual machine"
