"""Clock, heat and throughput over a minute of full load (document 003, table 7).

Each kind of work begins after a rest, with a reading of that, and goes on without a pause until its
last reading: cells are measured once, in order, and nothing is compared. A figure is that of the
time since the reading before; temperature and fan are the last ones read under load. Not part of a
quick run.
"""

import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING, Protocol

from sealift_lab._lab import effective_clock_ghz
from sealift_lab.experiments.combinations import axes
from sealift_lab.experiments.document_003.gpus import cells, limits
from sealift_lab.experiments.notes import texts
from sealift_lab.machine.sensors import Cores, Sensors, sampling
from sealift_lab.measure.crypto import MANY_KEYS, crypto_arm, crypto_cells, sized
from sealift_lab.measure.native import native
from sealift_lab.model.arm import Arm, Cell, Computed, Context, Value
from sealift_lab.model.experiment import Chart, Experiment, Line, Scope
from sealift_lab.model.published import Fact, Figure, Kind, Missing, Published, table
from sealift_lab.model.results import Origin, Results

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    every = scope.threads or (scope.cores,)
    works: list[tuple[str, Sequence[int]]] = [(BUSY, every), (f"{SEALING}cpu", every)]
    works += [(f"{SEALING}{each}", (1,)) for each in scope.devices if each.startswith("cuda")][:1]
    for work, counts in works:
        for threads, loaded_s in product(counts, MOMENTS_S):
            yield {"work": work, "threads": threads, "loaded_s": loaded_s}


def _arm(cell: Cell, context: Context) -> Computed:
    key = str(cell["work"]), int(cell["threads"])
    if key not in courses:
        courses[key] = _course(*key, context)
    facts = courses[key].facts_at(int(cell["loaded_s"]))
    if cell["loaded_s"] == MOMENTS_S[-1]:
        # The cores of what comes next rest first.
        courses.pop(key).load.close()
    return Computed(facts)


def _course(work: str, threads: int, context: Context) -> "Course":
    if work == BUSY:
        return Course(BusyLoops(threads))
    device = work.removeprefix(SEALING)
    if device == "cpu":
        (cell,) = crypto_cells(
            [sized(MESSAGE_BYTES, MANY_KEYS)], devices=[device], threads=[threads]
        )
        return Course(Sealing(crypto_arm(cell, context)))
    how = {"code": cells.OURS, "mode": cells.PARTITIONED, "data": cells.RESIDENT, "grid": None}
    size = {"messages": GPU_MESSAGES, "message_bytes": limits.TEXT_BYTES}
    arm = native("gpu", context, device=device, **how, **size)
    # Only where there are several GPUs their sensors have numbers.
    prefixes = ("gpu_", f"gpu{device.partition(':')[2] or 0}_")
    return Course(Sealing(arm), prefixes)


class Load(Protocol):
    """Work that goes on without a pause while it is called again and again."""

    def work(self, seconds: float) -> tuple[float, float | None]:
        """Works for about `seconds`: operations a second, and the clock of its cores in GHz."""

    def close(self) -> None:
        """Ends it."""


@dataclass
class Course:
    """The readings of a load from a rest on, one after the other.

    Attributes:
        gpu: How the names of its GPU's sensors begin; empty for none.
    """

    load: Load
    gpu: Sequence[str] = ()
    sensors: Sensors = field(default_factory=Sensors)
    cores: Cores = field(default_factory=Cores)
    sleep: Callable[[float], None] = time.sleep
    clock_s: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        """Nothing was read yet."""
        self._moments = iter(MOMENTS_S)
        self._begin_s: float | None = None
        self._first = 0.0

    def facts_at(self, loaded_s: int) -> Mapping[str, Value]:
        """The reading of a moment; those before it are taken first, where they were not."""
        for moment in self._moments:
            facts = self._read(moment)
            if moment == loaded_s:
                return facts
        raise AssertionError(f"{loaded_s} s are no moment, or were read already")

    def _read(self, moment: int) -> Mapping[str, Value]:
        readings: list[Mapping[str, float]] = []

        def store(_: float, values: Mapping[str, float]) -> bool:
            readings.append(values)
            return True

        self.cores.read()
        with sampling(self.sensors, store):
            facts = self._work(moment) if moment else self._rest()
        cores = self.cores.read()
        facts |= {LOAD: cores.mean_percent, STEAL: cores.steal_percent}
        for name, sensors in self._sensors().items():
            values = [each[sensor] for each in readings for sensor in sensors if sensor in each]
            if values:
                facts[name] = values[-1] if name in AT_THE_END else fmean(values)
        return facts

    def _sensors(self) -> Mapping[str, Sequence[str]]:
        """By the name of a fact what its sensor may be called."""
        of_gpu = {
            name: [f"{prefix}{sensor}" for prefix in self.gpu]
            for name, sensor in GPU_SENSORS.items()
        }
        return {name: [sensor] for name, sensor in SENSORS.items()} | of_gpu

    def _rest(self) -> dict[str, Value]:
        self.sleep(REST_S)
        looked = self.sensors.look()
        facts: dict[str, Value] = {
            f"{name}{WHY_NONE}": looked[sensor].reason or ""
            for name, sensors in self._sensors().items()
            for sensor in sensors
            if sensor in looked and looked[sensor].value is None
        }
        # The chain itself wakes its core.
        return facts | _clock_fact([effective_clock_ghz()])

    def _work(self, moment: int) -> dict[str, Value]:
        if self._begin_s is None:
            self._begin_s = self.clock_s()
        end_s, slices = self._begin_s + moment, list[tuple[float, float | None]]()
        while (left_s := end_s - self.clock_s()) > SHORT_S or not slices:
            slices.append(self.load.work(min(SLICE_S, max(SHORT_S, left_s))))
        rate = fmean([rate for rate, _ in slices])
        self._first = self._first or rate
        clocks = _clock_fact([clock for _, clock in slices])
        return {RATE: rate, RELATIVE: 100 * rate / self._first, **clocks}


def _clock_fact(clocks: Sequence[float | None]) -> dict[str, Value]:
    known = [each for each in clocks if each is not None]
    return {CLOCK: fmean(known)} if known else {f"{CLOCK}{WHY_NONE}": "known on x86-64 only"}


class BusyLoops:
    """A loop of Python that does nothing, in as many processes, which end with this one."""

    def __init__(self, processes: int) -> None:
        """Starts them; they wait for work."""
        # Processes that measure something else do without it.
        from multiprocessing import get_context

        spawn = get_context("spawn")
        self._pipes: list[Connection] = []
        for _ in range(processes):
            pipe, remote = spawn.Pipe()
            spawn.Process(target=_spin, args=(remote,), daemon=True).start()
            remote.close()
            self._pipes.append(pipe)
        for pipe in self._pipes:
            pipe.recv()

    def work(self, seconds: float) -> tuple[float, float | None]:
        """Rounds of the loops together, and the mean clock of their cores."""
        for pipe in self._pipes:
            pipe.send(seconds)
        rates, clocks = zip(*(pipe.recv() for pipe in self._pipes), strict=True)
        return sum(rates), None if None in clocks else fmean(clocks)

    def close(self) -> None:
        """Ends the processes."""
        for pipe in self._pipes:
            pipe.close()


def _spin(pipe: "Connection") -> None:
    """Sends, for each time in seconds that comes, rounds a second and the clock behind them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, ConnectionError):
        pipe.send("started")
        while True:
            seconds, rounds = pipe.recv(), 0
            begin_s = now_s = time.monotonic()
            while now_s < begin_s + seconds:
                for _ in range(ROUNDS):
                    pass
                rounds += ROUNDS
                now_s = time.monotonic()
            pipe.send((rounds / (now_s - begin_s), effective_clock_ghz()))


@dataclass(frozen=True)
class Sealing:
    """An arm that seals messages, and checks them."""

    arm: Arm

    def work(self, seconds: float) -> tuple[float, float | None]:
        """Messages a second, and the clock of one core right behind them."""
        sample = self.arm.sample(seconds)
        return 1e9 / sample.ns_per_operation, sample.clock_ghz

    def close(self) -> None:
        """It works only while it is called."""


def _published(results: Results) -> Iterator[Published]:
    why = {
        (each.cell["work"], name.removesuffix(WHY_NONE)): str(reason)
        for each in results.facts(loaded_s=0)
        for name, reason in each.facts.items()
        if name.endswith(WHY_NONE)
    }
    works = dict.fromkeys(str(each.cell["work"]) for each in results.reports)
    on_gpu = next((each for each in works if each.startswith(f"{SEALING}cuda")), "")
    for row in TABLE:
        work = on_gpu if row["running_on_all_cores_busy"] == "GPU" else BUSY
        for column, loaded_s in WHEN.items():
            value, unit = _parse(row["sensor"], row[column])
            name = PUBLISHED[row["sensor"]]
            if name == CLOCK and not loaded_s:
                # A core that is at rest has no chain to be timed by.
                name = CPUFREQ
            here: Figure = Fact({"work": work, "loaded_s": loaded_s}, name)
            if results.reports and not work:
                here = Missing("no GPU that CUDA can use is here")
            elif reason := ABSENT.get(name) or why.get((work, name)):
                here = Missing(reason)
            what = f"{row['sensor']}, {row['running_on_all_cores_busy']} busy, {column}"
            note = ": ".join(filter(None, (work, name.partition(",")[0])))
            what = what.replace("_", " ")
            yield Published(ID, what, value, unit, row["source"], Kind.VALUE, here, note)


def _lines(_: Results) -> Iterator[Line]:
    """The document's two points of clock and temperature."""
    for row in TABLE[:2]:
        for column, loaded_s in WHEN.items():
            value, _unit = _parse(row["sensor"], row[column])
            at: Cell = {"loaded_s": loaded_s}
            yield Line("another machine", PUBLISHED[row["sensor"]], value, Origin.PUBLISHED, at)


def _parse(sensor: str, text: str) -> tuple[float, str]:
    """A printed value in the unit of the figure here: `2.4 GHz` of a GPU is 2,400 MHz."""
    unit = PUBLISHED[sensor].rpartition(", ")[2]
    number, _, printed = text.replace("%", " %").replace("Max", "100 %").partition(" ")
    factor = 1_000 if (printed, unit) == ("GHz", "MHz") else 1
    return float(number) * factor, unit


ID = "003-T7"
TABLE = table("003-T7-thermal")
# Columns, and after how many seconds of load they were read.
WHEN = {"before": 0, "ten_seconds_after": 10}
# Before the name of a device.
BUSY, SEALING = "busy loops", "sealing on "
MESSAGE_BYTES, GPU_MESSAGES = 16_384, 1 << 20
MOMENTS_S = (0, 1, 2, 3, 5, 10, 15, 20, 30, 40, 50, 60)
REST_S, SLICE_S, SHORT_S = 5.0, 1.0, 0.1
ROUNDS = 10_000
CLOCK, CPUFREQ, TEMPERATURE = "clock, GHz", "cpufreq, GHz", "temperature, °C"
FAN, POWER, LOAD, STEAL = "fan, RPM", "power, W", "load, %", "steal, %"
RATE, RELATIVE = "operations/s", "throughput, % of the first second"
GPU_CLOCK, GPU_MEMORY, GPU_LOAD = "GPU clock, MHz", "GPU memory clock, MHz", "GPU load, %"
GPU_TEMPERATURE, GPU_POWER = "GPU temperature, °C", "GPU power, W"
# As `Sensors` calls them; those of a GPU behind its name.
SENSORS = {
    CPUFREQ: "cpufreq_ghz",
    TEMPERATURE: "temperature_c",
    FAN: "fan_rpm",
    POWER: "package_power_w",
}
GPU_SENSORS = {
    GPU_CLOCK: "clock_mhz",
    GPU_MEMORY: "memory_clock_mhz",
    GPU_TEMPERATURE: "temperature_c",
    GPU_LOAD: "used_percent",
    GPU_POWER: "power_w",
}
AT_THE_END = (TEMPERATURE, FAN, GPU_TEMPERATURE)
WHY_NONE = ", why none"
VOLTAGE, GPU_VOLTAGE, GPU_FAN = "voltage, mV", "GPU voltage, mV", "GPU fan, RPM"
ABSENT = {
    VOLTAGE: "Linux gives a core's voltage only to those who may read the processor's registers",
    GPU_VOLTAGE: "NVIDIA's management library has no voltage",
    GPU_FAN: "NVIDIA's management library has a fan's speed in per cent only",
}
PUBLISHED = {
    "CPU Frequency": CLOCK,
    "CPU Temperature": TEMPERATURE,
    "CPU Load": LOAD,
    "CPU Voltage": VOLTAGE,
    "CPU FAN Speed": FAN,
    "GPU Frequency": GPU_CLOCK,
    "G-RAM Frequency": GPU_MEMORY,
    "GPU Temperature": GPU_TEMPERATURE,
    "GPU Voltage": GPU_VOLTAGE,
    "GPU Load": GPU_LOAD,
    "GPU FAN Speed": GPU_FAN,
}
courses: dict[tuple[str, int], Course] = {}
_by_time = partial(Chart, "loaded_s", "work")

EXPERIMENT = Experiment(
    **texts(__package__, "heat"),
    id=ID,
    axes=axes(work="work", threads="threads", loaded_s="seconds of full load"),
    compare="loaded_s",
    cells=_cells,
    arm=_arm,
    operation="operation",
    published=lambda results: [*_published(results)],
    charts=(
        _by_time(RELATIVE, "Throughput over a minute of full load"),
        _by_time(CLOCK, "Clock over a minute of full load"),
        _by_time(TEMPERATURE, "Temperature over a minute of full load"),
    ),
    lines=lambda results: [*_lines(results)],
    columns={
        name: name
        for name in (
            *(RATE, RELATIVE, CLOCK, CPUFREQ, TEMPERATURE, FAN, POWER, LOAD, STEAL),
            *(GPU_CLOCK, GPU_MEMORY, GPU_TEMPERATURE, GPU_LOAD, GPU_POWER),
        )
    },
    is_sampled=False,
    # With a third work on a GPU it takes 65 s more.
    estimated_s=135.0,
)
