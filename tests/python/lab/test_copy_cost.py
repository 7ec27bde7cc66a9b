"""What copies cost: left by the lab's probe, taken by cards that a fresh engine reads."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from command import invoke
from made_load import run_of
from sealift import Card, InputError
from sealift._sealift import keep_copy_cost
from sealift.lab import registry, runner, store
from sealift.lab.copying import RECKONED, SIZES
from sealift.lab.result import Found, Row
from sealift.lab.runner import planning
from sealift.lab.spec import Scope
from sealift.lab.stats import Interval
from sealift.lab.summary import summarise

EXPERIMENT = registry.find("copy-by-length")
KIB_64 = SIZES.index(65_536)
KEPT = r"measured here: 64 KiB among the copies of 16 to 16777216 bytes from memory that `sealift "
KEPT += r"lab run copy-by-length` timed on \d{4}-\d\d-\d\d and that are reckoned with by length"
TIMED = "measured here: 16 MiB from memory to memory, 64 KiB at a time, the best of 3 tries; "


@pytest.fixture(autouse=True)
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    return tmp_path / "caches" / "sealift"


@pytest.fixture
def card(tmp_path: Path) -> Path:
    """The description of a card for which each byte is copied once, at this machine's cost."""
    path = tmp_path / "copier.toml"
    path.write_text(
        """
name = "copier"
summary = "a card for which all is copied"
source = "made up"
[card]
units = 1
rate_gbit_per_s = 1000
setup_us = 0.1
slots = 4
messages_per_request = 1
[host]
request_us = 1
copies = 1
"""
    )
    return path


def test_a_run_of_the_probe_changes_what_a_fresh_engine_predicts(
    tmp_path: Path,
    caches: Path,
    card: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(planning, "BLOCKS", 3)
    before = fresh(card)
    assert before["source"].startswith(TIMED)
    run = probed(tmp_path, caches)
    (file,) = caches.iterdir()
    assert f"what copies cost here is kept in {file}" in capsys.readouterr().err
    rows = summarise(store.read(run))[EXPERIMENT.name]
    medians = [speed_of(rows, size).ns_per_operation.median for size in SIZES]
    # A longer copy counts as taking no less, whatever the noise was.
    expected_ns = list(accumulate(medians, max))
    after = fresh(card)
    assert after["copied_ns"] == pytest.approx(expected_ns)
    assert after["gbit_per_s"] == pytest.approx(8 * 65_536 / expected_ns[KIB_64])
    assert re.fullmatch(KEPT, after["source"])

    keep_copy_cost([(size, 3 * ns) for size, ns in zip(SIZES, expected_ns, strict=True)])
    dearer = fresh(card)
    assert dearer["copied_ns"] == pytest.approx([3 * ns for ns in expected_ns])
    assert dearer["batch_ns"] - after["batch_ns"] == pytest.approx(2 * expected_ns[KIB_64])
    assert dearer["per_byte_ns"] > after["per_byte_ns"]

    file.unlink()
    runner.resume(run)
    assert not file.exists(), "what is resumed may be of another day and machine"


def test_what_is_not_whole_is_not_kept_and_why_is_told(caches: Path) -> None:
    keep = EXPERIMENT.keeps
    not_kept = "what copies cost here is not kept for cards: "
    whole = found(float)
    lacking = Found([row for row in whole.rows if row.cell["size_bytes"] != 4_194_304], ())
    needed = "3 right blocks are needed of {} bytes from memory by one thread"
    assert keep(lacking) == not_kept + needed.format("4,194,304")
    for poor in (found(float, wrong="byte 3 is another"), found(float, blocks=2)):
        assert keep(poor) == not_kept + needed.format(16)
    assert keep(found(lambda _: 1e300)).startswith(f"{not_kept}a copy of 16 bytes takes ")
    assert keep(Found((), ())) == ""
    assert not caches.exists()
    assert keep(whole).startswith("what copies cost here is kept in ")
    assert len(list(caches.iterdir())) == 1


def test_where_there_is_no_place_for_costs_the_run_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    (tmp_path / "file").write_text("")
    assert "can't be written" in EXPERIMENT.keeps(found(float))
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    assert EXPERIMENT.keeps(found(float)).endswith(
        "neither $XDG_CACHE_HOME nor $HOME names a folder to keep costs in"
    )


def test_a_file_that_is_not_right_or_of_another_machine_is_as_good_as_none(card: Path) -> None:
    file = keep_copy_cost([(16, 20), (65_536, 8_192)])
    good = file.read_text()
    assert rate(card) == pytest.approx(64)
    heading, line, end = good.splitlines()
    rest = line.partition("\t")[2]
    for bad in (
        "",
        good[: len(good) // 2],
        good.removesuffix("\n"),
        good.replace("65536:8192", "65536:-8192"),
        good.replace(heading, "somebody else's"),
        f"{heading}\nAnother Processor\t{rest}\n{end}\n",
    ):
        file.write_text(bad)
        assert source(card).startswith(TIMED), bad
    file.write_text(good)
    assert rate(card) == pytest.approx(64)


def test_two_processes_that_write_at_once_leave_one_whole_file(caches: Path, card: Path) -> None:
    program = (
        "import sys; from sealift._sealift import keep_copy_cost\n"
        "for _ in range(100): keep_copy_cost([(65_536, float(sys.argv[1]))])"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", program, ns], stderr=subprocess.PIPE, text=True)
        for ns in ("8192", "16384")
    ]
    for writer in writers:
        assert writer.communicate(timeout=120)[1] == ""
        assert writer.returncode == 0
    assert rate(card) in (pytest.approx(64), pytest.approx(32))
    assert len(list(caches.iterdir())) == 1, "no draft is left"


def test_explain_and_advise_say_what_copies_were_reckoned_with(tmp_path: Path, card: Path) -> None:
    run = str(run_of(tmp_path / "run"))
    explain = ("explain", "--messages", "4", "--bytes", "128", "--devices", "library")
    advise = ("advise", "--run", run)
    device = ("--device", str(card))
    assert f"Gbit/s, {TIMED}" in invoke(*explain, *device).stdout
    EXPERIMENT.keeps(found(lambda size: size / 8))
    shown = invoke(*explain, *device).stdout
    assert re.search(rf"host\.copy_gbit_per_s is 64(\.0+)? Gbit/s, {KEPT}\.", shown), shown
    for command in (explain, advise):
        document = json.loads(invoke(*command, *device, "--json").stdout)
        cards = document.get("cards") or document["devices"]
        (told,) = (each for each in cards if each["device"] == "copier")
        here = told["measured_here"]["host.copy_gbit_per_s"]
        assert (here["value"], here["unit"]) == (64, "Gbit/s")
        assert re.fullmatch(KEPT, here["source"])


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ([], "copies of 0 lengths: give 1 to 64"),
        ([(16, 20), (16, 20)], "a copy of 16 bytes behind one of 16: give lengths in ascending"),
        ([(16, -1)], "a copy of 16 bytes takes -1 ns: give "),
    ],
)
def test_times_that_no_copies_take_are_refused(
    caches: Path, times: list[tuple[int, float]], said: str
) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        keep_copy_cost(times)
    assert not caches.exists()


def probed(folder: Path, caches: Path) -> Path:
    """The folder of a run of the probe that had the time that it needs here."""
    groups = EXPERIMENT.groups(Scope(quick=False, cores=1, devices=()))
    cells = [[cell for cell in group if RECKONED.items() <= cell.items()] for group in groups]
    chosen = [(EXPERIMENT, [group for group in cells if group])]
    path = folder
    for budget_s in (2.0, 20.0, 200.0):
        path = folder / f"run-{budget_s:g}"
        runner.run(runner.Ask(chosen, ("run",), out=path, budget_s=budget_s, restarts=1))
        if caches.exists():
            break
    return path


def fresh(card: Path) -> dict[str, Any]:
    """What a new process makes of a card."""
    command = [sys.executable, "-c", FRESH, str(card), *map(str, SIZES)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    told: dict[str, Any] = json.loads(ran.stdout)
    return told


def found(ns: Callable[[int], float], **changes: Any) -> Found:
    """What the probe finds where copies take so long."""
    return Found([row(size_bytes, ns(size_bytes), **changes) for size_bytes in SIZES], ())


def row(size_bytes: int, ns: float, wrong: str = "", blocks: int = 60) -> Row:
    return Row(
        experiment=EXPERIMENT.name,
        cell={**RECKONED, "size_bytes": size_bytes},
        compare=EXPERIMENT.compare,
        ns_per_operation=Interval(ns, ns, ns, 0.95, 60),
        payload_bytes=size_bytes,
        reference="ours",
        ratio=None,
        verdict=None,
        winner=True,
        noise_floor=0.01,
        clean_share=1.0,
        machine_busy=False,
        steady=True,
        blocks=blocks,
        wrong=wrong,
    )


def speed_of(found: Found, size_bytes: int) -> Row:
    row = found.row(size_bytes=size_bytes)
    assert row is not None
    return row


def rate(card: Path) -> float:
    return next(each.value for each in Card.read(card).constants if each.measured)


def source(card: Path) -> str:
    return next(each.source for each in Card.read(card).constants if each.measured)


FRESH = """
import json, sys
from sealift import Card, Engine
card, sizes = Card.read(sys.argv[1]), map(int, sys.argv[2:])
(rate,) = (each for each in card.constants if each.measured)
host_ns = lambda size: card.predict(1, size).host_ns
cost = Engine(["library", card.spec]).costs()[card.spec]
told = {
    "source": rate.source,
    "gbit_per_s": rate.value,
    "copied_ns": [host_ns(size) - host_ns(0) for size in sizes],
    "batch_ns": card.predict(1, 65_536).batch_ns,
    "per_byte_ns": cost.per_byte_ns,
}
print(json.dumps(told))
"""
