"""The package's surface: names, stubs, doc comments, and what importing it costs."""

import ast
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest

import run_report
import sealift
from conftest import skip
from sealift import _sealift, errors

PACKAGE = Path(sealift.__file__).parent


def test_every_public_name_is_there_and_listed() -> None:
    assert sealift.__all__ == sorted(sealift.__all__)
    assert len(set(sealift.__all__)) == len(sealift.__all__)
    public = {
        name
        for name, value in vars(sealift).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    assert public == set(sealift.__all__) - {"__version__"}
    assert set(errors.__all__) <= set(sealift.__all__)


def test_every_exception_stands_in_the_drawn_tree() -> None:
    for name in errors.__all__:
        error = getattr(errors, name)
        assert issubclass(error, sealift.SealiftError)
        assert name in (errors.__doc__ or "")


def test_a_required_thing_that_skips_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SEALIFT_TEST_REPORT", raising=False)
    monkeypatch.setenv("SEALIFT_REQUIRE", "library,ipp")
    with pytest.raises(pytest.fail.Exception, match="SEALIFT_REQUIRE names ipp, but none is here"):
        skip("ipp", "none is here")
    with pytest.raises(pytest.skip.Exception, match="none is here"):
        skip("nvrtc", "none is here")


def test_every_name_that_is_skipped_by_can_be_required() -> None:
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        for name in re.findall(r'\bskip\("([^"]*)",', path.read_text(encoding="utf-8")):
            assert name in run_report.names(), f"{path.name} skips {name}: add it to names.txt"


def test_nothing_skips_past_what_is_required() -> None:
    around = ("pytest.skip(", "importorskip(", "mark.skip")
    for path in Path(__file__).parent.rglob("*.py"):
        found = [word for word in around if word in path.read_text(encoding="utf-8")]
        assert path.name in ("conftest.py", "test_package.py") or not found, path.name


def test_the_version_is_that_of_the_crate() -> None:
    manifest = (Path(__file__).parents[2] / "Cargo.toml").read_text(encoding="utf-8")
    assert f'version = "{sealift.__version__}"' in manifest
    try:
        installed = metadata.version("sealift")
    except metadata.PackageNotFoundError:
        return  # run from the checkout, nothing is installed
    assert installed == sealift.__version__


def test_importing_pulls_in_nothing_heavy() -> None:
    # About 25 ms with the extension, most of it Python's own start. A clock would fail on busy
    # machines, so the modules are what is tested.
    program = (
        "import sys; before = set(sys.modules); import sealift; print(*set(sys.modules) - before)"
    )
    found = _python("-S", "-c", program).split()
    roots = {name.partition(".")[0] for name in found}
    assert "sealift" in roots
    assert not roots & {"numpy", "rich", "typer", "altair", "cryptography", "difflib", "pytest"}
    assert {name for name in found if name.startswith("sealift.")} == {
        "sealift._sealift",
        "sealift.errors",
    }


def test_stubs_and_extension_say_the_same() -> None:
    stub = ast.parse((PACKAGE / "_sealift.pyi").read_text(encoding="utf-8"))
    compared = 0
    for path, documented in _doc_comments(stub.body, ()):
        value: object = _sealift
        for name in path:
            value = getattr(value, name)
        assert documented == inspect.getdoc(value), ".".join(path)
        compared += 1
    assert compared > 60


def _doc_comments(
    nodes: list[ast.stmt], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], str | None]]:
    """The doc comment of each class, function and attribute; of overloads the first."""
    seen = set()
    for node, below in zip(nodes, [*nodes[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and path and isinstance(node.target, ast.Name):
            assert isinstance(below, ast.Expr), node.target.id
            assert isinstance(below.value, ast.Constant), node.target.id
            yield (*path, node.target.id), inspect.cleandoc(str(below.value.value))
        if not isinstance(node, ast.ClassDef | ast.FunctionDef) or node.name == "_Array":
            continue
        here = (*path, node.name)
        if not node.name.startswith("__") and here not in seen:
            yield here, ast.get_docstring(node)
        seen.add(here)
        if isinstance(node, ast.ClassDef):
            yield from _doc_comments(node.body, here)


def _python(*arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout
