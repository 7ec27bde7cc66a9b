"""The interpolation program in each language, as processes that answer requests.

A program reads a number from each line of its input and answers with the sum of that many linear
interpolations. All of them are exact, so that each language has to answer the same.
"""

import os
import shlex
import subprocess
import time
import weakref
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

from sealift_lab.measure.built import Tool, build
from sealift_lab.measure.timed import Stopwatch
from sealift_lab.model.arm import Sample, Value, WrongResultError


@dataclass(frozen=True)
class Language:
    """How a program is built and run.

    Attributes:
        source: Its file in the folder `programs`.
        run: The command, in the folder where it was built or its source lies.
        tool: The compiler; None where the source is run as it is.
        arguments: Of the compiler.
        needs: The interpreter or virtual machine that runs it, if any.
        count: Interpolations of a request.
    """

    source: str
    run: tuple[str, ...]
    tool: Tool | None = None
    arguments: tuple[str, ...] = ()
    needs: Tool | None = None
    count: int = 1 << 22

    def check(self) -> None:
        """Raises Skip where a tool is not here, with the package that has it."""
        for tool in filter(None, (self.tool, self.needs)):
            tool.check()

    def prepare(self) -> tuple[Path, str]:
        """Builds it where need be; the folder to run it in, and by what it is built and run."""
        folder, details = PROGRAMS, list[str]()
        if self.tool is not None:
            made = build(PROGRAMS / self.source, self.tool, *self.arguments)
            folder, details = made.folder, [made.detail]
        if self.needs is not None:
            # Where an interpreter lies says nothing on another machine.
            command = (Path(self.run[0]).name, *self.run[1:])
            details.append(f"{' '.join(command)} ({self.needs.check()})")
        return folder, "; ".join(details)


class Program:
    """A running program; `end()` ends its input, and after ten seconds the program itself."""

    def __init__(self, language: str, command: tuple[str, ...], folder: Path) -> None:
        """Starts it."""
        self._language, pipe = language, subprocess.PIPE
        self._again = f"`{shlex.join(command)}` in {folder}"
        self._process = subprocess.Popen(
            command, cwd=folder, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, bufsize=0
        )
        # Also where nobody has it any more, and when this process ends.
        self.end = weakref.finalize(self, _end, self._process)

    def request(self, count: int) -> None:
        """Requests the sum of `count` interpolations; ends a program that answers anything else.

        Raises:
            WrongResultError: If it answers anything but that.
            RuntimeError: If it has ended.
        """
        assert self._process.stdin is not None, "a pipe"
        assert self._process.stdout is not None, "a pipe"
        answer, pipe = b"", self._process.stdout.fileno()
        with suppress(BrokenPipeError):
            self._process.stdin.write(b"%d\n" % count)
        while not answer.endswith(b"\n") and (part := os.read(pipe, 64)):
            answer += part
        if answer == b"%d\n" % SUMS[count]:
            return
        self.end()
        if not answer:
            code = self._process.returncode
            text = f"the program in {self._language} ended with code {code}"
            raise RuntimeError(f"{text}; run {self._again} to see why")
        raise WrongResultError(
            f"{self._language}: the sum of {count:,} interpolations is "
            f"{answer.decode(errors='replace').strip()}; right would be {SUMS[count]}"
        )

    def ran(self) -> tuple[int, int, int]:
        """Of all its threads: nanoseconds on a core, waiting for one, and preemptions."""
        run_ns = wait_ns = preempted = 0
        for task in Path(f"/proc/{self._process.pid}/task").iterdir():
            # A thread may end meanwhile, and a kernel may not count this.
            with suppress(OSError):
                ran, waited, _ = (task / "schedstat").read_text("ascii").split()
                status = (task / "status").read_text("ascii").splitlines()
                run_ns, wait_ns = run_ns + int(ran), wait_ns + int(waited)
                preempted += int(status[-1].removeprefix("nonvoluntary_ctxt_switches:"))
        return run_ns, wait_ns, preempted


@dataclass
class Warm:
    """A process that has answered many requests and answers more: the steady state.

    A sample has the pipe in it, of which `pipe_us` reports what an empty request takes. Its share
    of a core is that of the time in which the program could run, which the pipe takes nothing of.
    """

    name: str
    language: Language

    def __post_init__(self) -> None:
        """Starts and warms it up; raises Skip or WrongResultError."""
        folder, self._detail = self.language.prepare()
        begin_ns = time.perf_counter_ns()
        self._program = Program(self.name, self.language.run, folder)
        times_ns = [self._time_ns(0, begin_ns)]
        times_ns += [self._time_ns(self.language.count) for _ in range(WARM_UPS)]
        self._start_ns, self._first_ns, *_, last_ns = times_ns
        self._request_ns = float(last_ns)
        self._pipe_ns = min(self._time_ns(0) for _ in range(WARM_UPS))

    def sample(self, seconds: float) -> Sample:
        """Sends requests for about `seconds`."""
        requests = max(1, round(seconds * 1e9 / self._request_ns))
        before = self._program.ran()
        with Stopwatch() as watch:
            for _ in range(requests):
                self._program.request(self.language.count)
        run_ns, wait_ns, preempted = map(int.__sub__, self._program.ran(), before)
        self._request_ns = watch.ns / requests
        could_ns = run_ns + wait_ns
        return replace(
            watch.sample(requests * self.language.count, 0),
            cpu_share=min(1.0, max(0, run_ns) / could_ns) if could_ns > 0 else 1.0,
            involuntary_switches=max(0, preempted),
        )

    def report(self) -> Mapping[str, Value]:
        """The check, and the times of its start and of its first request."""
        return {
            "checked_against": CHECKED,
            "detail": self._detail,
            "start_ms": round(self._start_ns / 1e6, 2),
            "first_request_ns": round(self._first_ns / self.language.count, 2),
            "pipe_us": round(self._pipe_ns / 1e3, 1),
        }

    def _time_ns(self, count: int, begin_ns: int | None = None) -> int:
        begin_ns = time.perf_counter_ns() if begin_ns is None else begin_ns
        self._program.request(count)
        return time.perf_counter_ns() - begin_ns


@dataclass
class Fresh:
    """New processes: of each only its first request is timed, or its whole life from its start.

    Attributes:
        count: Interpolations of the request; 0 for a life.
    """

    name: str
    language: Language
    count: int

    def __post_init__(self) -> None:
        """Raises Skip or WrongResultError."""
        self._folder, self._detail = self.language.prepare()
        self._samples = 0
        self.sample(0)

    def sample(self, seconds: float) -> Sample:
        """One process, and as many more as fit into `seconds`."""
        samples, began_s = [self._one()], time.monotonic()
        while time.monotonic() - began_s < seconds - samples[0].ns / 1e9:
            samples.append(self._one())
        return Sample(
            ns=sum(each.ns for each in samples),
            operations=sum(each.operations for each in samples),
            bytes=0,
            involuntary_switches=0,
            # This process waits for the other, off the core, which is no sign of other load.
            cpu_share=1.0,
            steal_ns=sum(each.steal_ns for each in samples),
        )

    def report(self) -> Mapping[str, Value]:
        """The check, and the commands that build and run it."""
        return {"checked_against": CHECKED, "detail": self._detail}

    def _one(self) -> Sample:
        with Stopwatch() as life:
            program = Program(self.name, self.language.run, self._folder)
            program.request(0)
            if self.count:
                with Stopwatch() as first:
                    program.request(self.count)
            program.end()
        return first.sample(self.count, 0) if self.count else life.sample(1, 0)


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None, "a pipe"
    assert process.stdout is not None, "a pipe"
    with process.stdout, process.stdin:
        process.stdin.close()
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


PROGRAMS = Path(str(files(__package__) / "programs"))
CHECKED = "the sum, by whole numbers"
WARM_UPS, GRACE_S = 12, 10.0
# In 65,536ths: tests compute them by whole numbers.
SUMS: Mapping[int, int] = {
    0: 0,
    1 << 14: 2_137_720_658_246,
    1 << 18: 34_196_343_324_394,
    1 << 20: 136_785_902_727_872,
    1 << 22: 547_144_449_555_136,
}
