"""The totals of document 003's log beside those of the same records here."""

from collections.abc import Iterator, Mapping, Sequence

from sealift.lab.experiments.operation_log.log import COUNTS
from sealift.lab.published import Comparison, Here, Kind, Printed, Rounded, counted, table_row
from sealift.lab.result import Found, Verified
from sealift.lab.workload import KEY_BITS


def published(found: Found) -> Sequence[Comparison]:
    """Every figure that the document prints of its log."""
    here = _totals(found)
    return [
        *(_share(name, fact, here) for name, fact in SHARES),
        _failures_an_open(here),
        *_bytes_an_operation(here),
        _stated_size(),
        _not_as_planned(found),
    ]


def _totals(found: Found) -> Mapping[str, int] | str:
    """The counts of the first device that was checked, or why there are none."""
    for each in found.verified:
        if not each.skipped and not each.wrong and "operations" in each.facts:
            return {name: int(value) for name, value in each.facts.items() if name in COUNTED}
    return _why_not(found)


def _why_not(found: Found) -> str:
    reasons = (each.skipped or each.wrong for each in found.verified)
    return next(filter(None, reasons), "no device ran it")


def _share(name: str, fact: str, here: Mapping[str, int] | str) -> Comparison:
    row = table_row(TABLE, field=name)
    total, rest = _printed_total(name), [other for other in OPERATIONS if other != name]
    # The keys' totals are no part of the sum of the three operations, but rounded apart from it.
    is_part = name in OPERATIONS
    share = total.share_beside(_sum(rest)) if is_part else total.over(_sum(OPERATIONS))
    note = f"{_counted_note(here, fact)}; {BY_CONSTRUCTION}"
    return Printed(
        figure=ID,
        what=f"{name}: {row['value_as_printed']}, as a share",
        value=share.value,
        unit="of all operations",
        source=row["source"],
        kind=Kind.COUNT,
        span=share,
    ).beside(_quotient(here, fact, "operations"), f"{note}{_half() if fact == 'seals' else ''}")


def _half() -> str:
    """Why a log of a file of which half are encryptions shows less than half of them."""
    seals, opens = _printed_total(OPERATIONS[0]), _sum(OPERATIONS[1:])
    digits = table_row(TABLE, field=OPERATIONS[0])["value_as_printed"]
    return (
        f"; the encryptions printed, {digits}, are {seals.high / 1e9:.4g} G at most, the "
        f"decryptions {opens.low / 1e9:.5g} G at least, though half of the file is encryptions: "
        f"were the last digit cut off, not rounded, half would fit"
    )


def _failures_an_open(here: Mapping[str, int] | str) -> Comparison:
    failures, opens = OPERATIONS[2], OPERATIONS[1]
    times = _printed_total(failures).over(_printed_total(opens))
    return Printed(
        figure=ID,
        what="planned failures for each open that succeeds",
        value=times.value,
        unit="x",
        source=table_row(TABLE, field=failures)["source"],
        kind=Kind.COUNT,
        span=times,
    ).beside(
        _quotient(here, "planned_failures", "opens"),
        f"{_counted_note(here, 'planned_failures')}; {BY_CONSTRUCTION}",
    )


def _bytes_an_operation(here: Mapping[str, int] | str) -> Iterator[Comparison]:
    """Both readings of the unit of the volume."""
    row = table_row(TABLE, field=VOLUME)
    for size, unit in zip(_logged_sizes(), ("GB", "GiB"), strict=True):
        yield Printed(
            figure=ID,
            what=f"volume by operations, if {row['value_as_printed']} are {unit}",
            value=size.value,
            unit="B an operation",
            source=row["source"],
            kind=Kind.COUNT,
            span=size,
        ).beside(
            _quotient(here, "text_bytes", "operations"),
            f"{_counted_note(here, 'text_bytes')}; printed for {_sum(OPERATIONS).value / 1e9:.4f} G"
            " operations",
        )


def _stated_size() -> Comparison:
    """The text's size of a message against the log's: a contradiction inside the document."""
    row = table_row("003-T6-platform", item="Message Size")
    stated, total = Rounded.printed(row["value"]), _sum(OPERATIONS)
    as_gb, as_gib = _logged_sizes()
    volume = table_row(TABLE, field=VOLUME)["value_as_printed"]
    return Printed(
        figure=ID,
        what=f"message size as the text states it: {row['value']}",
        value=stated.value,
        unit="B an operation",
        source=row["source"],
        kind=Kind.WITHIN,
        span=Rounded(as_gb.value, as_gb.low, as_gib.high),
    ).beside(
        "nothing to measure",
        f"its own log: {volume} in {total.value / 1e9:.4f} G operations, {as_gb.value:.1f} B each, "
        f"or {as_gib.value:.1f} B if GiB; at the size stated they would be "
        f"{stated.value * total.value / 1e9:.1f} GB",
    )


def _not_as_planned(found: Found) -> Comparison:
    """Of all devices: one operation that did not end as planned is one too many."""
    ran = [each for each in found.verified if each.wrong or "operations" in each.facts]
    here: Here = counted(sum(map(_unplanned, ran)), of=sum(map(_done, ran)))
    told = ", ".join(
        f"{each.cell['device']} {_unplanned(each):,} of {_done(each):,}" for each in ran
    )
    return Printed(
        figure=ID,
        what="operations that did not end as planned, of all devices",
        value=0.0,
        unit="operations",
        source=table_row(TABLE, field=OPERATIONS[2])["source"],
        kind=Kind.COUNT,
        span=Rounded(0.0, 0.0, 0.0),
    ).beside(
        here if ran else _why_not(found),
        f"{told or 'not counted'}; the log prints no line for any, so none",
    )


def _unplanned(device: Verified) -> int:
    """At least one where a device computed wrong before it could count."""
    names = ("unplanned_failures", "planned_failures_that_opened")
    told = sum(int(device.facts.get(name, 0)) for name in names)
    return max(told, 1) if device.wrong else told


def _done(device: Verified) -> int:
    return int(device.facts.get("operations", 0))


def _quotient(here: Mapping[str, int] | str, fact: str, of: str) -> Here:
    return here if isinstance(here, str) else counted(here[fact] / here[of], of=here[of])


def _counted_note(here: Mapping[str, int] | str, fact: str) -> str:
    if isinstance(here, str):
        return "not counted"
    return f"counted here: {here[fact]:,} in {here['operations']:,} operations"


def _logged_sizes() -> tuple[Rounded, Rounded]:
    """Bytes an operation of the log, its volume read as GB and as GiB."""
    volume = _printed_total(VOLUME).over(_sum(OPERATIONS))
    return volume, volume.scaled(2**30 / 10**9)


def _sum(names: Sequence[str]) -> Rounded:
    first, *rest = map(_printed_total, names)
    return sum(rest, first)


def _printed_total(name: str) -> Rounded:
    return Rounded.printed(table_row(TABLE, field=name)["value_as_printed"])


ID = "003-F14"
TABLE = "003-F14-log"
OPERATIONS = (
    "Total Number of Encryption Operations",
    "Total Number of Decryption Operations with Successful Authentication",
    "Total Number of Decryption Operations with Planned Failed Authentication",
)
VOLUME = "Total Volume of Messages Processed"
BY_CONSTRUCTION = (
    "partly by construction: the records were chosen so that their file has the printed size"
)
SHARES = (
    *zip(OPERATIONS, COUNTS.values(), strict=True),
    *(
        (f"Total Number of Operations with {bits}-bit key", f"operations_aes_{bits}")
        for bits in KEY_BITS
    ),
)
COUNTED = {"operations", "text_bytes", *(fact for _, fact in SHARES)}
