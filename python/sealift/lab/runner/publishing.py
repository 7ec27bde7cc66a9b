"""Keeps what outlives a run: comparisons of one's own with what was published, and costs."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from sealift.lab import registry, store
from sealift.lab.recall import of_the_lab
from sealift.lab.result import Found


def publish(
    run: store.Run,
    found: Mapping[str, Found],
    failed: Collection[str],
    note: Callable[[str], None],
) -> None:
    """Keeps the comparisons in the run's folder, and notes those that can't be made.

    Args:
        run: As its folder has it now.
        found: What each experiment found.
        failed: What was told of failures already.
        note: Is given what is to be noted.

    Raises:
        NotWrittenError: If they can't be written.
    """
    published = {}
    for planned in run.plan.experiments:
        if planned.file is not None:
            try:
                experiment = registry.find(planned.name, Path(planned.file))
                comparisons = tuple(experiment.published(found[planned.name]))
                store.check_published(comparisons)
            except (Exception, SystemExit) as error:
                why = f"that failed: {type(error).__name__}: {error}"
                if any(str(error) in text for text in failed):
                    why = "its file can't be run"
                note(f"{planned.name}: nothing is compared with what was published, because {why}")
            else:
                published[planned.name] = comparisons
    if published:
        store.write_published(run.path, published)


def leave(run: store.Run, found: Mapping[str, Found], say: Callable[[str], None]) -> None:
    """Leaves what the lab's own experiments found for the engine.

    Args:
        run: As its folder has it now.
        found: What each experiment found.
        say: Is given what became of that.
    """
    for name, each in of_the_lab(run, found).items():
        if said := registry.find(name).keeps(each):
            say(said)
