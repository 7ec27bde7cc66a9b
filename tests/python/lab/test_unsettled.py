"""Why a piece of work has no winner, the ratios there are, and the noise of all of them."""

from dataclasses import replace

from made_rows import another, pair
from sealift.lab.finding import findings
from sealift.lab.stats import Interval, Verdict
from sealift.lab.unsettled import (
    Noise,
    alike_within,
    noise,
    ratios_text,
    why_open,
    why_unsure,
)


def test_each_piece_of_work_counts_once_for_the_noise_and_the_worst_is_the_largest() -> None:
    library, cpu = pair(1.0, Verdict.SAME, size_bytes=16, noise_floor=0.5)
    rows = [
        *(library, cpu, another(cpu, "cuda")),
        *pair(1.0, Verdict.SAME, size_bytes=64, noise_floor=0.01),
        *pair(1.0, Verdict.SAME, size_bytes=128, noise_floor=0.02),
    ]
    assert noise(rows) == Noise(usual=0.02, worst=0.5, pairs=3)
    assert noise([]) is None


def test_the_noise_is_told_in_a_sentence_whatever_its_size() -> None:
    assert Noise(0.012, 1.4, 41).text == (
        "Noise ±1.2 %: half of 41 pairs of the same code differ by less, the worst by 140 %."
    )
    assert "half of 1 pair of" in Noise(0.012, 0.012, 1).text
    assert Noise(11.0, 400.0, 2).text == (
        "Noise over 1,000 %: half of 2 pairs of the same code differ by less, the worst by "
        "over 1,000 %."
    )


def test_every_device_beside_the_reference_has_its_ratio_told_and_not_the_winners_alone() -> None:
    library, cpu = pair(1.5, Verdict.UNSURE)
    slow = another(
        cpu, "cuda", ratio=Interval(0.5, 0.49, 0.51, 0.95, 30), verdict=Verdict.SLOWER, winner=False
    )
    (finding,) = findings([library, cpu, slow])
    assert ratios_text([finding]) == (
        "cpu 1.500 [1.470..1.530], cuda 0.5000 [0.4900..0.5100] times as fast as library"
    )


def test_of_several_ratios_the_least_and_the_most_are_told() -> None:
    rows = [
        row
        for size, ratio in ((16, 1.2), (64, 0.9), (128, 1.1))
        for row in pair(ratio, Verdict.UNSURE, size_bytes=size)
    ]
    assert ratios_text(findings(rows)) == (
        "cpu 0.9000 [0.8820..0.9180] to 1.200 [1.176..1.224] times as fast as library"
    )


def test_noise_is_a_reason_before_a_busy_machine_and_what_is_settled_has_none() -> None:
    library, cpu = pair(1.5, Verdict.UNSURE, noise_floor=0.11, machine_busy=True)
    assert why_unsure(cpu) == "noise floor over 10 %"
    assert why_unsure(library) == ""
    assert why_unsure(replace(cpu, verdict=Verdict.FASTER)) == ""
    (won,) = findings(pair(2.0, Verdict.FASTER))
    assert why_open(won) == ""


def test_what_is_alike_is_so_within_the_noise_where_that_is_no_small_one() -> None:
    rows = [
        row
        for size, floor in ((16, 0.01), (64, 0.04), (128, 0.0506))
        for row in pair(1.0, Verdict.SAME, size_bytes=size, noise_floor=floor)
    ]
    quiet, careful, noisy = findings(rows)
    assert why_open(quiet) == "alike"
    assert why_open(careful) == "alike within 4.0 %"
    assert alike_within([quiet, careful, noisy]) == "alike within 5.1 %"
