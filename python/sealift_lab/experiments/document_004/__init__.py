"""Document 004, copies and shared memory: by length, threads, function, memory, and as frames."""

from sealift_lab.experiments.document_004 import comparisons, frames
from sealift_lab.model.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (
    comparisons.OFFSETS,
    comparisons.BY_LENGTH,
    comparisons.BY_THREADS,
    comparisons.BY_FUNCTION,
    comparisons.CEILING,
    comparisons.WHY_THREADS,
    comparisons.EXAMPLE,
    frames.EXPERIMENT,
    comparisons.BY_MEMORY,
)
