"""Asks the engine's own scheduler, in virtual time, how long batches wait under a load."""

from functools import lru_cache

from sealift import Cost, Engine, rehearse
from sealift.lab.devices import real_devices
from sealift.lab.load.device import Device, InBatches
from sealift.lab.load.mixed import mixed_ns_p99
from sealift.lab.units import NS_PER_S


def rehearsed(device: Device, batch: InBatches, batches_per_s: float) -> float:
    """Nanoseconds within which 99 of 100 batches are back, waiting for their turn included.

    20,000 of them come at random, so many a second on average, and each takes what it was measured
    or reckoned to take. Messages that differ in length are drawn; their batches go to workers in
    turn.

    A rehearsal works its messages for real, so it is given small ones that take less. How long
    batches wait in proportion to what they take depends on how busy the device is, and on nothing
    else; so times are scaled. A card works several batches in a row of stages: they wait for the
    slowest of these, as for a device that takes as long as that one does.

    Args:
        device: Who works them alone.
        batch: What it does in such batches.
        batches_per_s: Fewer than it can do.
    """
    if device.lengths is not None:
        return mixed_ns_p99(device, batch, device.lengths, batches_per_s)
    cost = _any_cost()
    rehearsed_ns = cost.setup_ns + cost.per_message_ns + cost.per_byte_ns * MESSAGE_BYTES
    turn_ns = device.workers * batch.messages * NS_PER_S / batch.per_s.value
    scale = turn_ns / rehearsed_ns
    found = rehearse(
        [(device.name, cost, device.workers)],
        # Fewer don't wait for each other either.
        batches_per_s=max(1.0, batches_per_s * scale),
        messages=1,
        message_bytes=MESSAGE_BYTES,
    )
    return batch.batch_ns.value + scale * max(0.0, found.response_ns_p99 - rehearsed_ns)


@lru_cache(maxsize=1)
def _any_cost() -> Cost:
    name, *_ = real_devices()
    return Engine([name]).costs()[name]


# Long enough that whole nanoseconds are exact, short enough that 20,000 take no time.
MESSAGE_BYTES = 4_096
