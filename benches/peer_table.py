"""What samples of the kernels beside other libraries say: rows, ratios, verdicts, a table."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from peer_cases import BEST_PEER, PORTS, Case, Wanted
from sealift.lab.measure import Block
from sealift.lab.result import Row
from sealift.lab.spec import Sample
from sealift.lab.stats import Interval, median_interval, run_ratio, speed_ratio
from sealift.lab.summary import Group, Series, rows, series
from sealift.lab.table import aligned, times_text
from sealift.lab.units import NS_PER_S, format_measure


@dataclass(frozen=True)
class Measured:
    """What one run of a case gave.

    Attributes:
        case: Which.
        arms: Our own and the libraries, in the order of the samples of a block.
        blocks: Complete ones.
        absent: Why arms that were asked for are missing.
    """

    case: Case
    arms: tuple[str, ...]
    blocks: tuple[Block, ...]
    absent: Mapping[str, str]

    @property
    def group(self) -> Group:
        """As the lab's statistics take it."""
        return Group(
            experiment="peers",
            compare="arm",
            cells=[{"case": self.case.name, "arm": arm} for arm in self.arms],
            blocks=[(0, block) for block in self.blocks],
            planned_restarts=1,
        )


@dataclass(frozen=True)
class Arm:
    """What one arm did.

    Attributes:
        row: From the lab's statistics.
        series: The blocks that its estimates stand on.
        cycles: A message, by the clock beside each sample; None where that isn't known.
    """

    row: Row
    series: Series
    cycles: Interval | None

    @property
    def ns(self) -> float:
        """Median nanoseconds a message."""
        return self.row.ns_per_operation.median


@dataclass(frozen=True)
class Line:
    """A row of the table.

    Attributes:
        case: Its name.
        title: Of the case, with the arm where that isn't `kernels`.
        arm: Whose figures these are.
        best: What it was set against.
        gb_per_s: 10**9 bytes of text a second.
        messages_per_s: All threads together.
        cycles: A message; None where the clock isn't known.
        best_gb_per_s: Of what it was set against.
        best_messages_per_s: Of what it was set against.
        ratio: Times as fast.
        of_ports: The share of the speed of the same instructions of AES and GHASH alone, the most
            that the processor allows; None where that wasn't measured.
        goal: In words.
        verdict: `met`, `missed`, `aim met`, `aim missed`, `shown`, or why it doesn't count.
        loses_to_library: It is slower than the library that the product itself would use.
    """

    case: str
    title: str
    arm: str
    best: str
    gb_per_s: float
    messages_per_s: float
    cycles: Interval | None
    best_gb_per_s: float
    best_messages_per_s: float
    ratio: Interval
    of_ports: Interval | None
    goal: str
    verdict: str
    loses_to_library: bool

    def record(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


def arms_of(measured: Measured) -> dict[str, Arm]:
    """Every arm that was measured, by name."""
    group = measured.group
    return {
        str(of.cell["arm"]): Arm(row, of, _cycles(measured, of))
        for row, of in zip(rows(group), series(group), strict=True)
    }


def lines(measured: Measured, peers: Sequence[str]) -> list[Line]:
    """The rows of one case; what can't be set against anything has none.

    Args:
        measured: The case.
        peers: The names of the libraries.
    """
    arms = arms_of(measured)
    there = [peer for peer in peers if peer in arms]
    best = min(there, key=lambda peer: arms[peer].ns, default=None)
    said = []
    for wanted in measured.case.wanted:
        is_best = wanted.against == BEST_PEER
        against = (best or "") if is_best else wanted.against
        arm, other = arms.get(wanted.arm), arms.get(against)
        if arm is not None and other is not None:
            slower = is_best and _loses(arm, arms.get(LIBRARY))
            ports = arms.get(PORTS)
            of_ports = _ratio(arm, ports) if ports is not None else None
            ratio = _ratio(arm, other)
            said.append(_line(measured, wanted, arm, against, other, ratio, of_ports, slower))
    return said


def verdict(wanted: Wanted, ratio: Interval, cycles: Interval | None, absent: str) -> str:
    """What a median says of a goal; `within noise` where the interval doesn't settle it.

    Args:
        wanted: The goal.
        ratio: Times as fast as what it is set against.
        cycles: A message; None where the clock isn't known.
        absent: Why the library that the verdict needs is missing, or "".
    """
    if absent:
        return f"doesn't count: {wanted.needs} is absent"
    if wanted.times is None and wanted.cycles is None:
        return "shown"
    if wanted.cycles is not None and cycles is None:
        return "doesn't count: the core's clock isn't known"
    parts = []
    if wanted.times is not None:
        parts.append((ratio.median >= wanted.times, ratio.low < wanted.times <= ratio.high))
    if wanted.cycles is not None and cycles is not None:
        parts.append((cycles.median <= wanted.cycles, cycles.low <= wanted.cycles < cycles.high))
    is_met = all(met for met, _ in parts)
    # Settled, too, when one part alone decides.
    doubtful = [noisy for met, noisy in parts if met == is_met]
    word = f"{'aim ' if wanted.is_aim else ''}{'met' if is_met else 'missed'}"
    is_noisy = any(doubtful) if is_met else all(doubtful)
    return f"{word} within noise" if is_noisy else word


def table(said: Sequence[Line]) -> str:
    """The rows as text, one line each."""
    return aligned([HEAD, *(_cells(line) for line in said)])


def _line(
    measured: Measured,
    wanted: Wanted,
    arm: Arm,
    against: str,
    other: Arm,
    ratio: Interval,
    of_ports: Interval | None,
    slower: bool,  # noqa: FBT001
) -> Line:
    title = measured.case.title
    return Line(
        case=measured.case.name,
        title=title if wanted.arm == "kernels" else f"{title}: {wanted.arm}",
        arm=wanted.arm,
        best=against,
        gb_per_s=_gb_per_s(arm),
        messages_per_s=NS_PER_S / arm.ns,
        cycles=arm.cycles,
        best_gb_per_s=_gb_per_s(other),
        best_messages_per_s=NS_PER_S / other.ns,
        ratio=ratio,
        of_ports=of_ports,
        goal=_goal(wanted),
        verdict=verdict(wanted, ratio, arm.cycles, measured.absent.get(wanted.needs, "")),
        loses_to_library=slower,
    )


def _ratio(arm: Arm, other: Arm) -> Interval:
    """Paired by block, where there are blocks that both estimates stand on."""
    own, others = (
        dict(zip(each.series.blocks, each.series.ns, strict=True)) for each in (arm, other)
    )
    both = sorted(own.keys() & others.keys())
    if not both:
        return run_ratio(arm.series.ns, other.series.ns)
    return speed_ratio([own[at] for at in both], [others[at] for at in both])


def _loses(arm: Arm, library: Arm | None) -> bool:
    return library is not None and _ratio(arm, library).high < 1


def _cycles(measured: Measured, of: Series) -> Interval | None:
    """By the clock beside each sample, of the blocks that the estimate stands on."""
    place = measured.arms.index(str(of.cell["arm"]))
    found = []
    for block in of.blocks:
        sample = measured.blocks[block].samples[place]
        if sample is None or sample.clock_ghz is None:
            return None
        found.append(sample.ns_per_operation * sample.clock_ghz)
    return median_interval(found)


def _gb_per_s(arm: Arm) -> float:
    return arm.row.payload_bytes / arm.ns


def _goal(wanted: Wanted) -> str:
    parts = []
    if wanted.times is not None:
        parts.append(f"{wanted.times:g} x")
    if wanted.cycles is not None:
        parts.append(f"{wanted.cycles:g} cycles")
    return ", ".join(parts)


def _cells(line: Line) -> list[str]:
    cycles = "" if line.cycles is None else format_measure(line.cycles.median)
    ours = f"{line.gb_per_s:.2f}"
    rate = format_measure(line.messages_per_s / 1e6)
    best = f"{line.best} {line.best_gb_per_s:.2f}"
    lost = "; SLOWER THAN aws-lc" if line.loses_to_library else ""
    ratio = times_text(line.ratio)
    share = "" if line.of_ports is None else f"{line.of_ports.median:.2f}"
    verdict = f"{line.verdict}{lost}"
    return [line.title, ours, rate, cycles, share, best, ratio, line.goal, verdict]


def block_of(samples: Mapping[int, Sequence[Sample]], arms: int) -> Block | None:
    """A block out of the samples of its arms by place; None when it isn't complete."""
    twice = [place for place, of in samples.items() if len(of) == 2]
    if len(samples) != arms or len(twice) != 1:
        return None
    first = tuple(samples[place][0] for place in range(arms))
    return Block(first, twice[0], samples[twice[0]][1])


HEAD = [
    *("case", "GB/s", "M msg/s", "cycles", "of ports"),
    *("against, GB/s", "ratio", "goal", "verdict"),
]
LIBRARY = "aws-lc"
