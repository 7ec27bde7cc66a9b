"""Which arms a process prepares in the time that it has, on a clock that only arms move."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lab import made_up_run as made
from sealift.lab import store
from sealift.lab.result import Origin
from sealift.lab.spec import Arm, Axis, Computed, Experiment
from sealift.lab.store import names
from sealift.lab.worker import bench
from sealift.lab.worker.bench import NO_TIME, Bench
from sealift.lab.worker.order import Again, Order

SIZES = (16, 32, 64, 128, 256, 512)
DEVICES = ("library", "cpu")
UNTIL_S, LATEST_S = 9.0, 10.0


class Slow:
    """Prepares the groups of an experiment whose arms take so long to be made."""

    def __init__(
        self,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        arm_s: float,
        *,
        origin: Origin = Origin.MEASURED,
        latest_s: float = LATEST_S,
    ) -> None:
        self.now_s = 0.0
        self.told: list[Mapping[str, Any]] = []
        experiment = Experiment(
            name="by-size",
            title="Made up",
            axes=(Axis("size_bytes", "size", SIZES), Axis("device", "device", DEVICES)),
            compare="device",
            arm=lambda *_: self._arm(arm_s, origin),
            origin=origin,
        )
        groups = tuple(
            tuple({"size_bytes": size, "device": device} for device in DEVICES) for size in SIZES
        )
        monkeypatch.setattr(bench, "time", SimpleNamespace(monotonic=lambda: self.now_s))
        monkeypatch.setattr(bench, "_found", lambda _: experiment)
        planned = made.planned(groups=groups, blocks=1, origin=origin)
        path = made.create(folder / "run", made.plan(planned))
        order = Order(path, "by-size", 0, UNTIL_S, latest_s, 1, 1, 0, 0)
        with (
            store.Journal(path / names.SAMPLES) as samples,
            store.Journal(path / names.VERIFY) as verify,
        ):
            prepares = Bench(order, store.read(path), samples, verify, self.told.append)
            prepares.prepare()
            prepares.keep_verified()
        self.run = store.read(path)

    def _arm(self, arm_s: float, origin: Origin) -> Arm | Computed:
        self.now_s += arm_s
        facts = {"n": 1}
        if origin is not Origin.MEASURED:
            return Computed(facts)
        return SimpleNamespace(verified=lambda: facts)

    @property
    def prepared(self) -> list[int]:
        """The groups of which all arms were made."""
        sizes = [int(each.cell["size_bytes"]) for each in self.run.verified if each.facts]
        assert all(sizes.count(size) == len(DEVICES) for size in sizes)
        return [SIZES.index(size) for size in dict.fromkeys(sizes)]

    @property
    def late(self) -> list[int]:
        """The groups that are told to have had no time, each arm once."""
        told = [each for each in self.told if each["event"] == "skipped"]
        assert all((each["text"], each["again"]) == (NO_TIME, Again.NO_TIME) for each in told)
        groups = [each["group"] for each in told]
        assert all(groups.count(group) == len(DEVICES) for group in groups)
        return list(dict.fromkeys(groups))


def test_of_what_is_timed_only_as_much_is_prepared_as_can_be_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Slow(tmp_path / "fast", monkeypatch, 1.0).late == [4, 5]
    # A block has three samples.
    monkeypatch.setattr(bench, "SAMPLE_S", 1.0)
    slow = Slow(tmp_path / "slow", monkeypatch, 1.0)
    assert (slow.prepared, slow.late) == ([0, 1], [2, 3, 4, 5])
    assert slow.run.missing("by-size", 4) == 1


def test_what_is_computed_has_all_of_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow(tmp_path, monkeypatch, 1.0, origin=Origin.SIMULATED)
    assert (slow.prepared, slow.late) == ([0, 1, 2, 3, 4], [5])


def test_the_first_group_is_prepared_however_slow_it_is_until_it_is_too_late_to_measure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Slow(tmp_path / "slow", monkeypatch, 5.0).prepared == [0]
    late = Slow(tmp_path / "late", monkeypatch, LATEST_S + 1)
    assert (late.prepared, late.late) == ([], [0, 1, 2, 3, 4, 5])
    assert late.now_s == LATEST_S + 1, "no further arm was made"


def test_who_is_to_finish_prepares_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow(tmp_path, monkeypatch, 5.0, latest_s=float("inf"))
    assert (slow.prepared, slow.late) == ([0, 1, 2, 3, 4, 5], [])
