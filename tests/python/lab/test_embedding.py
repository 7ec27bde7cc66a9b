"""The script that draws figures, which is made once and kept."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import vl_convert

from sealift.lab import embedding


@pytest.fixture(name="made")
def fixture_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[str]]:
    """How often it was made, with a cache folder of one's own."""
    made: list[str] = []

    def make(snippet: str, version: str) -> str:
        made.append(version)
        return f"{snippet}\r\n\u00e4 {len(made)}"

    monkeypatch.setattr(vl_convert, "javascript_bundle", make)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    embedding.vega_bundle.cache_clear()
    yield made
    embedding.vega_bundle.cache_clear()


def again() -> str:
    embedding.vega_bundle.cache_clear()
    return embedding.vega_bundle()


def the_file(tmp_path: Path) -> Path:
    (file,) = (tmp_path / "caches" / "sealift").iterdir()
    return file


def test_it_is_made_once_and_then_read(made: list[str], tmp_path: Path) -> None:
    first = embedding.vega_bundle()
    assert embedding.why_not_kept() == ""
    assert (again(), len(made)) == (first, 1)
    assert the_file(tmp_path).parent.stat().st_mode & 0o077 == 0


def test_it_is_read_again_whatever_the_mask_of_the_process(made: list[str]) -> None:
    before = os.umask(0o002)
    try:
        embedding.vega_bundle()
        again()
    finally:
        os.umask(before)
    assert len(made) == 1


@pytest.mark.parametrize("how", ["cut", "empty", "binary", "others may write", "in their folder"])
def test_what_is_damaged_or_may_be_someone_elses_is_made_anew(
    how: str, made: list[str], tmp_path: Path
) -> None:
    embedding.vega_bundle()
    file = the_file(tmp_path)
    match how:
        case "cut":
            file.write_bytes(file.read_bytes()[:-3])
        case "empty":
            file.write_bytes(b"")
        case "binary":
            file.write_bytes(b"\xff" * 99)
        case "others may write":
            file.chmod(0o666)
        case _:
            file.parent.chmod(0o777)
    assert again().endswith("2")
    assert len(made) == 2


def test_a_link_is_not_followed_and_is_replaced(made: list[str], tmp_path: Path) -> None:
    embedding.vega_bundle()
    file = the_file(tmp_path)
    elsewhere = file.rename(tmp_path / "elsewhere.js")
    file.symlink_to(elsewhere)
    assert again().endswith("2")
    assert not file.is_symlink()
    assert len(made) == 2


@pytest.mark.parametrize("folder", ["", "not/absolute", "/proc/nowhere"])
def test_where_nothing_can_be_kept_it_is_made_each_time(
    folder: str, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", folder)
    monkeypatch.delenv("HOME")
    assert embedding.why_not_kept() == "", "nobody needed it"
    embedding.vega_bundle()
    again()
    assert len(made) == 2
    said = embedding.why_not_kept()
    assert said.startswith("the script that draws figures can't be kept, so pages take seconds")
    assert said.endswith("in XDG_CACHE_HOME")
    assert (f"make {folder}/sealift yours alone" in said) == folder.startswith("/")
