"""Reads as much of Rust as tidy needs: what is code, what a file names, what it imports."""

import re
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath


def code_only(text: str) -> str:
    """The same text with comments and literals blanked; lines stay where they are."""
    return _NO_CODE.sub(_blank, text)


def module_files(file: str, text: str, files: Collection[str], *, is_root: bool) -> Iterator[str]:
    """The files that a file's `mod name;`, `#[path]` and `include!` name, of those there are.

    Args:
        file: Where the text stands, from the root of the tree.
        text: The source, comments included.
        files: The files of the tree.
        is_root: Whether the file is a target's root, whose modules stand beside it.
    """
    path = PurePosixPath(file)
    beside = path.parent
    own = beside if is_root or path.name == "mod.rs" else beside / path.stem
    for names in _module_names(code_only(text)):
        place = own.joinpath(*names)
        yield from ({f"{place}.rs", f"{place}/mod.rs"} & set(files))
    for match in _NAMED_FILE.finditer(text):
        named = _normal(beside / (match[1] or match[2]))
        if named in files:
            yield named


def imports_from_root(code: str, depth: int) -> Iterator[tuple[int, str]]:
    """The modules at the crate's root that a file names, each with its line.

    Args:
        code: What `code_only` returned.
        depth: How many modules deep the file is: 0 for lib.rs, 1 for cpu.rs and cpu/mod.rs.
    """
    for match in _FROM_ROOT.finditer(code):
        if match[1].startswith("super") and match[1].count("super") < depth:
            continue
        line = code.count("\n", 0, match.start()) + 1
        for module in _first_names(code, match.end()):
            yield line, module


def driver_list(code: str) -> list[tuple[str, int]]:
    """The modules that `DRIVERS` in a crate's lib.rs takes its entries from, each with its line."""
    start = re.search(r"\bDRIVERS\s*:[^=]*=\s*&?\s*\[", code)
    if start is None:
        return []
    end = code.index(";", start.end())
    found = re.finditer(r"&\s*(?:crate::)?(\w+)::", code[start.end() : end])
    return [(m[1], code.count("\n", 0, start.end() + m.start()) + 1) for m in found]


def _module_names(code: str) -> Iterator[list[str]]:
    """Each `mod name;` as the names that lead to it through modules written in the file."""
    around: list[tuple[int, str]] = []
    depth = 0
    for match in _MODULE_OR_BRACE.finditer(code):
        if match[0] == "}":
            depth -= 1
            while around and around[-1][0] > depth:
                around.pop()
        elif match[0] == "{":
            depth += 1
        elif match[2] == "{":
            depth += 1
            around.append((depth, match[1]))
        else:
            yield [*(name for _, name in around), match[1]]


def _first_names(code: str, start: int) -> Iterator[str]:
    """The name at `start`, or the first name of each item in the braces there."""
    if not code.startswith("{", start):
        name = re.compile(r"\w+").match(code, start)
        if name:
            yield name[0]
        return
    depth, at_item = 0, False
    for match in re.compile(r"[{},]|\w+|;").finditer(code, start):
        token = match[0]
        if token == "{":
            depth += 1
            at_item = depth == 1
        elif token == "}":
            depth -= 1
            if depth == 0:
                return
        elif token == ",":
            at_item = depth == 1
        elif at_item:
            at_item = False
            yield token


def _normal(path: PurePosixPath) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


_NO_CODE = re.compile(
    r"//[^\n]*"
    r"|/\*.*?\*/"
    r'|\b[bc]?r(?P<fence>#*)".*?"(?P=fence)'
    r'|"(?:\\.|[^"\\])*"'
    r"|'(?:\\(?:x[0-9a-fA-F]{2}|u\{[^}]*\}|.)|[^'\\\n])'",
    re.S,
)
_NAMED_FILE = re.compile(r'#\[path\s*=\s*"([^"]+)"\]|\binclude!\(\s*"([^"]+)"')
_MODULE_OR_BRACE = re.compile(r"\bmod\s+(?:r#)?(\w+)\s*([;{])|[{}]")
_FROM_ROOT = re.compile(r"\b(crate\s*::\s*|(?:super\s*::\s*)+)(?=[\w{])")
