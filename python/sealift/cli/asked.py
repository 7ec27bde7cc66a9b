"""Which devices are asked for on the command line."""

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sealift.cli.options import nearest
from sealift.cli.said import fail, read, told
from sealift.exit_code import ExitCode
from sealift.gpu_names import names_gpu

if TYPE_CHECKING:
    from sealift import Card


def devices(text: str) -> tuple[str, ...]:
    """Reads a list of devices that are to be measured.

    Raises:
        ValueError: Naming the part that is no device, and what there is; of an accelerator, and of
            what the lab only compares with, why it can't be asked for.
    """
    from sealift import drivers
    from sealift.lab.devices import split_specs

    known = [driver.name for driver in drivers()]
    for part in text.split(","):
        name = re.split(r"[:(]", part.strip(), maxsplit=1)[0].casefold()
        if name in known:
            continue
        if names_gpu(name):
            raise ValueError(f"no driver is called {name!r}; {GPU_DEVICES}")
        if name in ACCELERATORS:
            raise ValueError(
                f"{name!r} is an accelerator, and no driver has this name; there are "
                f"{', '.join(known)}"
            )
        if users := _comparing_with(name):
            raise ValueError(
                f"{name!r} is for the lab's comparisons only, by `sealift lab run {users[0]}`"
                f"{_or(users[1:])}; here there are {', '.join(known)}"
            )
    return split_specs(text)


def present(text: str | None) -> tuple[str, ...]:
    """The devices to measure that are here; says which are not, and ends where none is.

    Args:
        text: As asked for; None for every real one.
    """
    from sealift.lab.devices import absences, real_devices, role

    names = real_devices() if text is None else read("--devices", devices, text)
    absent = read("--devices", absences, names)
    told(*absent.values())
    left = tuple(name for name in names if name not in absent)
    if not left:
        fail(ExitCode.NOTHING_RAN, "no device is left to measure; `sealift devices` shows them all")
    if all(role(name) == "test only" for name in left):
        fail(
            ExitCode.USAGE,
            f"--devices: no advice is to run on what is for tests only, and {','.join(left)} is; "
            "leave --devices out for every real one, `sealift devices` shows the roles",
        )
    return left


def check_threads(counts: Sequence[int], *, a_core: int) -> None:
    """Ends the program where thread counts are beyond what can be told of this machine.

    Args:
        counts: From --threads.
        a_core: How many threads for each core are right.
    """
    from sealift.lab import machine

    cores = machine.describe().usable_cores
    if max(counts) > (most := a_core * cores):
        number = f"{cores} cores" if cores > 1 else "one core"
        fail(
            ExitCode.USAGE,
            f"--threads {max(counts)}: this machine has {number}; write {most} at most",
        )


def card(text: str) -> "Card":
    """Reads the description of a card: a file, or the name of one that comes with Sealift.

    Raises:
        ValueError: Naming what there is, or what in the file is wrong.
    """
    from sealift import Card, cards, drivers
    from sealift.lab.devices import absences

    known = {each.name: each for each in cards()}
    if text in known:
        return known[text]
    if text.startswith("cards:"):
        raise ValueError(f"{text!r} is a device; right would be its card: --device {text[6:]}")
    if text.endswith(".toml") or "/" in text:
        if not os.path.lexists(text):
            raise ValueError(
                f"there is no file {text!r}; cards that come with Sealift are {', '.join(known)}, "
                "and docs/advise.md shows how one is described"
            )
        return Card.read(text)
    name = re.split(r"[:(]", text, maxsplit=1)[0]
    if name in (driver.name for driver in drivers()):
        if name in GPU_DRIVERS and (why := absences([text])):
            raise ValueError(f"{text!r} is no card but a device: {why[text]}. {BESIDE_CORES}")
        raise ValueError(f"{text!r} is no card but a device of this machine: --devices {text}")
    if gpu := _of_a_gpu(text):
        raise ValueError(f"{text!r} is no card but a GPU. {gpu}")
    hint = nearest(text, known)
    raise ValueError(
        f"no card is called {text!r}{f'; {hint}' if hint else ''}; there are {', '.join(known)}, "
        "and files of one's own, which end in .toml"
    )


def _of_a_gpu(text: str) -> str:
    """What is known of a GPU that is not here, and where to look; "" of what is no GPU."""
    from sealift.lab.gpus import GPUS
    from sealift.lab.gpus.cells import MESSAGES, MESSAGES_MOST
    from sealift.lab.gpus.host import message_ns

    def plain(name: str) -> str:
        return re.sub(r"nvidia|geforce|[\W_]", "", name.casefold())

    for gpu in GPUS:
        if plain(text) in (plain(gpu.name), plain(gpu.name).removeprefix("rtx")):
            at_least_us = message_ns(gpu, MESSAGES_MOST) / 1e3
            return (
                f"Projected, a message of {MESSAGES.text_bytes} bytes takes it "
                f"{at_least_us:.2g} us at least, host to host in full batches; that is a limit, "
                f"and no advice stands on one. {BESIDE_CORES}; where there is "
                f"such a GPU, --devices cuda measures it"
            )
    return f"{GPU_DEVICES}. {BESIDE_CORES}" if names_gpu(text) else ""


def described(word: str) -> "Card":
    """The card that a device of the driver for cards is made of: that of a name, or of a file."""
    from sealift import Card, cards

    known = {each.name: each for each in cards()}
    return known[word] if word in known else Card.read(word)


def cards_of(texts: Sequence[str]) -> "tuple[Card, ...]":
    """Reads several.

    Raises:
        ValueError: As `card`, or if two have one name, or one has that of a device of this machine.
    """
    from sealift import drivers

    found = {text: card(text) for text in dict.fromkeys(texts)}
    names = [each.name for each in found.values()]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"two cards are called {min(twice)!r}; rename one in its file")
    if taken := set(names) & {driver.name for driver in drivers()}:
        raise ValueError(f"a card is called {min(taken)!r}, as a device is; rename it in its file")
    return tuple(found.values())


def _comparing_with(name: str) -> list[str]:
    """The experiments that have an arm of this name."""
    from sealift.lab import registry
    from sealift.lab.survey import this_scope
    from sealift.lab.values import Cell

    scope = this_scope(quick=False)

    def is_called(cell: Cell) -> bool:
        # Some are told apart by how much of them works: "table, 4 cores".
        return str(cell.get("device")).split(", ")[0].casefold() == name

    return [
        experiment.name
        for experiment in registry.all_experiments()
        if any(is_called(cell) for group in experiment.groups(scope) for cell in group)
    ]


def _or(names: Sequence[str]) -> str:
    return f" (or {', '.join(names)})" if names else ""


GPU_DRIVERS = ("cuda", "opencl")
GPU_DEVICES = "GPUs are the devices cuda and opencl, and `sealift devices` says what is here"
BESIDE_CORES = (
    "What GPUs could do at most beside this machine's cores: `sealift lab run gpu-beside-cpu`"
)
# The same of other accelerators.
ACCELERATORS = frozenset(
    {
        "accel", "accelerator", "accelerators", "dpu", "dpus", "dsa", "fpga", "iaa", "npu",
        "oneapi", "pim", "qat", "tpu", "upmem",
    }
)  # fmt: skip
