"""Document 000: AES on UPMEM DPUs, simulated and projected, beside cores that are measured."""

from sealift_lab.experiments.document_000.claims import CLAIMS
from sealift_lab.experiments.document_000.contention import CONTENTION
from sealift_lab.experiments.document_000.one_dpu import (
    BY_TASKLETS,
    DMA_LATENCY,
    ENCRYPTION,
    INSTRUCTIONS,
    WITHOUT_DMA,
)
from sealift_lab.experiments.document_000.projection import BY_AMOUNT, PROJECTION, SCALING
from sealift_lab.model.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (
    PROJECTION,
    CONTENTION,
    ENCRYPTION,
    WITHOUT_DMA,
    DMA_LATENCY,
    SCALING,
    BY_AMOUNT,
    BY_TASKLETS,
    INSTRUCTIONS,
    CLAIMS,
)
