"""Why something that was measured settles nothing, whatever it stands beside."""

from sealift.lab.stats import VERDICT_CONFIDENCE, Interval, Trust, blocks_needed, trust


def doubt(here: Interval, noise_floor: float, *, machine_busy: bool) -> str:
    """Too few blocks, too much noise, or a busy machine; "" where none of them is.

    Args:
        here: What was measured.
        noise_floor: Of it, as a share.
        machine_busy: Whether the machine was, meanwhile.
    """
    least = blocks_needed(VERDICT_CONFIDENCE)
    if here.blocks < least:
        return f"{here.blocks} blocks are too few, {least} are needed"
    if trust(noise_floor) is Trust.LOUD:
        return f"the same code differed from itself by {100 * noise_floor:.3g} %"
    return "the machine was busy" if machine_busy else ""
