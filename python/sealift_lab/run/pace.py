"""How long preparing and sampling take: guesses first, then what the processes of a run took."""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence

from sealift_lab.measure.plan import planned
from sealift_lab.model.experiment import Experiment
from sealift_lab.model.run import PlannedExperiment
from sealift_lab.model.values import Cell
from sealift_lab.run.planner import BLOCKS, PROCESSES


class Pace:
    """What is known of the costs, in seconds; hears of processes while they measure."""

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        """Knows nothing yet.

        Args:
            clock_s: Seconds of a monotonic clock.
        """
        self._clock_s = clock_s
        self._slowness: dict[str, float] = {}
        self._measured_s = self._guessed_s = GUESS_WEIGHT_S
        self._sample_s: dict[tuple[str, int], float] = {}
        self._longest_s: dict[str, float] = {}
        self._experiment = ""
        self._asked_s = SHORT_S
        self._since_s = clock_s()
        self._arms = 0
        self._is_preparing = False
        self._taken_s: dict[int, list[float]] = defaultdict(list)

    def preparing_s(self, of: PlannedExperiment, arms: int) -> float:
        """What a process takes until so many arms are prepared."""
        slowness = self._slowness.get(of.name, self._measured_s / self._guessed_s)
        return slowness * (START_S + PREPARE_S * arms)

    def block_s(self, experiment: str, group: int, arms: int) -> float:
        """What a block of so many arms takes with the shortest useful samples."""
        longest_s = self._longest_s.get(experiment, SHORT_S)
        return (arms + 1) * self._sample_s.get((experiment, group), longest_s)

    def computing_s(self, of: PlannedExperiment) -> float:
        """What it takes to compute an experiment."""
        return (of.estimated_s or COMPUTED_S) * self._measured_s / self._guessed_s

    def begin(self, experiment: str, arms: int, asked_s: float) -> None:
        """A process begins.

        Args:
            experiment: Its name.
            arms: How many it prepares.
            asked_s: How long a sample may take with all that belongs to it.
        """
        self._experiment, self._arms, self._asked_s = experiment, arms, asked_s
        self._since_s, self._is_preparing = self._clock_s(), True
        self._taken_s.clear()

    def prepared(self) -> None:
        """Its arms are prepared, and are measured from now on; or it has ended without that."""
        if not self._is_preparing:
            return
        self._is_preparing = False
        now_s = self._clock_s()
        took_s, guess_s = now_s - self._since_s, START_S + PREPARE_S * self._arms
        self._slowness[self._experiment] = took_s / guess_s
        self._measured_s += took_s
        self._guessed_s += guess_s
        self._since_s = now_s

    def block(self, group: int, samples: int) -> None:
        """A block of so many samples is complete."""
        now_s = self._clock_s()
        taken_s = self._taken_s[group]
        taken_s.append((now_s - self._since_s) / samples)
        self._since_s = now_s
        mean_s = sum(taken_s) / len(taken_s)
        # One operation may take longer than a sample was to take; else samples can be shorter.
        is_long = mean_s > LONGER * self._asked_s
        floor_s = mean_s if is_long else SHORT_S * max(1.0, mean_s / self._asked_s)
        self._sample_s[self._experiment, group] = floor_s
        longest_s = self._longest_s.get(self._experiment, 0.0)
        self._longest_s[self._experiment] = max(longest_s, floor_s)


def estimate_s(
    experiment: Experiment, groups: Sequence[Sequence[Cell]], *, processes: int = PROCESSES
) -> float:
    """About how long all groups of an experiment take on a quiet machine, in seconds."""
    pace, of = Pace(), planned(experiment, groups, BLOCKS)
    if not of.groups or not of.is_timed:
        return pace.computing_s(of) if of.groups else 0.0
    sampling_s = sum(BLOCKS * pace.block_s("", 0, len(cells)) for cells in of.groups)
    return processes * (pace.preparing_s(of, sum(map(len, of.groups))) + sampling_s)


# A process, and an arm of 0.02 to 0.06 s on a quiet 2-core AMD EPYC, twice that on a busy one; an
# arm of 1 GiB takes a second and more.
START_S, PREPARE_S = 0.5, 0.08
# So that the first processes alone don't tell how slow a machine is.
GUESS_WEIGHT_S = 2.0
COMPUTED_S = 5.0
# A sample of 3 ms, or of 20, with its lead-in and what is between samples.
SHORT_S, LONG_S = 0.0085, 0.0255
LONGER = 1.3
