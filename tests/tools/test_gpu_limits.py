"""The program that measures GPUs knows the needs of the machine code that was accepted."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools/gpu_limits.py"
WORK = Path("crates/sealift-gpu-run/src/work.json")


def run(root: Path, option: str) -> tuple[int, str]:
    command = [sys.executable, str(TOOL), option, "--root", str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_the_program_is_given_the_needs_that_were_accepted() -> None:
    assert run(ROOT, "--check") == (0, "")


def test_needs_of_other_code_are_found_and_written_anew(tmp_path: Path) -> None:
    file = tmp_path / WORK
    file.parent.mkdir(parents=True)
    assert run(tmp_path, "--check")[0] == 1
    needs = json.loads((ROOT / WORK).read_text(encoding="utf-8"))
    needs[0]["alu"] += 1
    file.write_text(json.dumps(needs), encoding="utf-8")
    code, text = run(tmp_path, "--check")
    assert code == 1
    assert "make gpu-budgets-accept" in text
    assert run(tmp_path, "--write")[0] == 0
    assert run(tmp_path, "--check") == (0, "")
    assert file.read_bytes() == (ROOT / WORK).read_bytes()
