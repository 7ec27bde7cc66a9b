"""Devices: what an extension has, why others are absent, and lists of them as options take them.

The extension is a parameter: that of the library, or the lab's, which has more devices.
"""

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from itertools import count, islice, takewhile
from types import ModuleType

from sealift import DriverInfo, SealiftError
from sealift.gpu_names import names_gpu

State = dict[str, str | int | None]
"""A device that can be opened, or why it can't; role, detail and workers are None unless present.

`state` is "present", "absent", or "incomplete": no device until another device or a description
stands behind its name.
"""


def states(extension: ModuleType) -> Iterator[State]:
    """Every driver, and below each that is present its choices, as in `cpu:isa=vaes256`.

    Of a driver that takes numbers they are its further devices of that role, as in `cuda:1`.
    """
    for driver in extension.drivers():
        yield _state(extension, driver.name, driver)
        if driver.state == "present":
            for setting, choices in CHOICE.findall(driver.summary):
                for choice in choices.split("|"):
                    yield _state(extension, f"{driver.name}:{setting}={choice}", driver)
            if f"{driver.name}:1" in driver.summary:
                numbered = (_state(extension, f"{driver.name}:{n}", driver) for n in count())
                here = takewhile(lambda each: each["state"] == "present", numbered)
                yield from islice((each for each in here if each["role"] == driver.role), 1, None)


def split_specs(extension: ModuleType, text: str) -> tuple[str, ...]:
    """Splits a list of devices: `cpu,library`, `cpu:isa=aesni,workers=2,library`.

    A comma separates devices and also a device's settings: what follows it is a setting when it
    has the form name=value and begins with no driver's name.

    Raises:
        ValueError: Naming the part that is no device, the nearest name, and all that there are.
    """
    known = [driver.name for driver in extension.drivers()]
    specs: list[str] = []
    for part in (part.strip() for part in COMMAS.split(text)):
        name = re.split(r"[:(]", part, maxsplit=1)[0]
        if name in known:
            specs.append(part)
        elif specs and "=" in name:
            specs[-1] += f",{part}"
        elif names_gpu(name):
            raise ValueError(f"no driver is called {name!r}; {GPU_DEVICES}")
        elif name in LAB_DRIVERS:
            raise ValueError(f"the device {name!r} comes with the package sealift-lab: {INSTALL}")
        else:
            near = get_close_matches(name.casefold(), known, 1, ALIKE)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            there = f"there are {', '.join(known)}; `sealift devices` shows them"
            raise ValueError(f"no device is called {name!r}{hint}; {there}")
    if len(set(specs)) != len(specs):
        raise ValueError(f"a device stands twice in {text!r}; name each once")
    return tuple(specs)


def absences(extension: ModuleType, specs: Iterable[str]) -> dict[str, str]:
    """Which of these devices are absent, and why.

    Raises:
        ValueError: If one has a setting or a value that its driver doesn't take.
    """
    absent = {}
    for spec in specs:
        try:
            extension.Engine([spec])
        except ValueError:
            raise
        except SealiftError as error:
            absent[spec] = str(error)
    return absent


def _state(extension: ModuleType, spec: str, driver: DriverInfo) -> State:
    device, reason = None, driver.reason
    if driver.state == "present":
        try:
            (device,) = extension.Engine([spec]).devices
        except SealiftError as error:
            reason = str(error).removeprefix(f"{spec} is absent: ")
    is_incomplete = f"write {driver.name}:" in (reason or "")
    return {
        "spec": spec,
        "driver": driver.name,
        "state": "present" if device else "incomplete" if is_incomplete else "absent",
        "role": device.role if device else None,
        "detail": device.detail if device else None,
        "workers": device.workers if device else None,
        "reason": reason,
        "summary": driver.summary,
    }


GPU_DEVICES = "GPUs are the devices cuda and opencl, and `sealift devices` says what is here"
INSTALL = "python -m pip install sealift-lab"
# Drivers that only the lab's extension has.
LAB_DRIVERS = frozenset({"cards", "fault", "null", "pim", "reference"})
# A summary names a setting's values as in `isa=aesni|vaes256`.
CHOICE = re.compile(r"\b(\w+)=((?:\w+\|)+\w+)")
# Commas that are not inside the parentheses of a wrapped device.
COMMAS = re.compile(r",(?![^(]*\))")
# How near a name must be for a hint: people who write dpu or tpu don't mean cpu.
ALIKE = 0.7
