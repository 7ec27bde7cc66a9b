"""The answer to "Where should my bulk encryption run?": one value for terminal, page and JSON."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sealift.lab import headline
from sealift.lab.by_size import chosen as by_sizes
from sealift.lab.by_size import winners_text
from sealift.lab.crowding import is_crowded
from sealift.lab.devices import Found as Device
from sealift.lab.finding import Finding, Kind, findings
from sealift.lab.fullest import ADVISING, BY_SIZE, alike, fullest
from sealift.lab.recall import of_the_lab
from sealift.lab.result import Found, Origin, Row
from sealift.lab.shortfall import shortfall
from sealift.lab.stats import Interval, Verdict
from sealift.lab.store import Run, Surroundings
from sealift.lab.units import format_count
from sealift.lab.unsettled import Noise, noise
from sealift.lab.values import Cell
from sealift.lab.wording import (
    GPU_DRIVERS,
    device_name,
    machine_text,
    work_name,
)


@dataclass(frozen=True)
class Bar:
    """One device beside the others.

    Attributes:
        device: What opens it, or the kind of device that is missing.
        name: For people.
        rate: Messages a second; None where there is none.
        note: Why there is none.
        origin: Where the rate comes from.
        is_advised: Whether the headline names it as one to run on.
    """

    device: str
    name: str
    rate: Interval | None
    note: str = ""
    origin: Origin = Origin.MEASURED
    is_advised: bool = False

    @property
    def text(self) -> str:
        """`30.3 M messages/s`, `1.2 M messages/s (projected)`, `none in this machine`."""
        if self.rate is None:
            return self.note
        projected = "" if self.origin is Origin.MEASURED else f" ({self.origin.value})"
        return f"{format_count(self.rate.median)} messages/s{projected}"


@dataclass(frozen=True)
class Answer:
    """Where to run.

    Attributes:
        question: In words.
        headline: The recommendation, or that it is not settled; without a stop.
        figure: One number with its 95 % interval; "" without one.
        basis: The messages that headline, figure and bars are for.
        bars: The devices, the fastest first, then those that are missing.
        machine: What was measured on; "" where that is not known.
        noise: How far the same code differed from itself; None where nothing was measured.
        disturbed: Share of samples that something else disturbed; None likewise.
        sizes: Which device wins at which sizes; "" where sizes were not varied.
        care: At most three reasons to take it with care, the weightiest first.
    """

    question: str
    headline: str
    figure: str
    basis: str
    bars: tuple[Bar, ...]
    machine: str
    noise: Noise | None
    disturbed: float | None
    sizes: str
    care: tuple[str, ...]

    @property
    def noise_text(self) -> str:
        """`noise ±1.9 %`; "" where nothing was measured."""
        return f"noise {self.noise.usual_text}" if self.noise else ""

    @property
    def disturbed_text(self) -> str:
        """`14 % of samples disturbed`; "" where nothing was measured."""
        return (
            "" if self.disturbed is None else f"{self.disturbed * 100:.0f} % of samples disturbed"
        )

    def text(self, *links: tuple[str, str]) -> str:
        """What fits into 15 lines of 80 columns and 80 words, for a terminal; the page has all.

        Reasons for care but the weightiest are left out first, then links but the first, then bars.

        Args:
            links: Where to go from here: a name, and a path or a command.
        """
        head = [*_headed(self.headline, self.figure), *_wrapped(self.basis)]
        texts = [
            _paragraphs(
                [self.question], head, bars_text(self.bars, most), stands_on, _linked(shown)
            )
            for most in BARS_MOST
            for shown in (links, links[:1])
            for stands_on in self._stands_on()
        ]
        return next((each for each in texts if _fits(each)), texts[-1])

    def _stands_on(self) -> Iterator[list[str]]:
        """Machine, noise, sizes and reasons for care on up to three lines, the longest first.

        The weightiest reason is in all of them.
        """
        quality = [each for each in (self.noise_text, self.disturbed_text) if each]
        firsts = [_sentence(self.machine, quality[:n]) for n in range(len(quality), -1, -1)]
        counts = (3, 2, 1)
        choices = [[firsts[0], self.sizes, *self.care[:n]] for n in counts if self.sizes]
        choices += [[first, *self.care[:n]] for n in counts for first in (*firsts, "")]
        choices += [[*self.care[:1]]]
        for each in choices:
            lines = _wrapped(" ".join(filter(None, each)))
            if len(lines) <= STANDS_ON_MOST or each is choices[-1]:
                yield lines


def answer(
    found: Mapping[str, Found],
    machine: Surroundings | None = None,
    *,
    own: Cell | None = None,
    lacking: str = "",
) -> Answer:
    """Where to run, how fast, and what of it holds for which other work.

    Headline, figure and bars are for one piece of work: `headline.choose` says which. A device is
    recommended only where every other one was shown to be slower, and without a condition only
    where no other device won any piece of work. Devices that are for checking or for comparing
    only (an oracle, a peer library) are no advice.

    Args:
        found: What each experiment found; those that compare devices by AES-GCM messages are used.
        machine: What was measured on; None where it is not known.
        own: The work that the headline is for, settled or not; chosen when left out.
        lacking: From `shortfall` of the run.
    """
    rows, wrong = _advisable(found)
    everything = findings(rows)
    chosen = headline.choose(everything) if own is None else _of(own, everything)
    devices = () if machine is None else machine.devices
    absent = missing_bars(devices, {str(row.subject) for row in rows})
    care = (*wrong, *([lacking] if lacking else []))
    noted = Answer(
        question=QUESTION,
        headline=NOTHING,
        figure="",
        basis="",
        bars=absent,
        machine=machine_text(machine.facts) if machine else "",
        noise=noise(rows),
        disturbed=disturbed(rows),
        sizes="",
        care=care[:CARE_MOST],
    )
    if chosen is None:
        return noted
    line = by_sizes([row for row in rows if row.experiment == BY_SIZE])
    cautions = (*care, *headline.care(chosen, everything))
    return replace(
        noted,
        headline=headline.where(chosen, everything),
        figure=headline.figure(chosen),
        basis=work_name(chosen.rows[0].cell),
        bars=(*_bars(chosen, devices), *absent),
        sizes=winners_text(line),
        care=cautions[:CARE_MOST],
    )


def answer_of(run: Run, found: Mapping[str, Found]) -> Answer | None:
    """The answer of a run, about one's own messages where it measured such; None if none is asked.

    Args:
        run: A run folder.
        found: From `summarise(run)`.
    """
    known = of_the_lab(run, found)
    if not any(name in known for name in ADVISING):
        return None
    own, lacking = fullest(run, known), shortfall(run)
    if own is None:
        return answer(known, run.machine, lacking=lacking)
    return answer({**known, BY_SIZE: own.found}, run.machine, own=own.work, lacking=lacking)


def bars_text(every: Sequence[Bar], most: int) -> list[str]:
    """A line for each device: its name, a bar as long as it is fast, its rate.

    Args:
        every: The fastest first.
        most: How many lines of bars; how many devices that leaves out is one line more.
    """
    bars = first_bars(every, most)
    left_out = len(every) - len(bars)
    names = max((len(bar.name) for bar in bars), default=0)
    texts = max((len(bar.text) for bar in bars if bar.rate), default=0)
    wide = max(BAR_LEAST, min(BAR_MOST, COLUMNS - names - texts - 6))
    fastest = max((bar.rate.median for bar in bars if bar.rate), default=1.0)
    lines = [
        f"{bar.name:<{names}}  {_drawn(bar, bar.rate.median / fastest, wide):<{wide}}  {bar.text}"
        if bar.rate
        else _cut(f"{bar.name:<{names}}  {bar.text}")
        for bar in bars
    ]
    return [*lines, *([f"and {left_out} more"] if left_out else [])]


def first_bars(bars: Sequence[Bar], most: int) -> Sequence[Bar]:
    """The first bars; where only one more is there, that too."""
    return bars if len(bars) <= most + 1 else bars[:most]


def missing_bars(devices: Sequence[Device], measured: Iterable[str]) -> tuple[Bar, ...]:
    """A line for GPUs where none was measured; none where the devices are not known."""
    gpus = [each for each in devices if each.driver in GPU_DRIVERS]
    if not gpus or any(spec.partition(":")[0] in GPU_DRIVERS for spec in measured):
        return ()
    # A processor that OpenCL finds is for tests only.
    there = [each.spec for each in gpus if not each.reason and each.role == REAL]
    note = f"not measured: --devices {there[0]}" if there else "none in this machine"
    return (Bar("gpu", "GPU", None, note),)


def disturbed(rows: Sequence[Row]) -> float | None:
    """Share of the samples that something else disturbed; None where there are none.

    Threads that share the cores hide what something else does to them.
    """
    alone = [row for row in rows if not is_crowded(row.cell)]
    blocks = sum(row.blocks for row in alone)
    return 1 - sum(row.clean_share * row.blocks for row in alone) / blocks if blocks else None


def _bars(chosen: Finding, devices: Sequence[Device]) -> list[Bar]:
    is_settled = chosen.kind in (*headline.SETTLED, Kind.ALONE)
    advised = chosen.devices[:1] if chosen.winner else chosen.devices if is_settled else ()
    return [
        Bar(
            device=str(row.subject),
            name=device_name(str(row.subject), devices),
            rate=row.operations_per_s,
            origin=row.origin,
            is_advised=str(row.subject) in advised,
        )
        for row in sorted(chosen.rows, key=lambda row: row.ns_per_operation.median)
    ]


def _paragraphs(question: Sequence[str], *parts: Sequence[str]) -> str:
    """With lines between them."""
    indented = [[f"  {line}" for line in part] for part in parts if part]
    return "\n\n".join("\n".join(part) for part in (question, *indented)) + "\n"


def _cut(line: str) -> str:
    return line if len(line) <= COLUMNS - 2 else f"{line[: COLUMNS - 3].rstrip()}…"


def _fits(text: str) -> bool:
    return len(text.split()) <= WORDS_MOST and len(text.splitlines()) <= LINES_MOST


def _linked(links: Sequence[tuple[str, str]]) -> list[str]:
    wide = max((len(name) for name, _ in links), default=0)
    return [f"{name:<{wide}}  {place}" for name, place in links]


def _headed(headline: str, figure: str) -> list[str]:
    """Both in one line where that is short enough."""
    one = f"{headline}: {figure}" if figure else f"{headline}."
    both = [one] if len(one) <= COLUMNS - 2 else [f"{headline}.", figure]
    return [line for each in both for line in _wrapped(each)]


def _sentence(machine: str, quality: Sequence[str]) -> str:
    """`Intel Xeon, 2 cores: noise ±1.9 %.`; without a machine `Noise ±1.9 %.`."""
    told = ": ".join(filter(None, (machine, ", ".join(quality))))
    return f"{told[0].upper()}{told[1:]}." if told else ""


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, COLUMNS - 2, break_on_hyphens=False)


def _drawn(bar: Bar, share: float, wide: int) -> str:
    if bar.origin is not Origin.MEASURED:
        return "░" * max(1, round(share * wide))
    whole, eighths = divmod(max(1, round(share * wide * 8)), 8)
    return "█" * whole + EIGHTHS[eighths]


def _of(own: Cell, everything: Sequence[Finding]) -> Finding | None:
    return next((each for each in everything if alike(each.rows[0].cell, own, tuple(own))), None)


def _advisable(found: Mapping[str, Found]) -> tuple[list[Row], list[str]]:
    """The rows of devices for real work that can be judged, and which computed something wrong."""
    rows: list[Row] = []
    wrong: dict[str, None] = {}
    for name in ADVISING:
        if name in found:
            roles = _roles(found[name])
            wrong |= dict.fromkeys(
                f"{each.cell['device']} computed something wrong, so its times don't count."
                for each in found[name].verified
                if each.wrong
            )
            sound = [row for row in found[name].rows if not row.wrong and not is_crowded(row.cell)]
            rows += _among([row for row in sound if roles[str(row.subject)] == REAL], sound)
    # Without the reference there is no noise floor to judge by.
    judged = {row.work for row in rows if row.ratio is None}
    return [row for row in rows if row.work in judged], list(wrong)


def _roles(found: Found) -> dict[str, str]:
    """What each device is for; that of a device that was not there is not known."""
    roles: dict[str, str] = {}
    for each in found.verified:
        device = str(each.cell["device"])
        roles[device] = str(each.facts.get("role", roles.get(device, REAL)))
    return roles


def _among(kept: Sequence[Row], everyone: Sequence[Row]) -> list[Row]:
    """The rows that are kept, with winners among them only.

    Where a winner was left out, the others are judged by their verdicts against the reference:
    of several that are faster than it, none is known to be the fastest.
    """
    gone = {row.work for row in everyone if row not in kept and row.winner}
    by_work: dict[object, list[Row]] = {}
    for row in kept:
        by_work.setdefault(row.work, []).append(row)
    return [
        replace(row, winner=_leads(row, group)) if work in gone else row
        for work, group in by_work.items()
        for row in group
    ]


def _leads(row: Row, group: Sequence[Row]) -> bool:
    if any(other.verdict is Verdict.FASTER for other in group):
        return row.verdict is Verdict.FASTER
    return row.verdict is not Verdict.SLOWER


QUESTION = "Where should my bulk encryption run?"
NOTHING = "No answer: no device for real work was measured and judged on these messages"
REAL = "real"
BARS_MOST = (3, 2, 1)
COLUMNS, WORDS_MOST, LINES_MOST, STANDS_ON_MOST, CARE_MOST = 80, 79, 15, 3, 3
BAR_LEAST, BAR_MOST = 8, 28
EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
