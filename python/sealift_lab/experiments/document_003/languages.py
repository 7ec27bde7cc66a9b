"""One interpolation program in each language (document 003, its first table and figure 1).

The first experiment has the steady state of a program, and of those that compile while they run the
first request of a fresh process; the second one has a program's whole life without work.
"""

import sys
from collections.abc import Iterator, Mapping
from functools import partial
from shutil import which

from sealift_lab.experiments.combinations import axes, grid
from sealift_lab.experiments.document_003.language_processes import Fresh, Language, Warm
from sealift_lab.experiments.notes import texts
from sealift_lab.measure.built import Tool
from sealift_lab.model.arm import Arm, Cell, Context
from sealift_lab.model.experiment import Chart, Experiment, Line, Scope
from sealift_lab.model.published import Kind, Published, Times, table
from sealift_lab.model.results import Origin, Results


def _cells(scope: Scope) -> Iterator[Cell]:
    """A quick run has the languages of the document's table."""
    for name in (REFERENCE, *PRINTED.values()) if scope.quick else LANGUAGES:
        yield {"language": name, "phase": STEADY}
    yield from grid(scope, {"phase": FIRST}, language=(REFERENCE, *COMPILED_AS_THEY_RUN))


def _arm(cell: Cell, _: Context) -> Arm:
    name = str(cell["language"])
    if cell["phase"] == STEADY:
        return Warm(name, LANGUAGES[name])
    return Fresh(name, LANGUAGES[name], FIRST_COUNT if cell["phase"] == FIRST else 0)


def _check(cell: Cell, _: Context) -> None:
    LANGUAGES[str(cell["language"])].check()


def _published(_: Results) -> Iterator[Published]:
    """Each language against the document's fastest, by the printed times."""
    rows = {row["language"]: row for row in table("003-T1-languages")}
    fastest = float(rows[PRINTED_REFERENCE]["execution_time_ms"])
    for name, row in rows.items():
        if name != PRINTED_REFERENCE:
            took = float(row["execution_time_ms"])
            what = f"{name} against {PRINTED_REFERENCE}: {fastest:.0f}/{took:.0f} ms"
            where = {"language": PRINTED[name], "phase": STEADY}
            here = Times(where, {**where, "language": REFERENCE})
            note = f"{PRINTED[name]} against {REFERENCE}, steady state; our own program"
            source = row["source"]
            yield Published("003-T1", what, fastest / took, "x", source, Kind.RATIO, here, note)


def _lines(results: Results) -> list[Line]:
    return [
        Line("published", "ratio", each.value, Origin.PUBLISHED, each.here.where)
        for each in _published(results)
        if isinstance(each.here, Times)
    ]


STEADY, FIRST, LIFE = "steady state", "first request", "from start to end"
# As many interpolations as take milliseconds.
FIRST_COUNT = 1 << 20
GXX, MCS, MONO = Tool("g++", "g++"), Tool("mcs", "mono-mcs"), Tool("mono", "mono-runtime")
# The oldest that builds a source without a project.
DOTNET = Tool("dotnet", "dotnet-sdk-10.0")
NUMPY = Tool(
    sys.executable,
    "numpy",
    ("-c", "import numpy; print(numpy.__version__)"),
    install="python -m pip install",
)


def _cpp(*options: str) -> Language:
    arguments = (*options, "-o", "program")
    return Language("interpolate.cpp", ("./program",), GXX, arguments)


def csharp(build: str, options: tuple[str, ...], run: tuple[str, ...] = ()) -> Language:
    """By Mono; by .NET where that alone is installed, whose build is `Release` or `Debug`."""
    if which("dotnet") and not which(MCS.command):
        # Without the compiler to native code, which is fetched; and no server stays behind.
        how = ("build", "-c", build, "-o", ".", "-p:PublishAot=false", "--disable-build-servers")
        return Language("Interpolate.cs", ("dotnet", "Interpolate.dll"), DOTNET, how, DOTNET)
    arguments = (*options, "-out:program.exe")
    return Language("Interpolate.cs", ("mono", *run, "program.exe"), MCS, arguments, MONO)


REFERENCE = "C++, optimised for speed"
LANGUAGES: Mapping[str, Language] = {
    REFERENCE: _cpp("-O3"),
    "C++, release": _cpp("-O2"),
    "C++, debug": _cpp("-O0", "-g"),
    "C++, for this processor": _cpp("-O3", "-march=native"),
    "C": Language("interpolate.c", ("./program",), Tool("gcc", "gcc"), ("-O2", "-o", "program")),
    "Rust": Language(
        "interpolate.rs",
        ("./program",),
        Tool("rustc", "rustc"),
        ("--edition=2021", "-C", "opt-level=3", "-o", "program"),
    ),
    "Go": Language(
        "interpolate.go",
        ("./program",),
        Tool("go", "golang-go", ("version",)),
        ("build", "-o", "program"),
    ),
    "Java": Language(
        "Interpolate.java",
        ("java", "-cp", ".", "Interpolate"),
        Tool("javac", "default-jdk-headless"),
        needs=Tool("java", "default-jre-headless"),
    ),
    "C#, release": csharp("Release", ("-optimize+",)),
    "C#, debug": csharp("Debug", ("-debug", "-optimize-"), ("--debug", "-O=-all")),
    "JavaScript": Language(
        "interpolate.js", ("node", "interpolate.js"), needs=Tool("node", "nodejs")
    ),
    "numpy": Language(
        "interpolate_numpy.py",
        (sys.executable, "interpolate_numpy.py"),
        needs=NUMPY,
        count=1 << 18,
    ),
    "Python": Language(
        "interpolate.py",
        (sys.executable, "interpolate.py"),
        needs=Tool(sys.executable, "python3"),
        count=1 << 14,
    ),
}
COMPILED_AS_THEY_RUN = ("Java", "C#, release", "JavaScript")
# What stands here beside the rows of the document's table.
PRINTED_REFERENCE = "C++ (Release, Optimized for Speed)"
PRINTED = {
    "Python": "Python",
    "Java": "Java",
    "C# (Debug)": "C#, debug",
    "C# (Release)": "C#, release",
    "C++ (Debug)": "C++, debug",
    "C++ (Release)": "C++, release",
}

_by_language = partial(
    Experiment,
    axes=axes(language="language", phase="phase"),
    compare="language",
    arm=_arm,
    check_available=_check,
)

STEADY_STATE = _by_language(
    **texts(__package__, "languages"),
    id="003-T1",
    cells=_cells,
    operation="interpolation",
    preferred={"phase": STEADY},
    published=lambda results: [*_published(results)],
    charts=(
        Chart("language", "phase", "time", "An interpolation by language", log_y=True),
        Chart(
            "language",
            "phase",
            "ratio",
            f"Speed by language against {REFERENCE}",
            where={"phase": STEADY},
            log_y=True,
        ),
    ),
    lines=_lines,
    weight=0.3,
)
LIVES = _by_language(
    **texts(__package__, "language-starts"),
    id="003-T1-start",
    cells=lambda scope: grid(scope, {"phase": LIFE}, language=LANGUAGES),
    operation="program",
    charts=(Chart("language", "phase", "time", "A program from start to end", log_y=True),),
    weight=0.2,
)
