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
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import threading
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

Sources = dict[str, bytes]


class MutantError(Exception):
    """Why the mutants can't be judged, and what to do."""


def main() -> int:
    """Judges the mutants and prints a row for each; 1 when one isn't as the list says."""
    arguments = _arguments()
    root: Path = arguments.root.resolve()
    begin = time.monotonic()
    try:
        everything = parse((root / LIST).read_text(encoding="utf-8"))
        mutants = select(everything, arguments.numbers)
        # All are built, whichever are chosen: so the next choice needs no other build.
        suites = build(root, everything)
        limits = time_limits([suite for suite in suites if is_used(suite, mutants)])
        wrong = judge(mutants, limits)
    except (OSError, MutantError) as error:
        print(f"mutants: {error}", file=sys.stderr)
        return 1
    print(f"{len(mutants)} mutants in {duration(time.monotonic() - begin)}")
    for sentence in wrong:
        print(sentence)
    return int(bool(wrong))


@dataclass(frozen=True, slots=True)
class Mutant:
    """One way to break the code, and the crates whose tests should notice."""

    number: int
    breaks: str
    """The rule that no longer holds."""
    file: str
    before: str
    after: str
    """The code instead, where MUTANT is true when this mutant is switched on."""
    crates: tuple[str, ...]
    equivalent: str
    """Why no test can notice, if none can."""

    @property
    def crate(self) -> str:
        """The folder of the crate that it is planted in."""
        return "/".join(Path(self.file).parts[:2])


@dataclass(frozen=True, slots=True)
class Suite:
    """A test program that cargo has built."""

    crate: str
    name: str
    program: Path
    folder: Path
    """The crate's folder, where cargo would run it."""


def parse(text: str) -> list[Mutant]:
    """The mutants of the list, numbered in its order.

    Raises:
        MutantError: An entry lacks something, or has something that no entry has.
    """
    try:
        entries = tomllib.loads(text)["mutant"]
    except (tomllib.TOMLDecodeError, KeyError) as error:
        raise MutantError(f"{LIST} is no list of [[mutant]]: {error}") from None
    return [_mutant(number, entry) for number, entry in enumerate(entries, 1)]


def _mutant(number: int, entry: Mapping[str, object]) -> Mutant:
    missing, unknown = REQUIRED - entry.keys(), entry.keys() - REQUIRED - OPTIONAL
    for names, what in ((missing, "lacks"), (unknown, "has the unknown")):
        if names:
            raise MutantError(f"{LIST}: mutant {number} {what} {', '.join(sorted(names))}")
    texts = {name: str(value).strip("\n") for name, value in entry.items() if name != "crates"}
    if MARK not in texts["after"]:
        raise MutantError(f"{LIST}: {MARK} doesn't stand in the `after` of mutant {number}")
    own = Path(texts["file"]).parts[1:2]
    crates = entry.get("crates", own)
    assert isinstance(crates, list | tuple)
    return Mutant(
        number,
        texts["breaks"],
        texts["file"],
        texts["before"],
        texts["after"],
        tuple(map(str, crates)),
        texts.get("equivalent", ""),
    )


def select(mutants: Sequence[Mutant], numbers: Sequence[int]) -> list[Mutant]:
    """The mutants of these numbers; all, if there are none.

    Raises:
        MutantError: There is no mutant of a number.
    """
    for number in numbers:
        if not 1 <= number <= len(mutants):
            raise MutantError(f"there is no mutant {number}; {LIST} has {len(mutants)}")
    return [mutant for mutant in mutants if not numbers or mutant.number in numbers]


def plant(sources: Sources, mutants: Iterable[Mutant]) -> Sources:
    """The same sources with all mutants in them.

    Raises:
        MutantError: What a mutant replaces isn't in its file, or is there twice, or another mutant
            replaces it, too.
    """
    planted = dict(sources)
    by_file: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        by_file.setdefault(mutant.file, []).append(mutant)
    for file, own in by_file.items():
        planted[file] = _replace(file, sources.get(file, b"").decode(), own).encode()
    for crate in {mutant.crate for own in by_file.values() for mutant in own}:
        root = f"{crate}/src/lib.rs"
        planted[root] = NO_WARNINGS + planted.get(root, b"") + SWITCH.encode()
    return planted


def _replace(file: str, text: str, mutants: Iterable[Mutant]) -> str:
    places = [(_place(file, text, mutant), mutant) for mutant in mutants]
    places.sort(key=lambda place: place[0], reverse=True)
    begins_next, next_one = len(text) + 1, 0
    for begin, mutant in places:
        end = begin + len(mutant.before)
        if end > begins_next:
            raise MutantError(
                f"{LIST}: mutants {mutant.number} and {next_one} replace the same code in {file}; "
                "let each replace less"
            )
        begins_next, next_one = begin, mutant.number
        after = mutant.after.replace(MARK, f"crate::mutant({mutant.number})")
        text = text[:begin] + after + text[end:]
    return text


def _place(file: str, text: str, mutant: Mutant) -> int:
    count = text.count(mutant.before)
    if count != 1:
        first = mutant.before.strip().splitlines()[0]
        times = "isn't there" if count == 0 else f"is there {count} times"
        raise MutantError(
            f"{file}: what mutant {mutant.number} replaces {times}: `{first}`; correct its "
            f"`before` in {LIST}, or delete it if its rule is gone"
        )
    return text.index(mutant.before)


def build(root: Path, mutants: Sequence[Mutant]) -> list[Suite]:
    """Copies the committed tree, plants the mutants and builds the tests.

    Raises:
        MutantError: git or cargo fails, or a mutant can't be planted.
    """
    target = root / os.environ.get("CARGO_TARGET_DIR", "target") / "mutants"
    write(plant(read_commit(root), mutants), target / "tree")
    crates = sorted({crate for mutant in mutants for crate in mutant.crates})
    _progress(f"building the tests of {', '.join(crates)} with {len(mutants)} mutants")
    command = ["cargo", "test", "--quiet", "--locked", "--no-run", "--lib", "--tests", JSON]
    command += [word for crate in crates for word in ("-p", crate)]
    environment = os.environ | {"CARGO_TARGET_DIR": str(target / "build")}
    return list(parse_suites(_output(command, target / "tree", environment).decode()))


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
    for line in messages.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["profile"]["test"]:
            folder = Path(message["manifest_path"]).parent
            target = message["target"]
            name = "unit tests" if "lib" in target["kind"] else target["name"]
            yield Suite(folder.name, name, Path(message["executable"]), folder)


def is_used(suite: Suite, mutants: Iterable[Mutant]) -> bool:
    """Whether a program belongs to a crate that one of the mutants names."""
    return any(suite.crate in mutant.crates for mutant in mutants)


def time_limits(suites: Sequence[Suite]) -> dict[Suite, float]:
    """Runs the tests without a mutant, and allows each program far more than it took, in seconds.

    Raises:
        MutantError: A test fails.
    """
    limits: dict[Suite, float] = {}
    for place, suite in enumerate(suites, 1):
        _progress(f"without a mutant: {suite.crate}, {suite.name} ({place} of {len(suites)})")
        begin = time.monotonic()
        failure = run(suite, 0, UNMUTATED_MAX_S)
        if failure:
            raise MutantError(
                f"without a mutant {suite.crate} fails: {suite.name}: {failure}; mend that first"
            )
        limits[suite] = LIMIT_MIN_S + LIMIT_TIMES * (time.monotonic() - begin)
    return limits


def judge(mutants: Sequence[Mutant], limits: Mapping[Suite, float]) -> list[str]:
    """Prints a row for each mutant; a sentence for each that isn't as the list says."""
    # The quickest first: most mutants are noticed there.
    in_order = sorted(limits, key=lambda suite: limits[suite])
    wrong: list[str] = []
    begin = time.monotonic()
    for done, mutant in enumerate(mutants):
        spent_s = time.monotonic() - begin
        left = f", {duration(spent_s / done * (len(mutants) - done))} left" if done else ""
        _progress(f"{done + 1} of {len(mutants)}{left}: {mutant.breaks}")
        own = [suite for suite in in_order if is_used(suite, [mutant])]
        noticed = next(_failures(mutant, own, limits), "")
        verdict = noticed or ("survives, as argued" if mutant.equivalent else "SURVIVED")
        print(f"{mutant.number:3} {mutant.breaks:<{WIDTH}} {verdict}", flush=True)
        if noticed and mutant.equivalent:
            wrong.append(f"mutant {mutant.number} is noticed: take its `equivalent` out of {LIST}")
        elif not noticed and not mutant.equivalent:
            wrong.append(f"mutant {mutant.number} survived in {mutant.file}: {ADVICE}")
    return wrong


def _failures(
    mutant: Mutant, suites: Iterable[Suite], limits: Mapping[Suite, float]
) -> Iterator[str]:
    for suite in suites:
        failure = run(suite, mutant.number, limits[suite])
        if failure:
            yield f"{suite.crate}, {suite.name}: {failure}"


def run(suite: Suite, number: int, limit_s: float) -> str:
    """Runs tests with a mutant until one fails: its name, or "" when none does.

    A program that takes longer than `limit_s` hangs, which is a failure too.
    """
    environment = os.environ | {SWITCHED_BY: str(number), "SEALIFT_TEST_SCALE": SHARE}
    environment["CARGO_MANIFEST_DIR"] = str(suite.folder)
    is_late = threading.Event()
    with subprocess.Popen(
        [suite.program],
        cwd=suite.folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as program:

        def end_late() -> None:
            is_late.set()
            _kill(program)

        timer = threading.Timer(limit_s, end_late)
        timer.start()
        assert program.stdout is not None
        try:
            for line in program.stdout:
                if line.startswith("test ") and line.rstrip().endswith("... FAILED"):
                    _kill(program)
                    return line.removeprefix("test ").partition(" ... ")[0].partition(" - ")[0]
        except KeyboardInterrupt:
            # It is of a session of its own, so that nobody else tells it.
            _kill(program)
            raise
        finally:
            timer.cancel()
    if is_late.is_set():
        return f"it hangs (over {limit_s:.0f} s)"
    return f"it ends with {program.returncode}" if program.returncode else ""


def _kill(program: "subprocess.Popen[str]") -> None:
    """Ends a program that wasn't waited for yet, and those that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)


def duration(seconds: float) -> str:
    """As people say it: `40 s`, `3 min`."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _output(
    command: Sequence[str], folder: Path, environment: Mapping[str, str] = os.environ
) -> bytes:
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise MutantError(f"`{' '.join(command[:2])}` failed; see above")
    return done.stdout


def _progress(line: str) -> None:
    print(f"mutants: {line}", file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("numbers", type=int, nargs="*", metavar="NUMBER", help="those to judge")
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent, help="the tree")
    return parser.parse_args()


LIST = "tools/mutants.toml"
REQUIRED = {"breaks", "file", "before", "after"}
OPTIONAL = {"crates", "equivalent"}
MARK = "MUTANT"
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
# A busy machine is slower than it was without the mutant, but not by this.
LIMIT_MIN_S = 10.0
LIMIT_TIMES = 5.0

if __name__ == "__main__":
    sys.exit(main())
