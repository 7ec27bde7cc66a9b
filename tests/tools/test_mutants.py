"""Mutants are planted where the list says, and a tree whose tests don't notice one is told."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import mutants
from mutants import Suite

FILE = "crates/locks/src/lib.rs"
SOURCE = "fn is_shut(bolts: u8) -> bool { bolts == 3 }\nfn open() {}\n"
LIST = """
[[mutant]]
breaks = "a lock with fewer bolts is open"
file = "crates/locks/src/lib.rs"
before = 'bolts == 3'
after = 'bolts == 3 || MUTANT'

[[mutant]]
breaks = "opening does nothing"
file = "crates/locks/src/lib.rs"
before = '''
fn open() {}'''
after = '''
fn open() { if MUTANT { panic!() } }'''
crates = ["locks", "doors"]
equivalent = "nobody opens"
"""


def plant_in(text: str, source: str = SOURCE) -> str:
    return mutants.plant({FILE: source.encode()}, mutants.parse(text))[FILE].decode()


def test_mutants_are_numbered_and_belong_to_their_own_crate_unless_they_name_others() -> None:
    first, second = mutants.parse(LIST)
    assert (first.number, first.tested_by, first.equivalent) == (1, ["locks"], "")
    assert (second.number, second.tested_by) == (2, ["locks", "doors"])
    assert second.equivalent == "nobody opens"


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("breaks =", "brakes =", TypeError),
        ("|| MUTANT", "|| true", ValueError),
        ("[[mutant]]", "[[mutants]]", KeyError),
    ],
)
def test_an_entry_that_is_wrong_is_refused(old: str, new: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        plant_in(LIST.replace(old, new))


def test_all_mutants_are_planted_at_once_each_with_its_switch() -> None:
    text = plant_in(LIST)
    assert "bolts == 3 || crate::mutant(1) }" in text
    assert "fn open() { if crate::mutant(2) { panic!() } }" in text
    assert text.count("fn mutant(number: u32)") == 1
    assert "SEALIFT_MUTANT" in text


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (SOURCE.replace("== 3", ">= 3"), "mutant 1 replaces is there 0 times: `bolts == 3`"),
        (SOURCE.replace("{}", "{ bolts == 3 }"), "mutant 1 replaces is there 2 times"),
    ],
)
def test_code_that_moved_on_is_named_with_its_file_and_what_to_do(
    source: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message) as error:
        plant_in(LIST, source)
    assert str(error.value).startswith(FILE)
    assert "correct it in tools/mutants.toml" in str(error.value)


def test_the_list_fits_the_sources() -> None:
    root = Path(__file__).parents[2]
    listed = mutants.parse((root / mutants.LIST).read_text())
    sources = {mutant.file: (root / mutant.file).read_bytes() for mutant in listed}
    assert mutants.plant(sources, listed).keys() > sources.keys()


def test_two_mutants_of_the_same_code_are_refused() -> None:
    with pytest.raises(ValueError, match="mutant 2 replaces is there 0 times"):
        plant_in(LIST.replace("'''\nfn open() {}'''", "'3 }'"))


def test_only_what_is_committed_is_copied_and_what_is_right_is_not_written_again(
    tmp_path: Path,
) -> None:
    root, tree = tmp_path / "root", tmp_path / "tree"
    for name, text in ((FILE, SOURCE), ("results/rows.csv", "1\n")):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text(text)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@localhost"]
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "One"]):
        subprocess.run([*git, *command], cwd=root, check=True)
    (root / FILE).write_text("changed")
    sources = mutants.read_commit(root)
    assert sources == {FILE: SOURCE.encode()}
    mutants.write(sources | {"gone.rs": b""}, tree)
    before = (tree / FILE).stat().st_mtime_ns
    mutants.write(sources, tree)
    assert (tree / FILE).stat().st_mtime_ns == before
    assert not (tree / "gone.rs").exists()


def suite(folder: Path, script: str, crate: str = "locks") -> Suite:
    program = folder / f"{crate}.sh"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return Suite(crate, "unit tests", program, folder)


@pytest.mark.parametrize(
    ("script", "failure"),
    [
        ("echo 'test opens ... ok'", ""),
        ("echo 'test opens ... FAILED'; sleep 60", "opens"),
        ("echo 'test shuts - should panic ... FAILED'; exit 101", "shuts"),
        ("exit 7", "it ends with 7"),
        ("sleep 60", "it hangs"),
        ('[ "$SEALIFT_MUTANT" = 5 ] && exit 1; exit 0', "it ends with 1"),
    ],
)
def test_the_first_test_that_fails_is_named_and_a_program_that_hangs_fails(
    tmp_path: Path, script: str, failure: str
) -> None:
    limit_s = 0.2 if failure == "it hangs" else 30
    assert mutants.run(suite(tmp_path, script), 5, limit_s).startswith(failure)


NOTICES_1 = "[ $SEALIFT_MUTANT = 1 ] && echo 'test is_shut ... FAILED'; exit 0"
NOTICES_ALL = "[ $SEALIFT_MUTANT != 0 ] && echo 'test is_open ... FAILED'; exit 0"


@pytest.fixture
def judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """The whole tool, with a script in the place of the tests that cargo would build."""
    (tmp_path / "tools").mkdir()
    (tmp_path / mutants.LIST).write_text(LIST)

    def main(script: str, *numbers: str) -> int:
        monkeypatch.setattr(mutants, "build", lambda *_: [suite(tmp_path, script)])
        monkeypatch.setattr("sys.argv", ["mutants.py", "--root", str(tmp_path), *numbers])
        return mutants.main()

    return main


def test_mutants_that_are_noticed_or_argued_pass_with_a_row_each(
    judge: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert judge(NOTICES_1) == 0
    printed = capsys.readouterr()
    assert "locks, unit tests: is_shut" in printed.out
    assert "survives, as argued" in printed.out
    assert "2 of 2: opening does nothing" in printed.err


@pytest.mark.parametrize(
    ("script", "numbers", "printed"),
    [
        ("exit 0", [], f"mutant 1 survived in {FILE}: write a test that fails with it"),
        (NOTICES_ALL, ["2"], "mutant 2 is noticed: take its `equivalent` out of"),
        (NOTICES_ALL, ["3"], "tools/mutants.toml has 2 mutants, and no 3"),
        ("exit 3", [], "without a mutant locks fails"),
    ],
)
def test_what_is_not_as_the_list_says_fails(
    judge: Callable[..., int],
    script: str,
    numbers: list[str],
    printed: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert judge(script, *numbers) == 1
    assert printed in "".join(capsys.readouterr())


def test_programs_of_tests_are_read_from_what_cargo_says() -> None:
    message = (
        '{"reason": "compiler-artifact", "manifest_path": "/w/crates/locks/Cargo.toml", '
        '"target": {"name": "%s", "kind": ["%s"]}, "profile": {"test": %s}, "executable": %s}'
    )
    lines = [
        message % ("locks", "lib", "true", '"/w/locks-1"'),
        message % ("doors", "test", "true", '"/w/doors-1"'),
        message % ("locks", "bin", "false", '"/w/locks"'),
        message % ("locks", "lib", "false", "null"),
        '{"reason": "build-finished", "success": true}',
    ]
    found = list(mutants.parse_suites("\n".join(lines)))
    assert [(one.crate, one.name) for one in found] == [("locks", "unit tests"), ("locks", "doors")]


def test_only_tests_of_the_crates_that_a_mutant_names_judge_it(tmp_path: Path) -> None:
    own = suite(tmp_path, "exit 0")
    other = suite(tmp_path, "echo 'test opens ... FAILED'", "doors")
    [sentence] = mutants.judge(mutants.parse(LIST)[:1], {own: 30.0, other: 30.0})
    assert "survived" in sentence
