"""Native arms: made by the engine's own measuring loops, which check what they time.

The only module of the lab that imports these loops, beside the processes of `files`.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from sealift import _sealift
from sealift._sealift import effective_clock_ghz, stream_source
from sealift.errors import DeviceError, LimitError
from sealift.lab.ipp import with_ipp
from sealift.lab.memory import (
    check_memory,
    contended_bytes,
    copy_bytes,
    frames_bytes,
    gcm_bytes,
    grid_bytes,
    offload_bytes,
    primitive_bytes,
)
from sealift.lab.spec import Context, Sample, Skip, WrongResultError
from sealift.lab.values import Value
from sealift.lab.workload import Workload

__all__ = [
    "NativeArm",
    "check_region",
    "contended",
    "copy",
    "effective_clock_ghz",
    "exchange_frames",
    "gcm",
    "gpu",
    "gpu_types",
    "multiprocessors",
    "offload",
    "primitive",
    "published_copy",
    "read_memory",
    "stream_source",
    "write_reads",
]


class NativeArm:
    """An arm whose loop is native; implements `spec.Arm`."""

    def __init__(self, arm: _sealift.Arm) -> None:
        """Takes over a native arm."""
        self._arm = arm

    def sample(self, seconds: float) -> Sample:
        """Runs for about `seconds`; Ctrl-C is noticed within a tenth of a second.

        Raises:
            WrongResultError: If something was computed wrong.
        """
        try:
            return Sample(*self._arm.sample(seconds))
        except _sealift.WrongResultError as error:
            raise WrongResultError(str(error)) from error

    def verified(self) -> Mapping[str, Value]:
        """What it was checked against, its counts up to now, what it is, and its cores.

        A device's `role` tells whether it is for users: "real", or "test only" for a peer.
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
    turn. What they held before is overwritten before the clock starts.

    Args:
        device: Its name with its settings, as `cpu:isa=aesni`. Beside the devices for users the lab
            has `table`, `ipp` and `slowed:percent=5(library)`.
        workload: The messages.
        threads: That each work all messages.
        batch: Messages handed to the engine at once.
        context: For the seed of keys, nonces, aads and texts.

    Raises:
        Skip: If the device is absent or doesn't take the messages, or they need too much memory.
        WrongResultError: If it computes something wrong.
        UnknownDeviceError: If it is no device.
    """
    check_memory(gcm_bytes(workload, threads=threads, batch=batch))
    spec = with_ipp(device)
    columns = workload.columns()
    return _made(
        lambda: _sealift.Arm.gcm(
            spec,
            operation=columns.operation,
            key_len=columns.key_len,
            nonce_len=columns.nonce_len,
            aad_len=columns.aad_len,
            text_len=columns.text_len,
            tag_len=columns.tag_len,
            keys=workload.regime.keys.value,
            sessions=workload.regime.sessions,
            batch=batch,
            threads=threads,
            seed=context.seed,
        )
    )


def primitive(name: str, message_bytes: int, *, threads: int, context: Context) -> NativeArm:
    """A hash or a signature scheme by AWS-LC, one message an operation.

    Every digest and every verification is looked at; of the signatures that are made, the last one
    of each sample is verified after the clock was stopped.

    Args:
        name: sha-256, ecdsa-p256-sign, ecdsa-p256-verify, ecdsa-p384-sign or ecdsa-p384-verify;
            signing and verifying hash the message first, with SHA-256 or SHA-384.
        message_bytes: Length of each message.
        threads: Each has messages and a key of its own.
        context: For the seed of the messages.

    Raises:
        ValueError: If there is no such primitive, with the nearest name.
        Skip: If AWS-LC refuses, or the messages need too much memory.
        WrongResultError: If it computes something wrong.
    """
    known = _sealift.primitives()
    if name not in known:
        near = get_close_matches(name, known, 1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise ValueError(f"no primitive is called {name!r}{hint}; there are {', '.join(known)}")
    check_memory(primitive_bytes(message_bytes, threads=threads))
    return _made(
        lambda: _sealift.Arm.primitive(name, message_bytes, threads=threads, seed=context.seed)
    )


def read_memory(buffer_bytes: int = 256 << 20, *, threads: int) -> NativeArm:
    """A loop that reads memory from end to end, 64 KiB an operation, and checks what it read.

    Args:
        buffer_bytes: What all threads read together, each its own part; more than the last cache
            holds, or it is the cache that is measured.
        threads: How many read.

    Raises:
        ValueError: If there are less than 64 KiB for each thread.
        Skip: If that needs too much memory.
        WrongResultError: If memory holds something else than was written.
    """
    check_memory(buffer_bytes)
    return _made(lambda: _sealift.Arm.read(buffer_bytes, threads=threads))


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

    The last mebibyte of each thread is compared with AWS-LC's after each sample. Its record counts
    what streamed and how long, and what memory gave before, to as many threads in all, and how
    long; so that one over the other is the share that was reached, over all processes.

    Args:
        cipher: "gcm" or "ctr".
        threads: That encrypt, each texts of its own.
        text_bytes: Of each of them, and as much again for the ciphertext.
        streamers: Threads that read.
        share_percent: What all of them read together, of what memory gives; 100 for as much as
            they get.
        stream_bytes: What each of them reads, again and again.
        context: For the seed of keys and texts.

    Raises:
        ValueError: If there is no such cipher, or a number is out of range.
        Skip: If this processor has no kernels, or there is too little memory.
        WrongResultError: If it computes something wrong.
    """
    check_memory(contended_bytes(text_bytes, stream_bytes, threads=threads, streamers=streamers))
    asked = {
        "cipher": cipher,
        "threads": threads,
        "text_bytes": text_bytes,
        "streamers": streamers,
        "share_percent": share_percent,
        "stream_bytes": stream_bytes,
        "seed": context.seed,
    }
    return _made(lambda: _sealift.Arm.contended(asked))


def copy(asked: Mapping[str, object]) -> NativeArm:
    """A function that copies, reads or writes, checked after each sample.

    Args:
        asked: As `_sealift.Arm.copy` takes it; what is left out is as in `COPY`.

    Raises:
        ValueError: If something of it is wrong.
        Skip: If this machine has no such function or memory, or too little of it.
        WrongResultError: If it copies something wrong.
    """
    whole = {**COPY, **asked}
    bytes_, threads = int(str(whole["bytes"])), int(str(whole["threads"]))
    is_shared = whole["buffers"] == "shared"
    check_memory(
        copy_bytes(bytes_, threads=threads, is_cold=whole["state"] != "hot", is_shared=is_shared)
    )
    return _made(lambda: _sealift.Arm.copy(whole))


def published_copy(
    function: int, size_bytes: int, *, before: Sequence[int], runs: int, threads: int, seed: int
) -> NativeArm:
    """The published tool's way of measuring a copy.

    Args:
        function: 0, 1 or 2, in the tool's order.
        size_bytes: Length of a copy.
        before: Shorter lengths that are copied before.
        runs: How often each function copies.
        threads: Workers of the pool; 0 for none.
        seed: Of the source.

    Raises:
        ValueError: If a number is out of range.
        Skip: If this machine has no such function, too little memory, or can't start the threads.
        WrongResultError: If it copies something wrong.
    """
    check_memory(2 * size_bytes)
    return _made(
        lambda: _sealift.Arm.published_copy(
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
        context: For the seed of the frames, and of keys where they are sealed.

    Raises:
        ValueError: If there is no such way or pattern, or a number is out of range.
        Skip: If the system refuses this way, or the other process doesn't start.
        WrongResultError: If a frame arrives that was not sent.
    """
    check_memory(frames_bytes(frame_bytes, batch=batch))
    return _made(
        lambda: _sealift.Arm.frames(
            way,
            pattern,
            frame_bytes=frame_bytes,
            batch=batch,
            seed=context.seed,
            far=[sys.executable, "-P", "-c", ANSWERING],
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
    """Clients that hand batches over to cores as document 002's did to cards.

    Each client has a key and a device that it keeps to, and one batch in flight. After each sample
    every client compares its last batch with what another library gave.

    Args:
        cipher: "3des-cbc" by RustCrypto, or "aes-128-gcm" by this processor's kernels.
        way: "calling thread", where nothing is handed over, "sleeping" or "polling".
        threads: Clients.
        devices: Each a worker that keeps to a core of its own.
        message_bytes: A multiple of 8.
        batch: Messages handed over at once.
        context: For the seed of keys, nonces and texts.

    Raises:
        ValueError: If something of it is wrong.
        Skip: If there are fewer cores than devices, or too little memory.
        WrongResultError: If a message comes back otherwise than it should.
    """
    check_memory(offload_bytes(message_bytes, threads=threads, batch=batch))
    asked = {
        "cipher": cipher,
        "way": way,
        "threads": threads,
        "devices": devices,
        "message_bytes": message_bytes,
        "batch": batch,
        "seed": context.seed,
    }
    return _made(lambda: _sealift.Arm.offload(asked))


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

    All that comes out is compared with this processor's kernels, before and after each sample.

    Args:
        device: cuda or opencl, with a number where there are several; opencl:0 is a processor where
            there is no GPU.
        code: "as published" or "ours".
        mode: "replicated", where each thread works all messages for itself, or "partitioned".
        data: "resident", or "with transfers" there and back.
        grid: Blocks, and threads of each; None for what Sealift's driver takes.
        messages: How many.
        message_bytes: Of each.
        context: For the seed of keys, nonces and texts.

    Raises:
        ValueError: If something of it is wrong.
        Skip: If there is no such device, or it takes no such grid, or there is too little memory.
        WrongResultError: If it computes something wrong.
    """
    check_memory(grid_bytes(message_bytes, messages=messages))
    asked = {
        "device": device,
        "code": code,
        "mode": mode,
        "data": data,
        "grid": grid,
        "messages": messages,
        "message_bytes": message_bytes,
        "seed": context.seed,
    }
    return _made(lambda: _sealift.Arm.gpu(asked))


def gpu_types(device: str, of: str, *, grid: tuple[int, int]) -> NativeArm:
    """Products of small matrices of a data type, in each thread of a GPU.

    Args:
        device: As of `gpu`.
        of: int, long, float, double or float with double literal.
        grid: Blocks, and threads of each.

    Raises:
        ValueError: If there is no such type.
        Skip: If there is no such device, or it takes no such grid or type.
        WrongResultError: If it computes something wrong.
    """
    asked = {"device": device, "of": of, "grid": grid}
    return _made(lambda: _sealift.Arm.gpu_types(asked))


def multiprocessors(device: str) -> int:
    """How many multiprocessors a GPU has.

    Args:
        device: As of `gpu`.

    Raises:
        ValueError: If it is none.
        Skip: If there is no such device.
    """
    try:
        return _sealift.multiprocessors(device)
    except _sealift.NotMeasurableError as error:
        raise Skip(str(error)) from error


def check_region(path: Path, offset: int, length: int) -> None:
    """Looks whether a region is there, page-aligned and long enough; touches nothing of it.

    Raises:
        ValueError: If it is not; says why.
    """
    try:
        _sealift.check_region(path, offset, length)
    except (_sealift.NotMeasurableError, OverflowError) as error:
        raise ValueError(str(error)) from error


def write_reads(path: Path, *, reads: int, seed: int) -> list[int]:
    """Writes short reads as FASTQ into a file that is there; the same seed gives the same bytes.

    Args:
        path: Of the file; what it holds is lost.
        reads: How many, a multiple of 1,000.
        seed: Of what is drawn.

    Returns:
        A sum over each 1,000 of them, to hold a reader to.

    Raises:
        ValueError: If the number of reads can't be.
        Skip: If the file can't be written.
    """
    try:
        return _sealift.write_reads(path, reads=reads, seed=seed)
    except _sealift.NotMeasurableError as error:
        raise Skip(str(error), may_pass=True) from error


def _made(make: Callable[[], _sealift.Arm]) -> NativeArm:
    try:
        return NativeArm(make())
    except (DeviceError, LimitError, _sealift.NotMeasurableError) as error:
        raise Skip(str(error)) from error
    except _sealift.WrongResultError as error:
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
# No more than it takes, so that many arms start quickly.
ANSWERING = "from sealift._sealift import answer_frames; answer_frames()"
