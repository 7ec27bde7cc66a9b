"""Document 002, accelerator cards: its tables by analysis, simulated, and on cores as cards."""

from sealift_lab.experiments.document_002 import claims, cores, loads, readings, tables
from sealift_lab.model.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (
    tables.QUAD_HIFN,
    tables.FOUR_BROADCOM,
    claims.EXPERIMENT,
    readings.SWITCHED,
    readings.LINES,
    loads.BEYOND,
    loads.TODAY,
    cores.EXPERIMENT,
)
