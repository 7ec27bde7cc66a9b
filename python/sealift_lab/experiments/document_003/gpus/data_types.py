"""The limit of products of small matrices of a data type, from machine code."""

from collections.abc import Mapping

from sealift_lab.experiments.document_003.gpus.grids import PARTS, Grid, clocks_of
from sealift_lab.experiments.document_003.gpus.limits import LOAD_AND_STORE, RATES, Counts, Gpu
from sealift_lab.experiments.document_003.gpus.machine_code import machine_code, total


def types_speed(gpu: Gpu, data_type: str, grid: Grid) -> float:
    """Multiplications a second at most.

    Args:
        gpu: Where they are made.
        data_type: A key of `PROGRAMS`.
        grid: Of threads.

    Raises:
        LookupError: If there is no machine code of that type.
    """
    loops = machine_code(f"lab-types-{PROGRAMS[data_type]}", gpu.architecture, "types")
    lane = _clocks(gpu, data_type, total(loops, {"types.cl: ROLLED for (u32 round": 1}))
    # Two units for doubles serve all four parts of a multiprocessor.
    shared = [unit for unit, rate in FLOAT_RATES[gpu.architecture].items() if rate < PARTS]
    clocks = clocks_of(gpu, lane, grid, (LOAD_AND_STORE, *shared))
    return PRODUCTS * grid.every * gpu.clock_hz / max(clocks.values())


def _clocks(gpu: Gpu, data_type: str, counts: Counts) -> Mapping[str, float]:
    """Clocks of each unit for one round of a lane."""
    rates, floats = RATES[gpu.architecture], FLOAT_RATES[gpu.architecture]
    if data_type in INTEGERS:
        return rates.clocks(counts)
    # In programs of floats `fma` counts products of floats, and `slow` conversions.
    return {
        **rates.clocks({**counts, "fma": 0, "slow": 0}),
        "single": counts["fma"] / floats["single"],
        "double": counts["double"] / floats["double"],
        "converted": counts["slow"] / floats["converted"],
    }


INT, FLOAT, CAST = "int", "float", "float with double literal"
PROGRAMS = {INT: "int", "long": "long", FLOAT: "float", "double": "double", CAST: "mixed"}
INTEGERS = (INT, "long")
# Of matrices of 3 by 3, and of each of their elements by a literal.
PRODUCTS = 3**3 + 3**2
# Lanes that a multiprocessor works in a clock: products of floats with their sums, the same of
# doubles, and conversions between the two. Source: `limits.GUIDE`.
FLOAT_RATES: Mapping[str, Mapping[str, float]] = {
    "sm_86": {"single": 128, "double": 2, "converted": 2},
    "sm_90": {"single": 128, "double": 64, "converted": 16},
}
