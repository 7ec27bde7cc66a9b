"""What the command line returns to the shell."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Besides 0, which is: done."""

    SLOWER = 1
    """`sealift lab compare --fail-on slower` found something slower."""
    USAGE = 2
    NOTHING_RAN = 3
    """Nothing could be measured; `sealift check` found a device absent; `sealift lab compare` had
    nothing to compare or, with --fail-on, nothing that could be judged."""
    WRONG_RESULT = 4
    NOT_WRITTEN = 5
    PART_FAILED = 6
    """A part of `sealift lab run` crashed or raised an error; the others were measured."""
    DPU_FAULT = 7
    """A tasklet of `sealift dpu run` faulted, or still ran when its cycles were used up."""
    INTERRUPTED = 130
    CLOSED_PIPE = 141
    """Nobody reads standard output any more, as after `| head -1`."""
