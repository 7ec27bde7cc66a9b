"""`sealift advise` about messages of one's own and the load that they are."""

import csv
import io
import json
import re
import signal
import time
from pathlib import Path

import pytest

from command import invoke, process, start, wait_for_blocks
from made_load import card, own, run_of
from sealift import cards, drivers

REAL = [driver.name for driver in drivers() if driver.role == "real"]
# A second of blocks, enough to have most.
SHORT = ("--budget", "2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A made-up run, about which many loads may be asked."""
    return run_of(tmp_path_factory.mktemp("load") / "run")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One of one device in one batch: each load is rehearsed in all that there are."""
    what = own(devices=("cpu",), batch=16)
    return str(run_of(tmp_path_factory.mktemp("small") / "run", what))


def lengths(folder: Path, text: str = "bytes,count\n40,30\n576,5\n1500,10\n") -> str:
    path = folder / "lengths.csv"
    path.write_text(text)
    return str(path)


def words(text: str) -> str:
    return " ".join(text.split())


def test_a_size_and_a_rate_are_answered_in_the_first_line() -> None:
    ran = process(
        "advise", "--size", "128", "--keys", "5000", "--rate", "40k", "--p99", "2ms", *SHORT
    )
    assert ran.returncode == 0, ran.stderr
    question, _, first, figure, basis, *_ = ran.stdout.splitlines()
    assert question == "Where should my bulk encryption run?"
    assert re.fullmatch(r"  Buy nothing; run on your CPU, with [\w' -]+\.", first), first
    assert re.fullmatch(r"  [\d.]+ % of a core \[[\d.]+–[\d.]+\] at 40,000 messages/s", figure), (
        figure
    )
    assert re.fullmatch(
        r"  128-byte messages, sealed, 5,000 keys, one core, (batches of \d+|one at a time)", basis
    ), basis
    assert len(ran.stdout.split()) < 80
    assert len(ran.stdout.splitlines()) <= 15
    assert "\x1b" not in ran.stdout
    assert "aes-gcm-by-size" in ran.stderr


def test_lengths_from_a_file_are_measured_in_their_proportions(tmp_path: Path) -> None:
    out = tmp_path / "run"
    ran = invoke("advise", "--from", lengths(tmp_path), *SHORT, "--out", str(out), "--json")
    assert ran.exit_code == 0, ran.stderr
    document = json.loads(ran.stdout)
    mean = (40 * 30 + 576 * 5 + 1_500 * 10) / 45
    assert document["messages"]["mean_bytes"] == pytest.approx(mean)
    assert document["messages"]["keys"] == "one"
    own_rows = [row for row in document["rows"] if " of " in row["workload"]]
    assert {row["device"] for row in own_rows} == set(REAL)
    for row in own_rows:
        # On a slow machine a sample works a part of them, in an order drawn.
        assert row["payload_bytes"] == pytest.approx(mean, rel=0.1)
    again = invoke("advise", "--run", str(out), "--rate", "1.5M", "--csv")
    assert again.exit_code == 0, again.stderr
    found = list(csv.DictReader(io.StringIO(again.stdout)))
    assert {each["origin"] for each in found} == {"measured", "fitted", "simulated"}


def test_a_file_of_lengths_is_told_beside_the_figures(tmp_path: Path) -> None:
    file = lengths(tmp_path, "\n".join(str(size) for size in range(1, 201)))
    ran = invoke("advise", "--from", file, *SHORT, "--devices", "library")
    assert ran.exit_code == 0, ran.stderr
    assert "messages of 100.5 bytes on average, sealed, one key" in ran.stdout
    assert "100x1" not in ran.stdout + ran.stderr


def test_lengths_that_are_thinned_to_another_mean_are_told_with_that_of_the_file(
    tmp_path: Path,
) -> None:
    file = lengths(tmp_path, "\n".join(map(str, [*range(1, 20_001), 10**9])))
    ran = invoke("advise", "--from", file, *SHORT, "--devices", "library", "--batch", "4")
    assert ran.exit_code == 0, ran.stderr
    assert ("Of 20,001 lengths 10,000 were taken: 10,001 bytes on average, not 59,998.") in words(
        ran.stdout
    )


def test_a_run_of_ones_own_is_asked_about_other_loads_without_measuring(
    folder: Path, tmp_path: Path
) -> None:
    made = card(tmp_path, host_ns=10)
    file = str(tmp_path / "pretend.toml")
    begin_s = time.monotonic()
    plain = invoke("advise", "--run", str(folder))
    assert re.search(r"\n  On your CPU, with Sealift's kernels: 5\.7\d× AWS-LC \[", plain.stdout)
    assert f"sealift advise --run {folder} --rate 1M\n" in plain.stdout
    asked = invoke(
        *("advise", "--run", str(folder), "--rate", "20M", "--device", file),
        *("--device", "quad-hifn-7751", "--core-price", "5000"),
    )
    assert asked.exit_code == 0, asked.stderr
    first = f"\n  Buy {made.name} (projected); else run on your CPU, with Sealift's kernels."
    assert first in asked.stdout
    assert re.search(r"\n  7[34]\.\d % of a core \[", asked.stdout)
    assert "pretend (projected) pays where a core costs over 1,670 USD." in words(asked.stdout)
    assert "\n  and 2 more\n" in asked.stdout
    assert time.monotonic() - begin_s < 50


def test_a_run_of_ones_own_is_asked_about_other_batches(folder: Path) -> None:
    for batch, said in (("1", "one at a time"), ("256", "batches of 256")):
        ran = invoke("advise", "--run", str(folder), "--batch", batch)
        assert ran.exit_code == 0, ran.stderr
        assert f"sealed, 5,000 keys, one core, {said}\n" in ran.stdout
    ran = invoke("advise", "--run", str(folder), "--batch", "100")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "a batch of 100 was not measured; there are 1, 4, 16, 64, 256, 1,024" in ran.stderr


def test_a_run_over_a_grid_is_shown_as_one_and_has_no_load(tmp_path: Path) -> None:
    out = str(tmp_path / "grid")
    short = ("--sizes", "16", "--keys", "one", "--budget", "2", "--devices", "library")
    assert invoke("advise", *short, "--out", out).exit_code == 0
    assert "Where should my bulk encryption run?" in invoke("advise", "--run", out).stdout
    ran = invoke("advise", "--run", out, "--rate", "40k")
    assert ran.exit_code == 2
    assert "measured no messages of one's own; keep such a run with `sealift advise --size N " in (
        ran.stderr
    )


def test_a_device_that_is_for_checking_only_is_no_answer() -> None:
    ran = invoke("advise", "--size", "64", "--devices", "library,null", *SHORT)
    assert ran.exit_code == 0, ran.stderr
    assert "\n  On your CPU, with AWS-LC: " in ran.stdout
    assert re.search(r"\n  null +is no device to run on \(null\)\n", ran.stdout)
    none = invoke("advise", "--size", "64", "--devices", "null", *SHORT)
    assert (none.exit_code, none.stdout) == (3, "")
    assert "nothing was measured" in none.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--rate", "40k"], "--rate is about a load; say of which messages: --size N, --from "),
        (["--p99", "500"], "--p99 is about a load"),
        (["--device", "quad-hifn-7751"], "--device is about a load"),
        (["--core-price", "5"], "--core-price is about a load"),
        (["--size", "0"], "--size"),
        (["--size", "-1"], "--size"),
        (["--size", "68719476705"], "68,719,476,704"),
        (
            ["--size", "16", "--rate", "-40k"],
            "'-40k' is no number of messages a second from 0.01 to ",
        ),
        (["--size", "16", "--rate", "0"], "--rate: '0' is no number of messages a second"),
        (["--size", "16", "--rate", "fast"], "--rate: 'fast' is no number of messages"),
        (
            ["--size", "16", "--rate", "1e99"],
            "1,000,000,000,000; write one, as in 40000, 40k or 1.5M",
        ),
        (["--size", "16", "--rate", "1,5M"], "--rate: '1,5M' has a comma that is not between thou"),
        (["--size", "16", "--rate", "1,5M"], "for a part of one write a point, as in 1.5M"),
        (["--size", "16", "--rate", "40,00"], "--rate: '40,00' has a comma"),
        (["--size", "16", "--rate", "1k", "--p99", "1,5ms"], "--p99: '1,5ms' has a comma"),
        (["--size", "16", "--rate", ""], "--rate: '' is no number of messages"),
        (
            ["--size", "16", "--device", "quad-hifn-7751", "--core-price", "-5"],
            "--core-price: '-5' is no price above 0; write a number, as in 500",
        ),
        (["--size", "16", "--p99", "500"], "--p99 500 depends on the rate; add --rate, as in"),
        (["--size", "16", "--rate", "1k", "--p99", "0"], "--p99: '0' is no time; write micro"),
        (["--size", "16", "--rate", "1k", "--p99", "-2ms"], "--p99: '-2ms' is no time"),
        (
            ["--size", "16", "--core-price", "9"],
            "--core-price 9 is for cards; add one with --device",
        ),
        (
            ["--size", "16", "--device", "quad-hifn", "--core-price", "x"],
            "no card is called 'quad-hifn'; did you mean quad-hifn-7751?; there are quad-hifn-7751",
        ),
        (
            ["--size", "16", "--device", "cpu"],
            "'cpu' is no card but a device of this machine: --dev",
        ),
        (
            ["--size", "16", "--device", "h200"],
            "'h200' is no card but a GPU. Projected, a message of 128 bytes takes it 0.0038 us at "
            "least, host to host in full batches; that is a limit, and no advice stands on one. "
            "What GPUs could do at most beside this machine's cores: `sealift lab run gpu-beside-",
        ),
        (["--size", "16", "--device", "RTX-4070"], "takes it 0.015 us at least"),
        (["--size", "16", "--device", "NVIDIA H200"], "--devices cuda measures it"),
        (["--size", "16", "--device", "gpu"], "no card but a GPU. GPUs are the devices cuda and"),
        (
            ["--size", "16", "--device", "nowhere.toml"],
            "--device: there is no file 'nowhere.toml'; cards that come with Sealift are quad-hifn",
        ),
        (["--size", "16", "--device", ""], "no card is called ''"),
        (["--size", "16", "--from", "x.csv"], "--size 16 and --from x.csv both say how long"),
        (
            ["--size", "16", "--sizes", "16,32"],
            "--sizes 16,32 has no effect with --size and --from",
        ),
        (["--size", "16", "--quick"], "--quick has no effect with --size and --from"),
        (["--size", "16", "--workload", "as-logged"], "--workload as-logged has no effect with"),
        (
            ["--size", "16", "--keys", "one,fresh"],
            "--keys one,fresh is a list; for messages of your",
        ),
        (["--size", "16", "--keys", "0"], "--keys: 0 keys; right would be 1 to "),
        (["--size", "16", "--keys", "many"], "keys 'many'; write one, fresh or sessions:N"),
        (["--size", "16", "--threads", "1000"], "--threads 1000: this machine has "),
        (["--size", "16", "--threads", "1,2"], "--threads 1,2 is a list; for messages of your own"),
        (["--size", "16", "--key-bits", "512"], "'512' is no size of an AES key"),
        (["--size", "16", "--mix", "half"], "mix 'half'; write seal, open, or weights"),
        (["--size", "16", "--devices", "libary"], "did you mean 'library'"),
        (["--from", "nowhere.csv"], "--from: nowhere.csv: No such file or directory; right would"),
        (["--from", "."], ". is a folder; right would be a file of lengths, or --run . for a run"),
        (["--run", "x", "--size", "16"], "--size 16 has no effect with --run, which measures"),
        (["--run", "x", "--from", "y"], "--from y has no effect with --run"),
        (["--run", "x", "--p99", "500"], "--p99 500 depends on the rate"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_measured(arguments: list[str], said: str) -> None:
    begin_s = time.monotonic()
    ran = invoke("advise", *arguments)
    assert ran.exit_code == 2, ran.output
    assert said in ran.stderr
    assert ran.stdout == ""
    assert time.monotonic() - begin_s < 20


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("length\n40\n", "no column 'bytes' in its first line, 'length'; right would be a header"),
        ("bytes\n40\n68719476705\n", "line 3: length '68719476705' is no whole number from 0 to"),
        ("", "no messages; write at least one length"),
    ],
)
def test_a_file_of_lengths_that_is_wrong_is_told(text: str, said: str, tmp_path: Path) -> None:
    ran = invoke("advise", "--from", lengths(tmp_path, text), "--rate", "1k")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert f"--from: {tmp_path / 'lengths.csv'}: " in ran.stderr
    assert said in ran.stderr


def test_a_card_with_a_mistake_is_told_with_file_and_key(tmp_path: Path) -> None:
    card(tmp_path)
    file = tmp_path / "pretend.toml"
    file.write_text(file.read_text().replace("units = 1", "units = 0"))
    ran = invoke("advise", "--size", "16", "--device", str(file))
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert str(file) in ran.stderr
    assert "units" in ran.stderr


def test_two_cards_of_one_name_and_one_with_a_devices_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    for place in (tmp_path, tmp_path / "other"):
        card(place)
    both = [f"{tmp_path}/pretend.toml", f"{tmp_path}/other/pretend.toml"]
    ran = invoke("advise", "--size", "16", "--device", both[0], "--device", both[1])
    assert ran.exit_code == 2
    assert "two cards are called 'pretend'; rename one in its file" in ran.stderr
    card(tmp_path, name="library")
    ran = invoke("advise", "--size", "16", "--device", f"{tmp_path}/library.toml")
    assert ran.exit_code == 2
    assert "a card is called 'library', as a device is; rename it in its file" in ran.stderr


def test_messages_beyond_the_machines_memory_are_refused_with_the_figures() -> None:
    ran = invoke("advise", "--size", "68,719,476,704", "--budget", "2")
    assert ran.exit_code == 3, ran.output
    assert "GB" in ran.stderr
    assert "nothing was measured" in ran.stderr


def test_every_card_that_comes_with_it_is_asked_by_name(folder: Path) -> None:
    for each in cards():
        ran = invoke("advise", "--run", str(folder), "--device", each.name)
        assert ran.exit_code == 0, ran.stderr
        assert re.search(rf"\n  {each.name} +░+ .* messages/s \(projected\)\n", ran.stdout)
        assert re.search(rf"{each.name} \(projected[^)]*\) \w+", words(ran.stdout))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("40000", "40,000"),
        ("40k", "40,000"),
        ("40,000", "40,000"),
        ("1,500k", "1.5 million"),
        ("1.5M", "1.5 million"),
        ("1e6", "1 million"),
        (".5", "0.5"),
        ("0.002G", "2 million"),
        ("10G", "10 billion"),
    ],
)
def test_a_rate_is_written_as_people_write_numbers(written: str, said: str, small: str) -> None:
    ran = invoke("advise", "--run", small, "--rate", written)
    assert ran.exit_code == 0, ran.stderr
    assert f" at {said} messages/s\n" in ran.stdout


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("500", "500 us"),
        ("1,000", "1 ms"),
        ("500us", "500 us"),
        (".5ms", "500 us"),
        ("2ms", "2 ms"),
        ("1.5s", "1.5 s"),
    ],
)
def test_a_deadline_has_microseconds_or_its_unit(written: str, said: str, small: str) -> None:
    ran = invoke("advise", "--run", small, "--rate", "40k", "--p99", written)
    assert f" of {said} (simulated)." in words(ran.stdout)


def test_ctrl_c_answers_with_what_is_complete(tmp_path: Path) -> None:
    load = ("advise", "--size", "64", "--rate", "40k", "--budget", "60")
    running = start(*load, TMPDIR=str(tmp_path))
    wait_for_blocks(running, 12, tmp_path)
    running.send_signal(signal.SIGINT)
    stdout, stderr = running.communicate(timeout=120)
    assert running.returncode == 130, stderr
    told = r"Interrupted after about \d+ of 60 s, with \d+ of [\d,]+ blocks, as few as \d for "
    assert re.search(told, words(stdout))
    assert "\n  64-byte messages, sealed, one key" in stdout
    assert "Traceback" not in stderr


def test_threads_count_as_cores(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "run", own(threads=2))
    ran = invoke("advise", "--run", str(folder), "--rate", "45M")
    assert "\n  Buy nothing; run on your CPU" in ran.stdout
    assert re.search(r"\n  1\.6\d cores \[.*\] at 45 million messages/s\n", ran.stdout)
    assert "5,000 keys, 2 threads, " in ran.stdout
