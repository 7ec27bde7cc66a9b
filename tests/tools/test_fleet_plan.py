"""The simulator of fleets against closed forms."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import fleet_plan
from fleet_plan import NodeType, Outcome, Work, draw_run, expected_slowest, simulate

FOREVER = math.inf


def run(
    tasks: int, deaths: Sequence[float], durations: Sequence[float] = (), *, backups: bool = False
) -> Outcome:
    """Tasks that take these seconds in the order in which they begin; 1 s behind the last."""
    times = iter(durations)
    return simulate(tasks, deaths, lambda: next(times, 1.0), has_backups=backups)


def test_without_stragglers_the_time_is_the_work_over_the_rate() -> None:
    assert run(6_000, [FOREVER] * 1_000) == Outcome(6.0, 0, 0)
    assert run(6_001, [FOREVER] * 1_000).makespan_s == 7.0
    drawn = draw_run(50, 500, 3.0, 0.0, FOREVER, 1, has_backups=False)
    assert drawn.makespan_s == pytest.approx(30.0)


def test_a_lost_node_costs_its_task_its_share_and_until_it_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Node 1 dies in its first task: it begins again when that is noticed.
    assert run(2, [FOREVER, 0.5]).makespan_s == 0.5 + fleet_plan.NOTICED_S + 1
    # A second copy need not wait for that.
    assert run(2, [FOREVER, 0.5], backups=True) == Outcome(2.0, 1, 1)
    monkeypatch.setattr(fleet_plan, "NOTICED_S", 0.0)
    assert run(4, [FOREVER, 0.5]) == Outcome(4.0, 0, 1)
    with pytest.raises(ValueError, match="all 2 nodes were lost with 1 tasks to do"):
        run(3, [1.5, 1.2])


def test_a_lost_idle_node_leaves_the_work_to_the_next() -> None:
    # Of two that wait, the last one is lost before the task of node 0 is queued again.
    found = run(1, [0.5, FOREVER, 1.0])
    assert found == Outcome(0.5 + fleet_plan.NOTICED_S + 1, 0, 2)
    with pytest.raises(ValueError, match="all 3 nodes were lost with 1 tasks to do"):
        run(1, [0.5, 0.7, 1.0])


def test_a_backup_ends_a_straggler_and_waits_for_an_empty_queue() -> None:
    assert run(2, [FOREVER] * 2, [1, 10]).makespan_s == 10
    assert run(2, [FOREVER] * 2, [1, 10], backups=True) == Outcome(2.0, 1, 0)
    assert run(4, [FOREVER] * 2, [1, 10, 1, 1], backups=True) == Outcome(4.0, 1, 0)
    # One that is slower than the first copy changes nothing.
    assert run(2, [FOREVER] * 2, [1, 3, 9], backups=True) == Outcome(3.0, 1, 0)


def test_the_slowest_of_one_task_a_node_takes_what_integration_says() -> None:
    sigma, nodes = 0.6, 200
    times = [
        draw_run(nodes, nodes, 1.0, sigma, FOREVER, seed, has_backups=False).makespan_s
        for seed in range(400)
    ]
    error = float(np.std(times)) / math.sqrt(len(times))
    assert np.mean(times) == pytest.approx(expected_slowest(sigma, nodes), abs=4 * error)
    assert expected_slowest(0.5, 1) == pytest.approx(math.exp(0.5**2 / 2))
    assert expected_slowest(fleet_plan.straggler_sigma(8.0, 1_000), 1_000) == pytest.approx(8)


def test_as_many_nodes_are_lost_as_their_mtbf_says() -> None:
    lost = [draw_run(500, 50_000, 1.0, 0.1, 1_000.0, seed, has_backups=True) for seed in range(20)]
    expected = np.mean([500 * -math.expm1(-each.makespan_s / 1_000.0) for each in lost])
    assert np.mean([each.lost_nodes for each in lost]) == pytest.approx(expected, rel=0.1)


def test_rates_of_rows_are_those_of_columns_and_of_objects_those_of_one_machine(
    tmp_path: Path,
) -> None:
    lines = ["arm,rows,seal_ns", *(f"sealift.arrow,10,{ns}" for ns in (900, 600, 500)), "loop,1,9"]
    (tmp_path / "samples.csv").write_text("\n".join(lines))
    assert fleet_plan._column_rate(tmp_path, "sealift.arrow") == 2.0
    rows, objects, loop = fleet_plan.measured_works()
    assert [each.name for each in rows.sources] == ["columns"]
    assert rows.sources == loop.sources
    assert len({each.parent.name for each in objects.sources}) == 1


def test_results_of_a_machine_that_has_not_all_of_them_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet_plan, "ROOT", tmp_path)
    for name in ("2026-01-01/a/peers", "2026-01-02/a/cores.csv", "2026-01-03/b/peers"):
        (tmp_path / "results" / name).mkdir(parents=True)
    found = fleet_plan._newest("peers", "cores.csv")
    assert [each.parent.parent.name for each in found] == ["2026-01-01", "2026-01-02"]
    assert [each.parent.name for each in fleet_plan._newest("peers")] == ["b"]
    with pytest.raises(FileNotFoundError, match=r"no machine under results/ has cores\.csv and x"):
        fleet_plan._newest("cores.csv", "x")


def test_a_node_works_at_the_rate_of_its_slowest_part() -> None:
    rows = Work("rows", 72, 4.5)
    assert NodeType(2, 24).limits(rows) == {"cores": 4.5, "network": 2.0}
    assert NodeType(2, 24, 5.0).limits(rows)["storage"] == 2.0
    found = fleet_plan.bound(rows, NodeType(2, 24), price=0.5)
    assert (found["bound"], found["storage_tb_per_s"]) == ("network", 5.0)
    assert found["node_hours"] == pytest.approx(1e15 / 2e9 / 3_600)
    assert found["price"] == pytest.approx(found["node_hours"])
    assert found["cores_for_network"] == pytest.approx(2 * 2 / 4.5)
