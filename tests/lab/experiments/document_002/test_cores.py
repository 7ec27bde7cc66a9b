"""Cores as cards: cells, arms that hand over, and the published tables beside them."""

from pathlib import Path

import pytest

from sealift_lab.experiments.document_002 import cores
from sealift_lab.experiments.document_002.boards import HIFN, Spot
from sealift_lab.measure.crypto import Load
from sealift_lab.model.arm import Cell, Context, Skip, fits
from sealift_lab.model.experiment import Scope
from sealift_lab.model.published import Rate, Scaled
from sealift_lab.model.results import Results

CONTEXT = Context(seed=1, folder=Path())
GROUPS = cores.EXPERIMENT.groups(Scope(quick=False, cores=2, devices=("library", "cpu")))
CELLS = [cell for group in GROUPS for cell in group]


def test_the_published_table_is_planned_whole_with_the_most_wanted_first() -> None:
    assert len(CELLS) == 2 * 5 * 8 * 3 * 3
    assert {Spot.parse(cell) for cell in CELLS} >= {*HIFN.published}
    for cipher in cores.CIPHERS:
        for batch in (1, 256):
            where: Cell = {"cipher": cipher, "threads": 1, "buffer_bytes": 16, "batch": batch}
            assert any(fits(cell, where) for group in GROUPS[:22] for cell in group)
    loads = {int(cell["threads"]): cell["load"] for cell in CELLS}
    assert loads == {1: Load.BELOW, 2: Load.ALL, **dict.fromkeys((3, 4, 32), Load.OVER)}


@pytest.mark.parametrize("way", cores.WAYS)
@pytest.mark.parametrize("cipher", cores.CIPHERS)
def test_buffers_are_handed_over_and_compared(cipher: str, way: str) -> None:
    where: Cell = {"cipher": cipher, "way": way, "threads": 3, "buffer_bytes": 256, "batch": 16}
    cell = next(cell for cell in CELLS if fits(cell, where))
    # A machine of one core has one.
    arm = cores.EXPERIMENT.arm({**cell, "devices": 1}, CONTEXT)
    sample = arm.sample(0.005)
    assert sample.bytes == 256 * sample.operations
    facts = arm.report()
    assert facts["messages_worked"] == sample.operations == 16 * int(facts["batches_worked"])
    assert int(facts["messages_checked"]) >= 16


def test_3des_rounds_that_take_too_long_are_skipped() -> None:
    cell: Cell = {"cipher": cores.TDES, "way": cores.SLEEPING, "threads": 32, "devices": 1}
    with pytest.raises(Skip, match="longer than a sample may"):
        cores.EXPERIMENT.arm({**cell, "buffer_bytes": 16_384, "batch": 256}, CONTEXT)


def test_each_published_figure_stands_beside_one_row_in_bits() -> None:
    published = cores.EXPERIMENT.published(Results((), ()))
    assert len(published) == 30 + 12
    assert (published[0].value, published[0].unit) == (3.06, "Mbit/s")
    for each in published:
        assert isinstance(each.here, Scaled)
        assert isinstance(each.here.figure, Rate)
        assert each.here.factor == 8
        assert sum(fits(cell, each.here.figure.where) for cell in CELLS) == 1
