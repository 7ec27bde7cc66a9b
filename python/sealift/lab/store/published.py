"""What experiments of one's own say of published figures, kept so that nobody must run them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sealift.lab.published import Comparison, Kind
from sealift.lab.published.rounded import Rounded
from sealift.lab.stats import Interval
from sealift.lab.store import names
from sealift.lab.store.files import json_text, write_file
from sealift.lab.store.plan import Plan, origin_of
from sealift.lab.store.shape import Record, read_object


def write_published(path: Path, published: Mapping[str, Sequence[Comparison]]) -> None:
    """Writes published.json.

    Args:
        path: Of the run folder.
        published: By experiment; each as `check_published` wants it.

    Raises:
        NotWrittenError: If the folder takes no files.
    """
    plain = {name: _plain(comparisons) for name, comparisons in published.items()}
    write_file(path / names.PUBLISHED, json_text(plain))


def check_published(comparisons: Sequence[Comparison]) -> None:
    """Refuses what would not be read again.

    Raises:
        TypeError: If one is no Comparison.
        ValueError: If a field can't be kept; names it.
    """
    for each in comparisons:
        if not isinstance(each, Comparison):
            raise TypeError(f"published() gave {each!r}; right would be a Comparison")
    text = json_text({"published": _plain(comparisons)})
    record = Record.parse(text, "published()", "mend the experiment")
    for read in record.records("published"):
        _comparison(read)


def read_published(path: Path, plan: Plan) -> dict[str, tuple[Comparison, ...]]:
    """By experiment of one's own what it said; nothing of one that said nothing.

    Raises:
        StoreError: If the file is damaged.
    """
    if not (path / names.PUBLISHED).exists():
        return {}
    record = read_object(path / names.PUBLISHED, f"delete it and resume the run: {path}")
    own = {each.name for each in plan.experiments if each.file is not None}
    if foreign := record.plain.keys() - own:
        raise record.wrong(f"{min(foreign)!r} is no experiment of one's own in the plan")
    return {name: tuple(map(_comparison, record.records(name))) for name in record.plain}


def _plain(comparisons: Iterable[Comparison]) -> list[dict[str, Any]]:
    return [asdict(each) for each in comparisons]


def _comparison(record: Record) -> Comparison:
    kind = record.text("kind")
    if kind not in list(Kind):
        raise record.wrong(f"kind is {kind!r}; right would be one of {', '.join(Kind)}")
    fields = {
        name: record.text(name) for name in ("figure", "what", "unit", "source", "note", "series")
    }
    with record.accepting():
        return Comparison(
            **fields,
            kind=Kind(kind),
            published=record.finite("published"),
            here=_interval(record),
            at=record.record("at").values(),
            noise_floor=record.number("noise_floor"),
            machine_busy=record.flag("machine_busy"),
            span=_span(record),
            origin=origin_of(record),
            is_fitted_to="is_fitted_to" in record.plain and record.flag("is_fitted_to"),
        )


def _interval(record: Record) -> Interval | None:
    if record.plain.get("here") is None:
        return None
    here = record.record("here")
    return Interval(
        median=here.finite("median"),
        low=here.finite("low"),
        high=here.finite("high"),
        confidence=here.number("confidence"),
        blocks=here.count("blocks"),
    )


def _span(record: Record) -> Rounded | None:
    if record.plain.get("span") is None:
        return None
    span = record.record("span")
    return Rounded(*(span.finite(name) for name in ("value", "low", "high")))
