"""GPUs that are not here: what their machine code allows at most; projected, never measured."""

from sealift.lab.gpus.limits import GPUS, RATES, Counts, Gpu, Limit, Rates
from sealift.lab.gpus.work import Messages, Part, long_limit, machine_code, message_limit, total

__all__ = [
    "GPUS",
    "RATES",
    "Counts",
    "Gpu",
    "Limit",
    "Messages",
    "Part",
    "Rates",
    "long_limit",
    "machine_code",
    "message_limit",
    "total",
]
