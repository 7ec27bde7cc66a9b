"""Figures: what is drawn of records, what is written on it, and the files of it."""

import colorsys
import errno
import os
import re
import subprocess
import sys
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from made_load import own, run_of
from sealift.lab import plot, store, vega
from sealift.lab.published import Comparison, Kind
from sealift.lab.record import Record, record
from sealift.lab.result import Origin
from sealift.lab.spec import Plot
from sealift.lab.store import NotWrittenError
from sealift.lab.summary import summarise
from sealift.lab.vega import Chart, Labels, Point, Scales

SIZES = Plot(
    x="size_bytes",
    y="payload_MB_per_s",
    z="device",
    title="Speed by size",
    log_x=True,
    log_y=True,
)
TITLES = {"size_bytes": "message size, bytes", "device": "device"}


def row(device: str, size: int, speed: float, **more: str | int | None) -> Record:
    return {
        "experiment": "mine",
        "device": device,
        "size_bytes": size,
        "payload_MB_per_s": speed,
        "payload_MB_per_s_low95": speed * 0.9,
        "payload_MB_per_s_high95": speed * 1.1,
        **more,
    }


RECORDS = [
    row(device, size, speed * size)
    for device, speed in (("library", 2.0), ("cpu", 5.0))
    for size in (16, 1024, 16_384)
]


def printed(value: float, unit: str = "MB/s", **at: str | int) -> Comparison:
    return Comparison(
        figure="003-T4",
        what="a speed",
        published=value,
        unit=unit,
        source="a table",
        kind=Kind.VALUE,
        here=None,
        note="not run",
        series="i7",
        at=at,
    )


def only(one: Plot, records: Sequence[Record], *published: Comparison) -> dict[str, Any]:
    (figure,) = plot.figures(one, records, TITLES, published)
    return figure.spec


def marks(spec: dict[str, Any]) -> list[str]:
    return [layer["mark"]["type"] for layer in spec["layer"]]


def data(spec: dict[str, Any]) -> list[dict[str, Any]]:
    values: list[dict[str, Any]] = spec["data"]["values"]
    return values


def colours(spec: dict[str, Any]) -> dict[str, str]:
    scale = spec["layer"][0]["encoding"]["color"]["scale"]
    return dict(zip(scale["domain"], scale["range"], strict=True))


def test_numbers_below_give_lines_with_their_band() -> None:
    spec = only(SIZES, RECORDS)
    assert marks(spec) == ["area", "rule", "line", "point"]
    assert spec["width"] == "container"
    first = data(spec)[0]
    assert (first["x"], first["y"]) == (16, 32.0)
    assert (first["low"], first["high"]) == (pytest.approx(28.8), pytest.approx(35.2))


def test_no_two_of_many_lines_have_one_colour_and_one_marker() -> None:
    origins = {f"{name} {origin}": origin for origin in Origin for name in range(12)}
    points = [Point(x, 1, None, None, name, origins[name]) for name in origins for x in (1, 2)]
    spec = plot.drawn(Chart(points, Labels("many", "x", "y", "lines"), Scales()))
    shape = spec["layer"][-1]["encoding"]["shape"]
    signs = {
        (ink, marker, origins[name])
        for (name, ink), marker in zip(colours(spec).items(), shape["scale"]["range"], strict=True)
    }
    assert len(signs) == len(origins)
    few = plot.drawn(Chart(points[:4], Labels("few", "x", "y", "lines"), Scales()))
    shape = few["layer"][-1]["encoding"]["shape"]
    assert shape["scale"]["range"] == ["circle", "circle"]
    # Else a legend of its own is drawn for the markers.
    assert shape["legend"] == few["layer"][0]["encoding"]["color"]["legend"]


def test_names_below_give_a_row_each_with_interval_bars() -> None:
    spec = only(replace(SIZES, x="device", z="size_bytes", log_x=False), RECORDS)
    assert marks(spec) == ["rule", "point"]
    encoding = spec["layer"][1]["encoding"]
    assert encoding["y"]["sort"] == ["library", "cpu"]
    assert {each["series"] for each in data(spec)} == {"16 B", "1 KiB", "16 KiB"}


def test_axes_are_logarithmic_where_asked_only() -> None:
    asked = only(SIZES, RECORDS)["layer"][2]["encoding"]
    assert asked["x"]["scale"]["type"] == asked["y"]["scale"]["type"] == "log"
    plain = only(replace(SIZES, log_x=False, log_y=False), RECORDS)["layer"][2]["encoding"]
    assert "type" not in plain["x"]["scale"]
    assert plain["y"]["scale"] == {"zero": True}


def test_a_logarithmic_axis_encloses_every_value_and_interval() -> None:
    scale = only(SIZES, RECORDS)["layer"][2]["encoding"]["y"]["scale"]
    low, high = scale["domain"]
    assert low <= 28.8
    assert high >= 5.0 * 16_384 * 1.1


@pytest.mark.parametrize(
    ("size", "told"),
    [(16, "16 B"), (1_024, "1 KiB"), (1_500, "1,500 B"), (16_384, "16 KiB"), (2**20, "1 MiB")],
)
def test_sizes_read_in_binary_units(size: int, told: str) -> None:
    assert vega.format_bytes(size) == told


def test_what_was_computed_wrong_is_not_drawn() -> None:
    spec = only(SIZES, [*RECORDS, row("bad", 16, 9e9, wrong="another tag")])
    assert "bad" not in colours(spec)


def test_nothing_measured_gives_no_figure() -> None:
    assert plot.figures(SIZES, [], TITLES) == ()
    assert plot.figures(replace(SIZES, where={"device": "cuda"}), RECORDS, TITLES) == ()


def test_a_published_value_is_grey_has_no_interval_and_says_what_it_is() -> None:
    spec = only(SIZES, RECORDS, printed(493, size_bytes=1_024))
    (point,) = (each for each in data(spec) if each["origin"] == "published")
    assert (point["x"], point["y"], point["low"]) == (1_024, 493, None)
    assert point["interval"] == "not known"
    assert colours(spec)["published: i7"] in vega.GREYS
    assert colours(spec)["cpu"] in vega.COLOURS


def test_a_published_value_without_a_place_is_a_line_across() -> None:
    spec = only(SIZES, RECORDS, printed(493))
    assert marks(spec) == ["area", "rule", "line", "point", "rule", "text"]


@pytest.mark.parametrize(
    "other",
    [
        printed(493, unit="x", size_bytes=16),
        replace(printed(493, size_bytes=16), series=""),
        replace(printed(493, size_bytes=16), kind=Kind.RATIO),
        printed(493, size_bytes=16, device="cuda"),
    ],
    ids=["another unit", "not drawn", "a ratio", "another row"],
)
def test_a_published_value_that_does_not_belong_is_not_drawn(other: Comparison) -> None:
    spec = only(replace(SIZES, where={"device": "cpu"}), RECORDS, other)
    assert all(each["origin"] == "measured here" for each in data(spec))


def test_a_facet_gives_a_figure_a_value_and_a_device_keeps_its_colour() -> None:
    records = [
        {**each, "keys": keys}
        for keys in ("one", "fresh")
        for each in RECORDS
        if (keys, each["device"]) != ("fresh", "library")
    ]
    one, fresh = plot.figures(replace(SIZES, facet="keys"), records, TITLES)
    assert (one.plot.title, fresh.plot.title) == (
        "Speed by size: one key",
        "Speed by size: a fresh key each",
    )
    assert list(colours(one.spec)) == ["library", "cpu"]
    assert colours(fresh.spec) == {"cpu": colours(one.spec)["cpu"]}


def test_rows_that_would_share_a_place_are_lines_of_their_own() -> None:
    records = [{**each, "keys": keys} for keys in ("one", "fresh") for each in RECORDS]
    spec = only(SIZES, records)
    assert "cpu, one key" in colours(spec)
    assert len(colours(spec)) == 4


def test_a_legend_has_numbers_by_size_and_names_as_they_come() -> None:
    by_batch = [row(batch, 16, 1.0) for batch in ("16", "1,024", "2", "1")]
    assert list(colours(only(SIZES, by_batch))) == ["1", "2", "16", "1,024"]
    assert list(colours(only(SIZES, RECORDS))) == ["library", "cpu"]


def test_a_figure_is_told_in_words_with_values_and_tooltips_with_intervals() -> None:
    spec = only(SIZES, RECORDS)
    assert "cpu: from 80.00 at 16 B to 81,920 at 16 KiB" in spec["description"]
    fields = [each["field"] for each in spec["layer"][3]["encoding"]["tooltip"]]
    assert {"value", "interval", "origin"} <= set(fields)
    assert data(spec)[0]["interval"] == "[28.80..35.20]"


def test_a_click_on_the_legend_chooses_lines() -> None:
    (clicks,) = only(SIZES, RECORDS)["layer"][0]["params"]
    assert clicks["bind"] == "legend"


def test_the_command_of_a_figure_draws_the_same_points() -> None:
    (figure,) = plot.figures(replace(SIZES, where={"device": "cpu"}), RECORDS, TITLES)
    command = figure.command("runs/a b", "mine")
    assert command == (
        "sealift lab plot 'runs/a b' --x size_bytes --y payload_MB_per_s --z device "
        "--where experiment=mine --where device=cpu -o mine.svg"
    )
    again = plot.columns(
        RECORDS,
        x="size_bytes",
        y="payload_MB_per_s",
        z="device",
        where={"experiment": "mine", "device": "cpu"},
    )
    assert data(again) == data(figure.spec)


def test_any_columns_are_drawn_and_far_numbers_on_a_logarithmic_axis() -> None:
    spec = plot.columns(RECORDS, x="size_bytes", y="payload_MB_per_s", z="device", title="Mine")
    assert spec["title"] == "Mine"
    assert spec["layer"][2]["encoding"]["y"]["scale"]["type"] == "log"
    near = plot.columns(RECORDS[:1], x="size_bytes", y="payload_MB_per_s")
    assert near["layer"][2]["encoding"]["y"]["scale"] == {"zero": True}


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"x": "sise_bytes"}, "no column is called 'sise_bytes'; the nearest are size_bytes"),
        ({"y": "payload"}, "no column is called 'payload'; the nearest are payload_MB_per_s"),
        ({"z": "zzz"}, "no column is called 'zzz'; there are experiment, device"),
        ({"where": {"keys": "one"}}, "no column is called 'keys'"),
        ({"where": {"device": "gpu"}}, "no row has device=gpu; there are library, cpu"),
        (
            {"where": {"device": "cpu", "size_bytes": 16, "payload_MB_per_s": 32.0}},
            "no row has device=cpu, size_bytes=16, payload_MB_per_s=32.0",
        ),
        ({"y": "device"}, "column 'device' has no numbers in these rows"),
    ],
)
def test_a_column_or_row_that_is_none_is_named_with_what_there_is(
    asked: dict[str, Any], told: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        plot.columns(RECORDS, **({"x": "size_bytes", "y": "payload_MB_per_s"} | asked))


def test_too_many_lines_are_refused_with_what_they_differ_in_and_conditions_for_fewer() -> None:
    records = [{**each, "keys": keys} for keys in ("one", "a few") for each in RECORDS]
    asked: dict[str, Any] = {"x": "size_bytes", "y": "payload_MB_per_s", "z": "device"}
    told = (
        "4 lines in one figure; 2 can be told apart. They differ in device (2 values), "
        "keys (2 values): draw some of them, as with --where device=library, or take another --x"
    )
    with pytest.raises(ValueError, match=re.escape(told)):
        plot.columns(records, **asked, lines_most=2)
    assert plot.columns(records, **asked, lines_most=4)


@pytest.mark.parametrize(
    ("form", "begin"),
    [(".svg", b"<svg"), (".png", b"\x89PNG"), (".pdf", b"%PDF"), (".html", b"<!")],
)
def test_a_figure_becomes_a_file(tmp_path: Path, form: str, begin: bytes) -> None:
    path = tmp_path / f"figure{form}"
    plot.draw(only(SIZES, RECORDS, printed(493, size_bytes=1_024)), path)
    assert path.read_bytes().lstrip().startswith(begin)


def test_a_figure_in_html_holds_no_markup_of_the_data_and_runs_nothing_else(tmp_path: Path) -> None:
    evil = "</script><img src=x onerror=alert(2)>$bundle"
    path = tmp_path / "figure.html"
    records = [row(evil, size, 2.0 * size) for size in (16, 1_024)]
    plot.draw(plot.columns(records, x="size_bytes", y="payload_MB_per_s", z="device"), path)
    text = path.read_text(encoding="utf-8")
    assert "<img src=x" not in text
    assert r"\u003cimg src=x onerror=alert(2)\u003e$bundle" in text
    assert text.count("</script>") == 3
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    hashes = {b64encode(sha256(script.encode()).digest()).decode() for script in scripts}
    said = re.search(r'http-equiv="Content-Security-Policy" content="(.*?)"', text)
    assert said is not None
    assert "default-src 'none'" in said[1]
    assert set(re.findall(r"'sha256-(.*?)'", said[1])) == hashes


@pytest.mark.parametrize("form", [".svg", ".png"])
def test_a_figure_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    path = tmp_path / f"figure{form}"
    path.write_bytes(b"the figure of yesterday")

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(NotWrittenError, match=rf"figure\{form} was not written: No space left"):
        plot.draw(only(SIZES, RECORDS), path)
    assert path.read_bytes() == b"the figure of yesterday"
    assert list(tmp_path.iterdir()) == [path]


def test_a_drawn_figure_has_its_labels(tmp_path: Path) -> None:
    path = tmp_path / "figure.svg"
    plot.draw(only(SIZES, RECORDS, printed(493, size_bytes=1_024)), path)
    text = path.read_text(encoding="utf-8")
    for label in ("16 KiB", "message size, bytes", "payload, MB/s", "cpu", "published: i7"):
        assert label in text, label


def test_a_file_of_another_form_is_refused_with_those_there_are(tmp_path: Path) -> None:
    path = tmp_path / "figure.jpeg"
    with pytest.raises(ValueError, match=r"'figure\.jpeg' names no form; end it in \.svg, \.png"):
        plot.draw(only(SIZES, RECORDS), path)
    assert not path.exists()


def test_specifications_are_made_without_the_drawing_package() -> None:
    code = "import sys, sealift.lab.plot; sys.exit('vl_convert' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_lines_of_a_device_that_differ_in_batches_are_shades_of_its_one_colour(
    tmp_path: Path,
) -> None:
    run = store.read(run_of(tmp_path / "run", own({500: 1})))
    experiment = run.plan.experiments[0]
    records = [record(row, experiment.id) for row in summarise(run)[experiment.name].rows]
    (figure,) = plot.figures(experiment.plots[0], records, {})
    scale = figure.spec["layer"][0]["encoding"]["color"]["scale"]
    inks = dict(zip(scale["domain"], scale["range"], strict=True))
    assert len(inks) == len(set(inks.values())) == 12
    assert inks["cpu, batch 1024"] == vega.COLOURS[0]
    assert inks["library, batch 1024"] == vega.COLOURS[1]
    hues = {name: hue(ink) for name, ink in inks.items()}
    for device in ("cpu", "library"):
        own_hues = [each for name, each in hues.items() if name.startswith(f"{device},")]
        assert max(own_hues) - min(own_hues) < 0.02
        lightness = [
            sum(bytes.fromhex(ink[1:])) for name, ink in inks.items() if name.startswith(device)
        ]
        assert lightness == sorted(lightness, reverse=True)


def hue(colour: str) -> float:
    red, green, blue = (part / 255 for part in bytes.fromhex(colour[1:]))
    return colorsys.rgb_to_hsv(red, green, blue)[0]
