"""`sealift explain`: which device would get a batch, and why."""

import json
from collections.abc import Sequence
from functools import partial
from typing import Annotated

import typer

from sealift import Engine, policies
from sealift.cli import lab
from sealift.cli.devices import absences, parse_devices
from sealift.cli.output import eprint, fail, in_sentences, parsed
from sealift.exit_code import ExitCode
from sealift.quantities import parse_count

# \b keeps the lines as they are.
EXAMPLES = (
    """\b
Columns of the table:
  predicted ns  predicted time of the batch
  messages/s    messages a second at that time
  host CPU ns   time of this machine's processors in it
  taken ns      measured time of such batches: the median, the middle half of how many;
                `sealift advise` compares devices with care, this does not
  Where that is more than 1.3 times off the prediction, a line below says so,
  when the costs were measured, and how to renew them.
  A card that is named with --device is projected: its times are computed, and no batch is run.

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
  sealift explain --messages 1024 --bytes 1500 --device card.toml
"""
)


def explain(
    messages: Annotated[
        str, typer.Option(help="Messages in the batch, as in 1024 or 40k.", metavar="N")
    ],
    message_bytes: Annotated[
        str,
        typer.Option(
            "--bytes",
            help="Bytes of each message, as in 128, 1k (1,000) or 4KiB (4,096).",
            metavar="B",
        ),
    ],
    cards: Annotated[
        list[str] | None,
        typer.Option(
            "--device",
            help="A card that you don't own, described in a card.toml, or the name of one that "
            "comes with sealift-lab: its projected time, and whether it would get the batch if it "
            "were here. May be repeated.",
            metavar="CARD",
        ),
    ] = None,
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
            "--calibrate", help="Measure costs again, and cache them in place of earlier ones."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of the table.")] = False,
) -> None:
    """Show which device would get a batch, each one's predicted time, and why this one wins.

    Predicted time = cost per batch + cost per message + cost per byte. Costs are measured when they
    are first needed, in a few hundredths of a second, and cached in the user's cache folder. Then
    such batches are run for half a second, and their measured time stands beside.
    """
    from sealift.cli import explanation

    a_count = partial(parse_count, least=1, most=2**32 - 1, noun="number of messages")
    a_size = partial(parse_count, least=0, most=2**36 - 32, noun="number of bytes")
    size = parsed("--messages", a_count, messages), parsed("--bytes", a_size, message_bytes)
    with in_sentences():
        projected = parsed("--device", lab.parse_cards, cards or ())
        engine = _open_engine(devices, policy)
        found = explanation.document(engine, *size, recalibrate=calibrate, cards=projected)
    eprint(*found["cache"]["remarks"])
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    else:
        typer.echo("\n".join(explanation.lines(found, projected, devices)))


def _open_engine(devices: str | None, policy: str) -> Engine:
    """An engine over the devices that are present; ends the program where none is real."""
    extension = lab.extension()
    names: Sequence[str] = [each.name for each in extension.drivers() if each.role == "real"]
    if devices is not None:
        names = parsed("--devices", parse_devices, devices)
    absent = parsed("--devices", absences, names)
    eprint(*absent.values())
    left = [name for name in names if name not in absent]
    if not left:
        fail(ExitCode.NOTHING_RAN, "no device is left to ask; `sealift devices` shows them all")
    engine: Engine = parsed("--policy", lambda text: extension.Engine(left, policy=text), policy)
    if all(device.role != "real" for device in engine.devices):
        fail(
            ExitCode.USAGE,
            f"--devices: a batch that names no device goes to a real one, and there is none in "
            f"{','.join(left)}; `sealift devices` shows the roles",
        )
    return engine
