"""How facts of a cell that belong together are named: a value, its ends, why there is none."""

import re


def ends(name: str, seeds: int) -> tuple[str, str]:
    """The facts that hold the least and the most of a value that several seeds gave.

    Args:
        name: Of the value.
        seeds: How many.
    """
    return f"{name}, least of {seeds} seeds", f"{name}, most of {seeds} seeds"


def why_none(name: str) -> str:
    """The fact that says why a cell doesn't have the one of this name."""
    return f"{name}{WHY_NONE}"


def ends_in(names: set[str], name: str) -> tuple[str, str] | None:
    """Of all names those that hold the ends of a value; None where it has none."""
    for each in names:
        if (seeds := ENDS.fullmatch(each)) and seeds["name"] == name:
            return ends(name, int(seeds["seeds"]))
    return None


def stands_for(name: str) -> str:
    """The name of the fact that one of this name says something of; itself where it stands alone.

    Args:
        name: As from `ends` or `why_none`, or any other.
    """
    of_ends = ENDS.fullmatch(name)
    return of_ends["name"] if of_ends else name.removesuffix(WHY_NONE)


WHY_NONE = ", why none"
ENDS = re.compile(r"(?P<name>.*), (least|most) of (?P<seeds>\d+) seeds", re.DOTALL)
