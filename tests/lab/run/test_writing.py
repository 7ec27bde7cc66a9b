"""Files of a run folder are written whole, through no link, and by one process at a time."""

import errno
import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.lab.run import made_up as made

from sealift_lab.measure import storage
from sealift_lab.measure.storage import FolderError, NotWrittenError
from sealift_lab.model import run as names
from sealift_lab.run import session
from sealift_lab.run.folder import EXAMPLE


def test_a_folder_that_holds_something_is_not_taken(tmp_path: Path) -> None:
    folder = made.folder(tmp_path / "run")
    before = sorted(folder.iterdir())
    with pytest.raises(FolderError, match="holds a run already; finish it with `sealift lab"):
        made.folder(folder)
    assert sorted(folder.iterdir()) == before
    (tmp_path / "other").mkdir()
    (tmp_path / "other/thesis.tex").touch()
    with pytest.raises(FolderError, match=r"holds thesis\.tex; name a folder"):
        made.folder(tmp_path / "other")
    with pytest.raises(FolderError, match="is a file"):
        made.folder(tmp_path / "other/thesis.tex")
    with pytest.raises(NotWrittenError, match="was not written"):
        made.folder(tmp_path / "other/thesis.tex/run")


def test_a_process_that_inherits_the_lock_holds_it(tmp_path: Path) -> None:
    wait = [sys.executable, "-c", "input()"]
    with storage.hold(tmp_path / "run") as lock:
        child = subprocess.Popen(wait, stdin=subprocess.PIPE, pass_fds=(lock,))
        with pytest.raises(FolderError, match="another run writes"), storage.hold(tmp_path / "run"):
            pass
    with pytest.raises(FolderError, match="another run"), storage.hold(tmp_path / "run"):
        pass
    child.communicate(b"\n")
    with storage.hold(tmp_path / "run"):
        pass


def test_a_start_that_fails_leaves_nothing_and_a_run_is_never_removed(tmp_path: Path) -> None:
    out = tmp_path / "new/run"
    with storage.hold_new(out):
        (out / names.MACHINE).touch()
    assert not out.parent.exists()
    with storage.hold_new(out):
        storage.create(out, made.plan(), made.MACHINE)
    assert (out / names.PLAN).exists()


@pytest.mark.parametrize("name", [names.SAMPLES, names.LOCK, storage.RESERVE, names.NOTES])
def test_no_file_of_a_run_is_opened_through_a_link(tmp_path: Path, name: str) -> None:
    victim, folder = tmp_path / "victim", tmp_path / "run"
    victim.write_text('{"note": "whole"}\n{"note": "to', encoding="utf-8")
    made.folder(folder)
    (folder / name).symlink_to(victim)
    act: dict[str, Callable[[], object]] = {
        names.LOCK: lambda: storage.hold(folder).__enter__(),
        storage.RESERVE: lambda: storage.reserve(folder).__enter__(),
        names.NOTES: lambda: storage.mend(folder),
        names.SAMPLES: lambda: made.add(folder, names.SAMPLES, [{"a": 1}]),
    }
    with pytest.raises(NotWrittenError, match="it is a link"):
        act[name]()
    assert victim.read_text(encoding="utf-8").endswith("to")


def test_a_lock_that_the_file_system_does_not_have_is_told_with_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with (
        pytest.raises(FolderError, match=r"run\.lock can't be locked: No locks available"),
        storage.hold(tmp_path / "run"),
    ):
        pass


def test_the_reserve_takes_room_and_gives_it_back(tmp_path: Path) -> None:
    with storage.reserve(tmp_path):
        assert (tmp_path / storage.RESERVE).stat().st_blocks * 512 >= 4 * 2**20
    assert not (tmp_path / storage.RESERVE).exists()


@pytest.mark.parametrize("content", ["text\n", b"\x00bytes", "a\ud800b"])
def test_a_file_is_written_whole_and_in_the_place_of_a_link(
    tmp_path: Path, content: str | bytes
) -> None:
    victim, path = tmp_path / "victim", tmp_path / "page.html"
    victim.write_text("mine", encoding="utf-8")
    path.symlink_to(victim)
    storage.write_file(path, content)
    whole = content if isinstance(content, bytes) else content.encode(errors="replace")
    assert path.read_bytes() == whole
    assert not path.is_symlink()
    assert victim.read_text(encoding="utf-8") == "mine"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["page.html", "victim"]


def test_a_file_takes_the_place_of_no_pipe_no_folder_and_no_device(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "device").symlink_to("/dev/null")
    for name in ("pipe", "folder", "device"):
        with pytest.raises(NotWrittenError, match=f"{name} was not written: something else"):
            storage.write_file(tmp_path / name, "text")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["device", "folder", "pipe"]


def test_folders_are_named_after_the_time_and_never_taken_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    now = datetime(2026, 11, 21, 14, 21, tzinfo=UTC)
    first = session.default_path(now)
    assert first == EXAMPLE
    first.mkdir(parents=True)
    assert session.default_path(now).name == "2026-11-21T142100Z-2"
    command = storage.resume_command(tmp_path / "my run")
    assert command == f"sealift lab run --resume '{tmp_path}/my run'"
