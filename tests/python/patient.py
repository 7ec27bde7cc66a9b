"""Runs whose processes may take long to begin, as they do on a busy machine.

python patient.py WORDS... does what `sealift WORDS...` does.
"""

from collections.abc import Callable
from typing import Any

from sealift.cli import main
from sealift.lab.runner import session


def be_patient(change: Callable[[object, str, Any], None] = setattr) -> None:
    """All arms are prepared, and what a verdict needs is measured, whatever the budget is.

    Args:
        change: Sets an attribute.
    """
    change(session, "GRACE_S_MIN", 60.0)
    change(session, "HANG_GRACE_S", 60.0)


if __name__ == "__main__":
    be_patient()
    main()
