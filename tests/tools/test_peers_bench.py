"""The comparison with other libraries: a made-up command `peers`, and the run that comes of it."""

import sys
from collections import Counter
from pathlib import Path

import pytest

import peers
from peer_cases import cases
from sealift_lab.judge.rows import results
from sealift_lab.model.results import Verdict
from sealift_lab.model.workload import Operation
from sealift_lab.run.read_folder import Run

ROOT = Path(__file__).parents[2]

# The second library is absent, the third takes no part; the last block is not complete.
COMMAND = f"""#!{sys.executable}
import json, sys

def tell(**fields):
    print(json.dumps(fields))

facts = dict(version="2", released="2026-01-01", in_place=False)
if "--list" in sys.argv:
    tell(peer="fast", detail="Fast 2", **facts)
    tell(absent="gone", reason="no libgone.so")
    tell(peer="picky", detail="Picky 2", **facts)
    sys.exit()
text, seed = sys.stdin.read(), int(sys.argv[sys.argv.index("--seed") + 1])
if FAILS:
    sys.exit(FAILS)
assert text.splitlines()[0].split()[0] in ("seal", "open", "forged"), text
first = sys.argv[sys.argv.index("--arm") + 1]
arms = {{first: 200, "kernels": 150, "ports": 50, "fast": 100}}
if "memcpy" in sys.argv:
    arms["memcpy"] = 80
for name in arms:
    tell(arm=name, detail=name, in_place=False, checked_against="other")
tell(absent="picky", reason="it takes no such key")
for block in range(9):
    turns = [*range(len(arms)), *([block % len(arms)] if block < 8 else [])]
    for of in turns:
        ns = [*arms.values()][of] * 10_000 + 11 * block + 100 * seed
        tell(block=block, of=of, ns=ns, operations=10_000, bytes=160_000, cpu_share=1.0,
             involuntary_switches=0, steal_ns=0, clock_ghz=None)
"""


def command(folder: Path, fails: int = 0) -> Path:
    file = folder / "peers-command"
    file.write_text(COMMAND.replace("FAILS", str(fails)))
    file.chmod(0o755)
    return file


def measure(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str, fails: int = 0
) -> tuple[int, Path]:
    out = folder / "run"
    words = ["--binary", str(command(folder, fails)), "--out", str(out), "--processes", "2"]
    monkeypatch.setattr("sys.argv", ["peers.py", *words, *arguments])
    return peers.main(), out


def test_samples_become_a_run_that_the_lab_judges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out = measure(tmp_path, monkeypatch, "--case", "16-one", "--case", "128-fresh-128")
    assert code == 0
    run = Run(out)
    found = results(run)["peers"]
    rows = {str(row.subject): row for row in found.select(size_bytes=16)}
    assert list(rows) == ["engine", "kernels", "ports", "fast"]
    assert rows["fast"].reference == "engine"
    assert rows["fast"].verdict is Verdict.FASTER
    assert rows["fast"].ratio is not None
    assert rows["fast"].ratio.value == pytest.approx(2, rel=0.01)
    assert (rows["fast"].blocks, rows["fast"].processes) == (16, 2), "the ninth isn't complete"
    assert found.why_missing(implementation="picky") == "it takes no such key"
    assert run.ending is not None
    assert run.ending.ending == "complete"
    absent = {device.spec: device.reason for device in run.machine.devices}
    assert absent["gone"] == "no libgone.so"


def test_texts_are_copied_where_no_cache_holds_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from_memory = "memory-16384-one-128-opened"
    code, out = measure(tmp_path, monkeypatch, "--case", "16-one", "--case", from_memory)
    assert code == 0
    found = results(Run(out))["peers"]
    copies = [row for row in found.rows if row.subject == "memcpy"]
    assert [row.work["kind"] for row in copies] == ["opened from memory"]


def test_cipher_stands_for_the_engine_where_messages_come_one_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    single = "128-many-128-single"
    code, out = measure(tmp_path, monkeypatch, "--case", "16-one", "--case", single)
    assert code == 0
    found = results(Run(out))["peers"]
    references = {row.work["kind"]: row.reference for row in found.rows if row.subject == "fast"}
    assert references == {"sealed": "engine", "one at a time by Cipher": "cipher"}


def test_a_wrong_result_ends_it_with_the_code_for_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        measure(tmp_path, monkeypatch, "--case", "16-one", fails=1)
    assert ended.value.code == 4
    assert "16-one-128 ended with 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--case", "17"], "there is no case '17'"),
        (["--seconds", "0"], "0 s of measuring"),
        (["--processes", "0"], "0 processes"),
        (["--core", "4096"], "core 4096 may not be used"),
        (["--binary", "/nowhere"], "/nowhere is no executable"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_is_written(
    tmp_path: Path,
    arguments: list[str],
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out = measure(tmp_path, monkeypatch, *arguments)
    assert code == 2
    assert told in capsys.readouterr().err
    assert not out.exists()


def test_a_run_that_is_there_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measure(tmp_path, monkeypatch, "--case", "16-one")
    before = (tmp_path / "run/samples.jsonl").read_bytes()
    code, out = measure(tmp_path, monkeypatch, "--case", "16-one")
    assert code == 2
    assert (out / "samples.jsonl").read_bytes() == before


def test_every_case_has_a_name_and_a_title_of_its_own() -> None:
    every = cases()
    assert len({case.name for case in every}) == len({case.title for case in every}) == len(every)


def test_messages_that_are_alike_and_follow_each_other_share_a_line() -> None:
    every = cases()
    small = next(case for case in every if case.name == "128-many-128-aad-17")
    assert list(peers.message_lines(small.workload)) == ["seal 16 12 17 128 16 1024"]
    mixed = next(case for case in every if case.name == "003-many")
    lines = [line.split() for line in peers.message_lines(mixed.workload)]
    assert sum(int(line[-1]) for line in lines) == mixed.workload.messages
    assert {line[0] for line in lines} == {"seal", "open", "forged"}


def test_operations_are_called_as_the_real_command_reads_them() -> None:
    reader = (ROOT / "crates/sealift-peers/src/options.rs").read_text()
    # None of them verifies: most libraries have no call for it.
    for operation in (Operation.SEAL, Operation.OPEN, Operation.FORGED):
        assert f'"{operation.name.lower()}" => Planned::' in reader, operation


def test_every_size_has_a_cell_for_all_that_a_message_can_be() -> None:
    cells = [case for case in cases() if case.name.startswith("cell-")]
    assert not any(case.is_usual for case in cells)
    of_size = Counter(case.cell["size_bytes"] for case in cells)
    assert of_size == {16: 48, 64: 48, 128: 48, 256: 48, 1_024: 48, 1_420: 48, 4_096: 48} | {
        16_384: 36,
        1 << 20: 12,
    }
    most = next(case for case in cases() if case.name == "cell-128-most-192-opened-20")
    assert list(peers.message_lines(most.workload)) == ["open 24 12 20 128 16 20000"]
