"""What a loop over messages costs in Python, and what its batch replacement costs.

Usage: python benches/python_loop.py [--out FOLDER] [--seconds SECONDS] [--seed N]

Two pieces of work, all arms of each taking turns in one run:

- 8,192 messages of 128 bytes sealed under 1,024 keys: loops over pyca's and Sealift's AESGCM (an
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
import os
import random
import resource
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from sealift import AESGCM, Engine, Session
from sealift.exit_code import ExitCode
from sealift.lab import machine
from sealift.lab.bench import Run, Sample, measure, summarise
from sealift.lab.folder import check_writable
from sealift.lab.grid import MANY_KEYS
from sealift.lab.native import NativeSampler, prepare
from sealift.lab.plan import Cell, Plan, make_plan
from sealift.lab.stats import Interval, keep_clean, speed_ratio
from sealift.lab.table import json_text, table_text
from sealift.lab.units import format_measure
from sealift.lab.workload import ONE_KEY, SEAL_ONLY, of_size


def main() -> int:
    """Measures, prints, and writes what is asked for."""
    arguments = _arguments()
    messages = Messages.make(arguments.seed)
    many, single = many_arms(messages), single_arms(messages)
    batch_work = of_size(TEXT_BYTES, MANY_KEYS, SEAL_ONLY, messages=MESSAGES, seed=arguments.seed)
    cells = (
        Cell(replace(batch_work, name="8,192 messages"), 1, MESSAGES, (*many, RUST)),
        Cell(
            replace(of_size(TEXT_BYTES, ONE_KEY, SEAL_ONLY, messages=1), name="one message"),
            1,
            1,
            tuple(single),
        ),
    )
    try:
        plan = make_plan(cells, budget_s=arguments.seconds, seed=arguments.seed)
        if arguments.out is not None:
            check_writable(arguments.out)
    except ValueError as error:
        print(f"python_loop: {error}", file=sys.stderr)
        return ExitCode.USAGE
    if differing := [*_differing(many), *_differing(single)]:
        print(f"wrong results, nothing is measured: {', '.join(differing)}", file=sys.stderr)
        return ExitCode.WRONG_RESULT
    _say_absent()
    real = next(device.name for device in messages.engine.devices if device.role == "real")
    native = prepare([Cell(batch_work, 1, MESSAGES, (real,))], seed=arguments.seed).sampler
    run = measure(plan, Sampler(plan, many | single, native))
    return _show(run, arguments.out)


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
        engine = Engine.detect()
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
class Timed:
    """An arm: what runs, how many messages that is, and what it gives."""

    run: Callable[[], object]
    messages: int
    sealed: Callable[[], list[bytes]]


def many_arms(of: Messages) -> dict[str, Timed]:
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
    arms = {name: Timed(call, MESSAGES, call) for name, call in runs.items()}
    return arms if numpy is None else arms | {COLUMNS: _columns(of)}


def single_arms(of: Messages) -> dict[str, Timed]:
    """One message at a time under a kept object, a thousand times the same one."""
    nonce, text = of.nonces[0], of.texts[0]
    arms: dict[str, Timed] = {}
    for name, aesgcm in CLASSES.items():
        encrypt = aesgcm(of.keys[0]).encrypt

        def calls(encrypt: Encrypt = encrypt) -> None:
            for _ in range(CALLS):
                encrypt(nonce, text, None)

        def once(encrypt: Encrypt = encrypt) -> list[bytes]:
            return [encrypt(nonce, text, None)]

        arms[f"{name} encrypt"] = Timed(calls, CALLS, once)
    return arms


class Sampler:
    """Times Python arms here and the last arm of the batch in Rust; a `bench.Sampler`."""

    def __init__(self, plan: Plan, arms: dict[str, Timed], native: NativeSampler) -> None:
        """Knows the arms of the plan by number."""
        self._names = [arm.device for arm in plan.arms]
        self._arms = arms
        self._native = native
        self._pass_s: dict[int, float] = {}

    def sample(self, arm: int, seconds: float) -> Sample:
        """Runs an arm for about `seconds`, at least once."""
        if self._names[arm] == RUST:
            return self._native.sample(0, seconds)
        timed = self._arms[self._names[arm]]
        passes = max(1, round(seconds / self._pass_s.get(arm, seconds)))
        steal_before_s, usage = _steal_s(), resource.getrusage(resource.RUSAGE_THREAD)
        cpu_ns, start_ns = time.thread_time_ns(), time.perf_counter_ns()
        for _ in range(passes):
            timed.run()
        ns = time.perf_counter_ns() - start_ns
        cpu_share = min(1.0, (time.thread_time_ns() - cpu_ns) / ns)
        later = resource.getrusage(resource.RUSAGE_THREAD)
        steal_ns = round((_steal_s() - steal_before_s) * 1e9)
        self._pass_s[arm] = ns / passes / 1e9
        messages = passes * timed.messages
        switches = later.ru_nivcsw - usage.ru_nivcsw
        return Sample(ns, messages, messages * TEXT_BYTES, switches, cpu_share, steal_ns)


def ratios(run: Run) -> dict[str, Interval]:
    """How many times as fast the first of each pair is, paired by block: median and 95 %."""
    found = {}
    for fast, slow in PAIRS:
        for cell, blocks in zip(run.plan.cells, run.blocks, strict=True):
            if blocks and fast in cell.devices and slow in cell.devices:
                places = (cell.devices.index(fast), cell.devices.index(slow))
                clean = [all(block[place].flags.clean for place in places) for block in blocks]
                used = [blocks[at] for at in keep_clean(clean).blocks]
                times = [[block[place].ns_per_message for block in used] for place in places]
                found[f"{fast} / {slow}"] = speed_ratio(*times, seed=run.plan.seed)
    return found


def _columns(of: Messages) -> Timed:
    texts = numpy.frombuffer(b"".join(of.texts), numpy.uint8).reshape(MESSAGES, TEXT_BYTES)
    nonces = numpy.frombuffer(b"".join(of.nonces), numpy.uint8).reshape(MESSAGES, NONCE_BYTES)
    sessions = numpy.array([of.sessions[key].id for key in of.key_of], numpy.uint64)
    out, tags = numpy.empty_like(texts), numpy.empty((MESSAGES, TAG_BYTES), numpy.uint8)

    def columns() -> object:
        return of.engine.seal_batch(sessions, nonces, texts, out=out, tags=tags)

    def sealed() -> list[bytes]:
        columns()
        return [bytes(row) for row in numpy.hstack([out, tags])]

    return Timed(columns, MESSAGES, sealed)


def _differing(arms: dict[str, Timed]) -> list[str]:
    first, *others = arms
    right = arms[first].sealed()
    return [f"{other} differs from {first}" for other in others if arms[other].sealed() != right]


def _show(run: Run, out: Path | None) -> int:
    result = summarise(run)
    compared = ratios(run)
    print(table_text(result.rows))
    for pair, ratio in compared.items():
        shown = (format_measure(value) for value in (ratio.median, ratio.low, ratio.high))
        print("{}: {} times as fast [{}..{}]".format(pair, *shown))
    if result.note:
        print(result.note, file=sys.stderr)
    if out is not None:
        document = json.loads(json_text(result, machine.describe().as_dict())) | {
            "schema": "sealift-python-loop/1",
            "command": shlex.join(["python", "benches/python_loop.py", *sys.argv[1:]]),
            "ratios": {pair: asdict(ratio) for pair, ratio in compared.items()},
        }
        (out / "python-loop.json").write_text(json.dumps(document, indent=2) + "\n")
    return 0


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


def _steal_s() -> float:
    fields = Path("/proc/stat").read_text(encoding="ascii").split(maxsplit=9)
    return int(fields[8]) / TICKS_PER_S


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


MESSAGES, KEYS = 8_192, 1_024
KEY_BYTES, NONCE_BYTES, TEXT_BYTES, TAG_BYTES = 16, 12, 128, 16
CALLS = 1_000
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
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
