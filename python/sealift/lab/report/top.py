"""The first screen: the answer with a bar for each device, and what it was measured on."""

import re
from collections.abc import Iterable, Mapping, Sequence

from sealift.lab.answer import BARS_MOST, QUESTION, WORDS_MOST, Answer, Bar, first_bars
from sealift.lab.digest import conformance
from sealift.lab.finding import Kind, findings, listed
from sealift.lab.gpus.cells import DRIVERS, PROCESSOR
from sealift.lab.report import order
from sealift.lab.report.agreement import disagreements
from sealift.lab.report.markup import Html, folded, join, tag
from sealift.lab.report.material import Material, Shown
from sealift.lab.report.words import (
    counted,
    duration,
    few,
    unique,
    worded,
)
from sealift.lab.result import Lead, Origin, Row
from sealift.lab.shortfall import NEEDED, block_counts
from sealift.lab.stats import Trust, trust
from sealift.lab.stats.verdicts import CAUTION_FLOOR, LOUD_FLOOR
from sealift.lab.store import Ending, How, Run, Surroundings
from sealift.lab.store.run import took_s
from sealift.lab.units import axis_text
from sealift.lab.unsettled import noise
from sealift.lab.values import Cell
from sealift.lab.wording import machine_text


def question(material: Material) -> str:
    """What the page answers: the lab's question where the run asked it."""
    if material.answer:
        return QUESTION
    if material.lead:
        return material.lead.question
    return "What was computed here?" if material.is_computed else "What was measured here?"


def answer(material: Material) -> Html:
    """The card with the answer; what is beyond as many words as a terminal gets is folded."""
    found, lead = material.answer, material.lead
    if not found:
        return _card(material, _lead(material, lead) if lead else _headline(material))
    cards = [
        _card(material, _found(found, first_bars(found.bars, most), found.care[:reasons]))
        for most in BARS_MOST
        for reasons in range(max(1, len(found.care)), 0, -1)
    ]
    return next((each for each in cards if _visible_words(each) <= WORDS_MOST), cards[-1])


def _card(material: Material, inside: Sequence[Html]) -> Html:
    chips = tag("p", *_spaced(_chips(material)), class_="chips")
    return tag("section", *inside[:-1], chips, inside[-1], class_="card answer", id="answer")


def _visible_words(card: Html) -> int:
    unfolded = re.sub("</summary>.*?</details>", "", card, flags=re.S)
    return len(re.sub("<[^>]*>", " ", unfolded).split())


def _found(found: Answer, bars: Sequence[Bar], care: Sequence[str]) -> list[Html]:
    under = " · ".join(filter(None, (found.figure, found.basis)))
    more, others = found.bars[len(bars) :], found.care[len(care) :]
    folds = [*([_bars(found, more)] if more else []), *([_items(others)] if others else [])]
    reasons = tag("p", " ".join(care), class_="muted") if care else Html()
    return [
        _where(f"{found.headline}."),
        tag("p", under, class_="muted") if under else Html(),
        _bars(found, bars),
        join([reasons, folded(f"{len(more) + len(others)} more", *folds) if folds else Html()]),
    ]


def _bars(found: Answer, bars: Iterable[Bar]) -> Html:
    most = max((bar.rate.high for bar in found.bars if bar.rate), default=1.0)
    lines = (tag("div", *_spaced(_bar(bar, most)), class_="bar") for bar in bars)
    return tag("div", *lines, class_="bars")


def _bar(bar: Bar, most: float) -> Iterable[Html]:
    """Its name, its bar with marks at the ends of the interval, and its rate."""
    if bar.rate is None:
        yield tag("span", bar.name, class_="absent")
        yield tag("span", bar.note, class_="absent note")
        return
    wide, low, high = (100 * each / most for each in (bar.rate.median, bar.rate.low, bar.rate.high))
    kind = "first" if bar.is_advised else "other"
    if bar.origin is not Origin.MEASURED:
        kind = "projected"
    marks = [tag("i", style=f"left:{each:.2f}%") for each in (low, high) if low < high]
    drawn = tag("b", class_=kind, style=f"width:{wide:.2f}%")
    yield tag("span", bar.name)
    yield tag("span", drawn, *marks, class_="track")
    yield tag("span", bar.text, class_="rate most" if bar.is_advised else "rate")


def _chips(material: Material) -> Iterable[Html]:
    """Noise, disturbed samples, machine, and when: as good, to be careful with, or bad."""
    found, run = material.answer, material.run
    if found and found.noise:
        yield _chip(found.noise_text, TRUST[trust(found.noise.usual)])
    if found and found.disturbed is not None:
        colour = next(colour for most, colour in UNCLEAN if found.disturbed <= most)
        yield _chip(found.disturbed_text, colour)
    if material.is_computed:
        counts = computed_cells(material)
        yield from (_chip(f"{count:,} cells {origin}") for origin, count in counts.items())
        yield _chip("nothing was measured")
    elif named := machine_text(run.machine.facts):
        yield _chip(named)
    date, took = run.plan.created.partition("T")[0], took_s(run.sensors)
    done = "computed" if material.is_computed else "measured"
    yield _chip(f"{done} in {duration(took)}, {date}" if took else f"{done} {date}")


def computed_cells(material: Material) -> Mapping[str, int]:
    """How many cells were computed, by their origin."""
    counts: dict[str, int] = {}
    for shown in material.shown:
        if shown.computed:
            origin = shown.experiment.origin.value
            counts[origin] = counts.get(origin, 0) + len(shown.computed)
    return counts


def _chip(text: str, colour: str = "plain") -> Html:
    return tag("span", text, class_=f"chip {colour}")


def _where(headline: str) -> Html:
    """In large letters, where it is short enough to be read at a glance."""
    return tag("h2", headline, class_="where" if len(headline) <= GLANCE_CHARS else "where long")


def _spaced(parts: Iterable[Html]) -> Iterable[str]:
    """With spaces between, for whoever reads the page without its style."""
    for part in parts:
        yield part
        yield " "


def _lead(material: Material, lead: Lead) -> list[Html]:
    """The answer to what the run was made for; what single experiments say is folded."""
    sentences = [each for each in _sentences(material) if each]
    more = folded("What each experiment says", _items(sentences)) if sentences else Html()
    return [
        tag("p", lead.origin, class_="muted"),
        _where(lead.answer),
        tag("p", lead.figures),
        more,
    ]


def _headline(material: Material) -> list[Html]:
    first, end, rest = material.headline.partition(". ")
    sentences = [*_sentences(material), conformance(material.run)]
    others = [each for each in (rest, *sentences) if each not in ("", material.headline)]
    whose = "Computed, not measured" if material.is_computed else "On this machine"
    more = folded("What each experiment says", _items(others)) if others else Html()
    return [
        tag("p", whose, class_="muted"),
        _where(first + end.strip()),
        more,
    ]


def _sentences(material: Material) -> list[str]:
    """What experiments say, in the order in which they stand below."""
    ordered = sorted(
        material.shown,
        key=lambda shown: (shown.is_own, () if shown.is_own else order.place(shown.experiment.id)),
    )
    return [shown.sentence for shown in ordered]


def blocks(material: Material) -> Html:
    """How much was measured, and how noisily; nothing where nothing was."""
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
    heard = noise(material.rows)
    noisy = f" {heard.text}" if heard else ""
    return tag("p", f"{told}. A verdict takes {NEEDED}.{noisy}", class_="muted")


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


def care(material: Material) -> list[Html]:
    """Every reason to read the page with care; nothing where there are none."""
    reasons = unique(_reasons(material))
    told = [*reasons, *([material.extent.told] if material.extent.told else [])]
    return [tag("h3", "Read with care"), _first_of(told)] if told else []


def _wrong_arms(shown: Shown) -> Iterable[str]:
    arms = [(row.cell, row.wrong) for row in shown.found.rows]
    arms += [(each.cell, each.wrong) for each in shown.found.verified]
    for cell, wrong in arms:
        if wrong:
            yield f"{shown.experiment.name}, {_cell(shown, cell)}: {wrong}"


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


GLANCE_CHARS = 90
LINES_SHOWN, LINES_FOLDED = 5, 200
TRUST = {Trust.GOOD: "good", Trust.CAUTION: "caution", Trust.LOUD: "bad"}
UNCLEAN = ((0.05, "good"), (0.5, "caution"), (1.0, "bad"))
