"""The totals of document 003's log (its figure 14) beside those of the same records here."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sealift_lab.experiments.document_003.log_arm import COUNTS, KEY_COUNTS, OPENED, UNPLANNED
from sealift_lab.model.figure import Figure, Missing, Number
from sealift_lab.model.published import Kind, Published, table_row
from sealift_lab.model.results import ArmReport, Results


@dataclass(frozen=True)
class Rounded:
    """A printed number, or what follows from several, with the range that rounding leaves open."""

    value: float
    low: float
    high: float

    @classmethod
    def parse(cls, text: str) -> "Rounded":
        """Parses a number with a unit: `1.6 G` is 1.55e9 to 1.65e9, `128 Bytes` 127.5 to 128.5."""
        digits, unit = text.split()
        number = Decimal(digits)
        half = Decimal(1).scaleb(int(number.as_tuple().exponent)) / 2
        factor = {"M": 10**6, "G": 10**9}.get(unit[0], 1)
        return cls(*(float(end * factor) for end in (number, number - half, number + half)))

    def __add__(self, other: "Rounded") -> "Rounded":
        """The sum, with the worst of both."""
        return Rounded(self.value + other.value, self.low + other.low, self.high + other.high)

    def over(self, other: "Rounded") -> "Rounded":
        """The quotient of numbers that were rounded apart, with the worst of both."""
        return Rounded(self.value / other.value, self.low / other.high, self.high / other.low)

    def share_beside(self, rest: "Rounded") -> "Rounded":
        """The share of this in the sum of this and the rest, with the worst of both."""
        part = rest.over(self)
        return Rounded(1 / (1 + part.value), 1 / (1 + part.high), 1 / (1 + part.low))


def published(results: Results) -> Sequence[Published]:
    """Every figure that the document prints of its log.

    All but the stated size are of a file that was rebuilt to have the printed size: they agree
    partly by construction, and are marked so.
    """
    totals = _totals(results)
    opens, failures = OPERATIONS[1:]
    return [
        *(_share(name, _of(totals, fact, "operations")) for name, fact in SHARES.items()),
        _count(
            "planned failures for each open that succeeds",
            _printed(failures).over(_printed(opens)),
            "x",
            failures,
            _of(totals, "planned_failures", "opens"),
        ),
        *_bytes_an_operation(_of(totals, "text_bytes", "operations")),
        _stated_size(),
        _not_as_planned(results),
    ]


def _totals(results: Results) -> Mapping[str, int] | str:
    """The counts of the first device that was checked, or why there are none."""
    for each in results.reports:
        if not each.skipped and not each.wrong and "operations" in each.facts:
            return {name: int(value) for name, value in each.facts.items() if name in COUNTED}
    return _why_none(results)


def _why_none(results: Results) -> str:
    reasons = (each.skipped or each.wrong for each in results.reports)
    return next(filter(None, reasons), "no device ran it")


def _of(totals: Mapping[str, int] | str, fact: str, whole: str) -> Figure:
    return Missing(totals) if isinstance(totals, str) else Number(totals[fact] / totals[whole])


def _share(name: str, here: Figure) -> Published:
    total, rest = _printed(name), [other for other in OPERATIONS if other != name]
    # The keys' totals are no part of the sum of the three operations, but rounded apart from it.
    is_part = name in OPERATIONS
    share = total.share_beside(_sum(rest)) if is_part else total.over(_sum(OPERATIONS))
    what = f"{name}: {_row(name)['value_as_printed']}, as a share"
    return _count(what, share, "of all operations", name, here)


def _bytes_an_operation(here: Figure) -> Iterator[Published]:
    """Both readings of the unit of the volume."""
    for size, unit in zip(_logged_sizes(), ("GB", "GiB"), strict=True):
        what = f"volume by operations, if {_row(VOLUME)['value_as_printed']} are {unit}"
        yield _count(what, size, "B an operation", VOLUME, here)


def _stated_size() -> Published:
    """The text's size of a message against the log's: a contradiction inside the document."""
    row = table_row("003-T6-platform", item="Message Size")
    stated, total = Rounded.parse(row["value"]), _sum(OPERATIONS)
    as_gb, as_gib = _logged_sizes()
    return Published(
        figure=ID,
        what=f"message size as the text states it: {row['value']}",
        value=stated.value,
        unit="B an operation",
        source=row["source"],
        kind=Kind.ARITHMETIC,
        here=Number(as_gb.value, as_gb.low, as_gib.high),
        note=f"its own log: {_row(VOLUME)['value_as_printed']} in {total.value / 1e9:.4f} G "
        f"operations, {as_gb.value:.1f} B each, or {as_gib.value:.1f} B if GiB; at the size stated "
        f"they would be {stated.value * total.value / 1e9:.1f} GB",
        low=as_gb.low,
        high=as_gib.high,
    )


def _not_as_planned(results: Results) -> Published:
    """Of all devices: one operation that did not end as planned is one too many."""
    ran = [each for each in results.reports if each.wrong or "operations" in each.facts]
    return _count(
        "operations that did not end as planned, of all devices",
        Rounded(0.0, 0.0, 0.0),
        "operations",
        OPERATIONS[2],
        Number(sum(map(_unplanned, ran))) if ran else Missing(_why_none(results)),
    )


def _unplanned(report: ArmReport) -> int:
    """At least one where a device computed wrong before it could count."""
    count = sum(int(report.facts.get(name, 0)) for name in (UNPLANNED, OPENED))
    return max(count, 1) if report.wrong else count


def _count(what: str, printed: Rounded, unit: str, field: str, here: Figure) -> Published:
    return Published(
        figure=ID,
        what=what,
        value=printed.value,
        unit=unit,
        source=_row(field)["source"],
        kind=Kind.COUNT,
        here=here,
        note="partly by construction: the records were chosen so that their file has the printed "
        "size",
        low=printed.low,
        high=printed.high,
        is_fitted=True,
    )


def _logged_sizes() -> tuple[Rounded, Rounded]:
    """Bytes an operation of the log, its volume read as GB and as GiB."""
    size, gib = _printed(VOLUME).over(_sum(OPERATIONS)), 2**30 / 10**9
    return size, Rounded(size.value * gib, size.low * gib, size.high * gib)


def _sum(names: Sequence[str]) -> Rounded:
    first, *rest = map(_printed, names)
    return sum(rest, first)


def _printed(name: str) -> Rounded:
    return Rounded.parse(_row(name)["value_as_printed"])


def _row(name: str) -> Mapping[str, str]:
    return table_row("003-F14-log", field=name)


ID = "003-F14"
OPERATIONS = (
    "Total Number of Encryption Operations",
    "Total Number of Decryption Operations with Successful Authentication",
    "Total Number of Decryption Operations with Planned Failed Authentication",
)
VOLUME = "Total Volume of Messages Processed"
KEYS = [f"Total Number of Operations with {fact[-3:]}-bit key" for fact in KEY_COUNTS]
SHARES = dict(zip((*OPERATIONS, *KEYS), (*COUNTS.values(), *KEY_COUNTS), strict=True))
COUNTED = {"operations", "text_bytes", *SHARES.values()}
