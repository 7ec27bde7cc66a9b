"""A library that can't be installed is a line with the reason, and no failure."""

import subprocess
import sys
from pathlib import Path

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


def test_what_is_there_already_stays(tmp_path: Path) -> None:
    (tmp_path / "libIPSec_MB.so.2").touch()
    assert "ipsec-mb" not in run(tmp_path, tmp_path / "nowhere").stderr
