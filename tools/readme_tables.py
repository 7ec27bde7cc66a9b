"""Writes what was measured into README.md, or checks that it stands there.

Usage: python tools/readme_tables.py [--check] [FOLDER]

FOLDER is results/<date>/<machine> with rows.json of `sealift bench --quick --out FOLDER` and
python-loop.json of `benches/python_loop.py --out FOLDER`; the newest when left out. What is
written lies between `<!-- generated: NAME -->` and `<!-- end -->`, so that no figure in the README
is older than its source. Without any results the places between must be empty. Needs nothing but
Python.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

from readme_picture import picture

Document = dict[str, Any]


def main() -> int:
    """Writes, or with --check compares; 1 when something is not as it should be."""
    arguments = _arguments()
    root: Path = arguments.root
    folder = arguments.folder.resolve() if arguments.folder else newest(root)
    readme = root / "README.md"
    try:
        files = generated(root, folder)
    except ValueError as error:
        print(f"readme_tables: {error}", file=sys.stderr)
        return 1
    stale = [path for path, text in files.items() if _text(path) != text]
    if arguments.check:
        for path in stale:
            print(
                f"{path.relative_to(root)} is not what the results say: run tools/readme_tables.py"
            )
        return 1 if stale else 0
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[path], encoding="utf-8")
    source = folder.relative_to(root) if folder else "no results"
    print(f"{readme.name}: {len(stale)} files written from {source}")
    return 0


def newest(root: Path) -> Path | None:
    """The folder under results/ with the latest date in its path."""
    folders = sorted(path.parent for path in root.glob("results/*/*/rows.json"))
    return folders[-1] if folders else None


def generated(root: Path, folder: Path | None) -> dict[Path, str]:
    """What the README, and the files it shows, must be.

    Raises:
        ValueError: If a marker has no end, no generator knows its name, or a source is missing.
    """
    source = Source(root, folder)
    readme = root / "README.md"

    def fill(match: re.Match[str]) -> str:
        name = match[1]
        if name not in BLOCKS:
            known = ", ".join(BLOCKS)
            raise ValueError(f"README.md wants {name!r} generated; there are {known}")
        body = BLOCKS[name](source) if folder else ""
        return f"<!-- generated: {name} -->\n{body}<!-- end -->"

    text = readme.read_text(encoding="utf-8")
    if len(MARKER.findall(text)) != text.count("<!-- generated:"):
        raise ValueError("a <!-- generated: ... --> of README.md has no <!-- end -->")
    return {readme: MARKER.sub(fill, text)} | source.beside


class Source:
    """The results folder; files that the README shows are collected in `beside`."""

    def __init__(self, root: Path, folder: Path | None) -> None:
        """Reads nothing yet."""
        self.root = root
        self._folder = folder
        self.beside: dict[Path, str] = {}

    @property
    def folder(self) -> Path:
        """The folder; blocks are only generated when there is one."""
        assert self._folder is not None
        return self._folder

    @property
    def place(self) -> str:
        """Its path from the README."""
        return self.folder.resolve().relative_to(self.root.resolve()).as_posix()

    def read(self, name: str) -> Document:
        """One of its JSON documents."""
        file = self.folder / name
        if not file.exists():
            raise ValueError(f"{file} is missing; {COMMANDS[name]} writes it")
        document: Document = json.loads(file.read_text(encoding="utf-8"))
        return document


def table(source: Source) -> str:
    """Every piece of work with what each device did, the answer, and where it was measured."""
    document = source.read("rows.json")
    rows = document["rows"]
    devices = list(dict.fromkeys(row["device"] for row in rows))
    reference, *others = devices
    head = [
        "work",
        "bytes of text",
        *devices,
        *(f"{other} against {reference}" for other in others),
    ]
    lines = [_line(head), _line(["---", *["---:"] * (len(head) - 1)])]
    for _, group in groupby(rows, key=_work):
        by_device = {row["device"]: row for row in group}
        lines.append(
            _line(
                [
                    _named(next(iter(by_device.values()))),
                    _size(next(iter(by_device.values()))["size_bytes"]),
                    *(_speed(by_device.get(device)) for device in devices),
                    *(_ratio(by_device.get(other)) for other in others),
                ]
            )
        )
    return "\n".join(
        [
            "",
            *lines,
            "",
            f"> {document['answer'].splitlines()[0]}",
            "",
            _caption(source, document),
            "",
            "",
        ]
    )


def loop(source: Source) -> str:
    """What the batch gains over the loop, in one paragraph."""
    document = source.read("python-loop.json")
    ns = {row["device"]: row["ns_per_message"]["median"] for row in document["rows"]}
    fresh, kept = "pyca loop, new AESGCM", "pyca loop, kept AESGCM"
    if fresh not in ns:
        raise ValueError(
            f"{source.place}/python-loop.json has no pyca; install cryptography and repeat"
        )
    lists, columns = "seal_batch, lists", "seal_batch, columns"
    said = {
        (fast, slow): _interval(document["ratios"][f"{fast} / {slow}"])
        for fast in (lists, columns)
        for slow in (fresh, kept)
    }
    return (
        f"\nFor 8,192 messages of 128 bytes under 1,024 keys, with sessions made beforehand, the "
        f"call is **{said[lists, kept]} times** as fast as a loop whose `AESGCM` objects are made "
        f"beforehand too ({ns[lists]:,.0f} instead of {ns[kept]:,.0f} ns a message), and "
        f"{said[lists, fresh]} times as fast as the loop above, which makes them anew "
        f"({ns[fresh]:,.0f} ns). Over columns of numpy arrays it is "
        f"**{said[columns, kept]} times** and {said[columns, fresh]} times as fast "
        f"({ns[columns]:,.0f} ns). {_measured(source, document)}\n\n"
    )


def chart(source: Source) -> str:
    """The picture of speed by size, as a file beside the README."""
    document = source.read("rows.json")
    sealed = [row for row in document["rows"] if not row["workload"].startswith("003")]
    svg = picture(sealed)
    file = source.root / PICTURE
    source.beside[file] = svg
    devices = " and ".join(dict.fromkeys(row["device"] for row in sealed))
    row = sealed[0]
    threads = "1 thread" if row["threads"] == 1 else f"{row['threads']:,} threads"
    conditions = (
        f"{row['workload']}, sealed, keys {row['keys']}, batches of {row['batch']:,}, {threads}, "
        f"{row['origin']} {source.folder.parent.name}"
    )
    return f"\n![Payload speed by message size: {devices}]({PICTURE})\n\n*{conditions}.*\n\n"


def _arguments() -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail when stale")
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent, help="the tree")
    parser.add_argument("folder", type=Path, nargs="?", help="results/<date>/<machine>")
    return parser.parse_args()


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


def _work(row: Document) -> tuple[Any, ...]:
    return tuple(
        row[name] for name in ("workload", "size_bytes", "keys", "mix", "threads", "batch")
    )


def _named(row: Document) -> str:
    if row["workload"].startswith("003"):
        return f"document {row['workload']}, {_keys(row['keys'])}"
    doing = {"100/0/0": "sealed", "0/100/0": "opened"}.get(row["mix"], row["mix"])
    return f"{row['workload']}, {doing}, {_keys(row['keys'])}"


def _keys(regime: str) -> str:
    if regime.startswith("sessions:"):
        return f"{int(regime.partition(':')[2]):,} sessions"
    return {"one": "one key", "fresh": "a fresh key each"}[regime]


def _size(size_bytes: float) -> str:
    return f"{size_bytes:,.0f}" if size_bytes == int(size_bytes) else f"{size_bytes:.1f} (mean)"


def _speed(row: Document | None) -> str:
    if row is None:
        return "not taken"
    return f"{_three(row['messages_per_s'] / 1e6)} M/s, {_three(row['payload_gb_per_s'])} GB/s"


def _ratio(row: Document | None) -> str:
    if row is None or row["ratio"] is None:
        return "—"
    if row["trust"] == "ranges only":
        return "too noisy to say"
    return f"{_interval(row['ratio'])} {row['verdict']}"


def _interval(ratio: Document) -> str:
    return f"{_three(ratio['median'])} [{_three(ratio['low'])}..{_three(ratio['high'])}]"


def _three(value: float) -> str:
    """Three significant digits, never in powers of ten."""
    digits = max(0, 2 - _exponent(value))
    return f"{value:,.{digits}f}"


def _exponent(value: float) -> int:
    return int(f"{value:.2e}".partition("e")[2])


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _caption(source: Source, document: Document) -> str:
    checked = document["checked_against"]
    others = "; ".join(f"{name} against {' and '.join(by)}" for name, by in checked.items() if by)
    return (
        f"M/s are million messages a second, GB/s 10⁹ bytes of text; each checked byte for byte "
        f"({others}). {_measured(source, document)}"
    )


def _measured(source: Source, document: Document) -> str:
    machine = document["machine"]
    cpu = machine["cpu_model"]["value"] or "a processor that doesn't name itself"
    date = source.folder.parent.name
    command = re.sub(r" --out \S+", "", document["command"])
    return (
        f"Medians with 95 % intervals, one thread, {date}, {cpu}: `{command}`, "
        f"[all figures]({source.place})."
    )


MARKER = re.compile(r"<!-- generated: ([\w-]+) -->\n.*?<!-- end -->", re.S)
PICTURE = "docs/speed-by-size.svg"
COMMANDS = {
    "rows.json": "`sealift bench --quick --out FOLDER`",
    "python-loop.json": "`python benches/python_loop.py --out FOLDER`",
}
BLOCKS: dict[str, Callable[[Source], str]] = {
    "loop-against-batch": loop,
    "picture": chart,
    "table": table,
}

if __name__ == "__main__":
    sys.exit(main())
