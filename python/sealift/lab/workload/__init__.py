"""What to run, as data: how long messages are, under which keys, and what is done to them.

A `Workload` holds plain numbers only. The native builder makes keys, nonces and texts from its
`columns()`, which are the same for every device and every run with the same seed.
"""

from sealift.lab.workload.known import as_logged, as_stated, of_size
from sealift.lab.workload.stream import (
    KEY_BITS,
    MAX_MESSAGES,
    MAX_TEXT_LEN,
    Columns,
    Shape,
    Weighted,
    Workload,
)
from sealift.lab.workload.terms import (
    FRESH_KEYS,
    ONE_KEY,
    OPEN_ONLY,
    SEAL_ONLY,
    Keys,
    Mix,
    Operation,
    Regime,
)

__all__ = [
    "FRESH_KEYS",
    "KEY_BITS",
    "MAX_MESSAGES",
    "MAX_TEXT_LEN",
    "ONE_KEY",
    "OPEN_ONLY",
    "SEAL_ONLY",
    "Columns",
    "Keys",
    "Mix",
    "Operation",
    "Regime",
    "Shape",
    "Weighted",
    "Workload",
    "as_logged",
    "as_stated",
    "of_size",
]
