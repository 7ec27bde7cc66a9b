"""What a machine's cores were measured to encrypt from memory: what DPUs are held against."""

from dataclasses import dataclass
from math import inf, isinf

from sealift.lab.published import Here, Measured, payload_speed
from sealift.lab.result import Found
from sealift.lab.spec import Axis
from sealift.lab.stats import VERDICT_CONFIDENCE, blocks_needed
from sealift.lab.units import format_estimate, format_measure
from sealift.lab.values import Cell


@dataclass(frozen=True)
class Speed:
    """A measured speed, in MB/s.

    Attributes:
        median: Of it.
        least: The lower end of its interval; 0 where too little is known of it.
        most: The upper end; infinite where too little is known.
    """

    median: float
    least: float
    most: float

    @property
    def is_settled(self) -> bool:
        """Whether a line may be drawn by it."""
        return not isinf(self.most)

    @property
    def gb_text(self) -> str:
        """In GB/s, with its interval where that is settled."""
        each = [mb_per_s / 1_000 for mb_per_s in (self.median, self.least, self.most)]
        return f"{format_estimate(*each) if self.is_settled else format_measure(each[0])} GB/s"


@dataclass(frozen=True)
class Cores:
    """What a machine's cores seal from memory.

    Attributes:
        count: How many there are.
        alone: One of them, the others idle.
        together: All of them.
        contended: One of them beside full streams, in MB/s; 0 where that was not measured.
    """

    count: int
    alone: Speed
    together: Speed
    contended: float = 0.0

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
    alone = _speed(payload_speed(found, **of_one(found, GCM, 0)))
    together = _speed(payload_speed(found, **best.cell)) if best else None
    if best is None or alone is None or together is None:
        return None
    return Cores(
        count=int(best.cell[THREADS.name]),
        alone=alone,
        together=together,
        contended=median_mb_per_s(found, of_one(found, GCM, 100)),
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


def median_mb_per_s(found: Found, cell: Cell) -> float:
    """MB/s of a row; 0 where there is none."""
    here = payload_speed(found, **cell)
    return here.interval.median if isinstance(here, Measured) else 0.0


def _speed(here: Here) -> Speed | None:
    if isinstance(here, str):
        return None
    each = here.interval
    is_few = each.blocks < blocks_needed(VERDICT_CONFIDENCE)
    is_unknown = is_few or here.machine_busy or each.high > WIDEST * each.low
    least, most = (0.0, inf) if is_unknown else (each.low, each.high)
    return Speed(each.median, least, most)


CIPHER, THREADS = Axis("cipher", "cipher"), Axis("threads", "cores that encrypt")
OTHERS = Axis("other_cores", "other cores")
STREAMS = Axis("streams_percent", "what these stream, % of the ceiling")
CIPHERS = {"AES-128-GCM": "gcm", "AES-128-CTR": "ctr"}
GCM, CTR = CIPHERS
# High over low end of a speed that a line may be drawn by.
WIDEST = 1.5
