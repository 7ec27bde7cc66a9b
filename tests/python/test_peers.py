"""The comparison with other libraries, on made-up samples."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import peers
from command import script
from peer_bench import Bench, messages, read
from peer_cases import Case, cases
from peer_table import Comparison, Measured, Standing, behind, compare, table
from sealift.lab.workload import ONE_KEY, SEAL_ONLY, as_stated, of_size

BENCH = Path(__file__).parents[2] / "benches" / "peers.py"
BLOCKS = 12
CASE = Case("made-up", "128 B, made up", "128 B", of_size(128, ONE_KEY, SEAL_ONLY, messages=4))


def output(ns: Mapping[str, float], absent: Mapping[str, str] | None = None) -> list[str]:
    """What the command would write: each block a little slower than the one before."""
    documents: list[Mapping[str, object]] = [{"arm": arm, "detail": ""} for arm in ns]
    documents += [{"absent": arm, "reason": why} for arm, why in (absent or {}).items()]
    for block in range(BLOCKS):
        places = [*range(len(ns)), block % len(ns)]
        for place in places:
            each_ns = list(ns.values())[place] * (1 + (block * 7 % 5) / 1_000)
            documents.append(
                {
                    "block": block,
                    "of": place,
                    "ns": round(100_000 * each_ns),
                    "operations": 100_000,
                    "bytes": 12_800_000,
                    "involuntary_switches": 0,
                    "cpu_share": 1.0,
                    "steal_ns": 0,
                    "clock_ghz": 4.0,
                }
            )
    return [json.dumps(document) for document in documents]


def measured(ns: Mapping[str, float], absent: Mapping[str, str] | None = None) -> Measured:
    return read(CASE, map(json.loads, output(ns, absent)))


def compared(ns: Mapping[str, float]) -> Comparison:
    comparison = compare(measured(ns))
    assert comparison is not None
    return comparison


def test_ratios_are_against_the_fastest_library_and_cycles_go_by_the_clock() -> None:
    ns = {"engine": 15.0, "kernels": 10.0, "ports": 8.0, "aws-lc": 60.0, "ipsec-mb": 30.0}
    row = compared(ns)
    assert (row.best, row.standing) == ("ipsec-mb", Standing.AHEAD)
    assert row.engine_to_best.median == pytest.approx(2.0, rel=0.001)
    assert row.kernels_to_best.median == pytest.approx(3.0, rel=0.001)
    assert row.kernels_to_ports is not None
    assert row.kernels_to_ports.median == pytest.approx(0.8, rel=0.01)
    assert row.arms["kernels"].gb_per_s == pytest.approx(12.8, rel=0.01)
    cycles = row.arms["kernels"].cycles
    assert cycles is not None
    assert cycles.median == pytest.approx(40.0, rel=0.01)
    assert "  80 %  " in table([row])
    assert behind([row]) == "another library is ahead in 0 of 1 cases"


def test_a_library_that_is_ahead_is_named() -> None:
    row = compared({"engine": 15.0, "kernels": 10.0, "ring": 12.0})
    assert row.standing is Standing.BEHIND
    assert row.kernels_to_ports is None
    assert "  128 B, made up: ring is 1.250 [" in behind([row])
    assert row.record()["engine_is"] == "behind"


def test_what_lies_within_the_interval_is_not_decided() -> None:
    assert compared({"engine": 10.0, "kernels": 9.0, "ring": 10.0}).standing is Standing.EVEN


def test_a_case_without_a_library_has_no_row_and_a_torn_block_is_left_out() -> None:
    assert compare(measured({"engine": 10.0, "kernels": 9.0}, {"ring": "not here"})) is None
    torn = read(CASE, map(json.loads, output({"kernels": 1.0, "engine": 1.0})[:-1]))
    assert len(torn.blocks) == BLOCKS - 1


def test_messages_that_are_alike_are_one_line_and_mixed_ones_keep_their_order() -> None:
    assert list(messages(of_size(128, ONE_KEY, SEAL_ONLY, messages=1_024))) == [
        "seal 16 12 0 128 16 1024"
    ]
    mixed = list(messages(as_stated(messages=3_072)))
    assert sum(int(line.split()[-1]) for line in mixed) == 3_072
    words = {word: sum(int(x.split()[-1]) for x in mixed if x.startswith(word)) for word in WORDS}
    assert words == {"seal": 1_536, "open": 768, "bad": 768}


def test_cases_have_names_and_titles_of_their_own() -> None:
    every = cases()
    for names in ([each.name for each in every], [each.title for each in every]):
        assert len(set(names)) == len(names)
    assert {"128-many-128", "128-fresh-128"} <= {each.name for each in every}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCH), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def stand_in(folder: Path, *, exit_code: int | str = 0) -> Path:
    """A command that says what `peers` would, without measuring."""
    listed = [
        json.dumps(
            {
                "peer": "aws-lc",
                "detail": "AWS-LC 5",
                "version": "5",
                "released": "2025-01-01",
                "in_place": False,
            }
        ),
        json.dumps({"absent": "ipsec-mb", "reason": "no such file"}),
    ]
    ns = {"engine": 12.0, "kernels": 10.0, "aws-lc": 80.0}
    samples = output(ns, {"ipsec-mb": "no such file"})
    text = "\n".join(
        [
            f"#!{sys.executable}",
            "import os, sys",
            f"listed, samples = {listed!r}, {samples!r}",
            'print("\\n".join(listed if "--list" in sys.argv else samples))',
            f'sys.exit(0 if "--list" in sys.argv else {exit_code})',
        ]
    )
    command = folder / "peers"
    command.write_text(text, encoding="utf-8")
    command.chmod(0o755)
    return command


def test_a_run_prints_the_table_names_who_is_absent_and_keeps_its_samples(tmp_path: Path) -> None:
    out = tmp_path / "results"
    ran = run(
        *("--binary", str(stand_in(tmp_path)), "--case", "128-fresh", "--seconds", "1"),
        *("--out", str(out)),
    )
    assert ran.returncode == 0, ran.stderr
    assert "aws-lc: AWS-LC 5, released 2025-01-01" in ran.stdout
    assert "128 B, a fresh key each, AES-256" in ran.stdout
    assert "absent: ipsec-mb: no such file" in ran.stdout
    assert "[2/2] 128 B, a fresh key each, AES-256; about " in ran.stderr
    document = json.loads((out / "peers.json").read_text())
    assert [each["name"] for each in document["cases"]] == ["128-fresh-128", "128-fresh-256"]
    assert document["cases"][0]["engine_is"] == "ahead"
    assert set(document["cases"][0]["arms"]) == {"engine", "kernels", "aws-lc"}
    assert document["absent"]["128-fresh-128"] == {"ipsec-mb": "no such file"}
    kept = (out / "peers-samples.csv").read_text().splitlines()
    assert len(kept) == 1 + 2 * BLOCKS * 4


@pytest.mark.parametrize(
    ("ended", "code"),
    [(1, 4), (2, 2), (101, 6), ("os.kill(os.getpid(), 9)", 6)],
    ids=["an arm is wrong", "wrong usage", "a panic", "killed"],
)
def test_a_command_that_fails_ends_the_run_and_nothing_is_shown_or_kept(
    ended: int | str, code: int, tmp_path: Path
) -> None:
    binary, out = stand_in(tmp_path, exit_code=ended), tmp_path / "results"
    ran = run("--binary", str(binary), "--case", "128-one", "--seconds", "1", "--out", str(out))
    assert (ran.returncode, ran.stdout) == (code, "")
    assert list(out.iterdir()) == []
    assert "peers: 128-one-128 failed, ended with " in ran.stderr


def test_ctrl_c_leaves_the_results_that_are_there_and_a_whole_run_puts_new_ones_in_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("--binary", str(stand_in(tmp_path)), "--case", "128-fresh", "--seconds", "1")
    before, link = tmp_path / "peers.json", tmp_path / "before"
    before.write_text("whole")
    link.hardlink_to(before)
    take = Bench.run

    def interrupted(bench: Bench, case: Case, *rest: Any) -> Measured:
        if case.name == "128-fresh-256":
            raise KeyboardInterrupt
        return take(bench, case, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(Bench, "run", interrupted)
        ran = script(peers.main, *arguments, "--out", str(tmp_path))
    assert ran.returncode == 130
    assert "128 B, a fresh key each, AES-128" in ran.stdout
    assert "peers: interrupted, so nothing was written" in ran.stderr
    assert (before.read_text(), (tmp_path / "peers-samples.csv").exists()) == ("whole", False)
    assert script(peers.main, *arguments, "--out", str(tmp_path)).returncode == 0
    assert json.loads(before.read_text())["schema"] == "sealift-peers/2"
    assert link.read_text() == "whole"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--case", "129"), "there is no case '129'; there are 16-one-128, "),
        (("--seconds", "0"), "0 s of measuring; right would be a finite time above 0"),
        (
            ("--binary", "/nowhere"),
            "/nowhere is not an executable file; `make bench-peers` builds it",
        ),
        (("--seed", "-1"), "-1 is no seed; right would be a whole number from 0 to 18,446,744,"),
        (("--binary", sys.executable, "--core", "9999"), "core 9999 may not be used; right"),
        (("--binary", sys.executable, "--out", "/proc/self"), "/proc/self takes no files"),
    ],
)
def test_wrong_usage_ends_with_2_before_anything_runs(
    arguments: tuple[str, ...], message: str
) -> None:
    ran = script(peers.main, *arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr


WORDS = ("seal", "open", "bad")
