"""Runs, resumes or replays in a process of its own, as the command line does.

python drive_runner.py run FOLDER BUDGET_S RESTARTS FILE... | resume FOLDER | replay SOURCE FOLDER
"""

import sys
from pathlib import Path
from unittest.mock import patch

from sealift.exit_code import ExitCode
from sealift.lab import registry, report, runner, store
from sealift.lab.runner import planning
from sealift.lab.spec import Scope


def main(*words: str) -> int:
    """Does what the words say."""
    try:
        return act(*words).code
    except (store.StoreError, ValueError) as error:
        print(f"sealift: {error}", file=sys.stderr)
        return getattr(error, "code", ExitCode.USAGE)


def act(action: str, path: str, *rest: str) -> runner.Done:
    """One of the three things."""
    if action == "resume":
        return runner.resume(Path(path), after_task=show)
    if action == "replay":
        command = ("replay", path)
        return runner.replay(Path(path), Path(rest[0]), command=command, after_task=show)
    budget_s, restarts, *files = rest
    scope = Scope(quick=True, cores=1, devices=())
    experiments = [registry.load(Path(file)) for file in files]
    ask = runner.Ask(
        experiments=[(each, each.groups(scope)) for each in experiments],
        command=("run", path),
        out=Path(path),
        budget_s=float(budget_s),
        restarts=int(restarts),
        quick=True,
    )
    with patch.object(planning, "BLOCKS", BLOCKS):
        return runner.run(ask, after_task=show)


def show(path: Path) -> None:
    """Writes the page."""
    report.write(store.read(path))


# Enough for a verdict in each of two restarts.
BLOCKS = 24

if __name__ == "__main__":
    # Bundling the scripts that draw takes seconds, and nobody looks at what these draw.
    with patch.object(report, "vega_bundle", lambda: ""):
        sys.exit(main(*sys.argv[1:]))
