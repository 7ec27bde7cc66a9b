"""Experiments of no document: AES-GCM by message size, and reading memory."""

from sealift_lab.experiments.own.aes_gcm_by_size import EXPERIMENT as BY_SIZE
from sealift_lab.experiments.own.memory_read import EXPERIMENT as MEMORY_READ
from sealift_lab.model.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (BY_SIZE, MEMORY_READ)
