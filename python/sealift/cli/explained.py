"""Shows what an engine said of a batch: a table and sentences, or JSON."""

import shlex
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime

from sealift import Calibrated, Card
from sealift.cli.explaining import Asked, Found, Projected, Taken
from sealift.lab.pairs import in_words
from sealift.lab.units import format_measure, format_range
from sealift.lab.wording import fitted_of, measured_here, measured_of, played_of


def document(found: Found, messages: int, message_bytes: int) -> dict[str, object]:
    """For JSON."""
    explanation = found.explanation
    return {
        "schema": "sealift-explanation/1",
        "messages": messages,
        "message_bytes": message_bytes,
        "policy": found.policy,
        "device": explanation.device,
        "because": explanation.because,
        "predicted_ns": explanation.predicted_ns,
        "devices": [_entry(each, messages) for each in found.devices],
        "cards": [_card_entry(each, found, messages) for each in found.cards],
        "break_even": [asdict(pair) for pair in found.pairs],
        "given": [
            {"device": device, "because": because, "batches": batches}
            for device, because, batches in found.given
        ],
        "cache": {"file": found.file, "remarks": list(found.remarks)},
    }


def _entry(each: Asked, messages: int) -> dict[str, object]:
    known = each.known
    cost = known.cost
    return {
        "device": each.device,
        "role": each.role,
        "origin": each.origin,
        "asked": each.asked,
        "predicted_ns": each.predicted_ns,
        "predicted_messages_per_s": _per_s(each.predicted_ns, messages),
        "host_ns": each.host_ns,
        "taken": asdict(each.taken) if each.taken else None,
        "not_run": each.not_run,
        "taken_over_predicted": each.taken_over_predicted,
        "disagrees": bool(each.disagrees),
        "cost": {
            "setup_ns": cost.setup_ns,
            "per_message_ns": cost.per_message_ns,
            "per_byte_ns": cost.per_byte_ns,
            "source": known.source,
            "measured_at": None if known.measured_at_s is None else _when(known.measured_at_s),
            "reason": known.reason,
        },
        **({"measured_here": measured_here(each.card)} if each.card else {}),
    }


def _card_entry(each: Projected, found: Found, messages: int) -> dict[str, object]:
    prediction, best = each.prediction, found.explanation
    return {
        "device": each.card.name,
        "origin": "projected",
        "predicted_ns": prediction.batch_ns,
        "predicted_messages_per_s": _per_s(prediction.batch_ns, messages),
        "queued_messages_per_s": _per_s(prediction.interval_ns, messages),
        "host_ns": prediction.host_ns,
        "bound_by": prediction.bound_by,
        "would_finish_first": prediction.batch_ns < best.predicted_ns,
        "times_as_long": prediction.batch_ns / best.predicted_ns,
        "source": each.card.source,
        "measured_here": measured_here(each.card),
    }


def lines(
    found: Found, messages: int, message_bytes: int, devices: str | None = None
) -> Iterator[str]:
    """For people.

    Args:
        found: What was found.
        messages: Messages in the batch.
        message_bytes: Bytes of each.
        devices: The list that was given; None for every real one.
    """
    explanation = found.explanation
    yield (
        f"{messages:,} message{'s' * (messages > 1)} of {message_bytes:,} bytes, {found.policy}: "
        f"{explanation.device}, because {explanation.because}"
    )
    yield ""
    yield from _table(found, messages)
    renew = f"sealift explain --messages {messages} --bytes {message_bytes} --calibrate"
    renew += "" if devices is None else f" --devices {shlex.quote(devices)}"
    if off := list(_disagreements(found, renew)):
        yield ""
        yield from off
    if found.cards:
        yield ""
        yield from (_would(each, found) for each in found.cards)
    if found.given:
        yield ""
        yield from _done(found)
    if found.pairs:
        yield ""
        yield f"By these costs, for batches of {messages:,}:"
        cards = [each.card.name for each in found.cards]
        cards += [each.device for each in found.devices if each.card]
        yield from (f"  {line}" for line in in_words(found.pairs, cards))
    yield ""
    yield from _sources(found)


def _table(found: Found, messages: int) -> Iterator[str]:
    rows = [("device", "predicted ns", "messages/s", "host CPU ns", "taken ns", "middle half")]
    for each in found.devices:
        taken, why = "", each.not_run or ""
        if each.taken:
            taken = format_measure(each.taken.median_ns)
            why = _middle_half(each.taken)
        if not each.asked:
            role = "" if each.role == "real" else f", its role is {each.role}"
            times = "" if each.origin == "measured" else f"; its times are {each.origin}"
            why = f"{why} (not asked{role}{times})".strip()
        rows.append(
            (
                each.device,
                format_measure(each.predicted_ns),
                format_measure(_per_s(each.predicted_ns, messages)),
                "" if each.host_ns is None else format_measure(each.host_ns),
                taken,
                why,
            )
        )
    rows += [_card_row(each, messages) for each in found.cards]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *figures, note in rows:
        right = map(str.rjust, figures, widths[1:])
        yield "  ".join([name.ljust(widths[0]), *right, note]).rstrip()


def _middle_half(taken: Taken) -> str:
    of = f"of {taken.batches:,}"
    if taken.low_ns is None or taken.high_ns is None:
        return f"({of})"
    return f"{format_range(taken.low_ns, taken.high_ns)} {of}"


def _card_row(each: Projected, messages: int) -> tuple[str, str, str, str, str, str]:
    prediction = each.prediction
    return (
        f"{each.card.name} (projected)",
        format_measure(prediction.batch_ns),
        format_measure(_per_s(prediction.batch_ns, messages)),
        format_measure(prediction.host_ns),
        "",
        f"(bound by the {prediction.bound_by})",
    )


def _would(each: Projected, found: Found) -> str:
    """Whether a card would get the batch, and by how much."""
    taken_ns, best = each.prediction.batch_ns, found.explanation
    under = "" if found.policy == USUAL else f" under {USUAL}"
    if taken_ns < best.predicted_ns:
        times = format_measure(best.predicted_ns / taken_ns)
        told = f"would get it{under} if it were here: {best.device} takes {times} times as long"
    else:
        times = format_measure(taken_ns / best.predicted_ns)
        told = f"would not get it{under} if it were here: it takes {times} times as long as"
        told += f" {best.device}"
    cipher = each.card.algorithm
    taken = "" if cipher == "aes-gcm" else f" (rate of {cipher} taken for AES-GCM)"
    return f"{each.card.name} (projected) {told}{taken}"


def _disagreements(found: Found, renew: str) -> Iterator[str]:
    """Devices whose batches took something else than predicted, and what to make of it."""
    for each in found.devices:
        if each.taken is None or not (off := each.disagrees):
            continue
        ran, predicted = format_measure(each.taken.median_ns), format_measure(each.predicted_ns)
        yield (
            f"{each.device}: {each.origin} {ran} ns, predicted {predicted} ns ({off}): "
            f"{_why_off(each.known, found.asked_at_s, renew)}"
        )


def _why_off(known: Calibrated, now_s: float, renew: str) -> str:
    if known.measured_at_s is not None:
        when = f"{_when(known.measured_at_s)}, {_ago(now_s - known.measured_at_s)}"
        return f"costs were measured {when}; renew them with `{renew}`"
    if known.source == "measured":
        return (
            "costs were measured just now, so such batches lie off the straight line, or the "
            "machine was busy; ask again"
        )
    return f"costs were not measured: {known.reason}"


def _ago(seconds: float) -> str:
    """How long ago, in the largest unit of which that is two or more."""
    for unit_s, name in AGES:
        if seconds >= 2 * unit_s:
            return f"{seconds / unit_s:,.0f} {name} ago"
    return "less than 2 minutes ago"


def _done(found: Found) -> Iterator[str]:
    total = sum(batches for _, _, batches in found.given)
    parts = [
        f"{device} {batches:,} (because {because})" for device, because, batches in found.given
    ]
    yield f"{total:,} such batches were run just now without naming a device: {', '.join(parts)}"


def _sources(found: Found) -> Iterator[str]:
    for each in found.devices:
        line = "the straight line nearest to its description, " if each.card else ""
        yield f"Cost of {each.device}: {line}{_cost(each.known, found.asked_at_s)}"
    if any(each.known.source != "known" for each in found.devices):
        where = f"kept in {found.file}" if found.file else "kept nowhere"
        yield (
            f"Costs are {where}, for this processor; --calibrate measures anew. They are straight "
            "lines through what one key and 16 to 4,096 bytes a message took."
        )
    described = {each.card.name: each.card for each in found.cards}
    described |= {each.device: each.card for each in found.devices if each.card}
    for name, card in described.items():
        yield f"Projected: {name}: {_description(card)}"


def _description(card: Card) -> str:
    taken = "" if card.algorithm == "aes-gcm" else f" Its rate is that of {card.algorithm}."
    told = f"{card.summary}; from {card.source}.{measured_of(card)}{taken}"
    return f"{told}{fitted_of(card)}{played_of(card)}"


def _cost(known: Calibrated, now_s: float) -> str:
    cost = known.cost
    batch, message, byte = map(
        format_measure, (cost.setup_ns, cost.per_message_ns, cost.per_byte_ns)
    )
    if known.measured_at_s is not None:
        ago = _ago(now_s - known.measured_at_s)
        source = f"from the cache, measured {_when(known.measured_at_s)}, {ago}"
    elif known.source == "measured":
        source = "measured just now"
    else:
        source = f"not measured: {known.reason}"
    return f"{batch} ns, {message} ns a message, {byte} ns a byte; {source}"


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _per_s(batch_ns: float, messages: int) -> float:
    return messages * 1e9 / batch_ns if batch_ns else 0.0


AGES = ((86_400, "days"), (3_600, "hours"), (60, "minutes"))
# The policy that asks everyone and takes who is done first.
USUAL = "earliest-finish"
