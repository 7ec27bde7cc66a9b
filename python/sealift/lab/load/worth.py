"""What a card is worth: at which load it pays in time, in host CPU and in money, in words."""

from collections.abc import Iterator

from sealift.lab.load.advice import Advice
from sealift.lab.load.amounts import cores_text, money_text, number, time_text
from sealift.lab.load.payoff import MESSAGES_MOST, PER_MILLION, InTime, Payoff
from sealift.lab.units import format_measure, format_size


def worth(advice: Advice) -> Iterator[str]:
    """Of each card a heading, and a line each for time, host CPU and money."""
    for found in advice.payoffs:
        yield f"When would {cards_text(found)} pay?"
        yield f"  In time: {_time(found, advice)}."
        yield f"  In host CPU: {_host(found)}."
        yield f"  In money: {_money(found)}."


def cards_text(found: Payoff) -> str:
    """`quad-hifn-7751 (projected)`, `3 x quad-hifn-7751 (projected)`."""
    count = f"{found.cards:,} x " if found.cards > 1 else ""
    return f"{count}{found.served.device.name} (projected)"


def both_text(found: Payoff) -> str:
    """What a message takes this machine's processors with and without the card."""
    there, here = time_text(found.host.card_ns), time_text(found.host.real_ns)
    return f"a message takes this processor {there} with it and {here} on {found.real.device.name}"


def _time(found: Payoff, advice: Advice) -> str:
    real, time = found.real.device.name, found.time
    size = format_size(advice.seen.lengths.mean_bytes)
    if time.messages is None:
        return (
            f"never with {size} bytes a message: in batches of {MESSAGES_MOST:,} it still takes "
            f"{number(time.times_most)} times as long as {real}"
        )
    used = found.real.used.batch.messages
    if time.messages <= used:
        return f"{_from(time)} are back earlier than on {real}{_in_used(found, used)}"
    rate = advice.demand.rate_per_s
    fills = f", which take {time_text(time.messages / rate * 1e9)} to fill," if rate else ""
    return f"{_from(time)}{fills} are back earlier than on {real}{_in_used(found, used)}"


def _from(time: InTime) -> str:
    if time.messages == 1:
        return "batches of every length"
    return f"batches of {time.messages:,} messages and more"


def _in_used(found: Payoff, used: int) -> str:
    batch = "one alone takes" if used == 1 else f"one of {used:,} takes"
    return f"; {batch} {number(found.time.times)} times as long"


def _host(found: Payoff) -> str:
    host, at = found.host, f"at {number(found.rate_per_s or PER_MILLION)} messages a second"
    if host.cores_freed_most <= 0 >= host.cores_freed:
        return f"never: {both_text(found)}, {cores_text(-host.cores_freed)} more {at}"
    less = "less" if host.cores_freed > 0 else "more"
    told = f"{both_text(found)}, {cores_text(abs(host.cores_freed))} {less} {at}"
    longest = f"in batches of {found.served.device.largest.messages:,}"
    if host.frees_core_at_per_s is not None:
        rate = number(host.frees_core_at_per_s)
        return f"{told}; {longest} it frees a whole core at {rate} a second"
    if host.cores_freed_most > 0:
        able = number(found.served.device.largest.per_s.value)
        most = cores_text(host.cores_freed_most)
        return f"{told}; never a whole one: {longest} at most {most}, at {able} a second"
    return told


def _money(found: Payoff) -> str:
    money = found.money
    watts = "" if found.watts is None else f"; it draws {format_measure(found.watts)} W"
    if money is None:
        return f"not known, its description has no price{watts}"
    price = money_text(money.price, money.currency)
    if money.core_price is None:
        return f"never with such batches: {price} free no core{watts}"
    core = money_text(money.core_price, money.currency)
    says = {None: "", True: "yes, ", False: "no, "}[money.pays]
    load = "this load" if found.rate_per_s else "a million messages a second"
    return f"{says}at {load} {price} pay where a core costs over {core}{watts}"
