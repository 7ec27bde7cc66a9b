"""Where the figures of the advice on a load come from."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sealift.lab.checked import checked_text, clock_text
from sealift.lab.costs import Line
from sealift.lab.finding import listed
from sealift.lab.grid import OF
from sealift.lab.load.advice import Advice
from sealift.lab.load.amounts import share_text
from sealift.lab.units import format_measure, format_size
from sealift.lab.wording import done_text, fitted_of, measured_of, played_of

if TYPE_CHECKING:
    from sealift import Card


def sources(advice: Advice) -> Iterator[str]:
    """Lines, one for each kind of figure and one for each card."""
    yield "Where these figures come from:"
    told = [*_measured(advice), *_fitted(advice), *_simulated(advice), *_projected(advice)]
    yield from (f"  {line}" for line in told)


def _measured(advice: Advice) -> Iterator[str]:
    seen = advice.seen
    names = [device.name for device in seen.devices]
    threads = int(seen.cell["threads"])
    on = "one thread" if threads == 1 else f"{threads:,} threads"
    how = f"{str(seen.cell['workload']).partition(OF)[0]}, {done_text(seen.cell)}, {on}"
    yield f"Measured here: {listed(names)}, {_lengths(advice)}, {how}."
    if advice.about:
        yield advice.about
    yield from _other_mean(advice)
    yield from checked_text(
        each for each in advice.run.verified if str(each.cell.get("device")) in names
    )
    yield from clock_text(advice.run)
    if advice.noise:
        yield advice.noise.text
    for device, why in seen.left_out.items():
        yield f"Left out: {device}: {why}."


def _other_mean(advice: Advice) -> Iterator[str]:
    """A few messages can't have the mean of lengths of which some are rare and long."""
    wanted = advice.seen.lengths.mean_bytes
    measured = advice.seen.devices[0].message_bytes
    if abs(measured / wanted - 1) > MEAN_OFF:
        yield (
            f"What was measured has {format_measure(measured)} bytes on average, and not "
            f"{format_measure(wanted)}: too few messages for the rare lengths."
        )


def _lengths(advice: Advice) -> str:
    lengths = advice.seen.lengths
    if len(lengths.counts) == 1:
        plural = "s" * (lengths.least_bytes != 1)
        return f"{format_size(lengths.least_bytes)} byte{plural} a message"
    return (
        f"{len(lengths.counts):,} lengths of {format_size(lengths.least_bytes)} to "
        f"{format_size(lengths.most_bytes)} bytes, {format_size(lengths.mean_bytes)} on average"
    )


def _fitted(advice: Advice) -> Iterator[str]:
    if advice.pairs:
        yield (
            "Break-even sizes: by straight lines through what was measured, scaled to meet these "
            "messages in these batches:"
        )
        for device in advice.seen.devices:
            yield f"  {device.name}: alone {_line(device.alone)}; in batches {_line(device.line)}."


def _line(line: Line) -> str:
    a_batch = f"{format_measure(line.setup_ns)} ns"
    a_message = (
        f", {format_measure(line.per_message_ns)} ns a message" if line.per_message_ns else ""
    )
    a_byte = f", {format_measure(line.per_byte_ns)} ns a byte"
    return f"{a_batch}{a_message}{a_byte} (at worst {share_text(line.worst_share)} off)"


def _simulated(advice: Advice) -> Iterator[str]:
    if not any(each.served.used.p99_ns for each in advice.ranked):
        return
    yield (
        f"Simulated: p99, {_how_simulated(advice)}; and what a message waits for its batch to "
        "fill. Interruptions by the system are not in it."
    )


def _how_simulated(advice: Advice) -> str:
    if len(advice.seen.lengths.counts) == 1:
        return (
            "by the engine's own scheduler in virtual time, with batches that come at random and "
            "take what is measured or projected here"
        )
    return (
        "by 20,000 batches in virtual time that come at random, with lengths drawn in their "
        "proportions; each takes what is measured or projected of the mean batch, scaled to its "
        "bytes by a straight line, and the first to come is the first to be worked"
    )


def _projected(advice: Advice) -> Iterator[str]:
    for found in advice.payoffs:
        card = found.served.device.card
        if card is not None:
            yield f"Projected: {card.name}: {_described(card)}"
    if advice.payoffs:
        yield (
            "  Cards are reckoned for equal messages of the mean length, and without what changing "
            "keys would cost them."
        )


def _described(card: "Card") -> str:
    """What it is, where its constants come from, and what speaks against them."""
    told = f"{card.summary}; from {card.source}.{measured_of(card)}"
    if card.algorithm != "aes-gcm":
        told += f" Its rate was published for {card.algorithm} and is taken for AES-GCM."
    return f"{told}{fitted_of(card)}{played_of(card)}"


# As far as a verdict calls two speeds the same, bytes may be off.
MEAN_OFF = 0.02
