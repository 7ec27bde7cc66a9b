"""Runs the command `peers` on a case, and parses its output."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from peer_cases import Case
from peer_table import OWN_ARMS, Measured, block_of
from sealift.exit_code import ExitCode
from sealift.lab.spec import Sample
from sealift.lab.workload import Keys, Operation, Workload


class Bench:
    """The command that takes the samples."""

    def __init__(self, binary: Path, *, core: int | None = None, seed: int = 1) -> None:
        """Keeps what to run.

        Args:
            binary: The command.
            core: The core to keep to; the last that may be used when left out.
            seed: Of bytes and order.
        """
        self._binary = binary
        self._core = max(os.sched_getaffinity(0)) if core is None else core
        self._seed = seed

    def peers(self) -> dict[str, dict[str, Any]]:
        """Every library: what it is, or why it is absent."""
        command = [str(self._binary), "--list"]
        listed = subprocess.run(command, capture_output=True, text=True, check=True)
        documents = map(json.loads, listed.stdout.splitlines())
        return {each.get("peer") or each["absent"]: each for each in documents}

    def run(self, case: Case, peers: Sequence[str], seconds: float) -> Measured:
        """Takes the samples of a case.

        Raises:
            SystemExit: If the command fails, with the exit code for that.
        """
        command = self._command(case, peers, seconds)
        ran = subprocess.run(
            command,
            input="\n".join(messages(case.workload)),
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        if ran.returncode:
            code = CODES.get(ran.returncode, ExitCode.PART_FAILED)
            ended = f"ended with {ran.returncode}"
            print(f"peers: {case.name} failed, {ended}: {shlex.join(command)}", file=sys.stderr)
            raise SystemExit(code)
        return read(case, map(json.loads, ran.stdout.splitlines()))

    def _command(self, case: Case, peers: Sequence[str], seconds: float) -> list[str]:
        regime = case.workload.regime
        keys = str(regime.sessions) if regime.keys is Keys.SESSIONS else regime.keys.value
        return [
            str(self._binary),
            *(word for arm in (*OWN_ARMS, *peers) for word in ("--arm", arm)),
            *("--keys", keys, "--batch", str(case.batch), "--seconds", f"{seconds:.3f}"),
            *("--seed", str(self._seed), "--cores", str(self._core)),
        ]


def messages(workload: Workload) -> Iterator[str]:
    """The lines that the command reads: those that are alike and follow each other are one."""
    columns = workload.columns()
    every = zip(
        columns.operation,
        columns.key_len,
        columns.nonce_len,
        columns.aad_len,
        columns.text_len,
        columns.tag_len,
        strict=True,
    )
    for (operation, *lengths), alike in groupby(every):
        word = Operation(operation).name.lower()
        yield " ".join(map(str, (word, *lengths, sum(1 for _ in alike))))


def read(case: Case, documents: Iterator[dict[str, Any]]) -> Measured:
    """The samples of a case; a block that isn't complete is left out."""
    arms: list[str] = []
    absent: dict[str, str] = {}
    blocks: dict[int, dict[int, list[Sample]]] = {}
    for each in documents:
        if "arm" in each:
            arms.append(each["arm"])
        elif "absent" in each:
            absent[each["absent"]] = each["reason"]
        else:
            number, place = each.pop("block"), each.pop("of")
            blocks.setdefault(number, {}).setdefault(place, []).append(Sample(**each))
    complete = (block_of(samples, len(arms)) for samples in blocks.values())
    return Measured(case, tuple(arms), tuple(filter(None, complete)), absent)


# Of the command; below 0 it was ended by a signal.
CODES = {1: ExitCode.WRONG_RESULT, 2: ExitCode.USAGE}
