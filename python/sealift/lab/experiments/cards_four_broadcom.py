"""Four faster cards: document 002, table 2, by analysis and in a simulation."""

from sealift.lab.boards import BROADCOM, SIZE, THREADS, Table, model
from sealift.lab.boards.table import BRIEF
from sealift.lab.result import Origin
from sealift.lab.spec import Experiment

TABLE = Table("002-T2", BROADCOM)

EXPERIMENT = Experiment(
    name="cards-four-broadcom",
    id=TABLE.id,
    title="3DES over four Broadcom 5820: published, by analysis, and simulated",
    why="Cards nearly four times as fast: is it still their speed that counts, or the memory and "
    "the host that they share?",
    axes=(THREADS, SIZE),
    compare=THREADS.name,
    cells=TABLE.cells,
    arm=TABLE.arm,
    operation="request",
    published=TABLE.published,
    says=TABLE.says,
    charts=TABLE.charts,
    listings=TABLE.listings,
    weight=0.2,
    origin=Origin.SIMULATED,
    takes_s=1.5,
    stands_on=model.ANALYSED,
    brief=BRIEF,
)
