"""The parts of a GPU: cells on a GPU and on a processor, and arms on OpenCL's first device."""

from dataclasses import replace
from pathlib import Path

import pytest

import run_report
from conftest import skip
from sealift_lab.experiments.document_003 import gpu_parts
from sealift_lab.experiments.document_003.gpus.cells import PROCESSOR
from sealift_lab.model.arm import Context, Skip
from sealift_lab.model.experiment import Experiment, Scope

SCOPE = Scope(quick=False, cores=2, devices=("library", "cpu"))
GPU = replace(SCOPE, devices=("cuda:1", "library", "opencl"))
TIMED = [gpu_parts.COPYING, gpu_parts.MESSAGES, gpu_parts.HOST]


def test_a_gpu_that_is_named_is_taken_and_a_processor_has_fewer_and_smaller_cells() -> None:
    for each in TIMED:
        here = [cell for group in each.groups(SCOPE) for cell in group]
        there = [cell for group in each.groups(GPU) for cell in group]
        assert {cell["device"] for cell in here} == {PROCESSOR}
        assert {cell["device"] for cell in there} == {"cuda:1"}
        (named, *_), *_ = each.groups(replace(GPU, devices=("opencl:1", "library", "cuda")))
        assert named["device"] == "opencl:1"
        assert len(here) <= len(there)
        assert not each.groups(replace(GPU, quick=True))
    # Instructions of NVIDIA's GPUs.
    (group,) = gpu_parts.RATES.groups(GPU)
    assert [cell["instruction"] for cell in group][:2] == ["LOP3", "PRMT"]
    for devices in ((), ("opencl",)):
        assert not gpu_parts.RATES.groups(replace(SCOPE, devices=devices))


@pytest.mark.parametrize("experiment", TIMED, ids=lambda experiment: experiment.name)
def test_every_cell_of_a_processor_is_measured_and_checked(
    experiment: Experiment, tmp_path: Path
) -> None:
    context = Context(seed=1, folder=tmp_path, legend={})
    for cell in (cell for group in experiment.groups(SCOPE) for cell in group):
        try:
            arm = experiment.arm(cell, context)
        except Skip as absent:
            skip("opencl", str(absent))
        run_report.ran("opencl")
        sample = arm.sample(0.001)
        assert sample.bytes > 0, cell
        # A GPU's own time; the engine's device is compared by another one.
        assert experiment is gpu_parts.HOST or int(arm.report()["results_checked"]) > 0, cell
