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
REGRET = "\n".join(
    [
        "text_bytes,lengths,messages,keys,op,form,memory,threads,pace,costs,"
        "regret,regret_low,regret_high,noise,used,p99_ratio,over_alone",
        "16,mixed,1024,20000,open,scattered,used,2,sleeping,unknown,"
        "0.0900,0.0700,0.1100,0.0100,cpu 0.020 library 0.980,,0.0800",
        "128,alike,1,raw,seal,columns,fresh,1,steady,calibrated,"
        "0.0100,-0.0100,0.0200,0.0200,cpu 0.990 library 0.010,,0.0200",
        "128,alike,16,1,seal,columns,used,32,steady,calibrated,"
        "0.0100,-0.0100,0.0200,0.0100,cpu 0.990 library 0.010,1.100,0.0300",
    ]
)
CORES = """what,messages,text_bytes,keys,memory,median,low,high,unit
every core,738,1420,1,fresh,1.6000,1.5000,1.7000,times as fast
every core,1,268435456,1,fresh,1.0000,0.9900,1.0100,times as fast
a plain copy,1,268435456,1,fresh,1.3000,1.2000,1.4000,times as fast
over the device,1024,128,1024,used,1.5400,1.3600,1.6800,ns a message
"""
LATER_PAGE = PAGE + "".join(
    f"<!-- generated: {name} -->\nold\n<!-- end -->\n" for name in ("regret", "cores")
)


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


def test_regret_and_cores_come_from_the_newest_folder_that_has_them(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "docs" / "scheduler.md").write_text(LATER_PAGE)
    older = tree / "results" / "2026-01-01" / "a-machine"
    (older / "regret.csv").write_text(REGRET)
    (older / "cores.csv").write_text(CORES)
    assert run(tree, monkeypatch=monkeypatch) == 0
    assert run(tree, "--check", monkeypatch=monkeypatch) == 0
    page = (tree / "docs" / "scheduler.md").read_text()
    assert "| 1 and 2 | 2 | 5.0 % | 50 % | 6.0 % |  | 5.0 % |" in page
    assert "| 8 and 32 | 1 | 1.0 % | 100 % | -2.0 % | 1.10 of the best device's | 3.0 % |" in page
    worst = (
        "| open 1,024 x about 16 B, 20,000 keys, scattered, used memory, 2 threads, "
        "sleeping 200 us between batches, costs unknown "
        "| 9.0 % [7.0 %..11.0 %] | 1.0 % | cpu 0.020 library 0.980 |"
    )
    assert worst in page
    assert "| 1 MiB | fresh |  | 1.60 [1.50..1.70] |  |  |  |" in page
    assert "| 256 MiB | fresh |  |  |  | 1.00 [0.99..1.01] | 1.30 [1.20..1.40] |" in page
    assert "| over the device | 1,024 x 128 B | 1,024 | 1.54 [1.36..1.68] ns a message |" in page
    assert "[figures](../results/2026-01-01/a-machine/regret.csv)" in page


def test_a_page_without_regret_is_whole_until_somebody_measures_it(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tree, monkeypatch=monkeypatch) == 0
    assert "nothing of regret.csv: run `make bench-scheduler`" in capsys.readouterr().err
    (tree / "results" / "2026-01-01" / "a-machine" / "regret.csv").write_text(REGRET)
    assert run(tree, "--check", monkeypatch=monkeypatch) == 1
    assert "0 places for regret; right would be one" in capsys.readouterr().err
    (tree / "results" / "2026-01-01" / "a-machine" / "regret.csv").unlink()
    (tree / "docs" / "scheduler.md").write_text(LATER_PAGE)
    assert run(tree, "--check", monkeypatch=monkeypatch) == 1
    assert "regret.csv; run `make bench-scheduler`" in capsys.readouterr().err


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
