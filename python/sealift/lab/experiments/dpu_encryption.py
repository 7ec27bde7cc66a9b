"""AES-128 on one DPU, as document 000 timed it, transfers included: published and simulated."""

from sealift.lab.dpus import Encryption, model
from sealift.lab.dpus.literal import BRIEF, OPERATION
from sealift.lab.result import Origin
from sealift.lab.spec import Experiment

TABLE = Encryption("000-T1", "000-T1-encryption", has_dma=True)

EXPERIMENT = Experiment(
    name="dpu-encryption",
    id=TABLE.id,
    title="AES-128 on one DPU: published and simulated",
    why="How near does a simulation by instructions come to what a UPMEM DPU took for 2,048 bytes, "
    "with the document's own algorithm?",
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
