"""Builds a benchmark of a crate as it ships, and runs tools on the program."""

import json
import shutil
import subprocess
from pathlib import Path


def program(root: Path, crate: str, bench: str) -> Path:
    """The program of a benchmark, built with the release profile if it isn't yet."""
    command = ["cargo", "bench", "--quiet", "--no-run", "--message-format=json-render-diagnostics"]
    for line in output([*command, "-p", crate, "--bench", bench], root).splitlines():
        message = json.loads(line)
        if message.get("target", {}).get("name") == bench and message.get("executable"):
            return Path(message["executable"])
    raise ValueError(f"cargo built no program for the benchmark {bench} of {crate}")


def require(tool: str, package: str) -> str:
    """The path of a tool."""
    if found := shutil.which(tool):
        return found
    raise ValueError(f"there is no {tool} on PATH: install it (Debian: apt-get install {package})")


def output(command: list[str], folder: Path | None = None) -> str:
    """What a command prints."""
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise ValueError(f"{command[0]} ended with {done.returncode}; see above")
    return done.stdout
