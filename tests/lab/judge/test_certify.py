"""How often the judge is wrong, where the truth is known."""

import subprocess
import sys
from collections.abc import Sequence
from itertools import count
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from tests.lab.judge.made_up import make_run, make_samples

from sealift_lab.judge.blocks import groups_of
from sealift_lab.judge.certify import agreement, certify, certify_commands, pools, resample
from sealift_lab.judge.rows import results
from sealift_lab.judge.trial import COMMAND, WORKS, Slowed, Trial, measure_trial
from sealift_lab.measure.plan import BLOCKS
from sealift_lab.model.arm import Computed, Sample


def test_one_process_is_too_sure_and_stopping_on_width_over_8_is_seldom_wrong() -> None:
    noise = [np.random.default_rng(1).normal(0, scatter, 200) for scatter in (0.005, 0.015)]
    drawn = {each["what"]: each for each in resample(noise, comparisons=60).to_dicts()}
    one = drawn["1 process of 60 blocks, processes differ by 3.0 %"]
    assert (one["false"] > 0.2, one["covered"] < 0.6) == (True, True)
    for each in (each for what, each in drawn.items() if what.startswith("8 to 14")):
        assert each["false"] <= 0.05
        assert each["found"] >= 0.85
        assert each["covered"] >= 0.93


@pytest.mark.parametrize(
    ("planted", "comparisons", "is_right", "found"),
    [(0.05, 5, True, 1), (0.03, 5, False, None), (0.05, 1, None, 1)],
)
def test_a_machine_is_certified_where_slower_code_is_as_slow_as_planted(
    monkeypatch: pytest.MonkeyPatch,
    planted: float,
    comparisons: int,
    is_right: bool | None,  # noqa: FBT001 (a parameter of the test)
    found: float | None,
) -> None:
    seeds = count()

    def measure(trial: Trial) -> pl.DataFrame:
        seed = next(seeds)
        arms_ns = {0: [100, 100, 100 * (1 + planted)]}
        made = make_samples(arms_ns, processes=1, between=0.003, scatter=0.001, seed=seed)
        one = made.with_columns(restart=pl.lit(trial.process))
        return pl.concat(one.with_columns(experiment=pl.lit(work)) for work in trial.works)

    monkeypatch.setattr("sealift_lab.judge.certify.COPIES", "import time; time.sleep(60)")
    done: list[int] = []
    rates, plants = certify(measure, ["one key", "many keys"], comparisons, done.append)
    assert [each.is_right for each in plants] == [is_right] * len(plants)
    assert plants[0].times.value == pytest.approx(1 / (1 + planted), rel=0.01)
    assert [*rates["what"]] == ["idle", "another core loaded"]
    for column, value in (("false", 0), ("found", found), ("comparisons", comparisons)):
        assert [*rates[column]] == [value] * 2
    assert done[-1] == 2 * comparisons


def test_commands_are_judged_here_by_a_margin_and_there_by_what_is_printed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_s, rng = 0.0, np.random.default_rng(1)

    def run(command: Sequence[str], **_: object) -> None:
        nonlocal now_s
        now_s += float(command[1]) * np.exp(rng.normal(0, 0.01))

    monkeypatch.setattr("sealift_lab.judge.certify.subprocess", SimpleNamespace(run=run, DEVNULL=0))
    clock = SimpleNamespace(perf_counter=lambda: now_s)
    monkeypatch.setattr("sealift_lab.judge.certify.time", clock)
    rates = certify_commands(["sleep", "0.1"], ["sleep", "0.01"], comparisons=1, runs=8)
    assert [*rates["found"]] == [1, 1]
    assert [*rates["comparisons"]] == [1, 1]
    # What is printed never says that both are equal.
    assert rates.row(1, named=True)["same"] == 0


def test_runs_of_one_plan_agree_or_contradict_each_other() -> None:
    one, same, other = (
        results(make_run(make_samples({0: [100, 50, last], 1: [100, 101, 100]}, seed=seed)))
        for seed, last in ((1, 100), (2, 100), (3, 80))
    )
    found, contradicting = agreement(one, same)
    row = found.row(0, named=True)
    assert (row["rows"], row["same"], row["open"], row["contradict"]) == (4, 1, 0, 0)
    assert (row["covered"] > 0.4, row["overlap"], contradicting.height) == (True, 1, 0)
    found, contradicting = agreement(one, other)
    row, (pair,) = found.row(0, named=True), contradicting.to_dicts()
    assert (pair["verdict"], pair["verdict_again"]) == ("same", "faster")
    assert (row["same"], row["contradict"], row["overlap"]) == (0.75, 1, 0.75)
    assert agreement(one, {})[0].is_empty()


def test_pools_are_centred_pairs_of_groups_that_have_enough() -> None:
    (pool,) = pools([make_samples({0: [100, 50]}), make_samples({0: [100]}, processes=2)])
    assert len(pool) == 80
    assert np.median(pool) == 0


def test_slowed_code_does_more_than_it_counts() -> None:
    class Steady(Computed):
        def sample(self, seconds: float) -> Sample:
            return Sample(round(seconds * 1e9), 10_500, 1_050_000, 0, 1.0, 0)

    arm = Slowed(Steady({"detail": "steady"}), 0.05)
    assert (arm.sample(0.01).operations, arm.sample(0.01).bytes) == (10_000, 1_000_000)
    assert arm.report() == {"detail": "steady"}


def test_a_trial_is_measured_in_a_process_of_its_own_as_blocks_of_a_group_a_work() -> None:
    works = [*WORKS][1:3]
    samples = measure_trial(Trial(works, number=1, process=3))
    # In each block three arms and one of them again.
    assert samples.height == 2 * 4 * BLOCKS
    assert set(samples["restart"]) == {3}
    groups = groups_of(samples)
    assert {name for name, _ in groups} == {*works}
    for group in groups.values():
        assert set(group.arms) == {0, 1, 2}
        assert group.ratio(2, 0) is not None
    with pytest.raises(RuntimeError, match="no such work: KeyError"):
        measure_trial(Trial(["no such work"], number=1, process=0))


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("judge.rows", {"scipy.stats", "scipy.optimize"}),
        (COMMAND[-1].removeprefix("sealift_lab."), {"numpy", "polars", "typer"}),
    ],
)
def test_no_library_is_imported_that_is_not_needed(module: str, heavy: set[str]) -> None:
    code = f"import sys, sealift_lab.{module}; print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not heavy & {*ended.stdout.split()}
