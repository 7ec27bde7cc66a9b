"""The comparison with other libraries, from peers.json, as tables and as sentences."""

import re
from typing import Any

from markdown import interval, table_line, three

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
        f"### {_processor(document)}",
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
        f"On {_processor(document)}, {date}, another library is ahead in {len(lost)} of "
        f"{len(cases)} cases. In {still_open} more the interval includes 1, so neither is ahead."
    )
    lines = [_lost(each, document["peers"]) for each in lost]
    return "\n" + "\n".join([head, *(["", *lines] if lines else [])]) + "\n\n"


def _lost(case: Document, peers: Document) -> str:
    ratio = case["engine_to_best"]
    lead = {"median": 1 / ratio["median"], "low": 1 / ratio["high"], "high": 1 / ratio["low"]}
    return f"- {case['title']}: {_named(case['best'], peers)}, {interval(lead)} times as fast"


def sentences(document: Document, date: str) -> str:
    """How fast the engine is at 128 bytes, where another library is ahead, and the conditions.

    Raises:
        ValueError: If the cases of 128 bytes weren't measured.
    """
    cases = {each["name"]: each for each in document["cases"]}
    if missing := [name for name in HEADLINES if name not in cases]:
        raise ValueError(
            f"peers.json has no {' and no '.join(missing)}; `make bench-peers` measures them"
        )
    many, fresh = (cases[name] for name in HEADLINES)
    peers = document["peers"]
    other = "" if many["best"] == fresh["best"] else f" ({_named(fresh['best'], peers)})"
    return (
        f"At 128 bytes, `Engine::run` is {_times(many)} times as fast as the best other library "
        f"({_named(many['best'], peers)}) under 1,024 keys, and {_times(fresh)} times{other} "
        f"with a fresh key each. {_behind(document['cases'])} "
        f"One core, {_processor(document)}, {date}."
    )


def _times(case: Document) -> str:
    """A settled ratio, or one with its interval where noise leaves open which side is ahead."""
    ratio = case["engine_to_best"]
    return interval(ratio) if case["engine_is"] == EVEN else three(ratio["median"])


def _behind(cases: list[Document]) -> str:
    """The kinds of cases in which another library wins, each with the largest factor."""
    always: list[str] = []
    sometimes: list[str] = []
    for kind in dict.fromkeys(each["kind"] for each in cases):
        group = [each for each in cases if each["kind"] == kind]
        lost = [each for each in group if each["engine_is"] == BEHIND]
        if lost:
            factor = max(1 / each["engine_to_best"]["median"] for each in lost)
            places = always if len(lost) == len(group) else sometimes
            places.append(f"{kind} ({three(factor)}x)")
    if not always and not sometimes:
        return "No other library is ahead in any case."
    parts = [f"at {', '.join(always)}"] if always else []
    parts += [f"sometimes at {', '.join(sometimes)}"] if sometimes else []
    return f"Another library is faster {', and '.join(parts)}."


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


def _processor(document: Document) -> str:
    return document["machine"]["cpu_model"]["value"] or "a processor that doesn't name itself"


LIBRARIES = ("library", "version", "released")
CASES = (
    *("work", "`Engine::run`, GB/s", "kernels, GB/s", "kernels, cycles a message"),
    *("kernels, % of peak", "best other library, GB/s", "`Engine::run` to best"),
)
HEADLINES = ("128-many-128", "128-fresh-128")
BEHIND, EVEN = "behind", "within noise"
