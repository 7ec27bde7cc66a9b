"""The comparison with other libraries, from peers.json, as tables."""

import re
from collections.abc import Iterable
from typing import Any

from markdown import interval, processor, table_line, three

Document = dict[str, Any]


def block(document: Document, *, date: str, place: str) -> str:
    """The libraries, every case, and how it was measured, below a heading for the machine.

    Args:
        document: peers.json.
        date: When it was measured.
        place: The folder it lies in, from the page.
    """
    libraries = [_library(name, each) for name, each in document["peers"].items()]
    cases = [_case(each, document["peers"]) for each in document["cases"]]
    command = re.sub(r" --(?:out|binary) \S+", "", document["command"])
    caption = (
        f"Medians with 95 % intervals, {date}: `{command}`, "
        f"[all figures]({place}/peers.json) and [samples]({place}/peers-samples.csv)."
    )
    parts = [
        f"### {processor(document['machine'])}",
        _table(LIBRARIES, libraries, texts=3),
        _table(CASES, cases, texts=1),
        caption,
    ]
    return "\n" + "\n\n".join(parts) + "\n\n"


def behind(document: Document, date: str) -> str:
    """The cases that another library wins, with its lead, and how many cases are open.

    Args:
        document: peers.json.
        date: When it was measured.
    """
    cases = document["cases"]
    lost = [each for each in cases if each["engine_is"] == BEHIND]
    still_open = sum(each["engine_is"] == EVEN for each in cases)
    head = (
        f"On {processor(document['machine'])}, {date}, another library is ahead in {len(lost)} of "
        f"{len(cases)} cases. In {still_open} more the interval includes 1, so neither is ahead."
    )
    lines = [_behind(each, document["peers"]) for each in lost]
    return "\n" + "\n".join([head, *(["", *lines] if lines else [])]) + "\n\n"


def _behind(case: Document, peers: Document) -> str:
    ratio = case["engine_to_best"]
    lead = {"median": 1 / ratio["median"], "low": 1 / ratio["high"], "high": 1 / ratio["low"]}
    return f"- {case['title']}: {_named(case['best'], peers)}, {interval(lead)} times as fast"


def headline(document: Document, date: str) -> str:
    """A table: the engine at 128 bytes, then where another library is ahead; and the conditions.

    Speeds are multiples of the best other library's.


    Raises:
        ValueError: If the cases of 128 bytes weren't measured.
    """
    cases = {each["name"]: each for each in document["cases"]}
    if missing := [name for name in HEADLINES if name not in cases]:
        raise ValueError(
            f"peers.json has no {' and no '.join(missing)}; `make bench-peers` measures them"
        )
    lost, others = _lost(document["cases"])
    rows = [
        *((work, _faster(cases[name])) for name, work in HEADLINES.items()),
        *lost,
    ]
    more_cases = "1 more case" if others == 1 else f"{others} more cases"
    more = f", as in {more_cases} of the" if others else "."
    count = sum("detail" in each for each in document["peers"].values())
    columns = ("messages", f"speed, times the fastest of {count} other libraries")
    table = f"[{'full' if others else 'Full'} table](docs/performance.md)"
    return (
        f"{_table(columns, [list(row) for row in rows], texts=1)}\n\n"
        f"Below 1, another library is faster{more} {table}.\n\n"
        f"*From Rust, AES-128, sealed, one core of {processor(document['machine'])}, {date}.*"
    )


def _faster(case: Document) -> str:
    """The engine's speed to the best other's; an interval where it is open which is ahead."""
    ratio = case["engine_to_best"]
    return interval(ratio) if case["engine_is"] == EVEN else three(ratio["median"])


def _lost(cases: list[Document]) -> tuple[list[tuple[str, str]], int]:
    """The sizes and calls in which another library wins, and how many more cases it wins.

    A row of sizes is of plain sealing under AES-128, with the same keys.
    """
    lost = {
        each["name"]: (each["kind"], each["engine_to_best"]["median"])
        for each in cases
        if each["engine_is"] == BEHIND and each["name"] not in HEADLINES
    }
    rows: list[tuple[str, str]] = []
    told = 0
    for pattern, keys in ROWS.items():
        found = [lost[name] for name in lost if re.fullmatch(pattern, name)]
        told += len(found)
        if found:
            sizes, factors = zip(*found, strict=True)
            rows.append((f"{listed(list(sizes))}{keys}", _range(factors)))
    return rows, len(lost) - told


def _range(factors: Iterable[float]) -> str:
    """`0.85–0.98`."""
    ends = sorted(factors)
    return "–".join(dict.fromkeys(three(end) for end in (ends[0], ends[-1])))


def listed(words: list[str]) -> str:
    """`a, b and c`."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def _library(name: str, facts: Document) -> list[str]:
    if "reason" in facts:
        return [name, f"absent: {facts['reason']}", ""]
    detail = facts["detail"].partition(" (r0x")[0]
    in_place = "; in place, so a copy is in its time" if facts["in_place"] else ""
    return [name, f"{detail}{in_place}", facts["released"] or "unknown"]


def _case(case: Document, peers: Document) -> list[str]:
    engine, kernels, best = (case["arms"][name] for name in ("engine", "kernels", case["best"]))
    cycles, ports = kernels["cycles_per_message"], case["kernels_to_ports"]
    ratio = interval(case["engine_to_best"])
    return [
        case["title"],
        three(engine["gb_per_s"]),
        three(kernels["gb_per_s"]),
        three(cycles["median"]) if cycles else "unknown",
        f"{100 * ports['median']:.0f} %" if ports else "",
        f"{three(best['gb_per_s'])} ({_named(case['best'], peers)})",
        f"**{ratio}**" if case["engine_is"] == BEHIND else ratio,
    ]


def _named(peer: str, peers: Document) -> str:
    return f"{peer} {peers[peer]['version']}"


def _table(head: tuple[str, ...], lines: list[list[str]], *, texts: int) -> str:
    ruler = [*["---"] * texts, *["---:"] * (len(head) - texts)]
    return "\n".join(map(table_line, ([*head], ruler, *lines)))


LIBRARIES = ("library", "version", "released")
CASES = (
    *("work", "`Engine::run`, GB/s", "kernels, GB/s", "kernels, cycles a message"),
    *("kernels, % of peak", "best other library, GB/s", "`Engine::run` to best"),
)
HEADLINES = {
    "128-many-128": "128 B, 1,024 keys",
    "128-fresh-128": "128 B, a new key for each",
}
BEHIND, EVEN = "behind", "within noise"
# By the names of cases; what is named there is a message size or a call.
ROWS = {
    r"\d+-many-128": ", 1,024 keys",
    r"\d+-one-128": ", one key",
    r"\d+-fresh-128": ", a new key for each",
    r"128-many-128-batch-1": "",
    r"128-many-128-batch-16": "",
}
