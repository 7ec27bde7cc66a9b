"""Series of blocks with a known truth, for tests of what is said about series."""

import random


def heavy_tailed(generator: random.Random, blocks: int, scale: float = 0.01) -> list[float]:
    """Times of 100 ns with noise that is often small, sometimes a neighbour's burst."""

    def one() -> float:
        burst = generator.paretovariate(1.5) * 0.1 if generator.random() < 0.1 else 0.0
        return 100.0 * (1 + abs(generator.gauss(0, scale)) + burst)

    return [one() for _ in range(blocks)]


def placed(
    generator: random.Random, restarts: int, blocks: int, *, between: float, within: float
) -> tuple[list[float], list[int]]:
    """Times of 100 ns, each restart off by a number of its own; and each block's restart."""
    times_ns, labels = [], []
    for restart in range(restarts):
        place = 1 + generator.gauss(0, between)
        times_ns += [100.0 * place * (1 + generator.gauss(0, within)) for _ in range(blocks)]
        labels += [restart] * blocks
    return times_ns, labels
