"""Breaks the engine, the core and the drivers on purpose, one way at a time, and runs their tests.

Usage: python tools/mutants.py [NUMBER ...]

tools/mutants.toml lists the mutants; numbers choose some of them. The committed tree is copied to
target/mutants and built once with all mutants in it: SEALIFT_MUTANT=NUMBER switches one on, and
without it the code is as committed. For each mutant the tests of the crates that it names run
until one fails. Ends with 1 when a mutant survives that the list doesn't argue to be equivalent,
when one that it does argue is noticed, and when the list doesn't match the sources. Needs nothing
but Python, git and cargo.
"""

import argparse
import io
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

Sources = dict[str, bytes]


def main() -> int:
    """Judges the mutants and prints a row for each; 1 when one isn't as the list says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("numbers", type=int, nargs="*", metavar="NUMBER", help="those to judge")
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent, help="the tree")
    arguments = parser.parse_args()
    root: Path = arguments.root.resolve()
    begin = time.monotonic()
    try:
        everything = parse((root / LIST).read_text(encoding="utf-8"))
        if unknown := {*arguments.numbers} - {mutant.number for mutant in everything}:
            raise ValueError(f"{LIST} has {len(everything)} mutants, and no {min(unknown)}")
        mutants = [each for each in everything if each.number in arguments.numbers] or everything
        # All are built, whichever are chosen: so the next choice needs no other build.
        suites = build(root, everything)
        limits = time_limits([suite for suite in suites if any(suite.tests(m) for m in mutants)])
        wrong = judge(mutants, limits)
    except (OSError, LookupError, TypeError, ValueError) as error:
        print(f"mutants: {error}", file=sys.stderr)
        return 1
    print(f"{len(mutants)} mutants in {time.monotonic() - begin:.0f} s", *wrong, sep="\n")
    return int(bool(wrong))


@dataclass(frozen=True)
class Mutant:
    """One way to break the code, as the list has it; `number` is its place there.

    MUTANT in `after` is true when it is switched on.
    """

    number: int
    breaks: str
    file: str
    before: str
    after: str
    crates: Sequence[str] = ()
    equivalent: str = ""

    @property
    def folder(self) -> str:
        """The folder of the crate that it is planted in."""
        return "/".join(Path(self.file).parts[:2])

    @property
    def tested_by(self) -> Sequence[str]:
        """The crates whose tests should notice."""
        return self.crates or [Path(self.folder).name]


@dataclass(frozen=True)
class Suite:
    """A test program that cargo has built; `folder` is its crate's, where cargo would run it."""

    crate: str
    name: str
    program: Path
    folder: Path

    def tests(self, mutant: Mutant) -> bool:
        """Whether it is of a crate that the mutant names."""
        return self.crate in mutant.tested_by


def parse(text: str) -> list[Mutant]:
    """The mutants of the list, numbered in its order."""
    return [Mutant(number, **each) for number, each in enumerate(tomllib.loads(text)["mutant"], 1)]


def plant(sources: Sources, mutants: Sequence[Mutant]) -> Sources:
    """The same sources with all mutants in them."""
    planted = dict(sources)
    for crate in {mutant.folder for mutant in mutants}:
        root = f"{crate}/src/lib.rs"
        planted[root] = NO_WARNINGS + planted.get(root, b"") + SWITCH.encode()
    for mutant in mutants:
        text = planted.get(mutant.file, b"").decode()
        if (count := text.count(mutant.before)) != 1 or MARK not in mutant.after:
            first = mutant.before.strip().splitlines()[0]
            raise ValueError(
                f"{mutant.file}: what mutant {mutant.number} replaces is there {count} times: "
                f"`{first}`; correct it in {LIST}, which has to have {MARK} in its `after`"
            )
        after = mutant.after.replace(MARK, f"crate::mutant({mutant.number})")
        planted[mutant.file] = text.replace(mutant.before, after).encode()
    return planted


def build(root: Path, mutants: Sequence[Mutant]) -> list[Suite]:
    """Copies the committed tree, plants the mutants and builds the tests."""
    target = root / os.environ.get("CARGO_TARGET_DIR", "target") / "mutants"
    write(plant(read_commit(root), mutants), target / "tree")
    crates = sorted({crate for mutant in mutants for crate in mutant.tested_by})
    _progress(f"building the tests of {', '.join(crates)} with {len(mutants)} mutants")
    command = ["cargo", "test", "--quiet", "--locked", "--no-run", "--lib", "--tests", JSON]
    command += [word for crate in crates for word in ("-p", crate)]
    environment = os.environ | {"CARGO_TARGET_DIR": str(target / "build")}
    return [*parse_suites(_output(command, target / "tree", environment).decode())]


def read_commit(root: Path) -> Sources:
    """The files of the last commit, without measured results."""
    archive = _output(["git", "archive", "HEAD", ".", ":(exclude)results"], root)
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        contents = ((member.name, tar.extractfile(member)) for member in tar if member.isfile())
        return {name: file.read() for name, file in contents if file}


def write(sources: Sources, tree: Path) -> None:
    """Makes a folder hold these files. One that is right already keeps its date, for cargo."""
    for file in [file for file in tree.rglob("*") if file.is_file()]:
        if file.relative_to(tree).as_posix() not in sources:
            file.unlink()
    for name, content in sources.items():
        file = tree / name
        if not file.exists() or file.read_bytes() != content:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)


def parse_suites(messages: str) -> Iterator[Suite]:
    """The test programs that cargo's messages name."""
    for message in map(json.loads, messages.splitlines()):
        if message.get("executable") and message["profile"]["test"]:
            folder, target = Path(message["manifest_path"]).parent, message["target"]
            name = "unit tests" if "lib" in target["kind"] else target["name"]
            yield Suite(folder.name, name, Path(message["executable"]), folder)


def time_limits(suites: Sequence[Suite]) -> dict[Suite, float]:
    """The seconds that each program may take with a mutant: far more than without one."""
    limits = dict[Suite, float]()
    for place, suite in enumerate(suites, 1):
        _progress(f"without a mutant: {suite.crate}, {suite.name} ({place} of {len(suites)})")
        begin = time.monotonic()
        if failure := run(suite, 0, UNMUTATED_MAX_S):
            raise ValueError(
                f"without a mutant {suite.crate} fails: {suite.name}: {failure}; mend that first"
            )
        limits[suite] = LIMIT_MIN_S + LIMIT_TIMES * (time.monotonic() - begin)
    return limits


def judge(mutants: Sequence[Mutant], limits: Mapping[Suite, float]) -> list[str]:
    """Prints a row for each mutant; a sentence for each that isn't as the list says."""
    wrong = list[str]()
    for place, mutant in enumerate(mutants, 1):
        _progress(f"{place} of {len(mutants)}: {mutant.breaks}")
        # The quickest first: most mutants are noticed there.
        suites = sorted(filter(lambda each: each.tests(mutant), limits), key=limits.__getitem__)
        failures = ((suite, run(suite, mutant.number, limits[suite])) for suite in suites)
        noticed = next(
            (f"{s.crate}, {s.name}: {failure}" for s, failure in failures if failure), ""
        )
        verdict = noticed or ("survives, as argued" if mutant.equivalent else "SURVIVED")
        print(f"{mutant.number:3} {mutant.breaks:<{WIDTH}} {verdict}", flush=True)
        if noticed and mutant.equivalent:
            wrong.append(f"mutant {mutant.number} is noticed: take its `equivalent` out of {LIST}")
        elif not noticed and not mutant.equivalent:
            wrong.append(f"mutant {mutant.number} survived in {mutant.file}: {ADVICE}")
    return wrong


def run(suite: Suite, number: int, limit_s: float) -> str:
    """Runs tests with a mutant until one fails: its name, or "" when none does.

    A program that takes longer than `limit_s` hangs, which is a failure too.
    """
    environment = os.environ | {SWITCHED_BY: str(number), "SEALIFT_TEST_SCALE": SHARE}
    with subprocess.Popen(
        ["timeout", "--kill-after=5", f"{limit_s}", suite.program],
        cwd=suite.folder,
        env=environment | {"CARGO_MANIFEST_DIR": str(suite.folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        errors="replace",
        # A session of its own, so that what the program starts ends with it.
        start_new_session=True,
    ) as program:
        if failed := next(filter(None, map(FAILED.match, program.stdout or ())), None):
            os.killpg(program.pid, signal.SIGKILL)
            return failed[1]
    if program.returncode in TIMED_OUT:
        return f"it hangs (over {limit_s:.0f} s)"
    return f"it ends with {program.returncode}" if program.returncode else ""


def _output(
    command: Sequence[str], folder: Path, environment: Mapping[str, str] = os.environ
) -> bytes:
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise ValueError(f"`{' '.join(command[:2])}` failed; see above")
    return done.stdout


def _progress(line: str) -> None:
    print(f"mutants: {line}", file=sys.stderr, flush=True)


LIST = "tools/mutants.toml"
MARK = "MUTANT"
FAILED = re.compile(r"test (.*?)(?: - .*)? \.\.\. FAILED$")
NO_WARNINGS = b"#![allow(warnings)]\n"
SWITCHED_BY = "SEALIFT_MUTANT"
SWITCH = f"""
/// Whether this mutant is switched on.
pub(crate) fn mutant(number: u32) -> bool {{
    static ON: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    let on = || std::env::var("{SWITCHED_BY}").ok().and_then(|on| on.parse().ok()).unwrap_or(0);
    *ON.get_or_init(on) == number
}}
"""
JSON = "--message-format=json-render-diagnostics"
ADVICE = "write a test that fails with it, or argue in its `equivalent` why none can"
# Of the large numbers of random messages: what only they find would take too long for each mutant.
SHARE = "0.02"
WIDTH = 60
UNMUTATED_MAX_S = 900.0
# How timeout(1) ends when it had to end a program, or to kill it.
TIMED_OUT = (124, 137, -signal.SIGKILL)
# A busy machine is slower than it was without the mutant, but not by this.
LIMIT_MIN_S = 10.0
LIMIT_TIMES = 5.0

if __name__ == "__main__":
    sys.exit(main())
