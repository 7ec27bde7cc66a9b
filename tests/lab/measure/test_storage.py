"""Files of a run: whole lines, whole files, and nothing through links."""

import json
import resource
from pathlib import Path

import pytest

from sealift_lab.measure.storage import Journal, NotWrittenError, write_json


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
            with pytest.raises(
                NotWrittenError, match=r"samples\.jsonl was not written: File too l"
            ):
                journal.add([{"b": 2}, {"c": 3}, {"d": 4}])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.read_text(encoding="utf-8") == '{"a":1}\n'


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("mine", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotWrittenError, match="it is a link; remove it"):
        Journal(tmp_path / "link")
    write_json(tmp_path / "link", {"a": 1})
    assert json.loads((tmp_path / "link").read_text(encoding="utf-8")) == {"a": 1}
    assert (tmp_path / "elsewhere").read_text(encoding="utf-8") == "mine"
    with pytest.raises(NotWrittenError, match="name a folder that can be written"):
        write_json(tmp_path / "none/plan.json", {})
