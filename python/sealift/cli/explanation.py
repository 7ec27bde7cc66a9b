"""Explains a batch: what an engine predicts, and what such batches take; as JSON and as text."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import combinations

from sealift import Calibrated, Cost, Engine
from sealift.cli import trial
from sealift.cli.lab import Projection
from sealift.cli.output import format_measure, table_text
from sealift.cli.trial import Document


def document(
    engine: Engine,
    messages: int,
    message_bytes: int,
    *,
    recalibrate: bool,
    cards: Sequence[Projection] = (),
) -> Document:
    """Calibrates, predicts, and runs such batches.

    Args:
        engine: Its devices are open.
        messages: Messages in the batch.
        message_bytes: Bytes of each.
        recalibrate: Whether to measure costs that are cached, too.
        cards: Devices that are not here; no batch is run on them.

    Raises:
        SealiftError: If no device would get such a batch.
    """
    calibration = engine.calibrate(anew=recalibrate)
    chosen = engine.explain(messages, message_bytes)
    quotes = {quote.device: quote for quote in chosen.quotes}
    costs = {name: each.cost for name, each in calibration.devices.items()}
    predicted_ns = {name: _line_ns(cost, messages, message_bytes) for name, cost in costs.items()}
    predicted_ns |= {name: quote.predicted_ns for name, quote in quotes.items()}
    taken, not_run, given = trial.run(engine, messages, message_bytes, predicted_ns, quotes)
    devices = []
    for device in engine.devices:
        name = device.name
        quote, batch_ns = quotes.get(name), predicted_ns[name]
        ratio = taken[name]["median_ns"] / batch_ns if name in taken and batch_ns else None
        devices.append(
            {
                "device": name,
                "role": device.role,
                "origin": device.origin,
                "asked": quote is not None,
                "predicted_ns": batch_ns,
                "predicted_messages_per_s": messages * 1e9 / batch_ns if batch_ns else 0.0,
                "host_ns": quote.host_ns if quote else None,
                "taken": taken.get(name),
                "not_run": not_run.get(name),
                "taken_over_predicted": ratio,
                "disagrees": ratio is not None and not 1 / RATIO_MAX <= ratio <= RATIO_MAX,
                "cost": _cost(calibration.devices[name]),
            }
        )
    return {
        "schema": "sealift-explanation/1",
        "messages": messages,
        "message_bytes": message_bytes,
        "policy": engine.policy,
        "device": chosen.device,
        "because": chosen.because,
        "predicted_ns": chosen.predicted_ns,
        "devices": devices,
        "cards": [card.entry(messages, message_bytes, chosen.predicted_ns) for card in cards],
        "break_even": break_even(costs, messages),
        "given": given,
        "cache": {
            "file": None if calibration.file is None else str(calibration.file),
            "remarks": calibration.remarks,
        },
    }


def break_even(costs: Mapping[str, Cost], messages: int) -> list[Document]:
    """Which of two devices is faster: at every size that costs are measured at, or from which."""
    pairs = []
    for one, other in combinations(costs, 2):
        is_faster, size = costs[one].break_even(costs[other], messages)
        if size is not None and not SIZES[0] < size < SIZES[1]:
            is_always = (is_faster == "from") == (size <= SIZES[0])
            is_faster, size = "always" if is_always else "never", None
        both = [[_line_ns(costs[name], messages, each) for name in (one, other)] for each in SIZES]
        is_close = all(abs(mine - theirs) < NOISE * min(mine, theirs) for mine, theirs in both)
        pairs.append(
            {
                "device": one,
                "other": other,
                "is_faster": "untold" if is_close else is_faster,
                "least_bytes": SIZES[0],
                "most_bytes": SIZES[1],
                "origin": "fitted",
                "message_bytes": None if is_close else size,
                # Straight lines cross once.
                "message_bytes_most": None,
            }
        )
    return pairs


def lines(found: Document, cards: Sequence[Projection], devices: str | None) -> Iterator[str]:
    """A document for people.

    Args:
        found: The document.
        cards: The cards in it.
        devices: The value of --devices, for a command that is proposed; None for every real one.
    """
    messages, size = found["messages"], found["message_bytes"]
    yield (
        f"{messages:,} message{'s' * (messages > 1)} of {size:,} bytes, {found['policy']}: "
        f"{found['device']}, because {found['because']}"
    )
    projected = list(zip(cards, found["cards"], strict=True))
    rows = [_row(each) for each in found["devices"]]
    rows += [card.row(entry) for card, entry in projected]
    yield f"\n{table_text(TITLES, rows, right=4)}"
    renew = f"sealift explain --messages {messages} --bytes {size} --calibrate"
    renew += "" if devices is None else f" --devices {shlex.quote(devices)}"
    remarks = [_deviation(each, renew) for each in found["devices"] if each["disagrees"]]
    remarks += [card.remark(entry, found["device"], found["policy"]) for card, entry in projected]
    if found["given"]:
        parts = [
            "{device} {batches:,} (because {because})".format(**each) for each in found["given"]
        ]
        total = sum(each["batches"] for each in found["given"])
        run = f"{total:,} such batches were run just now without naming a device"
        remarks.append(f"{run}: {', '.join(parts)}")
    if remarks:
        yield ""
        yield from remarks
    if pairs := found["break_even"]:
        yield f"\nBy these costs, for batches of {messages:,}:"
        yield from (f"  {_comparison(pair)}" for pair in pairs)
    yield ""
    for each in found["devices"]:
        figures = (each["cost"][name] for name in ("setup_ns", "per_message_ns", "per_byte_ns"))
        batch, message, byte = map(format_measure, figures)
        cost = f"{batch} ns, {message} ns a message, {byte} ns a byte"
        yield f"Cost of {each['device']}: {cost}; {_source(each['cost'])}"
    where = f"cached in {file}" if (file := found["cache"]["file"]) else "not cached"
    yield (
        f"Measured costs are {where}, for this processor; --calibrate measures anew. They are "
        "straight lines through measurements with one key and 16 to 4,096 bytes a message."
    )
    yield from (card.sources() for card in cards)


def _row(each: Document) -> tuple[str, ...]:
    median, note = "", each["not_run"] or ""
    if times := each["taken"]:
        median, note = format_measure(times["median_ns"]), f"(of {times['batches']:,})"
        if times["low_ns"] is not None:
            low, high = format_measure(times["low_ns"]), format_measure(times["high_ns"])
            note = f"[{low}..{high}] of {times['batches']:,}"
    if not each["asked"]:
        role = "" if each["role"] == "real" else f", its role is {each['role']}"
        origin = "" if each["origin"] == "measured" else f"; its times are {each['origin']}"
        note = f"{note} (not asked{role}{origin})".strip()
    figures = map(format_measure, (each["predicted_ns"], each["predicted_messages_per_s"]))
    host_ns = "" if each["host_ns"] is None else format_measure(each["host_ns"])
    return (each["device"], *figures, host_ns, median, note)


def _deviation(each: Document, renew: str) -> str:
    """How far the measured time is from the predicted one, and what to do about it."""
    ratio = each["taken_over_predicted"]
    times = f"{ratio:.2f} times as long" if ratio > 1 else f"{1 / ratio:.2f} times as fast"
    median, predicted = map(format_measure, (each["taken"]["median_ns"], each["predicted_ns"]))
    return (
        f"{each['device']}: {each['origin']} {median} ns, predicted {predicted} ns ({times}): "
        f"its costs are {_source(each['cost'])}; renew them with `{renew}`"
    )


def _source(cost: Document) -> str:
    if cost["measured_at"] is not None:
        return f"from the cache, measured {cost['measured_at']}"
    return (
        "measured just now" if cost["source"] == "measured" else f"not measured: {cost['reason']}"
    )


def _cost(known: Calibrated) -> Document:
    at_s = known.measured_at_s
    date = None if at_s is None else datetime.fromtimestamp(at_s, UTC).strftime(DATE)
    return {
        "setup_ns": known.cost.setup_ns,
        "per_message_ns": known.cost.per_message_ns,
        "per_byte_ns": known.cost.per_byte_ns,
        "source": known.source,
        "measured_at": date,
        "reason": known.reason,
    }


def _comparison(pair: Document) -> str:
    one, other, is_faster = pair["device"], pair["other"], pair["is_faster"]
    every = f"from {pair['least_bytes']} to {pair['most_bytes']:,} bytes"
    if is_faster == "untold":
        return f"{every} a message {one} and {other} are not told apart"
    first, then = (other, one) if is_faster in ("never", "from") else (one, other)
    if pair["message_bytes"] is None:
        return f"{first} is at least as fast as {then} {every}"
    size = f"{float(format(pair['message_bytes'], '.2g')):,.0f}"
    return (
        f"from {pair['least_bytes']} to about {size} bytes a message {first} is faster than {then},"
        f" from there to {pair['most_bytes']:,} {then}"
    )


def _line_ns(cost: Cost, messages: int, size: int) -> float:
    return cost.setup_ns + messages * (cost.per_message_ns + cost.per_byte_ns * size)


TITLES = ("device", "predicted ns", "messages/s", "host CPU ns", "taken ns", "middle half")
DATE = "%Y-%m-%d %H:%M UTC"
# From second to second batches differ by some percent, on busy machines by more.
RATIO_MAX = 1.3
# Message sizes, in bytes, that engines measure costs at.
SIZES = (16, 4_096)
# As a share: batches that were timed once tell no smaller differences.
NOISE = 0.02
