"""What may be said: the noise floor of a comparison, verdicts on one or several arms, winners."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from sealift.lab.stats.estimates import Estimate, of_series
from sealift.lab.stats.intervals import VERDICT_CONFIDENCE, speed_ratio
from sealift.lab.stats.series import check_confidence


class Verdict(StrEnum):
    """What may be said about the speed of an arm against another."""

    FASTER = "FASTER"
    SLOWER = "SLOWER"
    SAME = "SAME"
    UNSURE = "UNSURE"


class Trust(StrEnum):
    """How far the noise floor of a comparison lets it be trusted."""

    GOOD = "good"
    CAUTION = "caution"
    LOUD = "far apart only"


def noise_floor(
    first_ns: Sequence[float],
    again_ns: Sequence[float],
    *,
    restarts: Sequence[int] | None = None,
) -> float:
    """How far apart two samplings of one arm look: the A/A noise floor.

    Args:
        first_ns: Nanoseconds an operation of the doubled arm, one value a block.
        again_ns: Its second sample in the same blocks.
        restarts: Which restart each block is of; one restart when left out.

    Returns:
        The larger distance from 1 of the 95 % interval of the A/A ratio, as a share:
        0.02 means that 2 % between two arms is noise.
    """
    ratio = speed_ratio(again_ns, first_ns, restarts=restarts)
    return max(ratio.high, 1 / ratio.low) - 1


def trust(noise_floor_share: float) -> Trust:
    """What a noise floor allows: over 3 % caution, over 10 % verdicts on what is far apart only."""
    if noise_floor_share > LOUD_FLOOR:
        return Trust.LOUD
    return Trust.CAUTION if noise_floor_share > CAUTION_FLOOR else Trust.GOOD


def smallest_difference(noise_floor_share: float) -> float:
    """The least difference that is called one: the noise floor, and at least 2 %.

    The A/A pair is one arm in one place of memory. Two arms of the same code that were prepared
    apart differ by more, and no number of blocks of one process averages that away.
    """
    return max(noise_floor_share, DIFFERENCE_MIN)


def least_told(noise_floor_share: float) -> float:
    """The least difference that a verdict calls one, whatever the noise.

    Over 10 % the noise floor is itself hardly known, so there it is three times as much. What is
    nearer to each other is not called the same there, either.
    """
    loud = trust(noise_floor_share) is Trust.LOUD
    return smallest_difference(noise_floor_share) * (FAR_APART if loud else 1)


def verdicts(
    ratios: Sequence[Sequence[float]],
    noise_floor_share: float,
    *,
    restarts: Sequence[Sequence[int]] | None = None,
) -> tuple[Verdict, ...]:
    """Judges several arms against one reference, so that all verdicts together keep 99 %.

    Args:
        ratios: For each arm reference / arm, one value a block, as from `paired_ratios`.
        noise_floor_share: From `noise_floor` of the group.
        restarts: For each arm which restart its blocks are of; one restart when left out.
    """
    labels = [None] * len(ratios) if restarts is None else restarts
    least = least_told(noise_floor_share)
    said = judged(
        [(of_series(values, of), least) for values, of in zip(ratios, labels, strict=True)]
    )
    if trust(noise_floor_share) is Trust.LOUD:
        return tuple(Verdict.UNSURE if each is Verdict.SAME else each for each in said)
    return said


def judged(claims: Sequence[tuple[Estimate, float]]) -> tuple[Verdict, ...]:
    """Judges several ratios, so that all verdicts together keep 99 %.

    FASTER or SLOWER when the whole interval lies beyond the least difference, SAME when it lies
    inside, UNSURE otherwise. By Holm's steps the interval of the clearest of n has the confidence
    1 - 0.01 / n, that of the next one 1 - 0.01 / (n - 1), and so on until one isn't clear.

    Args:
        claims: Each ratio with the share below which its difference is called none.
    """
    chances = [_chances(ratio, least) for ratio, least in claims]
    differ = holm([chance.differ for chance in chances])
    same = holm([chance.same for chance in chances])
    level = 1 - VERDICT_CONFIDENCE

    def said(at: int, ratio: Estimate) -> Verdict:
        if differ[at] <= level:
            return Verdict.FASTER if ratio.median > 1 else Verdict.SLOWER
        return Verdict.SAME if same[at] <= level else Verdict.UNSURE

    return tuple(said(at, ratio) for at, (ratio, _) in enumerate(claims))


def holm(chances: Sequence[float]) -> tuple[float, ...]:
    """Adjusts the error probabilities of several findings, so that they can be judged together.

    Args:
        chances: For each finding the probability of seeing as much by chance; 0..1.

    Returns:
        For each finding, in the same order, the level that all findings together must allow for
        this one to stand (Holm's step-down procedure).
    """
    adjusted = [0.0] * len(chances)
    most = 0.0
    for step, place in enumerate(sorted(range(len(chances)), key=chances.__getitem__)):
        most = max(most, min(1.0, chances[place] * (len(chances) - step)))
        adjusted[place] = most
    return tuple(adjusted)


def blocks_needed(confidence: float) -> int:
    """Least number of blocks whose whole range covers the median with `confidence`.

    All of n independent values lie on one side of the true median with probability 2**(1 - n), so
    fewer blocks can't carry such an interval whatever a bootstrap says: 8 for 99 %. Blocks of one
    restart are not independent where restarts differ; what few restarts can't carry, Student's t
    takes care of.
    """
    check_confidence(confidence)
    return 1 + math.ceil(-math.log2(1 - confidence))


@dataclass(frozen=True)
class _Chances:
    """How easily chance alone gives a series, if the arm does not differ, or is not the same."""

    differ: float
    same: float


def _chances(ratio: Estimate, least_difference: float) -> _Chances:
    high = 1 + least_difference
    low = 1 / high
    # What `blocks_needed` says, as a probability. What restarts can carry, Student's t says.
    few = 2.0 ** (1 - ratio.blocks)
    differ = min(ratio.at_most(high), ratio.at_least(low))
    below, beyond = math.nextafter(low, 0.0), math.nextafter(high, math.inf)
    same = max(ratio.at_most(below), ratio.at_least(beyond))
    return _Chances(max(few, min(1.0, 2 * differ)), max(few, min(1.0, 2 * same)))


CAUTION_FLOOR = 0.03
LOUD_FLOOR, FAR_APART = 0.10, 3
# What separately prepared arms of the same code may differ by: docs/statistics.md has the figures.
DIFFERENCE_MIN = 0.02
