"""The statistics of the lab: medians, intervals, paired ratios, a noise floor, verdicts.

A series holds one value a block. Every arm is sampled once a block, so that two series are
compared block by block and a slow minute of the machine hits both sides alike. The standard
library only, and nothing is drawn by chance: the same samples give the same answer.
"""

from sealift.lab.stats.flags import Flags, Kept, keep_clean
from sealift.lab.stats.intervals import (
    SHOWN_CONFIDENCE,
    VERDICT_CONFIDENCE,
    Interval,
    median,
    median_interval,
    paired_ratios,
    run_ratio,
    speed_ratio,
)
from sealift.lab.stats.steadiness import drift, is_steady, warm_up_blocks
from sealift.lab.stats.verdicts import (
    Trust,
    Verdict,
    blocks_needed,
    holm,
    noise_floor,
    smallest_difference,
    trust,
    verdict,
    verdicts,
)

__all__ = [
    "SHOWN_CONFIDENCE",
    "VERDICT_CONFIDENCE",
    "Flags",
    "Interval",
    "Kept",
    "Trust",
    "Verdict",
    "blocks_needed",
    "drift",
    "holm",
    "is_steady",
    "keep_clean",
    "median",
    "median_interval",
    "noise_floor",
    "paired_ratios",
    "run_ratio",
    "smallest_difference",
    "speed_ratio",
    "trust",
    "verdict",
    "verdicts",
    "warm_up_blocks",
]
