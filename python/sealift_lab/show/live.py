"""A screen of a run and of this machine, drawn once a second; lines where no terminal shows it."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TextIO, TypeVar

from rich.console import Console
from rich.live import Live
from rich.text import Text

from sealift.cli.output import ESCAPES
from sealift_lab._lab import effective_clock_ghz
from sealift_lab.claim.words import conditions, value_text, varied_axes
from sealift_lab.machine.facts import UnknownError
from sealift_lab.machine.sensors import CoreLoads, Cores, Sensors
from sealift_lab.model.run import Fact, Plan
from sealift_lab.model.units import format_measure, format_ns, rate_unit, scale_of
from sealift_lab.run.progress import LINE_EVERY_S, Progress, Standing, show_progress

T = TypeVar("T")


@contextmanager
def show_live(plan: Plan) -> Iterator[Progress]:
    """As `show_progress`, with the screen on a terminal."""
    if not sys.stderr.isatty():
        with show_progress(plan) as progress:
            yield progress
        return
    with screen_on(sys.stderr) as screen:
        yield LiveProgress(plan, screen)


class LiveProgress(Progress):
    """Shows a run on a screen."""

    def __init__(self, plan: Plan, screen: "Screen") -> None:
        """Shows nothing yet."""
        super().__init__(plan)
        self._screen = screen

    def show(self) -> None:
        """Draws, where it is time."""
        # A run goes on where nobody looks any more.
        with suppress(OSError):
            self._screen.draw(self.standing)

    def say(self, text: str) -> None:
        """A sentence that stays, above the screen."""
        with suppress(OSError):
            self._screen.say(f"sealift: {text}")


@contextmanager
def screen_on(stream: TextIO) -> Iterator["Screen"]:
    """A screen on a stream as long as the `with` lasts; its last picture stays."""
    console = Console(file=stream, highlight=False)
    if not stream.isatty():
        yield Screen(console)
        return
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        # Nothing would show it again after SIGKILL.
        console.show_cursor()
        yield Screen(console, live)


@dataclass(frozen=True)
class MachineNow:
    """A reading of this machine.

    Attributes:
        clock: Of a core in GHz, by a timed chain.
        cores: None where the kernel has no counts of them.
    """

    clock: Fact
    sensors: Mapping[str, Fact]
    cores: CoreLoads | None


@dataclass
class Machine:
    """Reads this machine's sensors and cores."""

    sensors: Sensors = field(default_factory=Sensors)
    cores: Cores = field(default_factory=Cores)
    clock_s: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        """Loads are those since now."""
        self._clock, self._clock_at_s = Fact(None, UNKNOWN_CLOCK), -CLOCK_EVERY_S
        self._loads()

    def read(self, clock_ghz: float | None) -> MachineNow:
        """Everything; a clock that is known is taken, else a chain is timed, which takes 10 ms."""
        if clock_ghz is not None:
            self._clock = Fact(clock_ghz)
        elif self.clock_s() - self._clock_at_s >= CLOCK_EVERY_S:
            self._clock_at_s, found = self.clock_s(), effective_clock_ghz()
            self._clock = Fact(found) if found else self._clock
        return MachineNow(self._clock, self.sensors.look(), self._loads())

    def _loads(self) -> CoreLoads | None:
        try:
            return self.cores.read()
        except (UnknownError, OSError):
            return None


class Screen:
    """Draws runs and machine, at most once a second, or a line every ten."""

    def __init__(
        self,
        console: Console,
        live: Live | None = None,
        machine: Machine | None = None,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Draws nothing yet; without `live` it prints lines."""
        self._console, self._live, self._clock_s = console, live, clock_s
        self._machine, self._due_s = machine or Machine(), clock_s() + FRAME_EVERY_S

    def draw(self, standing: Standing | None, title: str = "") -> None:
        """Draws, where it is time; `standing` is None without a run."""
        if self._clock_s() < self._due_s:
            return
        self._due_s = self._clock_s() + (FRAME_EVERY_S if self._live else LINE_EVERY_S)
        now = self._machine.read(standing.clock_ghz if standing else None)
        if self._live:
            picture = frame(standing, now, self._console.width, title)
            self._live.update(picture, refresh=True)
        else:
            self.say(line(standing, now))

    def say(self, text: str) -> None:
        """A line that stays, above the picture."""
        self._console.print(text.translate(ESCAPES), markup=False, soft_wrap=True)
        self._console.file.flush()


Lines = Sequence[tuple[str, str]]
"""Lines with their styles; they may be longer than a terminal is wide."""


def frame(standing: Standing | None, now: MachineNow, width: int = 80, title: str = "") -> Text:
    """The picture: a run and below it this machine, or beside it where the terminal is wide."""
    if standing is None:
        return _picture(_machine(now, width), width)
    if width < WIDE:
        return _picture([*_run(standing, width, title), ("", ""), *_machine(now, width)], width)
    half = width // 2
    left, right = _run(standing, half - 2, title), _machine(now, half)
    return _picture(left, half - 2, right, width)


def line(standing: Standing | None, now: MachineNow) -> str:
    """The same as a line: what is known."""
    shown = {name: text for name, text in _readings(now).items() if not text.startswith(NONE)}
    cores = " ".join(f"{each:.0f}" for each in now.cores.busy_percent.values()) if now.cores else ""
    machine = ", ".join(f"{name} {text}" for name, text in shown.items())
    parts = (str(standing or ""), machine, cores and f"cores {cores} %")
    return "; ".join(filter(None, parts))


def _picture(left: Lines, left_width: int, right: Lines = (), width: int = 0) -> Text:
    """Both sides as one text. Tables of rich take four times as long, once a second."""
    picture = Text(no_wrap=True, overflow="crop", end="")
    for (text, style), (beside, its_style) in zip_longest(left, right, fillvalue=("", "")):
        picture.append(_fitting(text, left_width), style)
        if right:
            picture.append(" " * (left_width + 2 - min(len(text), left_width)))
            picture.append(_fitting(beside, width - left_width - 2), its_style)
        picture.append("\n")
    picture.right_crop(1)
    return picture


def _fitting(text: str, width: int) -> str:
    # Control characters, which a foreign run folder may hold, stay text.
    text = text.translate(ESCAPES)
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _run(standing: Standing, width: int, title: str) -> Lines:
    planned = standing.experiment
    tail = f"{100 * standing.share:3.0f} %  {standing.left}"
    head = [
        *([(title, "dim")] if title else []),
        (f"{planned.name}: {planned.title}", "bold"),
        (f"{_bar(standing.share, width - len(tail) - 2)}  {tail}", ""),
        ("", ""),
    ]
    silence = [(standing.silence, "dim")] if standing.silence else []
    if not standing.ns_per_operation:
        return [*head, (standing.doing, "dim"), *silence]
    axes = [axis for axis in varied_axes(planned) if axis != planned.compare]
    work = conditions(planned.groups[standing.group][0], planned, axes)
    rates = [(each, "") for each in _rates(standing)]
    return [*head, *([(work, "")] if work else []), *rates, *silence]


def _rates(standing: Standing) -> Iterator[str]:
    """A line for each arm of the group that was measured last: its rate, and a bar of that."""
    planned, cells = standing.experiment, standing.experiment.groups[standing.group]
    rates = {arm: 1e9 / ns for arm, ns in sorted(standing.ns_per_operation.items())}
    rows = []
    for arm, rate in [*rates.items()][:ARMS_MOST]:
        payload = standing.payload_bytes.get(arm, 0) * rate / 1e6
        step, prefix = scale_of(rate)
        rows.append(
            (
                value_text(planned.compare, cells[arm][planned.compare], planned)[:NAME_MOST],
                f"{format_measure(payload)} MB/s" if payload else "",
                f"{format_measure(rate / step)} {prefix}{rate_unit(planned.operation)}",
                format_ns(1e9 / rate),
                _bar(rate / max(rates.values()), BAR),
            )
        )
    name, *widths, _ = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *figures, bar in rows:
        aligned = (f"{each:>{width}}" for each, width in zip(figures, widths, strict=True) if width)
        yield "  ".join([first.ljust(name), *aligned, bar])
    if (more := len(rates) - ARMS_MOST) > 0:
        yield f"and {more} more"


def _machine(now: MachineNow, width: int) -> Lines:
    shown = ((f"{name:<13}{text}", text) for name, text in _readings(now).items())
    lines = [(text, "dim" if of.startswith(NONE) else "") for text, of in shown]
    return [*lines, ("", ""), *((each, "") for each in _cores(now.cores, width))]


def _readings(now: MachineNow) -> dict[str, str]:
    """The readings of the machine's sensors, or why there is none, by their names for readers."""
    load = Fact(now.cores.mean_percent) if now.cores else Fact(None, "no /proc/stat")
    shown = {"clock": _text(now.clock, "{:.2f} GHz"), "load": _text(load, "{:.0f} %")}
    if now.cores and now.cores.steal_percent >= STEAL_LEAST:
        shown["steal"] = f"{now.cores.steal_percent:.1f} %"
    for name, (sensor, form) in SENSORS.items():
        shown[name] = _text(now.sensors.get(sensor, NOT_READ), form)
    gpus = sorted({name.partition("_")[0] for name in now.sensors if name.startswith("gpu")})
    return shown | {gpu.upper(): _gpu_text(now.sensors, gpu) for gpu in gpus}


def _gpu_text(sensors: Mapping[str, Fact], gpu: str) -> str:
    found = {name: sensors.get(f"{gpu}_{name}", NOT_READ) for name in (*GPU_SENSORS, *LIMITS)}
    known = {name: fact.value for name, fact in found.items() if fact.value is not None}
    texts = [form.format(known[name]) for name, form in GPU_SENSORS.items() if name in known]
    texts += [text for name, text in LIMITS.items() if known.get(name)]
    reasons = (fact.reason for fact in found.values() if fact.reason and fact is not NOT_READ)
    return ", ".join(texts) or f"{NONE}{next(reasons, '')}"


def _text(fact: Fact, form: str) -> str:
    return f"{NONE}{fact.reason}" if fact.value is None else form.format(fact.value)


def _cores(cores: CoreLoads | None, width: int) -> Iterator[str]:
    """Each core: a bar and a number, or where there are many a block of a height."""
    loads = [*cores.busy_percent.items()] if cores else []
    if len(loads) > CORES_MOST:
        for row in _rows(loads, width - len(HEAD) - 6):
            marks = (HEIGHTS[round(load / 100 * (len(HEIGHTS) - 1))] for _, load in row)
            yield f"{HEAD}{row[0][0]:>4} |{''.join(marks)}|"
        return
    texts = [f"{core:>2} {_bar(load / 100, CORE_BAR)} {load:3.0f} %" for core, load in loads]
    for beside in _rows(texts, (width - len(HEAD)) // CORE_WIDTH):
        yield HEAD + "  ".join(beside)


def _rows(values: Sequence[T], many: int) -> Iterator[Sequence[T]]:
    many = max(1, many)
    return (values[first : first + many] for first in range(0, len(values), many))


def _bar(share: float, width: int) -> str:
    """A share of a bar, in halves of a character."""
    halves = round(2 * min(1.0, max(0.0, share)) * max(0, width))
    return f"{'█' * (halves // 2)}{'▌' * (halves % 2)}".ljust(max(0, width), "·")


FRAME_EVERY_S = 0.95
# A chain of 10 ms each time.
CLOCK_EVERY_S = 10.0
WIDE = 140
BAR, CORE_BAR, CORE_WIDTH, NAME_MOST = 12, 8, 18, 22
ARMS_MOST, CORES_MOST = 8, 32
HEAD, HEIGHTS = "cores".ljust(13), " ▁▂▃▄▅▆▇█"
NONE = "none: "
STEAL_LEAST = 0.05
UNKNOWN_CLOCK = "cycles of a multiplication are known on x86-64 only"
NOT_READ = Fact(None, "not read")
# As `Sensors` calls them.
SENSORS = {
    "waiting": ("cpu_pressure_percent", "{:.0f} % of the time for a core"),
    "temperature": ("temperature_c", "{:.0f} °C"),
    "fan": ("fan_rpm", "{:,.0f} RPM"),
    "power": ("package_power_w", "{:.1f} W"),
    "cpufreq": ("cpufreq_ghz", "{:.2f} GHz"),
}
GPU_SENSORS = {
    "clock_mhz": "{:,.0f} MHz",
    "temperature_c": "{:.0f} °C",
    "power_w": "{:.0f} W",
    "used_percent": "{:.0f} % used",
    "fan_percent": "fan {:.0f} %",
}
LIMITS = {"limited_by_power": "held down by power", "limited_by_heat": "held down by heat"}
