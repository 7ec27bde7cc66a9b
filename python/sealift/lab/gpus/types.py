"""Products of small matrices of a data type on GPUs: at most, projected from machine code."""

from collections.abc import Mapping
from dataclasses import dataclass

from sealift.lab.gpus.grid import PARTS, Grid, clocks_of
from sealift.lab.gpus.limits import LOAD_AND_STORE, RATES, Counts, Gpu
from sealift.lab.gpus.work import machine_code, total


@dataclass(frozen=True)
class FloatRates:
    """How many lanes a multiprocessor works in a clock, of what `Rates` does not have.

    Attributes:
        single: Products of floats with their sums.
        double: The same of doubles.
        converted: Conversions between the two.
        source: Where they stand.
    """

    single: float
    double: float
    converted: float
    source: str


def types_speed(gpu: Gpu, of: str, grid: Grid) -> float:
    """Multiplications a second at most.

    Args:
        gpu: Where they are made.
        of: The data type, as in a cell.
        grid: Of threads.

    Raises:
        LookupError: If there is no machine code of that type.
    """
    parts = machine_code(f"lab-types-{PROGRAMS[of]}", gpu.architecture, "types")
    asked = _clocks(gpu, of, total(parts, {"types.cl: ROLLED for (u32 round": 1}))
    rates = FLOAT_RATES[gpu.architecture]
    # Where there are two units for doubles, no part of a multiprocessor has one of its own.
    few = [unit for unit in ("double", "converted") if getattr(rates, unit) < PARTS]
    clocks = clocks_of(gpu, asked, grid, (LOAD_AND_STORE, *few))
    return PRODUCTS * grid.every * gpu.clock_hz / max(clocks.values())


def _clocks(gpu: Gpu, of: str, counts: Counts) -> Mapping[str, float]:
    """Clocks that each unit needs for a round of a lane."""
    rates = FLOAT_RATES[gpu.architecture]
    if of in INTEGERS:
        return RATES[gpu.architecture].clocks(counts)
    # Of programs of floats the products are such, and what is slow converts.
    whole = RATES[gpu.architecture].clocks({**counts, "fma": 0, "slow": 0})
    return {
        **whole,
        "single": counts["fma"] / rates.single,
        "double": counts["double"] / rates.double,
        "converted": counts["slow"] / rates.converted,
    }


# By type the name of its program.
PROGRAMS = {
    "int": "int",
    "long": "long",
    "float": "float",
    "double": "double",
    "float with double literal": "mixed",
}
INTEGERS = ("int", "long")
# Of matrices of 3 by 3, and of each of their elements by a literal.
PRODUCTS = 3**3 + 3**2
_GUIDE = "NVIDIA, CUDA C++ Programming Guide, throughput of native arithmetic instructions"
FLOAT_RATES: Mapping[str, FloatRates] = {
    "sm_86": FloatRates(128, 2, 2, _GUIDE),
    "sm_90": FloatRates(128, 64, 16, _GUIDE),
}
