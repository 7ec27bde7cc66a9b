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
    """A card beside the best device of this machine, under the same load."""

    card: Candidate
    real: Candidate
    demand: Demand

    @property
    def described(self) -> Card:
        """The description of the card."""
        if self.card.device.card is None:
            raise ValueError(f"{self.card.name} is no card; right would be a projected device")
        return self.card.device.card

    @property
    def rate_per_s(self) -> float:
        """Of the load, or a million messages a second."""
        return self.demand.rate_per_s or PER_MILLION

    @property
    def count(self) -> int:
        """How many cards the rate takes."""
        return math.ceil(self.rate_per_s / self.card.used.batch.per_s.value)

    @property
    def earlier(self) -> BreakEven:
        """From how many messages a batch on it is done earlier than the real device."""
        return break_even(self._message_ns, self.real.used.batch.host_ns, BATCH_MAX)

    @property
    def times(self) -> float:
        """How many times as long as the real device it takes for a batch of that one's size."""
        batch = self.real.used.batch
        return self._message_ns(batch.messages) / batch.host_ns.value

    @property
    def cores_freed(self) -> float:
        """Cores that the cards free at the rate; below 0 where they cost more."""
        saved_ns = self.real.used.batch.host_ns.value - self.card.used.batch.host_ns.value
        return saved_ns * self.rate_per_s / 1e9

    @property
    def cores_freed_most(self) -> float:
        """Cores that one card frees with all the messages it can do; 0 for none."""
        real, card = self.real.device.largest, self.card.device.largest
        return max(0.0, (real.host_ns.value - card.host_ns.value) * card.per_s.value / 1e9)

    @property
    def frees_core_at_per_s(self) -> float | None:
        """From how many messages a second on one card frees a core; None for never."""
        able_per_s = self.card.device.largest.per_s.value
        return able_per_s / self.cores_freed_most if self.cores_freed_most >= 1 else None

    @property
    def price(self) -> float | None:
        """Of the cards; None where the description has none."""
        return None if self.described.price is None else self.described.price * self.count

    @property
    def core_price(self) -> float | None:
        """Price of a core from which on the cards pay; None for none at all."""
        is_known = self.price is not None and self.cores_freed > 0
        return self.price / self.cores_freed if self.price is not None and is_known else None

    @property
    def pays(self) -> bool | None:
        """Whether they pay at the given price of a core; None where either is unknown."""
        if self.demand.core_price is None or self.price is None:
            return None
        return self.core_price is not None and self.demand.core_price >= self.core_price

    @property
    def is_needed(self) -> bool:
        """Whether no real device meets the demand, and the card does."""
        return self.real.used.state is not State.MEETS and self.card.used.state is State.MEETS

    def _message_ns(self, messages: int) -> float:
        size = round(self.real.device.message_bytes)
        return self.described.predict(messages, size).batch_ns / messages


@dataclass(frozen=True)
class Advice:
    """What a load of one's own takes on each device.

    Attributes:
        results: Rows of the devices that count, one's own messages first, and all reports.
        work: The messages, as values of the axes `WORK`.
        candidates: By rank the devices that were measured, then cards; none where nothing was
            measured.
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
    """What a run on messages of one's own allows to say of a load, with a caveat on them.

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
        payoffs=tuple(Payoff(c, ranked[0], demand) for c in ranked if c.is_projected),
        left_out=left_out,
        about=about,
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
