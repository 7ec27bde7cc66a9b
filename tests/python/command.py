"""Runs the command line in this process or in a real one, for tests."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner, Result

from sealift.cli import app


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
        timeout=120,
        check=False,
        cwd=cwd,
        env=os.environ | variables,
    )


def start(*arguments: str, cwd: Path | None = None) -> subprocess.Popen[str]:
    """Starts a command that is going to be interrupted."""
    return subprocess.Popen(
        [sys.executable, "-m", "sealift", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        # Whoever is started in the background has Ctrl-C ignored, and hands that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
