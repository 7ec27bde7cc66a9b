"""Data types on the processor (document 003, figure 3): whole numbers and floats, and casts.

Products of matrices stand for the document's program. Chains tell how long an instruction takes
until the next can use its result, from how many are done at once, one number at a time or as many
as a register of the processor holds.
"""

import ctypes
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from sealift_lab.experiments.combinations import axes
from sealift_lab.experiments.document_003 import tables
from sealift_lab.experiments.document_003.compilers import (
    GCC,
    LIBRARY,
    MACHINE_CODE,
    NATIVE,
    OPERATIONS,
    SHARED,
    check_sum,
    facts_of,
    multiply_of,
)
from sealift_lab.experiments.document_003.language_processes import PROGRAMS
from sealift_lab.experiments.notes import texts
from sealift_lab.machine.facts import describe
from sealift_lab.measure.built import Build, build
from sealift_lab.measure.timed import timed
from sealift_lab.model.arm import Arm, Cell, Context, Sample, Skip, Value, WrongResultError
from sealift_lab.model.experiment import Chart, Experiment, Scope
from sealift_lab.model.published import Kind, Published, Times, printed_claim, table
from sealift_lab.model.results import Results


@dataclass(frozen=True)
class NumberType:
    """A type of number as C has it.

    Attributes:
        literal: The factor of a matrix's elements, as C has it; "" for a type that sums of products
            exceed, which has chains alone.
        factor: Its value.
        wide: The type that a step is done in, where it is another one.
        option: The option of gcc that brings its instructions, where they need one.
        is_optimised: False for a debug build.
    """

    name: str
    literal: str
    factor: float
    wide: str = ""
    option: str = ""
    is_optimised: bool = True


@dataclass(frozen=True)
class _Described:
    """An arm that also reports what it was built by."""

    arm: Arm
    facts: Mapping[str, Value]

    def sample(self, seconds: float) -> Sample:
        return self.arm.sample(seconds)

    def report(self) -> Mapping[str, Value]:
        return {**self.arm.report(), **self.facts}


def _arm(cell: Cell, context: Context) -> Arm:
    _check(cell, context)
    form, of = str(cell["form"]), TYPES[str(cell["type"])]
    if form == MATRICES:
        made = _build("products.c", of, (f"-DTYPE={of.name}", f"-DLITERAL={of.literal}"), "-O2")
        library = made.folder / LIBRARY
        multiply = multiply_of(library)
        arm = timed(
            lambda: check_sum(multiply(PRODUCTS), PRODUCTS, of.factor, library),
            operations=PRODUCTS * OPERATIONS,
        )
        return _Described(arm, facts_of(made, "products", "the sum"))
    made, chains = build_chains(of, form), FORMS[form][0]
    code = ctypes.CDLL(str(made.folder / LIBRARY))
    code.chains.restype, code.chains.argtypes = ctypes.c_double, (ctypes.c_uint32,)
    # After an odd number of steps: 64 less where each began, 1 to how many they are.
    expected = float(code.lanes() * sum(64 - begin for begin in range(1, chains + 1)))

    def run() -> None:
        if (found := code.chains(STEPS)) != expected:
            text = f"the chains end at {found}; right would be {expected}"
            raise WrongResultError(f"{made.folder}: {text}")

    arm = timed(run, operations=2 * code.lanes() * chains * STEPS)
    return _Described(arm, facts_of(made, "chains", "where the chains end"))


def build_chains(of: NumberType, form: str) -> Build:
    """The library of one of the `FORMS`; raises as `build` does."""
    chains, is_vector = FORMS[form]
    # A product and a sum, not one instruction for both, which whole numbers have none of.
    more = ("-ffp-contract=off", *(["-DVECTOR"] if is_vector else []))
    macros = (f"-DTYPE={of.name}", f"-DWIDE={of.wide or of.name}", f"-DCHAINS={chains}", *more)
    return _build("chains.c", of, macros, NATIVE if is_vector else "-O2")


def _check(cell: Cell, _: Context) -> None:
    GCC.check()
    if cell["type"] == HALF and HALF_FLAG not in str(describe()["cpu_flags"].value):
        raise Skip(
            f"this processor doesn't compute with half-precision numbers (no {HALF_FLAG} in "
            "/proc/cpuinfo); Intel's Xeons do since Sapphire Rapids"
        )


def _build(source: str, of: NumberType, macros: tuple[str, ...], level: str) -> Build:
    """By gcc; one number at a time, unless a source has vectors itself."""
    level = level if of.is_optimised else "-O0"
    options = (*SHARED, *level.split(), *of.option.split(), "-fno-tree-vectorize", *macros)
    return build(PROGRAMS / source, GCC, *options, "-o", LIBRARY)


def _cells(scope: Scope) -> Iterator[Cell]:
    """A quick run has the document's program."""
    for form, name in product([MATRICES] if scope.quick else (MATRICES, *FORMS), TYPES):
        of = TYPES[name]
        if of.literal if form == MATRICES else form not in VECTORS or of.is_optimised:
            yield {"form": form, "type": name}


def _published(_: Results) -> Iterator[Published]:
    """The figure by products of matrices; what the text claims of it by all scalar code.

    Its 8-byte integers are as fast as those of 4 bytes, so the document's program had no vectors.
    """
    for row in table("003-F3-datatypes-cpu"):
        name, printed = row["data_type"], row["normalized_performance_percent"]
        if name == "int (4B)":
            continue
        # Of two bars the labels can't be told apart: both lie within a tenth of their mean.
        percent = float(printed or UNCERTAIN)
        here = Times(*({"form": MATRICES, "type": each} for each in (PRINTED[name], INT)))
        note = f"{PRINTED[name]} against {INT}, {MATRICES}; {row['certainty']}"
        what = f"{name} against int (4B): {printed or '34 or 40'} %"
        kind = Kind.SLOPE if percent == 100 else Kind.RATIO
        yield Published("003-F3", what, percent / 100, "x", row["source"], kind, here, note)
    for form in (form for form in (MATRICES, *FORMS) if form not in VECTORS):
        yield from _claims(form)


def _claims(form: str) -> Iterator[Published]:
    def times(one: str, other: str) -> Times:
        return Times({"form": form, "type": one}, {"form": form, "type": other})

    less, added = (tables.claim_value(each) / 100 for each in ("int-vs-float", "cast-cpu"))
    what, here = f"4-byte float against int, almost {100 * less:g} % slower", times(FLOAT, INT)
    yield printed_claim("003-F3", what, "int-vs-float", Kind.RATIO, here, form, value=1 - less)
    what, here = "int against 4-byte float", times(INT, FLOAT)
    yield printed_claim("003-F3", what, "float-slower", Kind.SHAPE, here, form)
    what, here = "8-byte against 4-byte integer", times(LONG_LONG, INT)
    yield printed_claim("003-F3", what, "int8-int4", Kind.SLOPE, here, form)
    what, here = "static over dynamic casting of float, up to", times(FLOAT, CAST)
    note = f"{form}; {1 + added:g} times if the {100 * added:g} % are added"
    yield printed_claim("003-F3", what, "cast-cpu", Kind.RATIO, here, note, value=1 + added)


# Odd, so that chains end elsewhere than where they began.
STEPS = 100_001
# Hundreds of microseconds, beside which the check is nothing.
PRODUCTS = 16
INT, LONG_LONG, FLOAT, CAST = "int", "long long", "float", "float with double literal"
HALF, HALF_FLAG = "half", "avx512_fp16"
TYPES: Mapping[str, NumberType] = {
    INT: NumberType("int", "3", 3),
    "long": NumberType("long", "3", 3),
    LONG_LONG: NumberType("long long", "3", 3),
    FLOAT: NumberType("float", "1.5f", 1.5),
    CAST: NumberType("float", "1.5", 1.5, wide="double"),
    "double": NumberType("double", "1.5", 1.5),
    "signed char": NumberType("signed char", "", 0),
    HALF: NumberType("_Float16", "", 0, option="-mavx512fp16"),
    "int, not optimised": NumberType("int", "3", 3, is_optimised=False),
}
MATRICES = "products of matrices"
LATENCY, THROUGHPUT = "latency, one by one", "throughput, one by one"
VECTORS = ("latency, vectors", "throughput, vectors")
# How many chains there are, and whether they are of vectors.
FORMS: Mapping[str, tuple[int, bool]] = {
    LATENCY: (1, False),
    THROUGHPUT: (12, False),
    **dict(zip(VECTORS, ((1, True), (12, True)), strict=True)),
}
PRINTED = {
    "int (4B)": INT,
    "long (4B)": "long",
    "long long (8B)": LONG_LONG,
    "float (4B)": FLOAT,
    "float (4B), dynamic casting": CAST,
    "int (4B), debug mode": "int, not optimised",
    "double (8B)": "double",
}
# Per cent: the mean of the two bars.
UNCERTAIN = 37

EXPERIMENT = Experiment(
    **texts(__package__, "cpu-data-types"),
    id="003-F3",
    axes=axes(form="what is done", type="data type"),
    compare="type",
    cells=_cells,
    arm=_arm,
    check_available=_check,
    operation="operation",
    preferred={"form": MATRICES},
    columns={MACHINE_CODE: "multiplies with"},
    published=lambda results: [*_published(results)],
    charts=(
        Chart("type", "form", "operations/s", "Operations by data type", log_y=True),
        Chart("type", "form", "ratio", f"Speed by data type against {INT}"),
    ),
    weight=0.3,
)
