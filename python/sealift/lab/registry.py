"""Finds experiments: those of the package, by name, document or pattern, and files of one's own."""

import importlib.util
import pkgutil
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from sealift.lab import experiments
from sealift.lab.gpus.cells import DRIVERS
from sealift.lab.spec import Experiment


@lru_cache(maxsize=1)
def all_experiments() -> tuple[Experiment, ...]:
    """The experiments of the package, in the order of their files, where they have no other."""
    names = sorted(module.name for module in pkgutil.iter_modules(experiments.__path__))
    made = {name: import_module(f"{experiments.__name__}.{name}").EXPERIMENT for name in names}
    ordered = sorted(made, key=lambda name: (name.partition("_")[0], made[name].order))
    return tuple(made[name] for name in ordered)


def find(name: str, file: Path | None = None) -> Experiment:
    """The experiment of a name or a document's id.

    Args:
        name: As `aes-gcm-by-threads` or `003-F5`.
        file: The file of one's own that it stands in; None for those of the package.

    Raises:
        ValueError: If there is none; with the nearest names. Or if the file can't be used; with
            the line.
    """
    if file is None:
        return _one(name)
    experiment = load(file)
    if experiment.name != name:
        raise ValueError(f"{file} holds the experiment {experiment.name!r}, not {name!r}")
    return experiment


def select(patterns: Sequence[str]) -> tuple[Experiment, ...]:
    """The experiments that are asked for, each once, in the order of the patterns.

    Args:
        patterns: Names (`aes-gcm-by-threads`), ids (`003-F5`), documents (`003`), patterns of
            names or ids (`aes-*`, `003-T?`), `all`, or paths to files of one's own (`./mine.py`).
            None of them stands for all.

    Raises:
        ValueError: If a pattern fits nothing; with the nearest names. Or if a file can't be used;
            with the line. Or if two experiments have one name.
    """
    chosen: dict[str, Experiment] = {}
    for pattern in patterns or ("all",):
        for experiment in _fitting(pattern):
            known = chosen.setdefault(experiment.name, experiment)
            if known.file != experiment.file:
                raise ValueError(
                    f"two experiments are called {experiment.name!r}, in {known.file} and "
                    f"{experiment.file}; rename one"
                )
    return tuple(chosen.values())


def load(file: Path) -> Experiment:
    """Runs a file of one's own and takes its EXPERIMENT.

    It may import files beside it.

    Args:
        file: Python source.

    Raises:
        ValueError: If it is not there, has no EXPERIMENT, or fails; with its line. Or if it is
            called as one of the package.
    """
    file = file.resolve()
    experiment = getattr(_run(file), "EXPERIMENT", None)
    if experiment is None:
        raise ValueError(f"{file} defines no EXPERIMENT; end it with {ENDING}, as {SHOWN} shows")
    if not isinstance(experiment, Experiment):
        raise ValueError(
            f"{file}: its EXPERIMENT is of type {type(experiment).__name__}; right would be a "
            "sealift.lab.Experiment"
        )
    _check_apart(experiment, file)
    return replace(experiment, file=file)


def _fitting(pattern: str) -> Iterable[Experiment]:
    if pattern == "all":
        return all_experiments()
    if pattern.endswith(".py"):
        return (load(Path(pattern)),)
    wanted = pattern.casefold()
    found = [each for each in all_experiments() if _fits(each, wanted)]
    if not found:
        raise ValueError(_no_experiment_file(pattern) or _unknown(pattern))
    return found


def _fits(experiment: Experiment, wanted: str) -> bool:
    names = _names(experiment)
    return any(fnmatchcase(name.casefold(), wanted) for name in names) or (
        bool(experiment.id) and experiment.id.partition("-")[0] == wanted
    )


def _one(name: str) -> Experiment:
    for experiment in all_experiments():
        if name.casefold() in map(str.casefold, _names(experiment)):
            return experiment
    raise ValueError(_unknown(name))


def _check_apart(own: Experiment, file: Path) -> None:
    """Plans, pages and tables tell experiments apart by their names."""
    taken = {each.casefold(): one.name for one in all_experiments() for each in _names(one)}
    for name in _names(own):
        if name.casefold() in taken:
            raise ValueError(
                f"{file}: {name!r} stands for the lab's own experiment "
                f"{taken[name.casefold()]!r}; give yours another name"
            )


def _names(experiment: Experiment) -> tuple[str, ...]:
    return (experiment.name, experiment.id) if experiment.id else (experiment.name,)


def _unknown(name: str) -> str:
    known = {each.casefold(): each for one in all_experiments() for each in _names(one)}
    wanted = name.casefold()
    if own := _of_document(wanted, known):
        return f"no experiment fits {name!r}; of that document there are {own}"
    near = _family(wanted, known) or [known[each] for each in get_close_matches(wanted, known)]
    near = near or _near_pattern(wanted, known)
    if near:
        return f"no experiment fits {name!r}; did you mean {' or '.join(near)}?"
    return (
        f"no experiment fits {name!r}; `sealift lab list` has all {len(all_experiments())}, and "
        "files of one's own end in .py"
    )


def _of_document(name: str, known: Mapping[str, str]) -> str:
    """The ids of the document that an id begins with; "" where it begins with none."""
    document = name.partition("-")[0]
    ids = [of for each, of in known.items() if each.startswith(f"{document}-")]
    return ", ".join(sorted(ids)) if document.isdigit() and "-" in name else ""


def _family(name: str, known: Iterable[str]) -> list[str]:
    """The pattern of experiments that a word names: `'gpu-*'` for `gpu`, `gpus` and `cuda-*`."""
    word = name.removesuffix("*").removesuffix("-").removesuffix("s")
    word = "gpu" if word in DRIVERS else word
    begins = [f"{word}-", f"{word}s-"] if word else []
    return [f"'{each}*'" for each in begins if any(name.startswith(each) for name in known)]


def _near_pattern(pattern: str, known: Iterable[str]) -> list[str]:
    """The pattern whose beginning is near, where one ends in a star: `'cards-*'` for `card-*`."""
    begin = pattern.removesuffix("*")
    if begin == pattern or len(begin) < BEGINS_LEAST or {*begin} & {*"*?["}:
        return []
    begins = {word[: end + 1] for word in known for end, each in enumerate(word) if each == "-"}
    return [f"'{each}*'" for each in get_close_matches(begin, sorted(begins))]


def _no_experiment_file(pattern: str) -> str:
    """What is wrong with a path that names no Python, or "" where it names nothing."""
    with suppress(OSError, ValueError):
        if pattern and Path(pattern).exists():
            return f"{pattern} is no experiment file; right would be one {FILE}"
    return ""


def _run(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"sealift_own_{file.stem}", file)
    if not file.is_file() or spec is None or spec.loader is None:
        raise ValueError(f"{file} is no file of Python source; right would be one {FILE}")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and pickling look their module up by its name.
    sys.modules[spec.name] = module
    # Last, so that a file there hides nothing of Python's own.
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        place = f"{error.filename}, line {error.lineno}" if error.lineno else str(file)
        raise ValueError(f"{place}: {error.msg}") from error
    except (Exception, SystemExit) as error:
        raise ValueError(_failed(file, error)) from error
    return module


def _failed(file: Path, error: BaseException) -> str:
    """What went wrong, with the last line of the file itself that led there."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(file)]
    place = f"{file}, line {lines[-1]}" if lines else str(file)
    return f"{place}: {type(error).__name__}: {error}"


# Of fewer characters anything is near.
BEGINS_LEAST = 3
ENDING = "EXPERIMENT = Experiment(...)"
SHOWN = "docs/your-own-experiment.md"
FILE = f"that ends in .py and defines {ENDING}, as {SHOWN} shows"
