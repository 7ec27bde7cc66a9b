"""The first ten seconds: the answer, and what to be careful about; between them are the tiles."""

from collections.abc import Iterable, Mapping, Sequence

from sealift.lab.answer import QUESTION
from sealift.lab.digest import conformance
from sealift.lab.finding import Kind, findings
from sealift.lab.gpus.cells import DRIVERS, PROCESSOR
from sealift.lab.machine import Fact
from sealift.lab.report import order
from sealift.lab.report.agreement import disagreements
from sealift.lab.report.markup import Html, folded, join, tag
from sealift.lab.report.material import Material, Shown
from sealift.lab.report.words import (
    counted,
    duration,
    few,
    listed,
    unique,
    worded,
)
from sealift.lab.result import Lead, Row
from sealift.lab.shortfall import NEEDED, block_counts, took_s
from sealift.lab.stats import Trust
from sealift.lab.stats.verdicts import CAUTION_FLOOR, LOUD_FLOOR
from sealift.lab.store import Ending, How, Run, Surroundings
from sealift.lab.units import axis_text
from sealift.lab.values import Cell
from sealift.lab.wording import DOCUMENT_003


def header(material: Material) -> Html:
    """Title, machine, date, run, and how to measure it again."""
    run = material.run
    created = run.plan.created.replace("T", " ").replace("Z", " UTC")
    told = [*_machine(run.machine.facts), created, f"run {run.path.name}"]
    if run.sensors:
        told.append(f"took {duration(took_s(run.sensors))}")
    command = tag("code", material.again)
    line = join([" · ".join(part for part in told if part), " · ", command])
    return tag("header", tag("h1", question(material)), tag("p", line, class_="muted"))


def question(material: Material) -> str:
    """What the page answers: the lab's question where the run asked it."""
    if material.answer:
        return QUESTION
    if material.lead:
        return material.lead.question
    return "What was computed here?" if material.is_computed else "What was measured here?"


def answer(material: Material) -> Html:
    """The band with the answer."""
    found, lead = material.answer, material.lead
    if found is None:
        return _lead(material, lead) if lead else _headline(material)
    inside = [tag("h2", found.work or "On this machine"), tag("p", found.where, class_="where")]
    lines = [found.speed_text, *found.further]
    if "document 003" in found.work:
        lines.insert(1, f"Document 003 is {DOCUMENT_003}.")
    inside += [tag("p", line) for line in lines if line]
    said = {word.strip(",.;:") for word in found.where.split()}
    inside += [
        tag("p", f"{device.spec} is {device.detail}.")
        for device in material.run.machine.devices
        if device.spec in said and device.detail and device.detail != device.spec
    ]
    if lead:
        inside.append(tag("p", f"{lead.question} {lead.answer} ({lead.origin}.)"))
    if stands_on := (*found.details, *found.cautions):
        inside.append(folded("What this stands on", _items(stands_on)))
    return tag("section", *inside, class_="answer", id="answer")


def _lead(material: Material, lead: Lead) -> Html:
    """The answer to what the run was made for; what single experiments say is folded."""
    inside = [
        tag("h2", lead.origin),
        tag("p", lead.answer, class_="where"),
        tag("p", lead.figures),
    ]
    if sentences := [each for each in _sentences(material) if each]:
        inside.append(folded("What each experiment says", _items(sentences)))
    return tag("section", *inside, class_="answer", id="answer")


def _headline(material: Material) -> Html:
    first, end, rest = material.headline.partition(". ")
    sentences = [*_sentences(material), conformance(material.run)]
    others = [each for each in sentences if each not in ("", material.headline)]
    told = [tag("p", first + end.strip(), class_="where")]
    told += [tag("p", each) for each in (rest, *others) if each]
    whose = "Computed, not measured" if material.is_computed else "On this machine"
    return tag("section", tag("h2", whose), *told, class_="answer", id="answer")


def _sentences(material: Material) -> list[str]:
    """What experiments say, in the order in which they stand below."""
    ordered = sorted(
        material.shown,
        key=lambda shown: (shown.is_own, () if shown.is_own else order.place(shown.experiment.id)),
    )
    return [shown.sentence for shown in ordered]


def blocks(material: Material) -> Html:
    """How much was measured, in one calm line; nothing where nothing was."""
    counts = block_counts(material.run)
    if not counts:
        return Html()
    least, planned = min(counts)
    told = f"Each group of arms was sampled in at least {least:,} of {planned:,} blocks"
    if not least:
        told = (
            f"Some groups of arms were not sampled at all, though {planned:,} blocks were planned"
        )
    missing, every = material.run.count_missing()
    if missing and _is_short_of_time(material.run):
        told += f": time was up for {missing:,} of all {every:,}"
    return tag("p", f"{told}. A verdict takes {NEEDED}.", class_="muted")


def wrong(material: Material) -> Html:
    """Red bands: arms that computed something wrong, and checks that failed."""
    arms = unique(line for shown in material.shown for line in _wrong_arms(shown))
    checks = material.run.checks
    failed = [f"{each.device}, {each.name}: {each.said}" for each in checks if not each.passed]
    bands = {
        "Computed something wrong: its times mean nothing and are left out.": arms,
        "Checks of the suite for devices failed:": failed,
    }
    return join(
        tag("section", tag("strong", start), _first_of(told), class_="wrong", role="alert")
        for start, told in bands.items()
        if told
    )


def care(material: Material) -> Html:
    """A yellow band with the reasons to read the page with care; nothing where there are none."""
    reasons = unique(_reasons(material))
    if not reasons:
        return Html()
    start = tag("strong", "Read with care:")
    if len(reasons) == 1:
        return tag("section", start, " ", reasons[0], class_="care")
    return tag("section", start, _first_of(reasons), class_="care")


def left_out(material: Material) -> Html:
    """What a page of a large run doesn't show; nothing where it shows all."""
    told = material.extent.told
    return tag("p", told, class_="muted", id="left-out") if told else Html()


def _wrong_arms(shown: Shown) -> Iterable[str]:
    arms = [(row.cell, row.wrong) for row in shown.found.rows]
    arms += [(each.cell, each.wrong) for each in shown.found.verified]
    for cell, wrong in arms:
        if wrong:
            yield f"{shown.experiment.name}, {_cell(shown, cell)}: {wrong}"


def _machine(facts: Mapping[str, Fact]) -> Iterable[str]:
    if "cpu_model" in facts:
        yield str(facts["cpu_model"])
    cores = facts["cores_affinity"].value if "cores_affinity" in facts else None
    if isinstance(cores, int):
        yield counted(cores, "core", "cores")
    if "kernel" in facts:
        yield str(facts["kernel"])


def _reasons(material: Material) -> Iterable[str]:
    run = material.run
    if any(PROCESSOR in map(str, row.cell.values()) for row in material.rows):
        yield f"No GPU is here: {PROCESSOR} is in its place, for tests only, and tells of no GPU."
    yield from _noisy(material.rows)
    yield from _shaken(material.rows)
    yield from disagreements(material.shown)
    if not _is_done(run) and not _is_short_of_time(run):
        yield f"This run is incomplete: {_ending(run.ending)}."
    yield from (f"{note[:1].upper()}{note[1:].rstrip('.')}." for note in run.notes)
    for shown in material.shown:
        if shown.why_not:
            done = "measured" if shown.experiment.is_timed else "computed"
            yield f"{shown.experiment.name} was not {done}: {shown.why_not}."
    yield from _skipped(material.shown, is_computed=material.is_computed)
    if not material.is_computed:
        yield from _blind(run.machine)


def _is_done(run: Run) -> bool:
    """Whether nothing is left to do; only how it ended tells that of a run without experiments."""
    return run.is_whole if run.plan.experiments else run.ending == Ending(How.COMPLETE)


def _is_short_of_time(run: Run) -> bool:
    """Whether only the last blocks are missing, and none that a verdict needs."""
    ended = run.ending is not None and run.ending.how is How.TIME_UP
    counts = block_counts(run)
    return ended and bool(counts) and all(count >= NEEDED for count, _ in counts)


def _ending(ending: Ending | None) -> str:
    if ending is None:
        return "it was killed, or still goes on"
    return f"{ending.how}: {ending.reason}".rstrip(".") if ending.reason else ending.how


def _blind(machine: Surroundings) -> Iterable[str]:
    lacking = [
        worded(name)[0]
        for name, fact in machine.sensors.items()
        if fact.reason and (_has_gpu(machine) or not name.startswith("gpu_"))
    ]
    flags = machine.facts["cpu_flags"].value if "cpu_flags" in machine.facts else None
    if lacking:
        virtual = isinstance(flags, tuple) and "hypervisor" in flags
        where = "This is a virtual machine: it has" if virtual else "There is"
        yield f"{where} no sensor for {listed(lacking)}."


def _has_gpu(machine: Surroundings) -> bool:
    return any(
        each.driver in DRIVERS and not each.reason and each.role != "test only"
        for each in machine.devices
    )


def _noisy(rows: list[Row]) -> Iterable[str]:
    found = findings(rows)
    noisy = [row for each in found if each.kind is Kind.NOISY for row in each.rows]
    doubted = [each for each in found if each.rows[0].trust is not Trust.GOOD]
    careful = [row for each in doubted if each.kind is not Kind.NOISY for row in each.rows]
    if noisy:
        yield (
            f"{_of(noisy, rows)} without a verdict: the same code differed from itself by more "
            f"than {LOUD_FLOOR * 100:.0f} %."
        )
    if careful:
        yield f"{_of(careful, rows)} with a noise floor over {CAUTION_FLOOR * 100:.0f} %."


def _shaken(rows: list[Row]) -> Iterable[str]:
    if busy := [row for row in rows if row.machine_busy]:
        yield (
            f"The machine was busy: too few samples of {_of(busy, rows)} were clean. "
            "Measure again when it is quiet."
        )
    if drifting := [row for row in rows if not row.steady]:
        yield f"{_of(drifting, rows)} not steady: their speed or their clock drifted."


def _skipped(shown: Iterable[Shown], *, is_computed: bool) -> Iterable[str]:
    """What could not be measured or computed, each reason once."""
    arms = [
        (each.skipped, f"{one.experiment.name}, {each.cell[one.experiment.compare]}")
        for one in shown
        for each in one.found.verified
        if each.skipped and not each.left_out and not one.why_not
    ]
    done = "computed" if is_computed else "measured"
    for reason in unique(reason for reason, _ in arms):
        names = unique(name for why, name in arms if why == reason)
        yield f"Not {done}: {listed(few(names))}: {reason}."


def _of(some: list[Row], rows: list[Row]) -> str:
    """In pieces of work, as the answer counts: the rows of one share their noise."""
    few, every = (len({row.work for row in each}) for each in (some, rows))
    return f"{few:,} of {counted(every, 'piece of work', 'pieces of work')}"


def _cell(shown: Shown, cell: Cell) -> str:
    subject = cell[shown.experiment.compare]
    compare = shown.experiment.compare
    rest = [axis_text(name, value) for name, value in cell.items() if name != compare]
    return ", ".join([str(subject), *rest])


def _first_of(lines: Sequence[str]) -> Html:
    first, others = lines[:LINES_SHOWN], lines[LINES_SHOWN:]
    unfolded = [*others[:LINES_FOLDED], *(["and so on"] if others[LINES_FOLDED:] else [])]
    more = [folded(f"{len(others):,} more", _items(unfolded))] if others else []
    return join([_items(first), *more])


def _items(lines: Iterable[str]) -> Html:
    return tag("ul", *(tag("li", line) for line in lines))


LINES_SHOWN, LINES_FOLDED = 5, 200
