"""What experiments are refused for, before anything is measured or written."""

import itertools
import math
from typing import Any

import pytest

from sealift.lab import spec
from sealift.lab.record import FIGURES, SAMPLE_COLUMNS
from sealift.lab.spec import Axis, Experiment, Plot, Sample, Scope
from sealift.lab.timed import timed

SCOPE = Scope(quick=True, cores=1, devices=())
# Making as many cells as there may be takes seconds.
FEW = 1_000


def experiment(**changes: Any) -> Experiment:
    fields: dict[str, Any] = {
        "name": "sums",
        "title": "Sums",
        "axes": (Axis("n", "numbers", (10, 100)), Axis("who", "who", ("a", "b"))),
        "compare": "who",
        "arm": lambda *_: timed(lambda: sum(range(10))),
    }
    return Experiment(**fields | changes)


def sample(**changes: Any) -> Sample:
    fields: dict[str, Any] = {
        "ns": 1_000,
        "operations": 10,
        "bytes": 0,
        "involuntary_switches": 0,
        "cpu_share": 1,
        "steal_ns": 0,
    }
    return Sample(**fields | changes)


@pytest.mark.parametrize(
    ("name", "values", "right"),
    [
        ("ns", (0, -1, 1.5, True, "1", None, 2**63), "an int of 1 or more"),
        ("operations", (0, 1.0, math.nan), "an int of 1 or more"),
        ("bytes", (-1, 0.0, False), "an int of 0 or more"),
        ("involuntary_switches", (-1, 0.5), "an int of 0 or more"),
        ("steal_ns", (-1, math.inf), "an int of 0 or more"),
        ("cpu_share", (-0.1, 1.1, math.nan, True, "1", None), "a number from 0 to 1"),
        ("clock_ghz", (0, -3.0, math.inf, math.nan, True, "3"), "a number above 0, or None"),
    ],
)
def test_a_sample_that_was_never_measured_is_refused(
    name: str, values: tuple[Any, ...], right: str
) -> None:
    for value in values:
        with pytest.raises(ValueError, match=right) as caught:
            sample(**{name: value})
        assert f"{name}={value!r}" in str(caught.value)
    sample(clock_ghz=3)


@pytest.mark.parametrize("name", ["experiment", "id", *FIGURES, *SAMPLE_COLUMNS])
def test_an_axis_has_no_name_that_results_have_already(name: str) -> None:
    # Units of results are not written as axes are.
    if name.islower():
        with pytest.raises(ValueError, match=f"axis '{name}': results have a column"):
            Axis(name, "title")


NOT_KEPT = [
    (True, "is of type bool"),
    (None, "is of type NoneType"),
    ((1, 2), "is of type tuple"),
    (math.nan, "is no finite number"),
    (-math.inf, "is no finite number"),
    ("a\ud800", "half of a surrogate pair"),
    (2**63, "is beyond 64 bits"),
    (-(10**400), "is beyond 64 bits"),
]


@pytest.mark.parametrize(("value", "said"), NOT_KEPT)
def test_values_that_no_file_keeps_are_refused(value: Any, said: str) -> None:
    with pytest.raises(ValueError, match=f"axis n: the value .* {said}"):
        Axis("n", "numbers", (1, value))
    made = experiment(cells=lambda _: [{"n": value, "who": "a"}])
    with pytest.raises(ValueError, match=f"sums: the cell .* n=.* {said}"):
        made.groups(SCOPE)


@pytest.mark.parametrize(("cell", "said"), [(3, "is no dict of axes"), ({"n": 1}, "has other")])
def test_what_is_no_cell_is_refused(cell: Any, said: str) -> None:
    with pytest.raises(ValueError, match=f"sums: the cell .* {said}"):
        experiment(cells=lambda _: [cell]).groups(SCOPE)


def test_cells_that_never_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert spec.CELLS_MAX == 100_000
    monkeypatch.setattr(spec, "CELLS_MAX", FEW)
    endless = experiment(cells=lambda _: ({"n": n, "who": "a"} for n in itertools.count()))
    with pytest.raises(ValueError, match=f"sums: more than {FEW:,} cells"):
        endless.groups(SCOPE)
    one_group = experiment(cells=lambda _: ({"n": 1, "who": n} for n in range(FEW)))
    assert len(one_group.groups(SCOPE)[0]) == FEW


def test_a_cell_stands_once() -> None:
    twice = experiment(cells=lambda _: [{"n": 1, "who": "a"}, {"n": 1, "who": "a"}])
    with pytest.raises(ValueError, match="stands twice"):
        twice.groups(SCOPE)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"x": "nn"}, "x='nn', which is no column; there are n"),
        ({"y": "ns_per_operatoin"}, "y='ns_per_operatoin', .* there are ns_per_operation"),
        ({"z": "color"}, "z='color', which is no column"),
        ({"facet": "whoo"}, "facet='whoo', which is no column; there are who"),
        ({"where": {"N": 1}}, r"where\['N'\]='N', which is no column; there are n"),
    ],
)
def test_a_figure_of_columns_that_nobody_has_is_refused(changes: dict[str, Any], said: str) -> None:
    fields: dict[str, Any] = {"x": "n", "y": "ns_per_operation", "z": "who", "title": "By n"}
    experiment(plots=(Plot(**fields),))
    with pytest.raises(ValueError, match=f"sums: the plot 'By n' has {said}"):
        experiment(plots=(Plot(**fields | changes),))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": 7}, "experiment 7; right would be"),
        ({"title": None}, "its title None is no text"),
        ({"why": "\udcff"}, "its why .* is no text"),
        ({"weight": "1"}, "a weight of '1'; right would be above 0"),
        ({"weight": math.nan}, "a weight of nan"),
    ],
)
def test_fields_that_are_something_else_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        experiment(**changes)
