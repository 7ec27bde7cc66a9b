"""Runs batches on an engine's devices and times them."""

import os
from collections import Counter
from collections.abc import Collection, Mapping
from statistics import median, quantiles
from time import perf_counter
from typing import Any

from sealift import BatchResult, Engine, SealiftError
from sealift.cli import lab

Document = dict[str, Any]
"""A part of the JSON of `sealift explain`."""


def run(
    engine: Engine,
    messages: int,
    message_bytes: int,
    predicted_ns: Mapping[str, float],
    candidates: Collection[str],
) -> tuple[dict[str, Document], dict[str, str], list[Document]]:
    """Runs batches on each device by turns, then some that name no device.

    Args:
        engine: Its devices are open.
        messages: Messages in a batch.
        message_bytes: Bytes of each.
        predicted_ns: Predicted time of a batch on each device.
        candidates: Devices that may get a batch that names none.

    Returns:
        Times by device, why a device has none, and where the other batches went.
    """
    slow = {name: ns for name, ns in predicted_ns.items() if ns > BATCH_NS_MAX}
    not_run = {name: f"one would take {ns / 1e9:,.1f} s" for name, ns in slow.items()}
    size = messages * (2 * message_bytes + BYTES_BESIDE_TEXT)
    if size > BATCH_BYTES_MAX:
        text = f"its data need {size / 1e9:,.1f} GB, and only batches up to 1 GB are run"
        not_run = dict.fromkeys(predicted_ns, text)
    samples: dict[str, list[float]] = {name: [] for name in predicted_ns if name not in not_run}
    if not samples:
        return {}, not_run, []
    batch = _Batch(engine, messages, message_bytes)
    end = perf_counter() + DEVICES_S
    while samples and (perf_counter() < end or not all(samples.values())):
        for name in list(samples):
            try:
                samples[name].append(batch.seal_ns(name))
            except SealiftError as error:
                not_run[name] = str(error)
                del samples[name]
    # The first batch finds cold caches.
    taken = {name: times_of(ns[1:] or ns) for name, ns in samples.items()}
    return taken, not_run, [] if slow.keys() & {*candidates} else _place(engine, batch)


def times_of(ns: list[float]) -> Document:
    """The median of samples in nanoseconds, and the quartiles of four or more."""
    low, high = None, None
    if len(ns) >= 4:
        low, _, high = quantiles(ns, n=4, method="inclusive")
    return {"batches": len(ns), "median_ns": median(ns), "low_ns": low, "high_ns": high}


def _place(engine: Engine, batch: "_Batch") -> list[Document]:
    """Runs batches that name no device, and counts where they went; most frequent first."""
    before_ns = max((record.arrived_ns for record in engine.records()), default=-1)
    end = perf_counter() + PLACEMENT_S
    for done in range(PLACEMENTS_MAX):
        if done and perf_counter() >= end:
            break
        try:
            batch.seal_ns(None)
        except SealiftError:
            # Its device failed above, too, and has this reason there.
            break
    records = [record for record in engine.records() if record.arrived_ns > before_ns]
    counts = Counter((record.device, record.because) for record in records if record.end == "done")
    return [
        {"device": device, "because": because, "batches": count}
        for (device, because), count in counts.most_common()
    ]


class _Batch:
    """Messages of zeros under a random key, sealed again and again into one place."""

    def __init__(self, engine: Engine, messages: int, message_bytes: int) -> None:
        self._engine = engine
        self._session = engine.session(os.urandom(16))
        column = lab.extension().Fixed
        stride = max(message_bytes, 1)
        self._nonces = column(os.urandom(12 * messages), 12)
        self._texts = column(bytes(messages * stride), message_bytes, stride=stride)
        self._out = column(bytearray(messages * stride), message_bytes, stride=stride)
        self._tags = column(bytearray(16 * messages), 16)

    def seal_ns(self, device: str | None) -> float:
        """Nanoseconds of a batch on a device, or on one that the engine chooses."""
        done: BatchResult = self._engine.seal_batch(
            self._session,
            self._nonces,
            self._texts,
            out=self._out,
            tags=self._tags,
            device=device,
        )
        return done.seconds * 1e9


# Together half a second: `sealift advise` measures with care.
DEVICES_S, PLACEMENT_S = 0.3, 0.15
# Fewer than an engine has records.
PLACEMENTS_MAX = 1_000
BATCH_NS_MAX, BATCH_BYTES_MAX = 5e8, 10**9
# A nonce, a tag, and two statuses.
BYTES_BESIDE_TEXT = 30
