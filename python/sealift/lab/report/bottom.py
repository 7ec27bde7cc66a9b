"""The rest of the page: devices that are not here, method, machine, sensors, data, replay."""

import base64
import gzip
from collections.abc import Iterable, Mapping, Sequence

from sealift.lab import absent, vega
from sealift.lab.gpus.cores import cores_of
from sealift.lab.machine import Fact
from sealift.lab.measure import LEAD_IN_S_MIN, SAMPLE_S_MIN
from sealift.lab.record import Record, as_text, summary_columns
from sealift.lab.record import csv_text as csv_of
from sealift.lab.report import computed
from sealift.lab.report.breakeven import cards_needed
from sealift.lab.report.markup import CARDS, Html, folded, join, table, tag
from sealift.lab.report.material import Material
from sealift.lab.report.sections import Section
from sealift.lab.report.words import with_interval, worded
from sealift.lab.result import Origin, Verified
from sealift.lab.stats import VERDICT_CONFIDENCE, blocks_needed, smallest_difference
from sealift.lab.stats.flags import CLEAN_BLOCKS_MIN
from sealift.lab.stats.verdicts import FAR_APART, LOUD_FLOOR
from sealift.lab.store.reading import NOT_REACHED
from sealift.lab.units import as_printed, format_measure
from sealift.lab.vega import Labels, Point, Scales, Spec


def not_here(material: Material) -> Html:
    """Devices that are absent, with why; folded what they would need to win here."""
    drivers = list(_absent_drivers(material))
    absent_here = [*drivers, *_absent_peers(material)]
    short = [(name, _short(reason)) for name, reason in absent_here]
    inside = [tag("h2", "Not in this machine")]
    if not drivers:
        by_program = material.run.plan.is_by_program
        inside.append(tag("p", ONLY_ASKED if by_program else ALL_PRESENT, class_="muted"))
    if short:
        inside.append(table(["device", "why"], short, label="Absent devices with the reason"))
    full = [tag("li", f"{name}: {reason}") for name, reason in absent_here]
    if [reason for _, reason in short] != [reason for _, reason in absent_here]:
        inside.append(folded("What to install", tag("ul", *full)))
    if _has_devices(material):
        rows = absent.wishes(material.lab_rows, material.run.machine.devices)
        wished = [tag("p", WISHED, class_="muted"), _wishes(rows), *cards_needed(material)]
        inside.append(folded("What they would need to win (projected)", *wished))
    return tag("section", *inside, class_="card", id="absent")


def _absent_drivers(material: Material) -> Iterable[tuple[str, str]]:
    missing = [each for each in material.run.machine.devices if each.is_missing]
    plain = {each.spec for each in missing}
    for each in missing:
        # With settings the same driver is no other device.
        if each.spec == each.driver or each.driver not in plain:
            yield ABSENT_NAMES.get(each.spec, each.spec), each.reason or ""


def _short(reason: str) -> str:
    """Why, without the system's words for it and what to do."""
    first = reason.partition(" (")[0].partition("; ")[0]
    return first.partition(": ")[2] or first if first.count(": ") == 1 else first


def _has_devices(material: Material) -> bool:
    """Whether any experiment is about devices, with which others can be compared."""
    return any(axis.name == "device" for shown in material.shown for axis in shown.experiment.axes)


def method(material: Material) -> Html:
    """How figures come about, in short: what is measured, and what is computed."""
    told = [*(() if material.is_computed else METHOD), *computed.method(material), *ALWAYS]
    items = [tag("li", line) for line in told]
    return tag("section", tag("h3", "Method"), tag("ul", *items), id="method")


def machine(material: Material) -> Html:
    """What was measured on: each fact a value, or the reason why there is none."""
    facts = list(_facts(material.run.machine.facts))
    shown = table(["what", "value, or why there is none"], facts, label="The machine")
    return tag("section", tag("h3", "Machine"), shown, id="machine")


def sensors(material: Material) -> Section:
    """What the sensors said over time, or why there is none."""
    drawn = list(_drawn(material))
    told = list(_told(material))
    inside = [tag("h3", "Sensors, once a second")]
    if drawn:
        inside.append(tag("div", *(_sensor_figure(*each) for each in drawn), class_="figures"))
    if told:
        label = "Sensors, or why there is none"
        inside.append(table(["sensor", "readings, or why there is none"], told, label=label))
    if not drawn and not told:
        inside.append(tag("p", "No sensor was read in this run.", class_="muted"))
    html = tag("section", *inside, id="sensors")
    return Section(html, {place: spec for place, _, spec in drawn})


def data(material: Material) -> Html:
    """All rows, folded away; the same as CSV, to be kept as a file."""
    records = [each for shown in material.shown for each in shown.records]
    computed = sum(len(shown.computed) for shown in material.shown)
    inside = [tag("h3", "Data")]
    if (records or computed) and material.extent.has_csv:
        named = f"{material.run.path.name}-summary.csv"
        button = tag(
            "button", "Save as CSV", type="button", id="save", data_name=named, hidden=True
        )
        inside.append(button)
        if computed:
            told = f"The CSV has the {computed:,} cells that were computed, too."
            inside.append(tag("p", told, class_="muted"))
        if not records:
            inside.append(tag("p", "Nothing was measured.", class_="muted"))
        elif material.extent.has_table:
            inside.append(folded(f"All {len(records):,} rows", _records(records)))
        else:
            inside.append(tag("p", f"The CSV has all {len(records):,} rows.", class_="muted"))
    elif records or computed:
        inside.append(tag("p", "All rows stand in summary.csv, beside this page.", class_="muted"))
    else:
        inside.append(tag("p", "Nothing was measured.", class_="muted"))
    inside.append(
        tag("p", "The same plan and the same seed once more: ", tag("code", material.again))
    )
    return tag("section", *inside, id="data")


def csv_text(material: Material) -> str:
    """All rows and computed cells as CSV: what summary.csv holds."""
    records = [each for shown in material.shown for each in shown.kept]
    return csv_of(records, summary_columns(records))


def csv_held(material: Material) -> str | dict[str, str]:
    """What the page keeps of it for the button: the text, or {"gzip": base64} where it is large."""
    if not material.extent.has_csv:
        return ""
    text = csv_text(material)
    if not material.extent.is_packed:
        return text
    packed = gzip.compress(text.encode(errors="replace"), mtime=0)
    return {"gzip": base64.b64encode(packed).decode()}


def _absent_peers(material: Material) -> Iterable[tuple[str, str]]:
    """What the lab only compares with and did not find; the machine's list has users' drivers."""
    known = {each.driver for each in material.run.machine.devices}
    skipped = {
        str(each.cell["device"]): each.skipped
        for shown in material.shown
        if shown.is_of_the_lab
        for each in shown.found.verified
        if "device" in each.cell and _is_absent(each)
    }
    for device, reason in skipped.items():
        if device.partition(":")[0] not in known:
            yield f"{device} (to compare with only)", reason


def _is_absent(arm: Verified) -> bool:
    """Whether an arm was skipped for what it needs: cores are there, and time is no device."""
    is_of_time = arm.left_out or arm.skipped == NOT_REACHED
    return bool(arm.skipped) and not is_of_time and cores_of(str(arm.cell["device"])) is None


def _wishes(wishes: Sequence[absent.Wish]) -> Html:
    header = (
        "device",
        "work",
        "published, MB/s and messages/s",
        "best here, MB/s and messages/s",
        "would need to be",
        "nearest work",
    )
    rows = [
        (
            wish.device,
            tag("span", wish.work, title=wish.source),
            _reckoned(wish),
            _best(wish),
            _factor(wish),
            wish.nearest,
        )
        for wish in wishes
    ]
    label = "Published devices, and what they would need to win here"
    return table(header, rows, label=label, class_=CARDS)


def _reckoned(wish: absent.Wish) -> Html:
    told = PUBLISHED_AS[wish.origin]
    messages = wish.published_messages_per_s
    by_message = "" if messages is None else f", {format_measure(messages)} messages/s"
    speed = f"{as_printed(wish.published_mb_per_s)} MB/s{by_message}"
    return join([speed, " ", _mark(wish.origin, told), " ", wish.how])


def _best(wish: absent.Wish) -> Html:
    if wish.best is None:
        return tag("span", "not measured", class_="muted")
    parts = [with_interval(wish.best, "MB/s"), f" {wish.best_device} ", _mark(Origin.MEASURED)]
    if wish.published_messages_per_s and wish.best_messages_per_s:
        # The interval is as wide as that in MB/s, in shares.
        parts.append(f" {format_measure(wish.best_messages_per_s.median)} messages/s")
    return join(parts)


def _factor(wish: absent.Wish) -> Html:
    if wish.factor is None:
        return tag("span", "not known", class_="muted")
    times = " times as fast as published in MB/s" if wish.factor_in_messages else TIMES
    parts = [with_interval(wish.factor), times, " ", _mark(Origin.PROJECTED)]
    if wish.factor_in_messages:
        parts += [" ", with_interval(wish.factor_in_messages), " times in messages/s"]
    return join(parts)


def _mark(origin: Origin, text: str = "") -> Html:
    return tag("span", text or origin.value, class_=f"origin {origin.value}")


def _told(material: Material) -> Iterable[tuple[str, str]]:
    for name, fact in material.run.machine.sensors.items():
        title = ", ".join(filter(None, worded(name)))
        readings = [each.values[name] for each in material.run.sensors if name in each.values]
        if readings:
            low, high = vega.shown(min(readings)), vega.shown(max(readings))
            yield title, low if low == high else f"{low} to {high}"
        else:
            yield title, _value(fact)


def _drawn(material: Material) -> Iterable[tuple[str, str, Spec]]:
    """A figure for each sensor that gave numbers; long runs are thinned out evenly."""
    readings = material.run.sensors
    for name in dict.fromkeys(name for each in readings for name in each.values):
        series = [(each.at_s, each.values[name]) for each in readings if name in each.values]
        if name in COUNTERS:
            series = [(at, value - series[0][1]) for at, value in series]
        if len({value for _, value in series}) > 1:
            thin = series[:: -(-len(series) // READINGS_MOST)]
            points = [Point(at, value, None, None, "") for at, value in thin]
            title, unit = worded(name)
            labels = Labels(title, "seconds", unit or title, "")
            spec = vega.specification(points, labels, Scales(), {"": vega.COLOURS[0]})
            yield f"sensor-{name.replace('_', '-')}", title, {**spec, "height": SENSOR_HIGH_PX}


def _sensor_figure(place: str, name: str, spec: Spec) -> Html:
    caption = tag("figcaption", name)
    drawing = tag("div", class_="plot", id=place, role="img", aria_label=spec["description"])
    return tag("figure", caption, drawing)


def _facts(facts: Mapping[str, Fact]) -> Iterable[tuple[str, str]]:
    for name, fact in facts.items():
        yield ", ".join(filter(None, worded(name))), _value(fact)


def _value(fact: Fact) -> str:
    if isinstance(fact.value, tuple):
        return ", ".join(fact.value)
    return vega.shown(fact.value) if isinstance(fact.value, float) else str(fact)


def _records(records: Sequence[Record]) -> Html:
    names = summary_columns(records)
    fixed = {
        name: values.pop()
        for name in names
        if len(records) > 1 and len(values := {as_text(each.get(name)) for each in records}) == 1
    }
    varied = [name for name in names if name not in fixed]
    rows = [[as_text(each.get(name)) for name in varied] for each in records]
    told = "; ".join(f"{name} {value}" for name, value in fixed.items() if value)
    always = tag("p", f"In all rows: {told}.", class_="muted") if told else ""
    return join([always, table(varied, rows, label="All rows of this run")])


LEAST_PERCENT, LOUD_PERCENT = 100 * smallest_difference(0.0), 100 * LOUD_FLOOR
METHOD = (
    "Every arm is checked on every message before it is timed; after each sample every thread "
    "compares a batch that it worked byte by byte, another one each time. A wrong result ends the "
    "arm.",
    "Samples of all arms take turns in blocks, in an order drawn by the seed; a sample lasts at "
    f"least {SAMPLE_S_MIN * 1_000:.0f} milliseconds, behind {LEAD_IN_S_MIN * 1_000:.0f} or more of "
    "the same work that are not timed, in which caches and branch predictors learn again. So its "
    "length, which is set anew after each round, does not show in the times.",
    "Figures are medians over blocks with their 95 % interval: of the bootstrap over blocks, and "
    "of Student's t over restarts where there are several. Ratios are paired block by block, and "
    "verdicts stand on 99 % intervals.",
    "In each block one arm of the group, another one each time, is measured twice. How far these "
    "two differ, although they are the same code, is the noise floor.",
    f"A difference below the noise floor, or below {LEAST_PERCENT:.0f} %, is never called one: "
    "FASTER and SLOWER lie wholly beyond it, SAME wholly within. The minimum is for what two "
    "separate preparations of the same code differ by.",
    f"A verdict takes {blocks_needed(VERDICT_CONFIDENCE)} blocks. Over a noise floor of "
    f"{LOUD_PERCENT:.0f} % only what lies wholly beyond {FAR_APART} times that floor is told, and "
    "nothing is SAME. The verdicts of several arms in a group keep their 99 % together (Holm's "
    "procedure); those of several groups don't.",
    "A sample is clean when the system took less than 1 % of its time. Estimates use the clean "
    f"ones while they are half of all, or a quarter and {CLEAN_BLOCKS_MIN}; with fewer the machine "
    "was busy, and nothing is settled. The others stay in the file. Times that still rise or fall "
    "over the clean samples of a process by more than a difference make a row not steady.",
)
ALWAYS = (
    "1 MB is 10**6 bytes; payload is text, without nonces, additional data and tags.",
    "Measured, simulated, projected and published figures are never mixed.",
)
TIMES = " times as fast as published"
PUBLISHED_AS = {
    Origin.PUBLISHED: "published",
    Origin.PROJECTED: "projected from published inputs",
}
ABSENT_NAMES = {"cuda": "NVIDIA GPU (cuda)", "opencl": "OpenCL GPU (opencl)"}
ALL_PRESENT = "Every device that is for work and has a driver is present."
ONLY_ASKED = "sealift-gpu looked only at the devices that it was asked for."
WISHED = (
    "Speeds are published, or projected from published inputs. What they would need is projected "
    "from that and from the fastest device measured here on the nearest work; below 1 the "
    "published speed is above that."
)
READINGS_MOST = 100
# Count from the start of the machine; a figure shows what was added since that of the run.
COUNTERS = {"steal_s"}
SENSOR_HIGH_PX = 110
