"""DPUs that ran: how many times as fast more of them were than 64, and what is projected."""

from sealift.lab.dpus.literal import LITERAL_BYTES, literal
from sealift.lab.dpus.system import MEASURED_CLOCK_HZ, transfers
from sealift.lab.published import table

TABLE = "000-elsewhere-dpus-against-host"


def published_times() -> dict[int, float]:
    """By DPUs how many times as fast as 64 of them, on 4 GiB.

    Printed are multiples of software on a host that is not here; their ratios are left.
    """
    times = {
        int(row["version"].removeprefix("dpus=")): float(row["times_software_aes"])
        for row in table(TABLE)
        if row["version"].startswith("dpus=")
    }
    return {dpus: each / times[FEWEST] for dpus, each in times.items()}


def projected_times(dpus: int) -> float:
    """The same by document 000's algorithm, an instruction a cycle, and the SDK's transfers."""
    return projected_s(FEWEST) / projected_s(dpus)


def projected_s(dpus: int) -> float:
    """What encrypting 4 GiB takes so many DPUs, there and back included."""
    cycles_a_byte = literal("Encryption", "instructions").with_dma / LITERAL_BYTES
    to_dpus, from_dpus = transfers("SDK").rates(AT_BEST, dpus)
    work_s = TOTAL / dpus * cycles_a_byte / MEASURED_CLOCK_HZ
    return TOTAL / to_dpus + work_s + TOTAL / from_dpus


TOTAL = 4 << 30
FEWEST = 64
# Bytes of each DPU, at which transfers are at their best.
AT_BEST = 512 << 10
