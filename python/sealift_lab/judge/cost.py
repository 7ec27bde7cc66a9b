"""Cost of batches of any shape: a fixed cost, a cost per message and a cost per byte."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class BatchTime:
    """The time of one batch: `messages` of `message_bytes` on average, in `batch_ns`."""

    messages: int
    message_bytes: float
    batch_ns: float


@dataclass(frozen=True)
class CostLine:
    """Predicted time = fixed cost + cost per message + cost per byte.

    Attributes:
        setup_ns: Of every batch, however small.
        per_message_ns: Added by each message.
        per_byte_ns: Added by each byte.
        worst_share: By how much it is off the batch that it fits worst; 0.1 is 10 %.
    """

    setup_ns: float
    per_message_ns: float
    per_byte_ns: float
    worst_share: float = 0.0

    def batch_ns(self, messages: int, message_bytes: float) -> float:
        """Predicted time of a batch."""
        return self.setup_ns + messages * (self.per_message_ns + self.per_byte_ns * message_bytes)

    def through(self, point: BatchTime) -> "CostLine":
        """The same line, scaled so that it meets a measured batch."""
        factor = point.batch_ns / self.batch_ns(point.messages, point.message_bytes)
        setup, message, byte = (
            factor * part for part in (self.setup_ns, self.per_message_ns, self.per_byte_ns)
        )
        return replace(self, setup_ns=setup, per_message_ns=message, per_byte_ns=byte)


def fit(points: Sequence[BatchTime]) -> CostLine:
    """Fits the line by least squares of relative errors, none of its three parts below 0.

    Relative, so that batches of a microsecond count as much as those of a millisecond.

    Args:
        points: One at least, in which all batches take time.
    """
    from scipy.optimize import nnls  # type: ignore[import-untyped]  # takes 0.4 s

    shares = np.array(
        [(1.0, each.messages, each.messages * each.message_bytes) for each in points]
    ) / np.array([[each.batch_ns] for each in points])
    # NNLS compares columns with each other, so they must be alike in size.
    scale = np.maximum(shares.max(axis=0), np.finfo(np.float64).tiny)
    parts, _ = nnls(shares / scale, np.ones(len(points)))
    worst = float(np.abs(shares / scale @ parts - 1).max())
    setup, message, byte = (parts / scale).tolist()
    return CostLine(setup, message, byte, worst)
