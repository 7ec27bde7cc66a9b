"""Measures experiments into a new run folder, with the standard library and the extension alone.

    python -m sealift_lab.measure aes-gcm-by-size --processes 5 --blocks 12 --out run

The folder can be judged elsewhere: `sealift lab show run`. Exit codes: 0 done, 2 wrong usage, 3
nothing could be measured, or only devices that are for tests, 4 something was computed wrong, 5 not
everything could be written, 6 a part crashed or raised an error and the others were measured, 130
interrupted. OpenCL on this processor is for tests: experiments with nothing else are named.
"""

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from sealift.errors import SealiftError
from sealift.exit_code import ExitCode
from sealift_lab.experiments import registry
from sealift_lab.experiments.survey import this_scope
from sealift_lab.machine.sensors import chosen_devices, surroundings
from sealift_lab.measure.plan import make_plan
from sealift_lab.measure.process import GroupJob
from sealift_lab.measure.watch_processes import FOR_TESTS, Parent, answering
from sealift_lab.measure.write_folder import NotWrittenError, create, hold_new, write_ending
from sealift_lab.model.arm import Skip
from sealift_lab.model.run import REPORTS, SAMPLES, Ending, Plan, PlannedExperiment


def main(words: Sequence[str] | None = None) -> int:
    """Measures what the command line names; returns the exit code."""
    options = _parser().parse_args(words)
    try:
        scope = this_scope(quick=options.quick, threads=options.threads)
        scope = replace(scope, devices=chosen_devices(options.device, scope.devices))
        chosen = [(each, each.groups(scope)) for each in registry.select(options.experiment)]
        plan = make_plan(
            chosen,
            command=["python", "-m", PROGRAM, *(sys.argv[1:] if words is None else words)],
            budget_s=0,
            processes=options.processes,
            blocks=options.blocks,
            seed=options.seed,
            quick=options.quick,
            threads=options.threads,
        )
        if empty := [each.name for each, groups in chosen if not groups]:
            _say(f"without cells for this machine and these options: {', '.join(empty)}")
        with hold_new(options.out) as lock:
            return _Session(options.out, lock, plan).run()
    except ValueError as error:
        _say(f"{PROGRAM}: {error}")
        return ExitCode.NOT_WRITTEN if isinstance(error, NotWrittenError) else ExitCode.USAGE
    except (SealiftError, Skip) as error:
        # A device that was named is not here.
        _say(f"{PROGRAM}: {error}")
        return ExitCode.NOTHING_RAN
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED


class _Session:
    def __init__(self, folder: Path, lock: int, plan: Plan) -> None:
        self._folder, self._plan, self._begin_s = folder, plan, time.monotonic()
        self._parent = Parent(folder, lock, plan, _say)
        self._is_wrong = False
        self._measured: set[str] = set()

    def run(self) -> int:
        """Writes the plan, measures, writes ending.json and returns the exit code."""
        with self._parent.signals():
            create(self._folder, self._plan, surroundings())
            with suppress(NotWrittenError), self._parent.writing():
                for number, planned in enumerate(self._plan.experiments, 1):
                    for process in range(self._plan.processes if planned.is_timed else 1):
                        if not self._parent.is_ending:
                            self._measure(number, planned, process)
                        if self._parent.has_hung:
                            break
            ending, code = self._ending()
            _say(f"{ending.ending}: {ending.reason}".removesuffix(": "))
            write_ending(self._folder, ending)
            return code

    def _measure(self, number: int, planned: PlannedExperiment, process: int) -> None:
        groups = list(self._groups(planned))
        if not groups:
            return
        of = f"process {process + 1} of {self._plan.processes}" if planned.is_timed else "computing"
        place = f"experiment {number} of {len(self._plan.experiments)}"
        passed_s = time.monotonic() - self._begin_s
        _say(f"{planned.name}, {of}; {place}, after {passed_s:.0f} s")
        for event in self._parent.events(planned, process, groups):
            match event:
                case {"event": "wrong"}:
                    self._is_wrong = True
                case {"event": "block"}:
                    self._measured.add(planned.name)

    def _groups(self, planned: PlannedExperiment) -> Iterator[GroupJob]:
        blocks: Counter[int] = Counter()
        references: dict[int, int] = {}
        for sample in self._lines(SAMPLES):
            if sample["experiment"] == planned.name:
                group, arm = sample["group"], sample["arm"]
                if sample["block"] == 0:
                    references[group] = min(arm, references.get(group, arm))
                blocks[group] += sample["again"]
        for group, cells in enumerate(planned.groups):
            reference, out = references.get(group), self._parent.excluded
            arms = [arm for arm in range(len(cells)) if (planned.name, group, arm) not in out]
            if arms and (reference is None or reference in arms):
                yield GroupJob(group, arms, blocks[group], planned.blocks, reference)

    def _lines(self, name: str) -> Iterator[Any]:
        with suppress(FileNotFoundError), (self._folder / name).open("rb") as file:
            yield from map(json.loads, file)

    def _ending(self) -> tuple[Ending, int]:
        parent = self._parent
        if ending := parent.ending:
            is_signal = ending.ending == "interrupted"
            return ending, ExitCode.INTERRUPTED if is_signal else ExitCode.NOT_WRITTEN
        if failed := [*parent.failures, *parent.ever_raised]:
            code = ExitCode.WRONG_RESULT if self._is_wrong else ExitCode.PART_FAILED
            return Ending("failed", failed[0]), code
        if self._is_wrong:
            return Ending("complete"), ExitCode.WRONG_RESULT
        computed = (each.name for each in self._plan.experiments if not each.is_timed)
        reports = ((line["experiment"], line["facts"]) for line in self._lines(REPORTS))
        answered = answering(self._measured, computed, reports)
        if for_tests := sorted(self._measured - answered):
            _say(FOR_TESTS.format(", ".join(for_tests)))
        return Ending("complete"), 0 if answered else ExitCode.NOTHING_RAN


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _thread_counts(text: str) -> tuple[int, ...]:
    if re.fullmatch(r"[1-9]\d{0,5}(,[1-9]\d{0,5})*", text, re.ASCII):
        return tuple(map(int, text.split(",")))
    raise argparse.ArgumentTypeError(f"{text!r}; right would be thread counts, as in 1,2,4")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python -m {PROGRAM}", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("experiment", nargs="*", help="names, ids, patterns, or files of one's own; all if none")
    add("--out", type=Path, required=True, metavar="FOLDER", help="of the run; empty or not there")
    add("--processes", type=int, default=5, help="in which each group is measured")
    add("--blocks", type=int, default=12, help="of each group in each process")
    device = "before the devices that are found; of GPUs only these, if one is named"
    add("--device", default="", metavar="LIST", help=device)
    add("--threads", type=_thread_counts, default=(), metavar="N,...", help="thread counts")
    add("--quick", action="store_true", help="only the cells of a quick run")
    add("--seed", type=int, default=1, help="of everything that is drawn")
    return parser


PROGRAM = "sealift_lab.measure"

if __name__ == "__main__":
    sys.exit(main())
