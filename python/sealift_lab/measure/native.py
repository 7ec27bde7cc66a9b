"""Native arms: made by the extension's own measuring loops, which check the results they time."""

import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from sealift.errors import DeviceError, LimitError
from sealift_lab import _lab
from sealift_lab._lab import effective_clock_ghz as effective_clock_ghz
from sealift_lab._lab import stream_source as stream_source
from sealift_lab.machine.memory import (
    check_memory,
    contended_bytes,
    copy_bytes,
    frames_bytes,
    gcm_bytes,
    grid_bytes,
    offload_bytes,
    primitive_bytes,
)
from sealift_lab.measure.ipp import with_ipp
from sealift_lab.model.sample import Context, Sample, Skip, WrongResultError
from sealift_lab.model.values import Value
from sealift_lab.model.workload import Workload

T = TypeVar("T")


class NativeArm:
    """An arm whose loop is native; implements `model.sample.Arm`.

    Each function below that makes one raises `ValueError` if an argument is out of range, `Skip`
    with the reason if the machine or the device can't do the work or memory is short, and
    `WrongResultError` if something is computed wrong while the arm is checked.
    """

    def __init__(self, arm: _lab.Arm) -> None:
        """Takes over a native arm."""
        self._arm = arm

    def sample(self, seconds: float) -> Sample:
        """Runs for about `seconds`; Ctrl-C is noticed within a tenth of a second.

        Raises:
            WrongResultError: If something was computed wrong.
        """
        try:
            return Sample(*self._arm.sample(seconds))
        except _lab.WrongResultError as error:
            raise WrongResultError(str(error)) from error

    def report(self) -> Mapping[str, Value]:
        """What it was checked against, its counts up to now, its implementation, and its cores.

        A device's `role` is "real" for those that are for users, "test only" for a peer.
        """
        role = self._arm.role
        return {
            **({} if role is None else {"role": role}),
            "checked_against": ", ".join(self._arm.checked_against) or "nothing",
            **self._arm.counts,
            **{name: text for name, text in self._arm.told.items() if text},
            "detail": self._arm.detail,
            "cores": "+".join(map(str, self._arm.cores)) or "any",
        }


def gcm(
    device: str, workload: Workload, *, threads: int, batch: int, context: Context
) -> NativeArm:
    """A device on AES-GCM messages, checked byte by byte on every one of them before it is timed.

    After each sample, with the clock stopped, every thread compares one batch that it worked, or
    several small ones, up to 256 messages or 128 KiB: other ones each time, until all had their
    turn. Their outputs are overwritten before the clock starts.

    Args:
        device: Its name with its settings, as `cpu:isa=aesni`. Beside the devices for users the lab
            has `table`, `ipp` and `slowed:percent=5(library)`. `UnknownDeviceError` if it is none.
        workload: The messages.
        threads: That each work all messages.
        batch: Messages handed to the engine at once.
        context: Seed of keys, nonces, aads and texts.
    """
    check_memory(gcm_bytes(workload, threads=threads, batch=batch))
    spec = with_ipp(device)
    return _make(
        lambda: _lab.Arm.gcm(
            spec,
            **vars(workload.columns()),
            keys=workload.regime.keys.value,
            sessions=workload.regime.sessions,
            batch=batch,
            threads=threads,
            seed=context.seed,
        )
    )


def primitive(name: str, message_bytes: int, *, threads: int, context: Context) -> NativeArm:
    """A hash or a signature scheme by AWS-LC, one message an operation.

    Every digest and every verification is checked; of the signatures that are made, the last one
    of each sample is verified after the clock was stopped.

    Args:
        name: sha-256, ecdsa-p256-sign, ecdsa-p256-verify, ecdsa-p384-sign or ecdsa-p384-verify;
            signing and verifying hash the message first, with SHA-256 or SHA-384.
        message_bytes: Length of each message.
        threads: Each has messages and a key of its own.
        context: Seed of the messages.
    """
    known = _lab.primitives()
    if name not in known:
        near = get_close_matches(name, known, 1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise ValueError(f"no primitive is called {name!r}{hint}; there are {', '.join(known)}")
    check_memory(primitive_bytes(message_bytes, threads=threads))
    return _make(
        lambda: _lab.Arm.primitive(name, message_bytes, threads=threads, seed=context.seed)
    )


def read_memory(buffer_bytes: int = 256 << 20, *, threads: int) -> NativeArm:
    """A loop that reads memory from end to end, 64 KiB an operation, and checks its sums.

    All threads read `buffer_bytes` together, each its own part; more than the last cache holds, or
    it is the cache that is measured.
    """
    check_memory(buffer_bytes)
    return _make(lambda: _lab.Arm.read(buffer_bytes, threads=threads))


def contended(
    cipher: str,
    *,
    threads: int,
    text_bytes: int,
    streamers: int,
    share_percent: int,
    stream_bytes: int,
    context: Context,
) -> NativeArm:
    """AES-128 over texts in memory, a mebibyte an operation, beside threads that read memory.

    The last mebibyte of each thread is compared with AWS-LC's after each sample. Its report counts
    bytes and nanoseconds of the streams, and the same of as many threads in all that did nothing
    but read before: one over the other is the share that was reached, over all processes.

    Args:
        cipher: "gcm" or "ctr".
        threads: That encrypt, each its own text of `text_bytes`.
        text_bytes: As much again takes the ciphertext.
        streamers: Threads that each read `stream_bytes` again and again.
        share_percent: What they read together, of what memory gives; 100 for all they get.
        stream_bytes: More than the last cache holds.
        context: Seed of keys and texts.
    """
    request = _request(locals())
    check_memory(contended_bytes(text_bytes, stream_bytes, threads=threads, streamers=streamers))
    return _make(lambda: _lab.Arm.contended(request))


def copy(request: Mapping[str, object]) -> NativeArm:
    """A function that copies, reads or writes, checked after each sample.

    `request` is as `_lab.Arm.copy` takes it; what is left out is as in `COPY`.
    """
    whole = {**COPY, **request}
    size_bytes, threads = int(str(whole["bytes"])), int(str(whole["threads"]))
    is_cold, is_shared = whole["state"] != "hot", whole["buffers"] == "shared"
    check_memory(copy_bytes(size_bytes, threads=threads, is_cold=is_cold, is_shared=is_shared))
    return _make(lambda: _lab.Arm.copy(whole))


def published_copy(
    function: int, size_bytes: int, *, before: Sequence[int], runs: int, threads: int, seed: int
) -> NativeArm:
    """The published tool's way of measuring a copy; arguments as of the native arm."""
    check_memory(2 * size_bytes)
    return _make(
        lambda: _lab.Arm.published_copy(
            function, size_bytes, before=before, runs=runs, threads=threads, seed=seed
        )
    )


def exchange_frames(
    way: str, pattern: str, *, frame_bytes: int, batch: int, context: Context
) -> NativeArm:
    """Frames exchanged with another process, which is started for it and ended with it.

    Every byte of every frame is compared where it arrives. Both processes keep to a core of their
    own where there are two.

    Args:
        way: What the frames go through: ring, ring-sealed, pipe, unix-socket, process-vm-readv or
            loopback-tcp.
        pattern: "ping-pong", where each frame is answered by one, or "stream".
        frame_bytes: Length of each frame, from 16 on.
        batch: Frames handed over at once.
        context: Seed of the frames, and of keys where they are sealed.
    """
    check_memory(frames_bytes(frame_bytes, batch=batch))
    return _make(
        lambda: _lab.Arm.frames(
            way,
            pattern,
            frame_bytes=frame_bytes,
            batch=batch,
            seed=context.seed,
            far=[sys.executable, "-P", "-c", FAR_PROCESS],
        )
    )


def offload(
    cipher: str,
    way: str,
    *,
    threads: int,
    devices: int,
    message_bytes: int,
    batch: int,
    context: Context,
) -> NativeArm:
    """Clients that hand batches over to worker threads on cores of their own, as to cards.

    Each client has a key and a worker that it keeps to, and one batch in flight. After each sample
    every client compares its last batch with another library's result.

    Args:
        cipher: "3des-cbc" by RustCrypto, or "aes-128-gcm" by this processor's kernels.
        way: "calling thread", where nothing is handed over, "sleeping" or "polling".
        threads: Clients.
        devices: Workers.
        message_bytes: A multiple of 8.
        batch: Messages handed over at once.
        context: Seed of keys, nonces and texts.
    """
    request = _request(locals())
    check_memory(offload_bytes(message_bytes, threads=threads, batch=batch))
    return _make(lambda: _lab.Arm.offload(request))


def gpu(
    device: str,
    *,
    code: str,
    mode: str,
    data: str,
    grid: tuple[int, int] | None,
    messages: int,
    message_bytes: int,
    context: Context,
) -> NativeArm:
    """Messages in a GPU's memory that are worked again and again, each with a key of its own.

    All output is compared with this processor's kernels, before and after each sample.

    Args:
        device: cuda or opencl, with a number where there are several; opencl:0 is a processor where
            there is no GPU.
        code: "as published" or "ours".
        mode: "replicated", where each thread works all messages for itself, or "partitioned".
        data: "resident", or "with transfers" there and back.
        grid: Blocks, and threads of each; None for what Sealift's driver takes.
        messages: How many.
        message_bytes: Of each.
        context: Seed of keys, nonces and texts.
    """
    request = _request(locals())
    check_memory(grid_bytes(message_bytes, messages=messages))
    return _make(lambda: _lab.Arm.gpu(request))


def gpu_types(device: str, of: str, *, grid: tuple[int, int]) -> NativeArm:
    """Products of small matrices of a data type, in each thread of a GPU.

    `of` is int, long, float, double or float with double literal; the rest as of `gpu`.
    """
    return _make(lambda: _lab.Arm.gpu_types({"device": device, "of": of, "grid": grid}))


def multiprocessors(device: str) -> int:
    """How many multiprocessors a GPU has; arguments and errors as of `gpu`."""
    return _native(lambda: _lab.multiprocessors(device))


def check_region(path: Path, offset: int, length: int) -> None:
    """Checks that a region is there, page-aligned and long enough; touches nothing of it.

    Raises:
        ValueError: If it is not, with the reason.
    """
    try:
        _lab.check_region(path, offset, length)
    except (_lab.NotMeasurableError, OverflowError) as error:
        raise ValueError(str(error)) from error


def write_reads(path: Path, *, reads: int, seed: int) -> list[int]:
    """Writes short reads as FASTQ into an existing file; the same seed gives the same bytes.

    Returns:
        A sum over each 1,000 of them, to check a reader with.

    Raises:
        ValueError: If the number of reads is no multiple of 1,000, or out of range.
        Skip: If the file can't be written.
    """
    try:
        return _lab.write_reads(path, reads=reads, seed=seed)
    except _lab.NotMeasurableError as error:
        raise Skip(str(error), is_transient=True) from error


def _request(arguments: dict[str, Any]) -> Mapping[str, object]:
    """Arguments of a function above, which native code takes by the same names, and the seed."""
    context: Context = arguments.pop("context")
    return {**arguments, "seed": context.seed}


def _make(make: Callable[[], _lab.Arm]) -> NativeArm:
    return NativeArm(_native(make))


def _native(call: Callable[[], T]) -> T:
    try:
        return call()
    except (DeviceError, LimitError, _lab.NotMeasurableError) as error:
        raise Skip(str(error)) from error
    except _lab.WrongResultError as error:
        raise WrongResultError(str(error)) from error


COPY: Mapping[str, object] = {
    "operation": "copy",
    "threads": 1,
    "source": "heap",
    "target": "heap",
    "state": "hot",
    "buffers": "private",
    "offset": 0,
    "beside": "nothing",
    "content": "seeded",
    "folder": Path("/tmp"),
    "region": None,
}
# Imports the extension alone, so that many arms start quickly.
FAR_PROCESS = "from sealift_lab._lab import answer_frames; answer_frames()"
