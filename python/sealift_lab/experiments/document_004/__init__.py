"""Document 004, copies and shared memory: by length, threads, function, memory, and as frames."""

from sealift_lab.experiments.document_004 import (
    by_length,
    by_memory,
    by_threads,
    causes,
    ceiling,
    example,
    frames,
    offsets,
)
from sealift_lab.model.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (
    offsets.EXPERIMENT,
    by_length.EXPERIMENT,
    by_threads.BY_LENGTH,
    by_threads.BY_FUNCTION,
    ceiling.EXPERIMENT,
    causes.EXPERIMENT,
    example.EXPERIMENT,
    frames.EXPERIMENT,
    by_memory.COPIES,
)
