"""As interpolate.c: for each number on a line of input, the sum of that many, in 65,536ths."""

import sys


def interpolate(table: list[float], x: float) -> float:
    """Between the two neighbours of a place in a table."""
    k = int(x)
    return table[k] + (table[k + 1] - table[k]) * (x - k)


def total(table: list[float], count: int) -> float:
    """The sum over `count` places."""
    found = 0.0
    for i in range(count):
        position = i * 0x9E3779B9 & 0xFFFFFFFF
        found += interpolate(table, (position >> 6) / 65536)
    return found


if __name__ == "__main__":
    table = [float(k * (11 * k + 37) % 4096) for k in range(1025)]
    for line in sys.stdin:
        print(int(65536 * total(table, int(line))), flush=True)
