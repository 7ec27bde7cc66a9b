"""Checks the house rules that no linter knows, and prints one line for each breach.

Usage: python tools/tidy.py [FOLDER]

Dead files, `unsafe` outside its places, drivers that import each other, driver folders against
the DRIVERS list, layers between the crates, overlong files, words that must not stand in the
tree, broken links in Markdown. Needs nothing but Python.
"""

import ast
import fnmatch
import os
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from rust_source import code_only, driver_list, imports_from_root, module_files


def main() -> int:
    """Checks the tree above this file, or the folder named on the command line."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent
    found = sorted(breaches(root))
    for breach in found:
        print(breach)
    if found:
        print(f"tidy: {len(found)} to put right", file=sys.stderr)
    return 1 if found else 0


@dataclass(frozen=True, slots=True, order=True)
class Breach:
    """One place that breaks a rule, and what would be right."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        """As an editor can jump to it."""
        return f"{self.path}:{self.line}: {self.message}"


def breaches(root: Path) -> Iterator[Breach]:
    """Every breach of every rule in the tree at `root`."""
    tree = Tree(root)
    for rule in RULES:
        yield from rule(tree)


class Tree:
    """The files of a checkout, by their path from its root; what .gitignore names is left out."""

    def __init__(self, root: Path) -> None:
        """Walks the folder once."""
        self.root = root
        self._texts: dict[str, str] = {}
        ignored = _ignored(root / ".gitignore")
        self.files = sorted(_walk(root, ignored))
        self.folders = {
            str(folder) for file in self.files for folder in PurePosixPath(file).parents
        }

    def ending(self, *suffixes: str) -> list[str]:
        """The files whose names end so."""
        return [file for file in self.files if file.endswith(suffixes)]

    def text(self, file: str) -> str:
        """The text of a file; "" when it isn't text."""
        if file not in self._texts:
            try:
                self._texts[file] = (self.root / file).read_text(encoding="utf-8")
            except UnicodeDecodeError:
                self._texts[file] = ""
        return self._texts[file]

    def code(self, file: str) -> str:
        """The text of a Rust file with comments and string contents blanked."""
        key = f"code of {file}"
        if key not in self._texts:
            self._texts[key] = code_only(self.text(file))
        return self._texts[key]

    @cached_property
    def manifests(self) -> dict[str, dict[str, Any]]:
        """The Cargo.toml of each crate and example, by its folder."""
        files = [file for file in self.files if re.fullmatch(MANIFESTS, file)]
        return {str(PurePosixPath(f).parent): tomllib.loads(self.text(f)) for f in files}


def dead_rust(tree: Tree) -> Iterator[Breach]:
    """Every .rs file is a target or reached by `mod` from one."""
    reached: set[str] = set()
    files = set(tree.ending(".rs"))
    for folder, manifest in tree.manifests.items():
        waiting = _targets(folder, manifest, files)
        while waiting:
            file, is_root = waiting.popitem()
            if file in reached or file not in files:
                continue
            reached.add(file)
            text = tree.text(file)
            waiting |= dict.fromkeys(module_files(file, text, files, is_root=is_root), False)
    for file in sorted(files - reached):
        yield Breach(file, 1, "no `mod` and no target reaches this file; name it or delete it")


def dead_python(tree: Tree) -> Iterator[Breach]:
    """Every .py and .pyi file is a test, a script, an entry, or imported by one of these."""
    files = set(tree.ending(".py", ".pyi"))
    reached: set[str] = set()
    waiting = {file for file in files if _is_python_root(tree, file)}
    while waiting:
        file = waiting.pop()
        reached.add(file)
        waiting |= set(_python_imports(file, tree.text(file), files)) - reached
    for file in sorted(files - reached):
        yield Breach(file, 1, "nothing imports this file and it is no script; use it or delete it")


def dead_data(tree: Tree) -> Iterator[Breach]:
    """Every test vector, and every file in a folder named data, is named by code.

    A published table may be named without its ending.
    """
    code = "".join(tree.text(file) for file in tree.ending(".rs", ".py"))
    for file in tree.files:
        path = PurePosixPath(file)
        is_data = file.startswith(VECTORS) or "data" in path.parent.parts
        if not is_data or path.suffix == ".md" or path.name in code:
            continue
        if f'"{path.stem}"' not in code:
            yield Breach(file, 1, "no code names this file; read it or delete it")


def unsafe_in_its_places(tree: Tree) -> Iterator[Breach]:
    """`unsafe` stands in the two crates for it and in modules named ffi, nowhere else."""
    for file in tree.ending(".rs"):
        parts = PurePosixPath(file).with_suffix("").parts
        if "ffi" in parts or parts[:2] in UNSAFE_CRATES:
            continue
        for line in _lines_with(r"\bunsafe\b", tree.code(file)):
            yield Breach(file, line, f"`unsafe` here; move it to {UNSAFE_PLACES}")


def drivers_apart(tree: Tree) -> Iterator[Breach]:
    """No driver imports another."""
    names = {name for name, _ in _drivers(tree)}
    for file in tree.ending(".rs"):
        own = _driver_of(file)
        if own not in names:
            continue
        for line, other in imports_from_root(tree.code(file), _depth(file)):
            if other in names - {own}:
                message = f"driver {own} uses driver {other}; move what both need out of them"
                yield Breach(file, line, message)


def driver_folders_match_the_list(tree: Tree) -> Iterator[Breach]:
    """Each entry of DRIVERS has its folder or file, and each driver has its entry."""
    listed = _drivers(tree)
    implementing: dict[str, str] = {}
    for file in tree.ending(".rs"):
        own = _driver_of(file)
        if own and re.search(r"\bimpl\s+(?:\w+::)*Driver\s+for\b", tree.code(file)):
            implementing.setdefault(own, file)
    for name, line in listed:
        if name not in implementing:
            message = f"DRIVERS lists {name}, and nothing in {DRIVERS}/{name} implements Driver"
            yield Breach(DRIVER_LIST, line, message)
    for name, file in implementing.items():
        if name not in dict(listed):
            yield Breach(file, 1, f"driver {name} isn't in DRIVERS in {DRIVER_LIST}; add its line")


def payload_copies_in_their_place(tree: Tree) -> Iterator[Breach]:
    """Drivers and the Python bindings copy payload by `sealift_kernels::copy`, and nothing else.

    The C library's copy collapses at some offsets; what is small is named in SMALL_COPIES.
    """
    for file in tree.ending(".rs"):
        parts = PurePosixPath(file).with_suffix("").parts
        if parts[:2] not in COPYING_CRATES or {"tests", "testing", "fake"} & set(parts):
            continue
        if "src" not in parts or any(part.endswith("_tests") for part in parts):
            continue
        code = tree.code(file).partition("#[cfg(test)]\nmod tests {")[0]
        for match in re.finditer(SLICE_COPY, code, re.M):
            line = code.count("\n", 0, match.start()) + 1
            if match[0] not in SMALL_COPIES.get(file, ()):
                message = (
                    f"`{match[0]}` copies a slice; copy payload by sealift_kernels::copy::copy, or "
                    "name what is small in SMALL_COPIES in tools/tidy.py"
                )
                yield Breach(file, line, message)


def crates_in_layers(tree: Tree) -> Iterator[Breach]:
    """A crate depends only on those below it; what tests and examples use is their own affair."""
    for folder, manifest in tree.manifests.items():
        file, name = f"{folder}/Cargo.toml", manifest["package"]["name"]
        if not folder.startswith("crates/"):
            continue
        if name not in LAYERS:
            yield Breach(file, 1, f"{name} has no layer; add its line to LAYERS in tools/tidy.py")
            continue
        for other in sorted(_dependencies(manifest) & set(LAYERS) - LAYERS[name]):
            line = next(_lines_with(rf"^\s*{other}\b|\.{other}\]", tree.text(file)), 1)
            below = ", ".join(sorted(LAYERS[name])) or "no crate of this workspace"
            yield Breach(file, line, f"{name} depends on {other}; it may depend on {below}")


def files_of_readable_length(tree: Tree) -> Iterator[Breach]:
    """A source file has at most LINES_MAX lines; a stub is as long as what it describes."""
    for file in tree.ending(".rs", ".py", ".c", ".h", ".cu", ".cl"):
        lines = tree.text(file).count("\n")
        if lines > LINES_MAX and "generated" not in PurePosixPath(file).parts:
            message = f"{lines} lines, and {LINES_MAX} are the most; split it by subject"
            yield Breach(file, lines, message)


def unwanted_words(tree: Tree) -> Iterator[Breach]:
    """Nothing is left for later, and no developer's machine shows."""
    for file in tree.files:
        if file.endswith(".lock") or file.startswith(VECTORS):
            continue
        for pattern, message in UNWANTED:
            for line in _lines_with(pattern, tree.text(file)):
                yield Breach(file, line, message)


def links_that_lead_somewhere(tree: Tree) -> Iterator[Breach]:
    """A relative link in Markdown leads to a file or folder of the tree."""
    for file in tree.ending(".md"):
        text = re.sub(r"^```.*?^```|`[^`\n]*`", _blank, tree.text(file), flags=re.S | re.M)
        for match in LINK.finditer(text):
            target = (match[1] or match[2]).partition("#")[0]
            if not target or re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            place = os.path.normpath(PurePosixPath(file).parent / target)
            if place not in tree.folders and not _has(tree, place):
                line = text.count("\n", 0, match.start()) + 1
                yield Breach(file, line, f"the link {target} leads nowhere; correct or remove it")


def _walk(root: Path, ignored: Callable[[str], bool]) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        here = Path(folder).relative_to(root)
        folders[:] = [
            n for n in folders if n != ".git" and not ignored(f"{(here / n).as_posix()}/")
        ]
        yield from (file for n in names if not ignored(file := (here / n).as_posix()))


def _ignored(gitignore: Path) -> Callable[[str], bool]:
    """What .gitignore says of a path, a folder's ending in "/".

    Understands names, globs, a leading and a trailing slash: what ours is made of.
    """
    lines = gitignore.read_text(encoding="utf-8").splitlines() if gitignore.exists() else []
    patterns = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    for pattern in patterns:
        if pattern.startswith("!"):
            raise SystemExit(
                f"{gitignore}: tidy reads no exception; list what to ignore: {pattern}"
            )
    return lambda path: any(_ignores(pattern, path) for pattern in patterns)


def _ignores(pattern: str, path: str) -> bool:
    if pattern.endswith("/") and not path.endswith("/"):
        return False
    pattern, path = pattern.rstrip("/"), path.rstrip("/")
    if "/" in pattern:
        return fnmatch.fnmatchcase(path, pattern.lstrip("/"))
    return fnmatch.fnmatchcase(PurePosixPath(path).name, pattern)


def _targets(folder: str, manifest: dict[str, Any], files: Iterable[str]) -> dict[str, bool]:
    listed = [manifest.get("lib", {})]
    for kind in ("bin", "test", "bench", "example"):
        listed += manifest.get(kind, [])
    found = {
        os.path.normpath(f"{folder}/{target['path']}") for target in listed if "path" in target
    }
    found |= {file for file in files for glob in TARGETS if _matches(file, f"{folder}/{glob}")}
    return dict.fromkeys(found, True)


def _matches(file: str, glob: str) -> bool:
    return file.count("/") == glob.count("/") and fnmatch.fnmatchcase(file, glob)


def _is_python_root(tree: Tree, file: str) -> bool:
    name = PurePosixPath(file).name
    if fnmatch.fnmatchcase(name, "test_*.py") or name in ("conftest.py", "__main__.py"):
        return True
    if file.startswith("python/") and file.count("/") == 2 and name == "__init__.py":
        return True
    if _matches(file, LISTED):
        return True
    if any(file in _module_files("python", entry, {file}) for entry in ENTRIES):
        return True
    return 'if __name__ == "__main__":' in tree.text(file)


def _python_imports(file: str, text: str, files: set[str]) -> Iterator[str]:
    here = PurePosixPath(file).parent
    for node in ast.walk(ast.parse(text, file)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            bases = [*PYTHON_ROOTS, str(here)]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            names = [module, *(f"{module}.{alias.name}".lstrip(".") for alias in node.names)]
            above = [here, *here.parents][node.level - 1] if node.level else None
            bases = [str(above)] if above else [*PYTHON_ROOTS, str(here)]
        else:
            # What runs in a process of its own is named: with_name("measured.py").
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from {f"{here}/{node.value}"} & files
            continue
        for name in filter(None, names):
            for base in bases:
                yield from _module_files(base, name, files)


def _module_files(base: str, name: str, files: set[str]) -> Iterator[str]:
    """The files of a module and of the packages it is in."""
    place = PurePosixPath(base)
    for part in name.split("."):
        place /= part
        for candidate in (
            f"{place}.py",
            f"{place}.pyi",
            f"{place}/__init__.py",
            f"{place}/__init__.pyi",
        ):
            if candidate in files:
                yield candidate


def _drivers(tree: Tree) -> list[tuple[str, int]]:
    return driver_list(tree.code(DRIVER_LIST)) if _has(tree, DRIVER_LIST) else []


def _driver_of(file: str) -> str | None:
    path = PurePosixPath(file)
    if not path.is_relative_to(DRIVERS) or file == DRIVER_LIST:
        return None
    return path.relative_to(DRIVERS).with_suffix("").parts[0]


def _depth(file: str) -> int:
    """How many modules below lib.rs a driver's file is."""
    parts = PurePosixPath(file).relative_to(DRIVERS).with_suffix("").parts
    return len(parts) - (parts[-1] == "mod")


def _dependencies(manifest: dict[str, Any]) -> set[str]:
    tables = [manifest, *manifest.get("target", {}).values()]
    return {
        name
        for table in tables
        for kind in ("dependencies", "build-dependencies")
        for name in table.get(kind, {})
    }


def _has(tree: Tree, file: str) -> bool:
    return file in tree.files


def _lines_with(pattern: str, text: str) -> Iterator[int]:
    for match in re.finditer(pattern, text, re.M):
        yield text.count("\n", 0, match.start()) + 1


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


LINES_MAX = 600
MANIFESTS = r"(?:crates|examples)/[^/]+/Cargo\.toml"
PYTHON_ROOTS = ("python", "tools", "tests/python", "benches", ".")
# They are imported by their names, by sealift.cli.lab and sealift_lab.cli.lab.
ENTRIES = (
    "sealift.cli",
    *(f"sealift_lab.cli.{of}" for of in ("advise", "dpu", "lab")),
    *(f"sealift_lab.cli.{of}" for of in ("certify", "compare", "copy_tool", "plot", "run", "show")),
)
# The registry imports whatever lies there.
LISTED = "python/sealift_lab/experiments/*/__init__.py"
VECTORS = "tests/vectors/"
DRIVERS = "crates/sealift-drivers/src"
DRIVER_LIST = f"{DRIVERS}/lib.rs"
UNSAFE_CRATES = {("crates", "sealift-kernels"), ("crates", "sealift-probes")}
UNSAFE_PLACES = "sealift-kernels, sealift-probes or a module named ffi"
TARGETS = (
    "build.rs",
    "src/lib.rs",
    "src/main.rs",
    "src/bin/*.rs",
    "src/bin/*/main.rs",
    *(
        f"{kind}/{name}"
        for kind in ("tests", "benches", "examples")
        for name in ("*.rs", "*/main.rs")
    ),
)

# What each crate may depend on.
LAYERS: dict[str, set[str]] = {
    "dpu-sim": set(),
    "sealift-testing": set(),
    "sealift-core": set(),
    "sealift-kernels": {"sealift-core"},
    "sealift-engine": {"sealift-core"},
    "sealift-gpu": {"sealift-core", "sealift-kernels"},
    "fake-cuda": {"sealift-core", "sealift-gpu", "sealift-kernels"},
    "sealift-drivers": {"dpu-sim", "sealift-core", "sealift-gpu", "sealift-kernels"},
    "sealift-conformance": {"sealift-core", "sealift-drivers", "sealift-testing"},
    "sealift": {"sealift-core", "sealift-drivers", "sealift-engine"},
    "sealift-probes": {"sealift", "sealift-gpu", "sealift-kernels"},
    "sealift-bindings": {"dpu-sim", "sealift", "sealift-conformance", "sealift-probes"},
    "sealift-py": {"sealift-bindings"},
    "sealift-lab-py": {"sealift-bindings"},
    "sealift-peers": {"sealift", "sealift-kernels", "sealift-probes"},
}

COPYING_CRATES = {
    ("crates", "sealift-bindings"),
    ("crates", "sealift-drivers"),
    ("crates", "sealift-gpu"),
}
SLICE_COPY = (
    r"(?:\bptr::copy(?:_nonoverlapping)?|[\w.\[\])]*\.(?:(?:copy|clone|extend)_from_slice"
    r"|copy_within|copy_(?:to|from)(?:_nonoverlapping)?))(?=\()"
)
# Copies of a few bytes, or of no payload.
SMALL_COPIES = {
    "crates/sealift-bindings/src/room.rs": ("all.extend_from_slice",),
    "crates/sealift-drivers/src/pim/bank.rs": ("self.set.copy_to", "self.set.copy_from"),
    "crates/sealift-drivers/src/pim/timed/check.rs": ("self.set.copy_from",),
    "crates/sealift-drivers/src/pim/timed/mod.rs": ("self.set.copy_to",),
    "crates/sealift-drivers/src/reference/mod.rs": ("tag.copy_from_slice",),
}

# One letter of each stands in brackets, so that this file and its test may name what they forbid.
UNWANTED = (
    (r"\b(?:TO[D]O|FIXM[E]|XX[X])\b", "a note about work undone; do it, or open an issue"),
    (r"\b(?:tod[o]|unimplemente[d])!", "a macro for code that isn't there; write the code"),
    (
        r"(?<![\w.~$}*-])/(?:hom[e]|wor[k]|roo[t])/",
        "a path of somebody's machine; use a relative path",
    ),
)
LINK = re.compile(r"\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)|^\[[^\]]+\]:\s+(\S+)", re.M)

RULES: tuple[Callable[[Tree], Iterator[Breach]], ...] = (
    dead_rust,
    dead_python,
    dead_data,
    unsafe_in_its_places,
    drivers_apart,
    payload_copies_in_their_place,
    driver_folders_match_the_list,
    crates_in_layers,
    files_of_readable_length,
    unwanted_words,
    links_that_lead_somewhere,
)

if __name__ == "__main__":
    sys.exit(main())
