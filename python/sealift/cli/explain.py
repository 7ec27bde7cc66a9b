"""`sealift explain`: which device would get a batch, and why."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Annotated

from sealift import Calibrated, Engine, policies
from sealift.cli import lab
from sealift.cli.devices import split_specs
from sealift.cli.lab import Document
from sealift.cli.output import Help, columns, echo, eprint, fail, format_measure, parsed
from sealift.exit_code import ExitCode
from sealift.quantities import parse_count

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
    are first needed, in a few hundredths of a second, and cached in the user's cache folder.
    """
    projections = parsed("--device", lab.parse_cards, cards or ())
    engine = _open_engine(devices, policy)
    found = _explain(engine, messages, message_bytes, recalibrate=calibrate)
    found["cards"] = [project(found) for project in projections]
    eprint(*found["cache"]["remarks"])
    echo(json.dumps(found, indent=2) if as_json else "\n".join(_lines(found)))


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
    """Calibrates, and predicts."""
    calibration = engine.calibrate(anew=recalibrate)
    chosen = engine.explain(messages, message_bytes)
    quotes = {quote.device: quote for quote in chosen.quotes}
    devices = []
    for device in engine.devices:
        quote, known = quotes.get(device.name), calibration.devices[device.name]
        # A device that is not asked has no quote.
        each_ns = known.cost.per_message_ns + known.cost.per_byte_ns * message_bytes
        batch_ns = quote.predicted_ns if quote else known.cost.setup_ns + messages * each_ns
        devices.append(
            {
                "device": device.name,
                "role": device.role,
                "origin": device.origin,
                "asked": quote is not None,
                "predicted_ns": batch_ns,
                "predicted_messages_per_s": messages * 1e9 / batch_ns if batch_ns else 0.0,
                "host_ns": quote.host_ns if quote else None,
                "cost": _cost(known),
            }
        )
    return {
        "schema": "sealift-explanation/3",
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


def _lines(found: Document) -> Iterator[str]:
    """A document for people."""
    messages, size, cards = found["messages"], found["message_bytes"], found["cards"]
    yield (
        f"{messages:,} message{'s' * (messages > 1)} of {size:,} bytes, {found['policy']}: "
        f"{found['device']}, because {found['because']}\n"
    )
    rows = (*map(_row, found["devices"]), *map(_card_row, cards))
    yield columns([TITLES, *rows], right=3) + "\n"
    if cards:
        yield "\n".join(_card_remark(card, found) for card in cards) + "\n"
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
    note = ""
    if not each["asked"]:
        role = "" if each["role"] == "real" else f", its role is {each['role']}"
        origin = "" if each["origin"] == "measured" else f"; its times are {each['origin']}"
        note = f"(not asked{role}{origin})"
    figures = map(format_measure, (each["predicted_ns"], each["predicted_messages_per_s"]))
    host_ns = "" if each["host_ns"] is None else format_measure(each["host_ns"])
    return (each["device"], *figures, host_ns, note)


def _card_row(card: Document) -> tuple[str, ...]:
    names = ("predicted_ns", "predicted_messages_per_s", "host_ns")
    figures = (format_measure(card[name]) for name in names)
    return (f"{card['device']} (projected)", *figures, f"(bound by the {card['bound_by']})")


def _card_remark(card: Document, found: Document) -> str:
    """Whether a card would get the batch, and by how much."""
    ratio, device = card["times_as_long"], found["device"]
    would, times = "would not", f"it takes {format_measure(ratio)} times as long as {device}"
    if ratio < 1:
        would, times = "would", f"{device} takes {format_measure(1 / ratio)} times as long"
    # The default policy: the device that is predicted to finish first gets the batch.
    under = "" if found["policy"] == DEFAULT_POLICY else f" under {DEFAULT_POLICY}"
    return f"{card['device']} (projected) {would} get it{under} if it were here: {times}"


def _source(cost: Document) -> str:
    if cost["measured_at"] is not None:
        return f"from the cache, measured {cost['measured_at']}"
    is_new = cost["source"] == "measured"
    return "measured just now" if is_new else f"not measured: {cost['reason']}"


DEFAULT_POLICY = "earliest-finish"
TITLES = ("device", "predicted ns", "messages/s", "host CPU ns", "")
