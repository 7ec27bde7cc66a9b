"""Document 001: reading and writing files in processes that hold something, and beside them."""

from sealift_lab.experiments.document_001.files import (
    MAPPING,
    READING,
    READING_BESIDE,
    WRITING,
    WRITING_BESIDE,
)
from sealift_lab.model.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (
    READING,
    READING_BESIDE,
    WRITING,
    WRITING_BESIDE,
    MAPPING,
)
