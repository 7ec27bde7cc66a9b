"""Published figures come from experiments that are loaded; a folder's files are never run."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec

from sealift_lab.claim.declared import declared, problems, published
from sealift_lab.claim.words import sentence
from sealift_lab.judge.judge import results
from sealift_lab.model.claim import Relation
from sealift_lab.model.experiment import Axis, Experiment
from sealift_lab.model.figure import Rate, Times
from sealift_lab.model.published import Kind, Published
from sealift_lab.model.results import Results
from sealift_lab.model.sample import Skip
from sealift_lab.run.folder import Run

Make = Callable[..., Run]


def never(*_: object) -> object:
    raise Skip("not here")


def experiment(figures: Callable[[Results], list[Published]]) -> Experiment:
    axes = (Axis("size_bytes", "size", (16, 1024)), Axis("device", "device", ("library", "cpu")))
    return Experiment("made-up", "Made up", axes, "device", never, published=figures)  # type: ignore[arg-type]


def figures(_: Results) -> list[Published]:
    small, large = ({"device": "cpu", "size_bytes": size} for size in (16, 1024))
    times = Times(small, {"device": "library", "size_bytes": 16})
    return [
        Published("009-T1", "speed-up", 2.4, "x", "table 1", Kind.RATIO, times),
        Published("009-T1", "by size", 0.1, "x", "table 1", Kind.RATIO, Times(large, small)),
        Published("009-T2", "speed", 100, "MB/s", "table 2", Kind.VALUE, Rate({"device": "fpga"})),
    ]


def test_ratios_within_and_between_groups_become_claims_in_words(a_run: Make) -> None:
    run = a_run({16: (100.0, 40.0), 1024: (100.0, 50.0)})
    pairs = published(run, results(run), [experiment(figures)])
    relations = [claim.relation for _, claim in pairs]
    assert relations == [Relation.REPRODUCED, Relation.DIFFERS, Relation.UNTESTED]
    first, second, third = (sentence(claim) for _, claim in pairs)
    assert first.startswith("speed-up: 2.4 x published, 2.50 x [")
    assert first.endswith("here, reproduced")
    assert second.startswith("by size: 0.1 x published, 0.80")
    assert third == "speed: 100 MB/s published, not tested: not among the cells of this run"


def test_without_the_experiment_nothing_is_compared_and_its_file_is_not_run(a_run: Make) -> None:
    run = a_run({16: (100.0, 40.0)}, experiment="aes-gcm-by-size")
    evil = run.path / "mine.py"
    evil.write_text(f"open({str(run.path / 'was-run')!r}, 'w')")
    (planned,) = run.plan.experiments
    plan = replace(run.plan, experiments=[replace(planned, file=str(evil), file_sha256="0" * 64)])
    (run.path / "plan.json").write_bytes(msgspec.json.encode(plan))
    run = Run(Path(run.path))
    assert published(run, results(run)) == []
    assert problems(run, results(run)) == []
    assert declared(run.plan.experiments[0]).names["cpu"] == "Kernels"
    assert not (run.path / "was-run").exists()


def test_figures_that_fail_on_a_foreign_folder_are_a_note_and_no_crash(a_run: Make) -> None:
    def fail(_: Results) -> list[Published]:
        raise KeyError("simulation, Mbit/s")

    run = a_run({16: (100.0, 40.0)})
    assert published(run, results(run), [experiment(fail)]) == []
    (note,) = problems(run, results(run), [experiment(fail)])
    assert note.startswith("made-up can't be compared with what was published: KeyError")
