"""Systems of many DPUs, and the time of transfers between them and their host. All projected."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sealift_lab._lab import DpuSystem
from sealift_lab.model.published import table
from sealift_lab.model.values import Cell


@dataclass(frozen=True)
class System:
    """DPUs of one clock.

    Attributes:
        title: As it stands in cells.
        dpus: How many.
        clock_hz: Of each.
        source: Where both are published.
    """

    title: str
    dpus: int
    clock_hz: float
    source: str

    @property
    def short(self) -> str:
        """Its title without the clock."""
        return self.title.partition(" at ")[0]

    def bytes_per_s(self, cycles_a_byte: float) -> float:
        """Bytes a second of all DPUs together, with the data in their MRAM."""
        return self.dpus * self.clock_hz / cycles_a_byte


@dataclass(frozen=True)
class Transfers:
    """A published path between a host and its DPUs, timed for one number of DPUs.

    Times are interpolated between the amounts that were timed, never less than that of the least;
    beyond the largest its rate goes on. Rates of other numbers of DPUs are scaled as those of long
    transfers are known to be. `DpuSystem` holds this model, as for the device `pim`.

    Attributes:
        dpus: Those that were timed, all at once.
        system: One whose bus is this path.
    """

    dpus: int
    system: DpuSystem

    def rates(self, dpu_bytes: int, dpus: int) -> tuple[float, float]:
        """Bytes a second to `dpus` DPUs at once, and from them, with `dpu_bytes` for each."""
        return self.system.rates(dpus, dpu_bytes)

    def seconds(self, dpu_bytes: int, dpus: int) -> float:
        """Seconds to bring `dpu_bytes` to each DPU and to take them back."""
        return sum(dpus * dpu_bytes / rate for rate in self.rates(dpu_bytes, dpus))

    def in_series(self, dpu_bytes: int, bytes_per_s: float, dpus: int) -> float:
        """Bytes a second to the DPUs, through their work and back, one after the other.

        Args:
            dpu_bytes: For each DPU.
            bytes_per_s: Rate of the work itself.
            dpus: How many there are.
        """
        return 1 / (1 / bytes_per_s + sum(1 / rate for rate in self.rates(dpu_bytes, dpus)))


@lru_cache(maxsize=4)
def transfers(path: str) -> Transfers:
    """The published path `SDK` or `direct`.

    Raises:
        ValueError: If there is none of that name.
    """
    rows = [row for row in table("000-elsewhere-host-transfers") if row["path"] == path]
    if not rows:
        raise ValueError(f"no path to DPUs is called {path!r}; there are SDK and direct")
    dpus = int(rows[0]["dpus"])
    return Transfers(dpus, DpuSystem.named(SDK_SYSTEM) if path == "SDK" else _timed(dpus, rows))


def system_of(cell: Cell) -> System:
    """The system that a cell names."""
    return next(each for each in SYSTEMS if each.title == cell["system"])


def _timed(dpus: int, rows: Sequence[Mapping[str, str]]) -> DpuSystem:
    """A system whose transfers take the printed times."""
    columns = {name: [1e6 * float(row[f"{name}_s"]) for row in rows] for name in DIRECTIONS}
    sizes = [int(row["bytes_per_dpu"]) for row in rows]
    return DpuSystem.parse(DESCRIPTION.format(dpus=dpus, bytes_each=sizes, **columns))


DIRECTIONS = ("to_dpus", "from_dpus")
SYSTEMS = (
    System("640 DPUs at 267 MHz", 640, 267e6, "document 000, Discussion"),
    System("2,560 DPUs at 350 MHz", 2_560, 350e6, "document 001, Methods"),
)
SDK_SYSTEM = "upmem-640-266"
# Clock of the machine that document 000 measured on.
MEASURED_CLOCK_HZ = 266e6
DESCRIPTION = """
name = "timed"
summary = "DPUs that are reached by another path"
source = "the table of published transfers"
[system]
ranks = 32
dpus_per_rank = 64
clock_mhz = 350
[transfer.short]
dpus = {dpus}
bytes_each = {bytes_each}
to_dpus_us = {to_dpus}
from_dpus_us = {from_dpus}
"""
