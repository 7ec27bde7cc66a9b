"""One process of a comparison that is measured anew."""

import subprocess
import sys

import pytest

from sealift_lab.judge.blocks import groups_of
from sealift_lab.judge.certify import BLOCKS, Trial
from sealift_lab.judge.trial import COMMAND, WORKS, measure_trial


def test_a_trial_is_measured_in_a_process_of_its_own_as_blocks_of_one_group() -> None:
    samples = measure_trial(Trial(next(iter(WORKS)), is_slowed=True, number=1), 3)
    # In each block two arms and one of them again.
    assert samples.height == 3 * BLOCKS
    assert set(samples["restart"]) == {3}
    (group,) = groups_of(samples).values()
    assert set(group.arms) == {0, 1}
    assert group.ratio(1, 0) is not None


def test_a_trial_that_cant_be_is_told_with_its_work_and_why() -> None:
    with pytest.raises(RuntimeError, match="no such work: KeyError"):
        measure_trial(Trial("no such work", is_slowed=False, number=1), 0)


def test_a_process_that_measures_imports_the_standard_library_alone() -> None:
    code = f"import sys, {COMMAND[-1]}; print(*{{'numpy', 'polars', 'typer'}} & sys.modules.keys())"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "\n"
