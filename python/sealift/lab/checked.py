"""Who was checked against whom, and the core's clock, as lines under a table."""

from collections.abc import Iterable

from sealift.lab.result import Verified
from sealift.lab.store import Run


def checked_text(verified: Iterable[Verified]) -> list[str]:
    """Against which others each device was checked, as a line; none where nothing was."""
    against: dict[str, set[str]] = {}
    for each in verified:
        if others := str(each.facts.get("checked_against", "")):
            against.setdefault(str(each.cell["device"]), set()).update(others.split(", "))
    told = [
        f"{device} not at all: it encrypts nothing"
        if others == {"nothing"}
        else f"{device} against {' and '.join(sorted(others))}"
        for device, others in against.items()
    ]
    return [f"Results checked byte for byte: {'; '.join(told)}."] if told else []


def clock_text(run: Run) -> list[str]:
    """The clock that the run began with, as a line; none where it is not known."""
    clock = run.machine.facts.get("core_clock_ghz")
    if clock is None or not isinstance(clock.value, float):
        return []
    return [f"Core clock, by a timed chain of multiplications: {clock.value:.2f} GHz."]
