"""Builds of an experiment's own sources, and what their machine code multiplies in."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from sealift_lab.measure import built
from sealift_lab.measure.built import Tool, build, multiplications
from sealift_lab.model.arm import Skip

COMPILER = """#!/bin/sh
[ "$1" = --version ] && { cat "$0.version"; exit; }
[ "$1" = told ] && { echo "head"; echo "  a.x(1): error 5: no"; exit 1; }
[ "$1" = fail ] && { echo "line 1: no" >&2; echo "line 2" >&2; exit 1; }
cat "$2" "$0.version" > "$1"
echo once >> "$0.calls"
"""


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tool:
    """A compiler whose program is its source with its version; it notes how often it is called."""
    path = tmp_path / "compiler"
    path.write_text(COMPILER)
    path.chmod(0o755)
    (tmp_path / "compiler.version").write_text("version 1\n")
    (tmp_path / "source.x").write_text("text\n")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    built._version.cache_clear()
    return Tool(str(path), "a-compiler")


def test_a_source_is_built_once_until_it_or_its_compiler_changes(
    tool: Tool, tmp_path: Path
) -> None:
    source, calls, found = tmp_path / "source.x", tmp_path / "compiler.calls", []
    for change in ("", "", "source.x", "compiler.version"):
        if change:
            (tmp_path / change).write_text("changed\n")
            built._version.cache_clear()
        made = build(source, tool, "out")
        found.append((made.folder / "out").read_text())
        assert made.detail == f"{tool.command} out source.x ({tool.check()})"
    assert found == [*2 * ["text\nversion 1\n"], "changed\nversion 1\n", "changed\nchanged\n"]
    assert calls.read_text().count("once") == 3


def test_builds_of_two_checkouts_stand_side_by_side_until_none_took_them_for_a_week(
    tool: Tool, tmp_path: Path
) -> None:
    source, calls = tmp_path / "source.x", tmp_path / "compiler.calls"
    texts = ("one\n", "other\n")
    folders = []
    for text in 2 * texts:
        source.write_text(text)
        folders.append(build(source, tool, "out").folder)
        assert (folders[-1] / "out").read_text().startswith(text)
    assert folders[:2] == folders[2:]
    assert calls.read_text().count("once") == 2
    one, other, *_ = folders
    # As folders were named before, and as a killed compiler leaves one.
    old = [one.with_name("0" * 32), one.with_name("tmp1234")]
    for each in old:
        each.mkdir()
        (each / "out").touch()
    now_s, day_s = time.time(), 24 * 3600
    for days, each in ((8, one), (6, other), (8, old[0]), (8, old[1])):
        os.utime(each, times=(now_s - days * day_s,) * 2)
    source.write_text(texts[0])
    build(source, tool, "out")
    assert one.stat().st_mtime > now_s - day_s, "it was taken"
    assert len([*one.parent.iterdir()]) == 4, "nothing was built"
    source.write_text("third\n")
    third = build(source, tool, "out").folder
    assert {*one.parent.iterdir()} == {one, other, third}


def test_what_can_not_be_built_is_left_out_with_the_reason(
    tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source.x"
    with pytest.raises(Skip, match=r"no-such is not on PATH; install it \(Debian: apt-get inst"):
        build(source, Tool("no-such", "x"))
    with pytest.raises(Skip, match=r"compiler fail source\.x failed: line 1: no"):
        build(source, tool, "fail")
    with pytest.raises(Skip, match=r"told source\.x failed: a\.x\(1\): error 5: no; install it \("):
        build(source, tool, "told")
    assert list((tmp_path / "caches/sealift/programs").iterdir()) == []
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", "")
    with pytest.raises(Skip, match=r"neither \$XDG_CACHE_HOME nor \$HOME"):
        build(source, tool)


@pytest.mark.parametrize(
    ("listing", "kind"),
    [
        ("\timul   %ebx,%eax", "scalar: imul"),
        ("\tmulss  %xmm0,%xmm1\n\timul %eax,%ebx", "scalar: mulss"),
        ("\tmulss  %xmm0,%xmm1\n\tmulps  %xmm0,%xmm1", "SSE2: mulps"),
        # Whole numbers count the places of floats.
        ("\tpmulld %xmm0,%xmm1\n\tmulsd %xmm0,%xmm1", "scalar: mulsd"),
        ("\tpmuludq %xmm0,%xmm1\n\tpaddd %xmm0,%xmm1", "SSE2: pmuludq"),
        ("\tvmulps %xmm0,%xmm1,%xmm1", "AVX, 128 bits: vmulps"),
        ("\tvfmadd231ps %ymm0,%ymm1,%ymm1\n\tvmulss %xmm0,%xmm1,%xmm1", "AVX2: vfmadd231ps"),
        ("\tvpmullq %zmm0,%zmm1,%zmm1\n\tvmovdqu %ymm0,(%rax)", "AVX-512: vpmullq"),
        ("\tvmulph %zmm0,%zmm1,%zmm1", "AVX-512: vmulph"),
        ("\tvmulsh %xmm0,%xmm1,%xmm1\n\timul %eax,%ebx", "scalar: vmulsh"),
        ("\tadd    %eax,%ebx", "unknown: no multiplication was found"),
    ],
)
def test_machine_code_is_named_by_the_widest_registers_that_it_multiplies_in(
    listing: str, kind: str
) -> None:
    assert multiplications(listing) == kind


def test_without_objdump_machine_code_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(*_: object, **__: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(subprocess, "run", lacking)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert "apt-get install binutils" in built.machine_code(Path("library.so"), "products")
