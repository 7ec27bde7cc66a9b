"""Systems of many DPUs: what one simulated DPU comes to, and what the way to them costs.

All of it is projected: a DPU's cycles are simulated, clocks and transfers published.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sealift._sealift import DpuSystem
from sealift.lab.published import table


@dataclass(frozen=True)
class System:
    """So many DPUs with one clock.

    Attributes:
        title: As people read it.
        dpus: How many.
        clock_hz: Of each.
        source: Where both stand.
    """

    title: str
    dpus: int
    clock_hz: float
    source: str

    def bytes_per_s(self, cycles_a_byte: float) -> float:
        """What all of them work together, where the data are in their memories.

        Args:
            cycles_a_byte: Of one DPU.
        """
        return self.dpus * self.clock_hz / cycles_a_byte

    def seconds(self, cycles: float) -> float:
        """Cycles of a DPU as time."""
        return cycles / self.clock_hz


@dataclass(frozen=True)
class Transfers:
    """A published way between a host and its DPUs, timed for one number of DPUs.

    Between two amounts that were timed, time goes up evenly; it is never less than that of the
    least, and beyond the most it goes on at that one's rate. With another number of DPUs they are
    as many times as fast as long transfers are known to be. The system's own model says all of
    that, as it does for `sealift dpu time` and the device `pim`.

    Attributes:
        path: SDK, or direct.
        dpus: Those that were timed, all at once.
        system: One whose bus is this way.
    """

    path: str
    dpus: int
    system: DpuSystem

    def to_and_from_s(self, dpu_bytes: int) -> tuple[float, float]:
        """Seconds to bring so many bytes to each DPU that was timed, and to take them back."""
        to_dpus, from_dpus = self.rates(dpu_bytes, self.dpus)
        return self.dpus * dpu_bytes / to_dpus, self.dpus * dpu_bytes / from_dpus

    def rates(self, dpu_bytes: int, dpus: int) -> tuple[float, float]:
        """Bytes a second to so many DPUs at once, and from them.

        Args:
            dpu_bytes: What each DPU gets.
            dpus: How many there are.
        """
        return self.system.rates(dpus, dpu_bytes)

    def in_series(self, dpu_bytes: int, bytes_per_s: float, dpus: int) -> float:
        """Bytes a second to the DPUs, through their work and back, one after the other.

        Args:
            dpu_bytes: What each DPU gets.
            bytes_per_s: What they work, once it is there.
            dpus: How many there are.
        """
        to_dpus, from_dpus = self.rates(dpu_bytes, dpus)
        return 1 / (1 / to_dpus + 1 / bytes_per_s + 1 / from_dpus)


@lru_cache(maxsize=4)
def transfers(path: str) -> Transfers:
    """The published way of a name.

    Args:
        path: SDK or direct.

    Raises:
        ValueError: If there is none.
    """
    rows = [row for row in table("000-elsewhere-host-transfers") if row["path"] == path]
    if not rows:
        raise ValueError(f"no way to DPUs is called {path!r}; there are SDK and direct")
    dpus = int(rows[0]["dpus"])
    system = DpuSystem.named(PRESET) if path == SDK else _timed(dpus, rows)
    return Transfers(path, dpus, system)


def _timed(dpus: int, rows: Sequence[Mapping[str, str]]) -> DpuSystem:
    """A system whose transfers take what was printed."""
    row = ", ".join
    return DpuSystem.parse(
        DESCRIBED.format(
            dpus=dpus,
            bytes_each=row(each["bytes_per_dpu"] for each in rows),
            to_dpus_us=row(str(1e6 * float(each["to_dpus_s"])) for each in rows),
            from_dpus_us=row(str(1e6 * float(each["from_dpus_s"])) for each in rows),
        )
    )


SYSTEMS = (
    System("640 DPUs at 267 MHz", 640, 267e6, "document 000, Discussion"),
    System("2,560 DPUs at 350 MHz", 2_560, 350e6, "document 001, Methods"),
)
PRESET = "upmem-640-266"
SDK = "SDK"
DESCRIBED = """
name = "timed"
summary = "DPUs that were reached by another way"
source = "the table of published transfers"
[system]
ranks = 32
dpus_per_rank = 64
clock_mhz = 350
[transfer.short]
dpus = {dpus}
bytes_each = [{bytes_each}]
to_dpus_us = [{to_dpus_us}]
from_dpus_us = [{from_dpus_us}]
"""
MEASURED_CLOCK_HZ = 266e6
MEBIBYTE = 2**20
