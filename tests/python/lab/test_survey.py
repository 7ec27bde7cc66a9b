"""What can be measured here, of experiments that say so themselves."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from sealift.lab import Arm, Axis, Cell, Context, Experiment, Scope, Skip, WrongResultError, timed
from sealift.lab.devices import real_devices
from sealift.lab.gpus.cells import PROCESSOR
from sealift.lab.survey import Here, survey, this_scope

SCOPE = Scope(quick=True, cores=2, devices=("library", "cpu"))


def experiment(make: Callable[[Cell, Context], Arm], weight: float = 1.0) -> Experiment:
    return Experiment(
        name=f"made-up-{round(weight)}",
        title="Made up",
        axes=(Axis("who", "who", ("a", "b", "c")), Axis("count", "count", (100, 10, 1_000))),
        compare="who",
        arm=make,
        weight=weight,
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
    ("reasons", "here", "told"),
    [
        ({}, Here.YES, ()),
        ({"b": Skip("no b")}, Here.PARTLY, ("b: no b",)),
        ({"a": Skip("none"), "b": Skip("none"), "c": Skip("none")}, Here.NO, ("a, b, c: none",)),
        ({"a": WrongResultError("five")}, Here.PARTLY, ("a: computes something wrong: five",)),
        ({"a": KeyError("x")}, Here.PARTLY, ("a: failed: KeyError: 'x'",)),
    ],
)
def test_an_arm_of_each_kind_is_tried_with_the_least_work(
    reasons: dict[str, Exception], here: Here, told: tuple[str, ...]
) -> None:
    (entry,) = survey([experiment(lacking(**reasons))], SCOPE)
    assert (entry.here, entry.reasons) == (here, told)


def test_what_is_cheaper_to_try_than_to_make_is_only_tried() -> None:
    def made(cell: Cell, _: Context) -> Arm:
        raise AssertionError(f"{cell} was to be tried only")

    tried = replace(experiment(made), tries=lacking(b=Skip("no b")))
    (entry,) = survey([tried], SCOPE)
    assert (entry.here, entry.reasons) == (Here.PARTLY, ("b: no b",))


def test_what_a_processor_works_in_the_place_of_a_gpu_is_called_so() -> None:
    def of(device: str, tries: Callable[[Cell, Context], object] | None = None) -> Experiment:
        cells: list[Cell] = [
            {"who": "a", "device": f"{device}, 1 thread"},
            {"who": "b", "device": "cpu"},
        ]
        axes = (Axis("who", "who"), Axis("device", "device"))
        made = experiment(lambda *_: timed(lambda: None))
        return replace(made, axes=axes, cells=lambda _: cells, tries=tries)

    without, with_gpu, lacks = of(PROCESSOR), of("cuda"), of(PROCESSOR, refused)
    entries = survey([without, with_gpu, lacks], SCOPE)
    assert [each.here for each in entries] == [Here.STAND_IN, Here.YES, Here.NO]
    assert [bool(each.reasons) for each in entries] == [True, False, True]
    assert entries[0].reasons[0].startswith(f"a GPU: {PROCESSOR} is in its place")
    assert entries[2].reasons == ("a, b: no OpenCL",)


def refused(*_: object) -> None:
    raise Skip("no OpenCL")


def test_what_is_no_part_of_a_quick_run_is_tried_as_in_a_full_one() -> None:
    full = replace(
        experiment(lacking(), 3.0),
        cells=lambda scope: [] if scope.quick else [{"who": "a", "count": 10}],
    )
    _, second = survey([experiment(lacking()), full], SCOPE)
    assert (second.here, second.reasons) == (Here.YES, ())


def test_an_experiment_without_cells_says_so() -> None:
    empty = Experiment(
        name="empty",
        title="Empty",
        axes=(Axis("who", "who"),),
        compare="who",
        arm=lacking(),
        cells=lambda _: (),
    )
    (entry,) = survey([empty], SCOPE)
    assert (entry.here, entry.reasons) == (Here.NO, ("it has no cells for what is here",))


def test_the_scope_of_this_machine_has_its_real_devices() -> None:
    scope = this_scope(quick=False, threads=(1, 2))
    assert scope.devices == real_devices()
    assert scope.devices[0] == "library"
    assert scope.cores >= 1
    assert (scope.quick, scope.threads) == (False, (1, 2))
