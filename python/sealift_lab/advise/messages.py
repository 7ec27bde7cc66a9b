"""Which work is measured: messages of one's own, or a grid of sizes and keys on every device."""

from collections.abc import Sequence
from dataclasses import replace

from sealift_lab.claim.declared import plans
from sealift_lab.experiments import registry
from sealift_lab.experiments.document_003.messages import STATED, logged, stated
from sealift_lab.measure import crypto
from sealift_lab.measure.crypto import OF, SIZED, Work, batch_for, crypto_cells, sized
from sealift_lab.model.arm import Cell, Value, fits
from sealift_lab.model.experiment import Experiment
from sealift_lab.model.run import Plan, PlannedExperiment
from sealift_lab.model.units import counted
from sealift_lab.model.workload import KeyRegime, Keys, Lengths, Mix
from sealift_lab.run.read_folder import Run


def own_messages(
    lengths: Lengths,
    regime: KeyRegime,
    mix: Mix,
    key_bits: int,
    devices: Sequence[str],
    threads: int = 1,
    batch: int | None = None,
) -> Experiment:
    """The experiment by size with cells of one's own messages, and of a smaller and a larger size.

    The first device is the reference. Messages are handed over in batches of several sizes, up to
    `batch`; in the largest ones these messages are preferred.
    """
    work = crypto.of_lengths(lengths, regime, mix, key_bits)
    own = batches(work.size_bytes, batch)
    wanted = [(work, count) for count in own]
    for size in sizes_around(work.size_bytes):
        other = sized(size, regime, mix, key_bits)
        wanted += [(other, count) for count in sorted({1, batch or batch_for(size)})]
    cells = tuple(
        cell
        for each, count in wanted
        for cell in crypto_cells([each], devices=devices, threads=(threads,), batch=count)
    )
    seal, *others = mix.weights
    share = 100 * seal / (seal + sum(others))
    by_size = registry.find(BY_SIZE)
    names: dict[Value, str] = {**by_size.names, f"{SIZED}128": ""}
    names[work.mix] = "sealed" if share == 100 else f"{share:.3g} % sealed" if share else "opened"
    if regime.keys is Keys.SESSIONS:
        names[work.keys] = counted(regime.sessions, "key")
    if OF in work.workload:
        names[work.workload] = f"mean of {len(lengths.counts):,} lengths"
    return replace(
        by_size,
        cells=lambda _: cells,
        legend=crypto.legend_of(lengths),
        preferred={**work.cell, "threads": threads, "batch": own[-1]},
        names=names,
    )


def batches(size_bytes: int, wanted: int | None) -> list[int]:
    """In which batches messages are measured, 1 among them: up to the wanted or a full one."""
    most = batch_for(size_bytes) if wanted is None else wanted
    # One alone and several: without both nothing tells the cost of a batch from that of a message.
    below = [batch for batch in BATCHES if batch < most]
    return [*below, most] if below else list(BATCHES[:2])


def sizes_around(size_bytes: int) -> list[int]:
    """A smaller and a larger size, as far away as the cost of a byte needs to be seen."""
    wanted = (round(size_bytes * factor) for factor in (1 / 8, 16))
    return sorted({min(SIZE_MOST, max(SIZE_LEAST, size)) for size in wanted} - {size_bytes})


def find_messages(plan: Plan) -> tuple[PlannedExperiment, Cell] | None:
    """The messages that a plan begins with, if it has them one by one and in batches, too.

    Returns:
        The experiment, and values of the axes `WORK`; None for a run on other work.
    """
    planned = next((each for each in plan.experiments if each.name == BY_SIZE), None)
    # A folder may hold an experiment of one's own with this name and other axes.
    axes = {axis.name for axis in crypto.AXES}
    if planned is None or planned.file or {axis.name for axis in planned.axes} != axes:
        return None
    cells = [cell for group in planned.groups for cell in group]
    if not cells:
        return None
    own = {name: value for name, value in cells[0].items() if name in WORK}
    counts = {cell["batch"] for cell in cells if fits(cell, own)}
    are_whole = all(isinstance(n, int) for n in (*counts, own["size_bytes"], own["threads"]))
    return (planned, own) if are_whole and 1 in counts and len(counts) > 1 else None


def grid(
    works: Sequence[Work],
    devices: Sequence[str],
    threads: Sequence[int] = (1,),
    batch: int | None = None,
) -> Experiment:
    """The experiment by size with cells of these pieces of work, the first kind preferred.

    The first device is the reference; as many messages are handed over as suit their size.
    """
    cells = tuple(crypto_cells(works, devices=devices, threads=threads, batch=batch))
    by_size = registry.find(BY_SIZE)
    preferred = {"workload": works[0].workload, **by_size.preferred}
    names = {**by_size.names, STATED: "half sealed, three key lengths"}
    return replace(by_size, cells=lambda _: cells, preferred=preferred, names=names)


def quick_works() -> tuple[Work, ...]:
    """What answers the question within a minute.

    Published messages as stated under all key regimes and as logged, because that is the work
    people have; and each size once, sealed under 1,024 sessions, because size moves the answer most
    and many installed keys are what a gateway or an archive holds.
    """
    return (
        *map(stated, crypto.REGIMES),
        logged(),
        *(sized(size, crypto.MANY_KEYS) for size in crypto.SIZES),
    )


def check_compares(run: Run) -> None:
    """Raises ValueError where a run compared no devices that may be advised."""
    if not any(planned.advice for planned in plans(run)):
        raise ValueError(
            f"{run.path} compared no devices; take the folder of a run that did, as `sealift "
            f"advise --out` and `sealift lab run {BY_SIZE}` make them"
        )


BY_SIZE = "aes-gcm-by-size"
WORK = ("workload", "size_bytes", "keys", "mix", "threads")
# Messages a batch, and a full one: 1,024 where that is not over 16 MiB.
BATCHES = (1, 4, 16, 64, 256)
SIZE_LEAST, SIZE_MOST = 16, 65_536
