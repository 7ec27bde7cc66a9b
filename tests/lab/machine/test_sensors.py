"""Devices of this machine, and sensors on made-up ones: a value, or why there is none."""

import re
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.lab.machine.test_facts import write

import sealift
from sealift.cli.devices import absences, split_specs, states
from sealift_lab import _lab
from sealift_lab._lab import NotMeasurableError
from sealift_lab.machine.facts import UnknownError
from sealift_lab.machine.sensors import (
    CoreLoads,
    Cores,
    Reading,
    Sensors,
    chosen_devices,
    real_devices,
    sampling,
    surroundings,
)
from sealift_lab.model.run import Fact


class Clock:
    """Seconds that pass in sleep only."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, "sys/class/hwmon/hwmon0/name", "nvme\n")
    write(tmp_path, "sys/class/hwmon/hwmon0/temp1_input", "99000\n")
    write(tmp_path, "sys/class/hwmon/hwmon1/name", "coretemp\n")
    write(tmp_path, "sys/class/hwmon/hwmon1/temp1_input", "51000\n")
    write(tmp_path, "sys/class/hwmon/hwmon1/temp2_input", "63500\n")
    write(tmp_path, "sys/class/hwmon/hwmon2/name", "nct6798\n")
    write(tmp_path, "sys/class/hwmon/hwmon2/fan1_input", "0\n")
    write(tmp_path, "sys/class/hwmon/hwmon2/fan2_input", "1210\n")
    for zone in ("intel-rapl:0", "intel-rapl:1", "intel-rapl:0:0"):
        write(tmp_path, f"sys/class/powercap/{zone}/energy_uj", "1000000\n")
        write(tmp_path, f"sys/class/powercap/{zone}/max_energy_range_uj", "262143328850\n")
    for cpu, khz in (("cpu0", 1_200_000), ("cpu1", 3_700_000)):
        write(tmp_path, f"sys/devices/system/cpu/{cpu}/cpufreq/scaling_cur_freq", f"{khz}\n")
    pressure = "some avg10={} avg60=0.00 avg300=0.00 total=1\nfull avg10=9.00 avg60=0 total=1\n"
    write(tmp_path, "proc/pressure/cpu", pressure.format("12.50"))
    write(tmp_path, "proc/pressure/memory", pressure.format("0.00"))
    write(tmp_path, "proc/stat", "cpu  1 2 3 4 5 6 7 250 0 0\n")
    write(tmp_path, "proc/loadavg", "1.50 1.00 0.50 1/100 4711\n")
    return tmp_path


def test_devices_that_are_named_stand_first_and_a_gpu_in_place_of_those_that_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def opened(specs: Sequence[str]) -> SimpleNamespace:
        driver = specs[0].partition(":")[0]
        is_processor = specs[0].startswith(("opencl:0", "opencl:1"))
        role = "test only" if is_processor else "real"
        return SimpleNamespace(devices=[SimpleNamespace(driver=driver, role=role)])

    drivers = [SimpleNamespace(name=name) for name in ("cpu", "library", "cuda", "opencl")]
    lab = SimpleNamespace(Engine=opened, drivers=lambda: drivers)
    monkeypatch.setattr("sealift_lab.machine.sensors._lab", lab)
    found = ("library", "cpu", "cuda")
    for text, devices in (
        ("", found),
        ("cpu", ("cpu", "library", "cuda")),
        ("opencl:2", ("opencl:2", "library", "cpu")),
        ("cpu,cuda:1", ("cpu", "cuda:1", "library")),
        ("opencl:0", ("library", "cpu")),
    ):
        assert chosen_devices(text, found) == devices
    for text in ("opencl:1", "opencl:0,strict=on", "opencl:0,cuda"):
        with pytest.raises(ValueError, match="is a processor; right would be opencl:0"):
            chosen_devices(text, found)


def test_every_sensor_of_this_machine_has_a_value_or_a_reason() -> None:
    for name, fact in Sensors().look().items():
        assert (fact.value is None) != (fact.reason is None), name


def test_gpus_have_their_sensors_by_number_and_one_that_tells_nothing_its_reason(
    root: Path,
) -> None:
    def absent() -> Sequence[Sequence[Reading]]:
        raise NotMeasurableError("no driver")

    assert Sensors(root, gpus=absent).look()["gpu_temperature_c"] == Fact(None, "no driver")
    one: Sequence[Reading] = [("power_w", 71.5, None), ("fan_percent", None, "no fan")]
    facts = Sensors(root, gpus=lambda: [one]).look()
    assert (facts["gpu_power_w"], facts["gpu_fan_percent"]) == (Fact(71.5), Fact(None, "no fan"))
    values = Sensors(root, gpus=lambda: [one, one]).read()
    assert {name for name in values if "gpu" in name} == {"gpu0_power_w", "gpu1_power_w"}


def test_sensors_are_read_from_proc_and_sys(root: Path) -> None:
    clock = Clock()
    values = Sensors(root, gpus=list, clock_s=clock, sleep=clock.sleep).read()
    assert values == {
        "temperature_c": 63.5,
        "fan_rpm": 1210,
        "package_power_w": 0.0,
        "cpufreq_ghz": 3.7,
        "cpu_pressure_percent": 12.5,
        "memory_pressure_percent": 0.0,
        "steal_s": pytest.approx(2.5),
        "load_1min": 1.5,
    }


def test_power_is_the_energy_of_all_packages_since_the_reading_before(root: Path) -> None:
    clock = Clock()
    sensors = Sensors(root, clock_s=clock, sleep=clock.sleep)
    sensors.read()
    clock.sleep(2.0)
    write(root, "sys/class/powercap/intel-rapl:0/energy_uj", "31000000")
    write(root, "sys/class/powercap/intel-rapl:1/energy_uj", "11000000")
    # A part of the first package: counted in it already.
    write(root, "sys/class/powercap/intel-rapl:0:0/energy_uj", "21000000")
    assert sensors.read()["package_power_w"] == pytest.approx(20.0)


def test_an_energy_counter_that_begins_anew_gives_no_wild_power(root: Path) -> None:
    clock = Clock()
    sensors = Sensors(root, clock_s=clock, sleep=clock.sleep)
    write(root, "sys/class/powercap/intel-rapl:0/energy_uj", "262143000000")
    sensors.read()
    clock.sleep(1.0)
    write(root, "sys/class/powercap/intel-rapl:0/energy_uj", "9671150")
    assert sensors.read()["package_power_w"] == pytest.approx(10.0)


def test_a_machine_without_sensors_gives_reasons(tmp_path: Path) -> None:
    facts = Sensors(tmp_path).look()
    assert all(fact.value is None for fact in facts.values())
    for name in ("temperature_c", "package_power_w", "cpufreq_ghz"):
        assert "as on most virtual machines" in str(facts[name].reason)
    assert "No such file or directory" in str(facts["cpu_pressure_percent"].reason)
    assert Sensors(tmp_path, gpus=list).read() == {}


@pytest.mark.parametrize(
    ("name", "text", "sensor", "reason"),
    [
        ("sys/class/hwmon/hwmon1/name", "acpitz", "temperature_c", "is a processor's"),
        ("sys/class/hwmon/hwmon1/temp1_input", "hot", "temperature_c", "not in the form expected"),
        ("proc/pressure/cpu", "full avg10=1.0\n", "cpu_pressure_percent", "no line 'some'"),
        ("proc/pressure/memory", "some avg10\n", "memory_pressure_percent", "not in the form"),
        ("proc/pressure/memory", "some avg60=1\n", "memory_pressure_percent", "not in the form"),
        ("proc/stat", "cpu 1\n", "steal_s", "no steal column"),
    ],
)
def test_a_file_in_another_form_gives_a_reason(
    root: Path, name: str, text: str, sensor: str, reason: str
) -> None:
    write(root, name, text)
    clock = Clock()
    fact = Sensors(root, clock_s=clock, sleep=clock.sleep).look()[sensor]
    assert fact.value is None
    assert reason in str(fact.reason)


def test_sensors_are_sampled_until_the_end_of_the_block(root: Path) -> None:
    stored: list[tuple[float, Mapping[str, float]]] = []
    thrice = threading.Event()

    def store(at_s: float, values: Mapping[str, float]) -> bool:
        stored.append((at_s, values))
        if len(stored) == 3:
            thrice.set()
        return True

    with sampling(Sensors(root), store, every_s=0.01, clock_s=lambda: 5.0):
        assert thrice.wait(100)
    count = len(stored)
    assert stored[0][0] == 5.0
    assert stored[0][1]["load_1min"] == 1.5
    assert not any(thread.name == "sensors" for thread in threading.enumerate())
    assert len(stored) == count


def test_a_run_knows_all_devices_and_the_library_is_the_first_real_one() -> None:
    found = {each.spec: each for each in surroundings().devices}
    assert {"cpu:isa=aesni", "library", "reference"} <= found.keys()
    assert found["fault"].state == "incomplete"
    assert real_devices()[0] == "library"


def test_further_devices_of_a_role_are_known_by_their_numbers() -> None:
    roles = {"gpu": "real", "gpu:0": "test only", "gpu:1": "real", "gpu:2": "real"}

    def engine(specs: Sequence[str]) -> SimpleNamespace:
        if specs[0] not in roles:
            raise sealift.SealiftError(f"{specs[0]} is absent: no such number")
        device = SimpleNamespace(role=roles[specs[0]], detail="", workers=1)
        return SimpleNamespace(devices=[device])

    fields = {"name": "gpu", "state": "present", "role": "real", "reason": None}
    driver = SimpleNamespace(**fields, summary="GPUs (a number as in gpu:1)")
    extension: Any = SimpleNamespace(drivers=lambda: [driver], Engine=engine)
    assert [each["spec"] for each in states(extension)] == ["gpu", "gpu:2"]


def test_a_list_of_devices_is_split_where_devices_end() -> None:
    assert split_specs(_lab, "cpu, library") == ("cpu", "library")
    long = "cpu:isa=aesni,workers=2,library"
    assert split_specs(_lab, long) == ("cpu:isa=aesni,workers=2", "library")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("cpu,librery", "no device is called 'librery' (did you mean 'library'?); there are "),
        ("dpu", "no device is called 'dpu'; there are "),
        ("isa=aesni", "no device is called 'isa=aesni'; there are "),
        ("cpu,cpu", "a device stands twice in 'cpu,cpu'"),
    ],
)
def test_a_list_that_is_wrong_is_refused_with_what_would_be_right(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        split_specs(_lab, text)


def test_absent_devices_have_a_reason_and_wrong_settings_are_errors() -> None:
    assert absences(_lab, ["library"]) == {}
    with pytest.raises(ValueError, match="isa"):
        absences(_lab, ["cpu:isa=none"])


def test_each_core_says_what_it_did_since_the_reading_before(tmp_path: Path) -> None:
    # user nice system idle iowait irq softirq steal guest
    before = (
        "cpu  9 9 9 9 9 9 9 9 9\ncpu0 100 0 0 100 0 0 0 0 50\ncpu1 0 0 0 200 0 0 0 0 0\nintr 7\n"
    )
    write(tmp_path, "proc/stat", before)
    cores = Cores(tmp_path)
    assert cores.read() == CoreLoads({0: 50.0, 1: 0.0}, 0.0)
    write(tmp_path, "proc/stat", "cpu0 170 5 10 100 0 3 2 10 50\ncpu1 0 0 0 270 30 0 0 0 0\n")
    now = cores.read()
    assert now == CoreLoads({0: 90.0, 1: 0.0}, 5.0)
    assert now.mean_percent == 45
    assert cores.read() == CoreLoads({0: 0.0, 1: 0.0}, 0.0)
    write(tmp_path, "proc/stat", "cpu  9 9 9 9 9 9 9 9 9\n")
    with pytest.raises(UnknownError, match="no line of a core"):
        cores.read()
