"""Writes what `make dudect` found into docs/constant-time.md, or checks that it stands there.

Usage: python tools/constant_time_page.py [--check] [FOLDER]

FOLDER is results/<date>/<machine> with dudect.json, as `make dudect` writes it; the newest when
left out. What is written lies between `<!-- generated: dudect -->` and `<!-- end -->`. Needs
nothing but Python.
"""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def main() -> int:
    """Writes, or with --check compares; 1 when something is not as it should be."""
    arguments = _arguments()
    root: Path = arguments.root.resolve()
    page = root / PAGE
    try:
        folder = arguments.folder.resolve() if arguments.folder else newest(root)
        before = page.read_text(encoding="utf-8")
        after = filled(before, _block(root, folder))
    except (OSError, ValueError, KeyError) as error:
        print(f"constant_time_page: {error}", file=sys.stderr)
        return 1
    if arguments.check:
        if before != after:
            print(f"{PAGE} is not what the results say: run {COMMAND}")
        return int(before != after)
    page.write_text(after, encoding="utf-8")
    print(f"{PAGE}: written from {folder.relative_to(root)}")
    return 0


def newest(root: Path) -> Path:
    """The folder under results/ with the latest date in its path.

    Raises:
        ValueError: If there is none.
    """
    folders = sorted(path.parent for path in root.glob(f"results/*/*/{RESULTS}"))
    if not folders:
        raise ValueError(f"no results/<date>/<machine>/{RESULTS}; run `make dudect`")
    return folders[-1]


def filled(text: str, block: str) -> str:
    """A page with the generated part put in its place.

    Raises:
        ValueError: If the page has no such place, or more than one.
    """
    text, places = MARKER.subn(lambda _: f"{BEGIN}\n{block}{END}", text)
    if places != 1:
        raise ValueError(f"{PAGE} has {places} places from {BEGIN} to {END}; right would be one")
    return text


def table(document: dict[str, Any]) -> str:
    """The results as a table: a line for each comparison, a column for each path."""
    rows: list[Row] = document["rows"]
    paths = list(dict.fromkeys(row["path"] for row in rows))
    lines = [
        f"| compared | should be | {' | '.join(paths)} |",
        f"|---|---|{'---:|' * len(paths)}",
    ]
    for what in dict.fromkeys(row["what"] for row in rows):
        of = {row["path"]: row for row in rows if row["what"] == what}
        bound = f"{document['threshold']}"
        wanted = f"over {bound}" if of[paths[0]]["kind"] == "planted" else f"under {bound}"
        cells = [_cell(of[path], document["threshold"]) for path in paths]
        lines.append(f"| {what} | {wanted} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(row: Row, threshold: float) -> str:
    found = [abs(one["t"]) for one in row["found"]]
    told_apart = all(t >= threshold for t in found)
    shown = ", then ".join(f"{t:,.1f}" for t in found)
    return shown if told_apart == (row["kind"] == "planted") else f"**{shown}**"


def _block(root: Path, folder: Path) -> str:
    document = json.loads((folder / RESULTS).read_text(encoding="utf-8"))
    samples = [one["samples"] for row in document["rows"] for one in row["found"]]
    place = folder.relative_to(root).as_posix()
    return (
        f"\n{table(document)}\n\nMeasured {folder.parent.name} on {folder.name}, "
        f"{document['seconds']:g} s and {min(samples):,} to {max(samples):,} batches a figure; "
        f"[figures](../{place}/{RESULTS}).\n\n"
    )


def _arguments() -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail when stale")
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent, help="the tree")
    parser.add_argument("folder", type=Path, nargs="?", help="results/<date>/<machine>")
    return parser.parse_args()


COMMAND = "tools/constant_time_page.py"
PAGE = "docs/constant-time.md"
RESULTS = "dudect.json"
BEGIN, END = "<!-- generated: dudect -->", "<!-- end -->"
MARKER = re.compile(f"{re.escape(BEGIN)}\n.*?{re.escape(END)}", re.S)

if __name__ == "__main__":
    sys.exit(main())
