"""From how many messages at once a device that works in grids is faster than cores."""

from collections.abc import Mapping, Sequence

from sealift.lab.result import Row


def break_even(device: Mapping[int, Row], cores: Mapping[int, Row]) -> str:
    """Between which batches a device begins to be the faster one, by intervals that don't meet.

    Args:
        device: Its rows by messages at once.
        cores: Those of cores.

    Returns:
        Words: `from 1 on`, `between 256 and 4,096`, `by 4,096 at the latest` where no smaller batch
        is told apart, `at none of 1 to 65,536`; "" where no batch was measured of both. Where it is
        faster at some batch and no longer at a larger one, what holds to the end counts.
    """
    batches = sorted(device.keys() & cores.keys())
    if not batches:
        return ""
    faster = [batch for batch in batches if is_faster(device[batch], cores[batch])]
    lasting = _to_the_end(batches, faster)
    if not lasting:
        return f"at none of {batches[0]:,} to {batches[-1]:,}"
    first = batches.index(lasting[0])
    if not first:
        return f"from {batches[0]:,} on"
    slower = [batch for batch in batches[:first] if is_faster(cores[batch], device[batch])]
    least = max(slower, default=0)
    return f"between {least:,} and {lasting[0]:,}" if least else f"by {lasting[0]:,} at the latest"


def is_faster(one: Row, other: Row) -> bool:
    """Whether a row takes less time than another by both intervals and noise floors."""
    noise = 1 + max(one.noise_floor, other.noise_floor)
    return one.ns_per_operation.high * noise < other.ns_per_operation.low


def _to_the_end(batches: Sequence[int], faster: Sequence[int]) -> Sequence[int]:
    """Those at the end of all batches that are all among the faster ones."""
    count = 0
    for batch in reversed(batches):
        if batch not in faster:
            break
        count += 1
    return batches[len(batches) - count :]
