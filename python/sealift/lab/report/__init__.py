"""The page of a run: one HTML file that needs nothing beside itself."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template

from sealift.lab.embedding import json_in_script, policy, vega_bundle
from sealift.lab.report import bottom, tiles, top
from sealift.lab.report.breakeven import breakeven
from sealift.lab.report.compared import compared
from sealift.lab.report.extent import EXTENTS, MOST_BYTES, Extent
from sealift.lab.report.markup import Html, tag
from sealift.lab.report.material import Material, gather
from sealift.lab.report.sections import Section, listing_id, sections
from sealift.lab.store import Run, names, write_file


def page(run: Run) -> str:
    """The page of a run as text, of less than 1.5 MB where that can be.

    Args:
        run: From `store.read`; whole, interrupted, or with nothing measured.
    """
    material = gather(run)
    first, *rest, last = EXTENTS

    @cache
    def made(extent: Extent) -> str:
        return page_of(replace(material, extent=extent))

    def fits(extent: Extent) -> bool:
        return len(made(extent).encode(errors="replace")) <= MOST_BYTES

    if fits(first):
        return made(first)
    # Each leaves out more than those before it.
    chosen = bisect_left(rest, 1, key=fits)
    return made([*rest, last][chosen])


def page_of(material: Material) -> str:
    """The page of what was gathered, with as much of it as `material.extent` says."""
    parts = sections(material)
    # Neither says anything of what is computed.
    sensors = [] if material.is_computed else [bottom.sensors(material)]
    absent = [] if material.is_computed else [bottom.not_here(material)]
    even = breakeven(material)
    before = [even] if even else []
    drawn = (*before, *parts, *sensors)
    specs = {place: spec for part in drawn for place, spec in part.specs.items()}
    body = [
        top.header(material),
        top.answer(material),
        top.wrong(material),
        tiles.tiles(material),
        top.blocks(material),
        top.care(material),
        top.left_out(material),
        _contents(material, before, parts),
        *(part.html for part in before),
        compared(material),
        *(part.html for part in parts),
        *absent,
        bottom.method(material),
        bottom.machine(material),
        *(part.html for part in sensors),
        bottom.data(material),
    ]
    scripts = [vega_bundle() if specs else "", _asset("page.js")]
    return Template(_asset("page.html")).substitute(
        policy=policy(scripts),
        title=tag("title", f"{top.question(material)} {material.run.path.name}"),
        style=_asset("page.css"),
        body=tag("main", *body, id="top"),
        specs=json_in_script(specs),
        csv=json_in_script(bottom.csv_held(material)),
        bundle=scripts[0],
        script=scripts[1],
    )


def write(run: Run, path: Path | None = None) -> Path:
    """Writes the page of a run, whole or not at all.

    Args:
        run: From `store.read`.
        path: Of the file; report.html in the run's folder when left out.

    Returns:
        Where it is.

    Raises:
        NotWrittenError: If it can't be written; with the reason.
    """
    place = path or run.path / names.REPORT
    write_file(place, page(run))
    return place


def _contents(material: Material, before: Sequence[Section], parts: Sequence[Section]) -> Html:
    links = [
        *((part.id, part.title) for part in before),
        ("published", "Published figures"),
        *((part.id, part.title) for part in parts),
        *(
            (listing_id(shown), each.title)
            for shown in material.shown
            for each in shown.listings
            if each.is_section
        ),
        *([] if material.is_computed else [("absent", "Devices not here")]),
        ("method", "Method"),
        ("machine", "Machine"),
        *([] if material.is_computed else [("sensors", "Sensors")]),
        ("data", "Data"),
    ]
    return tag(
        "nav", *(tag("a", title, href=f"#{place}") for place, title in links), aria_label="Contents"
    )


def _asset(name: str) -> str:
    return (files("sealift.lab.report") / name).read_text(encoding="utf-8")
