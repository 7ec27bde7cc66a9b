"""What the program that measures GPUs knows of machine code is what was accepted."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORK = Path("crates/sealift-gpu-run/src/work.json")
PAGE = Path("docs/document-003-gpu.md")


def checked(root: Path) -> tuple[int, str]:
    command = [sys.executable, str(ROOT / "tools/gpu_limits.py"), "--check", "--root", str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_the_program_is_given_the_counts_that_were_accepted() -> None:
    assert checked(ROOT) == (0, "")


def test_counts_of_other_code_are_told_and_written_anew(tmp_path: Path) -> None:
    file = tmp_path / WORK
    file.parent.mkdir(parents=True)
    page = tmp_path / PAGE
    page.parent.mkdir()
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    page.write_text(text.replace("| RTX 4070 |", "| RTX 4071 |"), encoding="utf-8")
    status, said = checked(tmp_path)
    assert status == 1
    assert "make gpu-budgets-accept" in said
    assert f"{WORK} is not" in said
    assert f"{PAGE} is not" in said
    asked = json.loads((ROOT / WORK).read_text(encoding="utf-8"))
    asked[0]["alu"] += 1
    file.write_text(json.dumps(asked), encoding="utf-8")
    assert checked(tmp_path)[0] == 1
    command = [sys.executable, str(ROOT / "tools/gpu_limits.py"), "--write"]
    command += ["--root", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True)
    assert checked(tmp_path) == (0, "")
    assert file.read_bytes() == (ROOT / WORK).read_bytes()
    assert page.read_text(encoding="utf-8") == text


def test_a_page_that_lost_a_table_is_told(tmp_path: Path) -> None:
    page = tmp_path / PAGE
    page.parent.mkdir(parents=True)
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    page.write_text(text.replace("<!-- projected: beside -->", ""), encoding="utf-8")
    command = [sys.executable, str(ROOT / "tools/gpu_limits.py"), "--write"]
    command += ["--root", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "is to have each of <!-- projected: blocks -->" in done.stderr
    assert not (tmp_path / WORK).exists()
