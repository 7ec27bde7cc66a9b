"""A run that measured messages of one's own, as advice on a load: devices with ranks, and cards."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sealift_lab._lab import Card
from sealift_lab.advise.devices import measured, projected
from sealift_lab.advise.load import Candidate, Demand, Latency, State, batch_ns_p99, rank, serve
from sealift_lab.advise.messages import BY_SIZE, find_messages
from sealift_lab.claim.declared import declared
from sealift_lab.judge.judge import compare_rows
from sealift_lab.judge.lines import BreakEven, break_even
from sealift_lab.judge.verdicts import Comparison
from sealift_lab.measure.crypto import lengths_in
from sealift_lab.model.arm import Cell, fits
from sealift_lab.model.results import Results
from sealift_lab.model.run import PlannedExperiment
from sealift_lab.model.workload import Lengths
from sealift_lab.run.folder import Run


@dataclass(frozen=True)
class Payoff:
    """A card beside the best device of this machine, under the same load.

    Attributes:
        rate_per_s: Of the load, or a million messages a second.
        count: How many cards the rate takes.
        times: How many times as long as the real device it takes for a batch of that one's size.
        earlier: From how many messages a batch on it is done earlier than the real device.
        cores_freed: Cores that the cards free at the rate; below 0 where they cost more.
        cores_freed_most: Cores that one card frees with all the messages it can do; 0 for none.
        frees_core_at_per_s: From how many messages a second on one card frees a core, in the
            largest batches; None for never.
        price: Of the cards; None where the description has none.
        core_price: Price of a core from which on the cards pay; None for none at all.
        pays: Whether they pay at the given price of a core; None where either is unknown.
    """

    card: Candidate
    real: Candidate
    rate_per_s: float
    count: int
    times: float
    earlier: BreakEven
    cores_freed: float
    cores_freed_most: float
    frees_core_at_per_s: float | None
    price: float | None
    core_price: float | None
    pays: bool | None

    @property
    def described(self) -> Card:
        """The description of the card."""
        card = self.card.device.card
        assert card is not None, "only cards are compared so"
        return card

    @property
    def is_needed(self) -> bool:
        """Whether no real device meets the demand, and the card does."""
        return self.real.used.state is not State.MEETS and self.card.used.state is State.MEETS


@dataclass(frozen=True)
class Advice:
    """What a load of one's own takes on each device.

    Attributes:
        run: Where the measured figures come from.
        results: Rows of the devices that count, one's own messages first, and all reports.
        work: The messages, as values of the axes `WORK`.
        lengths: Of the messages, as measured.
        candidates: By rank the devices that were measured, then cards; none where nothing was
            measured.
        payoffs: Of each card.
        left_out: Devices that were not measured or don't count, with the reason.
        about: A caveat on the messages, or "".
    """

    run: Run
    results: Results
    planned: PlannedExperiment
    work: Cell
    lengths: Lengths
    demand: Demand
    candidates: tuple[Candidate, ...]
    payoffs: tuple[Payoff, ...]
    left_out: Mapping[str, str]
    about: str = ""

    @property
    def best(self) -> Candidate:
        """The best of the devices that were measured."""
        return self.candidates[0]


def advise(
    run: Run,
    results: Mapping[str, Results],
    demand: Demand,
    *,
    cards: Sequence[Card] = (),
    about: str = "",
    latency: Latency = batch_ns_p99,
) -> Advice:
    """What a run on messages of one's own allows to say of a load.

    Args:
        run: A run folder.
        results: What was found of each of its experiments.
        demand: The load.
        cards: Descriptions of devices that are not here.
        about: A caveat on the messages.
        latency: Simulates how long batches wait.

    Raises:
        ValueError: If the run measured no messages of one's own, or not in such batches.
    """
    if (there := find_messages(run.plan)) is None:
        raise ValueError(
            f"{run.path} measured no messages of one's own; keep such a run with "
            "`sealift advise --size N --out FOLDER`"
        )
    (planned, work), found = there, results[BY_SIZE]
    one_length = Lengths.from_counts({int(work["size_bytes"]): 1})
    lengths = lengths_in(work, planned.legend) or one_length
    left_out = dict(_left_out(found))
    sound = [row for row in found.rows if str(row.subject) not in left_out]
    own = [row for row in sound if fits(row.cell, work)]
    devices = [
        measured(
            str(name),
            [row for row in own if row.subject == name],
            [row for row in sound if row.subject == name],
            int(work["threads"]),
            lengths,
        )
        for name in dict.fromkeys(row.subject for row in own)
    ]
    known = sorted({messages for device in devices for messages in device.by_messages})
    if (wanted := demand.batch) is not None and known:
        if wanted not in known:
            counts = ", ".join(f"{count:,}" for count in known)
            raise ValueError(f"a batch of {wanted:,} was not measured; there are {counts}")
        without = [device.name for device in devices if wanted not in device.by_messages]
        left_out |= dict.fromkeys(without, f"was not measured in batches of {wanted:,}")
        devices = [device for device in devices if device.name not in without]
    counts = list(devices[0].by_messages) if devices else []
    devices += [projected(card, counts, lengths) for card in cards if counts]
    rows = {(str(row.subject), row.cell["batch"]): row for row in own}

    def judge(messages: int, against: str, device: str) -> Comparison | None:
        pair = rows.get((device, messages)), rows.get((against, messages))
        return compare_rows(run, *pair) if pair[0] and pair[1] else None  # type: ignore[arg-type]

    ranked = rank([serve(each, demand, latency) for each in devices], judge)
    return Advice(
        run=run,
        results=Results(sorted(sound, key=lambda row: row not in own), found.reports),
        planned=declared(planned),
        work=work,
        lengths=lengths,
        demand=demand,
        candidates=ranked,
        payoffs=tuple(payoff(c, ranked[0], demand) for c in ranked if c.is_projected),
        left_out=left_out,
        about=about,
    )


def payoff(card: Candidate, real: Candidate, demand: Demand) -> Payoff:
    """Sets a projected device against the best real one under the same load.

    Raises:
        ValueError: If `card` was not projected from one.
    """
    described = card.device.card
    if described is None:
        raise ValueError(f"{card.device.name} is no card; right would be a projected device")
    rate = demand.rate_per_s or PER_MILLION
    count = math.ceil(rate / card.used.batch.per_s.value)
    freed = (real.used.batch.host_ns.value - card.used.batch.host_ns.value) * rate / 1e9
    largest, able_per_s = card.device.largest, card.device.largest.per_s.value
    saved_ns = real.device.largest.host_ns.value - largest.host_ns.value
    core_at_per_s = 1e9 / saved_ns if saved_ns > 0 else math.inf
    size, at = round(real.device.message_bytes), real.used.batch
    price = None if described.price is None else described.price * count
    pays_from = price / freed if price is not None and freed > 0 else None
    pays = None
    if demand.core_price is not None and price is not None:
        pays = pays_from is not None and demand.core_price >= pays_from

    def message_ns(messages: int) -> float:
        return described.predict(messages, size).batch_ns / messages

    return Payoff(
        card=card,
        real=real,
        rate_per_s=rate,
        count=count,
        times=message_ns(at.messages) / at.host_ns.value,
        earlier=break_even(message_ns, at.host_ns, BATCH_MAX),
        cores_freed=freed,
        cores_freed_most=max(0.0, saved_ns * able_per_s / 1e9),
        frees_core_at_per_s=core_at_per_s if core_at_per_s <= able_per_s else None,
        price=price,
        core_price=pays_from,
        pays=pays,
    )


def _left_out(results: Results) -> Iterator[tuple[str, str]]:
    """Devices that are not for real work, were absent, or computed something wrong."""
    there = {row.subject for row in results.rows}
    for each in results.reports:
        device, role = each.cell["device"], each.facts.get("role", REAL)
        if each.wrong:
            yield str(device), f"computed something wrong: {each.wrong}"
        elif role != REAL:
            yield str(device), f"is no device to run on ({role})"
        elif each.skipped and device not in there:
            yield str(device), each.skipped


REAL = "real"
PER_MILLION = 1e6
# In larger batches fixed costs weigh nothing any more.
BATCH_MAX = 1 << 20
