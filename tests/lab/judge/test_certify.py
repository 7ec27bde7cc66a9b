"""How often the judge is wrong, where the truth is known."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from sealift_lab.judge.certify import Trial, certify, certify_commands, pools, replay
from sealift_lab.judge.plant import Slowed
from sealift_lab.model.sample import Computed, Sample


@pytest.fixture(scope="module")
def rates() -> dict[str, dict[float, tuple[float, float, float]]]:
    """By design and distance between processes what is false, found and held."""
    noise = [np.random.default_rng(1).normal(0, scatter, 200) for scatter in (0.005, 0.015)]
    found: dict[str, dict[float, tuple[float, float, float]]] = {}
    for each in replay(noise, comparisons=60):
        design, _, between = each.what.partition(", processes differ by ")
        at = float(between.removesuffix(" %"))
        found.setdefault(design, {})[at] = (each.false, each.found, each.covered)
    return found


def test_one_process_is_too_sure_of_itself(
    rates: dict[str, dict[float, tuple[float, float, float]]],
) -> None:
    false, _, covered = rates["1 process of 60 blocks"][3.0]
    assert false > 0.2
    assert covered < 0.6


def test_stopping_on_width_over_processes_is_seldom_wrong_and_finds_5_per_cent(
    rates: dict[str, dict[float, tuple[float, float, float]]],
) -> None:
    for false, found, covered in rates["8 to 14 processes of 10 blocks"].values():
        assert false <= 0.05
        assert found >= 0.85
        assert covered >= 0.93


def measure(samples_of: Callable[..., pl.DataFrame], planted: float) -> Callable[..., pl.DataFrame]:
    def one_process(trial: Trial, process: int) -> pl.DataFrame:
        slower = 1 + planted * trial.is_slowed
        seed = 1_000 * trial.number + 2 * process + trial.is_slowed
        return samples_of({0: [100, 100 * slower]}, processes=1, between=0.004, seed=seed)

    return one_process


def test_a_machine_is_certified_by_equal_code_and_by_slower_code(
    samples_of: Callable[..., pl.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sealift_lab.judge.certify.COPIES", "import time; time.sleep(60)")
    found = certify(measure(samples_of, 0.05), ["one key", "many keys"], comparisons=4)
    assert found.wrong_plants == []
    assert found.plants["one key"].value == pytest.approx(1 / 1.05, rel=0.01)
    assert [each.what for each in found.rates] == ["idle", "another core loaded"]
    for each in found.rates:
        assert (each.false, each.found) == (0, 1)


def test_a_plant_that_is_not_what_it_says_is_named(
    samples_of: Callable[..., pl.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sealift_lab.judge.certify.COPIES", "import time; time.sleep(60)")
    found = certify(measure(samples_of, 0.03), ["mixed"], comparisons=4)
    assert found.wrong_plants == ["mixed"]


def test_commands_are_told_apart_by_this_judge_and_by_means() -> None:
    here, means = certify_commands(["true"], ["sleep", "0.02"], comparisons=2, runs=8)
    assert (here.found, means.found) == (1, 1)
    assert here.comparisons == means.comparisons == 2


def test_pools_are_centred_pairs_of_groups_that_have_enough(
    samples_of: Callable[..., pl.DataFrame],
) -> None:
    pool, *rest = pools([samples_of({0: [100, 50]}), samples_of({0: [100]}, processes=2)])
    assert len(pool) == 80
    assert np.median(pool) == 0
    assert rest == []


def test_slowed_code_does_more_than_it_counts() -> None:
    class Steady(Computed):
        def sample(self, seconds: float) -> Sample:
            return Sample(round(seconds * 1e9), 10_500, 1_050_000, 0, 1.0, 0)

    arm = Slowed(Steady({"detail": "steady"}), 0.05)
    assert arm.sample(0.01).operations == 10_000
    assert arm.sample(0.01).bytes == 1_000_000
    assert arm.report() == {"detail": "steady"}
