"""Runs the command line in this process or in a real one, for tests."""

import os
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner, Result

from sealift.cli.root import app


def invoke(*arguments: str) -> Result:
    """Runs a command here."""
    return CliRunner().invoke(app, arguments, prog_name="sealift")


def process(
    *arguments: str, cwd: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Runs a command as its users do."""
    return subprocess.run(
        [sys.executable, "-m", "sealift", *arguments],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=cwd,
        env=os.environ | variables,
    )
