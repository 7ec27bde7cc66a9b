"""Files of a run folder: whole lines, whole files, nothing through links, one process at a time."""

import errno
import fcntl
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.lab.run import made_up as made

from sealift_lab.measure import write_folder
from sealift_lab.measure.write_folder import FolderError, Journal, NotWrittenError
from sealift_lab.model import run as names


def test_half_a_last_line_is_cut_off_before_lines_are_added(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    for before, kept in (('{"a":1}\n{"b', '{"a":1}\n'), ('{"b', ""), ("", "")):
        path.write_text(before, encoding="utf-8")
        with Journal(path) as journal:
            journal.add([{"note": "\ud800"}, {"c": 3}])
        assert path.read_text(encoding="utf-8") == kept + '{"note":"?"}\n{"c":3}\n'


def test_lines_that_do_not_fit_leave_nothing_and_say_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Journal(path) as journal:
        journal.add([{"a": 1}])
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (20, before[1]))
            with pytest.raises(NotWrittenError, match=r"les\.jsonl was not written: File too l"):
                journal.add([{"b": 2}, {"c": 3}, {"d": 4}])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.read_text(encoding="utf-8") == '{"a":1}\n'


def test_a_folder_that_holds_something_is_not_taken(tmp_path: Path) -> None:
    folder = made.folder(tmp_path / "run")
    before = sorted(folder.iterdir())
    (tmp_path / "other").mkdir()
    (tmp_path / "other/thesis.tex").touch()
    for path, why in (
        (folder, "holds a run already; finish it with `sealift lab"),
        (tmp_path / "other", r"holds thesis\.tex; name a folder"),
        (tmp_path / "other/thesis.tex", "is a file"),
    ):
        with pytest.raises(FolderError, match=why):
            made.folder(path)
    assert sorted(folder.iterdir()) == before
    with pytest.raises(NotWrittenError, match="was not written"):
        made.folder(tmp_path / "other/thesis.tex/run")


def test_a_watcher_that_shares_the_lock_for_a_moment_makes_no_run_refuse_to_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    out.mkdir()
    watcher = (out / names.LOCK).open("w")
    fcntl.flock(watcher, fcntl.LOCK_SH)
    monkeypatch.setattr(write_folder, "sleep", lambda _: watcher.close())
    with write_folder.hold(out):
        assert watcher.closed


def test_a_process_that_inherits_the_lock_holds_it(tmp_path: Path) -> None:
    wait = [sys.executable, "-c", "input()"]
    with write_folder.hold(tmp_path / "run") as lock:
        child = subprocess.Popen(wait, stdin=subprocess.PIPE, pass_fds=(lock,))
        with (
            pytest.raises(FolderError, match="another run writes"),
            write_folder.hold(tmp_path / "run"),
        ):
            pass
    with pytest.raises(FolderError, match="another run"), write_folder.hold(tmp_path / "run"):
        pass
    child.communicate(b"\n")
    with write_folder.hold(tmp_path / "run"):
        pass


def test_a_lock_that_the_file_system_does_not_have_is_told_with_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    match = r"run\.lock can't be locked: No locks available"
    with pytest.raises(FolderError, match=match), write_folder.hold(tmp_path / "run"):
        pass


def test_a_start_that_fails_leaves_nothing_and_a_run_is_never_removed(tmp_path: Path) -> None:
    out = tmp_path / "new/run"
    with write_folder.hold_new(out):
        (out / names.MACHINE).touch()
    assert not out.parent.exists()
    with write_folder.hold_new(out):
        write_folder.create(out, made.plan(), made.MACHINE)
    assert (out / names.PLAN).exists()


@pytest.mark.parametrize("name", [names.SAMPLES, names.LOCK, write_folder.RESERVE, names.NOTES])
def test_no_file_of_a_run_is_opened_through_a_link(tmp_path: Path, name: str) -> None:
    victim, folder = tmp_path / "victim", tmp_path / "run"
    victim.write_text('{"note": "whole"}\n{"note": "to', encoding="utf-8")
    made.folder(folder)
    (folder / name).symlink_to(victim)
    act: dict[str, Callable[[], object]] = {
        names.LOCK: lambda: write_folder.hold(folder).__enter__(),
        write_folder.RESERVE: lambda: write_folder.reserve(folder).__enter__(),
        names.NOTES: lambda: write_folder.mend(folder),
        names.SAMPLES: lambda: made.add(folder, names.SAMPLES, [{"a": 1}]),
    }
    with pytest.raises(NotWrittenError, match=f"{name} was not written: it is a link; remove it"):
        act[name]()
    assert victim.read_text(encoding="utf-8").endswith("to")


def test_the_reserve_takes_room_and_gives_it_back(tmp_path: Path) -> None:
    with write_folder.reserve(tmp_path):
        assert (tmp_path / write_folder.RESERVE).stat().st_blocks * 512 >= 4 * 2**20
    assert not (tmp_path / write_folder.RESERVE).exists()


def test_a_file_is_written_whole_in_the_place_of_a_link_and_of_nothing_else(tmp_path: Path) -> None:
    victim, path = tmp_path / "victim", tmp_path / "page.html"
    victim.write_text("mine", encoding="utf-8")
    path.symlink_to(victim)
    for content, whole in (("a\ud800b", b"a?b"), (b"\x00bytes", b"\x00bytes")):
        write_folder.write_file(path, content)
        assert path.read_bytes() == whole
    write_folder.write_json(path, {"a": 1})
    assert json.loads(path.read_text(encoding="utf-8")) == {"a": 1}
    assert (path.is_symlink(), victim.read_text(encoding="utf-8")) == (False, "mine")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "device").symlink_to("/dev/null")
    for name in ("pipe", "folder", "device"):
        with pytest.raises(NotWrittenError, match=f"{name} was not written: something else"):
            write_folder.write_file(tmp_path / name, "text")
    with pytest.raises(NotWrittenError, match="name a folder that can be written"):
        write_folder.write_file(tmp_path / "none/plan.json", "{}")
    left = ["device", "folder", "page.html", "pipe", "victim"]
    assert sorted(each.name for each in tmp_path.iterdir()) == left
