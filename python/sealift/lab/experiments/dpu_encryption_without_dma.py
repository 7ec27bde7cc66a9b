"""AES-128 on one DPU, as document 000 timed it, without its transfers: published and simulated."""

from sealift.lab.dpus import Encryption, model
from sealift.lab.dpus.literal import BRIEF, OPERATION
from sealift.lab.result import Origin
from sealift.lab.spec import Experiment

TABLE = Encryption("000-T2", "000-T2-encryption-excluding-dma", has_dma=False)

EXPERIMENT = Experiment(
    name="dpu-encryption-without-dma",
    id=TABLE.id,
    title="AES-128 on one DPU without transfers: published and simulated",
    why="The same 2,048 bytes between the two transfers: what do blocks take, and what is left for "
    "transfers?",
    axes=(OPERATION,),
    compare=OPERATION.name,
    cells=TABLE.cells,
    arm=TABLE.arm,
    operation="buffer",
    published=TABLE.published,
    says=TABLE.says,
    listings=TABLE.listings,
    weight=0.02,
    origin=Origin.SIMULATED,
    takes_s=0.5,
    stands_on=model.SIMULATED,
    brief=BRIEF,
)
