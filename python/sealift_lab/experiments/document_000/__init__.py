"""Document 000: AES on UPMEM DPUs, simulated and projected, beside cores that are measured."""

from sealift_lab.experiments.document_000 import claims, contention, one_dpu, projection
from sealift_lab.model.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (
    projection.PROJECTION,
    contention.CONTENTION,
    one_dpu.ENCRYPTION,
    one_dpu.WITHOUT_DMA,
    one_dpu.DMA_LATENCY,
    projection.SCALING,
    projection.BY_AMOUNT,
    one_dpu.BY_TASKLETS,
    one_dpu.INSTRUCTIONS,
    claims.CLAIMS,
)
