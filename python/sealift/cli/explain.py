"""`sealift explain`: which device would get a batch, and why; and what such batches take."""

import json
import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from statistics import median, quantiles
from time import perf_counter
from typing import Annotated

from sealift import BatchResult, Calibrated, Engine, SealiftError, policies
from sealift.cli import lab
from sealift.cli.devices import split_specs
from sealift.cli.lab import Document
from sealift.cli.output import (
    Help,
    columns,
    echo,
    eprint,
    fail,
    format_measure,
    parsed,
)
from sealift.exit_code import ExitCode
from sealift.quantities import parse_count

Seal = Callable[[str], float]
"""Seals a batch on a device; returns nanoseconds."""

HELP = Help("sealift.cli")
POLICIES = "\n".join(f"  {policy.name:<17}{policy.summary}" for policy in policies())
EXAMPLES = HELP.lines("explain").format(policies=POLICIES)
MESSAGES = partial(parse_count, least=1, most=2**32 - 1, noun="number of messages")
BYTES = partial(parse_count, least=0, most=2**36 - 32, noun="number of bytes")
_option = partial(HELP.option, "explain")


def explain(
    messages: Annotated[int, _option("--messages", "N", MESSAGES)],
    message_bytes: Annotated[int, _option("--bytes", "B", BYTES)],
    cards: Annotated[list[str] | None, _option("--device", "CARD")] = None,
    devices: Annotated[str | None, _option("--devices", "LIST")] = None,
    policy: Annotated[str, _option("--policy", "POLICY")] = "earliest-finish",
    calibrate: Annotated[bool, _option("--calibrate")] = False,
    as_json: Annotated[bool, HELP.option("sealift", "--json")] = False,
) -> None:
    """Show which device would get a batch, each one's predicted time, and why this one wins.

    Predicted time = cost per batch + cost per message + cost per byte. Costs are measured when they
    are first needed, in a few hundredths of a second, and cached in the user's cache folder. Then
    such batches are run for half a second, and their measured time stands beside.
    """
    projections = parsed("--device", lab.parse_cards, cards or ())
    engine = _open_engine(devices, policy)
    found = _explain(engine, messages, message_bytes, recalibrate=calibrate)
    found["cards"] = [project(found) for project in projections]
    eprint(*found["cache"]["remarks"])
    echo(json.dumps(found, indent=2) if as_json else "\n".join(_lines(found, devices)))


def _open_engine(devices: str | None, policy: str) -> Engine:
    """An engine over the devices that are present; ends the program where none is real."""
    extension = lab.extension()
    specs: Sequence[str] = [each.name for each in extension.drivers() if each.role == "real"]
    if devices is not None:
        specs = parsed("--devices", partial(split_specs, extension), devices)
    present = lab.present_devices(specs)
    engine: Engine = parsed("--policy", lambda text: extension.Engine(present, policy=text), policy)
    if all(device.role != "real" for device in engine.devices):
        fail(
            ExitCode.USAGE,
            f"--devices: a batch that names no device goes to a real one, and there is none in "
            f"{','.join(present)}; `sealift devices` shows the roles",
        )
    return engine


def _explain(engine: Engine, messages: int, message_bytes: int, *, recalibrate: bool) -> Document:
    """Calibrates, predicts, and runs such batches."""
    calibration = engine.calibrate(anew=recalibrate)
    chosen = engine.explain(messages, message_bytes)
    quotes = {quote.device: quote for quote in chosen.quotes}
    costs = {name: each.cost for name, each in calibration.devices.items()}
    # Those that are not asked have no quote.
    predicted_ns = {
        name: quotes[name].predicted_ns
        if name in quotes
        else cost.setup_ns + messages * (cost.per_message_ns + cost.per_byte_ns * message_bytes)
        for name, cost in costs.items()
    }
    taken, not_run = _run_batches(engine, messages, message_bytes, predicted_ns)
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
        "schema": "sealift-explanation/2",
        "messages": messages,
        "message_bytes": message_bytes,
        "policy": engine.policy,
        "device": chosen.device,
        "because": chosen.because,
        "predicted_ns": chosen.predicted_ns,
        "devices": devices,
        "cards": [],
        "cache": {
            "file": None if calibration.file is None else str(calibration.file),
            "remarks": calibration.remarks,
        },
    }


def _cost(known: Calibrated) -> Document:
    at_s = known.measured_at_s
    return {
        "setup_ns": known.cost.setup_ns,
        "per_message_ns": known.cost.per_message_ns,
        "per_byte_ns": known.cost.per_byte_ns,
        "source": known.source,
        "measured_at": at_s and datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "reason": known.reason,
    }


def _run_batches(
    engine: Engine, messages: int, message_bytes: int, predicted_ns: Mapping[str, float]
) -> tuple[dict[str, Document], dict[str, str]]:
    """Runs batches on each device by turns: times by device, and why a device has none."""
    not_run = {
        name: f"one would take {ns / 1e9:,.1f} s"
        for name, ns in predicted_ns.items()
        if ns > BATCH_NS_MAX
    }
    size = messages * (2 * message_bytes + BYTES_BESIDE_TEXT)
    if size > BATCH_BYTES_MAX:
        text = f"its data need {size / 1e9:,.1f} GB, and only batches up to 1 GB are run"
        not_run = dict.fromkeys(predicted_ns, text)
    samples: dict[str, list[float]] = {name: [] for name in predicted_ns if name not in not_run}
    if not samples:
        return {}, not_run
    seal_ns = _sealing(engine, messages, message_bytes)
    end = perf_counter() + BATCHES_S
    while samples and (perf_counter() < end or not all(samples.values())):
        for name in list(samples):
            try:
                samples[name].append(seal_ns(name))
            except SealiftError as error:
                not_run[name] = str(error)
                del samples[name]
    # The first batch finds cold caches.
    return {name: times_of(ns[1:] or ns) for name, ns in samples.items()}, not_run


def times_of(ns: list[float]) -> Document:
    """The median of samples in nanoseconds, and the quartiles of four or more."""
    low, high = None, None
    if len(ns) >= 4:
        low, _, high = quantiles(ns, n=4, method="inclusive")
    return {"batches": len(ns), "median_ns": median(ns), "low_ns": low, "high_ns": high}


def _sealing(engine: Engine, messages: int, message_bytes: int) -> Seal:
    """Seals messages of zeros under a random key, again and again into one place."""
    column, stride = lab.extension().Fixed, max(message_bytes, 1)
    nonces = column(os.urandom(12 * messages), 12)
    texts = column(bytes(messages * stride), message_bytes, stride=stride)
    out = column(bytearray(messages * stride), message_bytes, stride=stride)
    tags = column(bytearray(16 * messages), 16)
    session = engine.session(os.urandom(16))

    def seal(device: str) -> float:
        done: BatchResult = engine.seal_batch(
            session, nonces, texts, out=out, tags=tags, device=device
        )
        return done.seconds * 1e9

    return seal


def _lines(found: Document, devices: str | None) -> Iterator[str]:
    """A document for people; `devices` is the option's text, for a command that is proposed."""
    messages, size, cards = found["messages"], found["message_bytes"], found["cards"]
    yield (
        f"{messages:,} message{'s' * (messages > 1)} of {size:,} bytes, {found['policy']}: "
        f"{found['device']}, because {found['because']}\n"
    )
    yield columns([TITLES, *map(_row, found["devices"]), *map(_card_row, cards)], right=4) + "\n"
    renew = f"sealift explain --messages {messages} --bytes {size} --calibrate"
    renew += "" if devices is None else f" --devices {shlex.quote(devices)}"
    remarks = [_deviation(each, renew) for each in found["devices"] if each["disagrees"]]
    remarks += [_card_remark(card, found) for card in cards]
    if remarks:
        yield "\n".join(remarks) + "\n"
    for each in found["devices"]:
        figures = (each["cost"][name] for name in ("setup_ns", "per_message_ns", "per_byte_ns"))
        cost = "{} ns, {} ns a message, {} ns a byte".format(*map(format_measure, figures))
        yield f"Cost of {each['device']}: {cost}; {_source(each['cost'])}"
    where = f"cached in {file}" if (file := found["cache"]["file"]) else "not cached"
    yield (
        f"Measured costs are {where}, for this processor; --calibrate measures anew. They are "
        "straight lines through measurements with one key and 16 to 4,096 bytes a message."
    )
    yield from (f"Projected: {card['device']}: {card['notes']}" for card in cards)


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


def _card_row(card: Document) -> tuple[str, ...]:
    names = ("predicted_ns", "predicted_messages_per_s", "host_ns")
    figures = (format_measure(card[name]) for name in names)
    return (f"{card['device']} (projected)", *figures, "", f"(bound by the {card['bound_by']})")


def _card_remark(card: Document, found: Document) -> str:
    """Whether a card would get the batch, and by how much."""
    ratio, device = card["times_as_long"], found["device"]
    would, times = "would not", f"it takes {format_measure(ratio)} times as long as {device}"
    if ratio < 1:
        would, times = "would", f"{device} takes {format_measure(1 / ratio)} times as long"
    # The default policy: the device that is predicted to finish first gets the batch.
    under = "" if found["policy"] == DEFAULT_POLICY else f" under {DEFAULT_POLICY}"
    return f"{card['device']} (projected) {would} get it{under} if it were here: {times}"


def _deviation(each: Document, renew: str) -> str:
    """How far the measured time is from the predicted one, and what to do about it."""
    ratio, cost = each["taken_over_predicted"], each["cost"]
    times = f"{ratio:.2f} times as long" if ratio > 1 else f"{1 / ratio:.2f} times as fast"
    taken, predicted = map(format_measure, (each["taken"]["median_ns"], each["predicted_ns"]))
    advice = {
        "cache": f"; renew them with `{renew}`",
        "measured": "; batches of a busy machine vary: run this again",
    }.get(cost["source"], "")
    figures = f"{each['origin']} {taken} ns, predicted {predicted} ns ({times})"
    return f"{each['device']}: {figures}: its costs are {_source(cost)}{advice}"


def _source(cost: Document) -> str:
    if cost["measured_at"] is not None:
        return f"from the cache, measured {cost['measured_at']}"
    is_new = cost["source"] == "measured"
    return "measured just now" if is_new else f"not measured: {cost['reason']}"


DEFAULT_POLICY = "earliest-finish"
TITLES = ("device", "predicted ns", "messages/s", "host CPU ns", "taken ns", "middle half")
# From second to second batches differ by some percent, on busy machines by more.
RATIO_MAX = 1.3
# `sealift advise` measures with care.
BATCHES_S = 0.4
BATCH_NS_MAX, BATCH_BYTES_MAX = 5e8, 10**9
# A nonce, a tag, and two statuses.
BYTES_BESIDE_TEXT = 30
