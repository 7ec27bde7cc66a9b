"""Run folders with links, locks and values that nobody expects in them."""

import errno
import fcntl
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab import made_up_run as made
from sealift.lab import store
from sealift.lab.published import Comparison, Kind, Rounded
from sealift.lab.spec import Plot
from sealift.lab.stats import Interval
from sealift.lab.store import names
from sealift.lab.summary import summarise


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return made.create(tmp_path / "run")


@pytest.mark.parametrize("name", [names.SAMPLES, names.LOCK, names.RESERVE])
def test_no_file_of_a_run_is_opened_through_a_link(tmp_path: Path, name: str) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine", encoding="utf-8")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / name).symlink_to(victim)
    writers: Mapping[str, Callable[[], object]] = {
        names.SAMPLES: lambda: made.add(folder, name, [{"a": 1}]),
        names.LOCK: lambda: store.hold(folder).__enter__(),
        names.RESERVE: lambda: store.Reserve(folder),
    }
    with pytest.raises(store.NotWrittenError, match="because it is a link; take it away"):
        writers[name]()
    assert victim.read_text(encoding="utf-8") == "mine"


def test_nothing_is_cut_through_a_link(folder: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text('{"note": "whole"}\n{"note": "to', encoding="utf-8")
    (folder / names.NOTES).symlink_to(victim)
    with pytest.raises(store.NotWrittenError, match="because it is a link"):
        store.mend(folder)
    assert victim.read_text(encoding="utf-8").endswith("to")


def test_a_lock_that_the_file_system_does_not_have_is_told_with_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with (
        pytest.raises(store.StoreError, match=r"run\.lock can't be locked: No locks available;"),
        store.hold(tmp_path),
    ):
        pass


def test_a_start_that_fails_takes_away_what_it_made_and_nothing_else(tmp_path: Path) -> None:
    fail_a_start(tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "empty").mkdir()
    fail_a_start(tmp_path / "empty")
    assert [each.name for each in tmp_path.iterdir()] == ["empty"]
    fail_a_start(tmp_path / "run", lambda: made.create(tmp_path / "run"))
    assert store.read(tmp_path / "run").plan == made.plan()


def fail_a_start(path: Path, first: Callable[[], object] = lambda: None) -> None:
    def begin() -> None:
        with store.hold_new(path):
            first()
            raise KeyError

    with pytest.raises(KeyError):
        begin()


def test_half_of_a_surrogate_pair_in_a_note_keeps_the_folder_readable(folder: Path) -> None:
    made.add(folder, names.NOTES, [{"note": "a\ud800b\n"}])
    assert store.read(folder).notes == ("a?b\n",)


COMPARISON = Comparison(
    figure="mine",
    what="speed-up",
    published=2.0,
    unit="x",
    source="a book",
    kind=Kind.RATIO,
    here=Interval(2.5, 2.25, 2.75, 0.95, 20),
    note="as printed",
    at={"threads": 2},
    span=Rounded(2.0, 1.5, 2.5),
)


def test_what_was_compared_with_published_figures_comes_back(tmp_path: Path) -> None:
    path = made.create(tmp_path / "run", made.plan(made.planned(file="/mine.py")))
    assert store.read(path).published == {}
    store.check_published([COMPARISON])
    store.write_published(path, {"by-size": [COMPARISON]})
    assert store.read(path).published == {"by-size": (COMPARISON,)}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"published": float("nan")}, "not JSON compliant"),
        ({"published": "2"}, 'published is "2"; right would be a finite number'),
        ({"at": {"threads": True}}, "threads is true; right would be a string or a finite"),
        ({"kind": "guess"}, "kind is 'guess'; right would be one of value"),
    ],
)
def test_a_comparison_that_would_not_be_read_again_is_refused(
    changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        store.check_published([replace(COMPARISON, **changes)])


def test_published_figures_of_sealifts_own_experiments_are_none_of_a_folder(folder: Path) -> None:
    store.write_published(folder, {"by-size": [COMPARISON]})
    with pytest.raises(store.StoreError, match=r"published\.json: 'by-size' is no experiment of"):
        store.read(folder)


VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1.5, 10**400, 1e308, "", "x", "\ud800", [], {}, [[]], [{}], "a/../b",
    "nul\0", 2**63, -(10**20),
)  # fmt: skip
FILES = (
    names.PLAN, names.MACHINE, names.SAMPLES, names.VERIFY, names.SENSORS, names.ENDING,
    names.PUBLISHED,
)  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_folder_with_anything_in_it_is_read_or_refused_in_a_sentence(
    tmp_path: Path, name: str
) -> None:
    plot = Plot(**made.plot(where={"size_bytes": 16}))
    planned = made.planned(file="/mine.py", plots=(plot,))
    folder = made.create(tmp_path / "run", made.plan(planned))
    made.fill(folder)
    made.add(folder, names.VERIFY, [made.told(0, facts={"opened": 3, "checked_against": "x"})])
    made.add(folder, names.SENSORS, [{"at_s": 1.0, "values": {"load_1min": 0.5}}])
    store.write_published(folder, {"by-size": [COMPARISON]})
    store.write_ending(folder, store.Ending(store.How.COMPLETE))
    text = (folder / name).read_text(encoding="utf-8")
    first, rest = (text, "") if name.endswith(".json") else text.split("\n", 1)
    places = [place for place in _places(json.loads(first)) if place]
    assert len(places) > 1
    refused = 0
    for place, value in itertools.product(places, VALUES):
        plain = json.loads(first)
        _put(plain, place, value)
        (folder / name).write_text(f"{json.dumps(plain)}\n{rest}", encoding="utf-8")
        try:
            summarise(store.read(folder))
        except store.StoreError:
            refused += 1
    assert refused > 0


def _places(plain: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield place
    if isinstance(plain, dict):
        for name, value in plain.items():
            yield from _places(value, (*place, name))
    elif isinstance(plain, list):
        for index, value in enumerate(plain[:2]):
            yield from _places(value, (*place, index))


def _put(plain: Any, place: Sequence[Any], value: Any) -> None:
    for each in place[:-1]:
        plain = plain[each]
    plain[place[-1]] = value
