"""Which samples an estimate may stand on: what the system did to each of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Flags:
    """What the system did to one sample.

    Attributes:
        ns: How long it took by the wall clock, in nanoseconds.
        involuntary_switches: Times the scheduler took a measuring thread off its core. What else
            ran there also took its place in the caches.
        cpu_share: Thread CPU time over wall time, the least of the sample's threads; 0..1. What is
            missing is the time in which something else ran on the core: other threads, interrupts,
            and, where the kernel accounts for it, other virtual machines.
        steal_ns: Time the hypervisor took from all of the machine's cores together, in
            nanoseconds, but in steps of 10 ms.
        clock_share: Effective clock of the core over what it usually was; None where unknown.
    """

    ns: int
    involuntary_switches: int
    cpu_share: float
    steal_ns: int
    clock_share: float | None = None

    @property
    def clean(self) -> bool:
        """Whether switches, other work on the core and steal each cost the sample under 1 %.

        One switch is taken to cost 50 us, so a sample of under 5 ms may have none, and one of
        10 ms two: even an idle machine has several in a second, and without this long samples
        would never be clean. Steal is counted from its second step on, because one step, of any
        core and begun at any time, says nothing about a sample shorter than itself.

        The clock is not asked: an arm that heats the core slows its own clock, and what it then
        does is what it does. Only a block in which all arms are off says something about the
        machine.
        """
        spare_ns = (1 - CPU_SHARE_MIN) * self.ns
        return (
            self.involuntary_switches * SWITCH_NS <= spare_ns
            and self.cpu_share >= CPU_SHARE_MIN
            and self.steal_ns - STEAL_STEP_NS <= spare_ns
        )

    @property
    def off_clock(self) -> bool:
        """Whether the clock is known and was over 3 % off."""
        return self.clock_share is not None and abs(self.clock_share - 1) > CLOCK_OFF_MAX


@dataclass(frozen=True)
class Kept:
    """Which blocks of a series an estimate stands on.

    Attributes:
        blocks: Indices of the blocks used, ascending.
        clean_share: Share of all blocks that were clean; 0..1.
        unclean: Under half were clean and too few to stand on, so all blocks are used.
    """

    blocks: tuple[int, ...]
    clean_share: float
    unclean: bool

    @property
    def busy(self) -> bool:
        """Whether under half were clean, so that the machine counts as busy."""
        return self.clean_share < CLEAN_SHARE_MIN


def keep_clean(flags: Sequence[bool]) -> Kept:
    """Picks the blocks to estimate from: the clean ones, if half of all are, or a quarter and 8.

    Args:
        flags: For each block whether every sample it contributes was clean.

    Raises:
        ValueError: If there are no blocks.
    """
    if not flags:
        raise ValueError("no blocks were measured; give the run more time")
    clean = tuple(index for index, is_clean in enumerate(flags) if is_clean)
    share = len(clean) / len(flags)
    few = len(clean) < CLEAN_BLOCKS_MIN or share < CLEAN_SHARE_LEAST
    unclean = share < CLEAN_SHARE_MIN and few
    return Kept(tuple(range(len(flags))) if unclean else clean, share, unclean)


def is_one_arms_doing(off: int, blocks: int, off_of_all: int, blocks_of_all: int) -> bool:
    """Whether samples off their usual clock gather in one arm more than chance would let them.

    By chance each such sample falls on any sample alike. Then as many in one arm are rarer than one
    in a hundred.

    Args:
        off: How many of the arm's samples were.
        blocks: How many samples the arm has.
        off_of_all: The same of all arms of the group, this one too.
        blocks_of_all: The same.
    """
    share = blocks / blocks_of_all
    chances = (
        math.comb(off_of_all, k) * share**k * (1 - share) ** (off_of_all - k)
        for k in range(off, off_of_all + 1)
    )
    return off > 0 and math.fsum(chances) <= GATHERED_BY_CHANCE


CPU_SHARE_MIN = 0.99
# The time to fill a second-level cache of a mebibyte again at 20 GB/s.
SWITCH_NS = 50_000
# /proc/stat counts in hundredths of a second, whatever the kernel's own tick.
STEAL_STEP_NS = 10_000_000
CLOCK_OFF_MAX = 0.03
CLEAN_SHARE_MIN, CLEAN_SHARE_LEAST = 0.5, 0.25
# What a verdict at 99 % needs.
CLEAN_BLOCKS_MIN = 8
GATHERED_BY_CHANCE = 0.01
