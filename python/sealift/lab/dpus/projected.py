"""What kernels come to on whole systems, with their data in MRAM or in the host's memory."""

from collections.abc import Mapping
from dataclasses import dataclass

from sealift.lab.dpus.kernel import (
    CTR,
    ECB,
    ECB_FED,
    GCM,
    GCM_128,
    GCM_1024,
    Kernel,
    cycles_a_byte,
    kept,
)
from sealift.lab.dpus.literal import LITERAL_BYTES, literal
from sealift.lab.dpus.system import SYSTEMS, System, transfers
from sealift.lab.published import Rounded, table_row
from sealift.lab.values import Cell


@dataclass(frozen=True)
class Pace:
    """What a byte takes of one DPU.

    Attributes:
        title: Of what.
        tasklets: How many work, or move data.
        cycles: A byte, simulated.
        with_hazard: The same where register banks cost cycles; None where that was not simulated.
    """

    title: str
    tasklets: str
    cycles: float
    with_hazard: float | None


def paces() -> tuple[Pace, ...]:
    """Every pace that is projected."""
    return (*_of_document(), *(_pace(kernel, 16 + kernel.movers) for kernel in PROJECTED))


def _of_document() -> tuple[Pace, ...]:
    """The document's algorithm with one tasklet, as it was measured, and with enough of them."""
    cycles = literal("Encryption", "cycles").with_dma / LITERAL_BYTES
    instructions = literal("Encryption", "instructions").with_dma / LITERAL_BYTES
    return (
        Pace(ONE_TASKLET, "1", cycles, None),
        # An instruction a cycle is the most that a DPU issues; eleven tasklets reach it.
        Pace(MANY_TASKLETS, "11 or more", instructions, None),
    )


def _pace(kernel: Kernel, tasklets: int) -> Pace:
    without, with_hazard = (
        cycles_a_byte(kernel, tasklets, hazard=hazard) for hazard in (False, True)
    )
    return Pace(kernel.title, str(tasklets), without, with_hazard)


def projection(pace: Pace, system: System) -> Mapping[str, float | str]:
    """A pace on a system, in bytes a second and in what the document prints."""
    in_place = system.bytes_per_s(pace.cycles)
    facts: dict[str, float | str] = {
        "tasklets": pace.tasklets,
        "cycles a byte": kept(pace.cycles),
        IN_MRAM: kept(in_place / GB),
        "data in MRAM, MiB/s": kept(in_place / MIB),
    }
    for path, name in FROM_HOST.items():
        facts[name] = kept(transfers(path).in_series(DPU_BYTES, in_place, system.dpus) / GB)
    if pace.with_hazard is None:
        return facts
    slower = system.bytes_per_s(pace.with_hazard)
    facts[HAZARD_IN_MRAM] = kept(slower / GB)
    for path, name in FROM_HOST.items():
        there_and_back = transfers(path).in_series(DPU_BYTES, slower, system.dpus)
        facts[f"{name}, with the hazard"] = kept(there_and_back / GB)
    return facts


def total_by_seconds() -> Rounded:
    """MiB/s of the document's DPUs together, from its whole seconds for the 64 MiB of each."""
    seconds = float(table_row("000-X1-claims", claim_id="mram-time")["value"])
    mebibytes = 64.0 * SYSTEMS[0].dpus
    return Rounded(mebibytes / seconds, mebibytes / (seconds + 0.5), mebibytes / (seconds - 0.5))


def system_of(cell: Cell) -> System:
    """The system that a cell names."""
    return next(each for each in SYSTEMS if each.title == cell["system"])


ONE_TASKLET = "document 000's ECB, one tasklet"
MANY_TASKLETS = "document 000's ECB, enough tasklets"
PROJECTED = (ECB, ECB_FED, CTR, GCM, GCM_1024, GCM_128)
IN_MRAM, HAZARD_IN_MRAM = "data in MRAM, GB/s", "data in MRAM, GB/s, with the hazard"
FROM_HOST = {
    "SDK": "data in host memory, GB/s, by the SDK",
    "direct": "data in host memory, GB/s, direct",
}
# At which the SDK's way is at its best.
DPU_BYTES = 512 << 10
GB, MIB = 1e9, 2**20
