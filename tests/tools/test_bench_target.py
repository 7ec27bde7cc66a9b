"""`make bench` with commands that do nothing in the place of those that measure."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILT = ("EXTENSION", "LAB_EXTENSION", "TESTING")


def bench(tmp_path: Path, sealift: str) -> int:
    """Runs the target with what it builds taken as built, and without other libraries."""
    file = tmp_path / "sealift"
    file.write_text(f"#!/bin/sh\n{sealift}\n")
    file.chmod(0o755)
    built = {name: tmp_path / name for name in BUILT}
    for file in built.values():
        file.touch()
    old = [word for each in built.values() for word in ("-o", str(each))]
    places = {**built, "BIN": tmp_path, "RESULTS": tmp_path, "MAKE": "true"}
    command = ["make", *old, *(f"{name}={place}" for name, place in places.items()), "bench"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode


def test_advice_that_fails_leaves_the_one_that_is_there(tmp_path: Path) -> None:
    kept = tmp_path / "advise.txt"
    kept.write_text("whole")
    half = 'if [ "$1" = advise ]; then echo half; exit 6; fi'
    assert bench(tmp_path, half) != 0
    assert kept.read_text() == "whole"
    assert bench(tmp_path, "echo an answer") == 0
    assert kept.read_text() == "$ sealift advise --size 128 --keys 5000\nan answer\n"


def test_results_are_named_by_family_and_model_where_the_name_says_too_little(
    tmp_path: Path,
) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    for name, folder in (
        ("AMD EPYC", "amd-epyc-25-1"),
        ("AMD EPYC 7763 64-Core", "amd-epyc-7763-64-core"),
        ("Intel(R) Xeon(R) Processor", "intelr-xeonr-processor-25-1"),
    ):
        one = f"cpu family\t: 25\nmodel\t\t: 1\nmodel name\t: {name}\nstepping\t: 1\n\n"
        cpuinfo.write_text(one * 2)
        rule = "--eval=shown: ; @echo $(PROCESSOR)"
        command = ["make", "-s", f"CPUINFO={cpuinfo}", rule, "shown"]
        shown = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True)
        assert shown.stdout == f"{folder}\n"
