"""Checks the house rules that no linter knows, and prints one line for each breach.

Usage: python tools/tidy.py [FOLDER]

Dead files, `unsafe` outside its places, drivers that import each other, layers between the crates,
overlong files, words that must not stand in the tree, broken links in Markdown. Needs nothing but
Python and git.
"""

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath

Tree = Mapping[str, str]
"""The text of each file of a checkout by its path; "" of what is no text."""
Breach = tuple[str, int, str]
"""File, line, and what would be right."""


def main() -> int:
    """Checks the tree above this file, or the folder named on the command line."""
    found = breaches(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent)
    for file, line, message in found:
        print(f"{file}:{line}: {message}")
    if found:
        print(f"tidy: {len(found)} to put right", file=sys.stderr)
    return int(bool(found))


def breaches(root: Path) -> list[Breach]:
    """Every breach of every rule in the tree at `root`, in order; what git ignores is left out."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
    names = sorted({*listed.stdout.split("\0")} - {""})
    tree = {name: _text(root / name) for name in names if (root / name).is_file()}
    return sorted(breach for rule in RULES for breach in rule(tree))


def dead_rust(tree: Tree) -> Iterator[Breach]:
    """Every .rs file is a target, or has its `mod` or path in the file that it belongs to.

    Programs that an experiment compiles are data: their names stand in Python.
    """
    named = set[str]()
    for file, text in _files(tree, ".rs"):
        path = PurePosixPath(file)
        is_root = path.name == "mod.rs" or re.fullmatch(TARGETS, file)
        folder = path.parent if is_root else path.with_suffix("")
        for module in re.findall(r"^\s*(?:pub(?:\(.*\))? )?mod (\w+);", text, re.M):
            named |= {f"{folder}/{module}.rs", f"{folder}/{module}/mod.rs"}
        for other in re.findall(r'(?:#\[path = |\binclude!\()"(.+)"', text):
            named.add(os.path.normpath(path.parent / other))
    for file, _ in _files(tree, ".rs"):
        is_data = "programs" in PurePosixPath(file).parent.parts
        if file not in named and not is_data and not re.fullmatch(TARGETS, file):
            yield file, 1, "no `mod` and no target reaches this file; name it or delete it"


def dead_python(tree: Tree) -> Iterator[Breach]:
    """Every .py and .pyi file is a test, a script, an entry, or named by another."""
    files = _files(tree, ".py", ".pyi")
    named = {name for _, text in files for name in _imports(text)}
    for file, text in files:
        module = re.sub(r"^(?:python|tools|tests/python|benches)/|\.pyi?$", "", file)
        is_root = re.fullmatch(PYTHON_ROOTS, file) or 'if __name__ == "__main__":' in text
        if not is_root and not {module.replace("/", "."), Path(file).name} & named:
            yield file, 1, "nothing imports this file and it is no script; use it or delete it"


def dead_data(tree: Tree) -> Iterator[Breach]:
    """Every test vector, and every file in a folder named data or programs, is named by code.

    A published table may be named without its ending.
    """
    code = "".join(text for _, text in _files(tree, ".rs", ".py"))
    for path in map(PurePosixPath, tree):
        is_data = str(path).startswith(VECTORS) or {"data", "programs"} & {*path.parent.parts}
        is_named = path.name in code or f'"{path.stem}"' in code
        if is_data and path.suffix != ".md" and not is_named:
            yield str(path), 1, "no code names this file; read it or delete it"


def unsafe_in_its_places(tree: Tree) -> Iterator[Breach]:
    """`unsafe` stands in the two crates for it and in modules named ffi, nowhere else."""
    for file, text in _files(tree, ".rs"):
        if not UNSAFE_PLACES.search(file):
            for line, _ in _matches(UNSAFE, text):
                yield file, line, "`unsafe` here; move it to kernels, probes or a module named ffi"


def drivers_apart(tree: Tree) -> Iterator[Breach]:
    """No driver imports another."""
    names = {*re.findall(r"&(\w+)::\w+,", tree.get(f"{DRIVERS}/lib.rs", ""))}
    for file, text in _files(tree, ".rs"):
        own, *inside = file.removeprefix(f"{DRIVERS}/").removesuffix(".rs").split("/")
        if own in names:
            above = "super::" * (len([own, *inside]) - (inside[-1:] == ["mod"]))
            others = "|".join(names - {own})
            named = rf"^(?!\s*//).*?\b(?:crate::|{above})(?:\{{[^;]*?\b)?({others})\b"
            for line, match in _matches(named, text):
                message = f"driver {own} uses driver {match[1]}; move what both need out"
                yield file, line, message


def crates_in_layers(tree: Tree) -> Iterator[Breach]:
    """A crate depends only on those that the table of crates in ARCHITECTURE.md gives it.

    What tests and examples use is their own affair.
    """
    table = tree.get(ARCHITECTURE, "").partition("## Crates")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `([\w-]+)` \|.*\| (.*) \|$", table, re.M))
    for file, text in _files(tree, "/Cargo.toml"):
        if not file.startswith("crates/"):
            continue
        manifest = tomllib.loads(text)
        name = manifest["package"]["name"]
        words = re.findall(r"[\w-]+", rows.get(name, ""))
        allowed = {other for other in rows if {other, other.removeprefix("sealift-")} & {*words}}
        tables = [manifest, *manifest.get("target", {}).values()]
        kinds = ("dependencies", "build-dependencies")
        used = {other for of in tables for kind in kinds for other in of.get(kind, {})}
        for other in used & rows.keys() - allowed:
            below = ", ".join(sorted(allowed)) or "no crate of this workspace"
            yield file, 1, f"{name} depends on {other}; it may depend on {below}"
        if name not in rows:
            yield file, 1, f"{name} has no layer; add its line to the crates of {ARCHITECTURE}"


def files_of_readable_length(tree: Tree) -> Iterator[Breach]:
    """A source file has at most LINES_MAX lines; a stub is as long as what it describes."""
    for file, text in _files(tree, ".rs", ".py", ".c", ".h", ".cu", ".cl"):
        lines = text.count("\n")
        if lines > LINES_MAX and "generated" not in PurePosixPath(file).parts:
            yield file, lines, f"{lines} lines, and {LINES_MAX} are the most; split it by subject"


def unwanted_words(tree: Tree) -> Iterator[Breach]:
    """Nothing is left for later, and no developer's machine shows."""
    for file, text in tree.items():
        if not file.endswith(".lock") and not file.startswith(VECTORS):
            for pattern, message in UNWANTED.items():
                yield from ((file, line, message) for line, _ in _matches(pattern, text))


def links_that_lead_somewhere(tree: Tree) -> Iterator[Breach]:
    """A relative link in Markdown leads to a file or folder of the tree."""
    places = {*tree, *(str(each) for file in tree for each in PurePosixPath(file).parents)}
    for file, whole in _files(tree, ".md"):
        text = re.sub(r"^```.*?^```|`[^`\n]*`", _blank, whole, flags=re.S | re.M)
        for line, match in _matches(LINK, text):
            target = (match[1] or match[2]).partition("#")[0]
            is_relative = target and not re.match(r"[a-z][a-z0-9+.-]*:", target)
            if is_relative and os.path.normpath(PurePosixPath(file).parent / target) not in places:
                yield file, line, f"the link {target} leads nowhere; correct or remove it"


def _files(tree: Tree, *endings: str) -> list[tuple[str, str]]:
    return [(file, text) for file, text in tree.items() if file.endswith(endings)]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def _imports(text: str) -> Iterator[str]:
    """All modules that a text imports or has in strings: `-m package.module`, `helper.py`."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (str(node.module), *(f"{node.module}.{each.name}" for each in node.names))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _matches(pattern: str, text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Each match with its line."""
    for match in re.finditer(pattern, text, re.M):
        yield text.count("\n", 0, match.start()) + 1, match


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


LINES_MAX = 600
ARCHITECTURE = "ARCHITECTURE.md"
VECTORS = "tests/vectors/"
DRIVERS = "crates/sealift-drivers/src"
TARGETS = (
    r"(?:crates|examples)/[^/]+/(?:build|src/(?:lib|main)|src/bin/[^/]+"
    r"|(?:tests|benches|examples)/[^/]+|(?:src/bin|tests|benches|examples)/[^/]+/main)\.rs"
)
# Tests, packages, and commands that are imported by their names.
PYTHON_ROOTS = r"(?:.*/)?(?:test_\w+|conftest|__\w+__)\.pyi?|python/sealift\w*/cli/\w+\.py"
UNSAFE = r"^(?!\s*//).*\bunsafe(?:\(| *\{| (?:fn|impl|extern|trait)\b)"
UNSAFE_PLACES = re.compile(r"^crates/sealift-(?:kernels|probes)/|/ffi(?:/|\.rs$)")
# One letter of each stands in brackets, so that this file and its test may name what they forbid.
UNWANTED = {
    r"\b(?:TO[D]O|FIXM[E]|XX[X])\b": "a note about work undone; do it, or open an issue",
    r"(?<![\w.~$}*-])/(?:hom[e]|wor[k]|roo[t])/": "a path of one machine; take a relative one",
}
LINK = r"\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)|^\[[^\]]+\]:\s+(\S+)"
RULES: tuple[Callable[[Tree], Iterator[Breach]], ...] = (
    dead_rust,
    dead_python,
    dead_data,
    unsafe_in_its_places,
    drivers_apart,
    crates_in_layers,
    files_of_readable_length,
    unwanted_words,
    links_that_lead_somewhere,
)

if __name__ == "__main__":
    sys.exit(main())
