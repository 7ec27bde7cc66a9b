"""Document 004, copies and shared memory: by length, threads, function, memory, and as frames."""

from sealift_lab.experiments.document_004 import copy_experiments, frames, mappings, tool
from sealift_lab.model.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (
    copy_experiments.OFFSETS,
    copy_experiments.BY_LENGTH,
    copy_experiments.BY_THREADS,
    copy_experiments.BY_FUNCTION,
    copy_experiments.CEILING,
    copy_experiments.WHY_THREADS,
    copy_experiments.EXAMPLE,
    tool.EXPERIMENT,
    frames.EXPERIMENT,
    mappings.EXPERIMENT,
    copy_experiments.BY_MEMORY,
)
