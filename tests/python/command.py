"""Runs the command line in this process or in a real one, for tests."""

import contextlib
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from typer.testing import CliRunner, Result

import patient
from sealift.cli import app


def invoke(*arguments: str) -> Result:
    """Runs a command here."""
    return CliRunner().invoke(app, arguments, prog_name="sealift")


def script(main: Callable[[], int], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a script's `main` here."""
    out, err = io.StringIO(), io.StringIO()
    with (
        patch.object(sys, "argv", ["script.py", *arguments]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            code: object = main()
        except SystemExit as ended:
            code = ended.code
    assert isinstance(code, int)
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


def process(
    *arguments: str, cwd: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Runs a command as its users do, on a machine that may be busy."""
    return subprocess.run(
        [sys.executable, PATIENT, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=cwd,
        env=os.environ | variables,
    )


def start(*arguments: str, cwd: Path | None = None, **variables: str) -> subprocess.Popen[str]:
    """Starts a command that is going to be interrupted."""
    return subprocess.Popen(
        [sys.executable, "-m", "sealift", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=os.environ | variables,
        # Whoever is started in the background has Ctrl-C ignored, and hands that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def wait_for_blocks(running: subprocess.Popen[str], least: int, folder: Path) -> None:
    """Until a run that nobody keeps has so many blocks; its TMPDIR is the folder."""
    while sum(file.read_text().count(BLOCK) for file in folder.glob(SAMPLES)) < least:
        assert running.poll() is None
        time.sleep(0.02)


PATIENT = str(Path(patient.__file__))
BLOCK = '"again":true'
SAMPLES = "*/run/samples.jsonl"
