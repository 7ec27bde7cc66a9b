"""An arm that is slower by a known share. Standard library only: measuring processes import it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sealift_lab.model.sample import Arm, Sample
from sealift_lab.model.values import Value


@dataclass(frozen=True)
class Slowed:
    """Does more of the same operations than it counts, so it is slower by `share` on any work.

    A device that waits for a share of its own time slows the part that it waits in alone.
    """

    arm: Arm
    share: float = 0.05

    def sample(self, seconds: float) -> Sample:
        """Runs the arm, and counts fewer operations."""
        taken = self.arm.sample(seconds)
        operations, payload = (
            round(count / (1 + self.share)) for count in (taken.operations, taken.bytes)
        )
        return replace(taken, operations=max(1, operations), bytes=payload)

    def report(self) -> Mapping[str, Value]:
        """What the arm reports."""
        return self.arm.report()
