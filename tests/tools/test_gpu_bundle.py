"""The program for GPU machines is refused where it would not run there."""

import sys
from pathlib import Path

import pytest

import gpu_bundle

# Any program of this machine: it was made for the C library that is here, or for an older one.
PROGRAM = Path(sys.executable).resolve()


def test_versions_and_libraries_are_read_from_the_program() -> None:
    program = gpu_bundle.Program(PROGRAM.read_bytes())
    assert "libc.so.6" in program.needed
    assert (2, 2) <= gpu_bundle.glibc(program) < (3,)
    assert any(name.startswith("GLIBC_2.") for name in program.versions)


def test_what_is_too_new_too_large_or_needs_more_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_bundle, "GLIBC_MOST", (2, 1))
    monkeypatch.setattr(gpu_bundle, "BYTES_MOST", 1_000)
    monkeypatch.setattr(gpu_bundle, "LIBRARIES", set())
    told = "\n".join(gpu_bundle.faults(PROGRAM.read_bytes()))
    assert "and 1,000 are the most" in told
    assert "and 2.1 is the most: build it on an older system" in told
    assert "needs libc.so.6, which a bare machine may lack" in told


def test_a_program_that_is_fine_is_put_in_its_place_and_another_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = gpu_bundle.Program(PROGRAM.read_bytes())
    monkeypatch.setattr(gpu_bundle, "GLIBC_MOST", gpu_bundle.glibc(program))
    monkeypatch.setattr(gpu_bundle, "LIBRARIES", {*program.needed})
    place = tmp_path / "dist" / "program"
    monkeypatch.setattr("sys.argv", ["gpu_bundle.py", str(PROGRAM), str(place)])
    assert gpu_bundle.main() == 0
    assert place.read_bytes() == PROGRAM.read_bytes()
    assert "and newer" in capsys.readouterr().out
    place.unlink()
    monkeypatch.setattr(gpu_bundle, "GLIBC_MOST", (2, 1))
    assert gpu_bundle.main() == 1
    assert not place.exists()


def test_what_is_no_program_is_refused() -> None:
    with pytest.raises(ValueError, match="no ELF file"):
        gpu_bundle.Program(b"#!/bin/sh\n")
