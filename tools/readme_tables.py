"""Writes what was measured into README.md and docs/kernels.md, or checks that it stands there.

Usage: python tools/readme_tables.py [--check] [FOLDER]

FOLDER is results/<date>/<machine>: the run folder lab/ of `sealift lab run`, and python-loop.json
of `benches/python_loop.py --out FOLDER`, as `make bench` writes them; the newest when left out.
What is written lies between `<!-- generated: NAME -->` and `<!-- end -->`, so that no figure of
these pages is older than its source. Without any results the places between must be empty. Needs
nothing but Python.
"""

import argparse
import csv
import json
import re
import shlex
import sys
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

from markdown import interval, table_line, three
from peer_rows import block as peer_block
from peer_rows import every_case
from picture import Point, Words, picture

Document = dict[str, Any]
Row = dict[str, str]


def main() -> int:
    """Writes, or with --check compares; 1 when something is not as it should be."""
    arguments = _arguments()
    root: Path = arguments.root.resolve()
    folder = arguments.folder.resolve() if arguments.folder else newest(root)
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
    print(f"{PAGES[0]}: {len(stale)} files written from {source}")
    return 0


def newest(root: Path) -> Path | None:
    """The folder under results/ with the latest date in its path."""
    folders = sorted(path.parents[1] for path in root.glob("results/*/*/lab/summary.csv"))
    return folders[-1] if folders else None


def generated(root: Path, folder: Path | None) -> dict[Path, str]:
    """What the pages, and the files they show, must be.

    Raises:
        ValueError: If a marker has no end, no generator knows its name, or a source is missing.
    """
    source = Source(root, folder)
    pages = [root / page for page in PAGES if (root / page).exists()]
    return {page: _filled(page, source, folder) for page in pages} | source.beside


def _filled(page: Path, source: "Source", folder: Path | None) -> str:
    def fill(match: re.Match[str]) -> str:
        name = match[1]
        if name not in BLOCKS:
            known = ", ".join(BLOCKS)
            raise ValueError(f"{page.name} wants {name!r} generated; there are {known}")
        body = BLOCKS[name](source) if folder else ""
        return f"<!-- generated: {name} -->\n{body}<!-- end -->"

    text = page.read_text(encoding="utf-8")
    if len(MARKER.findall(text)) != text.count("<!-- generated:"):
        raise ValueError(f"a <!-- generated: ... --> of {page.name} has no <!-- end -->")
    return MARKER.sub(fill, text)


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
        document: Document = json.loads(self._text(name))
        return document

    def lines(self, name: str) -> list[Document]:
        """The documents of a file that has one on each line."""
        return [json.loads(line) for line in self._text(name).splitlines()]

    def rows(self, *, experiment: str, **wanted: str) -> list[Row]:
        """The rows of an experiment whose columns have these values."""
        every = csv.DictReader(self._text("lab/summary.csv").splitlines())
        chosen = {"experiment": experiment, **wanted}
        return [row for row in every if chosen.items() <= row.items()]

    def _text(self, name: str) -> str:
        file = self.folder / name
        if not file.exists():
            raise ValueError(f"{file} is missing; {COMMANDS.get(name, RUN)} writes it")
        return file.read_text(encoding="utf-8")


def table(source: Source) -> str:
    """Every piece of work with what each device did, the upshot, and where it was measured."""
    rows = [
        *source.rows(experiment="aes-gcm-by-threads", threads="1"),
        *_by_size(source),
    ]
    rows = [row for row in rows if row["device"] in DEVICES]
    if not rows:
        raise ValueError(f"{source.place}/lab/summary.csv has no rows of {' and '.join(DEVICES)}")
    reference, *others = DEVICES
    head = [
        "work",
        "bytes of text",
        *DEVICES,
        *(f"{other} against {reference}" for other in others),
    ]
    lines = [table_line(head), table_line(["---", *["---:"] * (len(head) - 1)])]
    for _, group in groupby(rows, key=_work):
        by_device = {row["device"]: row for row in group}
        first = next(iter(by_device.values()))
        lines.append(
            table_line(
                [
                    _named(first),
                    _size(float(first["size_bytes"])),
                    *(_speed(by_device.get(device)) for device in DEVICES),
                    *(_ratio(by_device.get(other)) for other in others),
                ]
            )
        )
    said = [f"> {_upshot(rows, other, reference)}" for other in others]
    return "\n".join(["", *lines, "", *said, "", _caption(source, rows), "", ""])


def _upshot(rows: list[Row], device: str, reference: str) -> str:
    """One sentence that counts verdicts, with the least and the greatest ratio."""
    judged = [row for row in rows if row["device"] == device and row["verdict"]]
    told = []
    for verdict, word in VERDICTS.items():
        ratios = [_three_of(row, TIMES) for row in judged if row["verdict"] == verdict]
        if ratios:
            ratios.sort(key=lambda ratio: ratio["median"])
            ends = " to ".join(dict.fromkeys(map(interval, (ratios[0], ratios[-1]))))
            times = f", {ends} times as fast" if verdict in ("FASTER", "SLOWER") else ""
            told.append(f"{word} for {len(ratios):,} of {len(judged):,} pieces of work{times}")
    return f"{device} against {reference}: {'; '.join(told) or 'not compared'}."


def _by_size(source: Source) -> list[Row]:
    rows = source.rows(experiment="aes-gcm-by-size", keys=KEYS, threads="1")
    return [row for row in rows if float(row["size_bytes"]) <= SIZE_MOST]


def loop(source: Source) -> str:
    """What the batch gains over the loop, in one paragraph."""
    document = source.read("python-loop.json")
    ns = {row["caller"]: row["ns_per_message"]["median"] for row in document["rows"]}
    works = {row["caller"]: row["work"] for row in document["rows"]}
    fresh, kept = "pyca loop, new AESGCM", "pyca loop, kept AESGCM"
    if fresh not in ns:
        raise ValueError(
            f"{source.place}/python-loop.json has no pyca; install cryptography and repeat"
        )
    lists, columns = "seal_batch, lists", "seal_batch, columns"
    said = {
        (fast, slow): interval(document["ratios"][f"{fast} / {slow}"])
        for fast in (lists, columns)
        for slow in (fresh, kept)
    }
    where = _measured(source, document["machine"], document["command"])
    return (
        f"\nFor {works[fresh]} of 128 bytes under 1,024 keys, with sessions made beforehand, the "
        f"call is **{said[lists, kept]} times** as fast as a loop whose `AESGCM` objects are made "
        f"beforehand too ({ns[lists]:,.0f} instead of {ns[kept]:,.0f} ns a message), and "
        f"{said[lists, fresh]} times as fast as the loop above, which makes them anew "
        f"({ns[fresh]:,.0f} ns). Over columns of numpy arrays it is "
        f"**{said[columns, kept]} times** and {said[columns, fresh]} times as fast "
        f"({ns[columns]:,.0f} ns); from Rust such a batch is "
        f"{interval(document['ratios'][f'{RUST} / {columns}'])} times as fast as from these. "
        f"{where}\n\n"
    )


def peers(source: Source) -> str:
    """The main cases beside other libraries: of this folder, or of the newest that has them."""
    found = source.folder / PEERS_FILE
    if not found.exists():
        kept = sorted(source.root.glob(f"results/*/*/{PEERS_FILE}"))
        if not kept:
            return ""
        found = kept[-1]
    return _peers_of(found, source.root, peer_block)


def every_peer_case(source: Source) -> str:
    """All cases, with what is wanted of them: of each machine, as it was measured last."""
    kept = sorted(source.root.glob(f"results/*/*/{PEERS_FILE}"))
    newest = {each.parent.name: each for each in kept}
    return "".join(_peers_of(newest[name], source.root, every_case) for name in sorted(newest))


def _peers_of(file: Path, root: Path, block: Callable[..., str]) -> str:
    document: Document = json.loads(file.read_text(encoding="utf-8"))
    place = file.parent.resolve().relative_to(root.resolve()).as_posix()
    return block(document, date=file.parent.parent.name, place=place)


def chart(source: Source) -> str:
    """The picture of speed by size, as a file beside the README."""
    sealed = [row for row in _by_size(source) if row["device"] in DEVICES]
    words = Words("Payload speed by message size", "bytes of text in a message", "MB/s")
    svg = picture([_point(row) for row in sealed], words)
    file = source.root / PICTURE
    source.beside[file] = svg
    devices = " and ".join(dict.fromkeys(row["device"] for row in sealed))
    row = sealed[0]
    conditions = (
        f"{row['workload']}, sealed, {_keys(row['keys'])}, batches of {int(row['batch']):,}, "
        f"1 thread, {row['origin']} {source.folder.parent.name}"
    )
    return f"\n![Payload speed by message size: {devices}]({PICTURE})\n\n*{conditions}.*\n\n"


def _point(row: Row) -> Point:
    speed = _three_of(row, "payload_MB_per_s")
    return Point(
        name=row["device"],
        x=float(row["size_bytes"]),
        y=speed["median"],
        low=speed["low"],
        high=speed["high"],
    )


def _arguments() -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail when stale")
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent, help="the tree")
    parser.add_argument("folder", type=Path, nargs="?", help="results/<date>/<machine>")
    return parser.parse_args()


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


def _work(row: Row) -> tuple[str, ...]:
    axes = ("experiment", "workload", "size_bytes", "keys", "mix", "threads", "batch")
    return tuple(row[name] for name in axes)


def _named(row: Row) -> str:
    keys = _keys(row["keys"])
    if row["workload"].startswith("as "):
        return f"document 003 {row['workload']}, {keys}"
    doing = {"100/0/0": "sealed", "0/100/0": "opened"}.get(row["mix"], row["mix"])
    return f"{row['workload']}, {doing}, {keys}"


def _keys(regime: str) -> str:
    if regime.startswith("sessions:"):
        return f"{int(regime.partition(':')[2]):,} sessions"
    return {"one": "one key", "fresh": "a fresh key each"}[regime]


def _size(size_bytes: float) -> str:
    return f"{size_bytes:,.0f}" if size_bytes == int(size_bytes) else f"{size_bytes:.1f} (mean)"


def _speed(row: Row | None) -> str:
    if row is None:
        return "not taken"
    rate, speed = float(row["operations_per_s"]), float(row["payload_MB_per_s"])
    return f"{three(rate / 1e6)} M/s, {three(speed)} MB/s"


def _ratio(row: Row | None) -> str:
    if row is None or not row[TIMES]:
        return "—"
    if float(row["noise_floor_share"]) > TOO_NOISY and row["verdict"] == "UNSURE":
        return "too noisy to say"
    return f"{interval(_three_of(row, TIMES))} {row['verdict']}"


def _three_of(row: Row, column: str) -> dict[str, float]:
    """A median with its interval, from three columns."""
    ends = {"median": column, "low": f"{column}_low95", "high": f"{column}_high95"}
    return {end: float(row[name]) for end, name in ends.items()}


def _caption(source: Source, rows: list[Row]) -> str:
    plan = source.read("lab/plan.json")
    machine = source.read("lab/machine.json")["facts"]
    return (
        "M/s are million messages a second, MB/s 10⁶ bytes of text a second; each checked byte for "
        f"byte ({_checked(source, plan, rows)}). "
        f"{_measured(source, machine, shlex.join(plan['command']))}"
    )


def _checked(source: Source, plan: Document, rows: list[Row]) -> str:
    """Which device was checked against which, from the lines of the arms of these rows."""
    experiments = {each["name"]: each for each in plan["experiments"]}
    shown = {row["experiment"] for row in rows}
    found: dict[str, set[str]] = {}
    for line in source.lines("lab/verify.jsonl"):
        if line["experiment"] in shown and "checked_against" in line["facts"]:
            group = experiments[line["experiment"]]["groups"][line["group"]]
            device = group[line["arm"]]["device"]
            found.setdefault(device, set()).update(line["facts"]["checked_against"].split(", "))
    return "; ".join(
        f"{device} against {' and '.join(sorted(found[device]))}"
        for device in DEVICES
        if device in found
    )


def _measured(source: Source, machine: Document, command: str) -> str:
    cpu = machine["cpu_model"]["value"] or "a processor that doesn't name itself"
    date = source.folder.parent.name
    shown = re.sub(r" --out \S+", "", command)
    return (
        f"Medians with 95 % intervals, one thread, {date}, {cpu}: `{shown}`, "
        f"[all figures]({source.place})."
    )


PAGES = ("README.md", "docs/kernels.md")
MARKER = re.compile(r"<!-- generated: ([\w-]+) -->\n.*?<!-- end -->", re.S)
PEERS_FILE = "peers.json"
RUST = "Engine::run in Rust"
PICTURE = "docs/speed-by-size.svg"
DEVICES = ("library", "cpu")
TIMES = "times_reference"
KEYS, SIZE_MOST = "sessions:1024", 16_384
# As in sealift.lab.stats: over this noise floor only what is far apart gets a verdict.
TOO_NOISY = 0.10
VERDICTS = {
    "FASTER": "faster",
    "SLOWER": "slower",
    "SAME": "the same within noise",
    "UNSURE": "not settled",
}
RUN = "`sealift lab run aes-gcm-by-threads aes-gcm-by-size --out FOLDER/lab`"
COMMANDS = {"python-loop.json": "`python benches/python_loop.py --out FOLDER`"}
BLOCKS: dict[str, Callable[[Source], str]] = {
    "loop-against-batch": loop,
    "peers": peers,
    "every-peer-case": every_peer_case,
    "picture": chart,
    "table": table,
}

if __name__ == "__main__":
    sys.exit(main())
