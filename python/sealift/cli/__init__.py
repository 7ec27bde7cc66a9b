"""The command line: `sealift devices`, `check` and `explain`, and what sealift-lab adds.

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

    code: int | str | None = None
    stdout = sys.stdout
    try:
        app(prog_name="sealift")
    except SystemExit as end:
        # Where nobody reads standard output any more, typer replaces it, and ends with 1.
        code = end.code if sys.stdout is stdout else ExitCode.CLOSED_PIPE
    except OSError as error:
        # Standard output has no name; commands report files by theirs.
        if error.filename is not None:
            raise
        code = ExitCode.NOT_WRITTEN
        message = f"sealift: {error.strerror or error}; give standard output room"
        print(message, file=sys.stderr)
    for stream in filter(None, (sys.__stdout__, sys.__stderr__)):
        try:
            stream.flush()
        except OSError:
            # Python flushes again at exit, and would print a second error.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(code)
