"""Published figures come from experiments that are loaded, or from what the run stored of them."""

from collections.abc import Callable
from dataclasses import replace

import msgspec

from sealift_lab.claim.answer import answer
from sealift_lab.claim.declared import declared, encode_declared, left_out, lines, published
from sealift_lab.claim.replication import Replication, replication
from sealift_lab.claim.words import sentence
from sealift_lab.judge.rows import results
from sealift_lab.model.arm import Skip
from sealift_lab.model.experiment import Axis, Experiment, Line
from sealift_lab.model.published import DOCUMENTS, Kind, Published, Rate, Times
from sealift_lab.model.results import Origin, Relation, Results
from sealift_lab.run.read_folder import Run
from sealift_lab.show.page import page

Make = Callable[..., Run]


def never(*_: object) -> object:
    raise Skip("not here")


def experiment(figures: Callable[[Results], list[Published]]) -> Experiment:
    axes = (Axis("size_bytes", "size", (16, 1024)), Axis("device", "device", ("library", "cpu")))
    line = Line("mine", "time", 70, Origin.PUBLISHED)
    made = Experiment("made-up", "Made up", axes, "device", never)  # type: ignore[arg-type]
    return replace(made, published=figures, lines=lambda _: [line])


def figures(_: Results) -> list[Published]:
    small, large = ({"device": "cpu", "size_bytes": size} for size in (16, 1024))
    times = Times(small, {"device": "library", "size_bytes": 16})
    return [
        Published("009-T1", "speed-up", 2.4, "x", "table 1", Kind.RATIO, times),
        Published("009-T1", "by size", 0.1, "x", "table 1", Kind.RATIO, Times(large, small)),
        Published("009-T2", "speed", 100, "MB/s", "table 2", Kind.VALUE, Rate({"device": "fpga"})),
    ]


def as_own(run: Run, name: str = "made-up") -> Run:
    """The same of a user's file, which would leave a trace if it were run."""
    evil = run.path / "mine.py"
    evil.write_text(f"open({str(run.path / 'was-run')!r}, 'w')")
    (planned,) = run.plan.experiments
    own = replace(planned, name=name, file=str(evil), file_sha256="0" * 64, preferred={})
    (run.path / "plan.json").write_bytes(msgspec.json.encode(replace(run.plan, experiments=[own])))
    return Run(run.path)


def test_ratios_within_and_between_groups_become_claims_in_words(a_run: Make) -> None:
    run = a_run({16: (100.0, 40.0), 1024: (100.0, 50.0)})
    pairs, _ = published(run, results(run), [experiment(figures)])
    relations = [claim.relation for _, claim in pairs]
    assert relations == [Relation.REPRODUCED, Relation.DIFFERS, Relation.UNTESTED]
    first, second, third = (sentence(claim) for _, claim in pairs)
    assert first.startswith("speed-up: 2.4 x published, 2.50 x [")
    assert first.endswith("here, reproduced")
    assert second.startswith("by size: 0.1 x published, 0.80")
    assert third == "speed: 100 MB/s published, not tested: not among the cells of this run"


def test_without_the_experiment_nothing_is_compared_and_its_file_is_not_run(a_run: Make) -> None:
    run = as_own(a_run({16: (100.0, 40.0)}, experiment="aes-gcm-by-size"), "aes-gcm-by-size")
    assert published(run, results(run)) == ([], [])
    assert declared(run.plan.experiments[0]).names["cpu"] == "Kernels"
    assert not (run.path / "was-run").exists()


def test_what_a_users_experiment_published_is_stored_in_the_folder(a_run: Make) -> None:
    run = as_own(a_run({16: (100.0, 40.0), 1024: (100.0, 50.0)}))
    loaded, found = [experiment(figures)], results(run)
    (run.path / "published.json").write_bytes(encode_declared(run, found, loaded))
    (planned,), elsewhere = run.plan.experiments, Run(run.path)
    pairs, _ = published(run, found, loaded)
    again, _ = published(elsewhere, results(elsewhere))
    assert [claim for _, claim in again] == [claim for _, claim in pairs]
    assert lines(elsewhere, planned, found) == lines(run, planned, found, loaded)
    assert page(elsewhere, results(elsewhere)) == page(run, found, loaded)
    (run.path / "published.json").write_bytes(b'{"made-up": {"pairs": [[{}, 1]]}}')
    damaged = Run(run.path)
    (note,) = published(damaged, results(damaged))[1]
    assert "published.json" in note
    assert lines(damaged, planned, found) == ()


def test_figures_that_fail_on_a_foreign_folder_are_a_note_and_no_crash(a_run: Make) -> None:
    def fail(_: Results) -> list[Published]:
        raise KeyError("simulation, Mbit/s")

    run = a_run({16: (100.0, 40.0)})
    pairs, (note,) = published(run, results(run), [experiment(fail)])
    assert pairs == []
    assert note.startswith("made-up can't be compared with what was published: KeyError")


def test_a_run_of_all_counts_what_it_left_out_as_not_here(a_run: Make) -> None:
    run = a_run({16: (100.0, 40.0)}, experiment="aes-gcm-by-size")
    assert left_out(run) == []
    plan = msgspec.json.encode(replace(run.plan, of_all=True))
    (run.path / "plan.json").write_bytes(plan)
    run = Run(run.path)
    pairs = left_out(run)
    assert {each.figure[:3] for each, _ in pairs} == DOCUMENTS.keys()
    judged = [each.kind for each, claim in pairs if replication(claim) is Replication.DIFFERS]
    assert {*judged} == {Kind.ARITHMETIC}, "print that contradicts itself needs no run"
    assert all(claim.reason for _, claim in pairs if claim.relation is Relation.UNTESTED)
    html = page(run, results(run))
    for number, title in DOCUMENTS.items():
        assert f"<td>{number}, " in html, title
    assert "Document 000: PIM bulk encryption" in html


def test_an_experiment_that_prefers_no_work_is_answered_over_all_of_it(a_run: Make) -> None:
    run = as_own(a_run({16: (100.0, 40.0), 1024: (100.0, 50.0), 16384: (100.0, 100.0)}))
    alike = answer(run, results(run))
    assert alike.advice == "On the processor"
    assert alike.basis == "16 B messages; Kernels fastest in 2 of 3, no difference in 1 of 3"
    # It compares what it names, and nothing that this machine lacks.
    assert [bar.claim.subject for bar in alike.bars] == ["Kernels", "AWS-LC"]
    run = as_own(a_run({16: (100.0, 40.0), 1024: (50.0, 100.0)}, "other"))
    open_ended = answer(run, results(run))
    assert open_ended.advice == "It depends on message size"
    assert open_ended.lead == "Kernels fastest in 1 of 2, AWS-LC fastest in 1 of 2"
    assert not any(bar.is_winner for bar in open_ended.bars)
