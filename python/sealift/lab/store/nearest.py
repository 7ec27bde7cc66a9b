"""Which run folder somebody meant who named something else."""

from collections.abc import Iterator
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from sealift.lab.store import names


def instead(path: Path) -> str:
    """What to name instead, as the end of a sentence: the nearest run folder, where there is one.

    Args:
        path: No run folder: a file, a folder of something else, or nothing.
    """
    found = _nearest(path)
    told = f"as in {names.EXAMPLE}" if found is None else f"the nearest is {found}"
    return f"name the folder of a run, {told}"


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
    return max(_runs(Path(names.EXAMPLE).parent), default=None)


def _runs(folder: Path) -> Iterator[Path]:
    try:
        yield from (each for each in islice(folder.iterdir(), LOOKED_AT_MOST) if _is_run(each))
    except OSError:
        return


def _is_run(folder: Path) -> bool:
    try:
        return (folder / names.PLAN).is_file()
    except OSError:
        return False


LOOKED_AT_MOST = 10_000
