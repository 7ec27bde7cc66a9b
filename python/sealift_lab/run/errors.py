"""What can be wrong with a run folder, and which folder was meant instead."""

from collections.abc import Iterator
from contextlib import suppress
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import ClassVar

from sealift.exit_code import ExitCode
from sealift_lab.model.run import PLAN


class FolderError(ValueError):
    """A folder that can't be read, or not be taken for a run; says why, and what to try."""

    code: ClassVar[ExitCode] = ExitCode.USAGE


def name_instead(path: Path) -> str:
    """What to name instead of a path that is no run folder, as the end of a sentence."""
    nearest = _nearest(path)
    hint = f"as in {EXAMPLE}" if nearest is None else f"the nearest is {nearest}"
    return f"name the folder of a run, {hint}"


def _nearest(path: Path) -> Path | None:
    """The run that a file belongs to, one inside a folder, one of a like name, or the newest."""
    is_folder = path.is_dir()
    if not is_folder and _is_run(path.parent):
        return path.parent
    if is_folder and (inside := sorted(_runs(path))):
        return inside[-1]
    beside = {each.name: each for each in _runs(path.parent)}
    if alike := get_close_matches(path.name, beside, 1):
        return beside[alike[0]]
    return max(_runs(EXAMPLE.parent), default=None)


def _runs(folder: Path) -> Iterator[Path]:
    with suppress(OSError):
        yield from filter(_is_run, islice(folder.iterdir(), LISTED_MAX))


def _is_run(folder: Path) -> bool:
    with suppress(OSError):
        return (folder / PLAN).is_file()
    return False


EXAMPLE = Path("runs/2026-11-21T142100Z")
LISTED_MAX = 10_000
