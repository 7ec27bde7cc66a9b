"""Descriptions of cards that never were, for tests that know what they should take."""

from pathlib import Path

from sealift import Card


def made_card(
    folder: Path,
    *,
    name: str = "pretend",
    message_ns: float = 100.0,
    byte_ns: float = 1.0,
    way_ns: float = 0.0,
    algorithm: str = "aes-gcm",
) -> Card:
    """A card that takes so much for each message, each byte of it, and each way of a batch.

    Args:
        folder: Where its description is written.
        name: Of the card.
        message_ns: For each message.
        byte_ns: For each byte.
        way_ns: To the card and back once each, for a batch.
        algorithm: What its rate is said to be for.
    """
    file = folder / f"{name}.toml"
    file.write_text(
        f"""
name = "{name}"
summary = "a card that never was, of one unit"
source = "a test"
algorithm = "{algorithm}"
[card]
units = 1
rate_gbit_per_s = {8 / byte_ns}
setup_us = {message_ns / 1_000}
slots = 8
messages_per_request = 1
[host]
request_us = 0
copies = 0
copy_gbit_per_s = 1
[link]
gbit_per_s = 1000000
duplex = true
latency_us = {way_ns / 1_000}
""",
        encoding="utf-8",
    )
    return Card.read(file)
