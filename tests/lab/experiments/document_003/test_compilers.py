"""Products of matrices by compiler and threads, data types on the processor, and the print."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.lab.experiments.document_003.made_results import FULL, by_what, cells, compare, results

import run_report
from conftest import skip
from sealift_lab.experiments.document_003 import compilers, cpu_types
from sealift_lab.experiments.document_003.compilers import MACHINE_CODE, sum_of_products
from sealift_lab.experiments.document_003.cpu_types import HALF
from sealift_lab.measure.built import machine_code
from sealift_lab.measure.plan import planned
from sealift_lab.model.arm import Cell, Context, Skip, WrongResultError
from sealift_lab.model.experiment import Experiment, Scope
from sealift_lab.model.results import Relation
from sealift_lab.show.tables import rows_table

CONTEXT = Context(seed=1, folder=Path())
EVERY = [
    pytest.param(each, cell, id=", ".join(map(str, cell.values())))
    for each, cell in (
        *(
            (compilers.EXPERIMENT, c)
            for c in cells(compilers.EXPERIMENT, FULL)
            if c["threads"] == 2
        ),
        *((cpu_types.EXPERIMENT, c) for c in cells(cpu_types.EXPERIMENT, FULL)),
    )
]


@pytest.mark.parametrize(("experiment", "cell"), EVERY)
def test_every_build_gives_the_sum_and_says_in_what_it_multiplies(
    experiment: Experiment, cell: Cell
) -> None:
    try:
        arm = experiment.arm(cell, CONTEXT)
    except Skip as reason:
        skip(HALF if cell.get("type") == HALF else "toolchains", str(reason))
    run_report.ran("toolchains")
    assert arm.sample(0.001).operations >= 1
    facts = arm.report()
    assert "by whole numbers" in str(facts["checked_against"])
    form = cell.get("form", "")
    if form in cpu_types.VECTORS:
        assert not str(facts[MACHINE_CODE]).startswith("scalar")
    elif form or "-O0" in str(cell["build"]):
        assert str(facts[MACHINE_CODE]).startswith(("scalar", "unknown"))


@pytest.mark.parametrize("form", cpu_types.FORMS)
def test_half_precision_is_compiled_wherever_the_compiler_knows_it(form: str) -> None:
    try:
        made = cpu_types.build_chains(cpu_types.TYPES[HALF], form)
    except Skip as reason:
        skip("toolchains", str(reason))
    found = machine_code(made.folder / compilers.LIBRARY, "chains")
    expected = "AVX-512: vmulph" if form in cpu_types.VECTORS else "scalar: vmulsh"
    assert found == expected or found.startswith("unknown: objdump")


def test_the_sum_of_products_is_that_of_the_matrices() -> None:
    side = range(compilers.SIDE)
    a, b = ([[f(i, k) for k in side] for i in side] for f in (first, second))
    expected = 0.0
    for rounds in range(12):
        assert sum_of_products(rounds, 1.5) == expected
        a[0][0] = rounds % 8
        expected += sum(1.5 * a[i][k] * b[k][j] for i in side for j in side for k in side)


def first(i: int, k: int) -> int:
    return (3 * i + k) % 8


def second(i: int, k: int) -> int:
    return (i + 5 * k) % 8


def test_a_library_that_computes_something_else_is_a_wrong_result() -> None:
    try:
        made = compilers.build(
            compilers.PROGRAMS / "products.c", compilers.GCC, *compilers.SHARED,
            "-DTYPE=float", "-DLITERAL=1.25f", "-o", compilers.LIBRARY,
        )  # fmt: skip
    except Skip as reason:
        skip("toolchains", str(reason))
    with pytest.raises(WrongResultError, match=r"the sum of 2 products is .*; right would be "):
        compilers.Products(made.folder / compilers.LIBRARY, 2, {})


def test_the_documents_own_times_reproduce_figure_2_where_there_are_as_many_cores() -> None:
    times_s = {1: 176.0, 10: 25.0, 20: 15.0, 30: 15.0, 40: 15.0}

    def speed(cell: Cell) -> float:
        per_s = 1_000 / times_s.get(int(cell["threads"]), 100.0)
        return per_s * (176 / 240 if cell["build"] == compilers.UNOPTIMISED else 1)

    def relations(scope: Scope) -> dict[str, Relation]:
        pairs = compare(compilers.EXPERIMENT, results(compilers.EXPERIMENT, scope, speed))
        return {what: claim.relation for what, (claim,) in by_what(pairs).items()}

    there = relations(replace(FULL, cores=20))
    linux = {what: each for what, each in there.items() if what.startswith("Linux")}
    assert len(linux) == 5
    assert {each for what, each in linux.items() if "30 threads against 1:" not in what} == {
        Relation.REPRODUCED
    }
    systems = [each for what, each in there.items() if what.startswith("no difference")]
    assert systems == 3 * [Relation.REPRODUCED]
    windows = {each for what, each in there.items() if "Windows" in what} - {*systems}
    assert windows == {Relation.UNTESTED}
    few = compare(compilers.EXPERIMENT, results(compilers.EXPERIMENT, FULL, speed))
    (claim,) = by_what(few)["Linux, 10 threads against 1: 176/25 s"]
    assert claim.reason == "10 threads exceed the 2 cores of this machine"


def test_the_documents_own_bars_reproduce_figure_3_and_its_claims() -> None:
    bars = {
        "float": 71.0, "float with double literal": 32.0, "double": 40.0, "int, not optimised": 34.0
    }  # fmt: skip
    found = results(cpu_types.EXPERIMENT, FULL, lambda cell: bars.get(str(cell["type"]), 100.0))
    pairs = compare(cpu_types.EXPERIMENT, found)
    relations = [(each.what, claim.relation) for each, claim in pairs]
    # The figure by products, and four claims each by three kinds of scalar code.
    assert len(relations) == 6 + 3 * 4
    assert {each for _, each in relations} == {Relation.REPRODUCED, Relation.HOLDS}


def test_tables_show_in_what_each_row_multiplies() -> None:
    experiment = compilers.EXPERIMENT
    found = results(experiment, FULL, facts={MACHINE_CODE: "scalar: mulss"})
    table = rows_table(planned(experiment, experiment.groups(FULL), 10), found)
    assert table.columns[-1] == "multiplies with"
    assert {row[-1] for row in table.rows} == {"scalar: mulss"}
