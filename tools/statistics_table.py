"""Writes how often verdicts were false into docs/statistics.md, or checks that it stands there.

Usage: python tools/statistics_table.py [--check] [FOLDER]

FOLDER is results/<date>/<machine> with false-verdicts-<MS>-ms.json, as `make aa` writes it, one
file or several; the newest when left out. What is written lies between
`<!-- generated: false-verdicts -->` and `<!-- end -->`. Without any results the place between must
be empty. Needs nothing but Python.
"""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

Document = dict[str, Any]


def main() -> int:
    """Writes, or with --check compares; 1 when something is not as it should be."""
    arguments = _arguments()
    root: Path = arguments.root
    folder = arguments.folder.resolve() if arguments.folder else newest(root)
    page = root / PAGE
    try:
        before = page.read_text(encoding="utf-8")
        after = filled(before, _block(root, folder) if folder else "")
    except (OSError, ValueError) as error:
        print(f"statistics_table: {error}", file=sys.stderr)
        return 1
    if arguments.check:
        if before != after:
            print(f"{PAGE} is not what the results say: run tools/statistics_table.py")
        return int(before != after)
    page.write_text(after, encoding="utf-8")
    print(f"{PAGE}: written from {folder.relative_to(root) if folder else 'no results'}")
    return 0


def newest(root: Path) -> Path | None:
    """The folder under results/ with the latest date in its path."""
    folders = sorted(path.parent for path in root.glob(f"results/*/*/{RESULTS}"))
    return folders[-1] if folders else None


def filled(text: str, block: str) -> str:
    """A page with the generated part put in its place.

    Raises:
        ValueError: If the page has no such place, or more than one.
    """
    text, places = MARKER.subn(lambda _: f"{BEGIN}\n{block}{END}", text)
    if places != 1:
        raise ValueError(f"{PAGE} has {places} places from {BEGIN} to {END}; right would be one")
    return text


def table(document: Document) -> str:
    """The results as a table.

    Raises:
        ValueError: If they are of a trial run.
    """
    if document["quick"]:
        raise ValueError("it is of a --quick run, which proves nothing; run `make aa`")
    lines = [
        f"| compared | times | noise | 95 % of ratios | {' | '.join(VERDICTS)} | bound | |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---|---|",
    ]
    for result in document["results"]:
        said = " | ".join(str(result["verdicts"][verdict]) for verdict in VERDICTS)
        low, high = result["ratios_95"]
        met = "met" if result["met"] else "**missed**"
        lines.append(
            f"| {result['what']} | {result['comparisons']} | {100 * result['noise_floor']:.1f} % "
            f"| {low:.3f}..{high:.3f} | {said} | {result['wanted']} | {met} |"
        )
    return "\n".join(lines)


def _block(root: Path, folder: Path) -> str:
    files = sorted(folder.glob(RESULTS))
    found = [(file, json.loads(file.read_text(encoding="utf-8"))) for file in files]
    # Longer samples first: they are the usual ones.
    found.sort(key=lambda each: _sample_ms(each[1]), reverse=True)
    return "\n" + "".join(_part(root, file, document) for file, document in found)


def _part(root: Path, file: Path, document: Document) -> str:
    place = file.resolve().relative_to(root.resolve()).as_posix()
    cpu = document["machine"]["cpu_model"]["value"] or "a processor that doesn't name itself"
    cores = document["machine"]["cores_affinity"]["value"]
    caption = (
        f"{document['created'][:10]}, {cpu}, {cores} cores: {document['blocks']} blocks in one "
        f"process, samples of {_sample_ms(document):.0f} ms; clean samples "
        f"{_clean(document['results'])}. `{document['command']}`, [every comparison](../{place})."
    )
    return f"{table(document)}\n\n{caption}\n\n"


def _sample_ms(document: Document) -> float:
    results = document["results"]
    return sum(float(each["sample_ms"]) for each in results) / len(results)


def _clean(results: list[Document]) -> str:
    """The share of clean samples in each condition, as `98 % (idle)`."""
    return ", ".join(f"{100 * each['clean_share']:.0f} % ({each['name']})" for each in results)


def _arguments() -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail when stale")
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent, help="the tree")
    parser.add_argument("folder", type=Path, nargs="?", help="results/<date>/<machine>")
    return parser.parse_args()


PAGE = "docs/statistics.md"
RESULTS = "false-verdicts-*-ms.json"
VERDICTS = ("FASTER", "SLOWER", "SAME", "UNSURE")
BEGIN, END = "<!-- generated: false-verdicts -->", "<!-- end -->"
MARKER = re.compile(f"{re.escape(BEGIN)}\n.*?{re.escape(END)}", re.S)

if __name__ == "__main__":
    sys.exit(main())
