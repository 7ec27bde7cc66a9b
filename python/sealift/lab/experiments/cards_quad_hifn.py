"""Load balancing over four slow chips: document 002, table 1, by analysis and in a simulation."""

from sealift.lab.boards import SIZE, SLOW, THREADS, model
from sealift.lab.boards.columns import BRIEF
from sealift.lab.result import Origin
from sealift.lab.spec import Experiment

EXPERIMENT = Experiment(
    name="cards-quad-hifn",
    id=SLOW.id,
    title="3DES over a board of four Hifn 7751: published, by analysis, and simulated",
    why="How far do a host that is shared, four chips at their rated speed and two fitted numbers "
    "tell all thirty figures of 2003?",
    axes=(THREADS, SIZE),
    compare=THREADS.name,
    cells=SLOW.cells,
    arm=SLOW.arm,
    operation="request",
    published=SLOW.published,
    says=SLOW.says,
    charts=SLOW.charts,
    listings=SLOW.listings,
    weight=0.3,
    order=1,
    origin=Origin.SIMULATED,
    takes_s=2.0,
    stands_on=model.ANALYSED,
    brief=BRIEF,
)
