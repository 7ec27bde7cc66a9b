"""Made results of document 004's experiments: every cell with a speed."""

from collections.abc import Callable

import pytest

from sealift_lab.model.arm import Cell
from sealift_lab.model.experiment import Experiment, Scope
from sealift_lab.model.results import Estimate, Results, Row

FULL = Scope(quick=False, cores=2, devices=("library", "cpu"))
Make = Callable[..., Results]


@pytest.fixture(scope="session", name="make")
def fixture_make() -> Make:
    """Results of an experiment whose arms have these speeds, in MB/s."""
    return make


def make(experiment: Experiment, speed: Callable[[Cell], float], blocks: int = 60) -> Results:
    rows = [
        row(experiment, cell, speed(cell), (group, arm), blocks)
        for group, cells in enumerate(experiment.groups(FULL))
        for arm, cell in enumerate(cells)
    ]
    return Results(rows, ())


def row(
    experiment: Experiment, cell: Cell, mb_per_s: float, place: tuple[int, int], blocks: int
) -> Row:
    size_bytes = float(cell.get("size_bytes", cell.get("frame_bytes", 0)))
    ns = size_bytes / mb_per_s * 1_000
    return Row(
        experiment=experiment.name,
        group=place[0],
        arm=place[1],
        cell=cell,
        compare=experiment.compare,
        time=Estimate(ns, ns * 0.999, ns * 1.001),
        payload_bytes=size_bytes,
        reference="",
        ratio=None,
        verdict=None,
        reason="",
        is_winner=True,
        blocks=blocks,
        processes=5,
        noise=0.01,
        clean_share=1.0,
    )
