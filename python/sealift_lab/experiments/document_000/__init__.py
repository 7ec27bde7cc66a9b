"""Document 000: AES on UPMEM DPUs, simulated and projected, beside cores that are measured."""

from sealift_lab.experiments.document_000.amounts import BY_AMOUNT
from sealift_lab.experiments.document_000.by_tasklets import BY_TASKLETS
from sealift_lab.experiments.document_000.claims import CLAIMS
from sealift_lab.experiments.document_000.contention import CONTENTION
from sealift_lab.experiments.document_000.dma_latency import DMA_LATENCY
from sealift_lab.experiments.document_000.encryption import ENCRYPTION, WITHOUT_DMA
from sealift_lab.experiments.document_000.instructions import INSTRUCTIONS
from sealift_lab.experiments.document_000.projection import PROJECTION
from sealift_lab.experiments.document_000.scaling import SCALING
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
