"""The interpolation program in each language, and the document's table beside a run."""

import signal
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tests.lab.experiments.document_003.made_results import FULL, by_what, compare, results

import run_report
from conftest import skip
from sealift_lab.experiments.document_003 import language_processes
from sealift_lab.experiments.document_003.language_processes import SUMS, Fresh, Program, Warm
from sealift_lab.experiments.document_003.languages import (
    FIRST_COUNT,
    LANGUAGES,
    REFERENCE,
    STEADY_STATE,
    csharp,
)
from sealift_lab.model.arm import Cell, Context, Sample, Skip, WrongResultError
from sealift_lab.model.results import Relation

COUNT = 1 << 14


def test_the_sums_are_those_of_whole_numbers() -> None:
    table = np.array([k * (11 * k + 37) % 4096 for k in range(1026)], np.int64)
    for count, expected in SUMS.items():
        numbers = np.arange(count, dtype=np.uint32)
        place = (numbers * np.uint32(0x9E3779B9) >> np.uint32(6)).astype(np.int64)
        k, part = place >> 16, place & 0xFFFF
        assert int(((table[k] << 16) + (table[k + 1] - table[k]) * part).sum()) == expected
        # So far each sum is exact in double, in whatever order.
        assert count * 4096 * 65536 <= 1 << 53
    assert {each.count for each in LANGUAGES.values()} | {FIRST_COUNT} <= SUMS.keys()


@pytest.mark.parametrize("name", LANGUAGES)
def test_every_language_answers_with_the_same_sum(name: str) -> None:
    language = LANGUAGES[name]
    try:
        folder, _ = language.prepare()
    except Skip as reason:
        skip("toolchains", str(reason))
    run_report.ran("toolchains")
    program = Program(name, language.run, folder)
    for count in (0, COUNT, COUNT):
        program.request(count)
    program.end()


def test_a_wrong_sum_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = (language_processes.PROGRAMS / "interpolate.py").read_text(encoding="utf-8")
    (tmp_path / "interpolate.py").write_text(right.replace("(x - k)", "(x - k) * 0.999"))
    monkeypatch.setattr(language_processes, "PROGRAMS", tmp_path)
    for make in (Warm, lambda name, of: Fresh(name, of, COUNT)):
        with pytest.raises(WrongResultError, match="Python: the sum of 16,384 interpolations is "):
            make("Python", LANGUAGES["Python"])


def test_a_program_that_ends_is_no_wrong_result(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="the program in Python ended with code 3"):
        Program("Python", (sys.executable, "-c", "exit(3)"), tmp_path).request(COUNT)


def test_a_program_that_does_not_end_with_its_input_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language_processes, "GRACE_S", 0.1)
    code = "print(0, flush=True)\nwhile True: pass"
    program = Program("Python", (sys.executable, "-c", code), tmp_path)
    program.request(0)
    program.end()
    assert program._process.returncode == -signal.SIGKILL


def test_a_missing_toolchain_is_left_out_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    tools = [of for each in LANGUAGES.values() for of in (each.tool, each.needs) if of]
    # Debian's package is no help in a virtual environment.
    assert "install it (python -m pip install numpy)" in {each.advice for each in tools}
    for tool in tools:
        absent = replace(tool, command=f"absent-{Path(tool.command).name}")
        lacking = replace(LANGUAGES[REFERENCE], tool=absent)
        with pytest.raises(Skip, match=f"{tool.install} {tool.package}.$".replace("+", r"\+")):
            Warm("absent", lacking)
    monkeypatch.setitem(LANGUAGES, REFERENCE, lacking)  # type: ignore[arg-type]
    with pytest.raises(Skip, match="is not on PATH"):
        STEADY_STATE.arm(
            {"language": REFERENCE, "phase": "steady state"}, Context(seed=1, folder=tmp_path)
        )


def test_csharp_is_built_by_dotnet_where_that_alone_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name, compiler in (("dotnet", "dotnet"), ("mcs", "mcs")):
        (tmp_path / name).touch(0o755)
        tool = csharp("Release", ("-optimize+",)).tool
        assert tool
        assert tool.command == compiler


def test_a_sample_of_a_warm_and_of_a_fresh_process_counts_interpolations_and_lives() -> None:
    language = LANGUAGES["Python"]
    warm = Warm("Python", language)
    assert warm.sample(0.0).operations == COUNT
    assert warm.sample(0.01).operations % COUNT == 0
    facts = warm.report()
    assert {"start_ms", "first_request_ns", "pipe_us", "detail"} <= facts.keys()
    first, life = (Fresh("Python", language, count) for count in (COUNT, 0))
    assert (first.sample(0.0).operations, life.sample(0.0).operations) == (COUNT, 1)


def test_a_sample_has_as_many_lives_as_fit_into_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    life, now_s = Fresh("Python", LANGUAGES["Python"], 0), 0.0

    def one(_: Fresh) -> Sample:
        nonlocal now_s
        now_s += 0.04
        return Sample(40_000_000, 1, 0, 0, 1.0, 0)

    monkeypatch.setattr(Fresh, "_one", one)
    clock = SimpleNamespace(monotonic=lambda: now_s)
    monkeypatch.setattr(language_processes, "time", clock)
    for seconds, lives in ((0.0, 1), (0.1, 3), (0.5, 13)):
        sample = life.sample(seconds)
        assert (sample.operations, sample.ns) == (lives, lives * 40_000_000)


def test_the_documents_own_times_reproduce_its_table() -> None:
    # Per cent of the fastest, as printed.
    printed = {
        REFERENCE: 100.0, "C++, release": 98.7, "C++, debug": 50.8, "Java": 55.6,
        "C#, release": 77.9, "C#, debug": 40.1, "Python": 1.356,
    }  # fmt: skip

    def speed(cell: Cell) -> float:
        return printed.get(str(cell["language"]), 0)

    claims = by_what(compare(STEADY_STATE, results(STEADY_STATE, FULL, speed)))
    assert len(claims) == 6
    assert {each.relation for (each,) in claims.values()} == {Relation.REPRODUCED}
    without = by_what(
        compare(STEADY_STATE, results(STEADY_STATE, FULL, lambda c: speed(c) % 55.6 and speed(c)))
    )
    (java,) = without["Java against C++ (Release, Optimized for Speed): 4200/7550 ms"]
    assert (java.relation, java.reason) == (Relation.UNTESTED, "left out")
