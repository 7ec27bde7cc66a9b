"""Finding experiments by name, document and pattern, and in files of one's own."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from sealift_lab import experiments
from sealift_lab.experiments import registry
from sealift_lab.measure.timed import timed
from sealift_lab.model.experiment import Axis, Experiment

OWN = """
from sealift_lab import Axis, Experiment
from sealift_lab.measure.timed import timed

EXPERIMENT = Experiment(
    name="{name}",
    title="Joining",
    axes=(Axis("parts", "parts", (2, 4)),),
    compare="parts",
    arm=lambda cell, context: timed(lambda: b"".join([b"x"] * cell["parts"])),
)
"""


def made_up(name: str, id_: str = "") -> Experiment:
    axes = (Axis("n", "n", (1, 2)),)
    return Experiment(name, "Made up", axes, "n", lambda *_: timed(lambda: None), id=id_)


@pytest.fixture(autouse=True)
def packages(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two documents and a package of experiments that belong to none."""
    documents = {
        "document_003": (made_up("aes-by-threads", "003-F5"), made_up("gpu-grid", "003-T4")),
        "document_004": (made_up("copy-by-length", "004-F1"), made_up("copy-by-memory", "004-F2")),
        "own": (made_up("aes-by-size"), made_up("cards-of-today")),
    }
    monkeypatch.setattr(registry, "MODULES", sorted(documents))
    for name, each in documents.items():
        module = ModuleType(f"{experiments.__name__}.{name}")
        module.EXPERIMENTS = each  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, module.__name__, module)
    registry.all_experiments.cache_clear()
    yield
    registry.all_experiments.cache_clear()


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(OWN.format(name="mine"), encoding="utf-8")
    return path


def names(*patterns: str) -> list[str]:
    return [experiment.name for experiment in registry.select(patterns)]


@pytest.mark.parametrize("name", ["aes-by-threads", "003-F5", "003-f5", "AES-by-threads"])
def test_an_experiment_is_found_by_its_name_and_its_id(name: str) -> None:
    assert registry.find(name).id == "003-F5"


def test_finding_one_imports_no_later_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, f"{experiments.__name__}.own", None)
    assert registry.find("003-T4").name == "gpu-grid"


def test_patterns_fit_names_ids_and_documents_and_each_experiment_comes_once() -> None:
    assert names("003") == ["aes-by-threads", "gpu-grid"]
    assert names("aes-*") == ["aes-by-threads", "aes-by-size"]
    assert names("004-f?", "copy-*", "aes-by-size") == [
        "copy-by-length",
        "copy-by-memory",
        "aes-by-size",
    ]
    assert names("all") == names() == names("*")
    assert len(names()) == 6


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("aes-by-thread", "did you mean aes-by-threads"),
        ("003-F99", "'003-F99'; of that document there are 003-F5, 003-T4"),
        ("gpu", "did you mean 'gpu-*'?"),
        ("GPUs", "did you mean 'gpu-*'?"),
        ("card-*", "did you mean 'cards-*'?"),
        ("zzzz*", "`sealift lab list` has all 6, and files of one's own end in .py"),
        ("999", "no experiment fits '999'"),
        ("", "no experiment fits ''"),
    ],
)
def test_a_name_that_fits_nothing_gets_the_nearest_ones(pattern: str, hint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(hint)):
        registry.select([pattern])


def test_a_file_of_ones_own_is_loaded_and_remembered(own: Path) -> None:
    (experiment,) = registry.select([str(own)])
    assert (experiment.name, experiment.file) == ("mine", own.resolve())
    assert registry.find("mine", own).file == own.resolve()
    with pytest.raises(ValueError, match="holds the experiment 'mine', not 'yours'"):
        registry.find("yours", own)


def test_a_file_of_ones_own_may_import_its_neighbours_and_hides_nothing(
    tmp_path: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "neighbour_of_mine.py").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "calendar.py").write_text("raise ValueError\n", encoding="utf-8")
    source = own.read_text(encoding="utf-8")
    own.write_text(f"import calendar\nimport neighbour_of_mine\n{source}", encoding="utf-8")
    monkeypatch.delitem(sys.modules, "calendar", raising=False)
    assert registry.load(own).name == "mine"


def test_names_stand_for_one_experiment_each(tmp_path: Path, own: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text(OWN.format(name="mine"), encoding="utf-8")
    assert names(str(own), str(own)) == ["mine"]
    with pytest.raises(ValueError, match=r"two experiments are called 'mine', in .*mine\.py and "):
        registry.select([str(own), str(other)])
    for fields in ('name="aes-by-size"', 'name="mine", id="003-f5"'):
        source = OWN.replace('name="{name}"', fields)
        own.write_text(source, encoding="utf-8")
        with pytest.raises(ValueError, match=r"mine\.py: '.*' stands for the lab's own experiment"):
            registry.select([str(own)])


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("x = 1\n", "mine.py defines no EXPERIMENT; end it with EXPERIMENT = Experiment(...)"),
        ("EXPERIMENT = 3\n", "its EXPERIMENT is of type int; right would be a sealift_lab.Exper"),
        ("a = 1\nb = = 2\n", "mine.py, line 2: invalid syntax"),
        ("def f():\n    return {}['no']\nf()\n", "mine.py, line 2: KeyError: 'no'"),
        ("import json\njson.loads('{')\n", "mine.py, line 2: JSONDecodeError"),
        ("raise SystemExit(1)\n", "mine.py, line 1: SystemExit: 1"),
        ("a = '\0'\n", "mine.py"),
    ],
)
def test_a_file_that_can_not_be_used_is_named_with_its_line(
    tmp_path: Path, source: str, why: str
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(source, encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(why)):
        registry.load(path)

    with pytest.raises(ValueError, match="is no file of Python source; right would be one that"):
        registry.load(tmp_path / "none.py")
