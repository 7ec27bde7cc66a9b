"""`sealift explain`: which device would get a batch, and why."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from sealift import policies
from sealift.cli import asked
from sealift.cli.options import count, given
from sealift.cli.said import fail, in_sentences, read, told
from sealift.exit_code import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sealift import Engine

# \b keeps the lines as they are.
EXAMPLES = (
    """\b
Columns of the table:
  predicted ns  what one batch is predicted to take, from costs that were measured
  messages/s    what that makes
  host CPU ns   time of this machine's processors in it
  taken ns      what such batches took then: the median, the middle half of how many;
                `sealift advise` compares devices with care, this does not
  Where that is more than 1.3 times off what was predicted, a line below says so,
  when the costs were measured, and how to renew them.
  A card that is named with --device is projected: reckoned, never run. As one of --devices,
  cards:NAME, it works batches, which take what is reckoned.

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
        int,
        typer.Option(
            help="Messages in the batch, as in 1024 or 40k.",
            parser=given("--messages", count(1, 2**32 - 1, "number of messages")),
            metavar="N",
        ),
    ],
    message_bytes: Annotated[
        int,
        typer.Option(
            "--bytes",
            help="Bytes of each message, as in 128, 1k (1,000) or 4KiB (4,096).",
            parser=given("--bytes", count(0, 2**36 - 32, "number of bytes")),
            metavar="B",
        ),
    ],
    cards: Annotated[
        list[str] | None,
        typer.Option(
            "--device",
            help="A card that you don't own, described in a card.toml, or the name of one that "
            "comes with Sealift: what it is reckoned to take, and whether it would get the batch "
            "if it were here. May be repeated.",
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
    from sealift.cli import explained
    from sealift.cli.explaining import find

    described = read("--device", asked.cards_of, cards or ())
    with in_sentences():
        engine = _engine(devices, policy)
        why_not = _why_not(messages, message_bytes)
        found = find(
            engine, messages, message_bytes, anew=calibrate, why_not=why_not, cards=described
        )
    told(*found.remarks)
    if as_json:
        typer.echo(json.dumps(explained.document(found, messages, message_bytes), indent=2))
    else:
        typer.echo("\n".join(explained.lines(found, messages, message_bytes, devices)))


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
            f"{','.join(left)}; `sealift devices` shows the roles{_about_cards(left)}",
        )
    return engine


def _about_cards(names: "Sequence[str]") -> str:
    """How cards are asked about that are asked for as devices; "" where none is."""
    cards = [name.removeprefix("cards:") for name in names if name.startswith("cards:")]
    asked = " ".join(f"--device {card.partition(',')[0]}" for card in cards)
    return f"; what cards would take: {asked}" if cards else ""


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
