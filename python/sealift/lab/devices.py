"""What devices there are on this machine: every driver, and every choice its settings give."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from functools import lru_cache

from sealift._sealift import DriverInfo, Engine, drivers
from sealift.errors import SealiftError, UnknownDeviceError


@dataclass(frozen=True)
class Found:
    """A device that can be opened, or why it can't.

    Attributes:
        spec: What opens it: a driver's name, or a name with a setting.
        driver: Its driver.
        state: "present", "absent", or "incomplete": no device until it is named with what it is
            made of, another device or a description. In runs of older versions that is "absent".
        role: "real", "oracle", "test only", "simulated" or "null"; None unless present.
        detail: The instruction set or model; None unless present.
        workers: Threads or queues that work submitted batches; None unless present.
        reason: Why it is absent, or what it takes; None when present.
        summary: What it is and the settings it takes.
    """

    spec: str
    driver: str
    state: str
    role: str | None
    detail: str | None
    workers: int | None
    reason: str | None
    summary: str

    @property
    def is_incomplete(self) -> bool:
        """Whether it is no device by itself; its reason then says what to write."""
        return self.reason is not None and f"write {self.driver}:" in self.reason

    @property
    def is_missing(self) -> bool:
        """Whether it is a device, and not here."""
        return self.reason is not None and not self.is_incomplete

    def as_dict(self) -> dict[str, str | int | None]:
        """For JSON."""
        return asdict(self)


def look() -> tuple[Found, ...]:
    """Every driver, and below each that is present the choices it has, as in `cpu:isa=vaes256`."""
    return tuple(found for driver in drivers() for found in _of_driver(driver))


def real_devices() -> tuple[str, ...]:
    """The present devices for users' work; `library` first, as the others are compared with it."""
    names = [driver.name for driver in drivers() if driver.role == "real"]
    return tuple(sorted(names, key=lambda name: name != REFERENCE))


@lru_cache(maxsize=64)
def role(spec: str) -> str:
    """What a present device is for: "real", "oracle", "test only", "simulated" or "null".

    One that no engine opens is the lab's own, to be compared with only.
    """
    try:
        (device,) = Engine([spec]).devices
    except UnknownDeviceError:
        return "test only"
    return device.role


def split_specs(text: str) -> tuple[str, ...]:
    """Reads a list of devices: `cpu,library`, `cpu:isa=aesni,workers=2,library`.

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


def _of_driver(driver: DriverInfo) -> Iterator[Found]:
    if driver.state != "present":
        yield _absent(driver.name, driver, driver.reason or "")
        return
    yield _opened(driver.name, driver)
    for setting, choices in CHOICE.findall(driver.summary):
        for choice in choices.split("|"):
            yield _opened(f"{driver.name}:{setting}={choice}", driver)


def _opened(spec: str, driver: DriverInfo) -> Found:
    try:
        (device,) = Engine([spec]).devices
    except SealiftError as error:
        return _absent(spec, driver, str(error).removeprefix(f"{spec} is absent: "))
    role, detail, workers = device.role, device.detail, device.workers
    return Found(spec, driver.name, "present", role, detail, workers, None, driver.summary)


def _absent(spec: str, driver: DriverInfo, reason: str) -> Found:
    found = Found(spec, driver.name, "absent", None, None, None, reason, driver.summary)
    return replace(found, state="incomplete") if found.is_incomplete else found


def _unknown(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name.casefold(), known, 1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    there = f"there are {', '.join(known)}; `sealift devices` shows them"
    return f"no device is called {name!r}{hint}; {there}"


# A summary names a setting's values as in `isa=aesni|vaes256`.
CHOICE = re.compile(r"\b(\w+)=((?:\w+\|)+\w+)")
# Commas that are not inside the parentheses of a wrapped device.
COMMAS = re.compile(r",(?![^(]*\))")
REFERENCE = "library"
