"""Compares what a tool counts with what was accepted before, and accepts it on `--write`."""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Counts = Mapping[str, Mapping[str, float]]
"""What is counted of each subject (a case, a loop, a kernel), by its unit."""


def _text(document: Any) -> str:
    """A line for each subject; counts stand last."""
    head = json.dumps({**document, "counts": {}}, indent=1).removesuffix("}\n}")
    lines = (f"  {json.dumps(name)}: {json.dumps(of)}" for name, of in document["counts"].items())
    return head + "\n" + ",\n".join(lines) + "\n }\n}\n"


@dataclass(frozen=True)
class Guard:
    """A file of accepted counts: a document in JSON that says what it was `made_with`.

    Attributes:
        file: From the root of the tree.
        accept: The target of make that writes it.
        limits: The least and the most allowed of a unit of which so many were accepted.
        counts: Those in a document.
        text: A document as the file has it.
    """

    file: str
    accept: str
    limits: Callable[[str, float], tuple[float, float]]
    counts: Callable[[Any], Counts] = lambda document: document["counts"]
    text: Callable[[Any], str] = _text

    def main(self, doc: str | None, find: Callable[[Path], Any]) -> int:
        """Compares what is found in a tree, or with --write accepts it; 1 when that is wrong."""
        parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
        parser.add_argument("--write", action="store_true", help="accept what is found")
        parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent)
        asked = parser.parse_args()
        try:
            return self.check(asked.root, find(asked.root), write=asked.write)
        except (OSError, ValueError, LookupError) as error:
            print(f"{Path(sys.argv[0]).stem}: {error}", file=sys.stderr)
            return 1

    def check(self, root: Path, found: Any, *, write: bool) -> int:
        """Prints what is not as accepted, and 1; or with `write` accepts it."""
        counts = self.counts(found)
        if write:
            (root / self.file).write_text(self.text(found), encoding="utf-8")
            print(f"{self.file}: {len(counts)} accepted")
            return 0
        accepted = json.loads((root / self.file).read_text(encoding="utf-8"))
        changes = [*differences(self.counts(accepted), counts, self.limits)]
        before, now = accepted["made_with"], found["made_with"]
        if not changes:
            print(f"{len(counts)} counts are as accepted in {self.file}")
            return 0
        if before != now:
            changes.append(f"What was accepted is of {before}; here is {now}.")
        print(*changes, sep="\n")
        print(f"If this is meant, `make {self.accept}` writes what was found to {self.file}.")
        return 1


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


def program(root: Path, crate: str, bench: str) -> Path:
    """The program of a benchmark, built with the release profile if it isn't yet."""
    command = ["cargo", "bench", "--quiet", "--no-run", "--message-format=json-render-diagnostics"]
    # With the library's extension, so that its dependencies, which have its features, are shared.
    command += ["-p", crate, "-p", "sealift-py", "--bench", bench]
    for line in output(command, root).splitlines():
        message = json.loads(line)
        if message.get("target", {}).get("name") == bench and message.get("executable"):
            return Path(message["executable"])
    raise ValueError(f"cargo built no program for the benchmark {bench} of {crate}")


def output(command: list[str], folder: Path | None = None) -> str:
    """What a command prints."""
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise ValueError(f"{command[0]} ended with {done.returncode}; see above")
    return done.stdout
