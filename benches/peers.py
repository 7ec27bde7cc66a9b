"""Compares Engine::run and the kernels with other libraries, case by case, in a run folder.

Usage: python benches/peers.py --out FOLDER [--case NAME]... [--seconds SECONDS] [--processes N]
                               [--core N] [--binary FILE] [--seed N] [--list]

A case is some messages, under one key, many or a fresh key each. Every arm works the same messages
in turn, in processes kept to one core:

- the engine: Engine::detect() with its default policy and devices, all messages in one call; in
  the case for it Cipher, one message at a time;
- the kernels alone, with expanded keys and checked columns;
- ports: the vector instructions of AES-GCM alone, without memory: the peak of this processor;
- memcpy: texts copied by the C library, where no cache holds them;
- every library that is found, called for each message, with keys expanded beforehand: AWS-LC, ring,
  RustCrypto and graviola are linked, BoringSSL, OpenSSL, Intel's IPP and ipsec-mb are opened.

All outputs are compared with those of two other implementations before anything is timed. The
command `peers` takes samples in blocks as the lab's, which judges them: `sealift lab show FOLDER`.

--case NAME     that case only, or all whose names begin so; may be repeated. Those that begin with
                memory- work up to 750 MB of messages, those with cell- are 384; only when named
--seconds S     of measuring all cases; 240 by default, 8 blocks a process are taken anyway
--processes N   of each case; 8 by default: code and data lie elsewhere in each
--core N        the core to keep to; the last that may be used by default
--binary FILE   the command `peers`, as `make bench-peers` builds it
--list          prints the names of the cases, and measures nothing
"""

import argparse
import json
import math
import os
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import groupby, product
from pathlib import Path
from typing import Any

import sealift
from peer_cases import CIPHER, ENGINE, Case, cases
from sealift.exit_code import ExitCode
from sealift_lab.claim.claims import finding
from sealift_lab.experiments.document_003.messages import NAMES
from sealift_lab.judge.rows import results
from sealift_lab.machine.facts import describe
from sealift_lab.measure.write_folder import (
    Journal,
    NotWrittenError,
    create,
    hold_new,
    write_ending,
)
from sealift_lab.model.experiment import Axis
from sealift_lab.model.run import (
    REPORTS,
    SAMPLES,
    SCHEMA,
    DeviceState,
    Ending,
    Plan,
    PlannedExperiment,
    ReportLine,
    SampleLine,
    Surroundings,
)
from sealift_lab.model.workload import Keys, Operation, Workload
from sealift_lab.run.read_folder import Run


def main() -> int:
    """Measures into a run folder, and prints what was found."""
    arguments = _arguments()
    try:
        chosen = _chosen(arguments.case)
        if arguments.list:
            print("\n".join(f"{case.name}: {case.title}" for case in chosen))
            return 0
        _check(arguments)
        with hold_new(arguments.out):
            ending = _measure(arguments, chosen)
    except NotWrittenError as error:
        print(f"peers: {error}", file=sys.stderr)
        return ExitCode.NOT_WRITTEN
    except ValueError as error:
        print(f"peers: {error}", file=sys.stderr)
        return ExitCode.USAGE
    run = Run(arguments.out)
    print(finding(run.plan.experiments[0], results(run)[NAME]))
    print(f"sealift lab show {arguments.out} shows every case")
    return ExitCode.INTERRUPTED if ending == "interrupted" else 0


def message_lines(workload: Workload) -> Iterator[str]:
    """The lines that the command reads: those that are alike and follow each other are one."""
    columns = workload.columns()
    every = zip(*(columns[name] for name in LINE), strict=True)
    for (operation, *lengths), alike in groupby(every):
        word = Operation(operation).name.lower()
        yield " ".join(map(str, (word, *lengths, sum(1 for _ in alike))))


def plan_of(
    chosen: Sequence[Case], names: Mapping[str, str], arguments: argparse.Namespace
) -> Plan:
    """The plan of a run: a group for each case, its arms in the order of their names."""
    experiment = PlannedExperiment(
        name=NAME,
        compare=ARM,
        groups=[[{**case.cell, ARM: arm} for arm in _arms_of(case, names)] for case in chosen],
        blocks=BLOCKS_LEAST,
        title="Sealift and other libraries",
        question="Is Sealift or another library faster?",
        operation="message",
        axes=[Axis(name, title) for name, title in AXES.items()],
        preferred={"kind": "sealed", "size_bytes": 128, "keys": "sessions:1024"},
        names={**{str(key): name for key, name in NAMES.items()}, CIPHER: "Cipher", **names},
    )
    return Plan(
        schema=SCHEMA,
        version=sealift.__version__,
        created=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        command=["python", "benches/peers.py", *sys.argv[1:]],
        seed=arguments.seed,
        budget_s=arguments.seconds,
        processes=arguments.processes,
        experiments=[experiment],
    )


def sample_lines(
    documents: Sequence[Mapping[str, Any]],
    arms: Sequence[str],
    group: int,
    process: int,
    first_block: int,
) -> list[SampleLine]:
    """The samples of one process in the lab's form; a block that isn't complete is left out."""
    present = [arms.index(each["arm"]) for each in documents if "arm" in each]
    samples = [each for each in documents if "block" in each]
    lines: list[SampleLine] = []
    number = first_block
    for _, block in groupby(samples, key=lambda each: each["block"]):
        taken: dict[int, list[Mapping[str, Any]]] = {}
        for each in block:
            taken.setdefault(present[each["of"]], []).append(each)
        twice = [arm for arm, of in taken.items() if len(of) == 2]
        if len(taken) < len(present) or len(twice) != 1:
            continue
        order = [(arm, taken[arm][0], False) for arm in sorted(taken)]
        order.append((twice[0], taken[twice[0]][1], True))
        lines += [
            SampleLine(NAME, group, arm, again, process, number, **{n: each[n] for n in TIMING})
            for arm, each, again in order
        ]
        number += 1
    return lines


def _measure(arguments: argparse.Namespace, chosen: Sequence[Case]) -> str:
    """Each case once in each round, so that its processes lie apart in time."""
    folder, libraries = arguments.out, libraries_of(arguments.binary)
    there = {name: f"{name} {each['version']}" for name, each in libraries.items() if PEER in each}
    names = {**OWN_ARMS, **there, MEMCPY: "texts copied"}
    ending = "complete"
    plan = plan_of(chosen, names, arguments)
    create(folder, plan, Surroundings(describe(), [*map(_device, libraries.items())]))
    blocks = [0] * len(chosen)
    with Journal(folder / SAMPLES) as samples, Journal(folder / REPORTS) as reports:
        try:
            for process, (group, case) in product(range(arguments.processes), enumerate(chosen)):
                print(f"[{process + 1}/{arguments.processes}] {case.title}", file=sys.stderr)
                arms = _arms_of(case, names)
                documents = _run_case(arguments, case, arms, process, len(chosen))
                lines = sample_lines(documents, arms, group, process, blocks[group])
                blocks[group] = lines[-1].block + 1 if lines else blocks[group]
                samples.add(map(asdict, lines))
                reports.add(map(asdict, _reports(documents, arms, group, process)))
        except KeyboardInterrupt:
            ending = "interrupted"
    write_ending(folder, Ending(ending))
    return ending


def _arms_of(case: Case, names: Iterable[str]) -> list[str]:
    """Who takes part: the case's arm of Sealift is first, and memcpy, if it takes part, last."""
    there = (arm for arm in names if arm != MEMCPY or case.is_from_memory)
    return [case.sealift if arm == ENGINE else arm for arm in there]


def libraries_of(binary: Path) -> Mapping[str, Mapping[str, Any]]:
    """Every library by name: what it is, or why it is absent."""
    listed = subprocess.run([str(binary), "--list"], capture_output=True, text=True, check=True)
    documents = map(json.loads, listed.stdout.splitlines())
    return {each.get(PEER) or each["absent"]: each for each in documents}


def _run_case(
    arguments: argparse.Namespace, case: Case, arms: Sequence[str], process: int, cases: int
) -> list[Mapping[str, Any]]:
    """Measures a case in one process: its arms, those that are absent, and samples.

    Raises:
        SystemExit: If the command fails, with the exit code for that.
    """
    regime = case.workload.regime
    keys = str(regime.sessions) if regime.keys is Keys.SESSIONS else regime.keys.value
    seconds = arguments.seconds / cases / arguments.processes
    core = max(os.sched_getaffinity(0)) if arguments.core is None else arguments.core
    command = [str(arguments.binary)]
    command += [word for arm in arms for word in ("--arm", arm)]
    command += ["--keys", keys, "--batch", str(case.batch), "--seconds", f"{seconds:.3f}"]
    command += ["--seed", str(arguments.seed + process), "--cores", str(core)]
    text = "\n".join(message_lines(case.workload))
    ran = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=False)
    if ran.returncode:
        failed = f"ended with {ran.returncode}: {shlex.join(command)}"
        print(f"peers: {case.name} {failed}", file=sys.stderr)
        raise SystemExit(CODES.get(ran.returncode, ExitCode.PART_FAILED))
    return [json.loads(line) for line in ran.stdout.splitlines()]


def _reports(
    documents: Sequence[Mapping[str, Any]], arms: Sequence[str], group: int, process: int
) -> Iterator[ReportLine]:
    for each in documents:
        if "arm" in each:
            facts = {name: each[name] for name in ("detail", "checked_against")}
            # Parts of the engine are no libraries that one could choose.
            facts |= {"role": "limit"} if each["arm"] in LIMITS else {}
            yield ReportLine(NAME, group, arms.index(each["arm"]), process, facts)
        elif "absent" in each:
            at = arms.index(each["absent"])
            yield ReportLine(NAME, group, at, process, {}, skipped=each["reason"])


def _device(library: tuple[str, Mapping[str, Any]]) -> DeviceState:
    """A library in the form of a device: present with its version and date, or absent."""
    name, facts = library
    if "reason" in facts:
        return DeviceState(name, NAME, "absent", reason=facts["reason"])
    detail = facts["detail"].partition(" (r0x")[0]
    in_place = "; in place, so a copy is in its time" if facts["in_place"] else ""
    released = f"released {facts['released']}" if facts["released"] else "release date unknown"
    return DeviceState(name, NAME, "present", detail=f"{detail}{in_place}", summary=released)


def _check(arguments: argparse.Namespace) -> None:
    """Refuses what can't be measured, before anything is."""
    seconds, allowed = arguments.seconds, sorted(os.sched_getaffinity(0))
    if not 0 < seconds < math.inf:
        raise ValueError(f"{seconds:g} s of measuring; right would be a finite time above 0")
    if arguments.processes < 1:
        raise ValueError(f"{arguments.processes} processes; right would be 1 or more")
    if not 0 <= arguments.seed < 2**63:
        raise ValueError(f"{arguments.seed} is no seed; right would be 0 to {2**63 - 1:,}")
    if arguments.out is None:
        raise ValueError("no folder for the run; name one with --out")
    if not os.access(arguments.binary, os.X_OK):
        raise ValueError(f"{arguments.binary} is no executable; `make bench-peers` builds it")
    if arguments.core not in (None, *allowed):
        raise ValueError(f"core {arguments.core} may not be used; right would be one of {allowed}")


def _chosen(names: Sequence[str]) -> tuple[Case, ...]:
    every = cases()
    for name in names:
        if not any(case.name.startswith(name) for case in every):
            known = ", ".join(case.name for case in every)
            raise ValueError(f"there is no case {name!r}; there are {known}")
    if not names:
        return tuple(case for case in every if case.is_usual)
    return tuple(case for case in every if case.name.startswith(tuple(names)))


def _arguments() -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage=argparse.SUPPRESS,
    )
    parser.add_argument("--case", action="append", default=[], help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=240.0, help=argparse.SUPPRESS)
    parser.add_argument("--processes", type=int, default=8, help=argparse.SUPPRESS)
    parser.add_argument("--core", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--binary", type=Path, default=BINARY, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--list", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


NAME, PEER, ARM = "peers", "peer", "implementation"
LINE = ("operation", "key_len", "nonce_len", "aad_len", "text_len", "tag_len")
MEMCPY = "memcpy"
LIMITS = ("kernels", "ports", MEMCPY)
OWN_ARMS = {ENGINE: "Engine::run", "kernels": "kernels", "ports": "instructions alone"}
AXES = {
    "kind": "kind",
    "work": "work",
    "size_bytes": "mean size of a message, bytes",
    "keys": "keys",
    "batch": "messages in a call",
    ARM: "implementation",
}
TIMING = (
    *("ns", "operations", "bytes"),
    *("involuntary_switches", "cpu_share", "steal_ns", "clock_ghz"),
)
# As the command has it.
BLOCKS_LEAST = 8
BINARY = Path(__file__).parent.parent / "target" / "peers" / "release" / "peers"
# Of the command; below 0 it was ended by a signal.
CODES = {1: ExitCode.WRONG_RESULT, 2: ExitCode.USAGE}

if __name__ == "__main__":
    sys.exit(main())
