"""The machine as a run begins, its devices, and its sensors: each a value, or why there is none.

Reads files of /proc and /sys that every user may read, and NVIDIA's management library, once a
second; needs no rights and changes no setting.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from sealift.cli.devices import split_specs, states
from sealift_lab._lab import NotMeasurableError, effective_clock_ghz, nvidia_gpus, nvidia_sensors
from sealift_lab.machine.facts import UnknownError, describe, fact_of, load_1min, read_text, steal_s
from sealift_lab.model.run import DeviceState, Fact, Surroundings

_lab = import_module("sealift_lab._lab")


def surroundings() -> Surroundings:
    """Looks at everything once; opens each device, so it takes a second or two."""
    clock_ghz = effective_clock_ghz()
    unknown = None if clock_ghz else "cycles of a multiplication are known on x86-64 only"
    return Surroundings(
        facts=describe()
        | {"core_clock_ghz": Fact(clock_ghz, unknown), "nvidia_gpus": fact_of(nvidia_gpus)},
        # Every driver, and below each that is present its choices, as in `cpu:isa=vaes256`.
        devices=[DeviceState(**state) for state in states(_lab)],  # type: ignore[arg-type]
        sensors=Sensors().look(),
    )


def real_devices() -> tuple[str, ...]:
    """The present devices for users' work; `library` first, as the others are compared with it."""
    names = [driver.name for driver in _lab.drivers() if driver.role == "real"]
    return tuple(sorted(names, key="library".__ne__))


def chosen_devices(text: str, found: Sequence[str]) -> tuple[str, ...]:
    """Devices of a list, then those that were found: no GPUs where the list has one.

    `PROCESSOR_SPEC` is not among them: without a GPU, experiments on GPUs measure it.

    A ValueError if one is no device, or a processor that they would not measure; a SealiftError if
    one is absent.
    """
    specs = split_specs(_lab, text) if text else ()
    opened = {spec: _lab.Engine([spec]).devices[0] for spec in specs}
    gpus = [spec for spec, it in opened.items() if it.driver in GPU_DRIVERS]
    processors = {
        spec for spec, it in opened.items() if (it.driver, it.role) == ("opencl", "test only")
    }
    if processors and gpus != [PROCESSOR_SPEC]:
        raise ValueError(
            f"{min(processors)} is a processor; right would be {PROCESSOR_SPEC} where that is one, "
            "without GPUs beside it"
        )
    kept = [spec for spec in found if not gpus or spec.partition(":")[0] not in GPU_DRIVERS]
    return tuple(dict.fromkeys(spec for spec in (*opened, *kept) if spec not in processors))


Reading = tuple[str, float | None, str | None]
"""A sensor of a GPU, its value, and why it has none."""


@dataclass
class Sensors:
    """The sensors of this machine; `gpus` reads those of each NVIDIA GPU."""

    root: Path = Path("/")
    gpus: Callable[[], Sequence[Sequence[Reading]]] = nvidia_sensors
    clock_s: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    energy: tuple[float, Mapping[Path, float]] | None = None

    def look(self) -> dict[str, Fact]:
        """A reading of each sensor, or why there is none, by name with the unit last."""
        looks: dict[str, Callable[[], float]] = {
            "temperature_c": self._temperature_c,
            "fan_rpm": self._fan_rpm,
            "package_power_w": self._package_power_w,
            "cpufreq_ghz": self._cpufreq_ghz,
            "cpu_pressure_percent": lambda: self._pressure_percent("cpu"),
            "memory_pressure_percent": lambda: self._pressure_percent("memory"),
            "steal_s": lambda: steal_s(self.root),
            "load_1min": lambda: load_1min(self.root),
        }
        return {name: fact_of(look) for name, look in looks.items()} | self._gpu_facts()

    def read(self) -> dict[str, float]:
        """The values alone: a sensor without one is left out."""
        values = {name: fact.value for name, fact in self.look().items()}
        return {name: value for name, value in values.items() if isinstance(value, int | float)}

    def _gpu_facts(self) -> dict[str, Fact]:
        """The sensors of every GPU, with its number where there are several."""
        try:
            gpus = self.gpus()
        except NotMeasurableError as error:
            return {"gpu_temperature_c": Fact(None, str(error))}
        return {
            f"gpu{number if gpus[1:] else ''}_{name}": Fact(value, reason)
            for number, gpu in enumerate(gpus)
            for name, value, reason in gpu
        }

    def _temperature_c(self) -> float:
        hwmon = _found(self.root / HWMON, "hwmon*", "chip")
        chips = [e for e in hwmon if read_text(e / "name").strip() in CPU_CHIPS]
        lacking = f"no chip of {self.root / HWMON} is a processor's ({', '.join(CPU_CHIPS)})"
        return _most((each for chip in chips for each in chip.glob("temp*_input")), lacking) / 1_000

    def _fan_rpm(self) -> float:
        hwmon = _found(self.root / HWMON, "hwmon*", "chip")
        fans = (fan for chip in hwmon for fan in chip.glob("fan*_input"))
        return _most(fans, f"no chip of {self.root / HWMON} has a fan")

    def _package_power_w(self) -> float:
        """Power of all processor packages together since the reading before."""
        if self.energy is None:
            self.energy = self._energy_j()
            self.sleep(FIRST_POWER_S)
        before_s, before_j = self.energy
        now_s, now_j = self.energy = self._energy_j()
        if now_s <= before_s:
            raise UnknownError("two readings of the energy at one time")
        used_j = 0.0
        for zone, now in now_j.items():
            # At the end of its range a counter restarts at 0.
            range_j = int(read_text(zone / "max_energy_range_uj")) / 1e6
            used_j += (now - before_j.get(zone, now)) % range_j
        return round(used_j / (now_s - before_s), 3)

    def _energy_j(self) -> tuple[float, Mapping[Path, float]]:
        # A package is called intel-rapl:0; its parts, intel-rapl:0:0, are counted in it.
        zones = _found(self.root / POWERCAP, "intel-rapl:[0-9]*", "package")
        packages = [zone for zone in zones if zone.name.count(":") == 1]
        counted = {zone: int(read_text(zone / "energy_uj")) / 1e6 for zone in packages}
        return self.clock_s(), counted

    def _cpufreq_ghz(self) -> float:
        cores = _found(self.root / CPUS, "cpu[0-9]*/cpufreq/scaling_cur_freq", "cpufreq")
        return _most(cores, "") / 1e6

    def _pressure_percent(self, resource: str) -> float:
        """Share of the last ten seconds in which some task waited for a resource."""
        path = self.root / "proc/pressure" / resource
        for line in read_text(path).splitlines():
            kind, *fields = line.split()
            values = dict(field.split("=", 1) for field in fields)
            if kind == "some":
                return float(values["avg10"])
        raise UnknownError(f"no line 'some' in {path}")


@dataclass(frozen=True)
class CoreLoads:
    """Shares of time in per cent: each core's work by its number, and what the hypervisor took."""

    busy_percent: Mapping[int, float]
    steal_percent: float

    @property
    def mean_percent(self) -> float:
        """Work of all cores together."""
        return sum(self.busy_percent.values()) / len(self.busy_percent)


@dataclass
class Cores:
    """Loads of the cores between two readings, by /proc/stat."""

    root: Path = Path("/")
    before: Mapping[int, Sequence[int]] = field(default_factory=dict)

    def read(self) -> CoreLoads:
        """Since the reading before, the first time since boot; an UnknownError without cores."""
        before, self.before = self.before, dict(self._ticks())
        if not self.before:
            raise UnknownError(f"no line of a core in {self.root / 'proc/stat'}")
        passed = {
            core: [now - then for now, then in zip(ticks, before.get(core, NEVER), strict=True)]
            for core, ticks in self.before.items()
        }
        # There are none where two readings follow each other at once.
        total = {core: max(1, sum(ticks)) for core, ticks in passed.items()}
        busy = {
            core: 100 * (user + nice + system + irq + soft) / total[core]
            for core, (user, nice, system, _, _, irq, soft, _) in passed.items()
        }
        steal = sum(stolen for *_, stolen in passed.values())
        return CoreLoads(busy, 100 * steal / sum(total.values()))

    def _ticks(self) -> Iterator[tuple[int, Sequence[int]]]:
        """Of each core: user, nice, system, idle, iowait, irq, softirq, steal."""
        for line in read_text(self.root / "proc/stat").splitlines():
            name, *ticks = line.split()
            if name.startswith("cpu") and name != "cpu":
                yield int(name.removeprefix("cpu")), [*map(int, ticks[: len(NEVER)])]


@contextmanager
def sampling(
    sensors: Sensors,
    store: Callable[[float, Mapping[str, float]], bool],
    *,
    every_s: float = 1.0,
    clock_s: Callable[[], float] = time.time,
) -> Iterator[None]:
    """Reads the sensors in a thread of its own, as long as the `with` lasts.

    There `store` takes the time by `clock_s` and the values, and returns whether to go on.
    """
    ended = threading.Event()

    def work() -> None:
        while store(clock_s(), sensors.read()) and not ended.wait(every_s):
            pass

    thread = threading.Thread(target=work, name="sensors", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _found(folder: Path, pattern: str, what: str) -> list[Path]:
    if found := sorted(folder.glob(pattern)):
        return found
    raise UnknownError(f"no {what} in {folder}, as on most virtual machines")


def _most(files: Iterable[Path], lacking: str) -> float:
    if numbers := [int(read_text(file)) for file in files]:
        return max(numbers)
    raise UnknownError(lacking)


GPU_DRIVERS = ("cuda", "opencl")
PROCESSOR_SPEC = "opencl:0"
HWMON = "sys/class/hwmon"
POWERCAP = "sys/class/powercap"
CPUS = "sys/devices/system/cpu"
CPU_CHIPS = ("coretemp", "k10temp", "zenpower", "cpu_thermal")
FIRST_POWER_S = 0.1
NEVER = (0,) * 8
