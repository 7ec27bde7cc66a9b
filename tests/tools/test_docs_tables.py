"""Figures of the documents are those of the judge, over samples of run folders, and no others."""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from tests.lab.run import made_up

import docs
import docs_files
import docs_peers
from docs_runs import Column, Source, grid, run_block
from sealift_lab.measure.write_folder import create, write_ending
from sealift_lab.model.arm import Cell
from sealift_lab.model.experiment import Axis
from sealift_lab.model.results import Origin
from sealift_lab.model.run import (
    DeviceState,
    Ending,
    Fact,
    PlannedExperiment,
    ReportLine,
    Surroundings,
)

PAGE = "docs/page.md"


def make_run(
    folder: Path,
    experiment: str,
    groups: Sequence[tuple[Cell, Mapping[str, float]]],
    *,
    compare: str = "code",
    computed: Mapping[str, float] | None = None,
    library: str = "Fast 2.0",
) -> None:
    """A run of 8 processes whose blocks scatter by 0.3 %; or of computed facts alone."""
    cells = [[{**work, compare: arm} for arm in ns] for work, ns in groups]
    planned = PlannedExperiment(
        experiment,
        compare,
        cells,
        2,
        operation="message",
        axes=[Axis(name, name.replace("_", " ")) for name in cells[0][0]],
        names={"engine": "Engine::run", "fast": "fast 2.0"},
        origin=Origin.PROJECTED if computed else Origin.MEASURED,
    )
    devices = [DeviceState("fast", "peers", "present", detail=library, summary="released then")]
    facts = {"cpu_model": Fact("A Chip"), "cores_affinity": Fact(2)}
    plan = made_up.plan(planned, created="2026-01-02T03:04:05Z", processes=8)
    create(folder, plan, Surroundings(facts, devices))
    write_ending(folder, Ending("complete"))
    rng = np.random.default_rng(1)
    samples = [
        made_up.line(
            arm,
            again=turn == len(ns),
            experiment=experiment,
            group=group,
            restart=block // 2,
            block=block,
            ns=round(1e6 * [*ns.values()][arm] * np.exp(rng.normal(0, 0.003))),
            operations=10**6,
            bytes=128 * 10**6,
            clock_ghz=2.0,
        )
        for block in range(16)
        for group, (_, ns) in enumerate(groups)
        for turn, arm in enumerate([*range(len(ns)), block % len(ns)])
    ]
    reports = [asdict(ReportLine(experiment, 0, 0, 0, computed))] if computed else []
    for name, lines in (("samples", [] if computed else samples), ("verify", reports)):
        text = "".join(f"{json.dumps(each)}\n" for each in lines)
        (folder / f"{name}.jsonl").write_text(text)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page with one block, of the experiment `race` in runs that are called `lab`."""
    table = grid("race", "size_bytes", [Column(("times as fast",), {"code": "slow"})], "way")
    monkeypatch.setattr(docs, "BLOCKS", {PAGE: {"race": run_block("lab", table)}})
    monkeypatch.setattr(docs, "LAB", "none")
    (tmp_path / "docs").mkdir()
    page = "# Title\n\n<!-- generated: race -->\nold\n<!-- end -->\n\nthe rest\n"
    (tmp_path / PAGE).write_text(page)
    return tmp_path


def race(folder: Path, slow_ns: float) -> None:
    works = [
        ({"size_bytes": size, "way": way}, 100.0) for size in (4_096, 16) for way in ("a", "b")
    ]
    make_run(folder, "race", [(work, {"plain": ns, "slow": slow_ns}) for work, ns in works])


@pytest.fixture
def run(tree: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    def main(*arguments: str) -> int:
        monkeypatch.setattr("sys.argv", ["docs.py", "--root", str(tree), *arguments])
        return docs.main()

    return main


def test_a_table_has_the_ratio_and_the_verdict_of_the_judge(
    tree: Path, run: Callable[..., int]
) -> None:
    race(tree / "results/2026-01-02/here/lab", slow_ns=200.0)
    assert run() == 0
    text = (tree / PAGE).read_text()
    assert text.startswith("# Title\n")
    assert text.endswith("<!-- end -->\n\nthe rest\n")
    head, _, small, large, *_ = [line for line in text.splitlines() if line.startswith("|")]
    assert head == "| size bytes | a, slow, times as fast | b, slow, times as fast |"
    assert small.startswith("| 16 B | 0.5")
    assert large.startswith("| 4 KiB | 0.5")
    assert small.count(", slower |") == 2
    assert "Measured 2026-01-02, A Chip, 2 cores" in text
    assert "[all rows](../results/2026-01-02/here/lab)" in text


def test_a_page_is_stale_when_a_newer_run_says_something_else(
    tree: Path, run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    race(tree / "results/2026-01-02/here/lab", slow_ns=200.0)
    run()
    assert run("--check") == 0
    race(tree / "results/2026-01-03/here/lab", slow_ns=100.0)
    before = (tree / PAGE).read_text()
    assert run("--check") == 1
    assert (tree / PAGE).read_text() == before
    assert "docs/page.md is not what the results say" in capsys.readouterr().out
    run()
    assert ", same |" in (tree / PAGE).read_text()


def test_the_newest_run_of_another_machine_is_named_by_any_of_its_names(
    tree: Path, run: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, make = docs.BLOCKS[PAGE]["race"]
    monkeypatch.setattr(docs, "BLOCKS", {PAGE: {"race": ("lab old-lab", make)}})
    race(tree / "results/2026-01-01/there/old-lab", slow_ns=200.0)
    race(tree / "results/2026-01-02/here/lab", slow_ns=200.0)
    assert run() == 0
    text = (tree / PAGE).read_text()
    there = "Also measured 2026-01-01 on there; [figures](../results/2026-01-01/there/old-lab)."
    assert f"[all rows](../results/2026-01-02/here/lab). {there}" in text


def test_where_figures_are_from_stands_once_a_page(
    tree: Path, run: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = dict.fromkeys(("race", "again"), docs.BLOCKS[PAGE]["race"])
    monkeypatch.setattr(docs, "BLOCKS", {PAGE: blocks})
    with (tree / PAGE).open("a") as page:
        page.write("<!-- generated: again -->\n<!-- end -->\n")
    race(tree / "results/2026-01-02/here/lab", slow_ns=200.0)
    assert run() == 0
    text = (tree / PAGE).read_text()
    assert text.count("Measured 2026-01-02") == 1
    assert text.endswith("|\n\nMeasured in the same run.\n\n<!-- end -->\n")


def test_without_a_run_the_page_says_that_nothing_was_measured(
    tree: Path, run: Callable[..., int]
) -> None:
    assert run() == 0
    assert "Nothing measured yet: there is no `results/*/*/lab`." in (tree / PAGE).read_text()


@pytest.mark.parametrize(
    "wrong", ["", "<!-- generated: other -->\n<!-- end -->\n", "<!-- generated: race -->\n"]
)
def test_a_page_with_other_blocks_is_refused(
    tree: Path, run: Callable[..., int], wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / PAGE).write_text(f"# Title\n{wrong}")
    assert run() == 1
    assert "right would be each of race once" in capsys.readouterr().err


def test_a_cell_that_two_rows_fit_is_refused(
    tree: Path,
    run: Callable[..., int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    table = grid("race", "size_bytes", "µs", "code")
    monkeypatch.setattr(docs, "BLOCKS", {PAGE: {"race": run_block("lab", table)}})
    race(tree / "results/2026-01-02/here/lab", slow_ns=200.0)
    assert run() == 1
    assert "2 rows of race have" in capsys.readouterr().err


def test_computed_figures_are_never_called_measured(tmp_path: Path) -> None:
    folder = tmp_path / "results/2026-01-02/here/lab"
    make_run(folder, "model", [({"size_bytes": 16}, {"one": 1.0})], computed={"speed, GB/s": 3.25})
    table = grid("model", "code", [Column(("speed, GB/s",), {}, "speed, GB/s")])
    _, block = run_block("lab", table)
    text = block([Source(folder, "there")])
    assert "| one | 3.25 |" in text
    assert "Projected, not measured" in text
    assert "Measured" not in text


def test_the_library_that_is_ahead_is_named_and_close_ones_are_not(tmp_path: Path) -> None:
    folder = tmp_path / "results/2026-01-02/here/peers"
    keys = {"one": 80.0, "sessions:1024": 100.2, "fresh": 300.0}
    groups: list[tuple[Cell, dict[str, float]]] = [
        (
            {"kind": "sealed", "work": f"128 B, {name}", "size_bytes": 128, "keys": name},
            {"engine": 100.0, "kernels": 90.0, "ports": 45.0, "slow": 1_000.0, "fast": ns},
        )
        for name, ns in keys.items()
    ]
    make_run(folder, "peers", groups, compare="implementation")
    sources = [Source(folder, "peers")]
    speed = docs_peers.speed(sources)
    line = next(each for each in speed.splitlines() if each.startswith("| 128 B"))
    _, _, behind, even, ahead, _ = (cell.strip() for cell in line.split("|"))
    assert behind == "**fast 1.25**"
    assert even.endswith("\u202f≈")
    assert float(ahead) == pytest.approx(3.0, rel=0.01)
    assert "the fastest of 2 other libraries" in speed
    table = docs_peers.peers(sources)
    assert "ahead in 1 of 3 cases, and in 1 more" in table
    assert "**0.80" in table
    cells = docs_peers.cells(sources)
    assert "ahead in 1 of 3 cases" in cells
    assert [line for line in table.splitlines() if "**0.80" in line] == [
        line for line in cells.splitlines() if line.startswith("| 128 B")
    ]
    assert "| 50 |" in table


def test_messages_from_memory_are_compared_with_copies(tmp_path: Path) -> None:
    folder = tmp_path / "results/2026-01-02/here/peers-memory"
    work: Cell = {"kind": "from memory", "work": "128 B", "size_bytes": 128, "keys": "one"}
    arms = {"engine": 100.0, "kernels": 80.0, "ports": 40.0, "fast": 200.0, "memcpy": 60.0}
    make_run(folder, "peers", [(work, arms)], compare="implementation")
    table = docs_peers.memory([Source(folder, "peers-memory")])
    assert "% of memcpy" in table
    assert "| 75 | fast |" in table, "a copy is no library, though it is faster"


def test_a_run_tells_which_libraries_it_had_in_other_versions_than_a_later_one(
    tmp_path: Path,
) -> None:
    work: Cell = {"kind": "sealed", "work": "128 B", "size_bytes": 128, "keys": "one"}
    sources = [
        Source(tmp_path / f"results/{day}/here/peers", day)
        for day in ("2026-01-02", "2026-01-03", "2026-01-04")
    ]
    for source, library in zip(sources, ("Fast 1.0, wide", "", "Fast 2.0, narrow"), strict=True):
        groups = [(work, {"engine": 100.0, "fast": 200.0})]
        make_run(source.path, "peers", groups, compare="implementation", library=library)
    table = docs_peers.peers(sources)
    assert "Libraries of 2026-01-02: Fast 1.0 instead of Fast 2.0." in table
    assert "Libraries of 2026-01-02: without fast." in table


def test_a_library_that_is_older_than_its_newest_release_is_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    releases = tmp_path / "releases.txt"
    releases.write_text("# library, version, day\n\nfast 2.0 2026-01-02\nfast 2.1 2026-03-04\n")
    monkeypatch.setattr(docs_peers, "RELEASES", releases)
    older, newest = "2026-01-02; **older than 2.1 of 2026-03-04**", "2026-03-04"
    for summary, cell in {
        "released 2026-01-02": older,
        "released 2026-03-04": newest,
        "release date unknown": "release date unknown",
        "": "",
    }.items():
        library = DeviceState("fast", "peers", "present", summary=summary)
        assert docs_peers.released(library) == cell
    assert docs_peers.released(DeviceState("slow", "peers", "present", summary="released x")) == "x"


def test_a_cost_of_the_scheduler_stands_beside_its_machine(tmp_path: Path) -> None:
    file = tmp_path / "2026-01-02/here/scheduler.csv"
    file.parent.mkdir(parents=True)
    rows = [
        {"what": "framework price", "messages": 16, "median": 256.0, "low": 254.0, "high": 268.0},
        {"what": "two devices", "messages": 64, "median": 0.9, "low": 0.8, "high": 1.0},
    ]
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, [*rows[0], "message_bytes", "queued"], restval="128")
        writer.writeheader()
        writer.writerows(rows)
    sources = [Source(file, "scheduler.csv")]
    assert "| 16 | 256 [254–268] | 16.0 |" in docs_files.framework(sources)
    assert "Measured 2026-01-02 on here" in docs_files.framework(sources)
    assert "| 64 |" not in docs_files.framework(sources)


def test_what_ray_costs_is_told_for_few_rows_for_many_and_for_one_more(tmp_path: Path) -> None:
    file = tmp_path / "2026-01-02/here/ray.json"
    file.parent.mkdir(parents=True)
    few, many = {"one process": 0.5, "two": 5.0}, {"one process": 1.5, "two": 7.0}
    last = {"one process": 2.5, "two": 9.0}
    rounds = [{"1000000": few, "3000000": each} for each in (many, many, last)]
    file.write_text(json.dumps({"text_bytes": 128, "keys": 7, "rounds": rounds}))
    text = docs_files.ray_nodes([Source(file, "x")])
    assert "| one process | 0.500 | 1.50 | 2.00 | 1.00 |" in text
    assert "| two | 5.00 | 7.00 | 1.00 | 4.67 |" in text
    assert "medians of 3 rounds" in text


def test_every_comparison_has_its_t_on_each_path(tmp_path: Path) -> None:
    sources = []
    for machine, paths in (("old", {"p": -8.0, "q": 2.0}), ("new", {"p": -1.0})):
        file = tmp_path / "2026-01-02" / machine / "dudect.json"
        file.parent.mkdir(parents=True)
        rows = [
            {"what": "seal", "path": path, "found": [{"t": t, "samples": 5}]}
            for path, t in paths.items()
        ]
        document = {"threshold": 4.5, "seconds": 2, "rows": rows}
        if machine == "new":
            document["sensitivity"] = [{"path": "p", "cycles": 8, "ticks": 7.75, "found": 97}]
        file.write_text(json.dumps(document))
        sources.append(Source(file, machine))
    text = docs_files.dudect(sources)
    assert "| compared | q | p |" in text
    assert "| seal | 2.0 | 1.0 |" in text
    assert "95 of 100 runs find |  | 8 cycles, 7.8 ticks |" in text
    assert "\n\np: 2 s and 5 batches a figure at most, a leak from 4.50 on; measured " in text


def test_what_every_core_gains_stands_beside_its_machine(tmp_path: Path) -> None:
    sources = []
    for machine, gain in (("one", 1.5), ("other", 3.0)):
        file = tmp_path / "2026-01-02" / machine / "cores.csv"
        file.parent.mkdir(parents=True)
        rows = [
            f"every core,8192,128,1,used,{gain},{gain},{gain},times as fast",
            f"every core,1,1048576,1,used,{gain},{gain},{gain},times as fast",
            f"every core,11,1420,1,used,{gain},{gain},{gain},times as fast",
            f"over the device,1,128,1,used,{gain},{gain},{gain},ns a message",
        ]
        head = "what,messages,text_bytes,keys,memory,median,low,high,unit"
        file.write_text("\n".join([head, *rows]))
        sources.append(Source(file, machine))
    text = docs_files.cores(sources)
    heads = "128 B, one | one message, one | 128 B, other | one message, other"
    assert f"| batch, results | {heads} |" in text
    one, other = ("1.50 [1.50–1.50]", "3.00 [3.00–3.00]")
    assert f"| 1 MiB, used | {one} | {one} | {other} | {other} |" in text
    assert f"| over the device, 1 x 128 B, keys: 1, ns a message | {one} | {other} |" in text
    assert "Measured 2026-01-02 on one; [figures](one), 2026-01-02 on other" in text
