"""`sealift check`: whether devices compute what they should."""

import json
from functools import partial
from time import perf_counter
from typing import Annotated, Any

import typer

from sealift.cli import lab
from sealift.cli.devices import absences, split_specs, states
from sealift.cli.lab import Document
from sealift.cli.output import Help, echo, eprint, fail, parsed
from sealift.exit_code import ExitCode

HELP = Help("sealift.cli")


def check(
    devices: Annotated[list[str] | None, HELP.argument("check", "[DEVICE]...")] = None,
    seed: Annotated[int, HELP.option("check", "--seed", "N", min=0, max=2**64 - 1)] = 1,
    as_json: Annotated[bool, HELP.option("sealift", "--json")] = False,
) -> None:
    """Check that devices give the right bytes and refuse what was spoiled.

    A device is given vectors that NIST and Wycheproof published, and random messages in every form
    that a batch can have, some of them spoiled. Each result is compared with what was published, or
    with what another device gives. That takes some seconds a device. The exit code is 4 when
    something is wrong, and 3 when a device that was named is not here.
    """
    extension = lab.extension()
    if devices:
        specs = parsed("DEVICE", partial(split_specs, extension), ",".join(devices))
    else:
        here = (each for each in states(extension) if each["role"] not in (None, "null"))
        specs = tuple(str(each["spec"]) for each in here)
    absent = parsed("DEVICE", partial(absences, extension), specs)
    eprint(*absent.values())
    left = [spec for spec in specs if spec not in absent]
    width = max(map(len, ("device", *left)))
    if left and not as_json:
        echo(_row(width, *TITLES))
    found = []
    for spec in left:
        document = _document(extension.DeviceCheck(spec, seed=seed))
        found.append(document)
        if not as_json:
            echo(_row(width, *_cells(document)))
        failed = [each for each in document["checks"] if not each["passed"]]
        eprint(*(f"{spec}: not so: {each['check']}: {each['text']}" for each in failed))
    if as_json:
        whole = {"schema": SCHEMA, "seed": seed, "devices": found, "absent": absent}
        echo(json.dumps(whole, indent=2))
    if wrong := [each["device"] for each in found if not each["is_right"]]:
        fail(ExitCode.WRONG_RESULT, f"don't use what computes something wrong: {', '.join(wrong)}")
    if absent or not found:
        raise typer.Exit(ExitCode.NOTHING_RAN)


def _document(device: Any) -> Document:
    """Runs all checks on a device of the extension's class `DeviceCheck`."""
    checks = [_checked(device, name) for name in device.checks]
    return {
        "device": device.device.name,
        "role": device.device.role,
        "detail": device.device.detail,
        "compared_with": device.compared_with,
        "is_right": all(each["passed"] for each in checks),
        "checks": checks,
    }


def _checked(device: Any, name: str) -> Document:
    begin = perf_counter()
    result = device.run(name)
    return {
        "check": name.replace("_", " "),
        "passed": result.passed,
        "text": result.text,
        "messages": result.messages,
        "refused": result.refused,
        "seconds": round(perf_counter() - begin, 3),
    }


def _cells(document: Document) -> tuple[str, ...]:
    checks = document["checks"]
    passed, messages, refused, seconds = (
        sum(each[name] for each in checks) for name in ("passed", "messages", "refused", "seconds")
    )
    verdict, counts = "right" if document["is_right"] else "WRONG", f"{passed} of {len(checks)}"
    numbers = (counts, f"{messages:,}", f"{refused:,}", f"{seconds:.1f}")
    return (document["device"], verdict, *numbers, document["compared_with"])


def _row(width: int, device: str, verdict: str, *cells: str) -> str:
    """A line of the table, which is printed as soon as its device is done."""
    *numbers, compared_with = (f"{cell:>11}" for cell in cells)
    return f"{device:<{width}}  {verdict:<7}{''.join(numbers)}  {compared_with.lstrip()}".rstrip()


TITLES = ("device", "verdict", "checks", "messages", "refused", "seconds", "compared with")
SCHEMA = "sealift-check/1"
