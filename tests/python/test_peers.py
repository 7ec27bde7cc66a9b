"""The table of the kernels beside other libraries, on made-up samples."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import peer_rows
import peers
from command import script
from peer_bench import messages, read
from peer_cases import BEST_PEER, Case, Wanted, cases
from peer_table import Line, Measured, lines, table, verdict
from sealift.lab.stats import Interval
from sealift.lab.workload import ONE_KEY, SEAL_ONLY, as_stated, of_size

BENCH = Path(__file__).parents[2] / "benches" / "peers.py"
PEERS = ("aws-lc", "ring", "ipsec-mb")
BLOCKS = 12


def case(*wanted: Wanted) -> Case:
    workload = of_size(128, ONE_KEY, SEAL_ONLY, messages=4)
    return Case("made-up", "128 B, made up", workload, wanted)


def said(ns: Mapping[str, float], absent: Mapping[str, str] | None = None) -> list[str]:
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


def measured(
    of: Case, ns: Mapping[str, float], absent: Mapping[str, str] | None = None
) -> Measured:
    return read(of, map(json.loads, said(ns, absent)))


def only_line(of: Case, ns: Mapping[str, float], **absent: str) -> Line:
    found = lines(measured(of, ns, absent), PEERS)
    assert len(found) == 1
    return found[0]


def interval(low: float, median: float, high: float) -> Interval:
    return Interval(median, low, high, 0.95, 20)


def test_the_ratio_is_against_the_fastest_library_and_cycles_go_by_the_clock() -> None:
    line = only_line(
        case(Wanted(times=2.7, cycles=41)),
        {"kernels": 10.0, "aws-lc": 80.0, "ring": 60.0, "ipsec-mb": 30.0},
    )
    assert (line.best, line.verdict, line.loses_to_library) == ("ipsec-mb", "met", False)
    assert line.ratio.median == pytest.approx(3.0, rel=0.001)
    assert line.gb_per_s == pytest.approx(12.8, rel=0.01)
    assert line.messages_per_s == pytest.approx(1e8, rel=0.01)
    assert line.cycles is not None
    assert line.cycles.median == pytest.approx(40.0, rel=0.01)


def test_a_goal_that_is_missed_says_so_and_so_does_losing_to_the_library() -> None:
    line = only_line(case(Wanted(times=2.7)), {"kernels": 50.0, "aws-lc": 40.0, "ring": 60.0})
    assert (line.best, line.verdict, line.loses_to_library) == ("aws-lc", "missed", True)
    assert "missed; SLOWER THAN aws-lc" in table([line])


def test_without_the_library_that_it_needs_a_verdict_does_not_count() -> None:
    wanted = Wanted(times=2.7, needs="ipsec-mb")
    line = only_line(
        case(wanted), {"kernels": 10.0, "aws-lc": 80.0}, **{"ipsec-mb": "no such file"}
    )
    assert line.verdict == "doesn't count: ipsec-mb is absent"
    assert only_line(case(wanted), {"kernels": 10.0, "ipsec-mb": 80.0}).verdict == "met"


def test_an_arm_is_set_against_another_arm() -> None:
    threads = Wanted(arm="kernels:threads=2", against="kernels", times=1.9)
    ns = {"kernels:threads=2": 5.0, "kernels": 10.0}
    line = only_line(case(threads), ns)
    assert (line.best, line.verdict) == ("kernels", "met")
    assert line.title == "128 B, made up: kernels:threads=2"


def test_the_share_of_what_the_processor_allows_is_told_where_it_was_measured() -> None:
    ns = {"kernels": 10.0, "ports": 8.0, "aws-lc": 80.0}
    line = only_line(case(Wanted(times=2.7)), ns)
    assert line.best == "aws-lc"
    assert line.of_ports is not None
    assert line.of_ports.median == pytest.approx(0.8, rel=0.01)
    assert "  0.80  " in table([line])
    assert only_line(case(Wanted()), {"kernels": 10.0, "aws-lc": 80.0}).of_ports is None


def test_an_absent_arm_has_no_row_and_a_torn_block_is_left_out() -> None:
    wanted = case(Wanted(arm="engine", against="kernels", times=0.9))
    assert lines(measured(wanted, {"kernels": 10.0}, {"engine": "not here"}), PEERS) == []
    torn = read(wanted, map(json.loads, said({"kernels": 1.0, "engine": 1.0})[:-1]))
    assert len(torn.blocks) == BLOCKS - 1


@pytest.mark.parametrize(
    ("wanted", "ratio", "cycles", "word"),
    [
        (Wanted(), (1, 2, 3), None, "shown"),
        (Wanted(times=2.0), (2.0, 2.1, 2.2), None, "met"),
        (Wanted(times=2.0), (1.9, 2.1, 2.2), None, "met within noise"),
        (Wanted(times=2.0), (1.8, 1.9, 2.2), None, "missed within noise"),
        (Wanted(times=2.0), (1.7, 1.8, 1.9), None, "missed"),
        (Wanted(times=2.0, is_aim=True), (1.7, 1.8, 1.9), None, "aim missed"),
        (Wanted(times=2.0, cycles=40), (2.1, 2.2, 2.3), (38, 39, 39.5), "met"),
        (Wanted(times=2.0, cycles=40), (2.1, 2.2, 2.3), (41, 42, 43), "missed"),
        (Wanted(times=2.0, cycles=40), (1.9, 2.2, 2.3), (41, 42, 43), "missed"),
        (Wanted(times=2.0, cycles=40), (2.1, 2.2, 2.3), (39, 39.5, 41), "met within noise"),
        (
            Wanted(times=2.0, cycles=40),
            (2.1, 2.2, 2.3),
            None,
            "doesn't count: the core's clock isn't known",
        ),
    ],
)
def test_a_verdict_is_by_medians_and_tells_noise(
    wanted: Wanted,
    ratio: tuple[float, float, float],
    cycles: tuple[float, float, float] | None,
    word: str,
) -> None:
    assert verdict(wanted, interval(*ratio), cycles and interval(*cycles), "") == word


def test_messages_that_are_alike_are_one_line_and_mixed_ones_keep_their_order() -> None:
    assert list(messages(of_size(128, ONE_KEY, SEAL_ONLY, messages=1_024))) == [
        "seal 16 12 0 128 16 1024"
    ]
    mixed = list(messages(as_stated(messages=3_072)))
    assert sum(int(line.split()[-1]) for line in mixed) == 3_072
    words = {word: sum(int(x.split()[-1]) for x in mixed if x.startswith(word)) for word in WORDS}
    assert words == {"seal": 1_536, "open": 768, "bad": 768}


def test_cases_have_names_of_their_own_and_what_they_are_set_against() -> None:
    every = cases()
    names = [each.name for each in every]
    assert len(set(names)) == len(names)
    for each in every:
        assert each.wanted, each.name
        assert ("ports" in each.arms) == each.with_peers
        assert each.with_peers == any(wanted.against == BEST_PEER for wanted in each.wanted)


def test_the_readmes_table_has_the_main_rows_and_names_who_is_absent() -> None:
    ns = {"kernels": 10.0, "ports": 8.0, "aws-lc": 80.0}
    line = only_line(case(Wanted(times=2.7)), ns).record()
    document = {
        "command": "python benches/peers.py --binary target/peers --out results/x/y",
        "machine": {"cpu_model": {"value": "A Processor", "reason": None}},
        "peers": {
            "aws-lc": {"detail": "AWS-LC 5", "in_place": False},
            "ring": {"detail": "ring", "in_place": True},
            "rustcrypto": {"detail": "aes-gcm, feature zeroize", "in_place": False},
            "ipp": {"reason": "not installed"},
        },
        "cases": [
            {"lines": [line | {"case": "128-one-128", "title": "128 B, one key"}]},
            {"lines": [line | {"case": "256-one-128", "title": "not in the README"}]},
        ],
    }
    text = peer_rows.block(document, date="2026-01-02", place="results/2026-01-02/here")
    assert "| 128 B, one key | 12.8 | 40.1 | 80 % | 1.60 (aws-lc) | 8.00 [8.00..8.00] |" in text
    assert "not in the README" not in text
    assert "Of the ports: the share" in text
    assert "ring work only in place" in text
    assert "rustcrypto wipes" in text
    assert "Absent: ipp." in text
    assert "`python benches/peers.py`, [all cases" in text
    every = peer_rows.every_case(document, date="2026-01-02", place="results/2026-01-02/here")
    assert (
        "| 128 B, one key | 12.8 | 40.1 | 80 % | 1.60 (aws-lc) | 8.00 [8.00..8.00] | 2.7 x | met |"
        in every
    )
    assert "not in the README" in every
    assert "[all cases and who was compared](../results/" in every
    document["cases"] = []
    with pytest.raises(ValueError, match="has none of the main cases; `make bench-peers`"):
        peer_rows.block(document, date="2026-01-02", place="here")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCH), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def stand_in(folder: Path, *, exit_code: int = 0) -> Path:
    """A command that says what `peers` would, without measuring."""
    listed = [
        json.dumps({"peer": "aws-lc", "detail": "AWS-LC 5", "in_place": False}),
        json.dumps({"absent": "ipsec-mb", "reason": "no such file"}),
    ]
    samples = said({"kernels": 10.0, "aws-lc": 80.0}, {"ipsec-mb": "no such file"})
    text = "\n".join(
        [
            f"#!{sys.executable}",
            "import sys",
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
    assert "128 B, a fresh key each, AES-256" in ran.stdout
    assert "absent: ipsec-mb: no such file" in ran.stdout
    assert "[2/2] 128 B, a fresh key each, AES-256; about " in ran.stderr
    document = json.loads((out / "peers.json").read_text())
    assert [each["name"] for each in document["cases"]] == ["128-fresh-128", "128-fresh-256"]
    assert document["cases"][0]["lines"][0]["verdict"] == "met"
    assert set(document["cases"][0]["arms"]) == {"kernels", "aws-lc"}
    kept = (out / "peers-samples.csv").read_text().splitlines()
    assert len(kept) == 1 + 2 * BLOCKS * 3


def test_an_arm_that_is_wrong_ends_the_run_and_nothing_is_shown(tmp_path: Path) -> None:
    binary = stand_in(tmp_path, exit_code=1)
    ran = run("--binary", str(binary), "--case", "128-one", "--seconds", "1")
    assert (ran.returncode, ran.stdout) == (4, "")
    assert "peers: 128-one-128 failed: " in ran.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--case", "129"), "there is no case '129'; there are 128-one-128, "),
        (("--seconds", "0"), "0 s of measuring; right would be a finite time above 0"),
        (("--binary", "/nowhere"), "/nowhere is no command; `make bench-peers` builds it"),
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
