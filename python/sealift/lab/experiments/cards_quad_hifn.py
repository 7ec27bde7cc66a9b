"""Load balancing over four slow chips: document 002, table 1, by analysis and in a simulation."""

from sealift.lab.boards import HIFN, SIZE, THREADS, Table, model
from sealift.lab.boards.table import BRIEF
from sealift.lab.result import Origin
from sealift.lab.spec import Experiment

TABLE = Table("002-T1", HIFN)

EXPERIMENT = Experiment(
    name="cards-quad-hifn",
    id=TABLE.id,
    title="3DES over a board of four Hifn 7751: published, by analysis, and simulated",
    why="How far do a host that is shared, four chips at their rated speed and two fitted numbers "
    "tell all thirty figures of 2003?",
    axes=(THREADS, SIZE),
    compare=THREADS.name,
    cells=TABLE.cells,
    arm=TABLE.arm,
    operation="request",
    published=TABLE.published,
    says=TABLE.says,
    charts=TABLE.charts,
    listings=TABLE.listings,
    weight=0.3,
    origin=Origin.SIMULATED,
    takes_s=2.5,
    stands_on=model.ANALYSED,
    brief=BRIEF,
)
