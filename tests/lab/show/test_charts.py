"""Charts draw every row with its interval, the margin, and what was published beside them."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import altair as alt
import pytest
import vl_convert

from sealift_lab.judge.rows import results
from sealift_lab.model.experiment import Chart, Line
from sealift_lab.model.published import Kind, Missing, Published
from sealift_lab.model.results import Origin, Results
from sealift_lab.model.run import PlannedExperiment
from sealift_lab.run.read_folder import Run
from sealift_lab.show.charts import draw, picture, points

Make = Callable[..., Run]
THREE = {16: (100.0, 40.0), 1024: (100.0, 50.0), 16384: (100.0, 98.0)}
RATIO = Chart("size_bytes", "device", "ratio", "Ratio", log_x=True, log_y=True)


def made(a_run: Make) -> tuple[PlannedExperiment, Results]:
    run = a_run(THREE)
    return run.plan.experiments[0], results(run)["made-up"]


def test_rows_that_fit_are_drawn_each_once_and_wrong_ones_never(a_run: Make) -> None:
    planned, found = made(a_run)
    drawn = [(point.label, point.series) for point in points(planned, found, RATIO)]
    assert drawn == [("16 B", "Kernels"), ("1 KiB", "Kernels"), ("16 KiB", "Kernels")]
    where = Chart("size_bytes", "device", "time", "Time", where={"device": "library"})
    assert {point.series for point in points(planned, found, where)} == {"AWS-LC"}
    every_size = Chart("device", "device", "time", "Time")
    assert len([*points(planned, found, every_size)]) == 2
    wrong = replace(found, rows=[replace(row, wrong="tag") for row in found.rows])
    assert draw(planned, wrong, RATIO) is None


def test_panels_share_colours_and_scales_and_published_lines_are_broken(a_run: Make) -> None:
    planned, found = made(a_run)
    chart = Chart("device", "size_bytes", "MB/s", "Speed", panels="device", log_y=True)
    line = Line("RTX", "MB/s", 900, Origin.PUBLISHED, {"device": "cpu"})
    elsewhere = Line("Other", "ratio", 2, Origin.PUBLISHED)
    drawing = draw(planned, found, chart, [line, elsewhere])
    assert drawing is not None
    assert [*drawing.panels] == ["AWS-LC", "Kernels"]
    assert drawing.series["RTX (published)"][1]
    assert [*drawing.series][-1] == "RTX (published)"
    axes = [re.findall(r">([\d,]+)</text>", svg) for svg in drawing.panels.values()]
    assert axes[0] == axes[1]


def test_a_picture_of_its_own_is_xml_with_name_legend_and_ink_for_dark_pages(a_run: Make) -> None:
    planned, found = made(a_run)
    svg = picture(planned, found, planned.charts[0])
    assert 'role="img" aria-label="Time: time per message by message size"' in svg
    texts = [each.text for each in ElementTree.fromstring(svg).iter() if each.tag.endswith("text")]
    assert {"AWS-LC", "Kernels", "16 B"} <= {*texts}
    assert "prefers-color-scheme:dark" in svg


def test_published_figures_that_name_a_series_are_drawn_in_the_unit_of_the_chart(
    a_run: Make,
) -> None:
    planned, found = made(a_run)
    speed = Chart("size_bytes", "device", "MB/s", "Speed")
    figures = [
        Published("1-T1", "s", 8000, unit, "p. 1", kind, Missing("-"), series=series, at=at)
        for unit, kind, series, at in (
            ("Mbit/s", Kind.VALUE, "card", {"size_bytes": 16}),
            ("MB/s", Kind.VALUE, "", {}),
            ("ns", Kind.VALUE, "timed", {}),
            ("MB/s", Kind.SHAPE, "shape", {}),
        )
    ]
    drawing = draw(planned, found, speed, printed=figures)
    assert drawing is not None
    assert [n for n, (_, broken) in drawing.series.items() if broken] == ["card (published)"]
    assert "9,000" not in drawing.panels[""]


def test_specifications_are_valid_and_show_both_ends_of_each_interval(
    a_run: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned, found = made(a_run)
    specs: list[dict[str, Any]] = []

    def keep(spec: dict[str, Any]) -> str:
        specs.append(spec)
        return '<svg width="9">'

    monkeypatch.setattr(vl_convert, "vegalite_to_svg", keep)
    for chart in (RATIO, planned.charts[0], Chart("device", "size_bytes", "MB/s", "Dots")):
        draw(planned, found, chart)
    for spec in specs:
        alt.LayerChart.from_dict(spec, validate=True)
        ends = [
            {encoding[place]["field"] for place in places}
            for layer in spec["layer"]
            for encoding in [layer["encoding"]]
            for places in (("x", "x2"), ("y", "y2"))
            if {*places} <= {*encoding} and layer["mark"]["type"] == "rule"
        ]
        assert ends == [{"low", "high"}]


def test_of_cells_that_share_a_place_the_one_nearest_to_the_preferred_work_is_drawn(
    a_run: Make,
) -> None:
    planned, found = made(a_run)
    by_device = Chart("device", "device", "time", "Time")
    for size, nearest in ((1024, 50.0), (16, 40.0), (9999, 98.0)):
        preferring = replace(planned, preferred={"size_bytes": size})
        _, kernels = points(preferring, found, by_device)
        assert kernels.figure.value == pytest.approx(nearest, rel=0.01)
