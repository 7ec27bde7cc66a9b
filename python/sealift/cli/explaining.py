"""Asks an engine what it would do with a batch, then gives it such batches and looks."""

import os
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from time import perf_counter, time

from sealift import (
    BatchResult,
    Calibrated,
    Card,
    Cost,
    DeviceInfo,
    Engine,
    Explanation,
    Fixed,
    Prediction,
    SealiftError,
    Session,
)
from sealift.cli.asked import described
from sealift.lab.pairs import Pair, Within, pairs


@dataclass(frozen=True)
class Taken:
    """What batches took on a device when they were worked for real, in nanoseconds.

    Attributes:
        batches: How many were timed.
        median_ns: Half of them took less.
        low_ns: A quarter of them took less; None where they are too few for quarters.
        high_ns: A quarter of them took more; None likewise.
    """

    batches: int
    median_ns: float
    low_ns: float | None
    high_ns: float | None


@dataclass(frozen=True)
class Asked:
    """A device, what it was predicted to take, and what it took.

    Attributes:
        device: Its name.
        role: Its use; only a real one is asked for batches that name none.
        asked: Whether it was asked.
        predicted_ns: What one batch was predicted to take.
        host_ns: Time of this machine's processors in that; None where nobody says.
        known: Its cost, and where from.
        taken: What such batches took; None where none was worked.
        not_run: Why none was; None where some were.
        origin: Whose times these are: measured, simulated or projected.
        card: The description that it is made of, and predicted by; None of all others.
    """

    device: str
    role: str
    asked: bool
    predicted_ns: float
    host_ns: float | None
    known: Calibrated
    taken: Taken | None
    not_run: str | None
    origin: str = "measured"
    card: Card | None = None

    @property
    def taken_over_predicted(self) -> float | None:
        """How many times as long it took as was predicted; None where nothing was worked."""
        return (
            self.taken.median_ns / self.predicted_ns if self.taken and self.predicted_ns else None
        )

    @property
    def disagrees(self) -> str:
        """By how much what it took and what was predicted differ, where that is a lot; or ""."""
        times = self.taken_over_predicted
        if times is None or 1 / OFF_MOST <= times <= OFF_MOST:
            return ""
        if times > 1:
            return f"{times:.2f} times as long"
        return f"{1 / times:.2f} times as fast"


@dataclass(frozen=True)
class Projected:
    """A card that isn't here, and what it is reckoned to take.

    Attributes:
        card: Its description.
        prediction: For one batch.
    """

    card: Card
    prediction: Prediction


@dataclass(frozen=True)
class Found:
    """What an engine said of a batch, and did with such batches.

    Attributes:
        policy: How it chose.
        explanation: Who would get the batch, and why.
        devices: Everyone there is, in the engine's order.
        cards: Those that aren't here and were asked about.
        pairs: Every two of all of them.
        given: How many batches that named no device went where, and why.
        file: Where costs are kept; None where there is no place.
        remarks: What was wrong with that place.
        asked_at_s: When, in seconds since 1970.
    """

    policy: str
    explanation: Explanation
    devices: tuple[Asked, ...]
    cards: tuple[Projected, ...]
    pairs: tuple[Pair, ...]
    given: tuple[tuple[str, str, int], ...]
    file: str | None
    remarks: tuple[str, ...]
    asked_at_s: float


def find(
    engine: Engine,
    messages: int,
    message_bytes: int,
    *,
    anew: bool,
    why_not: str | None,
    cards: Sequence[Card] = (),
) -> Found:
    """Calibrates, asks, and tries.

    Args:
        engine: Its devices are already open.
        messages: Messages in the batch.
        message_bytes: Bytes of each.
        anew: Whether to measure costs that are in the cache, too.
        why_not: Why no batch can be worked; None works some.
        cards: Descriptions of what isn't here; never worked.

    Raises:
        SealiftError: If no device would get such a batch.
    """
    calibration = engine.calibrate(anew=anew)
    explanation = engine.explain(messages, message_bytes)
    quotes = {quote.device: quote for quote in explanation.quotes}
    known = calibration.devices
    made_of = {device.name: card for device in engine.devices if (card := _card_of(device))}
    reckoned = {name: card.predict(messages, message_bytes) for name, card in made_of.items()}
    predicted = {
        name: quotes[name].predicted_ns
        if name in quotes
        else _of(found.cost, messages, message_bytes)
        for name, found in known.items()
    }
    # An engine goes by a straight line; who asks about a card gets what its description says.
    predicted |= {name: each.batch_ns for name, each in reckoned.items()}
    host_ns = {name: quote.host_ns for name, quote in quotes.items()}
    host_ns |= {name: each.host_ns for name, each in reckoned.items()}
    tried = _tried(engine, messages, message_bytes, predicted, quotes.keys(), why_not)
    devices = tuple(
        Asked(
            device=device.name,
            role=device.role,
            asked=device.name in quotes,
            predicted_ns=predicted[device.name],
            host_ns=host_ns.get(device.name),
            known=known[device.name],
            taken=tried.taken.get(device.name),
            not_run=tried.not_run.get(device.name),
            origin=device.origin,
            card=made_of.get(device.name),
        )
        for device in engine.devices
    )
    return Found(
        policy=engine.policy,
        explanation=explanation,
        devices=devices,
        cards=tuple(Projected(card, card.predict(messages, message_bytes)) for card in cards),
        pairs=pairs(
            {name: made_of.get(name, found.cost) for name, found in known.items()}
            | {card.name: card for card in cards},
            messages,
            MEASURED,
        ),
        given=tried.given,
        file=None if calibration.file is None else str(calibration.file),
        remarks=tuple(calibration.remarks),
        asked_at_s=time(),
    )


@dataclass(frozen=True)
class _Tried:
    taken: dict[str, Taken]
    not_run: dict[str, str]
    given: tuple[tuple[str, str, int], ...]


def _tried(
    engine: Engine,
    messages: int,
    message_bytes: int,
    predicted: dict[str, float],
    asked: Collection[str],
    why_not: str | None,
) -> _Tried:
    """Gives each device batches in turn, then some to nobody by name."""
    slow = {name: ns for name, ns in predicted.items() if ns > BATCH_NS_MAX}
    not_run = {name: f"one would take {ns / 1e9:,.1f} s" for name, ns in slow.items()}
    not_run |= dict.fromkeys(predicted, why_not) if why_not else {}
    samples: dict[str, list[float]] = {name: [] for name in predicted if name not in not_run}
    if not samples:
        return _Tried({}, not_run, ())
    batch = _Batch(engine, messages, message_bytes)
    end = perf_counter() + NAMED_S
    while samples and (perf_counter() < end or not all(samples.values())):
        for name in list(samples):
            try:
                samples[name].append(batch.seal(name).seconds * 1e9)
            except SealiftError as error:
                not_run[name] = str(error)
                del samples[name]
    taken = {name: taken_of(each[1:] or each) for name, each in samples.items()}
    given = () if slow.keys() & asked else _given(engine, batch)
    return _Tried(taken, not_run, given)


def _given(engine: Engine, batch: "_Batch") -> tuple[tuple[str, str, int], ...]:
    """Who gets batches that name no device, why, and how often."""
    before_ns = max((record.arrived_ns for record in engine.records()), default=-1)
    end = perf_counter() + UNNAMED_S
    for done in range(UNNAMED_MAX):
        if done and perf_counter() >= end:
            break
        try:
            batch.seal(None)
        except SealiftError:
            # It was told of the device by name, or is recorded.
            break
    records = [record for record in engine.records() if record.arrived_ns > before_ns]
    counts = Counter((record.device, record.because) for record in records if record.end == "done")
    return tuple((device, because, count) for (device, because), count in counts.most_common())


class _Batch:
    """Messages without meaning under a key that nobody has; sealed again and again."""

    def __init__(self, engine: Engine, messages: int, message_bytes: int) -> None:
        self._engine = engine
        self._session: Session = engine.session(os.urandom(16))
        size, stride = messages * message_bytes, max(message_bytes, 1)
        room = max(size, messages)
        self._nonces = Fixed(os.urandom(12 * messages), 12)
        self._texts = Fixed(bytes(room), message_bytes, stride=stride)
        self._out = Fixed(bytearray(room), message_bytes, stride=stride)
        self._tags = Fixed(bytearray(16 * messages), 16)

    def seal(self, device: str | None) -> BatchResult:
        return self._engine.seal_batch(
            self._session,
            self._nonces,
            self._texts,
            out=self._out,
            tags=self._tags,
            device=device,
        )


def taken_of(samples: Sequence[float]) -> Taken:
    """The median and the middle half of one or more samples in nanoseconds."""
    if len(samples) < QUARTERS:
        return Taken(len(samples), median(samples), None, None)
    low, _, high = quantiles(samples, n=QUARTERS, method="inclusive")
    return Taken(len(samples), median(samples), low, high)


def batch_bytes(messages: int, message_bytes: int) -> int:
    """Memory that trying such batches takes."""
    return messages * (2 * max(message_bytes, 1) + BYTES_BESIDE_TEXT)


def _card_of(device: DeviceInfo) -> Card | None:
    """What a device of the driver for cards is made of."""
    if device.driver != "cards":
        return None
    settings = device.name.partition(":")[2].split(",")
    return described(next(each for each in settings if "=" not in each))


def _of(cost: Cost, messages: int, message_bytes: int) -> float:
    return (
        cost.setup_ns + cost.per_message_ns * messages + cost.per_byte_ns * messages * message_bytes
    )


# Chosen, not found: from second to second batches differ by some percent, on busy machines by more.
OFF_MOST = 1.3
QUARTERS = 4
# As engines calibrate; and differences under 2 % are none: docs/statistics.md.
MEASURED = Within(least_bytes=16, most_bytes=4_096, noise=0.02)
# Together a fraction of a second: this explains, and `sealift advise` measures.
NAMED_S = 0.3
UNNAMED_S = 0.15
# So many an engine's records surely hold.
UNNAMED_MAX = 1_000
BATCH_NS_MAX = 5e8
# A nonce, a tag, and a status that is there twice.
BYTES_BESIDE_TEXT = 30
