"""What the documents show is run as it stands there."""

import csv
import re
import tomllib
from pathlib import Path

from tests.lab.advise.made_load import run_of

from command import invoke, process
from sealift_lab._lab import Card

DOCUMENTS = Path(__file__).parents[2] / "docs"
DOCUMENT = DOCUMENTS / "your-own-experiment.md"


def test_an_experiment_of_ones_own_runs_as_the_document_shows_it(tmp_path: Path) -> None:
    code = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert len(code) == 1
    assert len(code[0].splitlines()) < 40
    (tmp_path / "mine.py").write_text(code[0])
    how = ("--quick", "--budget", "5m", "--out", "run")
    ran = process("lab", "run", "./mine.py", *how, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    page = tmp_path / "run/report.html"
    rows = list(csv.DictReader((page.parent / "summary.csv").read_text().splitlines()))
    cells = [(row["size_bytes"], row["hash"]) for row in rows]
    hashes = ("sha256", "sha3_256", "blake2b")
    assert cells == [(size, name) for size in ("64", "16384") for name in hashes]
    for row in rows:
        assert float(row["ns"]) > 0
        assert row["compare"] == "hash"
        assert (row["verdict"] == "") == (row["hash"] == "sha256")
    text = page.read_text(encoding="utf-8")
    assert "Hashes by record size" in text
    assert "Hashing by record size" in text
    figure = process(
        "lab", "plot", str(page.parent), "--x", "size_bytes", "--y", "ns",
        "--z", "hash", "-o", "hashes.svg", cwd=tmp_path,
    )  # fmt: skip
    assert figure.returncode == 0, figure.stderr
    assert (tmp_path / "hashes.svg").read_text().startswith("<svg")


def test_the_card_in_the_document_is_read_and_has_every_part_that_there_is(tmp_path: Path) -> None:
    (text,) = re.findall(
        r"```toml\n(.*?)```", (DOCUMENTS / "advise.md").read_text(encoding="utf-8"), re.DOTALL
    )
    (tmp_path / "card.toml").write_text(text)
    card = Card.read(tmp_path / "card.toml")
    assert (card.name, card.price, card.currency, card.watts) == ("crypto-900", 900, "USD", 25)
    written = {
        f"{part}.{name}"
        for part, body in tomllib.loads(text).items()
        if isinstance(body, dict)
        for name in body
    }
    assert {constant.name for constant in card.constants} <= written
    folder = run_of(tmp_path / "run").path
    ran = invoke(
        *("advise", "--run", str(folder), "--rate", "40k", "--p99", "2ms"),
        *("--device", str(tmp_path / "card.toml")),
    )
    assert ran.exit_code == 0, ran.stderr
    told = " ".join(ran.stdout.split())
    assert "Buy nothing; run on your CPU, with Sealift's kernels" in told
    assert "Projected: crypto-900 pays where a core costs over " in told
