"""The answer to a load, in sentences."""

import math
from collections.abc import Iterator, Sequence

from sealift.lab.load.advice import Advice
from sealift.lab.load.amounts import cores_text, money_text, number, share_text, time_text
from sealift.lab.load.payoff import Payoff
from sealift.lab.load.ranking import Ranked
from sealift.lab.load.serving import FULL_SHARE, Service, State
from sealift.lab.load.worth import both_text, cards_text
from sealift.lab.stats import Verdict
from sealift.lab.units import NS_PER_S, format_size
from sealift.lab.unsettled import why_unsure
from sealift.lab.wording import done_text


def answer(advice: Advice) -> list[str]:
    """The answer first, then a sentence for each card."""
    return [_first(advice), *(f"{_card(each)}{_cipher(each)}" for each in advice.payoffs)]


def ties(ranked: Sequence[Ranked]) -> Iterator[str]:
    """Who shares a rank with whom, and why."""
    firsts = {each.rank: each for each in ranked if not each.judged and not each.is_projected}
    for each in ranked:
        if each.judged is None:
            continue
        both = f"{firsts[each.rank].name} and {each.name}"
        if each.judged.verdict is Verdict.SAME:
            yield f"{both} are the same within noise."
        else:
            yield f"These samples don't tell {both} apart: {why_unsure(each.judged)}."


def _first(advice: Advice) -> str:
    used = advice.best.served.used
    if advice.demand.rate_per_s is None:
        return _run_it(advice)
    if used.state is State.OVERLOADED:
        return _overloaded(advice)
    if used.state is State.LATE:
        return _late(advice)
    if used.state is State.NEAR_FULL:
        return _near_full(advice)
    busy = f"{_who(advice)} is {_busy(advice)} busy with {_load(advice)}"
    return f"{_buy(advice)}: {busy}{_p99(advice)}."


def _buy(advice: Advice) -> str:
    """What to buy: a card that pays, nothing, or nothing on a condition."""
    able = [each for each in advice.payoffs if _is_in_time(each, advice)]
    if paying := [each for each in able if each.money and each.money.pays]:
        return f"Buy {cards_text(max(paying, key=lambda each: each.host.cores_freed))}"
    conditions = [told for each in able if (told := _condition(each))]
    return f"Buy nothing unless {' or '.join(conditions)}" if conditions else "Buy nothing"


def _is_in_time(found: Payoff, advice: Advice) -> bool:
    """Whether a card is shown to be, where that is wished."""
    return advice.demand.p99_ns is None or found.served.state is State.MEETS


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


def _run_it(advice: Advice) -> str:
    used = advice.best.served.used.batch
    alone = advice.best.served.device.batches[0].batch_ns.value
    return (
        f"Run them on {_names(advice)}: on {_cores(advice)} at most "
        f"{_load(advice, used.per_s.value)}; one alone takes {time_text(alone)} (measured)."
    )


def _overloaded(advice: Advice) -> str:
    busy = advice.best.served.used.cores_busy or 0.0
    needed = f"{_load(advice)} take {cores_text(busy)}"
    return f"{_who(advice)} can't keep up: {needed}{_more_cores(advice)}."


def _near_full(advice: Advice) -> str:
    return (
        f"{_who(advice)} is {_busy(advice)} busy with {_load(advice)}: too near to full to say how "
        f"long they take. A larger --batch or more cores would help{_more_cores(advice)}."
    )


def _more_cores(advice: Advice) -> str:
    """How many keep up, and not so nearly that nothing could be said of them."""
    there = advice.run.machine.facts.get("cores_affinity")
    cores = there.value if there else None
    if not isinstance(cores, int):
        return ""
    host = advice.best.served.used.batch.host_ns
    slow_ns = host.value if host.high is None else host.high
    busy = slow_ns * (advice.demand.rate_per_s or 0.0) / NS_PER_S
    wanted = max(int(advice.seen.cell["threads"]) + 1, math.ceil(busy / FULL_SHARE))
    if wanted <= cores:
        return f"; of the {cores} cores here {wanted} may do: --threads {wanted} measures them"
    return f"; {number(wanted)} cores may do, and this machine has {cores}"


def _late(advice: Advice) -> str:
    wanted = time_text(advice.demand.p99_ns or 0.0)
    comes = f"{_who(advice)} comes nearest, {_lateness(advice.best.served.used)}"
    return f"No device here is shown to be back within {wanted}: {comes}, with {_load(advice)}."


def _card(found: Payoff) -> str:
    name, host, money = cards_text(found), found.host, found.money
    if found.is_needed:
        return f"{name} would do it, and {_changes(found)}."
    if found.is_late:
        return f"{name} is not shown to be back in time: {_lateness(found.served.used)}."
    if max(host.cores_freed, host.cores_freed_most) <= 0:
        if found.time.messages is None:
            return f"{name} never pays: {both_text(found)}, and no batch is back earlier."
        return (
            f"{name} pays in time only, from batches of {found.time.messages:,} on: "
            f"{both_text(found)}."
        )
    if host.cores_freed <= 0:
        return f"{name} doesn't pay at this load: {both_text(found)}."
    if money is None or money.core_price is None:
        return f"{name} {_changes(found)}; its description has no price{_unreckoned(found)}."
    price = money_text(money.price, money.currency)
    core = money_text(money.core_price, money.currency)
    pays = f"for {price} it pays where a core costs over {core}"
    return f"{name} {_changes(found)}: {pays}{_unreckoned(found)}."


def _cipher(found: Payoff) -> str:
    """Of which cipher its rate is, where that isn't the messages' own."""
    card = found.served.device.card
    if card is None or card.algorithm == "aes-gcm":
        return ""
    return f" Its rate is that of {card.algorithm}, taken for AES-GCM."


def _unreckoned(found: Payoff) -> str:
    """What isn't known of cards that a rate takes in number, or nearly."""
    if found.rate_per_s is None or found.served.state in (State.MEETS, State.LATE):
        return ""
    if found.cards > 1:
        return f"; the p99 of {found.cards:,} of them was not reckoned"
    return "; it is too near to full to say its p99"


def _lateness(used: Service) -> str:
    if used.p99_ns is not None:
        return f"p99 {_at_most(used)}{time_text(used.p99_ns.value)} (simulated)"
    filled = f" and {time_text(used.fill_ns)} to fill" if used.fill_ns else ""
    return (
        f"a batch of {used.batch.messages:,} takes {time_text(used.batch.batch_ns.value)}{filled}"
    )


def _changes(found: Payoff) -> str:
    verb = "frees" if found.host.cores_freed >= 0 else "takes"
    rate = "" if found.rate_per_s else " for a million messages a second"
    return f"{verb} {cores_text(abs(found.host.cores_freed))}{rate}"


def _who(advice: Advice) -> str:
    return f"{_names(advice)} on {_cores(advice)}"


def _names(advice: Advice) -> str:
    same = [
        each.name
        for each in advice.ranked
        if each.judged and each.judged.verdict is Verdict.SAME and each.rank == advice.best.rank
    ]
    return " or ".join([advice.best.name, *same])


def _cores(advice: Advice) -> str:
    threads = int(advice.seen.cell["threads"])
    return "one core" if threads == 1 else f"{threads:,} cores"


def _busy(advice: Advice) -> str:
    busy = advice.best.served.used.cores_busy or 0.0
    return share_text(busy / int(advice.seen.cell["threads"]))


def _load(advice: Advice, rate_per_s: float | None = None) -> str:
    """`40,000 messages a second of 128 bytes, sealed under 5,000 sessions, in batches of 64`."""
    lengths = advice.seen.lengths
    rate = number(rate_per_s or advice.demand.rate_per_s or 0.0)
    size = f"{format_size(lengths.mean_bytes)} byte{'s' * (lengths.mean_bytes != 1)}"
    mean = " on average" if len(lengths.counts) > 1 else ""
    batch = advice.best.served.used.batch.messages
    handed = "one at a time" if batch == 1 else f"in batches of {batch:,}"
    messages = "message" if rate == "1" else "messages"
    return f"{rate} {messages} a second of {size}{mean}, {done_text(advice.seen.cell)}, {handed}"


def _p99(advice: Advice) -> str:
    used, wanted = advice.best.served.used, advice.demand.p99_ns
    if used.p99_ns is None:
        return ""
    of = "" if wanted is None else f" of the {time_text(wanted)} wanted"
    return f"; p99 {_at_most(used)}{time_text(used.p99_ns.value)}{of} (simulated)"


def _at_most(used: Service) -> str:
    """Waiting for the batch and for the device are each taken at their worst."""
    return "at most " if used.batch.messages > 1 else ""


# Less than a tenth of a core frees nothing that one could use for something else.
WORTH_NAMING = 0.1
