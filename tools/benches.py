"""Builds a benchmark of a crate as it ships, and finds the program."""

import json
import shutil
import subprocess
from pathlib import Path


def program(root: Path, crate: str, bench: str) -> Path:
    """The program of a benchmark, built with the release profile if it isn't yet.

    Raises:
        OSError: If there is no cargo.
        ValueError: If it doesn't compile.
    """
    command = ["cargo", "bench", "--quiet", "--no-run", "--message-format=json-render-diagnostics"]
    done = subprocess.run(
        [*command, "-p", crate, "--bench", bench],
        cwd=root,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ValueError(f"the benchmark {bench} of {crate} does not compile; see above")
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message.get("target", {}).get("name") == bench and message.get("executable"):
            return Path(message["executable"])
    raise ValueError(f"cargo built no program for the benchmark {bench} of {crate}")


def needed(tool: str, package: str) -> str:
    """The path of a tool.

    Raises:
        ValueError: If it is not installed.
    """
    found = shutil.which(tool)
    if found is None:
        raise ValueError(
            f"there is no {tool} on PATH: install it (Debian: apt-get install {package})"
        )
    return found
