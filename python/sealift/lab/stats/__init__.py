"""The statistics of the lab: medians, intervals, paired ratios, a noise floor, verdicts.

A series holds one value a block. Every arm is sampled once a block, so that two series are
compared block by block and a slow minute of the machine hits both sides alike. The standard
library only, and nothing is drawn by chance: the same samples give the same answer.
"""

from sealift.lab.stats.bends import Bend, bend
from sealift.lab.stats.estimates import Estimate, of_runs, restart_range
from sealift.lab.stats.flags import Flags, Kept, is_one_arms_doing, keep_clean
from sealift.lab.stats.intervals import (
    SHOWN_CONFIDENCE,
    VERDICT_CONFIDENCE,
    Interval,
    median_interval,
    paired_ratios,
    run_ratio,
    speed_ratio,
)
from sealift.lab.stats.series import median
from sealift.lab.stats.steadiness import drift, is_steady, warm_up_blocks
from sealift.lab.stats.verdicts import (
    Trust,
    Verdict,
    blocks_needed,
    holm,
    judged,
    least_told,
    noise_floor,
    smallest_difference,
    trust,
    verdicts,
)

__all__ = [
    "SHOWN_CONFIDENCE",
    "VERDICT_CONFIDENCE",
    "Bend",
    "Estimate",
    "Flags",
    "Interval",
    "Kept",
    "Trust",
    "Verdict",
    "bend",
    "blocks_needed",
    "drift",
    "holm",
    "is_one_arms_doing",
    "is_steady",
    "judged",
    "keep_clean",
    "least_told",
    "median",
    "median_interval",
    "noise_floor",
    "of_runs",
    "paired_ratios",
    "restart_range",
    "run_ratio",
    "smallest_difference",
    "speed_ratio",
    "trust",
    "verdicts",
    "warm_up_blocks",
]
