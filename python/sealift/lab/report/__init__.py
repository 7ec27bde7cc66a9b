"""The page of a run: one HTML file that needs nothing beside itself."""

from bisect import bisect_left
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template

from sealift.lab.embedding import json_in_script, policy, vega_bundle
from sealift.lab.report import bottom, by_size, top
from sealift.lab.report.compared import compared
from sealift.lab.report.extent import EXTENTS, MOST_BYTES, Extent
from sealift.lab.report.markup import Html, folded, tag
from sealift.lab.report.material import Material, gather
from sealift.lab.report.sections import sections
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
    # It says nothing of what is computed.
    sensors = [] if material.is_computed else [bottom.sensors(material)]
    specs = {place: spec for part in (parts, *sensors) for place, spec in part.specs.items()}
    body = [
        tag("h1", top.question(material)),
        top.answer(material),
        top.wrong(material),
        by_size.section(material),
        compared(material),
        Html() if material.is_computed else bottom.not_here(material),
        parts.html,
        folded(
            "Method, machine, sensors, raw data, replay",
            *top.care(material),
            top.blocks(material),
            bottom.data(material),
            bottom.method(material),
            bottom.machine(material),
            *(part.html for part in sensors),
            class_="rest",
        ),
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


def _asset(name: str) -> str:
    return (files("sealift.lab.report") / name).read_text(encoding="utf-8")
