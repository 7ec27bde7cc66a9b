"""A library that can't be installed is a line with the reason, and no failure."""

import subprocess
import sys
from pathlib import Path

import pytest

import peer_libraries

TOOL = Path(__file__).parents[2] / "tools" / "peer_libraries.py"


def run(folder: Path, path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOL), str(folder)]
    environment = {"PATH": str(path)}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def test_without_the_commands_that_it_needs_each_library_is_absent_and_says_why(
    tmp_path: Path,
) -> None:
    ran = run(tmp_path / "peers", tmp_path)
    assert ran.returncode == 0
    assert ran.stderr.splitlines() == [
        "absent: ipsec-mb: there is no apt-get and no dpkg-deb on PATH "
        "(Debian: apt-get install apt dpkg)",
        "absent: openssl: there is no cargo and no cc and no make and no perl on PATH "
        "(Debian: apt-get install cargo gcc make perl)",
        "absent: boringssl: there is no cargo and no cc and no c++ and no make and no cmake on "
        "PATH (Debian: apt-get install cargo gcc g++ make cmake)",
    ]


def test_a_copy_that_is_interrupted_leaves_no_library_to_be_taken_for_a_whole_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built, target = tmp_path / "libcrypto.so", tmp_path / "peers" / "libIPSec_MB.so.2"
    built.write_text("a library")
    target.parent.mkdir()

    def half(library: Path, place: Path) -> None:
        place.write_text(library.read_text()[:4])
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("shutil.copy", half)
        with pytest.raises(KeyboardInterrupt):
            peer_libraries.install(built, target)
    assert list(target.parent.glob("lib*")) == []
    peer_libraries.install(built, target)
    assert target.read_text() == "a library"


def test_what_is_there_already_stays(tmp_path: Path) -> None:
    (tmp_path / "libIPSec_MB.so.2").touch()
    assert "ipsec-mb" not in run(tmp_path, tmp_path / "nowhere").stderr
