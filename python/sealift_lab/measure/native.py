"""Native arms: made by the extension's own measuring loops, which check the results they time.

`_lab.Arm` describes the arguments. Each function that makes an arm raises `ValueError` if one is
out of range, `Skip` with the reason if the machine or the device can't do the work or memory is
short, and `WrongResultError` if something is computed wrong while the arm is checked.
"""

import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any, TypeVar

from sealift.errors import DeviceError, LimitError
from sealift_lab import _lab
from sealift_lab._lab import stream_source as stream_source
from sealift_lab.machine.facts import check_memory
from sealift_lab.model.arm import Context, Sample, Skip, Value, WrongResultError
from sealift_lab.model.workload import Keys, Workload

T = TypeVar("T")


@dataclass(frozen=True)
class NativeArm:
    """An arm whose loop is native; implements `model.arm.Arm`."""

    arm: _lab.Arm

    def sample(self, seconds: float) -> Sample:
        """Runs for about `seconds`; Ctrl-C is noticed within a tenth of a second."""
        try:
            return Sample(*self.arm.sample(seconds))
        except _lab.WrongResultError as error:
            raise WrongResultError(str(error)) from error

    def report(self) -> Mapping[str, Value]:
        """What it was checked against, its counts up to now, its implementation, and its cores.

        A device's `role` is "real" for those that are for users, "test only" for a peer.
        """
        arm = self.arm
        return {
            **({} if arm.role is None else {"role": arm.role}),
            "checked_against": ", ".join(arm.checked_against) or "nothing",
            **arm.counts,
            **{name: text for name, text in arm.told.items() if text},
            "detail": arm.detail,
            "cores": "+".join(map(str, arm.cores)) or "any",
        }


def gcm(
    device: str, workload: Workload, *, threads: int, batch: int, context: Context
) -> NativeArm:
    """A device on AES-GCM messages, checked byte by byte on every one of them before it is timed.

    After each sample, with the clock stopped, every thread compares one batch that it worked, or
    several small ones, up to 256 messages or 128 KiB: other ones each time, until all had their
    turn. Their outputs are overwritten before the clock starts.
    """
    check_memory(gcm_bytes(workload, threads=threads, batch=batch))
    regime = {"keys": workload.regime.keys.value, "sessions": workload.regime.sessions}
    work = {**workload.columns(), **regime, "batch": batch, "threads": threads}
    return native("gcm", context, device=with_ipp(device), **work)


def native(kind: str, context: Context | None = None, /, **request: Any) -> NativeArm:
    """An arm by a constructor of `_lab.Arm`; what the request leaves out is as in `USUAL`."""
    whole = {**USUAL.get(kind, {}), **({"seed": context.seed} if context else {}), **request}
    make = getattr(_lab.Arm, kind)
    if kind in NEEDED_BYTES:
        check_memory(NEEDED_BYTES[kind](whole))
    return NativeArm(_native(lambda: make(**whole) if kind in BY_KEYWORDS else make(whole)))


def multiprocessors(device: str) -> int:
    """How many multiprocessors a GPU has; errors as of `gpu`."""
    return _native(lambda: _lab.multiprocessors(device))


def check_region(path: Path, offset: int, length: int) -> None:
    """Raises ValueError if a region is not there, not of whole pages, or not long enough."""
    try:
        _lab.check_region(path, offset, length)
    except (_lab.NotMeasurableError, OverflowError) as error:
        raise ValueError(str(error)) from error


def write_reads(path: Path, *, reads: int, seed: int) -> list[int]:
    """As `_lab.write_reads`; a transient Skip if the file can't be written."""
    try:
        return _lab.write_reads(path, reads=reads, seed=seed)
    except _lab.NotMeasurableError as error:
        raise Skip(str(error), is_transient=True) from error


def gcm_bytes(workload: Workload, *, threads: int, batch: int) -> int:
    """Messages, results and sessions of an arm while it is checked.

    A text stands three times: as it is read, as it is written, and as it must be written, which the
    timed results are compared with.
    """
    copy_bytes = int(workload.messages * (3 * workload.text_len_mean + BYTES_BESIDE_TEXT))
    # A batch of none is refused with what would be right when the arm is made.
    batches = -(-workload.messages // max(batch, 1))
    sessions = workload.regime.sessions if workload.regime.keys is Keys.SESSIONS else 0
    # While a batch is made its texts stand two times more, which a further copy has room for; and
    # while sessions are renewed they stand twice.
    return (
        (threads + 1) * copy_bytes
        + threads * batches * BYTES_A_BATCH
        + 2 * sessions * BYTES_A_SESSION
    )


def with_ipp(device: str) -> str:
    """The same device; where `ipp` names no file, with the one that the package `ipp-crypto` has.

    Without one the loader searches for it; a Skip if the path can't stand in a device's name.
    """
    path = find_ipp() if BARE_IPP.search(device) else None
    if path is None:
        return device
    if bad := sorted(set(str(path)) & set("(),")):
        raise Skip(
            f"a device can't name {path} because of its {' '.join(bad)}; install ipp-crypto into "
            "an environment whose path has none"
        )
    return BARE_IPP.sub(lambda _: f"ipp:lib={path}", device)


def find_ipp() -> Path | None:
    """Intel's library in the installed package `ipp-crypto`; None when it isn't installed."""
    with suppress(PackageNotFoundError):
        for file in files("ipp-crypto") or []:
            if file.name == IPP_LIBRARY and (path := Path(file.locate()).resolve()).is_file():
                return path
    return None


def _contended_bytes(of: Mapping[str, Any]) -> int:
    """The texts and ciphertexts, and a chunk that is compared; or the buffers of the ceiling."""
    threads, streamers, stream_bytes = of["threads"], of["streamers"], of["stream_bytes"]
    texts_bytes = threads * (2 * of["text_bytes"] + (1 << 20)) + streamers * stream_bytes
    return int(max(texts_bytes, (threads + streamers) * stream_bytes if streamers else 0))


def _copy_bytes(of: Mapping[str, Any]) -> int:
    """Sources and destinations of a copy, where no other arm has them already.

    Cold copies go to memory that none of the last ones went to. Places begin at lines, are a power
    of two, lie in a power of two of bytes, and have two pages for an offset.
    """
    # What is out of range is refused with what would be right when the arm is made.
    size_bytes, threads = int(of["bytes"]), int(of["threads"])
    places, stride = 1, max(1, -(-size_bytes // LINE_BYTES)) * LINE_BYTES
    if of["state"] != "hot":
        spread = max(COLD_BYTES // max(1, threads), COLD_BYTES_A_THREAD)
        places = _power_of_two(max(2, spread // stride))
    side = _power_of_two((places - 1) * stride + size_bytes) + 8_192
    return 2 * (1 if of["buffers"] == "shared" else threads) * side


def _frames_bytes(of: Mapping[str, Any]) -> int:
    """Regions, texts and patterns of both processes, beside an interpreter with the engine.

    Half a mebibyte of frames each way, or four hands of them.
    """
    hands_bytes: int = 4 * of["frame_bytes"] * of["batch"]
    return (32 << 20) + 2 * (max(1 << 19, hands_bytes) + hands_bytes)


def _power_of_two(number: int) -> int:
    return 1 << (number - 1).bit_length()


def _native(call: Callable[[], T]) -> T:
    try:
        return call()
    except (DeviceError, LimitError, _lab.NotMeasurableError) as error:
        raise Skip(str(error)) from error
    except _lab.WrongResultError as error:
        raise WrongResultError(str(error)) from error


# Each imports the extension alone, so that many arms start quickly.
FAR_PROCESS = "from sealift_lab._lab import answer_frames; answer_frames()"
USUAL: Mapping[str, Mapping[str, Any]] = {
    "copy": {
        "operation": "copy", "threads": 1, "source": "heap", "target": "heap", "state": "hot",
        "buffers": "private", "offset": 0, "beside": "nothing", "content": "seeded",
        "folder": Path("/tmp"), "region": None,
    },
    "published_copy": {
        "source": "heap", "target": "heap", "content": "seeded", "folder": Path("/tmp"),
        "region": None,
    },
    "frames": {"far": [sys.executable, "-P", "-c", FAR_PROCESS]},
    "gpu": {"operation": "seal", "keys": "own keys", "key_bits": [128], "s_box": "tables"},
}  # fmt: skip
BY_KEYWORDS = ("frames", "gcm", "primitive", "read")
NEEDED_BYTES: Mapping[str, Callable[[Mapping[str, Any]], int]] = {
    "contended": _contended_bytes,
    "copy": _copy_bytes,
    "frames": _frames_bytes,
    # On the host: inputs, outputs, and what must come out; key, nonce and tags twice.
    "gpu": lambda of: of["messages"] * (3 * of["message_bytes"] + 400),
    # Both directions have memory of their own.
    "gpu_copies": lambda of: 2 * of["size_bytes"],
    # Texts of clients, what must come of them, and results.
    "offload": lambda of: (
        4 * of["threads"] * of["batch"] * (of["message_bytes"] + BYTES_BESIDE_TEXT)
    ),
    # Up to 64 messages a thread, of a mebibyte together when that is more than one.
    "primitive": lambda of: of["threads"] * max(of["message_bytes"], 1 << 20),
    "published_copy": lambda of: 2 * of["bytes"],
    "read": lambda of: of["buffer_bytes"],
}
IPP_LIBRARY = "libippcp.so.13"
# The driver, alone or wrapped, without a setting.
BARE_IPP = re.compile(r"(?:^|(?<=\())ipp(?=$|\))")
# A nonce, a key, three tags, two statuses, a session id, a place and three offsets, roundly.
BYTES_BESIDE_TEXT = 160
# Columns and places of a batch, each in an allocation of its own: 900 bytes were measured on
# x86-64, by the growth of a process with 300,000 batches of one message of 16 bytes, all included.
BYTES_A_BATCH = 1_024
# The key, its place in the engine, and its schedules on the device and on the one that checks it:
# 290 to 470 bytes were measured on x86-64, by the growth of a process with 500,000 of them.
BYTES_A_SESSION = 512
# What native code spreads cold copies over, on one side of them, and how it rounds.
COLD_BYTES, COLD_BYTES_A_THREAD, LINE_BYTES = 64 << 20, 1 << 20, 64
