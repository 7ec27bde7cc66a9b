"""A grid of sizes, keys and threads on every device: which work it is, and where it stands."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sealift.quantities import list_parts, parse_count
from sealift_lab.advise.messages import BY_SIZE
from sealift_lab.claim.declared import plans
from sealift_lab.experiments import registry
from sealift_lab.experiments.document_003.messages import logged, stated
from sealift_lab.measure.crypto import MANY_KEYS, REGIMES, SIZES, Work, crypto_cells, sized
from sealift_lab.model.experiment import Experiment
from sealift_lab.model.run import Plan
from sealift_lab.model.workload import TEXT_LEN_MAX
from sealift_lab.run.folder import Run


def grid(
    works: Sequence[Work],
    devices: Sequence[str],
    threads: Sequence[int] = (1,),
    batch: int | None = None,
) -> Experiment:
    """The experiment by size with cells of these pieces of work.

    Args:
        works: Messages.
        devices: What measures them; the first is the reference.
        threads: Thread counts.
        batch: Messages handed over at once; None for as many as suit their size.
    """
    cells = tuple(crypto_cells(works, devices=devices, threads=threads, batch=batch))
    return replace(registry.find(BY_SIZE), cells=lambda _: cells)


def quick_works() -> tuple[Work, ...]:
    """What answers the question within a minute.

    Published messages as stated under all key regimes and as logged, because that is the work
    people have; and each size once, sealed under 1,024 sessions, because size moves the answer most
    and many installed keys are what a gateway or an archive holds.
    """
    return (*map(stated, REGIMES), logged(), *(sized(size, MANY_KEYS) for size in SIZES))


def comparing(run: Run) -> Plan:
    """The plan of a run with the experiments only that advise a device.

    Raises:
        ValueError: If there are none.
    """
    names = [planned.name for planned in plans(run) if planned.advice]
    kept = [planned for planned in run.plan.experiments if planned.name in names]
    if not kept:
        raise ValueError(
            f"{run.path} compared no devices; take the folder of a run that did, as `sealift "
            f"advise --out` and `sealift lab run {BY_SIZE}` make them"
        )
    return replace(run.plan, experiments=kept)


def parse_sizes(text: str) -> tuple[int, ...]:
    """Sizes in bytes, in the order given, each once: `16,64,4KiB`, `16:128:*2`, `16:64:+16`.

    The last size of a range first:last:*factor or first:last:+step is included when it is met.

    Raises:
        ValueError: Naming the part that can't be parsed, and what would be right.
    """
    sizes: dict[int, None] = {}
    for part in list_parts(text):
        if not part:
            raise ValueError("an empty part in the list of sizes; write numbers, as in 16,64,1024")
        try:
            sizes.update(dict.fromkeys(_part_sizes(part)))
        except ValueError as error:
            raise ValueError(f"part {part!r}: {error}") from error
        if len(sizes) > SIZES_MAX:
            raise ValueError(f"part {part!r} brings the list over {SIZES_MAX:,} sizes")
    return tuple(sizes)


def _part_sizes(part: str) -> Iterator[int]:
    def size(number: str) -> int:
        return parse_count(number, 1, TEXT_LEN_MAX, "size in bytes")

    first, *rest = part.split(":")
    if not rest:
        yield size(first)
        return
    if len(rest) != 2 or rest[1][:1] not in ("*", "+"):
        raise ValueError("no range; write first:last:*factor (16:1024:*2) or first:last:+step")
    at, last, move = size(first), size(rest[0]), size(rest[1][1:])
    if last < at:
        raise ValueError(f"it ends at {last:,}, below its first size {at:,}")
    if rest[1][0] == "*" and move < 2:
        raise ValueError(f"it multiplies by {move}; a factor is 2 or more")
    # One more than a list may hold is enough to refuse it.
    for _ in range(SIZES_MAX + 1):
        if at <= last:
            yield at
            at = at * move if rest[1][0] == "*" else at + move


SIZES_MAX = 1_000
