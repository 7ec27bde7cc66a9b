"""`sealift check`: whether devices compute what they should."""

import ctypes
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
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
from sealift.cli.vector_check import VectorCheck, not_run_text, read_all
from sealift.exit_code import ExitCode
from sealift.operations import WRONG
from sealift.vectors import READERS

HELP = Help("sealift.cli")


def check(
    devices: Annotated[list[str] | None, HELP.argument("check", "[DEVICE]...")] = None,
    vectors: Annotated[list[str] | None, HELP.option("check", "--vectors", "FILE...")] = None,
    log: Annotated[Path | None, HELP.option("check", "--log", "FILE")] = None,
    seed: Annotated[int, HELP.option("check", "--seed", "N", min=0, max=2**64 - 1)] = 1,
    as_json: Annotated[bool, HELP.option("sealift", "--json")] = False,
) -> None:
    """Check that devices give the right bytes and refuse what was spoiled.

    A device is given vectors that NIST and Wycheproof published, and random messages in every form
    that a batch can have, some of them spoiled. Each result is compared with what was published, or
    with what another device gives. That takes some seconds a device, each in a process of its own:
    one that crashes, or is silent for ten minutes, is wrong, and the others are still checked. The
    exit code is 4 when something is wrong, and 3 when a device that was named is not here.

    With --vectors a device works the operations of files instead, those of NIST, of Wycheproof or
    your own, and with --log each operation is written down.
    """
    extension = lab.extension()
    names, paths = _split_paths(devices or [], vectors or [])
    if names:
        specs = parsed("DEVICE", partial(split_specs, extension), ",".join(names))
    else:
        here = (each for each in states(extension) if each["role"] not in (None, "null"))
        specs = tuple(str(each["spec"]) for each in here)
    if paths:
        parsed("--vectors", read_all, paths)
    if log is not None:
        _begin_log(log, paths)
    absent = parsed("DEVICE", partial(absences, extension), specs)
    eprint(*absent.values())
    left = [spec for spec in specs if spec not in absent]
    width = max(map(len, ("device", *left)))
    found = []
    for spec in left:
        try:
            document = _document(extension, spec, seed, log, paths)
        except SealiftError as error:
            absent[spec] = str(error)
            eprint(absent[spec])
            continue
        found.append(document)
        cells = _cells(document, has_files=bool(paths))
        if not as_json:
            if not found[1:]:
                echo(_row(width, *cells))
            echo(_row(width, *cells.values()))
        failed = [each for each in document["checks"] if not each["passed"]]
        eprint(*(f"{spec}: not so: {each['check']}: {each['text']}" for each in failed))
    if as_json:
        whole = {"schema": SCHEMA, "seed": seed, "devices": found, "absent": absent}
        echo(json.dumps(whole, indent=2))
    if wrong := [each["device"] for each in found if not each["is_right"]]:
        fail(ExitCode.WRONG_RESULT, f"don't use what computes something wrong: {', '.join(wrong)}")
    if absent or not any(each["messages"] for one in found for each in one["checks"]):
        raise typer.Exit(ExitCode.NOTHING_RAN)


def _split_paths(devices: list[str], vectors: list[str]) -> tuple[list[str], list[str]]:
    """Devices, and vector files: behind --vectors a shell leaves all that a pattern matches."""
    if not vectors:
        return devices, []
    behind = [name for name in devices if Path(name).suffix in READERS]
    return [name for name in devices if name not in behind], [*vectors, *behind]


def _begin_log(log: Path, paths: list[str]) -> None:
    """Makes an empty log, so that one that can't be written is known before any work."""
    if not paths:
        fail(ExitCode.USAGE, "--log: it lists operations of files; name some with --vectors")
    if os.path.realpath(log) in map(os.path.realpath, paths):
        fail(ExitCode.USAGE, f"--log: {log} is one of the files that are read; name another one")
    log.write_bytes(b"")


def _document(
    extension: ModuleType, spec: str, seed: int, log: Path | None, paths: Sequence[str]
) -> Document:
    """Has a process check a device; in which check it crashed or hung, if it did, is stored.

    Raises:
        SealiftError: If the device does not open.
        OSError: If the log can't be written.
    """
    unknown = dict.fromkeys(("role", "detail", "compared_with"))
    document: Document = {"device": spec, **unknown, "is_right": False, "checks": []}
    checks, stages, fault = document["checks"], [OPENS], ""
    heard_s = begin_s = perf_counter()
    say_s, work_s, done, of = begin_s + SAY_S, begin_s, 0, 0
    # -P: a file in the current folder hides no module. A session: Ctrl-C reaches only this process.
    module = (sys.executable, "-P", "-m", "sealift.cli.check")
    command = (*module, extension.__name__, spec, str(seed), str(log or ""), *paths)
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
                if "not_written" in event:
                    raise OSError(0, event["not_written"], str(log))
                if "done" in event:
                    work_s = work_s if of else now_s
                    done, of = event["done"], event["of"]
                elif "stages" in event or "totals" in event:
                    stages = event.pop("stages", stages)
                    document |= event
                else:
                    checks.append(event)
            elif now_s - heard_s > PATIENCE_S:
                fault = f"it did not answer within {PATIENCE_S / 60:g} minutes"
            if now_s > say_s:
                say_s += min(now_s - begin_s, SAY_S_MAX)
                doing = f"checked for {now_s - begin_s:.0f} s; now: {stages[len(checks)]}"
                eprint(f"{spec}: {_progress(done, of, now_s - work_s) if 0 < done < of else doing}")
        if not fault:
            fault = _fault(child, is_done=stages[len(checks)] == CLOSES)
    finally:
        child.kill()
        # A process that waits in a driver may not end even then.
        with child.stdout, suppress(TimeoutExpired):
            child.wait(GRACE_S)
    if fault:
        checks.append(_result(stages[len(checks)], False, fault, heard_s))
        if log is not None:
            with log.open("a", encoding="utf-8") as file:
                file.write(f"Platform = {spec}\nVerdict = WRONG: {fault}\n\n")
    document["is_right"] = all(each["passed"] for each in checks)
    return document


def _progress(done: int, of: int, seconds: float) -> str:
    """How far operations are, and how long the others take at their rate."""
    left_s = max(1.0, seconds * (of - done) / done)
    return f"{done:,} of {of:,} operations, about {left_s:,.0f} s left"


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


def _main(extension: str, spec: str, seed: str, log: str, *paths: str) -> None:
    """The process that checks a device; it writes events as lines of JSON."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    with os.fdopen(os.dup(1), "w", buffering=1) as events:
        # What a driver prints is no event.
        os.dup2(2, 1)

        def tell(event: Document) -> None:
            print(json.dumps(event), file=events)

        module, files = import_module(extension), None
        try:
            if paths:
                device = files = VectorCheck(module, spec, paths, tell)
            else:
                device = module.DeviceCheck(spec, seed=int(seed))
        except SealiftError as error:
            tell({"absent": str(error)})
            return
        stages = [*(name if files else name.replace("_", " ") for name in device.checks), CLOSES]
        what = {name: getattr(device.device, name) for name in ("role", "detail")}
        what |= {"device": device.device.name, "compared_with": device.compared_with}
        tell(what | {"stages": stages})
        is_right = True
        for name, stage in zip(device.checks, stages, strict=False):
            begin_s, result = perf_counter(), device.run(name)
            is_right &= result.passed
            counts = {"messages": result.messages, "refused": result.refused}
            tell(_result(stage, result.passed, result.text, begin_s) | counts)
        if files:
            tell({"totals": files.totals()})
            if log:
                _end_log(files, Path(log), tell, is_right=is_right)


def _end_log(
    files: VectorCheck, log: Path, tell: Callable[[Document], None], *, is_right: bool
) -> None:
    try:
        files.write_log(log, is_right=is_right)
    except OSError as error:
        tell({"not_written": error.strerror or str(error)})


def _result(check: str, passed: bool, text: str, begin_s: float) -> Document:
    seconds = round(perf_counter() - begin_s, 3)
    counts = {"messages": 0, "refused": 0}
    return {"check": check, "passed": passed, "text": text, **counts, "seconds": seconds}


def _cells(document: Document, *, has_files: bool) -> dict[str, str]:
    """The cells of a device by their titles."""
    checks, totals = document["checks"], document.get("totals", {})
    passed, messages, refused, seconds = (
        sum(each[name] for each in checks) for name in ("passed", "messages", "refused", "seconds")
    )
    verdict = "right" if messages or not has_files else "none"
    counts, taken = f"{passed} of {len(checks)}", {"seconds": f"{seconds:.1f}"}
    first = {"device": document["device"], "verdict": verdict if document["is_right"] else "WRONG"}
    if not has_files:
        numbers = {"checks": counts, "messages": f"{messages:,}", "refused": f"{refused:,}"}
        return first | numbers | taken | {"compared with": document["compared_with"] or ""}
    unplanned = sum(totals.get(name, 0) for name in WRONG.values())
    numbers = {"files": counts, "operations": f"{messages:,}", "refused": f"{refused:,}"}
    not_run = not_run_text(totals.get("not_run", {})) or "0"
    return first | numbers | {"unplanned": f"{unplanned:,}"} | taken | {"not run": not_run}


def _row(width: int, device: str, verdict: str, *cells: str) -> str:
    """A line of the table, which is printed as soon as its device is done."""
    *numbers, last = (f"{cell:>11}" for cell in cells)
    return f"{device:<{width}}  {verdict:<7}{''.join(numbers)}  {last.lstrip()}".rstrip()


SCHEMA = "sealift-check/1"
OPENS, CLOSES = "it opens", "it closes"
PATIENCE_S, GRACE_S, TICK_S = 600.0, 10.0, 0.5
# Sentences come after as long again each time, and at least so often.
SAY_S, SAY_S_MAX = 2.0, 10.0
PR_SET_PDEATHSIG = 1

if __name__ == "__main__":
    _main(*sys.argv[1:])
