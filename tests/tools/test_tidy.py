import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import tidy

Tree = Callable[[dict[str, str]], list[str]]


# The text of the file in which a line of the breach is expected.
BREACHES = {
    "a_rust_file_without_mod_is_dead": (
        "pub fn f() {}\n",
        "crates/sealift-core/src/orphan.rs:1: no `mod`",
    ),
    "a_test_helper_without_mod_is_dead": (
        "// mod of nobody\n",
        "crates/sealift-core/tests/support/orphan.rs:1: no `mod`",
    ),
    "an_example_has_no_dead_files_either": (
        "pub fn f() {}\n",
        "examples/own-device/src/orphan.rs:1: no `mod`",
    ),
    "a_python_file_without_import_is_dead": (
        "X = 1\n",
        "python/sealift/orphan.py:1: nothing imports",
    ),
    "a_module_beside_the_documents_is_dead_without_import": (
        "X = 1\n",
        "python/sealift_lab/experiments/orphan.py:1: nothing imports",
    ),
    "a_vector_file_nobody_names_is_dead": ("Key = 00\n", "tests/vectors/lost.rsp:1: no code names"),
    "a_data_file_nobody_names_is_dead": ("a,b\n", "python/sealift/data/lost.csv:1: no code names"),
    "a_program_in_another_language_that_nobody_names_is_dead": (
        "fn main() {}\n",
        "python/sealift_lab/experiments/programs/lost.rs:1: no code names",
    ),
    "a_word_in_the_code_is_no_name_of_a_data_file": (
        "a,b\n",
        "python/sealift_lab/data/OTHER.csv:1: no code names",
    ),
    "unsafe_in_core_is_refused": (
        "\nfn f() { unsafe { g() } }\n",
        "crates/sealift-core/src/key.rs:2: `unsafe` here",
    ),
    "a_driver_that_imports_another_is_refused": (
        "use crate::cpu::X;\nimpl Driver for Null {}\n",
        "crates/sealift-drivers/src/null.rs:1: driver null uses driver cpu",
    ),
    "a_driver_import_inside_braces_is_seen": (
        "use crate::{util::Y,\nnull::{A, B}};\n",
        "crates/sealift-drivers/src/cpu/pool.rs:1: driver cpu uses driver null",
    ),
    "a_driver_import_through_super_is_seen": (
        "fn f() { super::super::null::g() }\n",
        "crates/sealift-drivers/src/cpu/pool.rs:1: driver cpu uses driver null",
    ),
    "a_dependency_for_one_target_counts": (
        (
            '[package]\nname = "sealift-core"\n'
            "[target.'cfg(unix)'.dependencies]\nsealift-kernels.workspace = true\n"
        ),
        "crates/sealift-core/Cargo.toml:1: sealift-core depends on sealift-kernels; "
        "it may depend on no crate",
    ),
    "a_crate_without_a_layer_is_named": (
        '[package]\nname = "stranger"\n',
        "crates/stranger/Cargo.toml:1: stranger has no layer",
    ),
    "an_overlong_file_is_refused": (
        "//\n" * 601,
        "crates/sealift-core/src/key.rs:601: 601 lines, and 600 are the most",
    ),
    "a_note_about_work_undone_is_refused": (
        "all:\n\t# TO" + "DO later\n",
        "Makefile:2: a note about work undone",
    ),
    "a_path_of_somebodys_machine_is_refused": (
        "Run /ho" + "me/me/tool\n",
        "guide.md:1: a path of one machine",
    ),
    "a_broken_link_is_named": (
        "See\n[this](docs/none.md#part).\n",
        "guide.md:2: the link docs/none.md leads nowhere",
    ),
    "a_broken_reference_link_is_named": (
        "[this]\n\n[this]: none.md\n",
        "guide.md:3: the link none.md leads nowhere",
    ),
}
BREACHES_ELSEWHERE = {
    "a_mod_in_a_comment_reaches_nothing": (
        {"crates/sealift-core/src/old.rs": "", "crates/sealift-core/src/key.rs": "// mod old;\n"},
        "crates/sealift-core/src/old.rs:1: no `mod`",
    ),
    "an_engine_that_names_drivers_is_refused": (
        {
            "crates/sealift-engine/Cargo.toml": '[package]\nname = "sealift-engine"\n'
            "[dependencies]\nsealift-core.workspace = true\nsealift-drivers.workspace = true\n",
            "crates/sealift-engine/src/lib.rs": "",
        },
        "crates/sealift-engine/Cargo.toml:1: sealift-engine depends on sealift-drivers; "
        "it may depend on sealift-core",
    ),
}


@pytest.fixture
def complaints(tmp_path: Path) -> Tree:
    """Writes the given files into a folder and returns what tidy finds there."""
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)

    def check(files: dict[str, str]) -> list[str]:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return ["{}:{}: {}".format(*breach) for breach in tidy.breaches(tmp_path)]

    return check


def test_a_tree_that_keeps_every_rule_gets_no_complaint(complaints: Tree) -> None:
    assert complaints(TIDY_TREE) == []


@pytest.mark.parametrize(("text", "expected"), BREACHES.values(), ids=BREACHES)
def test_a_breach_in_a_file_gets_one_line(complaints: Tree, text: str, expected: str) -> None:
    [found] = complaints(TIDY_TREE | {expected.partition(":")[0]: text})
    assert found.startswith(expected)


@pytest.mark.parametrize(("added", "expected"), BREACHES_ELSEWHERE.values(), ids=BREACHES_ELSEWHERE)
def test_a_breach_that_another_file_makes_gets_one_line(
    complaints: Tree, added: dict[str, str], expected: str
) -> None:
    [found] = complaints(TIDY_TREE | added)
    assert found.startswith(expected)


def test_what_gitignore_names_is_not_looked_at(complaints: Tree) -> None:
    ignored = {"target/debug/x.rs": "unsafe", "deep/__pycache__/x.py": "", "lib.so": "TO" + "DO"}
    assert complaints(TIDY_TREE | ignored) == []


def test_main_exits_1_and_prints_each_breach(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    (tmp_path / "a.md").write_text("[x](y.md)\n", encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["tidy.py", str(tmp_path)])
    assert tidy.main() == 1
    assert capsys.readouterr().out == (
        "a.md:1: the link y.md leads nowhere; correct or remove it\n"
    )


TIDY_TREE = {
    "ARCHITECTURE.md": "## Crates\n\n"
    "| `sealift-core` | nouns | nothing here |\n"
    "| `sealift-kernels` | ciphers | core |\n"
    "| `sealift-engine` | sessions | core |\n"
    "| `sealift-drivers` | devices | core, kernels |\n",
    ".gitignore": "# built\n/target/\n__pycache__/\n*.so\n",
    "README.md": "[guide](docs/) [web](https://example.org/none) [up](#top) `[x](none.md)`\n"
    "```\n[x](none.md)\n```\n",
    "docs/a.md": "[readme](../README.md)\n",
    "crates/sealift-core/Cargo.toml": '[package]\nname = "sealift-core"\n'
    "[dev-dependencies]\nsealift-drivers.workspace = true\n",
    "crates/sealift-core/src/lib.rs": 'mod key;\nmod inner;\n#[path = "odd-name.rs"]\nmod odd;\n',
    "crates/sealift-core/src/key.rs": "// unsafe is only a word here\n"
    'const S: &str = "unsafe \\" mod lost;";\n'
    "const Q: char = '\"';\nfn f<'a>(_: &'a str) {}\n",
    "crates/sealift-core/src/inner.rs": "mod tests;\n",
    "crates/sealift-core/src/inner/tests.rs": "/* unsafe\n */\n",
    "crates/sealift-core/src/odd-name.rs": "#![forbid(unsafe_code)]\n",
    "crates/sealift-core/tests/all.rs": "mod support;\n",
    "crates/sealift-core/tests/support/mod.rs": 'const V: &str = "kept.rsp";\n',
    "crates/sealift-kernels/Cargo.toml": '[package]\nname = "sealift-kernels"\n'
    "[dependencies]\nsealift-core.workspace = true\n",
    "crates/sealift-kernels/src/lib.rs": "fn f() { unsafe { g() } }\n",
    "crates/sealift-drivers/Cargo.toml": '[package]\nname = "sealift-drivers"\n'
    "[dependencies]\nsealift-core.workspace = true\nsealift-kernels = { workspace = true }\n",
    "crates/sealift-drivers/src/lib.rs": "pub mod cpu;\npub mod null;\nmod util;\n"
    "pub static DRIVERS: &[&dyn Driver] = &[\n    &cpu::Cpu, // unsafe\n    &null::Null,\n];\n",
    "crates/sealift-drivers/src/util.rs": "use std::sync::Arc;\n",
    "crates/sealift-drivers/src/null.rs": "use crate::util::X;\nimpl Driver for Null {}\n",
    "crates/sealift-drivers/src/cpu/mod.rs": "mod ffi;\nmod pool;\nuse self::pool::P;\n"
    "impl sealift_core::Driver for Cpu {}\n",
    "crates/sealift-drivers/src/cpu/pool.rs": "use super::null;\nuse crate::cpu::ffi;\n",
    "crates/sealift-drivers/src/cpu/ffi.rs": "unsafe extern {}\n",
    "examples/own-device/Cargo.toml": '[package]\nname = "own-device"\n'
    "[dependencies]\nsealift-core.workspace = true\n",
    "examples/own-device/src/lib.rs": "pub fn f() {}\n",
    "python/sealift/__init__.py": "from sealift.front import X\n",
    "python/sealift/front.py": "from sealift import _sealift\n",
    "python/sealift/_sealift.pyi": "",
    "python/sealift/cli/root.py": "from sealift import shown\n",
    "python/sealift/shown.py": "",
    "python/sealift_lab/__init__.py": "",
    "python/sealift_lab/cli/lab.py": "import sealift_lab.units\n",
    "python/sealift_lab/units.py": 'TABLE = "kept.csv"\nOTHER = "kept-too"\n',
    "python/sealift_lab/data/kept.csv": "a,b\n",
    "python/sealift_lab/data/kept-too.csv": "a,b\n",
    "python/sealift_lab/experiments/document_000/__init__.py": "EXPERIMENTS = 1\n",
    "tests/python/test_front.py": "import helper\n",
    "tests/python/helper.py": "MEASURED = 'measured.py'\n",
    "tests/python/measured.py": "",
    "tests/vectors/kept.rsp": "Key = 00\n",
    "tools/script.py": 'if __name__ == "__main__":\n    pass\n',
}
