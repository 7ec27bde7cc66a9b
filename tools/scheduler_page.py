"""Writes what the scheduler costs into docs/scheduler.md, or checks that it stands there.

Usage: python tools/scheduler_page.py [--check] [FOLDER]

FOLDER is results/<date>/<machine> with scheduler.csv, pool-scale.csv, regret.csv and cores.csv, as
`make bench-scheduler` writes them; the newest that has them when left out. What is written lies
between `<!-- generated: NAME -->` and `<!-- end -->`, and the pictures beside the page. A page may
be without regret and cores as long as no folder has them. Needs nothing but Python.
"""

import argparse
import csv
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from picture import Point, Words, picture
from scheduler_tables import cores_tables, regret_tables

Row = dict[str, str]


def main() -> int:
    """Writes, or with --check compares; 1 when something is not as it should be."""
    arguments = _arguments()
    root: Path = arguments.root.resolve()
    try:
        folder = arguments.folder.resolve() if arguments.folder else newest(root, SCALE)
        files = generated(root, folder)
    except (OSError, ValueError, KeyError) as error:
        print(f"scheduler_page: {error}", file=sys.stderr)
        return 1
    stale = [path for path, text in files.items() if _text(path) != text]
    for path in stale:
        if arguments.check:
            print(f"{path.relative_to(root)} is not what the results say: run {COMMAND}")
        else:
            path.write_text(files[path], encoding="utf-8")
    if not arguments.check:
        print(f"{PAGE}: {len(stale)} files written from {folder.relative_to(root)}")
    return int(arguments.check and bool(stale))


def newest(root: Path, file: str) -> Path:
    """The folder under results/ with this file and the latest date in its path.

    Raises:
        ValueError: If there is none.
    """
    folders = sorted(path.parent for path in root.glob(f"results/*/*/{file}"))
    if not folders:
        raise ValueError(f"no results/<date>/<machine>/{file}; run `{MEASURE}`")
    return folders[-1]


def generated(root: Path, folder: Path) -> dict[Path, str]:
    """What the page and its pictures must be.

    Raises:
        ValueError: If the page has not one place for each block.
    """
    page = root / PAGE
    scale, costs = _rows(folder / SCALE), _rows(folder / COSTS)
    place = folder.relative_to(root).as_posix()
    measured = f"measured {folder.parent.name} on {folder.name}"
    text = page.read_text(encoding="utf-8")
    blocks = {
        "framework": _measured(root, folder / COSTS, _framework(costs)),
        "two-devices": _measured(root, folder / COSTS, _shares(costs)),
        "scale": f"\n{_scale(scale)}\n\n{_pictures()}\n\n[Figures](../{place}/{SCALE}); throughput "
        f"and utilisation simulated, nanoseconds {measured}.\n\n",
        **_later_blocks(root, folder, text),
    }
    for name, block in blocks.items():
        begin, end = f"<!-- generated: {name} -->\n", "<!-- end -->"
        marker = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.S)
        text, places = marker.subn(f"{begin}{block}{end}".replace("\\", r"\\"), text)
        if places != 1:
            right = f"one, `{begin.strip()}` and `{end}`"
            raise ValueError(f"{PAGE} has {places} places for {name}; right would be {right}")
    drawn = {root / f"docs/{file}.svg": _drawn(scale, file) for file in PICTURES}
    return {page: text, **drawn}


def _later_blocks(root: Path, folder: Path, text: str) -> dict[str, str]:
    """What the page need not have before it was measured."""
    blocks = {}
    for name, tables in LATER.items():
        file = f"{name}.csv"
        is_wanted = f"<!-- generated: {name} -->" in text
        if is_wanted or any(root.glob(f"results/*/*/{file}")):
            path = (folder if (folder / file).exists() else newest(root, file)) / file
            blocks[name] = _measured(root, path, tables(_rows(path)))
        else:
            print(f"{PAGE} has nothing of {file}: run `{MEASURE}`", file=sys.stderr)
    return blocks


def _measured(root: Path, path: Path, table: str) -> str:
    source = f"Measured {path.parent.parent.name} on {path.parent.name}"
    return f"\n{table}\n\n{source}; [figures](../{path.relative_to(root).as_posix()}).\n\n"


def _framework(rows: Sequence[Row]) -> str:
    lines = ["| messages in a batch | ns a batch | ns a message |", "|---:|---:|---:|"]
    for row in rows:
        if row["what"] == "framework price":
            messages, median = int(row["messages"]), float(row["median"])
            middle = f"{float(row['low']):,.0f}..{float(row['high']):,.0f}"
            lines.append(f"| {messages:,} | {median:,.0f} [{middle}] | {median / messages:,.2f} |")
    return "\n".join(lines)


def _shares(rows: Sequence[Row]) -> str:
    lines = ["| devices | batch | queued | of the sum of both alone |", "|---|---|---:|---:|"]
    for row in rows:
        if row["what"] != "framework price":
            batch = f"{int(row['messages']):,} x {int(row['message_bytes']):,} B"
            share = f"{float(row['median']):.3f} [{row['low'][:5]}..{row['high'][:5]}]"
            lines.append(f"| {row['what']} | {batch} | {row['queued']} | {share} |")
    return "\n".join(lines)


def _scale(rows: Sequence[Row]) -> str:
    sizes = sorted({int(row["devices"]) for row in rows})
    lines = [
        f"| policy | {' | '.join(f'{size:,}' for size in sizes)} |",
        f"|---|{'---:|' * len(sizes)}",
    ]
    for policy in dict.fromkeys(row["policy"] for row in rows):
        of = {int(row["devices"]): row for row in rows if row["policy"] == policy}
        cells = [
            f"{float(of[size]['throughput_share']):.2f}, "
            f"{float(of[size]['engine_ns_per_batch']) / 1_000:.1f} us"
            for size in sizes
        ]
        lines.append(f"| {policy} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _pictures() -> str:
    return "\n\n".join(f"![{words.title}]({file}.svg)" for file, (_, words) in PICTURES.items())


def _drawn(rows: Sequence[Row], file: str) -> str:
    column, words = PICTURES[file]
    points = [
        Point(row["policy"], float(row["devices"]), value, value, value)
        for row in rows
        if (value := float(row[column]))
    ]
    return picture(points, words)


def _rows(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _arguments() -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail when stale")
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent, help="the tree")
    parser.add_argument("folder", type=Path, nargs="?", help="results/<date>/<machine>")
    return parser.parse_args()


COMMAND = "tools/scheduler_page.py"
MEASURE = "make bench-scheduler"
PAGE = "docs/scheduler.md"
SCALE, COSTS = "pool-scale.csv", "scheduler.csv"
LATER: dict[str, Callable[[Sequence[Row]], str]] = {
    "regret": regret_tables,
    "cores": cores_tables,
}
_DEVICES = "devices in the pool"
PICTURES = {
    "pool-throughput": (
        "batches_per_s",
        Words("Throughput of simulated pools", _DEVICES, "batches/s"),
    ),
    "pool-utilisation": (
        "utilisation_mean",
        Words("Utilisation of simulated pools", _DEVICES, "share"),
    ),
    "pool-cost": (
        "engine_ns_per_batch",
        Words("What the engine spends on a batch", _DEVICES, "ns"),
    ),
}

if __name__ == "__main__":
    sys.exit(main())
