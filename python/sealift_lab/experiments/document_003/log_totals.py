"""The totals of document 003's log (its figure 14) beside those of the same records here.

All but the stated size are of a file that was rebuilt to have the printed size: they agree partly
by construction, and are marked so.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from itertools import product

from sealift_lab.model.published import Figure, Kind, Missing, Number, Published, table_row
from sealift_lab.model.results import ArmReport, Results
from sealift_lab.model.workload import KEY_BITS, Operation

Range = tuple[float, float, float]
"""A printed number, or what follows from several, with the ends that rounding leaves open."""


def published(results: Results) -> Sequence[Published]:
    """Every figure that the document prints of its log."""
    return [*_counts(results), _stated_size(), _not_as_planned(results)]


def _counts(results: Results) -> Iterator[Published]:
    here, (_, opens, failures) = partial(_here, results), OPERATIONS
    for field, fact in SHARES.items():
        # The keys' totals are no part of the sum of the three operations.
        others = [other for other in OPERATIONS if other != field]
        share = _derived(_share if field in OPERATIONS else _quotient, field, *others)
        what = f"{field}: {_print(field)}, as a share"
        yield _count(what, share, "of all operations", field, here(fact, "operations"))
    what = "planned failures for each open that succeeds"
    ratio = _derived(_quotient, failures, opens)
    yield _count(what, ratio, "x", failures, here("planned_failures", "opens"))
    for unit, size in _logged_sizes().items():
        what = f"volume by operations, if {_print(VOLUME)} are {unit}"
        yield _count(what, size, "B an operation", VOLUME, here("text_bytes", "operations"))


def _here(results: Results, fact: str, whole: str) -> Figure:
    """A count over another, of the first device that was checked."""
    for each in results.reports:
        if not each.skipped and not each.wrong and "operations" in each.facts:
            return Number(int(each.facts[fact]) / int(each.facts[whole]))
    return Missing(_why_none(results))


def _why_none(results: Results) -> str:
    reasons = (each.skipped or each.wrong for each in results.reports)
    return next(filter(None, reasons), "no device ran it")


def _stated_size() -> Published:
    """The text's size of a message against the log's: a contradiction inside the document."""
    row = table_row("003-T6-platform", item="Message Size")
    (stated, _, _), (total, _, _) = (
        _parse(row["value"]),
        _derived(lambda *each: sum(each), *OPERATIONS),
    )
    (as_gb, low, _), (as_gib, _, high) = _logged_sizes().values()
    what, here = f"message size as the text states it: {row['value']}", Number(as_gb, low, high)
    note = (
        f"its own log: {_print(VOLUME)} in {total / 1e9:.4f} G operations, {as_gb:.1f} B each, or "
        f"{as_gib:.1f} B if GiB; at the size stated they would be {stated * total / 1e9:.1f} GB"
    )
    figure = partial(Published, ID, what, stated, "B an operation", row["source"], Kind.ARITHMETIC)
    return figure(here, note, low=low, high=high)


def _not_as_planned(results: Results) -> Published:
    """Of all devices: one operation that did not end as planned is one too many."""
    ran = [each for each in results.reports if each.wrong or "operations" in each.facts]
    here = Number(sum(map(_unplanned, ran))) if ran else Missing(_why_none(results))
    what = "operations that did not end as planned, of all devices"
    return _count(what, (0.0, 0.0, 0.0), "operations", OPERATIONS[2], here)


def _unplanned(report: ArmReport) -> int:
    """At least one where a device computed wrong before it could count."""
    count = sum(int(report.facts.get(name, 0)) for name in (UNPLANNED, OPENED))
    return max(count, 1) if report.wrong else count


def _count(what: str, printed: Range, unit: str, field: str, here: Figure) -> Published:
    value, low, high = printed
    source = table_row("003-F14-log", field=field)["source"]
    note = "partly by construction: the records were chosen so that their file has the printed size"
    figure = partial(Published, ID, what, value, unit, source, Kind.COUNT, here, note)
    return figure(low=low, high=high, is_fitted=True)


def _logged_sizes() -> Mapping[str, Range]:
    """Bytes an operation of the log, by the two readings of the unit of its volume."""
    value, low, high = _derived(_quotient, VOLUME, *OPERATIONS)
    gib = 2**30 / 10**9
    return {"GB": (value, low, high), "GiB": (value * gib, low * gib, high * gib)}


def _derived(formula: Callable[..., float], *fields: str) -> Range:
    """What follows from printed numbers, with the worst of their rounding."""
    numbers = [_parse(_print(field)) for field in fields]
    ends = [formula(*corner) for corner in product(*((low, high) for _, low, high in numbers))]
    return formula(*(value for value, _, _ in numbers)), min(ends), max(ends)


def _share(part: float, *rest: float) -> float:
    return part / (part + sum(rest))


def _quotient(one: float, *wholes: float) -> float:
    return one / sum(wholes)


def _print(field: str) -> str:
    return table_row("003-F14-log", field=field)["value_as_printed"]


def _parse(text: str) -> Range:
    """A number with a unit: `1.6 G` is 1.55e9 to 1.65e9, `128 Bytes` 127.5 to 128.5."""
    digits, unit = text.split()
    number = Decimal(digits)
    half = Decimal(1).scaleb(int(number.as_tuple().exponent)) / 2
    factor = {"M": 10**6, "G": 10**9}.get(unit[0], 1)
    value, low, high = (float(end * factor) for end in (number, number - half, number + half))
    return value, low, high


ID = "003-F14"
COUNTS = {Operation.SEAL: "seals", Operation.OPEN: "opens", Operation.FORGED: "planned_failures"}
OPENED, UNPLANNED = "planned_failures_that_opened", "unplanned_failures"
KEY_COUNTS = tuple(f"operations_aes_{bits}" for bits in KEY_BITS)
OPERATIONS = (
    "Total Number of Encryption Operations",
    "Total Number of Decryption Operations with Successful Authentication",
    "Total Number of Decryption Operations with Planned Failed Authentication",
)
VOLUME = "Total Volume of Messages Processed"
KEYS = [f"Total Number of Operations with {bits}-bit key" for bits in KEY_BITS]
SHARES = dict(zip((*OPERATIONS, *KEYS), (*COUNTS.values(), *KEY_COUNTS), strict=True))
