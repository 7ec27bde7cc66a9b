"""AES from memory while other cores stream memory: document 000's closing question.

"The attractiveness of this use may really depend on how big a bottleneck memory bus contention is
for the CPU." Some cores encrypt texts that no cache holds; the others stream nothing, half of what
memory gives, or as much as they get. What memory gives is measured in each process, by all cores
together, and what streams reached is told. Where the same run has the projection of DPUs, it is
the line to cross.

Not part of a quick run.
"""

from collections.abc import Iterator, Mapping, Sequence

from sealift.lab.dpus.cores import (
    CIPHER,
    CIPHERS,
    CTR,
    GCM,
    OTHERS,
    STREAMS,
    THREADS,
    cores_of,
    of_one,
    speed,
)
from sealift.lab.dpus.crossing import chart, standing
from sealift.lab.native import contended
from sealift.lab.published import (
    Comparison,
    Kind,
    Printed,
    payload_speed,
    table_row,
    times_as_fast,
)
from sealift.lab.result import Found, Verified
from sealift.lab.spec import Arm, Context, Experiment, Plot, Scope
from sealift.lab.units import format_measure
from sealift.lab.values import Cell
from sealift.lab.vega import Chart


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
    ).beside(
        payload_speed(found, **of_one(found, CTR, 0)), "AES-128-CTR, one core, texts in memory"
    )
    return [core, *(_asked(question, found, cipher) for cipher in CIPHERS)]


def _asked(question: Mapping[str, str], found: Found, cipher: str) -> Comparison:
    return Printed(
        figure="000-P3",
        what=f"our reading: {cipher} on one core alone over the same beside streams at their most",
        value=1.0,
        unit="x",
        source=question["source"],
        kind=Kind.READING,
    ).beside(
        times_as_fast(found, of_one(found, cipher, 0), of_one(found, cipher, 100)),
        f"texts in memory; printed: {question['as_printed']}",
    )


def _says(found: Found) -> str:
    told = [text for cipher in CIPHERS if (text := _said_of(found, cipher))]
    if told and (cores := cores_of(found)) and (line := standing(found.beside, cores, GCM_KERNEL)):
        told.append(line)
    return f"{'. '.join(told)}." if told else ""


def _said_of(found: Found, cipher: str) -> str:
    """What a core does alone and beside streams, and what these reached."""
    alone = speed(found, of_one(found, cipher, 0))
    if alone is None:
        return ""
    parts = [f"{cipher} from memory on one core alone {alone.gb_text}"]
    for percent in SHARES[1:]:
        cell = of_one(found, cipher, percent)
        beside, reached = speed(found, cell), _reached(found, cell)
        if beside and reached:
            share, ceiling = reached
            parts.append(
                f"{beside.gb_text} beside streams that took {100 * share:.0f} % of the "
                f"{format_measure(ceiling)} GB/s which memory gives, where {percent} % were asked "
                "for"
            )
    return ", ".join(parts)


def _reached(found: Found, cell: Cell) -> tuple[float, float] | None:
    """The share of the ceiling that streams reached, and the ceiling in GB/s."""
    fitting = (each for each in found.verified if dict(each.cell) == dict(cell))
    counts = next(filter(None, map(_counted, fitting)), None)
    if counts is None:
        return None
    streamed, streamed_ns, ceiling, ceiling_ns = counts
    most = ceiling / ceiling_ns
    return streamed / streamed_ns / most, most


def ceilings(found: Found) -> Sequence[float]:
    """GB/s that all cores read together, as it was measured before each of the cells with streams.

    Args:
        found: By this experiment.
    """
    counts = filter(None, map(_counted, found.verified))
    return [ceiling / ceiling_ns for _, _, ceiling, ceiling_ns in counts]


def _counted(each: Verified) -> tuple[float, float, float, float] | None:
    names = ("streamed_bytes", "streamed_ns", "ceiling_bytes", "ceiling_ns")
    streamed, streamed_ns, ceiling, ceiling_ns = (float(each.facts.get(name, 0)) for name in names)
    if not (streamed_ns and ceiling and ceiling_ns):
        return None
    return streamed, streamed_ns, ceiling, ceiling_ns


def _charts(found: Found) -> Sequence[Chart]:
    """Cores beside DPUs, with both ends of their bracket where the same run reckoned it."""
    drawn = (chart(found, cipher, kernel) for cipher, kernel in DONE_BY.items())
    return [each for each in drawn if each]


GCM_KERNEL, CTR_KERNEL = "GCM, one key", "CTR"
DONE_BY = {GCM: GCM_KERNEL, CTR: CTR_KERNEL}
SHARES = (0, 50, 100)
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
            title="AES from memory beside streams",
            facet=CIPHER.name,
            log_y=True,
        ),
    ),
    charts=_charts,
    weight=0.6,
    tries=_tries,
)
