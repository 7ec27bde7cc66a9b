"""A run that measured messages of one's own, as advice on a load: what to buy, or where to run."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sealift_lab._lab import Card
from sealift_lab.advise.load import (
    FULL_SHARE,
    Candidate,
    Demand,
    Latency,
    State,
    batch_ns_p99,
    measured,
    projected,
    rank,
    serve,
)
from sealift_lab.advise.messages import BY_SIZE, find_messages
from sealift_lab.claim.answer import Answer, Bar, Remark, lead
from sealift_lab.claim.answer import answer as answer_of_run
from sealift_lab.claim.claims import rate
from sealift_lab.claim.declared import declared
from sealift_lab.claim.words import conditions, name_of
from sealift_lab.judge.lines import BreakEven, break_even
from sealift_lab.judge.rows import compare_rows
from sealift_lab.judge.verdicts import Comparison
from sealift_lab.measure.crypto import lengths_in
from sealift_lab.model.arm import Cell, fits
from sealift_lab.model.results import Claim, Ledger, Relation, Results, Verdict
from sealift_lab.model.run import PlannedExperiment
from sealift_lab.model.units import format_ns, format_number, scale_of
from sealift_lab.model.workload import Lengths
from sealift_lab.run.read_folder import Run


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
            there_are = ", ".join(f"{count:,}" for count in known)
            raise ValueError(f"a batch of {wanted:,} was not measured; there are {there_are}")
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
        payoffs=tuple(Payoff(c, ranked[0], demand) for c in ranked if c.device.card),
        left_out=left_out,
        about=about,
    )


def answer(advice: Advice) -> Answer:
    """The recommendation, one figure, a bar for each device, and at most three remarks.

    The figure is how busy the load keeps this machine's processors; without a rate how many times
    as fast the best device is as the reference.

    Args:
        advice: With at least one device that was measured.
    """
    messages = advice.best.used.batch.messages
    where = {**advice.work, "batch": messages}
    rows = [row for row in advice.results.rows if fits(row.cell, where)]
    nothing = {each.name: Results((), ()) for each in advice.run.plan.experiments}
    narrowed = {**nothing, BY_SIZE: replace(advice.results, rows=rows)}
    # Without a rate this is the whole answer but for the cards.
    plain = answer_of_run(advice.run, narrowed)
    found = replace(
        plain,
        basis=conditions(rows[0].work, advice.planned),
        bars=[*_bars(advice, messages), *(bar for bar in plain.bars if bar.rate is None)],
        remarks=_remarks(advice, plain),
    )
    busy = advice.best.used.cores_busy
    if advice.demand.rate_per_s is None or busy is None:
        return found
    scale, unit = (1.0, "cores") if busy.value >= 1 else (100.0, "% of a core")
    load = f"{format_number(advice.demand.rate_per_s)} messages/s"
    busy_claim = Claim(load, Relation.RATE, "", busy.scaled(scale), unit, experiment=BY_SIZE)
    return replace(found, advice=_advice(advice), headline=busy_claim, lead=lead(busy_claim))


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


def _advice(advice: Advice) -> str:
    """What to do under a load with a rate."""
    state, name = advice.best.used.state, _name(advice, advice.best)
    threads = int(advice.work["threads"])
    cores = "one core" if threads == 1 else f"{threads:,} cores"
    if state is State.OVERLOADED:
        return f"{name} can't keep up on {cores}"
    if state is State.LATE:
        return f"No device here is shown to be back within {format_ns(advice.demand.p99_ns or 0)}"
    if state is State.NEAR_FULL:
        return f"{name} on {cores}: too near to full for a p99"
    run = advice.planned.advice.get(advice.best.name, f"on {name}")
    same = (_name(advice, each) for each in _peers(advice, Verdict.SAME))
    return f"{_buy(advice)} {' or '.join([run[0].lower() + run[1:], *same])}"


def _bars(advice: Advice, messages: int) -> Iterator[Bar]:
    """Messages a second of each device in batches of so many; a card says it is projected."""
    is_open = advice.demand.rate_per_s is None and _peers(advice, Verdict.INCONCLUSIVE)
    is_settled = advice.best.used.state is State.MEETS and not is_open
    advised = [advice.best, *_peers(advice, Verdict.SAME)] if is_settled else []
    for each in advice.candidates:
        batch = each.device.by_messages.get(messages, each.used.batch)
        step, prefix = scale_of(batch.per_s.value)
        name, figure = f"{each.name} (projected)", batch.per_s.scaled(1 / step)
        claim = Claim(name, Relation.RATE, "", figure, f"{prefix}messages/s", Ledger.MODELLED)
        measured = rate(advice.planned, batch.row) if batch.row else None
        yield Bar(measured or claim, batch.per_s, each in advised)


def _remarks(advice: Advice, plain: Answer) -> list[Remark]:
    """The weightiest of the run's reasons for care, then the load's: three; last the machine."""
    place, *rest = plain.remarks
    care = [remark for remark in rest if remark.is_care]
    plain_ones = [remark for remark in rest if not remark.is_care]
    weighty = [*care[:1], *_load_remarks(advice), *care[1:], *plain_ones]
    return [*weighty[:REMARKS_MOST], place]


def _load_remarks(advice: Advice) -> Iterator[Remark]:
    used, deadline = advice.best.used, advice.demand.p99_ns
    # Without a rate the line under the advice says so.
    for each in _peers(advice, Verdict.INCONCLUSIVE) if advice.demand.rate_per_s else ():
        yield Remark(f"{_name(advice, advice.best)} and {_name(advice, each)} are not told apart")
    cards = [Remark(_card_text(each)) for each in advice.payoffs]
    late = []
    if used.p99_ns is not None:
        # Waiting for the batch and for the device are each taken at their worst.
        bound = "≤ " if used.batch.messages > 1 else ""
        of = "" if deadline is None else f" of {format_ns(deadline)}"
        late = [Remark(f"simulated: p99 {bound}{format_ns(used.p99_ns)}{of}")]
    # Without a deadline a card weighs more than how long messages take.
    yield from (*cards, *late) if deadline is None else (*late, *cards)
    if used.state in (State.OVERLOADED, State.NEAR_FULL):
        yield from _more_cores(advice)
    for device, why in advice.left_out.items():
        if why.startswith("is no device"):
            yield Remark(f"{device} {why}")
    wanted, measured = advice.lengths.mean_bytes, advice.best.device.message_bytes
    if advice.about:
        yield Remark(advice.about)
    if abs(measured / wanted - 1) > MEAN_OFF:
        # A few messages can't have the mean of lengths of which some are rare and long.
        few = "too few messages for the rare lengths"
        yield Remark(f"measured: {measured:,.0f} bytes on average, not {wanted:,.0f}: {few}")


def _card_text(found: Payoff) -> str:
    """Whether a card would pay, in one sentence."""
    algorithm, used = found.described.algorithm, found.card.used
    other = "" if algorithm == "aes-gcm" else f", at its {algorithm} rate,"
    many = f" ({found.count:,} cards)" if found.count > 1 else ""
    name = f"projected: {found.card.name}{many}{other}"
    if found.is_needed:
        return f"{name} would do it"
    if used.is_late:
        return f"{name} is not shown to be back in time"
    if max(found.cores_freed, found.cores_freed_most) <= 0:
        return f"{name} {'never pays' if found.earlier.messages is None else 'saves no CPU'}"
    if found.cores_freed <= 0:
        return f"{name} doesn't pay at this load"
    load = " at a million messages/s" if used.devices_needed is None else ""
    if found.core_price is None:
        return f"{name} frees {format_number(found.cores_freed)} cores{load}; its price isn't known"
    # Not of several cards, and of one that is nearly full.
    is_known = used.devices_needed is None or used.state in (State.MEETS, State.LATE)
    no_p99 = "" if is_known else "; its p99 was not simulated"
    return f"{name} pays{load} where a core costs over {_money(found)}{no_p99}"


def _buy(advice: Advice) -> str:
    """What to buy: a card that pays, nothing, or nothing on a condition; where to run follows."""
    has_deadline = advice.demand.p99_ns is not None
    able = [p for p in advice.payoffs if not has_deadline or p.card.used.state is State.MEETS]
    if paying := [each for each in able if each.pays]:
        best = max(paying, key=lambda each: each.cores_freed)
        name = best.card.name
        cards = f"{best.count:,} {name} cards" if best.count > 1 else name
        return f"Buy {cards} (projected); else run"
    open_ones = [p for p in able if p.pays is None and p.cores_freed >= WORTH_NAMING]
    if not open_ones:
        return "Buy nothing; run"
    # The card that pays at the lowest price of a core; without prices the one that frees most.
    best = min(open_ones, key=lambda p: (p.core_price is None, p.core_price or 0, -p.cores_freed))
    condition = f"a core costs you over {_money(best)}"
    if best.core_price is None:
        condition = f"{format_number(best.cores_freed)} cores are worth {best.card.name} to you"
    return f"Buy nothing unless {condition}; run"


def _more_cores(advice: Advice) -> Iterator[Remark]:
    """How many cores keep up, and not so nearly that nothing could be said of them."""
    fact, busy = advice.run.machine.facts.get("cores_affinity"), advice.best.used.cores_busy
    if fact is None or not isinstance(fact.value, int) or busy is None:
        return
    least = math.ceil((busy.high or busy.value) / FULL_SHARE)
    wanted = max(int(advice.work["threads"]) + 1, least)
    if wanted <= fact.value:
        text = f"{wanted} of the {fact.value} cores here may do: --threads {wanted} measures them"
    else:
        text = f"{wanted:,} cores may do, and this machine has {fact.value}"
    yield Remark(text)


def _peers(advice: Advice, verdict: Verdict) -> list[Candidate]:
    """The devices that share the best one's place with this verdict."""
    return [
        each
        for each in advice.candidates
        if each.place == 1 and each.comparison and each.comparison.verdict is verdict
    ]


def _name(advice: Advice, candidate: Candidate) -> str:
    return name_of(candidate.name, advice.planned.names)


def _money(found: Payoff) -> str:
    """The price of a core from which on cards pay: `1,670 USD`."""
    return f"{format_number(found.core_price or 0.0)} {found.described.currency or ''}".strip()


REAL = "real"
PER_MILLION = 1e6
# In larger batches fixed costs weigh nothing any more.
BATCH_MAX = 1 << 20
REMARKS_MOST = 3
# Less than a tenth of a core frees nothing that one could use for something else.
WORTH_NAMING = 0.1
# As far as a verdict calls two speeds the same, means may be off.
MEAN_OFF = 0.02
