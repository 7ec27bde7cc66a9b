"""What the page calls absent: devices, and the sensors of those that are here."""

from dataclasses import replace
from pathlib import Path

import pytest

from sealift.lab import registry, store
from sealift.lab.machine import Fact
from sealift.lab.report import bottom, top
from sealift.lab.report.material import gather
from sealift.lab.result import Verified
from sealift.lab.store import Run
from sealift.lab.store.reading import NOT_REACHED
from synthetic_run import made, write_run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return store.read(write_run(tmp_path / "run", made(), [registry.find("aes-gcm-by-size")]))


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
        care = str(top.care(gather(replace(run, machine=machine))))
        assert ("no sensor for gpu temperature" in care) is is_missed
