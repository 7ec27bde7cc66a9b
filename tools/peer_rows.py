"""The tables of the kernels beside other libraries, from peers.json."""

import re
from typing import Any

from markdown import interval, table_line, three

Document = dict[str, Any]


def block(document: Document, *, date: str, place: str) -> str:
    """The main rows, who took part, and where it was measured.

    Args:
        document: peers.json.
        date: When it was measured.
        place: The folder it lies in, from the README.

    Raises:
        ValueError: If no main row was measured.
    """
    every = [each for case in document["cases"] for each in case["lines"]]
    rows = [
        each for each in every if re.fullmatch(MAIN, each["case"]) and each["verdict"] != "shown"
    ]
    if not rows:
        raise ValueError(
            f"{place}/peers.json has none of the main cases; `make bench-peers` measures them"
        )
    table = [table_line(HEAD), table_line(["---", *["---:"] * (len(HEAD) - 1)]), *map(_row, rows)]
    return "\n".join(["", *table, "", _caption(document, date, place), "", ""])


def every_case(document: Document, *, date: str, place: str) -> str:
    """All rows with their goals, for a page in docs/.

    Args:
        document: peers.json.
        date: When it was measured.
        place: The folder it lies in, from the README.
    """
    rows = [each for case in document["cases"] for each in case["lines"]]
    head = [*HEAD[:4], "against, GB/s", HEAD[5], "goal", "verdict"]
    table = [table_line(head), table_line(["---", *["---:"] * 5, "---", "---"])]
    table += [f"{_row(each)[:-2]} | {each['goal']} | {each['verdict']} |" for each in rows]
    heading = f"### {_processor(document)}"
    return "\n".join(["", heading, "", *table, "", _caption(document, date, f"../{place}"), "", ""])


def _row(of: Document) -> str:
    cycles = three(of["cycles"]["median"]) if of["cycles"] else "unknown"
    return table_line(
        [
            of["title"],
            three(of["gb_per_s"]),
            cycles,
            f"{100 * share['median']:.0f} %" if (share := of.get("of_ports")) else "",
            f"{three(of['best_gb_per_s'])} ({of['best']})",
            interval(of["ratio"]),
        ]
    )


def _processor(document: Document) -> str:
    return document["machine"]["cpu_model"]["value"] or "a processor that doesn't name itself"


def _caption(document: Document, date: str, place: str) -> str:
    present = [name for name, each in document["peers"].items() if "detail" in each]
    copying = [name for name in present if document["peers"][name]["in_place"]]
    wiping = "zeroize" in document["peers"].get("rustcrypto", {}).get("detail", "")
    absent = [name for name, each in document["peers"].items() if "reason" in each]
    command = re.sub(r" --(?:out|binary) \S+", "", document["command"])
    said = [
        "GB/s are 10⁹ bytes of text a second on one core; the ratio is against the best other "
        f"library of the same case, of {', '.join(present)}.",
        "Of the ports: the share of the speed that the same instructions of AES and GHASH have "
        "alone, on registers, which is the most that this processor allows."
        if any(line.get("of_ports") for case in document["cases"] for line in case["lines"])
        else "",
        f"{' and '.join(copying)} work only in place, so a copy is in their time."
        if copying
        else "",
        "rustcrypto wipes (feature zeroize), which slows it under fresh keys." if wiping else "",
        f"Absent: {', '.join(absent)}." if absent else "",
        f"Medians with 95 % intervals, {date}, {_processor(document)}: `{command}`, "
        f"[all cases and who was compared]({place}/peers.json).",
    ]
    return " ".join(filter(None, said))


HEAD = [
    *("work", "GB/s", "cycles a message", "of the ports"),
    *("best other library, GB/s", "times as fast"),
]
MAIN = r"128-(?:one|many|fresh)-\d+|1420-many-\d+|(?:16384|1048576)-one-\d+|003-(?:many|fresh)-\w+"
