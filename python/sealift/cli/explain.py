"""`sealift explain`: which device would get a batch, and why."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from sealift import policies
from sealift.cli import asked
from sealift.cli.said import fail, in_sentences, read, told
from sealift.exit_code import ExitCode

if TYPE_CHECKING:
    from sealift import Calibrated, Engine
    from sealift.cli.explaining import Asked, Found

# \b keeps the lines as they are.
EXAMPLES = (
    """\b
Columns of the table:
  predicted ns  what one batch is predicted to take, from costs that were measured
  messages/s    what that makes
  host CPU ns   time of this machine's processors in it
  taken ns      what such batches took then: the median and the middle half;
                `sealift advise` compares devices with care, this does not

\b
Policies for --policy, with settings as in size-split:bytes=4096:
"""
    + "".join(f"  {policy.name:<17}{policy.summary}\n" for policy in policies())
    + """
\b
Examples:
  sealift explain --messages 1024 --bytes 128
  sealift explain --messages 1 --bytes 65536 --policy size-split
  sealift explain --messages 64 --bytes 1500 --devices cpu:isa=aesni,library --json
  sealift explain --messages 1024 --bytes 128 --calibrate
"""
)


def explain(
    messages: Annotated[
        int, typer.Option(help="Messages in the batch.", min=1, max=2**32 - 1, metavar="N")
    ],
    message_bytes: Annotated[
        int,
        typer.Option("--bytes", help="Bytes of each message.", min=0, max=2**36 - 32, metavar="B"),
    ],
    devices: Annotated[
        str | None,
        typer.Option(
            help="The devices to choose among; `sealift devices` lists them. Batches that name "
            "none go to real ones only. [default: every real one]",
            metavar="LIST",
        ),
    ] = None,
    policy: Annotated[
        str, typer.Option(help="How to choose; the policies stand below.", metavar="POLICY")
    ] = "earliest-finish",
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate",
            help="Measure what batches cost anew, and keep that in the cache in the place of what "
            "was measured before.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of the table.")] = False,
) -> None:
    """Show which device would get a batch, what each was predicted to take, and why this one.

    Costs are a set-up, so much a message and so much a byte. They are measured when they are first
    needed, in a few hundredths of a second, and kept in the user's cache folder. Then some such
    batches are worked for real, which takes half a second, and what they took stands beside.
    """
    from sealift.cli.explaining import find

    with in_sentences():
        engine = _engine(devices, policy)
        why_not = _why_not(messages, message_bytes)
        found = find(engine, messages, message_bytes, anew=calibrate, why_not=why_not)
    told(*found.remarks)
    if as_json:
        typer.echo(json.dumps(_document(found, messages, message_bytes), indent=2))
    else:
        typer.echo("\n".join(_lines(found, messages, message_bytes)))


def _engine(devices: str | None, policy: str) -> "Engine":
    from sealift import Engine, drivers
    from sealift.lab.devices import absences

    if devices is None:
        names = tuple(driver.name for driver in drivers() if driver.role == "real")
    else:
        names = read("--devices", asked.devices, devices)
    absent = read("--devices", absences, names)
    told(*absent.values())
    left = [name for name in names if name not in absent]
    if not left:
        fail(ExitCode.NOTHING_RAN, "no device is left to ask; `sealift devices` shows them all")
    engine = read("--policy", lambda policy: Engine(left, policy=policy), policy)
    if all(device.role != "real" for device in engine.devices):
        fail(
            ExitCode.USAGE,
            f"--devices: a batch that names no device goes to a real one, and there is none in "
            f"{','.join(left)}; `sealift devices` shows the roles",
        )
    return engine


def _why_not(messages: int, message_bytes: int) -> str | None:
    """Why no such batch can be worked here."""
    from sealift.cli.explaining import batch_bytes
    from sealift.lab.memory import check_memory
    from sealift.lab.spec import Skip

    try:
        check_memory(batch_bytes(messages, message_bytes))
    except Skip as skip:
        return str(skip)
    return None


def _document(found: "Found", messages: int, message_bytes: int) -> dict[str, object]:
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
        "break_even": [asdict(pair) for pair in found.pairs],
        "given": [
            {"device": device, "because": because, "batches": batches}
            for device, because, batches in found.given
        ],
        "cache": {"file": found.file, "remarks": list(found.remarks)},
    }


def _entry(each: "Asked", messages: int) -> dict[str, object]:
    known = each.known
    cost = known.cost
    return {
        "device": each.device,
        "role": each.role,
        "asked": each.asked,
        "predicted_ns": each.predicted_ns,
        "predicted_messages_per_s": _per_s(each.predicted_ns, messages),
        "host_ns": each.host_ns,
        "taken": asdict(each.taken) if each.taken else None,
        "not_run": each.not_run,
        "cost": {
            "setup_ns": cost.setup_ns,
            "per_message_ns": cost.per_message_ns,
            "per_byte_ns": cost.per_byte_ns,
            "source": known.source,
            "measured_at": None if known.measured_at_s is None else _when(known.measured_at_s),
            "reason": known.reason,
        },
    }


def _lines(found: "Found", messages: int, message_bytes: int) -> Iterator[str]:
    from sealift.lab.pairs import in_words

    explanation = found.explanation
    yield (
        f"{messages:,} message{'s' * (messages > 1)} of {message_bytes:,} bytes, {found.policy}: "
        f"{explanation.device}, because {explanation.because}"
    )
    yield ""
    yield from _table(found.devices, messages)
    if found.given:
        yield ""
        yield from _done(found)
    if found.pairs:
        yield ""
        yield f"By these costs, for batches of {messages:,}:"
        yield from (f"  {in_words(pair)}" for pair in found.pairs)
    yield ""
    yield from _sources(found)


def _table(devices: "tuple[Asked, ...]", messages: int) -> Iterator[str]:
    from sealift.lab.units import format_measure, format_range

    rows = [("device", "predicted ns", "messages/s", "host CPU ns", "taken ns", "middle half")]
    for each in devices:
        taken, why = "", each.not_run or ""
        if each.taken:
            taken = format_measure(each.taken.median_ns)
            why = format_range(each.taken.low_ns, each.taken.high_ns)
        if not each.asked:
            role = "" if each.role == "real" else f", its role is {each.role}"
            why = f"{why} (not asked{role})".strip()
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
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *figures, note in rows:
        right = map(str.rjust, figures, widths[1:])
        yield "  ".join([name.ljust(widths[0]), *right, note]).rstrip()


def _done(found: "Found") -> Iterator[str]:
    total = sum(batches for _, _, batches in found.given)
    parts = [
        f"{device} {batches:,} (because {because})" for device, because, batches in found.given
    ]
    yield f"Of {total:,} such batches that named no device: {', '.join(parts)}"


def _sources(found: "Found") -> Iterator[str]:
    for each in found.devices:
        yield f"Cost of {each.device}: {_cost(each.known)}"
    if any(each.known.source != "known" for each in found.devices):
        where = f"kept in {found.file}" if found.file else "kept nowhere"
        yield (
            f"Costs are {where}; --calibrate measures anew. They are straight lines through what "
            "one key and 16 to 4,096 bytes a message took."
        )


def _cost(known: "Calibrated") -> str:
    from sealift.lab.units import format_measure

    cost = known.cost
    batch, message, byte = map(
        format_measure, (cost.setup_ns, cost.per_message_ns, cost.per_byte_ns)
    )
    if known.measured_at_s is not None:
        source = f"from the cache, measured {_when(known.measured_at_s)}"
    elif known.source == "measured":
        source = "measured just now"
    else:
        source = f"not measured: {known.reason}"
    return f"{batch} ns, {message} ns a message, {byte} ns a byte; {source}"


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _per_s(batch_ns: float, messages: int) -> float:
    return messages * 1e9 / batch_ns if batch_ns else 0.0
