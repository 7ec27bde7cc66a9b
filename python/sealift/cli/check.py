"""`sealift check`: whether devices compute what they should."""

import ctypes
import json
import os
import signal
import sys
from contextlib import suppress
from functools import partial
from importlib import import_module
from select import select
from subprocess import PIPE, Popen, TimeoutExpired
from time import perf_counter
from types import ModuleType
from typing import Annotated

import typer

from sealift import SealiftError
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
    with what another device gives. That takes some seconds a device, each in a process of its own:
    one that crashes, or is silent for ten minutes, is wrong, and the others are still checked. The
    exit code is 4 when something is wrong, and 3 when a device that was named is not here.
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
        try:
            document = _document(extension, spec, seed)
        except SealiftError as error:
            absent[spec] = str(error)
            eprint(absent[spec])
            continue
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


def _document(extension: ModuleType, spec: str, seed: int) -> Document:
    """Has a process check a device; in which check it crashed or hung, if it did, is stored.

    Raises:
        SealiftError: If the device does not open.
    """
    unknown = dict.fromkeys(("role", "detail", "compared_with"))
    document: Document = {"device": spec, **unknown, "is_right": False, "checks": []}
    checks, stages, fault = document["checks"], [OPENS], ""
    heard_s = begin_s = perf_counter()
    say_s = begin_s + SAY_S
    # -P: a file in the current folder hides no module. A session: Ctrl-C reaches only this process.
    command = (sys.executable, "-P", "-m", "sealift.cli.check", extension.__name__, spec, str(seed))
    # As this process got it: libraries of OpenCL change theirs, and one that inherits that may find
    # no GPU.
    around = dict(os.environ)
    child = Popen(command, bufsize=0, stdout=PIPE, start_new_session=True, env=around)
    assert child.stdout is not None, "opened as a pipe"
    try:
        while not fault:
            has_more = bool(select([child.stdout], [], [], TICK_S)[0])
            now_s = perf_counter()
            if has_more:
                if not (line := child.stdout.readline()).endswith(b"\n"):
                    break
                heard_s, event = now_s, json.loads(line)
                if "absent" in event:
                    raise SealiftError(event["absent"])
                if "stages" in event:
                    stages = event.pop("stages")
                    document |= event
                else:
                    checks.append(event)
            elif now_s - heard_s > PATIENCE_S:
                fault = f"it did not answer within {PATIENCE_S / 60:g} minutes"
            if now_s > say_s:
                say_s += now_s - begin_s
                eprint(f"{spec}: checked for {now_s - begin_s:.0f} s; now: {stages[len(checks)]}")
        if not fault:
            fault = _fault(child, is_done=stages[len(checks)] == CLOSES)
    finally:
        child.kill()
        # A process that waits in a driver may not end even then.
        with child.stdout, suppress(TimeoutExpired):
            child.wait(GRACE_S)
    if fault:
        checks.append(_result(stages[len(checks)], False, fault, heard_s))
    document["is_right"] = all(each["passed"] for each in checks)
    return document


def _fault(child: Popen[bytes], *, is_done: bool) -> str:
    """What is wrong with how a process ended that said all it had to say."""
    with suppress(TimeoutExpired):
        child.wait(GRACE_S)
    code = child.returncode
    if code is None:
        return "its process did not end"
    if code < 0:
        return f"its process was ended by signal {-code} ({signal.strsignal(-code)})"
    return "" if is_done and code == 0 else f"its process ended with code {code}"


def _main(extension: str, spec: str, seed: str) -> None:
    """The process that checks a device; it writes events as lines of JSON."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    with os.fdopen(os.dup(1), "w", buffering=1) as events:
        # What a driver prints is no event.
        os.dup2(2, 1)
        tell = partial(print, file=events)
        try:
            device = import_module(extension).DeviceCheck(spec, seed=int(seed))
        except SealiftError as error:
            tell(json.dumps({"absent": str(error)}))
            return
        stages = [*(name.replace("_", " ") for name in device.checks), CLOSES]
        what = {name: getattr(device.device, name) for name in ("role", "detail")}
        what |= {"device": device.device.name, "compared_with": device.compared_with}
        tell(json.dumps(what | {"stages": stages}))
        for name, stage in zip(device.checks, stages, strict=False):
            begin_s, result = perf_counter(), device.run(name)
            counts = {"messages": result.messages, "refused": result.refused}
            tell(json.dumps(_result(stage, result.passed, result.text, begin_s) | counts))


def _result(check: str, passed: bool, text: str, begin_s: float) -> Document:
    seconds = round(perf_counter() - begin_s, 3)
    counts = {"messages": 0, "refused": 0}
    return {"check": check, "passed": passed, "text": text, **counts, "seconds": seconds}


def _cells(document: Document) -> tuple[str, ...]:
    checks = document["checks"]
    passed, messages, refused, seconds = (
        sum(each[name] for each in checks) for name in ("passed", "messages", "refused", "seconds")
    )
    verdict, counts = "right" if document["is_right"] else "WRONG", f"{passed} of {len(checks)}"
    numbers = (counts, f"{messages:,}", f"{refused:,}", f"{seconds:.1f}")
    return (document["device"], verdict, *numbers, document["compared_with"] or "")


def _row(width: int, device: str, verdict: str, *cells: str) -> str:
    """A line of the table, which is printed as soon as its device is done."""
    *numbers, compared_with = (f"{cell:>11}" for cell in cells)
    return f"{device:<{width}}  {verdict:<7}{''.join(numbers)}  {compared_with.lstrip()}".rstrip()


TITLES = ("device", "verdict", "checks", "messages", "refused", "seconds", "compared with")
SCHEMA = "sealift-check/1"
OPENS, CLOSES = "it opens", "it closes"
PATIENCE_S, SAY_S, GRACE_S, TICK_S = 600.0, 2.0, 10.0, 0.5
PR_SET_PDEATHSIG = 1

if __name__ == "__main__":
    _main(*sys.argv[1:])
