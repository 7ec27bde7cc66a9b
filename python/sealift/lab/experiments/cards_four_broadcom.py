"""Four faster cards: document 002, table 2, by analysis and in a simulation."""

from sealift.lab.boards import FAST, SIZE, THREADS, model
from sealift.lab.boards.columns import BRIEF
from sealift.lab.result import Origin
from sealift.lab.spec import Experiment

EXPERIMENT = Experiment(
    name="cards-four-broadcom",
    id=FAST.id,
    title="3DES over four Broadcom 5820: published, by analysis, and simulated",
    why="Cards nearly four times as fast: is it still their speed that counts, or the memory and "
    "the host that they share?",
    axes=(THREADS, SIZE),
    compare=THREADS.name,
    cells=FAST.cells,
    arm=FAST.arm,
    operation="request",
    published=FAST.published,
    says=FAST.says,
    charts=FAST.charts,
    listings=FAST.listings,
    weight=0.2,
    order=2,
    origin=Origin.SIMULATED,
    takes_s=0.8,
    stands_on=model.ANALYSED,
    brief=BRIEF,
)
