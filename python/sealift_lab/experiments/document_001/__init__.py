"""Document 001: reading and writing files in processes that hold something, and beside them."""

from sealift_lab.experiments.document_001 import files
from sealift_lab.model.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (
    files.READING,
    files.READING_BESIDE,
    files.WRITING,
    files.WRITING_BESIDE,
    files.MAPPING,
)
