"""Document 003, AES-GCM on CPUs and GPUs: its experiments, messages and model of GPUs."""

from sealift_lab.experiments.document_003 import (
    compilers,
    cpu,
    cpu_types,
    gpu_beside_cpu,
    gpu_grids,
    gpu_parts,
    gpu_same_test,
    heat,
    languages,
    operation_log,
)
from sealift_lab.model.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (
    cpu.BY_THREADS,
    cpu.VENDOR_LIBRARY,
    cpu.INSTRUCTION_SETS,
    operation_log.EXPERIMENT,
    cpu.PREMISE,
    # Two minutes that can't be fewer, so while most of a quarter of an hour is left.
    heat.EXPERIMENT,
    *(languages.STEADY_STATE, compilers.EXPERIMENT, cpu_types.EXPERIMENT, languages.LIVES),
    gpu_beside_cpu.ALL_OF_EACH,
    gpu_grids.BLOCKS,
    gpu_grids.THREADS_PER_BLOCK,
    gpu_grids.GRIDS,
    gpu_grids.GENERATIONS,
    gpu_beside_cpu.ONE_EACH,
    gpu_same_test.EXPERIMENT,
    gpu_grids.DATA_TYPES,
    *(gpu_parts.RATES, gpu_parts.COPYING, gpu_parts.MESSAGES, gpu_parts.HOST),
)
