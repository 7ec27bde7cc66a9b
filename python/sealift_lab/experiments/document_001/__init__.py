"""Document 001: reading and writing files in processes that hold something else."""

from sealift_lab.experiments.document_001.mapping import MAPPING
from sealift_lab.experiments.document_001.reading import READING
from sealift_lab.experiments.document_001.writing import WRITING
from sealift_lab.model.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (READING, WRITING, MAPPING)
