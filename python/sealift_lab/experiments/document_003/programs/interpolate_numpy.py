"""As interpolate.c: for each number on a line of input, the sum of that many, in 65,536ths."""

import sys

import numpy as np
from numpy.typing import NDArray


def total(table: NDArray[np.float64], count: int) -> float:
    """The sum over `count` places, 65,536 at a time, which caches hold."""
    found, knots = 0.0, np.arange(len(table))
    for first in range(0, count, 65536):
        numbers = np.arange(first, min(first + 65536, count), dtype=np.uint32)
        position = numbers * np.uint32(0x9E3779B9)
        found += float(np.interp((position >> 6) / 65536, knots, table).sum())
    return found


if __name__ == "__main__":
    k = np.arange(1025)
    table = (k * (11 * k + 37) % 4096).astype(np.float64)
    for line in sys.stdin:
        print(int(65536 * total(table, int(line))), flush=True)
