"""Document 004, copies and shared memory: by length, threads, function, memory, and as frames."""

from sealift_lab.experiments.document_004 import copy_experiments, frames, mappings, tool
from sealift_lab.model.experiment import Experiment

# Those of few cells first, which judge the document's sentences; the plots take an hour.
EXPERIMENTS: tuple[Experiment, ...] = (
    copy_experiments.OFFSETS,
    copy_experiments.CEILING,
    copy_experiments.EXAMPLE,
    copy_experiments.WHY_THREADS,
    copy_experiments.BY_MEMORY,
    mappings.EXPERIMENT,
    frames.EXPERIMENT,
    copy_experiments.BY_THREADS,
    copy_experiments.BY_LENGTH,
    copy_experiments.BY_FUNCTION,
    tool.EXPERIMENT,
)
