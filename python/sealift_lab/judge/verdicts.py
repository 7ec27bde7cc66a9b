"""Verdicts on 99 % intervals: what one says of a difference, and why it may say nothing.

95 % intervals are printed. Noise widens intervals, never the margin.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit  # type: ignore[import-untyped]

from sealift_lab.judge.intervals import SHOWN, SURE, Ends, Estimated, blocks_needed, half, hull
from sealift_lab.model.results import Estimate, Row, Verdict
from sealift_lab.model.units import counted, format_percent


@dataclass(frozen=True)
class Comparison:
    """How many times as fast one arm is as another, or why that settles nothing."""

    ratio: Estimate
    verdict: Verdict


def verdict(value: float, ends: Ends | None) -> Verdict:
    """Of a log ratio: is 0 outside its interval, and is it at least as far away as the margin?"""
    if ends is None:
        return Verdict.INCONCLUSIVE
    low, high = ends
    if low > 0 and value >= MARGIN:
        return Verdict.FASTER
    if high < 0 and value <= -MARGIN:
        return Verdict.SLOWER
    return Verdict.SAME if low > -MARGIN and high < MARGIN else Verdict.INCONCLUSIVE


def compare(ratio: Estimated, clean_share: float = 1.0) -> Comparison:
    """Judges a log ratio; the share of clean samples names the cause where it settles nothing."""
    found = verdict(ratio.value, ratio.interval(SURE))
    why = "" if found is not Verdict.INCONCLUSIVE else _cause(ratio, clean_share)
    return Comparison(estimate(ratio, why), found)


def is_narrow(ratio: Estimated) -> bool:
    """Whether a log ratio is known well enough to stop, whatever the verdict."""
    ends = ratio.interval(SURE)
    return ends is not None and half(ends) <= max(NARROW, NARROW_SHARE * abs(ratio.value))


def estimate(figure: Estimated, reason: str = "") -> Estimate:
    """A logarithm as a figure with its 95 % interval, or with the reason why it has none."""
    ends = figure.interval(SHOWN)
    low, high = np.exp(ends).tolist() if ends else (None, None)
    why = reason or ("" if ends else _too_few(figure, SHOWN))
    return Estimate(float(np.exp(figure.value)), low, high, why)


def caveat(row: Row) -> str:
    """What a row's figures don't speak of, or ""."""
    about = "of one process; from process to process ratios differ by 1 to 3 %"
    return about if row.processes == 1 else ""


def _cause(ratio: Estimated, clean_share: float) -> str:
    """Why a ratio settles nothing: the one thing that, mended, would settle it."""
    ends = ratio.interval(SURE)
    if ends is None:
        return _too_few(ratio, SURE)
    if is_narrow(ratio):
        return f"the difference is near the {MARGIN_TEXT} that count as one"
    width = f"±{format_percent(float(np.expm1(half(ends))))}"
    blocks, processes = ratio.over_blocks(SURE), ratio.over_processes(SURE)
    if blocks and processes:
        many = float(ndtri((1 + SURE) / 2))
        error = half(processes) / float(stdtrit(ratio.processes - 1, (1 + SURE) / 2))
        known = hull(blocks, (ratio.value - many * error, ratio.value + many * error))
        if verdict(ratio.value, known) is not Verdict.INCONCLUSIVE:
            return f"only {ratio.processes} processes, {width}"
        # Scatter of blocks moves processes, too; by more than this one time in 20.
        if error > 1.5 * half(blocks) / many:
            return f"{ratio.processes} processes differ, {width}"
    disturbed = f"; {format_percent(1 - clean_share)} of samples disturbed"
    return f"samples scatter, {width}{disturbed if clean_share < 0.5 else ''}"


def _too_few(figure: Estimated, confidence: float) -> str:
    least = blocks_needed(confidence)
    if figure.blocks >= least:
        return f"{figure.processes} process of each; what was measured apart needs 2"
    blocks = counted(figure.blocks, "block")
    return f"{blocks}; an interval at {100 * confidence:.0f} % needs {least}"


MARGIN, MARGIN_TEXT = float(np.log(1.025)), "2.5 %"
# When to stop: a half-width, or a share of the log ratio.
NARROW, NARROW_SHARE = 0.015, 0.1
