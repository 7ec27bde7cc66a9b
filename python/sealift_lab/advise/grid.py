"""A grid of sizes, keys and threads on every device: which work it is, and where it stands."""

from collections.abc import Sequence
from dataclasses import replace

from sealift_lab.advise.messages import BY_SIZE
from sealift_lab.claim.declared import plans
from sealift_lab.experiments import registry
from sealift_lab.experiments.document_003.messages import logged, stated
from sealift_lab.measure.crypto import MANY_KEYS, REGIMES, SIZES, Work, crypto_cells, sized
from sealift_lab.model.experiment import Experiment
from sealift_lab.run.folder import Run


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
    return replace(by_size, cells=lambda _: cells, preferred=preferred)


def quick_works() -> tuple[Work, ...]:
    """What answers the question within a minute.

    Published messages as stated under all key regimes and as logged, because that is the work
    people have; and each size once, sealed under 1,024 sessions, because size moves the answer most
    and many installed keys are what a gateway or an archive holds.
    """
    return (*map(stated, REGIMES), logged(), *(sized(size, MANY_KEYS) for size in SIZES))


def check_compares(run: Run) -> None:
    """Raises ValueError where a run compared no devices that may be advised."""
    if not any(planned.advice for planned in plans(run)):
        raise ValueError(
            f"{run.path} compared no devices; take the folder of a run that did, as `sealift "
            f"advise --out` and `sealift lab run {BY_SIZE}` make them"
        )
