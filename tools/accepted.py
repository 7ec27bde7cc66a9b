"""Compares what a tool counts with what was accepted before, and accepts it on `--write`."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Counts = Mapping[str, Mapping[str, float]]
"""What is counted of each subject (a case, a loop, a kernel), by its unit."""


@dataclass(frozen=True)
class Guard:
    """A file of accepted counts.

    Attributes:
        file: From the root of the tree.
        accept: The target of make that writes it.
        counts: Those in the file's document.
        limits: The least and the most allowed of a unit of which so many were accepted.
        text: The document as the file has it.
        made_with: The tools that a document is of.
        refused: A sentence for each thing that is never accepted.
    """

    file: str
    accept: str
    counts: Callable[[Any], Counts]
    limits: Callable[[str, float], tuple[float, float]]
    text: Callable[[Any], str]
    made_with: Callable[[Any], object] = lambda _: None
    refused: Callable[[Any], Iterable[str]] = lambda _: ()

    def check(self, root: Path, found: Any, *, write: bool) -> int:
        """Prints what is not as accepted, or with `write` accepts it; 1 when something is wrong."""
        counts, wrong = self.counts(found), [*self.refused(found)]
        if write and not wrong:
            (root / self.file).write_text(self.text(found), encoding="utf-8")
            print(f"{self.file}: {len(counts)} accepted")
            return 0
        if not write:
            accepted = json.loads((root / self.file).read_text(encoding="utf-8"))
            changes = [*differences(self.counts(accepted), counts, self.limits)]
            before, now = self.made_with(accepted), self.made_with(found)
            if changes and before != now:
                changes.append(f"What was accepted is of {before}; here is {now}.")
            wrong += changes
        print(*wrong, sep="\n", end="\n" if wrong else "")
        if wrong:
            print(f"If this is meant, `make {self.accept}` writes what was found to {self.file}.")
        else:
            print(f"{len(counts)} counts are as accepted in {self.file}")
        return int(bool(wrong))


def differences(
    accepted: Counts, found: Counts, limits: Callable[[str, float], tuple[float, float]]
) -> Iterator[str]:
    """A sentence for each subject that came or went, and for each count beyond its limits."""
    for subject in sorted(accepted.keys() | found.keys()):
        if subject not in found:
            yield f"{subject}: accepted, and not found."
        elif subject not in accepted:
            yield f"{subject}: found, and not accepted."
        else:
            for unit, before in accepted[subject].items():
                now, (least, most) = found[subject][unit], limits(unit, before)
                if not least <= now <= most:
                    allowed = f"{least:,.6g} to {most:,.6g} allowed"
                    yield f"{subject}: {now:,.6g} {unit} found, {before:,.6g} accepted, {allowed}."


def arguments(doc: str | None, *positional: str) -> argparse.Namespace:
    """`write`, `root` and these optional files, from the command line."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="accept what is found")
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent, help="the tree")
    for name in positional:
        parser.add_argument(name, type=Path, nargs="?")
    return parser.parse_args()


def fail(error: Exception) -> int:
    """Prints why a tool could not do its work; 1."""
    print(f"{Path(sys.argv[0]).stem}: {error}", file=sys.stderr)
    return 1
