"""The bench of columns, on few rows, and the parts of documents that its files become."""

import csv
import os
import sys
from pathlib import Path

import pytest

import columns
import columns_arms
import docs_files
from docs_runs import Source

ARMS = [columns_arms.OURS, columns_arms.LOOP, columns_arms.COLUMN_LOOP]


def lines(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_it_measures_each_implementation_in_turn_and_both_memories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = Path(__file__).parents[2] / "python"
    monkeypatch.setenv("PYTHONPATH", f"{package}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    folder = tmp_path / "2026-01-02/here/columns"
    command = ["columns.py", "--rows", "300", "--rounds", "2", "--out", str(folder)]
    monkeypatch.setattr(sys, "argv", command)
    assert columns.main() == 0
    samples = lines(folder / "samples.csv")
    assert [(each["round"], each["arm"]) for each in samples] == [
        (number, arm) for number in ("1", "2") for arm in ARMS
    ]
    assert all(int(each["seal_ns"]) > 0 < int(each["open_ns"]) for each in samples)
    sealing, opening = lines(folder / "memory.csv")
    assert int(sealing["output_bytes"]) - int(opening["output_bytes"]) == 300 * 36
    assert sealing["output_bytes"] == opening["input_bytes"]
    assert "2 rounds in turn" in docs_files.column_speeds([Source(folder, "x")])


def test_an_implementation_that_opens_to_something_else_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    columns.make_rows(tmp_path, 10, seed=1)

    def wrong(texts: object, ids: object, keys: object) -> columns_arms.Arm:
        del texts, ids, keys
        return columns_arms.Arm(lambda: b"", lambda _: b"", lambda _: False)

    monkeypatch.setattr(columns_arms, "ARMS", {"wrong": wrong})
    monkeypatch.setattr(sys, "argv", ["columns_arms.py", "wrong", str(tmp_path), "10"])
    monkeypatch.setattr(sys, "stdin", ["\n"])
    assert columns_arms.main() == 1
    assert "wrong: what was opened is not what was sealed" in capsys.readouterr().err


def test_tables_have_medians_and_ratios_to_the_first_implementation(tmp_path: Path) -> None:
    folder = tmp_path / "2026-01-02/here/columns"
    folder.mkdir(parents=True)
    samples = ["arm,rows,round,seal_ns,open_ns"]
    for number in range(1, 9):
        samples += [f"ours,10,{number},1000,{900 + 10 * number}", f"loop,1,{number},500,460"]
    (folder / "samples.csv").write_text("\n".join(samples))
    memory = "what,rows,input_bytes,output_bytes,peak_bytes\nmemory of sealing,5,1048576,0,3145728"
    (folder / "memory.csv").write_text(memory)
    sources = [Source(folder, "x")]
    text = docs_files.column_speeds(sources)
    assert "| ours | 10 | 100 [100–100] | 94.5 [91.0–98.0] | 194 [191–198] |  |" in text
    assert "| loop | 1 | 500 [500–500] | 460 [460–460] | 960 [960–960] | 4.94 [" in text
    assert "8 rounds in turn, 99 % intervals" in text
    assert "5 rows: sealing 1 + 0 + 2 MiB." in docs_files.column_memory(sources)
