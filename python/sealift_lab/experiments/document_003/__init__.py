"""Document 003, AES-GCM on CPUs and GPUs: its experiments, messages and model of GPUs."""

from sealift_lab.experiments.document_003 import (
    aes_gcm_by_threads,
    gpu_beside_cpu,
    gpu_data_types,
    gpu_sweeps,
    gpu_tables,
    instruction_sets,
    operation_log,
    premise,
    vendor_library,
)
from sealift_lab.model.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (
    aes_gcm_by_threads.EXPERIMENT,
    vendor_library.EXPERIMENT,
    instruction_sets.EXPERIMENT,
    operation_log.EXPERIMENT,
    premise.EXPERIMENT,
    gpu_beside_cpu.ALL_OF_EACH,
    gpu_sweeps.BLOCKS,
    gpu_sweeps.THREADS_PER_BLOCK,
    gpu_tables.GRIDS,
    gpu_tables.GENERATIONS,
    gpu_beside_cpu.ONE_EACH,
    gpu_data_types.EXPERIMENT,
)
