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
    lacking = {"ipsec-mb": "apt-get", "openssl": "cargo", "boringssl": "cargo"}
    assert ran.stderr.splitlines() == [
        *(
            f"absent: {library}: [Errno 2] No such file or directory: '{command}'"
            for library, command in lacking.items()
        ),
        "absent: isal-crypto: no package index has it; put libisal_crypto.so.2 into "
        f"{tmp_path / 'peers'}",
    ]
    assert [*(tmp_path / "peers").iterdir()] == []


def test_what_is_there_already_stays(tmp_path: Path) -> None:
    (tmp_path / "libIPSec_MB.so.2").touch()
    (tmp_path / "libisal_crypto.so.2").touch()
    told = run(tmp_path, tmp_path / "nowhere").stderr
    assert "ipsec-mb" not in told
    assert "isal-crypto" not in told
