"""What the documents show is run as it stands there."""

import csv
import re
from pathlib import Path

from command import process

DOCUMENT = Path(__file__).parents[2] / "docs" / "your-own-experiment.md"


def test_an_experiment_of_ones_own_runs_as_the_document_shows_it(tmp_path: Path) -> None:
    code = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert len(code) == 1
    assert len(code[0].splitlines()) < 40
    (tmp_path / "mine.py").write_text(code[0])
    ran = process("lab", "run", "./mine.py", "--budget", "5", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    page = tmp_path / ran.stdout.splitlines()[-1]
    rows = list(csv.DictReader((page.parent / "summary.csv").read_text().splitlines()))
    cells = {(row["hash"], row["size_bytes"]) for row in rows}
    assert cells == {
        (name, size) for name in ("sha256", "sha3_256", "blake2b") for size in ("64", "16384")
    }
    for row in rows:
        assert float(row["ns_per_operation"]) > 0
        assert row["compare"] == "hash"
        assert (row["verdict"] == "") == (row["hash"] == "sha256")
    text = page.read_text(encoding="utf-8")
    assert "Hashes by record size" in text
    assert "Hashing by record size" in text
    figure = process(
        "lab", "plot", str(page.parent), "--x", "size_bytes", "--y", "ns_per_operation",
        "--z", "hash", "-o", "hashes.svg", cwd=tmp_path,
    )  # fmt: skip
    assert figure.returncode == 0, figure.stderr
    assert (tmp_path / "hashes.svg").read_text().startswith("<svg")
