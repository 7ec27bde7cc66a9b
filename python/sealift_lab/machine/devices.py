"""Devices of this machine: every driver, and every choice that its settings give."""

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import lru_cache

from sealift.errors import SealiftError, UnknownDeviceError
from sealift_lab._lab import DriverInfo, Engine, drivers
from sealift_lab.model.run import DeviceState


def look() -> list[DeviceState]:
    """Every driver, and below each that is present the choices it has, as in `cpu:isa=vaes256`."""
    return [state for driver in drivers() for state in _of_driver(driver)]


def real_devices() -> tuple[str, ...]:
    """The present devices for users' work; `library` first, as the others are compared with it."""
    names = [driver.name for driver in drivers() if driver.role == "real"]
    return tuple(sorted(names, key=lambda name: name != REFERENCE))


@lru_cache(maxsize=64)
def role(spec: str) -> str:
    """Purpose of a present device: "real", "oracle", "test only", "simulated" or "null".

    One that no engine opens is the lab's own, to be compared with only.
    """
    try:
        (device,) = Engine([spec]).devices
    except UnknownDeviceError:
        return "test only"
    return device.role


def split_specs(text: str) -> tuple[str, ...]:
    """Splits a list of devices: `cpu,library`, `cpu:isa=aesni,workers=2,library`.

    A comma separates devices and also a device's settings: what follows it is a setting when it
    has the form name=value and begins with no driver's name.

    Raises:
        ValueError: Naming the part that is no device, the nearest name, and all that there are.
    """
    known = [driver.name for driver in drivers()]
    specs: list[str] = []
    for part in (part.strip() for part in COMMAS.split(text)):
        name = re.split(r"[:(]", part, maxsplit=1)[0]
        if name in known:
            specs.append(part)
        elif specs and "=" in name:
            specs[-1] += f",{part}"
        else:
            raise ValueError(_unknown(name, known))
    if len(set(specs)) != len(specs):
        raise ValueError(f"a device stands twice in {text!r}; name each once")
    return tuple(specs)


def absences(specs: Sequence[str]) -> dict[str, str]:
    """Which of these devices are absent, and why.

    Raises:
        ValueError: If one has a setting or a value that its driver doesn't take.
    """
    absent = {}
    for spec in specs:
        try:
            Engine([spec])
        except ValueError:
            raise
        except SealiftError as error:
            absent[spec] = str(error)
    return absent


def _of_driver(driver: DriverInfo) -> Iterator[DeviceState]:
    if driver.state != "present":
        yield _absent(driver.name, driver, driver.reason or "")
        return
    yield _opened(driver.name, driver)
    for setting, choices in CHOICE.findall(driver.summary):
        for choice in choices.split("|"):
            yield _opened(f"{driver.name}:{setting}={choice}", driver)


def _opened(spec: str, driver: DriverInfo) -> DeviceState:
    try:
        (device,) = Engine([spec]).devices
    except SealiftError as error:
        return _absent(spec, driver, str(error).removeprefix(f"{spec} is absent: "))
    return DeviceState(
        spec=spec,
        driver=driver.name,
        state="present",
        role=device.role,
        detail=device.detail,
        workers=device.workers,
        summary=driver.summary,
    )


def _absent(spec: str, driver: DriverInfo, reason: str) -> DeviceState:
    # A device that wraps others, or takes a description, is none until these are named.
    state = "incomplete" if f"write {driver.name}:" in reason else "absent"
    return DeviceState(spec, driver.name, state, reason=reason, summary=driver.summary)


def _unknown(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name.casefold(), known, 1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return (
        f"no device is called {name!r}{hint}; there are {', '.join(known)}; `sealift devices` "
        "shows them"
    )


# A summary names a setting's values as in `isa=aesni|vaes256`.
CHOICE = re.compile(r"\b(\w+)=((?:\w+\|)+\w+)")
# Commas that are not inside the parentheses of a wrapped device.
COMMAS = re.compile(r",(?![^(]*\))")
REFERENCE = "library"
