"""The packages' surface: names, stubs, doc comments, what importing costs, what wheels carry."""

import ast
import inspect
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest

import run_report
import sealift
from conftest import skip
from sealift import _sealift, errors

try:
    from sealift_lab import _lab
except ImportError:  # not built: `make python/sealift_lab/_lab.abi3.so` does
    EXTENSIONS: tuple[ModuleType, ...] = (_sealift,)
else:
    EXTENSIONS = (_sealift, _lab)

ROOT = Path(__file__).parents[2]
PACKAGE = Path(sealift.__file__).parent


def test_every_public_name_is_there_and_listed() -> None:
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


@pytest.mark.parametrize("extension", EXTENSIONS, ids=lambda extension: extension.__name__)
def test_stubs_and_extension_say_the_same(extension: ModuleType) -> None:
    path = Path(f"{ROOT}/python/{extension.__name__.replace('.', '/')}.pyi")
    stub = ast.parse(path.read_text(encoding="utf-8"))
    compared = 0
    for names, documented in _doc_comments(stub.body, ()):
        value: object = extension
        for name in names:
            value = getattr(value, name)
        assert documented == inspect.getdoc(value), ".".join(names)
        compared += 1
    assert compared > 60


def test_the_extensions_share_no_class() -> None:
    for extension in EXTENSIONS[1:]:
        for name in vars(_sealift).keys() & vars(extension).keys():
            mine, other = getattr(extension, name), getattr(_sealift, name)
            if isinstance(mine, type):
                assert mine is not other
                assert mine.__module__ == extension.__name__, name
        with pytest.raises(sealift.UnknownDeviceError):
            extension.Engine(["no such device"])
        with pytest.raises(TypeError):
            extension.Engine().seal_batch(sealift.Engine().session(bytes(16)), None, [b"text"])


def test_the_lab_belongs_to_one_version_of_the_library() -> None:
    library = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lab = tomllib.loads((ROOT / "lab/pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert library["version"] == lab["version"] == sealift.__version__
    assert f"sealift[cli]=={sealift.__version__}" in lab["dependencies"]


def test_tables_of_ciphers_are_only_where_the_lab_is() -> None:
    """Looks into the extensions that are built, and the wheels of `make wheel` where there are."""
    for extension in EXTENSIONS:
        code = Path(extension.__file__ or "").read_bytes()
        assert _lab_code(code) == (set(LAB_CODE) if hasattr(extension, "Arm") else set())
    for wheel in ROOT.glob("dist/*.whl"):
        with zipfile.ZipFile(wheel) as files:
            (name,) = [name for name in files.namelist() if name.endswith(".so")]
            is_lab = name.startswith("sealift_lab/")
            assert _lab_code(files.read(name)) == (set(LAB_CODE) if is_lab else set()), wheel.name


def _lab_code(code: bytes) -> set[str]:
    """Which of what only the lab may carry stands in the code of an extension."""
    return {name for name, forms in LAB_CODE.items() if any(form in code for form in forms)}


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


def _t_table(order: str) -> list[bytes]:
    """How the four tables of AES begin: S(x), by FIPS 197, times 2, 1, 1 and 3 of MixColumns."""
    words = [(0xC6, 0x63, 0x63, 0xA5), (0xF8, 0x7C, 0x7C, 0x84), (0xEE, 0x77, 0x77, 0x99)]
    words.append((0xF6, 0x7B, 0x7B, 0x8D))
    turned = [[word[-row:] + word[:-row] for word in words] for row in range(4)]
    return [
        b"".join(bytes(word[::-1] if order == "little" else word) for word in table)
        for table in turned
    ]


# What machine code of the lab holds and the library's must not: the first 16 bytes of tables, in
# each order that libraries use, and names of crates, which panics print.
LAB_CODE = {
    "AES S-box": [bytes.fromhex("637c777bf26b6fc53001672bfed7ab76")],
    "AES T-tables": [*_t_table("little"), *_t_table("big")],
    "DES S-boxes": [
        bytes([14, 4, 13, 1, 2, 15, 11, 8, 3, 10, 6, 12, 5, 9, 0, 7]),
        bytes([14, 0, 4, 15, 13, 7, 1, 4, 2, 14, 15, 2, 11, 13, 8, 1]),
        bytes.fromhex("00080802000008000200000202080802"),
        bytes.fromhex("00040101000000000000010004040101"),
    ],
    "DPU simulator": [b"dpu-sim/src"],
    "measuring loops": [b"sealift-probes/src"],
    "readers of sequences": [b"needletail", b"seq_io"],
}
