"""Devices and cards that a command line names, and cards as `sealift explain` shows them."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from sealift.cli import lab
from sealift.cli.devices import GPU_DEVICES, split_specs
from sealift.cli.output import fail, format_measure
from sealift.exit_code import ExitCode
from sealift.gpu_names import names_gpu
from sealift_lab import _lab
from sealift_lab._lab import Card
from sealift_lab.cli import parse
from sealift_lab.machine.facts import describe, usable_cores
from sealift_lab.machine.sensors import real_devices

parse_devices = partial(split_specs, _lab)


def present_devices(specs: Sequence[str] | None) -> tuple[str, ...]:
    """The devices that are present, by default every real one; prints which are not."""
    left = lab.present_devices(specs or real_devices())
    if all(_lab.Engine([spec]).devices[0].role == "test only" for spec in left):
        fail(
            ExitCode.USAGE,
            f"--devices: no advice is to run on what is for tests only, and {','.join(left)} is; "
            "leave --devices out for every real one, `sealift devices` shows the roles",
        )
    return tuple(left)


def check_threads(counts: Iterable[int], *, per_core: int) -> None:
    """Ends the program where threads are beyond what this machine can show, `per_core` of them."""
    cores = usable_cores(describe())
    if (largest := max(counts)) > per_core * cores:
        number = f"{cores} cores" if cores > 1 else "one core"
        right = f"write {per_core * cores} at most"
        fail(ExitCode.USAGE, f"--threads {largest}: this machine has {number}; {right}")


def parse_cards(texts: Sequence[str]) -> tuple[Card, ...]:
    """Cards by their names, or by the files that describe them; no two have one name."""
    found = [_card(text) for text in dict.fromkeys(texts)]
    names = [each.name for each in found]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"two cards are called {min(twice)!r}; rename one in its file")
    if taken := {*names} & {driver.name for driver in _lab.drivers()}:
        raise ValueError(f"a card is called {min(taken)!r}, as a device is; rename it in its file")
    return tuple(found)


def _card(text: str) -> Card:
    known = {each.name: each for each in _lab.cards()}
    if text in known:
        return known[text]
    if text.endswith(".toml") or "/" in text:
        if os.path.lexists(text):
            return Card.read(text)
        raise ValueError(f"there is no file {text!r}; docs/advise.md shows how a card is described")
    if text in {driver.name for driver in _lab.drivers()}:
        raise ValueError(f"{text!r} is no card but a device of this machine: --devices {text}")
    if names_gpu(text):
        raise ValueError(
            f"{text!r} is no card but a GPU. {GPU_DEVICES}. What GPUs could do at most beside this "
            "machine's cores: `sealift lab run gpu-beside-cpu`"
        )
    hint = parse.nearest(text.removeprefix("cards:"), known) or f"there are {', '.join(known)}"
    raise ValueError(f"no card is called {text!r}; {hint}; files of one's own end in .toml")


def project(card: Card, found: Mapping[str, Any]) -> dict[str, Any]:
    """A card with a batch that `sealift explain` has explained, in the words of its JSON."""
    messages = found["messages"]
    prediction = card.predict(messages, found["message_bytes"])
    return {
        "device": card.name,
        "origin": "projected",
        "predicted_ns": prediction.batch_ns,
        "predicted_messages_per_s": messages * 1e9 / prediction.batch_ns,
        "host_ns": prediction.host_ns,
        "bound_by": prediction.bound_by,
        "times_as_long": prediction.batch_ns / found["predicted_ns"],
        "notes": f"{card.summary}; from {' '.join(_notes(card))}",
    }


def _notes(card: Card) -> Iterator[str]:
    """Where a card's constants come from, and which were measured or fitted."""
    yield f"{card.source}."
    for each in card.constants:
        if each.measured:
            yield f"{each.name} is {format_measure(each.value)} {each.unit}, {each.source}."
    if card.algorithm != "aes-gcm":
        yield f"Its rate is that of {card.algorithm}, taken for AES-GCM."
    fitted = [
        f"{each.name} = {each.value:g}{each.unit and f' {each.unit}'} ({each.source})"
        for each in card.constants
        if each.fitted
    ]
    if fitted:
        yield f"Fitted: {'; '.join(fitted)}."
    if any(each.name.startswith("board.") for each in card.constants):
        yield (
            "This is its closed form; `sealift lab run 'cards-*'` simulates such boards event by "
            "event, with the bus, memory and interrupts that units share, and may give slightly "
            "different times."
        )
