"""Finds experiments: the lab's by name, document or pattern, and files of one's own."""

import importlib.util
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from sealift_lab import experiments
from sealift_lab.model.experiment import Experiment


@lru_cache(maxsize=1)
def all_experiments() -> tuple[Experiment, ...]:
    """The lab's experiments, document by document."""
    return tuple(each for module in MODULES for each in _of_module(module))


def find(name: str, file: Path | None = None) -> Experiment:
    """The experiment of a name or a document's id, of the lab or in a file of one's own.

    Raises:
        ValueError: If there is none; with the nearest names. Or if the file can't be used; with
            the line.
    """
    if file is not None:
        experiment = load(file)
        if experiment.name != name:
            raise ValueError(f"{file} holds the experiment {experiment.name!r}, not {name!r}")
        return experiment
    # A measuring process imports no more documents than it must.
    for module in MODULES:
        for each in _of_module(module):
            if name.casefold() in map(str.casefold, _names(each)):
                return each
    raise ValueError(_unknown(name))


def select(patterns: Sequence[str]) -> tuple[Experiment, ...]:
    """The experiments that patterns name, each once, in the order of the patterns.

    Args:
        patterns: Names (`aes-gcm-by-threads`), ids (`003-F5`), documents (`003`), patterns of
            names or ids (`aes-*`, `003-T?`), `all`, or paths to files of one's own (`./mine.py`).
            An empty sequence stands for all.

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
    """Runs a file of one's own, which may import files beside it, and takes its EXPERIMENT.

    Raises:
        ValueError: If it is not there, has no EXPERIMENT, or fails; with its line.
    """
    file = file.resolve()
    experiment = getattr(_run(file), "EXPERIMENT", None)
    if experiment is None:
        raise ValueError(f"{file} defines no EXPERIMENT; end it with {ENDING}, as {EXAMPLE} shows")
    if not isinstance(experiment, Experiment):
        raise ValueError(
            f"{file}: its EXPERIMENT is of type {type(experiment).__name__}; right would be a "
            "sealift_lab.Experiment"
        )
    return replace(experiment, file=file)


def _of_module(name: str) -> tuple[Experiment, ...]:
    found: tuple[Experiment, ...] = import_module(f"{experiments.__name__}.{name}").EXPERIMENTS
    return found


def _names(experiment: Experiment) -> tuple[str, ...]:
    return (experiment.name, experiment.id) if experiment.id else (experiment.name,)


def _known() -> Mapping[str, Experiment]:
    return {name: each for each in all_experiments() for name in _names(each)}


def _fitting(pattern: str) -> Sequence[Experiment]:
    if pattern.endswith(".py"):
        own = load(Path(pattern))
        # Plans, pages and tables tell experiments apart by their names.
        for name, taken in _known().items():
            if name.casefold() in map(str.casefold, _names(own)):
                raise ValueError(
                    f"{own.file}: {name!r} stands for the lab's own experiment {taken.name!r}; "
                    "give yours another name"
                )
        return (own,)
    wanted = "*" if pattern == "all" else pattern.casefold()
    # `003` stands for its document.
    patterns = {wanted, f"{wanted}-*"} if wanted.isdigit() else {wanted}
    fitting = [
        each
        for each in all_experiments()
        if any(fnmatchcase(name.casefold(), fit) for name in _names(each) for fit in patterns)
    ]
    if not fitting:
        raise ValueError(_unknown(pattern))
    return fitting


def _unknown(name: str) -> str:
    wanted, known = name.casefold(), _known()
    document, dash, _ = wanted.partition("-")
    ids = sorted(each for each in known if each.startswith(f"{document}-"))
    if document.isdigit() and dash and ids:
        return f"no experiment fits {name!r}; of that document there are {', '.join(ids)}"
    # `'cards-*'` for `card` and `card-*`.
    begin = wanted.removesuffix("*").removesuffix("-").removesuffix("s").replace("_", "-")
    begins = [each for each in (f"{begin}-", f"{begin}s-") if begin]
    near = [f"'{each}*'" for each in begins if any(name.startswith(each) for name in known)]
    if near := near or get_close_matches(name, known):
        return f"no experiment fits {name!r}; did you mean {' or '.join(near)}?"
    return (
        f"no experiment fits {name!r}; `sealift lab list` has all {len(all_experiments())}, and "
        "files of one's own end in .py"
    )


def _run(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"sealift_own_{file.stem}", file)
    if not file.is_file() or spec is None or spec.loader is None:
        raise ValueError(
            f"{file} is no file of Python source; right would be one that ends in .py and defines "
            f"{ENDING}, as {EXAMPLE} shows"
        )
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
        frames = traceback.extract_tb(error.__traceback__)
        # The last line of the file itself that led there.
        lines = [frame.lineno for frame in frames if frame.filename == str(file)]
        place = f"{file}, line {lines[-1]}" if lines else str(file)
        raise ValueError(f"{place}: {type(error).__name__}: {error}") from error
    return module


# What most users want to know first.
MODULES = ("own", "document_003", "document_000", "document_001", "document_002", "document_004")
ENDING = "EXPERIMENT = Experiment(...)"
EXAMPLE = "docs/your-own-experiment.md"
