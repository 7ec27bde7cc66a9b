"""The command line: `sealift devices` and `explain`, and what the package sealift-lab adds.

Results go to standard output, everything else to standard error; `sealift.exit_code` says how
commands end.
"""

import os
import sys
from importlib.util import find_spec

from sealift.exit_code import ExitCode


def main() -> None:
    """Runs the command line."""
    if not (find_spec("typer") and find_spec("rich")):
        print("sealift: commands need: python -m pip install 'sealift[cli]'", file=sys.stderr)
        sys.exit(ExitCode.USAGE)
    from sealift.cli.root import app

    try:
        app(prog_name="sealift")
    except OSError as error:
        # Standard output has no name; commands report files by theirs.
        if error.filename is not None:
            raise
        message = f"sealift: {error.strerror or error}; give standard output room"
        print(message, file=sys.stderr)
        sys.exit(ExitCode.NOT_WRITTEN)
    finally:
        _flush()


def _flush() -> None:
    """Python flushes again at exit, and would print a second error of a full standard output."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
