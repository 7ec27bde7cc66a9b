"""Devices and cards that a command line names, with what to write where a name is unknown."""

import os
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sealift.exit_code import ExitCode
from sealift.gpu_names import names_gpu
from sealift_lab.cli import parse
from sealift_lab.cli.output import eprint, fail, parsed

if TYPE_CHECKING:
    from sealift_lab._lab import Card


def parse_devices(text: str) -> tuple[str, ...]:
    """A list of devices, `library,cpu:isa=aesni`.

    Raises:
        ValueError: Naming the part that is no device, and what there is.
    """
    from sealift_lab._lab import drivers
    from sealift_lab.machine.devices import split_specs

    known = [driver.name for driver in drivers()]
    for part in text.split(","):
        name = re.split(r"[:(]", part.strip(), maxsplit=1)[0].casefold()
        if name not in known and names_gpu(name):
            raise ValueError(f"no driver is called {name!r}; {GPU_DEVICES}")
        if name not in known and name in ACCELERATORS:
            raise ValueError(
                f"{name!r} is an accelerator, and no driver has this name; there are "
                f"{', '.join(known)}"
            )
    return split_specs(text)


def present_devices(text: str | None) -> tuple[str, ...]:
    """The devices to measure that are present; prints which are not, and ends where none is.

    Args:
        text: A list of devices; None for every real one.
    """
    from sealift_lab.machine.devices import absences, real_devices, role

    names = real_devices() if text is None else parsed("--devices", parse_devices, text)
    absent = parsed("--devices", absences, names)
    eprint(*absent.values())
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


def check_threads(counts: Iterable[int], *, per_core: int) -> None:
    """Ends the program where thread counts are beyond what this machine can show.

    Args:
        counts: From --threads.
        per_core: How many threads for each core are right.
    """
    from sealift_lab.machine.facts import describe, usable_cores

    cores = usable_cores(describe())
    if (largest := max(counts)) > per_core * cores:
        number = f"{cores} cores" if cores > 1 else "one core"
        right = f"write {per_core * cores} at most"
        fail(ExitCode.USAGE, f"--threads {largest}: this machine has {number}; {right}")


def parse_cards(texts: Sequence[str]) -> "tuple[Card, ...]":
    """Cards by their names, or by the files that describe them.

    Raises:
        ValueError: Naming what there is, or what in a file is wrong; or if two cards have one name,
            or one has that of a device of this machine.
    """
    from sealift_lab._lab import drivers

    found = [_card(text) for text in dict.fromkeys(texts)]
    names = [each.name for each in found]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"two cards are called {min(twice)!r}; rename one in its file")
    if taken := set(names) & {driver.name for driver in drivers()}:
        raise ValueError(f"a card is called {min(taken)!r}, as a device is; rename it in its file")
    return tuple(found)


def _card(text: str) -> "Card":
    from sealift_lab._lab import Card, cards, drivers

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
    if re.split(r"[:(]", text, maxsplit=1)[0] in {driver.name for driver in drivers()}:
        raise ValueError(f"{text!r} is no card but a device of this machine: --devices {text}")
    if names_gpu(text):
        raise ValueError(f"{text!r} is no card but a GPU. {GPU_DEVICES}. {GPU_LIMITS}")
    hint = parse.nearest(text, known)
    raise ValueError(
        f"no card is called {text!r}{f'; {hint}' if hint else ''}; there are {', '.join(known)}, "
        "and files of one's own, which end in .toml"
    )


GPU_DEVICES = "GPUs are the devices cuda and opencl, and `sealift devices` says what is here"
GPU_LIMITS = (
    "What GPUs could do at most beside this machine's cores: `sealift lab run gpu-beside-cpu`"
)
# What people call accelerators other than GPUs.
ACCELERATORS = frozenset(
    {
        "accel", "accelerator", "accelerators", "dpu", "dpus", "dsa", "fpga", "iaa", "npu",
        "oneapi", "pim", "qat", "tpu", "upmem",
    }
)  # fmt: skip
