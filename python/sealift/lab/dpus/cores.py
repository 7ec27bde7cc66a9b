"""What a machine's cores were measured to encrypt from memory: what DPUs are held against."""

from dataclasses import dataclass

from sealift.lab.published import payload_speed
from sealift.lab.published.doubt import doubt
from sealift.lab.result import Found
from sealift.lab.spec import Axis
from sealift.lab.stats import Trust, least_told, trust
from sealift.lab.units import format_estimate
from sealift.lab.values import Cell


@dataclass(frozen=True)
class Speed:
    """A measured speed, in MB/s.

    Attributes:
        median: Of it.
        least: The lower end of its interval.
        most: The upper end.
        doubt: Why it settles nothing whatever it stands beside, or "".
        noise_floor: By which the same code differed from itself, as a share.
    """

    median: float
    least: float
    most: float
    doubt: str = ""
    noise_floor: float = 0.0

    @property
    def noise_text(self) -> str:
        """What keeps it from being told apart, in words; "" where noise does not."""
        told = f"the same code differed from itself by {100 * self.noise_floor:.3g} %"
        return told if trust(self.noise_floor) is Trust.LOUD else ""

    def is_below(self, mb_per_s: float) -> bool:
        """Whether all of it is, by a margin for noise."""
        return self.most * (1 + least_told(self.noise_floor)) < mb_per_s

    def is_above(self, mb_per_s: float) -> bool:
        """Whether all of it is, by a margin for noise."""
        return self.least / (1 + least_told(self.noise_floor)) > mb_per_s

    @property
    def gb_text(self) -> str:
        """In GB/s, with its interval, and why it settles nothing."""
        each = [mb_per_s / 1_000 for mb_per_s in (self.median, self.least, self.most)]
        told = f"{format_estimate(*each)} GB/s"
        return f"{told} (not settled: {self.doubt})" if self.doubt else told


@dataclass(frozen=True)
class Cores:
    """What a machine's cores seal from memory.

    Attributes:
        count: How many there are.
        alone: One of them, the others idle.
        together: All of them.
        contended: One of them beside full streams; None where that was not measured.
    """

    count: int
    alone: Speed
    together: Speed
    contended: Speed | None = None

    def needed(self, gb_per_s: float) -> float:
        """How many cores, as fast as one alone, do so much."""
        return 1_000 * gb_per_s / self.alone.median

    @property
    def together_text(self) -> str:
        """All of them, in words."""
        return "the only core here" if self.count == 1 else f"all {self.count} cores here together"


def cores_of(found: Found) -> Cores | None:
    """What memory-contention found of cores that seal with GCM; None where that is too little.

    Args:
        found: By `memory-contention`.
    """
    rows = [
        row
        for row in found.rows
        if row.cell.get(CIPHER.name) == GCM
        and not row.cell[STREAMS.name]
        and row.payload_mb_per_s
        and not row.wrong
    ]
    best = max(rows, key=lambda row: int(row.cell[THREADS.name]), default=None)
    alone = speed(found, of_one(found, GCM, 0))
    together = speed(found, best.cell) if best else None
    if best is None or alone is None or together is None:
        return None
    return Cores(
        count=int(best.cell[THREADS.name]),
        alone=alone,
        together=together,
        contended=speed(found, of_one(found, GCM, 100)),
    )


def of_one(found: Found, cipher: str, percent: int) -> dict[str, str | int | float]:
    """The cell of one core that encrypts beside all others."""
    others = max(
        (
            int(row.cell[OTHERS.name])
            for row in found.rows
            if row.cell[CIPHER.name] == cipher and row.cell[THREADS.name] == 1
        ),
        default=0,
    )
    return {
        CIPHER.name: cipher,
        THREADS.name: 1,
        OTHERS.name: others,
        STREAMS.name: percent,
    }


def speed(found: Found, cell: Cell) -> Speed | None:
    """What a row does; None where there is none."""
    here = payload_speed(found, **cell)
    if isinstance(here, str):
        return None
    each = here.interval
    # What lies clear of a line by so much noise is told.
    why = doubt(each, 0.0, machine_busy=here.machine_busy)
    return Speed(each.median, each.low, each.high, why, here.noise_floor)


CIPHER, THREADS = Axis("cipher", "cipher"), Axis("threads", "cores that encrypt")
OTHERS = Axis("other_cores", "other cores")
STREAMS = Axis("streams_percent", "what these stream, % of the ceiling")
CIPHERS = {"AES-128-GCM": "gcm", "AES-128-CTR": "ctr"}
GCM, CTR = CIPHERS
