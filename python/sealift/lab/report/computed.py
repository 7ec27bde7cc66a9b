"""How computed figures come about."""

from collections.abc import Iterator

from sealift.lab.report.material import Material
from sealift.lab.report.words import unique


def method(material: Material) -> Iterator[str]:
    """How computed figures of the run come about, each sentence once."""
    if not any(shown.computed for shown in material.shown):
        return
    yield COMPUTED
    yield from unique(each for shown in material.shown for each in shown.stands_on)


COMPUTED = (
    "What is computed is not timed: each cell is computed once, and comes out the same on every "
    "machine with the same version and seed."
)
