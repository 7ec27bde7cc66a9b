"""The process that measures one experiment, once: `python -m sealift.lab.worker`.

It prepares the arms, measures the blocks that are missing, adds them to the run folder, and tells
its parent how it goes: a line of JSON on standard output for each step. What an experiment prints
itself goes to standard error. The parent ends it with SIGTERM; when the parent is gone, it ends at
once, so that nothing measures for nobody.
"""

from sealift.lab.worker.order import Again, Order

__all__ = ["Again", "Order"]
