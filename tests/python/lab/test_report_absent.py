"""What the page calls absent: devices, and the sensors of those that are here."""

from dataclasses import replace
from pathlib import Path

import pytest

from sealift.lab import absent, registry, store
from sealift.lab.machine import Fact
from sealift.lab.report import bottom, top
from sealift.lab.report.material import Material, gather
from sealift.lab.result import Verified
from sealift.lab.store import Run
from sealift.lab.store.reading import NOT_REACHED
from synthetic_run import SURROUNDINGS, made, write_run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return store.read(write_run(tmp_path / "run", made(), [registry.find("aes-gcm-by-size")]))


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    return gather(store.read(write_run(tmp_path_factory.mktemp("whole") / "run", made())))


def test_what_the_budget_had_no_room_for_is_no_absent_device(run: Run) -> None:
    first, *_ = gather(run).shown
    arms = [
        Verified(first.experiment.name, {"device": "ipp"}, {}, "no room", left_out=True),
        Verified(first.experiment.name, {"device": "gcm2"}, {}, NOT_REACHED),
        Verified(first.experiment.name, {"device": "table, 1 core"}, {}, "time was up"),
        Verified(first.experiment.name, {"device": "mbedtls"}, {}, "it is not installed"),
    ]
    shown = [replace(first, found=replace(first.found, verified=arms))]
    told = str(bottom.not_here(replace(gather(run), shown=shown)))
    assert "mbedtls (to compare with only)" in told
    assert told.count("(to compare with only)") == 1


def test_a_gpus_sensor_is_missed_only_where_there_is_a_gpu(run: Run) -> None:
    sensors = {"gpu_temperature_c": Fact(None, "libnvidia-ml.so.1 is not here")}
    there = replace(run.machine.devices[0], spec="cuda:0", driver="cuda", role="real")
    for device, is_missed in ((there, True), (replace(there, role="test only"), False)):
        machine = replace(run.machine, sensors=sensors, devices=(device,))
        care = "".join(top.care(gather(replace(run, machine=machine))))
        assert ("no sensor for gpu temperature" in care) is is_missed


def test_published_devices_need_what_follows_from_the_best_here(material: Material) -> None:
    wishes = absent.wishes(material.rows, SURROUNDINGS.devices)
    assert {"RTX 3050", "Hifn 7751, four cards", "UPMEM, 640 DPUs"} <= {w.device for w in wishes}
    for wish in wishes:
        assert wish.best is not None
        assert wish.factor is not None
        assert wish.factor.median * wish.published_mb_per_s == pytest.approx(wish.best.median)
        # Two names of the same made-up kernels.
        assert wish.best_device in {"cpu", "cpu:isa=vaes512"}
    gpu, by_log = (wish for wish in wishes if wish.device == "RTX 3050")
    assert (gpu.published_mb_per_s, by_log.published_mb_per_s) == (903, 903)
    cards = [wish.published_mb_per_s for wish in wishes if wish.device.startswith("Hifn")]
    # 7.37 and 320.19 Mbit/s are printed.
    assert cards == [7.37 / 8, 320.19 / 8]
    # 128 bytes at 35.5 ns on one thread, and 1.8 times that on two.
    assert gpu.best is not None
    assert gpu.best.median == pytest.approx(128 / 35.52 * 1.8 * 1_000, rel=0.01)


def test_published_devices_without_a_measurement_get_no_factor() -> None:
    for wish in absent.wishes([], SURROUNDINGS.devices):
        assert wish.best is None
        assert wish.factor is None
        assert wish.published_mb_per_s > 0


def test_peers_that_no_user_can_run_on_are_not_the_best_here(material: Material) -> None:
    without = [replace(each, role="oracle") for each in SURROUNDINGS.devices if each.spec == "cpu"]
    others = [each for each in SURROUNDINGS.devices if each.spec == "library"]
    wishes = absent.wishes(material.rows, [*without, *others])
    assert {wish.best_device for wish in wishes} == {"library"}
