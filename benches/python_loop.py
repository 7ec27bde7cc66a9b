"""What a loop over messages costs in Python, and what its batch replacement costs.

Usage: python benches/python_loop.py [--out FOLDER] [--seconds SECONDS] [--seed N]

Two pieces of work, all arms of each taking turns in one run:

- 16,384 messages of 128 bytes sealed under 1,024 keys: loops over pyca's and Sealift's AESGCM (an
  object for each message, and objects that are kept), `seal_batch` over lists and over columns,
  and a batch of the same shape from Rust.
- one message of 128 bytes under a kept AESGCM: pyca's and Sealift's.

Kept objects, sessions and columns are made once, outside the measured time; an object for each
message is made inside. Every Python arm must give the same bytes as the first one before anything
is timed; the batch from Rust has keys and texts of its own, and the lab checks it against another
device. Prints a table and the ratios; with --out
also writes python-loop.json into the folder. What isn't installed is left out, and said.
"""

import argparse
import importlib
import json
import random
import shlex
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from out_folder import check_writable
from sealift import AESGCM, Engine, Session
from sealift.exit_code import ExitCode
from sealift.lab import machine
from sealift.lab.grid import MANY_KEYS
from sealift.lab.measure import SAMPLE_S_MIN, Block, Ending, Task, measure
from sealift.lab.native import gcm
from sealift.lab.result import Row
from sealift.lab.runner.planning import taken_s
from sealift.lab.spec import Arm, Context
from sealift.lab.stats import VERDICT_CONFIDENCE, Interval, blocks_needed, speed_ratio
from sealift.lab.summary import Group, Series, rows, series
from sealift.lab.table import aligned, times_text
from sealift.lab.timed import timed
from sealift.lab.units import NS_PER_S
from sealift.lab.workload import SEAL_ONLY, of_size


def main() -> int:
    """Measures, prints, and writes what is asked for."""
    arguments = _arguments()
    try:
        _check_seconds(arguments.seconds)
        if arguments.out is not None:
            check_writable(arguments.out)
    except ValueError as error:
        print(f"python_loop: {error}", file=sys.stderr)
        return ExitCode.USAGE
    messages = Messages.make(arguments.seed)
    works = {MANY: many_arms(messages), SINGLE: single_arms(messages)}
    if differing := [line for arms in works.values() for line in _differing(arms)]:
        print(f"wrong results, nothing is measured: {', '.join(differing)}", file=sys.stderr)
        return ExitCode.WRONG_RESULT
    _say_absent()
    prepared = {
        name: {who: each.arm() for who, each in arms.items()} for name, arms in works.items()
    }
    prepared[MANY][RUST] = batch_in_rust(messages.engine, arguments.seed)
    groups, ending = take(prepared, arguments.seconds, arguments.seed)
    if not all(group.blocks for group in groups):
        print(f"python_loop: {ending} before a block was complete", file=sys.stderr)
        return ExitCode.INTERRUPTED if ending is Ending.INTERRUPTED else ExitCode.NOTHING_RAN
    return _show(groups, ending, arguments.out)


@dataclass(frozen=True)
class Messages:
    """The messages, in the forms that the arms take."""

    keys: list[bytes]
    key_of: list[int]
    nonces: list[bytes]
    texts: list[bytes]
    engine: Engine
    sessions: list[Session]

    @classmethod
    def make(cls, seed: int) -> "Messages":
        """Seeded bytes; nonces differ, and nothing leaves this process."""
        bytes_of = random.Random(seed).randbytes
        keys = [bytes_of(KEY_BYTES) for _ in range(KEYS)]
        # The usual policy tries other devices now and then, and a sample is to be of one device.
        engine = Engine(policy="failover", threads=1)
        return cls(
            keys=keys,
            key_of=[message % KEYS for message in range(MESSAGES)],
            nonces=[bytes_of(NONCE_BYTES) for _ in range(MESSAGES)],
            texts=[bytes_of(TEXT_BYTES) for _ in range(MESSAGES)],
            engine=engine,
            sessions=[engine.session(key) for key in keys],
        )


class Aead(Protocol):
    """What pyca's AESGCM and Sealift's have in common."""

    def encrypt(self, nonce: bytes, data: bytes, aad: None, /) -> bytes:
        """Ciphertext and tag."""


@dataclass(frozen=True)
class Way:
    """A way to seal: what runs, how many messages that is, and what it gives."""

    run: Callable[[], object]
    messages: int
    sealed: Callable[[], list[bytes]]

    def arm(self) -> Arm:
        """Ready to be timed."""
        return timed(self.run, operations=self.messages, payload_bytes=TEXT_BYTES)


def many_arms(of: Messages) -> dict[str, Way]:
    """The ways to seal all messages from Python, the loop that people write first."""
    keys = [of.keys[key] for key in of.key_of]
    sessions = [of.sessions[key] for key in of.key_of]

    def lists() -> list[bytes]:
        return of.engine.seal_batch(sessions, of.nonces, of.texts)

    runs: dict[str, Callable[[], list[bytes]]] = {}
    for name, aesgcm in CLASSES.items():
        kept_objects = [aesgcm(key) for key in of.keys]
        kept = [kept_objects[key] for key in of.key_of]

        def fresh(aesgcm: Callable[[bytes], Aead] = aesgcm) -> list[bytes]:
            return [
                aesgcm(key).encrypt(nonce, text, None)
                for key, nonce, text in zip(keys, of.nonces, of.texts, strict=True)
            ]

        def loop(kept: list[Aead] = kept) -> list[bytes]:
            return [
                each.encrypt(nonce, text, None)
                for each, nonce, text in zip(kept, of.nonces, of.texts, strict=True)
            ]

        runs[f"{name} loop, new AESGCM"] = fresh
        runs[f"{name} loop, kept AESGCM"] = loop
    runs[LISTS] = lists
    arms = {name: Way(call, MESSAGES, call) for name, call in runs.items()}
    return arms if numpy is None else arms | {COLUMNS: _columns(of)}


def single_arms(of: Messages) -> dict[str, Way]:
    """One message at a time under a kept object, a thousand times the same one."""
    nonce, text = of.nonces[0], of.texts[0]
    arms: dict[str, Way] = {}
    for name, aesgcm in CLASSES.items():
        encrypt = aesgcm(of.keys[0]).encrypt

        def calls(encrypt: Encrypt = encrypt) -> None:
            for _ in range(CALLS):
                encrypt(nonce, text, None)

        def once(encrypt: Encrypt = encrypt) -> list[bytes]:
            return [encrypt(nonce, text, None)]

        arms[f"{name} encrypt"] = Way(calls, CALLS, once)
    return arms


def batch_in_rust(engine: Engine, seed: int) -> Arm:
    """A batch of the same shape, run from Rust on the first real device."""
    real = next(device.name for device in engine.devices if device.role == "real")
    work = of_size(TEXT_BYTES, MANY_KEYS, SEAL_ONLY, messages=MESSAGES, seed=seed)
    # It writes no files, so any folder will do.
    context = Context(seed, Path(tempfile.gettempdir()))
    return gcm(real, work, threads=1, batch=MESSAGES, context=context)


def take(
    works: Mapping[str, Mapping[str, Arm]], seconds: float, seed: int
) -> tuple[list[Group], Ending]:
    """Samples of all arms, those of each piece of work taking turns."""
    kept = _Kept(len(works))
    task = Task(
        arms=[list(arms.values()) for arms in works.values()],
        done=[0] * len(works),
        blocks=BLOCKS,
        seconds=seconds,
        blocks_least=BLOCKS_LEAST,
        seed=f"python-loop/{seed}",
    )
    ending = measure(task, kept)
    groups = [
        Group(
            experiment="python-loop",
            compare="caller",
            cells=[{"work": work, "caller": caller} for caller in arms],
            blocks=[(0, block) for block in blocks],
        )
        for (work, arms), blocks in zip(works.items(), kept.blocks, strict=True)
    ]
    return groups, ending


class _Kept:
    """Keeps the blocks; a `measure.Listener`."""

    def __init__(self, groups: int) -> None:
        self.blocks: list[list[Block]] = [[] for _ in range(groups)]

    def block(self, group: int, block: int, samples: Block) -> None:
        del block
        self.blocks[group].append(samples)

    def wrong(self, group: int, arm: int, what: str) -> None:
        raise SystemExit(f"wrong result in arm {arm} of group {group}, nothing is shown: {what}")


def ratios(groups: Sequence[Group]) -> dict[str, Interval]:
    """How many times as fast the first of each pair is, paired by block: median and 95 %."""
    by_caller = {str(each.cell["caller"]): each for group in groups for each in series(group)}
    return {
        f"{fast} / {slow}": _paired(by_caller[fast], by_caller[slow])
        for fast, slow in PAIRS
        if fast in by_caller and slow in by_caller
    }


def _paired(fast: Series, slow: Series) -> Interval:
    fast_ns = dict(zip(fast.blocks, fast.ns, strict=True))
    slow_ns = dict(zip(slow.blocks, slow.ns, strict=True))
    both = sorted(fast_ns.keys() & slow_ns.keys())
    return speed_ratio([fast_ns[block] for block in both], [slow_ns[block] for block in both])


def _columns(of: Messages) -> Way:
    texts = numpy.frombuffer(b"".join(of.texts), numpy.uint8).reshape(MESSAGES, TEXT_BYTES)
    nonces = numpy.frombuffer(b"".join(of.nonces), numpy.uint8).reshape(MESSAGES, NONCE_BYTES)
    sessions = numpy.array([of.sessions[key].id for key in of.key_of], numpy.uint64)
    out, tags = numpy.empty_like(texts), numpy.empty((MESSAGES, TAG_BYTES), numpy.uint8)

    def columns() -> object:
        return of.engine.seal_batch(sessions, nonces, texts, out=out, tags=tags)

    def sealed() -> list[bytes]:
        columns()
        return [bytes(row) for row in numpy.hstack([out, tags])]

    return Way(columns, MESSAGES, sealed)


def _differing(arms: dict[str, Way]) -> list[str]:
    first, *others = arms
    right = arms[first].sealed()
    return [f"{other} differs from {first}" for other in others if arms[other].sealed() != right]


def _shown(row: Row) -> list[str]:
    return [str(row.subject), times_text(row.ns_per_operation)]


def _show(groups: Sequence[Group], ending: Ending, out: Path | None) -> int:
    found = {group.cells[0]["work"]: rows(group) for group in groups}
    compared = ratios(groups)
    for work, those in found.items():
        print(aligned([[str(work), "ns/message"], *map(_shown, those)]))
    for pair, ratio in compared.items():
        print(f"{pair}: {times_text(ratio)} times as fast")
    if ending is not Ending.COMPLETE:
        print(f"python_loop: ended early, {ending}", file=sys.stderr)
    if out is not None:
        document = {
            "schema": "sealift-python-loop/2",
            "command": shlex.join(["python", "benches/python_loop.py", *sys.argv[1:]]),
            "machine": machine.describe().as_dict(),
            "ending": ending,
            "rows": [_record(row) for those in found.values() for row in those],
            "ratios": {pair: asdict(ratio) for pair, ratio in compared.items()},
        }
        text = json.dumps(document, indent=2, allow_nan=False) + "\n"
        (out / "python-loop.json").write_text(text, encoding="utf-8")
    return 0


def _record(row: Row) -> dict[str, object]:
    return {
        **row.cell,
        "ns_per_message": asdict(row.ns_per_operation),
        "messages_per_s": NS_PER_S / row.ns_per_operation.median,
        "clean_share": row.clean_share,
        "noise_floor": row.noise_floor,
        "blocks": row.blocks,
        "origin": row.origin,
    }


def _say_absent() -> None:
    for name, module in (("cryptography", pyca), ("numpy", numpy)):
        if module is None:
            print(f"left out: what needs {name}, which is not installed", file=sys.stderr)


def _optional(module: str) -> Any:
    """A module, or None where it isn't installed."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        return None


def _check_seconds(seconds: float) -> None:
    """Refuses a time in which no verdict can be had."""
    if not 0 < seconds < float("inf"):
        raise ValueError(f"{seconds:g} s of measuring; right would be a finite time above 0")
    arms = len(CLASSES) * 3 + 3
    needed_s = BLOCKS_LEAST * (arms + 2) * taken_s(SAMPLE_S_MIN)
    if seconds < needed_s:
        raise ValueError(
            f"{seconds:g} s is too short for {BLOCKS_LEAST} blocks; allow {needed_s:.1f} s"
        )


def _arguments() -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=_folder, metavar="FOLDER", help="folder for python-loop.json")
    parser.add_argument("--seconds", type=float, default=60.0, help="of measuring; 60 by default")
    parser.add_argument("--seed", type=_seed, default=1, help="of bytes, order and bootstrap")
    return parser.parse_args()


def _folder(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("'' is no folder; name one")
    return Path(text)


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 20 and int(text) < 2**64):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 to {2**64 - 1:,}")
    return int(text)


MESSAGES, KEYS = 16_384, 1_024
KEY_BYTES, NONCE_BYTES, TEXT_BYTES, TAG_BYTES = 16, 12, 128, 16
CALLS = 1_000
BLOCKS, BLOCKS_LEAST = 30, blocks_needed(VERDICT_CONFIDENCE)
MANY, SINGLE = "16,384 messages", "one message"
PYCA, SEALIFT = "pyca", "sealift"
PYCA_MODULE = "cryptography.hazmat.primitives.ciphers.aead"
LISTS, COLUMNS, RUST = "seal_batch, lists", "seal_batch, columns", "Engine::run in Rust"
Encrypt = Callable[[bytes, bytes, None], bytes]
numpy, pyca = (_optional(name) for name in ("numpy", PYCA_MODULE))
CLASSES: dict[str, Callable[[bytes], Aead]] = {} if pyca is None else {PYCA: pyca.AESGCM}
CLASSES |= {SEALIFT: AESGCM}
PAIRS: Sequence[tuple[str, str]] = (
    (LISTS, f"{PYCA} loop, new AESGCM"),
    (LISTS, f"{PYCA} loop, kept AESGCM"),
    (COLUMNS, f"{PYCA} loop, new AESGCM"),
    (COLUMNS, f"{PYCA} loop, kept AESGCM"),
    (RUST, COLUMNS),
    (f"{SEALIFT} encrypt", f"{PYCA} encrypt"),
)

if __name__ == "__main__":
    sys.exit(main())
