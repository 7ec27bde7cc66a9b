"""The answer to a load of one's own: what to buy, or where to run it."""

import math
from collections.abc import Iterator

from sealift.lab.answer import QUESTION, Answer, Bar, disturbed, missing_bars
from sealift.lab.finding import findings
from sealift.lab.headline import figure as figure_of
from sealift.lab.load.advice import Advice
from sealift.lab.load.amounts import (
    SHARE_MIN,
    cores_text,
    money_text,
    number,
    share_text,
    time_text,
)
from sealift.lab.load.device import Figure
from sealift.lab.load.payoff import Payoff
from sealift.lab.load.serving import FULL_SHARE, State
from sealift.lab.result import Row
from sealift.lab.shortfall import shortfall
from sealift.lab.stats import Interval, Verdict
from sealift.lab.units import NS_PER_S, format_measure, format_short
from sealift.lab.unsettled import why_unsure
from sealift.lab.wording import (
    any_of,
    device_name,
    machine_text,
    run_on,
    short_name,
    work_name,
)


def answer(advice: Advice) -> Answer:
    """The recommendation, one number, a bar for each device, and what to be careful about.

    The number is how busy the load keeps the processor; without a rate how many times as fast the
    best device is as the next.

    Args:
        advice: With at least one device that was measured.
    """
    machine, used = advice.run.machine, advice.best.served.used
    cell = {**advice.seen.cell, "batch": used.batch.messages}
    lacking = shortfall(advice.run)
    care = [*([lacking] if lacking else []), *_care(advice)]
    return Answer(
        question=QUESTION,
        headline=_headline(advice),
        figure=_figure(advice),
        basis=work_name(cell, advice.seen.lengths.mean_bytes),
        bars=tuple(_bars(advice)),
        machine=machine_text(machine.facts),
        noise=advice.noise,
        disturbed=disturbed(advice.seen.rows),
        sizes="",
        care=tuple(care[:CARE_MOST]),
    )


def _headline(advice: Advice) -> str:
    demand, used, best = advice.demand, advice.best.served.used, advice.best.name
    cores = _cores(advice)
    if demand.rate_per_s is None:
        return _fastest(advice)
    if used.state is State.OVERLOADED:
        return f"{short_name(best)} can't keep up on {cores}"
    if used.state is State.LATE:
        return f"No device here is shown to be back within {time_text(demand.p99_ns or 0.0)}"
    if used.state is State.NEAR_FULL:
        return f"{short_name(best)} on {cores}: too near to full to say how long messages take"
    run = run_on([best, *_same(advice)])
    return f"{_buy(advice)} run {run[0].lower()}{run[1:]}"


def _fastest(advice: Advice) -> str:
    if _is_settled(advice):
        return run_on([advice.best.name, *_same(advice)])
    names = [advice.best.name, *(str(each.subject) for each in _peers(advice))]
    (why, *_) = (why_unsure(each) for each in _peers(advice) if each.verdict is Verdict.UNSURE)
    return f"Not settled: {any_of([*map(short_name, names)])} ({why})"


def _is_settled(advice: Advice) -> bool:
    """Whether a device is advised: it does the load, or without one nothing may be faster."""
    if advice.demand.rate_per_s is not None:
        return advice.best.served.state is State.MEETS
    return all(each.verdict is not Verdict.UNSURE for each in _peers(advice))


def _figure(advice: Advice) -> str:
    rate, used = advice.demand.rate_per_s, advice.best.served.used
    if rate is None:
        names = [each.name for each in advice.ranked if not each.is_projected]
        judged = [advice.seen.judge(used.batch.messages, names[0], name) for name in names]
        rows = [row for row in judged if row]
        return figure_of(findings(rows)[0]) if rows else ""
    host = used.batch.host_ns
    busy, low, high = (
        rate * each / NS_PER_S
        for each in (host.value, host.low or host.value, host.high or host.value)
    )
    load = f"at {number(rate)} messages/s"
    if busy < SHARE_MIN:
        return f"{share_text(busy)} of a core {load}"
    scale, unit = (1, "cores") if busy >= 1 else (100, "% of a core")
    ends = f"[{format_short(low * scale)}–{format_short(high * scale)}]"
    return f"{format_short(busy * scale)} {unit} {ends} {load}"


def _bars(advice: Advice) -> Iterator[Bar]:
    devices = advice.run.machine.devices
    batch = advice.best.served.used.batch.messages
    advised = [advice.best.name, *_same(advice)] if _is_settled(advice) else []
    for each in advice.ranked:
        served = each.served
        same = (one for one in served.every if one.batch.messages == batch)
        rate = next(same, served.used).batch.per_s
        name = device_name(each.name, devices)
        yield Bar(
            device=each.name,
            name=name,
            rate=_interval(rate),
            origin=served.device.origin,
            is_advised=each.name in advised,
        )
    for device, why in advice.seen.left_out.items():
        yield Bar(device, device_name(device, devices), None, why)
    yield from missing_bars(devices, [each.name for each in advice.ranked])


def _care(advice: Advice) -> Iterator[str]:
    used, wanted = advice.best.served.used, advice.demand.p99_ns
    cards = [_card(each) for each in advice.payoffs]
    late = []
    if used.p99_ns is not None:
        late = [_p99(used.p99_ns.value, used.batch.messages, wanted)]
    # Without a deadline a card weighs more than how long messages take.
    yield from (*cards, *late) if wanted is None else (*late, *cards)
    if used.state in (State.OVERLOADED, State.NEAR_FULL):
        yield from _more_cores(advice)
    if advice.demand.rate_per_s is not None:
        for row in _peers(advice):
            if row.verdict is Verdict.UNSURE:
                other = short_name(str(row.subject))
                yield f"{short_name(advice.best.name)} and {other} are not told apart."
    if advice.about:
        yield advice.about
    yield from _other_mean(advice)


def _p99(p99_ns: float, messages: int, wanted_ns: float | None) -> str:
    # Waiting for the batch and for the device are each taken at their worst.
    bound = "≤ " if messages > 1 else ""
    of = "" if wanted_ns is None else f" of {time_text(wanted_ns)}"
    return f"p99 {bound}{time_text(p99_ns)}{of} (simulated)."


def _card(found: Payoff) -> str:
    """Whether a card would pay, in one sentence."""
    card, host, money = found.served.device.card, found.host, found.money
    count = f"{found.cards:,} × " if found.cards > 1 else ""
    other = "" if card is None or card.algorithm == "aes-gcm" else f", at its {card.algorithm} rate"
    name = f"{count}{found.served.device.name} (projected{other})"
    if found.is_needed:
        return f"{name} would do it."
    if found.is_late:
        return f"{name} is not shown to be back in time."
    if max(host.cores_freed, host.cores_freed_most) <= 0:
        pays = "never pays" if found.time.messages is None else "saves time, but no CPU"
        return f"{name} {pays}."
    if host.cores_freed <= 0:
        return f"{name} doesn't pay at this load."
    load = "" if found.rate_per_s else " at a million messages/s"
    if money is None or money.core_price is None:
        return f"{name} frees {cores_text(host.cores_freed)}{load}; its price isn't known."
    core = money_text(money.core_price, money.currency)
    return f"{name} pays{load} where a core costs over {core}{_unreckoned(found)}."


def _unreckoned(found: Payoff) -> str:
    """That the p99 isn't known of several cards, and of one that is nearly full."""
    known = found.rate_per_s is None or found.served.state in (State.MEETS, State.LATE)
    return "" if known else "; its p99 was not simulated"


def _buy(advice: Advice) -> str:
    """What to buy: a card that pays, nothing, or nothing on a condition; where to run follows."""
    wished = advice.demand.p99_ns is not None
    able = [each for each in advice.payoffs if not wished or each.served.state is State.MEETS]
    if paying := [each for each in able if each.money and each.money.pays]:
        best = max(paying, key=lambda each: each.host.cores_freed)
        count = f"{best.cards:,} × " if best.cards > 1 else ""
        return f"Buy {count}{best.served.device.name} (projected); else"
    # The card that pays at the lowest price of a core; without prices the one that frees most.
    able.sort(key=lambda each: (_core_price(each), -each.host.cores_freed))
    condition = next(filter(None, map(_condition, able)), "")
    return f"Buy nothing unless {condition};" if condition else "Buy nothing;"


def _condition(found: Payoff) -> str:
    """On which condition a card pays; "" where that is settled or too little to speak of."""
    money, freed = found.money, found.host.cores_freed
    if freed < WORTH_NAMING:
        return ""
    if money is None or money.core_price is None:
        return f"{cores_text(freed)} are worth {found.served.device.name} to you"
    if money.pays is None:
        return f"a core costs you over {money_text(money.core_price, money.currency)}"
    return ""


def _core_price(found: Payoff) -> float:
    """What a core must cost for a card to pay; without a limit where its price isn't known."""
    known = found.money.core_price if found.money else None
    return math.inf if known is None else known


def _more_cores(advice: Advice) -> Iterator[str]:
    """How many cores keep up, and not so nearly that nothing could be said of them."""
    fact = advice.run.machine.facts.get("cores_affinity")
    cores = fact.value if fact else None
    if not isinstance(cores, int):
        return
    host = advice.best.served.used.batch.host_ns
    slow_ns = host.value if host.high is None else host.high
    busy = slow_ns * (advice.demand.rate_per_s or 0.0) / NS_PER_S
    wanted = max(int(advice.seen.cell["threads"]) + 1, math.ceil(busy / FULL_SHARE))
    if wanted <= cores:
        yield f"{wanted} of the {cores} cores here may do: --threads {wanted} measures them."
    else:
        yield f"{number(wanted)} cores may do, and this machine has {cores}."


def _other_mean(advice: Advice) -> Iterator[str]:
    """A few messages can't have the mean of lengths of which some are rare and long."""
    wanted = advice.seen.lengths.mean_bytes
    measured = advice.seen.devices[0].message_bytes
    if abs(measured / wanted - 1) > MEAN_OFF:
        yield (
            f"Measured: {format_measure(measured)} bytes on average, not "
            f"{format_measure(wanted)}: too few messages for the rare lengths."
        )


def _same(advice: Advice) -> list[str]:
    return [str(row.subject) for row in _peers(advice) if row.verdict is Verdict.SAME]


def _peers(advice: Advice) -> list[Row]:
    """Those that share the best one's rank, as they were judged."""
    return [each.judged for each in advice.ranked if each.judged and each.rank == advice.best.rank]


def _cores(advice: Advice) -> str:
    threads = int(advice.seen.cell["threads"])
    return "one core" if threads == 1 else f"{threads:,} cores"


def _interval(figure: Figure) -> Interval:
    low, high = figure.low or figure.value, figure.high or figure.value
    return Interval(figure.value, low, high, 1.0 if figure.low is None else 0.95, 0)


# Less than a tenth of a core frees nothing that one could use for something else.
WORTH_NAMING = 0.1
# As far as a verdict calls two speeds the same, bytes may be off.
MEAN_OFF = 0.02
CARE_MOST = 3
