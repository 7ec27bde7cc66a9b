"""AES from memory while other cores stream memory: document 000's closing question.

"The attractiveness of this use may really depend on how big a bottleneck memory bus contention is
for the CPU." Some cores encrypt texts that no cache holds; the others stream nothing, half of what
memory gives, or as much as they get. What memory gives is measured in each process, by all cores
together, and what streams reached is told. Where the same run has the projection of DPUs, it is
the line to cross.

Not part of a quick run.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import inf

from sealift.lab.dpus.crossing import Cores, crossing, projected
from sealift.lab.native import contended
from sealift.lab.published import (
    Comparison,
    Here,
    Kind,
    Measured,
    Printed,
    payload_speed,
    table_row,
    times_as_fast,
)
from sealift.lab.result import Found, Origin, Verified
from sealift.lab.spec import Arm, Axis, Context, Experiment, Line, Plot, Scope
from sealift.lab.stats import VERDICT_CONFIDENCE, blocks_needed
from sealift.lab.units import format_measure
from sealift.lab.values import Cell


def _cells(scope: Scope) -> Iterator[Cell]:
    if scope.quick:
        return
    for cipher in CIPHERS:
        for threads in _counts(scope):
            others = scope.cores - threads
            for percent in SHARES if others else (0,):
                yield {
                    CIPHER.name: cipher,
                    THREADS.name: threads,
                    OTHERS.name: others,
                    STREAMS.name: percent,
                }


def _counts(scope: Scope) -> Sequence[int]:
    """All of a few cores; of many 1, 2, 4 and so on, and all but one and all."""
    every = range(1, scope.cores + 1)
    if scope.threads:
        return [count for count in scope.threads if count in every]
    few = {1, scope.cores - 1, scope.cores, *(1 << power for power in range(16))}
    return [count for count in every if scope.cores <= FEW or count in few]


def _arm(cell: Cell, context: Context) -> Arm:
    return _made(cell, context, TEXT_BYTES)


def _tries(cell: Cell, context: Context) -> Arm:
    """The same over a text that takes no time to make."""
    return _made(cell, context, 1 << 20)


def _made(cell: Cell, context: Context, text_bytes: int) -> Arm:
    percent = int(cell[STREAMS.name])
    return contended(
        CIPHERS[str(cell[CIPHER.name])],
        threads=int(cell[THREADS.name]),
        text_bytes=text_bytes,
        streamers=int(cell[OTHERS.name]) if percent else 0,
        share_percent=percent or 100,
        stream_bytes=text_bytes,
        context=context,
    )


def _published(found: Found) -> Sequence[Comparison]:
    quoted, question = (
        table_row("000-X1-claims", claim_id=name) for name in ("aesni", "bus-contention")
    )
    core = Printed(
        figure="000-P3",
        what="AES-NI, one thread at 3 GHz",
        value=CORE_HZ / float(quoted["value"]) / 1e6,
        unit="MB/s",
        source=f"{quoted['source']}: {quoted['as_printed']}, of an Intel paper",
        kind=Kind.VALUE,
    ).beside(payload_speed(found, **_one(found, CTR, 0)), "AES-128-CTR, one core, texts in memory")
    return [core, *(_asked(question, found, cipher) for cipher in CIPHERS)]


def _asked(question: Mapping[str, str], found: Found, cipher: str) -> Comparison:
    return Printed(
        figure="000-P3",
        what=f"our reading: {cipher} on one core alone over the same beside full streams",
        value=1.0,
        unit="x",
        source=question["source"],
        kind=Kind.READING,
    ).beside(
        times_as_fast(found, _one(found, cipher, 0), _one(found, cipher, 100)),
        f"texts in memory; printed: {question['as_printed']}",
    )


def _one(found: Found, cipher: str, percent: int) -> dict[str, str | int | float]:
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


def _says(found: Found) -> str:
    told = [text for cipher in CIPHERS if (text := _said_of(found, cipher))]
    alone, beside, every = (
        _speed(found, _one(found, GCM, 0)),
        _speed(found, _one(found, GCM, 100)),
        _all_cores(found),
    )
    if told and alone and every:
        cores, mb_per_s = every
        most = _most(payload_speed(found, **_one(found, GCM, 0)))
        line = crossing(found.beside, Cores(cores, alone, beside, mb_per_s, most))
        told += [line] if line else []
    return f"{'. '.join(told)}." if told else ""


def _said_of(found: Found, cipher: str) -> str:
    """What a core does alone and beside streams, and what these reached."""
    alone = _speed(found, _one(found, cipher, 0))
    if not alone:
        return ""
    parts = [f"{cipher} from memory on one core alone {format_measure(alone / 1_000)} GB/s"]
    for percent in SHARES[1:]:
        cell = _one(found, cipher, percent)
        speed, reached = _speed(found, cell), _reached(found, cell)
        if speed and reached:
            parts.append(
                f"{format_measure(speed / 1_000)} GB/s beside streams that were to take "
                f"{percent} % of {format_measure(reached[1])} GB/s and reached "
                f"{100 * reached[0]:.0f} %"
            )
    return ", ".join(parts)


def _speed(found: Found, cell: Cell) -> float:
    """MB/s of a row; 0 where there is none."""
    here = payload_speed(found, **cell)
    return here.interval.median if isinstance(here, Measured) else 0.0


def _most(speed: Here) -> float:
    """The upper end of a speed, in MB/s; infinite where too little is known of it."""
    if isinstance(speed, str):
        return inf
    each = speed.interval
    is_few = each.blocks < blocks_needed(VERDICT_CONFIDENCE)
    return inf if is_few or each.high > WIDEST * each.low else each.high


def _all_cores(found: Found) -> tuple[int, float] | None:
    """The most cores that encrypted with GCM alone, and their MB/s."""
    rows = [
        row
        for row in found.rows
        if row.cell[CIPHER.name] == GCM and not row.cell[STREAMS.name] and row.payload_mb_per_s
    ]
    best = max(rows, key=lambda row: int(row.cell[THREADS.name]), default=None)
    if best is None or best.payload_mb_per_s is None:
        return None
    return int(best.cell[THREADS.name]), best.payload_mb_per_s.median


def _reached(found: Found, cell: Cell) -> tuple[float, float] | None:
    """The share of the ceiling that streams reached, and the ceiling in GB/s."""
    fitting = (each for each in found.verified if dict(each.cell) == dict(cell))
    counts = next(filter(None, map(_counted, fitting)), None)
    if counts is None:
        return None
    streamed, streamed_ns, ceiling, ceiling_ns = counts
    most = ceiling / ceiling_ns
    return streamed / streamed_ns / most, most


def _counted(each: Verified) -> tuple[float, float, float, float] | None:
    names = ("streamed_bytes", "streamed_ns", "ceiling_bytes", "ceiling_ns")
    streamed, streamed_ns, ceiling, ceiling_ns = (float(each.facts.get(name, 0)) for name in names)
    if not (streamed_ns and ceiling and ceiling_ns):
        return None
    return streamed, streamed_ns, ceiling, ceiling_ns


def _lines(found: Found) -> Sequence[Line]:
    """What DPUs are projected to encrypt, where the same run reckoned it."""
    return [
        Line(f"projected: {name}", "payload_MB_per_s", 1_000 * gb, Origin.PROJECTED, at)
        for cipher, kernel in (("AES-128-GCM", GCM_KERNEL), ("AES-128-CTR", CTR_KERNEL))
        for name, gb in projected(found.beside, kernel).items()
        for at in [{CIPHER.name: cipher}]
    ]


CIPHERS = {"AES-128-GCM": "gcm", "AES-128-CTR": "ctr"}
GCM, CTR = CIPHERS
GCM_KERNEL, CTR_KERNEL = "GCM, one key", "CTR"
SHARES = (0, 50, 100)
# High over low end of a speed that a line may be drawn by.
WIDEST = 1.5
CIPHER, THREADS = Axis("cipher", "cipher"), Axis("threads", "cores that encrypt")
OTHERS = Axis("other_cores", "other cores")
STREAMS = Axis("streams_percent", "what these stream, % of the ceiling")
# Of each thread, in and out: more than caches keep.
TEXT_BYTES = 256 << 20
FEW = 8
CORE_HZ = 3e9

EXPERIMENT = Experiment(
    name="memory-contention",
    id="000-P3",
    title="AES from memory while other cores stream memory",
    why="How much does contention for memory take from a core that encrypts, and from where on "
    "would processing in memory do more?",
    axes=(CIPHER, THREADS, OTHERS, STREAMS),
    compare=STREAMS.name,
    cells=_cells,
    arm=_arm,
    operation="MiB",
    published=_published,
    says=_says,
    plots=(
        Plot(
            x=THREADS.name,
            y="payload_MB_per_s",
            z=STREAMS.name,
            title="AES from memory beside streams, and DPUs",
            facet=CIPHER.name,
            log_y=True,
        ),
    ),
    lines=_lines,
    weight=0.6,
    tries=_tries,
)
