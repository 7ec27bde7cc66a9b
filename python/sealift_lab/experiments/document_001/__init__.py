"""Document 001: reading and writing files in processes that hold something else."""

from sealift_lab.experiments.document_001.files import MAPPING, READING, WRITING
from sealift_lab.model.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (READING, WRITING, MAPPING)
