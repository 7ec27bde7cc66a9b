"""Products of matrices by threads and by compiler (document 003, its second table and figure 2).

The same source by each compiler and level of optimisation, and the same loops in Rust; each row has
the kind of machine code that came out, as read from it.
"""

import ctypes
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from sealift_lab.experiments.combinations import axes
from sealift_lab.experiments.document_003.language_processes import PROGRAMS
from sealift_lab.experiments.notes import texts
from sealift_lab.measure.built import Build, Tool, build, machine_code
from sealift_lab.measure.crypto import LOAD, Load, with_load
from sealift_lab.measure.timed import Stopwatch
from sealift_lab.model.arm import Arm, Cell, Context, Sample, Value, WrongResultError
from sealift_lab.model.experiment import Chart, Experiment, Scope
from sealift_lab.model.published import (
    Figure,
    Kind,
    Missing,
    Published,
    Times,
    printed_claim,
    table,
)
from sealift_lab.model.results import Results

if TYPE_CHECKING:
    from _ctypes import CFuncPtr


def multiply_of(library: Path) -> "CFuncPtr":
    """The function of a library that takes a number of products of its matrices.

    It returns the sum of the elements of all products, a double.
    """
    return MULTIPLY(("products", ctypes.CDLL(str(library))))


def check_sum(found: float, rounds: int, literal: float, library: Path) -> None:
    """Raises WrongResultError where the sum of `rounds` products isn't that of whole numbers."""
    if found != (expected := sum_of_products(rounds, literal)):
        raise WrongResultError(
            f"{library}: the sum of {rounds:,} products is {found}; right would be {expected}"
        )


def sum_of_products(rounds: int, literal: float) -> float:
    """The sum of the elements of `rounds` products, by whole numbers."""
    # The first element of the first matrix is the round's last three bits, and was 0.
    firsts = sum(range(8)) * (rounds // 8) + sum(range(rounds % 8))
    return literal * (rounds * sum(map(int.__mul__, COLUMNS, ROW_SUMS)) + firsts * ROW_SUMS[0])


MULTIPLY = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_uint32)


class _Part(ctypes.Structure):
    """`struct part` of threads.c: the work and the times of a thread."""

    _fields_ = (
        ("call", MULTIPLY),
        ("result", ctypes.c_double),
        *((name, ctypes.c_int64) for name in ("begin_ns", "end_ns", "cpu_ns", "preemptions")),
        ("rounds", ctypes.c_uint32),
    )


@dataclass
class Products:
    """Threads that multiply matrices, as many each, started anew each time.

    Every sample's sums are checked.
    """

    library: Path
    threads: int
    facts: Mapping[str, Value]

    def __post_init__(self) -> None:
        """Finds how long a product takes one thread alone; raises as `build` and `check_sum` do."""
        starter = build(PROGRAMS / "threads.c", GCC, *SHARED, "-O2", "-pthread", "-o", LIBRARY)
        self._start = ctypes.CDLL(str(starter.folder / LIBRARY)).run
        self._multiply = multiply_of(self.library)
        rounds, took_ns = 1, 0
        while took_ns < CALIBRATION_NS:
            rounds *= 2
            took_ns = self._run(rounds, 1).ns
        self._ns_per_round = took_ns / rounds
        self._share = min(1.0, len(os.sched_getaffinity(0)) / self.threads)

    def sample(self, seconds: float) -> Sample:
        """Has all threads multiply for about `seconds`, and for longer where they share cores."""
        each_s = max(LEAST_S, seconds * self._share)
        rounds = min(ROUNDS_MAX, max(1, round(each_s * 1e9 / self._ns_per_round)))
        return self._run(rounds, self.threads)

    def report(self) -> Mapping[str, Value]:
        """The check, the command that built it, and the instructions that multiply."""
        return self.facts

    def _run(self, rounds: int, threads: int) -> Sample:
        """From the first thread's start to the last one's end."""
        of = {"call": self._multiply, "rounds": rounds}
        parts = (_Part * threads)(*(_Part(**of) for _ in range(threads)))
        with Stopwatch() as watch:
            started = self._start(parts, threads)
        if started < threads:
            limit = "the system allows no more; measure fewer with --threads"
            raise RuntimeError(f"{started} of {threads} threads could be started; {limit}")
        for part in parts:
            check_sum(part.result, rounds, LITERAL, self.library)
        return replace(
            watch.sample(threads * rounds, 0),
            ns=max(each.end_ns for each in parts) - min(each.begin_ns for each in parts),
            cpu_share=min(1.0, *(each.cpu_ns / (each.end_ns - each.begin_ns) for each in parts)),
            involuntary_switches=sum(each.preemptions for each in parts),
        )


def facts_of(made: Build, function: str, checked: str) -> Mapping[str, Value]:
    """The facts that an arm reports of a function of a library, and of what is checked."""
    used = machine_code(made.folder / LIBRARY, function)
    return {
        "checked_against": f"{checked}, by whole numbers",
        "detail": made.detail,
        MACHINE_CODE: used,
    }


def _arm(cell: Cell, _: Context) -> Arm:
    source, tool, options = BUILDS[str(cell["build"])]
    made = build(PROGRAMS / source, tool, *options, "-o", LIBRARY)
    return Products(
        made.folder / LIBRARY, int(cell["threads"]), facts_of(made, "products", "the sum")
    )


def _check(cell: Cell, _: Context) -> None:
    # One starts threads, whichever compiled the products.
    for tool in (GCC, BUILDS[str(cell["build"])][1]):
        tool.check()


def _cells(scope: Scope) -> Iterator[Cell]:
    """Up to twice the cores; a full run has all builds, and the document's threads of one."""
    counts = scope.threads or sorted({1, 2, scope.cores, 2 * scope.cores})
    builds = [each for each in BUILDS if each.startswith("gcc")] if scope.quick else [*BUILDS]
    more = () if scope.quick or scope.threads else sorted(PRINTED_THREADS.difference(counts))
    for threads, name in (*product(counts, builds), *product(more, [RELEASE])):
        yield from with_load([{"threads": threads, "build": name}], scope)


def _published(results: Results) -> Iterator[Published]:
    """Speed-ups by threads, two systems, and what optimising gains."""
    yield from _speedups(results)
    one: Cell = {"threads": 1, "build": RELEASE}
    printed = {key: float(row["time_s"]) for key, row in ROWS.items()}
    slow, fast = printed["Linux", PLAIN, 1], printed["Linux", OPTIMISED, 1]
    what = f"Linux, 1 thread, optimised against not optimised: {slow:g}/{fast:g} s"
    note, source = f"{RELEASE} against {UNOPTIMISED}", ROWS["Linux", PLAIN, 1]["source"]
    here: Figure = Times(one, {**one, "build": UNOPTIMISED})
    yield Published("003-T2", what, slow / fast, "x", source, Kind.RATIO, here, note)
    # Half as many threads again as there: here twice as many as cores.
    slow, fast = printed["Linux", OPTIMISED, 30], printed["Linux", OPTIMISED, 20]
    what = f"Linux, 30 threads against 20, which are all there: {fast:g}/{slow:g} s"
    over = min((n for n, load in _loads(results).items() if load == Load.OVER), default=0)
    here = Missing("no more threads than cores were measured")
    if over:
        of_all = {"build": RELEASE, LOAD.name: Load.ALL.value}
        here = Times({"build": RELEASE, "threads": over}, of_all)
    note = f"{RELEASE}, {over or 'more'} threads against a thread a core"
    yield Published("003-T2", what, fast / slow, "x", source, Kind.SLOPE, here, note)
    for threads in sorted(PRINTED_THREADS):
        times = (printed[system, OPTIMISED, threads] for system in ("Windows", "Linux"))
        yield _systems(threads, *times)
    nothing = Missing(NO_WINDOWS)
    what = "gcc under Linux against MSVC under Windows, many threads"
    note = "gcc against clang under one system is in the rows"
    yield printed_claim("003-T2", what, "os-no-difference", Kind.SLOPE, nothing, note)


def _speedups(results: Results) -> Iterator[Published]:
    cores = next((n for n, load in _loads(results).items() if load == Load.ALL), None)
    for (system, how, threads), row in ROWS.items():
        if threads == 1:
            continue
        one, many = (float(ROWS[system, how, n]["time_s"]) for n in (1, threads))
        what = f"{system}, {threads} threads against 1: {one:g}/{many:g} s"
        where: Cell = {"threads": threads, "build": RELEASE}
        here: Figure = Times(where, {**where, "threads": 1})
        if system == "Windows":
            here = Missing(NO_WINDOWS)
        elif cores and threads > cores:
            here = Missing(f"{threads} threads exceed the {cores} cores of this machine")
        note = f"{RELEASE}; there 20 hardware threads"
        yield Published("003-T2", what, one / many, "x", row["source"], Kind.RATIO, here, note)


def _systems(threads: int, windows_s: float, linux_s: float) -> Published:
    """No difference of the systems, as far as whole seconds tell."""
    low, high = (windows_s - 0.5) / (linux_s + 0.5), (windows_s + 0.5) / (linux_s - 0.5)
    what = f"no difference of Linux and Windows, {threads} threads: {windows_s:g}/{linux_s:g} s"
    of = ("os-no-difference", Kind.ARITHMETIC, Missing("both are printed"))
    note = "times are printed in whole seconds"
    return printed_claim("003-T2", what, *of, note, low=low, high=high)


def _loads(results: Results) -> Mapping[int, str]:
    return {int(row.cell["threads"]): str(row.cell[LOAD.name]) for row in results.rows}


SIDE, LITERAL = 32, 1.5
# Of the first matrix the sums of columns, of the second those of rows.
COLUMNS = [sum((3 * i + k) % 8 for i in range(SIDE)) for k in range(SIDE)]
ROW_SUMS = [sum((k + 5 * j) % 8 for j in range(SIDE)) for k in range(SIDE)]
OPERATIONS = 2 * SIDE**3
# The most that the library takes.
ROUNDS_MAX = (1 << 32) - 1
CALIBRATION_NS, LEAST_S = 1_000_000, 0.002
LIBRARY, MACHINE_CODE = "library.so", "machine code"
SHARED = ("-shared", "-fPIC")
NATIVE = "-O3 -march=native"
GCC, CLANG, RUSTC = Tool("gcc", "gcc"), Tool("clang", "clang"), Tool("rustc", "rustc")
RELEASE, UNOPTIMISED = "gcc -O2", "gcc -O0"
RUST = ("--edition=2021", "--crate-type=cdylib", "-C", "opt-level=3")
BUILDS: Mapping[str, tuple[str, Tool, Sequence[str]]] = {
    **{
        f"{tool.command} {level}": ("products.c", tool, (*SHARED, *level.split()))
        for tool, level in product((GCC, CLANG), ("-O2", "-O0", "-O3", NATIVE))
    },
    "rustc -O3": ("products.rs", RUSTC, RUST),
    "rustc -O3, native": ("products.rs", RUSTC, (*RUST, "-C", "target-cpu=native")),
}
OPTIMISED, PLAIN = "Release Optimized", "Release Not Optimized"
ROWS = {(row["os"], row["build"], int(row["threads"])): row for row in table("003-T2-os-threads")}
PRINTED_THREADS = {threads for _, _, threads in ROWS} - {1}
NO_WINDOWS = "it needs MSVC under Windows, beside Linux on one machine"

EXPERIMENT = Experiment(
    **texts(__package__, "compilers-by-threads"),
    id="003-T2",
    axes=(*axes(threads="threads", build="compiler"), LOAD),
    compare="build",
    cells=_cells,
    arm=_arm,
    check_available=_check,
    operation="product",
    preferred={"threads": 1},
    columns={MACHINE_CODE: "multiplies with"},
    published=lambda results: [*_published(results)],
    charts=(
        Chart(
            "threads",
            "build",
            "operations/s",
            f"Products of {SIDE} x {SIDE} by threads",
            log_x=True,
            log_y=True,
        ),
    ),
    weight=0.3,
)
