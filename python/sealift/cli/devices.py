"""`sealift devices`, and lists of devices as options take them."""

import json
import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Annotated

import typer

from sealift import DriverInfo, SealiftError
from sealift.cli import lab
from sealift.cli.output import table_text
from sealift.gpu_names import names_gpu

State = dict[str, str | int | None]
"""A device that can be opened, or why it can't; role, detail and workers are None unless present.

`state` is "present", "absent", or "incomplete": no device until another device or a description
stands behind its name.
"""


def devices(
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of a table.")] = False,
) -> None:
    """Show every device: what is here, and why the others are not.

    The first column is what --devices of `sealift explain` and `sealift advise` and Engine([...])
    in Python take. A device's role says what it is for: "real" for users' work, "oracle" to check
    others by, "test only" where nothing should rely on it, "simulated" with modelled times, "null"
    to price the framework around a device. Simulated and null ones, and those that take another
    device or a description behind their name, come with the package sealift-lab.
    """
    states = [state for driver in lab.extension().drivers() for state in _states(driver)]
    if as_json:
        typer.echo(json.dumps(states, indent=2))
        return
    rows, incomplete = [], []
    for state in states:
        why_not = str(state["detail"] or state["reason"])
        if state["state"] == "incomplete":
            incomplete.append((str(state["spec"]), why_not))
        else:
            cells = (state[name] for name in ("spec", "state", "role", "workers"))
            rows.append((*("" if cell is None else str(cell) for cell in cells), why_not))
    typer.echo(table_text(("device", "state", "role", "workers", "what, or why not"), rows))
    if incomplete:
        typer.echo("\n" + table_text(("no device alone", "what it takes"), incomplete))


def parse_devices(text: str) -> tuple[str, ...]:
    """Splits a list of devices: `cpu,library`, `cpu:isa=aesni,workers=2,library`.

    A comma separates devices and also a device's settings: what follows it is a setting when it
    has the form name=value and begins with no driver's name.

    Raises:
        ValueError: Naming the part that is no device, the nearest name, and all that there are.
    """
    known = [driver.name for driver in lab.extension().drivers()]
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
            lab.extension().Engine([spec])
        except ValueError:
            raise
        except SealiftError as error:
            absent[spec] = str(error)
    return absent


def _states(driver: DriverInfo) -> Iterator[State]:
    """A driver, and if it is present the choices its settings give, as in `cpu:isa=vaes256`."""
    yield _state(driver.name, driver)
    if driver.state == "present":
        for setting, choices in CHOICE.findall(driver.summary):
            for choice in choices.split("|"):
                yield _state(f"{driver.name}:{setting}={choice}", driver)


def _state(spec: str, driver: DriverInfo) -> State:
    device, reason = None, driver.reason
    if driver.state == "present":
        try:
            (device,) = lab.extension().Engine([spec]).devices
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


def _unknown(name: str, known: Sequence[str]) -> str:
    if names_gpu(name):
        return f"no driver is called {name!r}; {GPU_DEVICES}"
    if name in lab.DRIVERS:
        return f"the device {name!r} comes with the package sealift-lab: {lab.INSTALL}"
    near = get_close_matches(name.casefold(), known, 1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    there = f"there are {', '.join(known)}; `sealift devices` shows them"
    return f"no device is called {name!r}{hint}; {there}"


GPU_DEVICES = "GPUs are the devices cuda and opencl, and `sealift devices` says what is here"
# A summary names a setting's values as in `isa=aesni|vaes256`.
CHOICE = re.compile(r"\b(\w+)=((?:\w+\|)+\w+)")
# Commas that are not inside the parentheses of a wrapped device.
COMMAS = re.compile(r",(?![^(]*\))")
