"""Writes measured speeds into README.md and docs/performance.md, or checks them.

Usage: python tools/performance_tables.py [--check]

Generated text lies between `<!-- generated: NAME -->` and `<!-- end -->`. Its sources lie in
results/<date>/<machine>, and the newest of each counts: the run folder lab/ of `sealift lab run`,
python-loop.json of `benches/python_loop.py`, advise.txt with a command and its output, and
peers.json of `benches/peers.py`, of which each machine has a table. A block without a source is
empty. Needs nothing but Python.
"""

import argparse
import csv
import json
import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import peer_rows
from markdown import interval, processor, table_line, three
from picture import Point, Words, picture

Document = dict[str, Any]
Row = dict[str, str]


def main() -> int:
    """Writes, or with --check compares; 1 when something is not as it should be."""
    arguments = _arguments()
    root: Path = arguments.root.resolve()
    try:
        files = generated(root)
    except ValueError as error:
        print(f"performance_tables: {error}", file=sys.stderr)
        return 1
    stale = [path for path, text in files.items() if _text(path) != text]
    for path in stale:
        if arguments.check:
            print(f"{path.relative_to(root)} is out of date: run tools/performance_tables.py")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files[path], encoding="utf-8")
            print(f"wrote {path.relative_to(root)}")
    return 1 if arguments.check and stale else 0


def generated(root: Path) -> dict[Path, str]:
    """The right texts of the pages and of the picture that they show.

    Raises:
        ValueError: If a marker has no end, no generator knows its name, or a file is missing.
    """
    pages = [root / page for page in PAGES if (root / page).exists()]
    files = {page: _filled(page, root) for page in pages}
    return files | ({root / PICTURE: svg(root)} if Source.newest(root, LAB) else {})


def _filled(page: Path, root: Path) -> str:
    to_root = "../" * len(page.relative_to(root).parents[:-1])

    def fill(match: re.Match[str]) -> str:
        name = match[1]
        if name not in BLOCKS:
            known = ", ".join(BLOCKS)
            raise ValueError(f"{page.name} wants {name!r} generated; there are {known}")
        file, body = BLOCKS[name]
        sources = Source.newest_of_each_machine(root, file, to_root)
        text = body(sources) if sources else ""
        return f"<!-- generated: {name} -->\n{text}<!-- end -->"

    text = page.read_text(encoding="utf-8")
    if len(MARKER.findall(text)) != text.count("<!-- generated:"):
        raise ValueError(f"a <!-- generated: ... --> of {page.name} has no <!-- end -->")
    return MARKER.sub(fill, text)


@dataclass(frozen=True)
class Source:
    """What one machine gave on one day.

    Attributes:
        root: The tree.
        folder: results/<date>/<machine>.
        to_root: From the page that is written, "" or "../".
    """

    root: Path
    folder: Path
    to_root: str = ""

    @classmethod
    def newest_of_each_machine(cls, root: Path, file: str, to_root: str = "") -> "list[Source]":
        """The folders that have a file; the newest of all is last."""
        found = sorted(root.glob(f"results/*/*/{file}"))
        by_machine = {path.relative_to(root).parts[2]: path for path in found}
        folders = [root.joinpath(*path.relative_to(root).parts[:3]) for path in by_machine.values()]
        return [cls(root, folder, to_root) for folder in sorted(folders)]

    @classmethod
    def newest(cls, root: Path, file: str) -> "Source | None":
        """The newest folder that has a file."""
        return next(reversed(cls.newest_of_each_machine(root, file)), None)

    @property
    def place(self) -> str:
        """Its path from the page."""
        return self.to_root + self.folder.relative_to(self.root).as_posix()

    @property
    def date(self) -> str:
        """When it was measured."""
        return self.folder.parent.name

    def read(self, name: str) -> Document:
        """One of its JSON documents."""
        document: Document = json.loads(self.text(name))
        return document

    def lines(self, name: str) -> list[Document]:
        """The documents of a file that has one on each line."""
        return [json.loads(line) for line in self.text(name).splitlines()]

    def rows(self, *, experiment: str, **wanted: str) -> list[Row]:
        """The rows of an experiment whose columns have these values."""
        every = csv.DictReader(self.text(LAB).splitlines())
        chosen = {"experiment": experiment, **wanted}
        return [row for row in every if chosen.items() <= row.items()]

    def text(self, name: str) -> str:
        """One of its files."""
        file = self.folder / name
        if not file.exists():
            raise ValueError(f"{file} is missing; {RUN} writes it")
        return file.read_text(encoding="utf-8")


def speed(sources: list[Source]) -> str:
    """A table for the README: how fast, and where another library is ahead."""
    newest = sources[-1]
    return f"\n{peer_rows.headline(newest.read(PEERS), newest.date)}\n\n"


def peers(sources: list[Source]) -> str:
    """Every case of each machine, and the libraries that it was compared with."""
    blocks = [
        peer_rows.block(source.read(PEERS), date=source.date, place=source.place)
        for source in sources
    ]
    return "".join(blocks)


def behind(sources: list[Source]) -> str:
    """Where another library is ahead, on each machine."""
    return "".join(peer_rows.behind(source.read(PEERS), source.date) for source in sources)


def loop(sources: list[Source]) -> str:
    """The gain of a batch over a loop in Python, in one sentence for the README."""
    document, kept = sources[-1].read(LOOP), "pyca loop, kept AESGCM"
    lists, columns = (_times(document, batch, kept) for batch in BATCHES)
    return (
        f"\nThis call is {three(lists['median'])} times as fast as that loop, and "
        f"{three(columns['median'])} times with numpy arrays instead of lists. (One core, "
        f"{processor(document['machine'])}, {_work(document, kept)} of 128 bytes under 1,024 "
        f"keys.)\n\n"
    )


def advise(sources: list[Source]) -> str:
    """A command and its output."""
    return f"\n```console\n{sources[-1].text(ADVISE).strip()}\n```\n\n"


def loop_against_batch(sources: list[Source]) -> str:
    """The same with all figures."""
    source = sources[-1]
    document = source.read(LOOP)
    fresh, kept = "pyca loop, new AESGCM", "pyca loop, kept AESGCM"
    lists, columns = BATCHES
    ns = {row["caller"]: row["ns_per_message"]["median"] for row in document["rows"]}
    times = {
        (fast, slow): interval(_times(document, fast, slow))
        for fast in BATCHES
        for slow in (fresh, kept)
    }
    return (
        f"\nFor {_work(document, kept)} of 128 bytes under 1,024 keys, `seal_batch` over lists, "
        f"with sessions made beforehand, takes {ns[lists]:,.0f} ns a message. That is "
        f"**{times[lists, kept]} times** as fast as a loop over pyca's `encrypt` whose `AESGCM` "
        f"objects are made beforehand ({ns[kept]:,.0f} ns), and {times[lists, fresh]} times as "
        f"fast as one that makes them for each message ({ns[fresh]:,.0f} ns). Over numpy "
        f"arrays it takes {ns[columns]:,.0f} ns: **{times[columns, kept]} times** and "
        f"{times[columns, fresh]} times as fast. From Rust, such a batch is "
        f"{interval(_times(document, RUST, columns))} times as fast as from numpy. "
        f"{_measured(source, document['machine'], document['command'])}\n\n"
    )


def _times(document: Document, fast: str, slow: str) -> dict[str, float]:
    name = f"{fast} / {slow}"
    if name not in document["ratios"]:
        raise ValueError(f"python-loop.json has no {name!r}; install cryptography and repeat")
    ratio: dict[str, float] = document["ratios"][name]
    return ratio


def _work(document: Document, caller: str) -> str:
    works: dict[str, str] = {row["caller"]: row["work"] for row in document["rows"]}
    return works[caller]


def table(sources: list[Source]) -> str:
    """Every workload with the speed of each device, the upshot, and how it was measured."""
    source = sources[-1]
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
    for _, group in groupby(rows, key=_axes):
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
    upshots = [f"> {_upshot(rows, other, reference)}" for other in others]
    return "\n".join(["", *lines, "", *upshots, "", _caption(source, rows), "", ""])


def _upshot(rows: list[Row], device: str, reference: str) -> str:
    """One sentence that counts verdicts, with the least and the greatest ratio."""
    judged = [row for row in rows if row["device"] == device and row["verdict"]]
    counts = []
    for verdict, word in VERDICTS.items():
        ratios = [_three_of(row, TIMES) for row in judged if row["verdict"] == verdict]
        if ratios:
            ratios.sort(key=lambda ratio: ratio["median"])
            ends = " to ".join(dict.fromkeys(map(interval, (ratios[0], ratios[-1]))))
            times = f", {ends} times as fast" if verdict in ("FASTER", "SLOWER") else ""
            counts.append(f"{word} for {len(ratios):,} of {len(judged):,} workloads{times}")
    return f"{device} against {reference}: {'; '.join(counts) or 'not compared'}."


def _by_size(source: Source) -> list[Row]:
    rows = source.rows(experiment="aes-gcm-by-size", keys=KEYS, threads="1")
    return [row for row in rows if float(row["size_bytes"]) <= SIZE_MOST]


def picture_block(sources: list[Source]) -> str:
    """The picture of speed by size, and its conditions."""
    source = sources[-1]
    rows = _drawn(source)
    row, devices = rows[0], " and ".join(dict.fromkeys(row["device"] for row in rows))
    conditions = (
        f"{row['workload']}, sealed, {_keys(row['keys'])}, batches of {int(row['batch']):,}, "
        f"1 thread, {row['origin']} {source.date}"
    )
    file = f"{source.to_root}{PICTURE}"
    return f"\n![Payload speed by message size: {devices}]({file})\n\n*{conditions}.*\n\n"


def svg(root: Path) -> str:
    """The picture itself."""
    source = Source.newest(root, LAB)
    assert source is not None
    words = Words("Payload speed by message size", "bytes of text in a message", "MB/s")
    return picture([_point(row) for row in _drawn(source)], words)


def _drawn(source: Source) -> list[Row]:
    return [row for row in _by_size(source) if row["device"] in DEVICES]


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
    return parser.parse_args()


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


def _axes(row: Row) -> tuple[str, ...]:
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
        return f"{int(regime.partition(':')[2]):,} keys"
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
        "M/s are million messages a second, MB/s 10⁶ bytes of text a second. Every output was "
        f"compared byte for byte ({_checked(source, plan, rows)}). "
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
    shown = re.sub(r" --out \S+", "", command)
    return (
        f"Medians with 95 % intervals, one thread, {source.date}, {processor(machine)}: "
        f"`{shown}`, [all figures]({source.place})."
    )


PAGES = ("README.md", "docs/performance.md")
MARKER = re.compile(r"<!-- generated: ([\w-]+) -->\n.*?<!-- end -->", re.S)
LAB, LOOP, PEERS = "lab/summary.csv", "python-loop.json", "peers.json"
ADVISE = "advise.txt"
RUST = "Engine::run in Rust"
BATCHES = ("seal_batch, lists", "seal_batch, columns")
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
BLOCKS: dict[str, tuple[str, Callable[[list[Source]], str]]] = {
    "speed": (PEERS, speed),
    "loop": (LOOP, loop),
    "picture": (LAB, picture_block),
    "advise": (ADVISE, advise),
    "peers": (PEERS, peers),
    "behind": (PEERS, behind),
    "table": (LAB, table),
    "loop-against-batch": (LOOP, loop_against_batch),
}

if __name__ == "__main__":
    sys.exit(main())
