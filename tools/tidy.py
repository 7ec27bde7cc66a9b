"""Checks the house rules that no linter knows, and prints one line for each breach.

Usage: python tools/tidy.py [FOLDER]

Dead files, `unsafe` outside its places, drivers that import each other, driver folders against
the DRIVERS list, layers between the crates, overlong files, words that must not stand in the
tree, broken links in Markdown. Needs nothing but Python and git.
"""

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import Any

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
    """Every breach of every rule in the tree at `root`, in order."""
    tree = Tree(root)
    return sorted(breach for rule in RULES for breach in rule(tree))


class Tree:
    """The files of a checkout, by their path from its root; what git ignores is left out."""

    def __init__(self, root: Path) -> None:
        """Reads all of them; the text of what isn't text is ""."""
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
        names = sorted({*listed.stdout.split("\0")} - {""})
        self.texts = {name: _text(root / name) for name in names if (root / name).is_file()}
        self.code = {file: NO_CODE.sub(_blank, self.texts[file]) for file in self.files(".rs")}

    def files(self, *endings: str) -> list[str]:
        """Those whose names end so."""
        return [file for file in self.texts if file.endswith(endings)]

    @cached_property
    def manifests(self) -> dict[str, dict[str, Any]]:
        """The Cargo.toml of each crate and example, by its folder."""
        files = (file for file in self.texts if re.fullmatch(MANIFESTS, file))
        return {str(PurePosixPath(file).parent): tomllib.loads(self.texts[file]) for file in files}


def dead_rust(tree: Tree) -> Iterator[Breach]:
    """Every .rs file is a target or reached by `mod` from one."""
    files, reached = set(tree.code), set[str]()
    for folder, manifest in tree.manifests.items():
        waiting = dict.fromkeys(_targets(folder, manifest, tree), True)
        while waiting:
            file, is_root = waiting.popitem()
            if file in files - reached:
                reached.add(file)
                waiting |= dict.fromkeys(_module_files(file, tree, is_root=is_root), False)
    for file in files - reached:
        yield file, 1, "no `mod` and no target reaches this file; name it or delete it"


def dead_python(tree: Tree) -> Iterator[Breach]:
    """Every .py and .pyi file is a test, a script, an entry, or imported by one of these."""
    unreached = {file: _module(file) for file in tree.files(".py", ".pyi")}
    waiting = {file for file in unreached if _is_python_root(file, tree.texts[file])}
    while waiting:
        names = {name for file in waiting for name in _imports(tree.texts[file])}
        for file in waiting:
            del unreached[file]
        waiting = {file for file, own in unreached.items() if {own, Path(file).name} & names}
    for file in unreached:
        yield file, 1, "nothing imports this file and it is no script; use it or delete it"


def dead_data(tree: Tree) -> Iterator[Breach]:
    """Every test vector, and every file in a folder named data, is named by code.

    A published table may be named without its ending.
    """
    code = "".join(tree.texts[file] for file in tree.files(".rs", ".py"))
    for file in tree.texts:
        path = PurePosixPath(file)
        is_data = file.startswith(VECTORS) or "data" in path.parent.parts
        if not is_data or path.suffix == ".md":
            continue
        if path.name not in code and f'"{path.stem}"' not in code:
            yield file, 1, "no code names this file; read it or delete it"


def unsafe_in_its_places(tree: Tree) -> Iterator[Breach]:
    """`unsafe` stands in the two crates for it and in modules named ffi, nowhere else."""
    for file, code in tree.code.items():
        if not UNSAFE_PLACES.search(file):
            for line, _ in _matches(r"\bunsafe\b", code):
                yield file, line, "`unsafe` here; move it to kernels, probes or a module named ffi"


def drivers_apart(tree: Tree) -> Iterator[Breach]:
    """No driver imports another."""
    names = {name for _, name in _drivers(tree)}
    for file, own in _driver_files(tree):
        parts = PurePosixPath(file).relative_to(DRIVERS).with_suffix("").parts
        depth = len(parts) - (parts[-1] == "mod")
        for line, other in _imports_from_root(tree.code[file], depth):
            if own in names and other in names - {own}:
                yield file, line, f"driver {own} uses driver {other}; move what both need out"


def driver_folders_match_the_list(tree: Tree) -> Iterator[Breach]:
    """Each entry of DRIVERS has its folder or file, and each driver has its entry."""
    listed = {name: line for line, name in _drivers(tree)}
    implementing = {
        own: file
        for file, own in _driver_files(tree)
        if re.search(r"\bimpl\s+(?:\w+::)*Driver\s+for\b", tree.code[file])
    }
    for name in listed.keys() - implementing.keys():
        message = f"DRIVERS lists {name}, and nothing in {DRIVERS}/{name} implements Driver"
        yield DRIVER_LIST, listed[name], message
    for name in implementing.keys() - listed.keys():
        message = f"driver {name} isn't in DRIVERS in {DRIVER_LIST}; add its line"
        yield implementing[name], 1, message


def payload_copies_in_their_place(tree: Tree) -> Iterator[Breach]:
    """Drivers and the Python bindings copy payload by `sealift_kernels::copy`, and nothing else.

    The C library's copy collapses at some offsets; what is small is named in SMALL_COPIES.
    """
    for file, whole in tree.code.items():
        if not COPYING.match(file) or TESTING.search(file):
            continue
        for line, match in _matches(SLICE_COPY, whole.partition("#[cfg(test)]\nmod tests {")[0]):
            if match[0] not in SMALL_COPIES.get(file, ()):
                message = f"`{match[0]}` copies a slice; copy payload by sealift_kernels::copy"
                yield file, line, f"{message}, or name what is small in SMALL_COPIES"


def crates_in_layers(tree: Tree) -> Iterator[Breach]:
    """A crate depends only on those that the table of crates in ARCHITECTURE.md gives it.

    What tests and examples use is their own affair.
    """
    table = tree.texts.get(ARCHITECTURE, "").partition("## Crates")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `([\w-]+)` \|.*\| (.*) \|$", table, re.M))
    words = {name: {*re.findall(r"[\w-]+", row)} for name, row in rows.items()}
    for folder, manifest in tree.manifests.items():
        file, name = f"{folder}/Cargo.toml", manifest["package"]["name"]
        if not folder.startswith("crates/"):
            continue
        if name not in rows:
            yield file, 1, f"{name} has no layer; add its line to the crates of {ARCHITECTURE}"
            continue
        allowed = {other for other in rows if {other, other.removeprefix("sealift-")} & words[name]}
        for other in _dependencies(manifest) & rows.keys() - allowed:
            line = next(_matches(rf"^\s*{other}\b|\.{other}\]", tree.texts[file]))[0]
            below = ", ".join(sorted(allowed)) or "no crate of this workspace"
            yield file, line, f"{name} depends on {other}; it may depend on {below}"


def files_of_readable_length(tree: Tree) -> Iterator[Breach]:
    """A source file has at most LINES_MAX lines; a stub is as long as what it describes."""
    for file in tree.files(".rs", ".py", ".c", ".h", ".cu", ".cl"):
        lines = tree.texts[file].count("\n")
        if lines > LINES_MAX and "generated" not in PurePosixPath(file).parts:
            yield file, lines, f"{lines} lines, and {LINES_MAX} are the most; split it by subject"


def unwanted_words(tree: Tree) -> Iterator[Breach]:
    """Nothing is left for later, and no developer's machine shows."""
    for file, text in tree.texts.items():
        if not file.endswith(".lock") and not file.startswith(VECTORS):
            for pattern, message in UNWANTED:
                for line, _ in _matches(pattern, text):
                    yield file, line, message


def links_that_lead_somewhere(tree: Tree) -> Iterator[Breach]:
    """A relative link in Markdown leads to a file or folder of the tree."""
    places = {str(each) for file in tree.texts for each in PurePosixPath(file).parents}
    for file in tree.files(".md"):
        text = re.sub(r"^```.*?^```|`[^`\n]*`", _blank, tree.texts[file], flags=re.S | re.M)
        for line, match in _matches(LINK, text):
            target = (match[1] or match[2]).partition("#")[0]
            place = os.path.normpath(PurePosixPath(file).parent / target)
            is_relative = target and not re.match(r"[a-z][a-z0-9+.-]*:", target)
            if is_relative and place not in places and place not in tree.texts:
                yield file, line, f"the link {target} leads nowhere; correct or remove it"


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def _targets(folder: str, manifest: dict[str, Any], tree: Tree) -> Iterator[str]:
    """The roots of what cargo builds: those that the manifest names, and those it finds."""
    for kind in ("lib", "bin", "test", "bench", "example"):
        listed = manifest.get(kind, [])
        for target in [listed] if isinstance(listed, dict) else listed:
            yield os.path.normpath(f"{folder}/{target.get('path', '')}")
    yield from (file for file in tree.code if re.fullmatch(f"{folder}/{TARGETS}", file))


def _module_files(file: str, tree: Tree, *, is_root: bool) -> Iterator[str]:
    """The files that a file's `mod name;`, `#[path]` and `include!` may mean.

    Modules of a target's root stand beside it.
    """
    path = PurePosixPath(file)
    own = path.parent if is_root or path.name == "mod.rs" else path.with_suffix("")
    for name in re.findall(r"\bmod\s+(?:r#)?(\w+)\s*;", tree.code[file]):
        yield from (f"{own}/{name}.rs", f"{own}/{name}/mod.rs")
    for by_path, included in NAMED_FILE.findall(tree.texts[file]):
        yield os.path.normpath(path.parent / (by_path or included))


def _imports_from_root(code: str, depth: int) -> Iterator[tuple[int, str]]:
    """The modules at the crate's root that a file so many modules deep names, with their lines."""
    above = rf"super(?:\s*::\s*super){{{depth - 1}}}" if depth else "crate"
    for line, match in _matches(rf"\b(?:crate|{above})\s*::\s*(?:\{{(.*?)\}}\s*;|(\w+))", code):
        names = match[1] or match[2]
        while "{" in names:
            names = re.sub(r"\{[^{}]*\}?", "", names)
        yield from ((line, name) for name in re.findall(r"(?:^|,)\s*(\w+)", names))


def _drivers(tree: Tree) -> Iterator[tuple[int, str]]:
    """The modules that the list of drivers takes its entries from, each with its line."""
    code = tree.code.get(DRIVER_LIST, "")
    if listed := re.search(r"\bDRIVERS\s*:[^=]*=\s*&?\s*\[[^;]*;", code):
        before = code.count("\n", 0, listed.start())
        for line, match in _matches(r"&\s*(?:crate::)?(\w+)::", listed[0]):
            yield before + line, match[1]


def _driver_files(tree: Tree) -> Iterator[tuple[str, str]]:
    """The files of the crate with the drivers, each with the module at the root that it is of."""
    for file in tree.code:
        if file.startswith(f"{DRIVERS}/") and file != DRIVER_LIST:
            yield file, file.removeprefix(f"{DRIVERS}/").partition("/")[0].removesuffix(".rs")


def _dependencies(manifest: dict[str, Any]) -> set[str]:
    tables = [manifest, *manifest.get("target", {}).values()]
    kinds = ("dependencies", "build-dependencies")
    return {name for table in tables for kind in kinds for name in table.get(kind, {})}


def _is_python_root(file: str, text: str) -> bool:
    return bool(re.fullmatch(PYTHON_ROOTS, file)) or 'if __name__ == "__main__":' in text


def _module(file: str) -> str:
    """The name that a Python file is imported by."""
    path = re.sub(r"^(?:python|tools|tests/python|benches)/|(?:/__init__)?\.pyi?$", "", file)
    return path.replace("/", ".")


def _imports(text: str) -> Iterator[str]:
    """All modules that a text imports, with the packages they are in, or names in strings."""
    for node in ast.walk(ast.parse(text)):
        names = list[str]()
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value:
            # What runs in a process of its own: with_name("measured.py").
            names = [node.value]
        for name in names:
            yield from accumulate(name.split("."), "{}.{}".format)


def _matches(pattern: str, text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Each match with its line."""
    for match in re.finditer(pattern, text, re.M | re.S):
        yield text.count("\n", 0, match.start()) + 1, match


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


LINES_MAX = 600
MANIFESTS = r"(?:crates|examples)/[^/]+/Cargo\.toml"
ARCHITECTURE = "ARCHITECTURE.md"
TARGETS = (
    r"(?:build|src/(?:lib|main)|src/bin/[^/]+|(?:tests|benches|examples)/[^/]+"
    r"|(?:src/bin|tests|benches|examples)/[^/]+/main)\.rs"
)
NAMED_FILE = re.compile(r'#\[path\s*=\s*"([^"]+)"\]|\binclude!\(\s*"([^"]+)"')
# Comments and literals of Rust.
NO_CODE = re.compile(
    r"//[^\n]*"
    r"|/\*.*?\*/"
    r'|\b[bc]?r(?P<fence>#*)".*?"(?P=fence)'
    r'|"(?:\\.|[^"\\])*"'
    r"|'(?:\\(?:x[0-9a-fA-F]{2}|u\{[^}]*\}|.)|[^'\\\n])'",
    re.S,
)
# Tests, packages, what the registry imports because it lies there, and commands that are imported
# by their names.
PYTHON_ROOTS = (
    r"(?:.*/)?(?:test_\w+|conftest|__main__)\.py|python/\w+/__init__\.pyi?"
    r"|python/sealift_lab/experiments/\w+/__init__\.py|python/sealift/cli(?:/__init__)?\.py"
    r"|python/sealift_lab/cli/(?:advise|certify|compare|copy_tool|dpu|lab|plot|run|show)\.py"
)
VECTORS = "tests/vectors/"
DRIVERS = "crates/sealift-drivers/src"
DRIVER_LIST = f"{DRIVERS}/lib.rs"
UNSAFE_PLACES = re.compile(r"^crates/sealift-(?:kernels|probes)/|/ffi(?:/|\.rs$)")
COPYING = re.compile(r"crates/sealift-(?:bindings|drivers|gpu)/(?:.*/)?src/")
TESTING = re.compile(r"/(?:tests|testing|fake|\w*_tests)(?:/|\.rs$)")
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
LINK = r"\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)|^\[[^\]]+\]:\s+(\S+)"

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
