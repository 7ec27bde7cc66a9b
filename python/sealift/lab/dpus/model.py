"""What figures of DPUs stand on, as a page says it."""

from sealift.lab.dpus.system import SYSTEMS

SIMULATED = (
    "A DPU is simulated instruction by instruction, in UPMEM's own instruction set: a tasklet "
    "issues every 11th cycle at the soonest, a DPU one instruction a cycle, and transfers between "
    "its memories go one at a time. Every byte that a kernel gives is compared with AWS-LC's or "
    "with those of this processor's own kernels.",
    "The model's constants are published ones: what a transfer and each of its bytes take is "
    "PrIM's (arXiv 2105.03814, quoted and not read again), what another row of memory costs was "
    "fitted to document 000's latency of 2,048 bytes, which counts as given to the model. No DPU "
    "was there to compare with.",
    "Whether an instruction takes longer whose registers lie in one bank is open: one published "
    "simulator has that hazard, published measurements of additions speak against it. Figures are "
    "told without and with it, and the truth lies between them.",
    "Of DPUs nothing is drawn: keys and texts are the same in every run, so that any seed gives "
    "the same figures.",
)
PROJECTED = (
    *SIMULATED,
    "Projected is what such cycles come to on systems of which the number of DPUs and their clock "
    f"are published: {'; '.join(f'{each.title} ({each.source})' for each in SYSTEMS)}. The way "
    "from host memory and back was timed for 2,048 DPUs (Loremkang/upmem-sdk-light); how much "
    "slower fewer of them are reached follows from the rates of one DPU and of a rank of 64 "
    "(PrIM, section 3.4, quoted and not read again).",
)
