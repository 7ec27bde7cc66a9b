"""What can be measured here, by trying an arm of each kind."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from sealift_lab import Arm, Axis, Cell, Context, Experiment, Scope, Skip, WrongResultError
from sealift_lab.experiments.survey import Entry, Here, survey
from sealift_lab.measure.timed import timed

SCOPE = Scope(quick=True, cores=2, devices=("library", "cpu"))


def experiment(make: Callable[[Cell, Context], Arm]) -> Experiment:
    return Experiment(
        name="made-up",
        title="Made up",
        axes=(Axis("who", "who", ("a", "b", "c")), Axis("count", "count", (100, 10, 1_000))),
        compare="who",
        arm=make,
    )


def lacking(**reasons: Exception) -> Callable[[Cell, Context], Arm]:
    def make(cell: Cell, context: Context) -> Arm:
        assert context.folder.is_dir()
        assert cell["count"] == 10, "the least work does"
        if error := reasons.get(str(cell["who"])):
            raise error
        return timed(lambda: None)

    return make


@pytest.mark.parametrize(
    ("reasons", "here", "why"),
    [
        ({}, Here.YES, ()),
        ({"b": Skip("no b")}, Here.PARTLY, ("b: no b",)),
        ({"a": Skip("none"), "b": Skip("none"), "c": Skip("none")}, Here.NO, ("a, b, c: none",)),
        ({"a": WrongResultError("five")}, Here.PARTLY, ("a: computes something wrong: five",)),
        ({"a": KeyError("x")}, Here.PARTLY, ("a: failed: KeyError: 'x'",)),
    ],
)
def test_an_arm_of_each_kind_is_tried_with_the_least_work(
    reasons: dict[str, Exception], here: Here, why: tuple[str, ...]
) -> None:
    assert survey([experiment(lacking(**reasons))], SCOPE) == (Entry(here, why),)


def test_a_cheaper_check_is_made_instead_of_the_arm_and_may_name_a_substitute() -> None:
    def make(cell: Cell, _: Context) -> Arm:
        raise AssertionError(f"{cell} was to be checked only")

    checked = replace(experiment(make), check_available=lacking(b=Skip("no b")))
    substituted = replace(checked, check_available=lambda *_: "a processor, for tests only")
    entries = survey([checked, substituted], SCOPE)
    assert entries[0].here is Here.PARTLY
    assert entries[1] == Entry(Here.SUBSTITUTE, ("a processor, for tests only",))


def test_an_experiment_that_is_not_quick_is_tried_as_in_a_full_run() -> None:
    def cells(scope: Scope) -> list[Cell]:
        return [] if scope.quick else [{"who": "a", "count": 10}]

    full = replace(experiment(lacking()), cells=cells)
    entries = survey([full, replace(full, cells=lambda _: ())], SCOPE)
    assert entries[0].here is Here.YES
    assert entries[1] == Entry(Here.NO, ("it has no cells for what is here",))
