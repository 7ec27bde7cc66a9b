"""`sealift advise`: wrong usage, stored runs, and a short measurement."""

import json
import re
from pathlib import Path

import pytest
from tests.lab.advise.made_load import card, messages, run_of
from tests.lab.cli import commands
from typer.testing import Result

from sealift_lab._lab import drivers

REAL = {driver.name for driver in drivers() if driver.role == "real"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A made-up run of one device in one batch, about which many loads may be asked."""
    path = tmp_path_factory.mktemp("load") / "run"
    run_of(path, messages(batch=16))
    return str(path)


def invoke(*arguments: str) -> Result:
    return commands.invoke("advise", *arguments)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (
            "--rate 40k",
            "--rate needs the messages of your load: add --size N",
        ),
        ("--device quad-hifn-7751", "--device needs the messages of your load"),
        ("--size 0", "--size: '0' is no number of bytes"),
        ("--size 68719476705", "68,719,476,704"),
        ("--size 16 --rate 0", "--rate: '0' is no number of messages a second"),
        ("--size 16 --rate 1,5M", "--rate: '1,5M' has a comma that is not between thou"),
        ("--size 16 --p99 500", "--p99 depends on the rate; add --rate, as in"),
        ("--size 16 --rate 1k --p99 0", "--p99: '0' is no time; write micro"),
        ("--size 16 --core-price 9", "--core-price is for cards; add one with --device"),
        ("--size 16 --device quad-hifn", "no card is called 'quad-hifn'; did you mean quad-hifn-"),
        ("--size 16 --device cpu", "'cpu' is no card but a device of this machine: --dev"),
        ("--size 16 --device h200", "'h200' is no card but a GPU. GPUs are the devices cuda and"),
        ("--size 16 --device nowhere.toml", "--device: there is no file 'nowhere.toml'; docs"),
        ("--size 16 --from x.csv", "--size 16 and --from x.csv both say how long"),
        ("--from nowhere.csv", "--from: nowhere.csv: No such file or directory; right would"),
        ("--size 16 --sizes 16,32", "--sizes has no effect with --size and --from"),
        ("--size 16 --quick", "--quick has no effect with --size and --from"),
        ("--size 16 --keys one,fresh", "--keys is a list; for messages of your"),
        ("--size 16 --keys 0", "--keys: 0 keys; right would be 1 to "),
        ("--size 16 --threads 1000", "--threads 1000: this machine has "),
        ("--size 16 --threads 1,2", "--threads is a list; for messages of your own"),
        ("--size 16 --key-bits 512", "'512' is no size of an AES key"),
        ("--size 16 --mix half", "mix 'half'; write seal, open, or weights"),
        ("--devices libary", "no device is called 'libary' (did you mean 'library'?)"),
        ("--devices gpu", "no driver is called 'gpu'; GPUs are the devices cuda and opencl"),
        ("--devices qat", "no device is called 'qat'; there are"),
        ("--devices library:bogus=1", "bogus"),
        ("--sizes 16,x", "--sizes: 'x' is no size in bytes"),
        ("--keys sesions:3", "keys 'sesions:3'; write one, fresh or sessions:N"),
        ("--batch 0", "--batch: '0' is no number of messages; write a whole number from 1 to"),
        ("--budget 0", "'0' is no time; write seconds, as in 90, or 3m"),
        ("--quick --sizes 16", "--sizes has no effect with --quick"),
        ("--run nowhere", "nowhere is not there; name the folder of a run"),
        ("--run x --size 16", "--size has no effect with --run, which measures"),
        ("--run x --out y", "--out has no effect with --run"),
        ("--run x --p99 500", "--p99 depends on the rate"),
    ],
)
def test_wrong_usage_says_what_would_be_right(words: str, why: str) -> None:
    ran = invoke(*words.split())
    assert ran.exit_code == 2, ran.output
    assert why in ran.stderr
    assert ran.stdout == ""


def test_a_stored_run_is_asked_about_other_loads_without_measuring(
    folder: str, tmp_path: Path
) -> None:
    plain = invoke("--run", folder)
    assert plain.exit_code == 0, plain.stderr
    assert "\n  On your CPU, with Sealift's kernels: " in plain.stdout
    assert f"sealift advise --run {folder} --rate 1M\n" in plain.stdout
    card(tmp_path)
    load = ("--rate", "10M", "--p99", "1s", "--device", str(tmp_path / "pretend.toml"))
    asked = invoke("--run", folder, *load, "--device", "quad-hifn-7751", "--core-price", "50000")
    assert asked.exit_code == 0, asked.stderr
    first, figure = asked.stdout.splitlines()[2:4]
    assert first == "  Buy pretend (projected); else run on your CPU, with Sealift's kernels"
    assert re.fullmatch(r"  10,000,000 messages/s: \d+\.\d % of a core \[.*\]", figure)
    one = invoke("--run", folder, "--batch", "1")
    assert "sealed, 1 thread, batch 1\n" in one.stdout
    wrong = invoke("--run", folder, "--batch", "100")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert "a batch of 100 was not measured; there are 1, 4, 16" in wrong.stderr


def test_numbers_are_written_as_people_write_them(folder: str) -> None:
    ran = invoke("--run", folder, "--rate", "1.5M", "--p99", "1,000")
    assert ran.exit_code == 0, ran.stderr
    assert "\n  1,500,000 messages/s: " in ran.stdout
    assert " of 1.00 ms" in ran.stdout


def test_lengths_of_a_file_are_measured_in_their_proportions_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _measure_little(monkeypatch)
    file, out = tmp_path / "lengths.csv", tmp_path / "run"
    file.write_text("bytes,count\n40,30\n576,5\n1500,10\n")
    how = ("--budget", "60", "--batch", "4", "--devices", "library", "--out", str(out))
    ran = invoke("--from", str(file), *how, "--json")
    assert ran.exit_code == 0, ran.stderr
    document = json.loads(ran.stdout)
    mean = (40 * 30 + 576 * 5 + 1_500 * 10) / 45
    assert document["messages"]["mean_bytes"] == pytest.approx(mean)
    own = [row for row in document["rows"] if " of " in row["workload"]]
    assert {row["batch"] for row in own} == {1, 4}
    assert (out / "report.html").exists()
    again = invoke("--run", str(out), "--rate", "100k", "--json")
    assert again.exit_code == 0, again.stderr
    (library,) = json.loads(again.stdout)["devices"]
    assert (library["origin"], [each["messages"] for each in library["batches"]]) == (
        "measured",
        [1, 4],
    )


def test_a_grid_is_shown_and_has_no_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _measure_little(monkeypatch)
    out = str(tmp_path / "grid")
    short = ("--sizes", "16", "--keys", "fresh", "--budget", "60", "--out", out)
    ran = invoke(*short)
    assert ran.exit_code == 0, ran.stderr
    assert ran.stdout.startswith("Where should my bulk encryption run?\n")
    assert "16 B messages, a fresh key each" in ran.stdout
    again = invoke("--run", out, "--json")
    assert {row["device"] for row in json.loads(again.stdout)["rows"]} == REAL
    load = invoke("--run", out, "--rate", "40k")
    assert load.exit_code == 2
    assert "measured no messages of one's own; keep such a run with `sealift advise" in load.stderr


def _measure_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has one process measure few blocks, however much time a busy machine is given."""
    monkeypatch.setattr("sealift_lab.cli.advise.BLOCKS", 8)
    monkeypatch.setattr("sealift_lab.cli.advise.estimate_s", lambda *_, **__: 3_600.0)
