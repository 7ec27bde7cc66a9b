"""The run folder: what was planned, what was measured, and how it ended. Nothing else is kept.

    plan.json       `Plan`: written once, before anything is measured
    machine.json    `Surroundings`: the machine, its devices and its sensors
    samples.jsonl   a sample a line; the lines of a block are written at once
    verify.jsonl    what was checked, a line for each arm and restart
    sensors.jsonl   `Reading`: once a second
    notes.jsonl     what went wrong meanwhile, in sentences
    summary.csv     made of the files above, again at any time
    ending.json     `Ending`: without it the run was killed, or still goes on
    published.json  what experiments of one's own said of published figures
    report.html     made of the files above, the ending among them; again at any time
    run.lock        held while somebody writes
    reserve.bin     room for the last files when the disk is full; gone when the run has ended

**Blocks.** A line of samples.jsonl names its arm by its place in the planned group. A block ends
with the line whose `again` is true: the second sample of the arm that is doubled, in each block
another one. The *reference* is the first arm of the group, or, where that was skipped, the first
one that was there: the lowest in the first block, with a sample in every one. Another arm that was
skipped or wrong has no line in a block, and None in its place in a `Block`. Blocks of a group are
numbered through, over all restarts.

**Restarts.** Every process that measures an experiment has a number of its own, from 0; a resume
begins with the next one.

**Damage.** A last line without its end and a last block without its doubled sample are what a
killed process leaves: they are left out, `Run.notes` says so, and a resume measures them again.
Everything else that doesn't fit is a `StoreError` that names file and line.
"""

from sealift.lab.store.errors import NotWrittenError, StoreError
from sealift.lab.store.files import write_file
from sealift.lab.store.nearest import instead
from sealift.lab.store.plan import SCHEMA, Plan, PlannedExperiment
from sealift.lab.store.published import check_published, write_published
from sealift.lab.store.reading import read, read_plan
from sealift.lab.store.run import Ending, How, Reading, Run, Surroundings
from sealift.lab.store.writing import (
    Journal,
    Reserve,
    check_new,
    create,
    default_path,
    hold,
    hold_new,
    mend,
    resume_command,
    write_ending,
    write_summary,
)

__all__ = [
    "SCHEMA",
    "Ending",
    "How",
    "Journal",
    "NotWrittenError",
    "Plan",
    "PlannedExperiment",
    "Reading",
    "Reserve",
    "Run",
    "StoreError",
    "Surroundings",
    "check_new",
    "check_published",
    "create",
    "default_path",
    "hold",
    "hold_new",
    "instead",
    "mend",
    "read",
    "read_plan",
    "resume_command",
    "write_ending",
    "write_file",
    "write_published",
    "write_summary",
]
