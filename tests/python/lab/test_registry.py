"""Finding experiments by name, document and pattern, and in files of one's own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import sealift.lab
from sealift.lab import experiments, registry
from sealift.lab.spec import Experiment

OWN = """
from sealift.lab import Axis, Experiment, timed

EXPERIMENT = Experiment(
    name="{name}",
    title="Joining",
    axes=(Axis("parts", "parts", (2, 4)),),
    compare="parts",
    arm=lambda cell, context: timed(lambda: b"".join([b"x"] * cell["parts"])),
)
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(OWN.format(name="mine"), encoding="utf-8")
    return path


def names(*patterns: str) -> list[str]:
    return [experiment.name for experiment in registry.select(patterns)]


def test_the_names_for_a_file_of_ones_own_load_nothing_that_measures_or_draws() -> None:
    code = (
        "import sealift.lab, sys\n"
        "sealift.lab.Experiment, sealift.lab.timed\n"
        "print(*sorted(name for name in sys.modules if name.startswith(SUSPECTS)))"
    )
    suspects = ("sealift.lab.native", "sealift.lab.registry", "sealift.cli", "rich", "typer")
    more = ("vl_convert", "numpy", "cryptography", "psutil")
    done = subprocess.run(
        [sys.executable, "-c", f"SUSPECTS = {suspects + more}\n{code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == []


def test_every_public_name_of_the_lab_is_there_once() -> None:
    names = sealift.lab.__all__
    assert names == sorted(names, key=lambda name: (name.islower(), name))
    assert len(set(names)) == len(names)
    assert all(hasattr(sealift.lab, name) for name in names)


def test_every_file_in_the_folder_is_an_experiment_with_a_name_of_its_own() -> None:
    folder = Path(experiments.__path__[0])
    files = {path.stem.replace("_", "-") for path in folder.glob("[!_]*")}
    found = [experiment.name for experiment in registry.all_experiments()]
    assert set(found) == files
    assert len(set(found)) == len(found)
    ids = [experiment.id for experiment in registry.all_experiments() if experiment.id]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("name", ["aes-gcm-by-threads", "003-F5", "003-f5", "AES-GCM-by-threads"])
def test_an_experiment_is_found_by_its_name_and_its_id(name: str) -> None:
    assert registry.find(name).id == "003-F5"


def test_a_document_stands_for_all_its_experiments() -> None:
    found = registry.select(["003"])
    assert {"003-F5", "003-F6", "003-T4"} <= {experiment.id for experiment in found}
    assert all(experiment.id.startswith("003-") for experiment in found)


def test_patterns_fit_names_and_ids_and_each_experiment_comes_once() -> None:
    assert names("aes-gcm-*") == ["aes-gcm-by-size", "aes-gcm-by-threads"]
    asked = names("003-F5", "003-?5", "aes-gcm-by-size")
    assert asked == ["aes-gcm-by-threads", "gpu-generations", "aes-gcm-by-size"]
    assert names("all") == names() == names("*")


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("aes-gcm-by-thread", "did you mean aes-gcm-by-threads"),
        (
            "003-F99",
            "'003-F99'; of that document there are 003-F10, 003-F14, 003-F4, 003-F5, 003-F6, "
            "003-F7, 003-F8, 003-F9, 003-P0, 003-T3, 003-T4, 003-T5",
        ),
        ("gpu", "did you mean 'gpu-*'?"),
        ("GPUs", "did you mean 'gpu-*'?"),
        ("cuda-*", "did you mean 'gpu-*'?"),
        ("opencl", "did you mean 'gpu-*'?"),
        ("cards", "did you mean 'cards-*'?"),
        ("copy", "did you mean 'copy-*'?"),
        ("card-*", "did you mean 'cards-*'"),
        ("CARDS_*", "did you mean 'cards-*'"),
        ("zzzz*", "`sealift lab list` has all"),
        ("999", "no experiment fits '999'"),
        ("", "no experiment fits ''"),
    ],
)
def test_a_name_that_fits_nothing_gets_the_nearest_ones(pattern: str, hint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(hint)):
        registry.select([pattern])


def test_a_pattern_is_no_name() -> None:
    with pytest.raises(ValueError, match=re.escape("no experiment fits '003'")):
        registry.find("003")


def test_a_file_of_ones_own_is_loaded_and_remembered(own: Path) -> None:
    (experiment,) = registry.select([str(own)])
    assert isinstance(experiment, Experiment)
    assert (experiment.name, experiment.file) == ("mine", own.resolve())
    assert registry.find("mine", own).file == own.resolve()
    assert registry.find("003-F5").file is None


def test_a_file_of_ones_own_may_import_its_neighbours_and_hides_nothing(
    tmp_path: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "neighbour_of_mine.py").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "calendar.py").write_text("raise ValueError\n", encoding="utf-8")
    source = own.read_text(encoding="utf-8")
    own.write_text(f"import calendar\nimport neighbour_of_mine\n{source}", encoding="utf-8")
    sys.modules.pop("calendar", None)
    assert registry.load(own).name == "mine"


def test_a_file_with_another_experiment_than_the_plan_says_is_refused(own: Path) -> None:
    with pytest.raises(ValueError, match="holds the experiment 'mine', not 'yours'"):
        registry.find("yours", own)


def test_two_experiments_of_one_name_are_not_run_together(tmp_path: Path, own: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text(OWN.format(name="mine"), encoding="utf-8")
    with pytest.raises(ValueError, match=r"two experiments are called 'mine', in .*mine\.py and "):
        registry.select([str(own), str(other)])
    assert names(str(own), str(own)) == ["mine"]


@pytest.mark.parametrize(
    "fields",
    ['name="aes-gcm-by-size"', 'name="mine", id="003-f5"', 'name="mine", id="memory-read"'],
)
def test_an_experiment_of_ones_own_may_not_be_called_as_one_of_the_lab(
    own: Path, fields: str
) -> None:
    source = own.read_text(encoding="utf-8").replace('name="mine"', fields)
    own.write_text(source, encoding="utf-8")
    with pytest.raises(ValueError, match=r"mine\.py: '.*' stands for the lab's own experiment '"):
        registry.select([str(own)])


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("x = 1\n", "mine.py defines no EXPERIMENT; end it with EXPERIMENT = Experiment(...)"),
        (
            "EXPERIMENT = 3\n",
            "mine.py: its EXPERIMENT is of type int; right would be a sealift.lab",
        ),
        ("a = 1\nb = = 2\n", "mine.py, line 2: invalid syntax"),
        ("a = 1\n\nb = 1 / 0\n", "mine.py, line 3: ZeroDivisionError: division by zero"),
        ("def f():\n    return {}['no']\nf()\n", "mine.py, line 2: KeyError: 'no'"),
        ("import no_such_package\n", "mine.py, line 1: ModuleNotFoundError"),
        ("import json\njson.loads('{')\n", "mine.py, line 2: JSONDecodeError"),
        ("raise SystemExit(1)\n", "mine.py, line 1: SystemExit: 1"),
        ("a = '\0'\n", "mine.py"),
    ],
)
def test_a_file_that_can_not_be_used_is_told_with_its_line(
    tmp_path: Path, source: str, said: str
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(source, encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(said)):
        registry.load(path)


def test_a_file_that_is_no_python_is_told_what_an_experiment_file_is(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("# Read me\n", encoding="utf-8")
    for path in (readme, tmp_path):
        said = f"{path} is no experiment file; right would be one that ends in .py and defines"
        with pytest.raises(ValueError, match=re.escape(said)):
            registry.select([str(path)])
    shown = re.escape("defines no EXPERIMENT; end it with EXPERIMENT = Experiment(...), as docs/")
    readme.rename(tmp_path / "readme.py")
    with pytest.raises(ValueError, match=shown):
        registry.select([str(tmp_path / "readme.py")])


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    for path in (tmp_path / "none.py", tmp_path):
        with pytest.raises(ValueError, match="is no file of Python source"):
            registry.load(path)
