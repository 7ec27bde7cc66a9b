"""The figures of docs/scheduler.md come from the results folder, and from nowhere else."""

from pathlib import Path

import pytest

import scheduler_page

PAGE = "".join(
    f"<!-- generated: {name} -->\nold\n<!-- end -->\ntext\n"
    for name in ("framework", "two-devices", "scale")
)
COSTS = """what,messages,message_bytes,queued,median,low,high
framework price,1,128,0,277.1,270.0,290.0
framework price,4096,128,0,1400.0,1390.0,1500.0
two devices of one core,64,16384,16,0.9512,0.9401,0.9600
"""
SCALE = """policy,devices,batches_per_s,throughput_share,utilisation_mean,engine_ns_per_batch
failover,10,260000.0,0.7500,0.8000,2400.0
failover,100,2600000.0,0.7600,0.8100,4100.0
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "scheduler.md").write_text(PAGE)
    for date in ("2026-01-01", "2026-01-02"):
        place = tmp_path / "results" / date / "a-machine"
        place.mkdir(parents=True)
        (place / "scheduler.csv").write_text(COSTS.replace("277.1", f"277.{date[-1]}"))
        (place / "pool-scale.csv").write_text(SCALE)
    return tmp_path


def run(tree: Path, *arguments: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("sys.argv", ["scheduler_page.py", "--root", str(tree), *arguments])
    return scheduler_page.main()


def test_the_newest_figures_are_written_and_then_nothing_is_stale(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(tree, "--check", monkeypatch=monkeypatch) == 1
    assert run(tree, monkeypatch=monkeypatch) == 0
    assert run(tree, "--check", monkeypatch=monkeypatch) == 0
    page = (tree / "docs" / "scheduler.md").read_text()
    assert "| 4,096 | 1,400 [1,390..1,500] | 0.34 |" in page
    assert "| two devices of one core | 64 x 16,384 B | 16 | 0.951 [0.940..0.960] |" in page
    assert "| failover | 0.75, 2.4 us | 0.76, 4.1 us |" in page
    assert "Measured 2026-01-02 on a-machine" in page
    assert "old" not in page
    for picture in ("pool-throughput", "pool-utilisation", "pool-cost"):
        assert f"]({picture}.svg)" in page
        assert "failover" in (tree / "docs" / f"{picture}.svg").read_text()


def test_a_picture_that_was_changed_by_hand_is_stale(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tree, monkeypatch=monkeypatch) == 0
    with (tree / "docs" / "pool-cost.svg").open("a") as file:
        file.write("<!-- mine -->")
    capsys.readouterr()
    assert run(tree, "--check", monkeypatch=monkeypatch) == 1
    assert "docs/pool-cost.svg" in capsys.readouterr().out


def test_a_missing_place_or_folder_is_told(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "docs" / "scheduler.md").write_text(PAGE.replace("scale", "other"))
    assert run(tree, monkeypatch=monkeypatch) == 1
    assert "0 places for scale" in capsys.readouterr().err
    for file in tree.glob("results/*/*/pool-scale.csv"):
        file.unlink()
    assert run(tree, monkeypatch=monkeypatch) == 1
    assert "make bench-scheduler" in capsys.readouterr().err
