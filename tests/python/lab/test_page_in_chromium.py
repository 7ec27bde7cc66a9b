"""The page in a browser that can resolve no name: read after its scripts ran."""

import html
import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from conftest import skip
from lab.browser import Browser, Seen, browser
from run_report import ran
from sealift.lab import embedding, plot, report, store
from sealift.lab.report import bottom
from sealift.lab.report.extent import EXTENTS
from sealift.lab.report.material import Material, gather
from synthetic_run import made, write_run

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
if not BROWSER:
    skip("chromium", "no Chromium is installed (apt install chromium)")
ran("chromium")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    # Chromium as a snap sees no folder whose path begins with a dot, and long ones trouble it.
    with tempfile.TemporaryDirectory(prefix="sealift-page-") as name:
        yield Path(name)


@pytest.fixture(scope="module")
def path(folder: Path) -> Path:
    return report.write(store.read(write_run(folder / "run", made())))


@pytest.fixture(scope="module")
def material(path: Path) -> Material:
    return gather(store.read(path.parent))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with (
        tempfile.TemporaryDirectory(prefix="sealift-browser-") as profile,
        browser(BROWSER, Path(profile)) as opened,
    ):
        yield opened


@pytest.fixture(scope="module")
def seen(chromium: Browser, path: Path) -> Seen:
    return chromium.see(path)


def advice(material: Material) -> str:
    assert material.answer is not None
    return material.answer.headline


class Drawings(HTMLParser):
    """How many marks each figure has, and its words."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.marks: dict[str, int] = {}
        self.words: dict[str, str] = {}
        self._place = ""
        self._depth = 0
        self.feed(document)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        if tag == "div" and said.get("class", "").split()[:1] == ["plot"]:
            self._place, self._depth = said["id"], 0
            self.marks[self._place], self.words[self._place] = 0, ""
        self._depth += tag == "div"
        # Vega says of every drawn mark of the data what it stands for.
        is_mark = tag == "path" and said.get("aria-roledescription") in {"point", "circle"}
        if self._place and is_mark and "NaN" not in said.get("transform", ""):
            self.marks[self._place] += 1

    def handle_endtag(self, tag: str) -> None:
        self._depth -= tag == "div"
        if self._depth == 0:
            self._place = ""

    def handle_data(self, data: str) -> None:
        if self._place:
            self.words[self._place] += f" {data}"


def test_the_browser_shows_the_answer_with_a_bar_for_each_device_and_chips(
    seen: Seen, material: Material
) -> None:
    card = seen.document.split('id="answer"')[1].split("</section>")[0]
    headline = re.search(r'<h2 class="where">(.*?)</h2>', card)
    assert headline
    assert html.unescape(headline[1]) == f"{advice(material)}."
    assert advice(material) == "On your CPU, with Sealift's kernels"
    assert card.count('class="track"') == 2
    chips = re.findall(r'<span class="chip[^"]*">(.*?)</span>', card)
    assert [each.split()[0] for each in chips] == ["noise", "5", "A", "measured"]


@pytest.mark.parametrize("kind", ["whole", "nothing"])
def test_a_page_shows_few_words_before_anything_is_opened(
    kind: str, chromium: Browser, folder: Path, path: Path
) -> None:
    if kind == "nothing":
        path = report.write(store.read(write_run(folder / "empty", made(blocks=0))))
    page = re.sub(r"<meta http-equiv=[^>]*>", "", path.read_text(encoding="utf-8"))
    counted = folder / "counted.html"
    counted.write_text(f"<script>{COUNTS}</script></body>".join(page.rsplit("</body>", 1)), "utf-8")
    said = re.search(r'<pre id="said">(\d+)</pre>', chromium.see(counted).document)
    assert said
    assert 50 < int(said[1]) <= WORDS_MOST


def test_the_browser_shows_a_row_for_every_published_value(seen: Seen, material: Material) -> None:
    published = seen.document.split('id="published"')[1].split("</section>")[0]
    _, _, published = published.partition("<details")
    comparisons = sum(len(shown.comparisons) for shown in material.shown)
    assert comparisons > 20
    assert published.count('<th scope="row"') == comparisons


def test_every_figure_is_drawn_with_a_mark_for_every_value(seen: Seen, path: Path) -> None:
    drawings = Drawings(seen.document)
    embedded = re.search(r'id="specs">(.*?)</script>', path.read_text(encoding="utf-8"))
    assert embedded
    specs = json.loads(embedded[1])
    assert len(specs) >= 8
    assert drawings.marks.keys() == specs.keys()
    assert seen.document.count('data-drawn="yes"') == len(specs)
    for place, spec in specs.items():
        values = [value for value in spec["data"]["values"] if value["x"] is not None]
        assert drawings.marks[place] == len(values), place


def test_a_figure_has_its_labels(seen: Seen) -> None:
    words = Drawings(seen.document).words["figure-aes-gcm-by-size-1"]
    for label in ("16 KiB", "payload, MB/s", "library", "cpu"):
        assert label in words


def test_the_chart_by_size_has_a_line_and_a_name_for_each_device(seen: Seen) -> None:
    chart = seen.document.split('id="by-size"')[1].split("</section>")[0]
    assert chart.count('class="line ') == 2
    assert re.findall(r'<div class="ends">(.*?)</div>', chart)
    for label in ("16 KiB", "100 ns", "AWS-LC", "CPU kernels"):
        assert f">{label}</span>" in chart


def test_the_browser_finds_nothing_to_complain_about(seen: Seen) -> None:
    assert seen.log == ""


def test_clicks_on_the_legend_choose_lines_and_a_pointer_shows_the_interval(
    chromium: Browser, folder: Path, path: Path
) -> None:
    page = re.sub(r"<meta http-equiv=[^>]*>", "", path.read_text(encoding="utf-8"))
    handled = folder / "handled.html"
    handled.write_text(f"<script>{HANDS}</script></body>".join(page.rsplit("</body>", 1)), "utf-8")
    said = re.search(r'<pre id="said">(.*?)</pre>', chromium.see(handled).document, re.DOTALL)
    assert said
    before, one, both, tooltip = json.loads(html.unescape(said[1]))
    assert before == ["1", "1"]
    assert sorted(one) == ["0.12", "1"]
    assert both == ["1", "1"]
    assert re.search(r"95 % interval\s+\[[\d.,]+\.\.[\d.,]+\]", tooltip)


def test_the_data_can_be_saved(seen: Seen) -> None:
    button = re.search(r"<button[^>]*>", seen.document)
    assert button
    assert "hidden" not in button[0]


def test_a_script_that_got_into_the_page_would_not_run(
    chromium: Browser, folder: Path, path: Path
) -> None:
    evil = '<script>document.title = "taken"; console.log("ran")</script></body>'
    page = path.read_text(encoding="utf-8")
    changed = folder / "changed.html"
    changed.write_text(evil.join(page.rsplit("</body>", 1)), encoding="utf-8")
    seen = chromium.see(changed)
    assert "<title>taken" not in seen.document
    assert "Content Security Policy" in seen.log


def test_without_scripts_the_tables_are_there(
    chromium: Browser, folder: Path, path: Path, material: Material
) -> None:
    bare = folder / "bare.html"
    page = path.read_text(encoding="utf-8")
    bare.write_text(re.sub(r"script-src [^\"]*", "script-src 'none'", page), encoding="utf-8")
    seen = chromium.see(bare)
    assert 'data-drawn="yes"' not in seen.document
    assert advice(material) in html.unescape(seen.document)
    assert seen.document.count("<tr>") > 2 * len(material.rows)


def test_a_page_of_nothing_is_shown_without_complaint(chromium: Browser, folder: Path) -> None:
    path = write_run(folder / "nothing", made(blocks=0, ending=None))
    seen = chromium.see(report.write(store.read(path)))
    assert "it was killed, or still goes on" in seen.document
    assert seen.log == ""


def test_a_figure_in_a_file_of_its_own_is_drawn_and_runs_nothing_of_the_data(
    chromium: Browser, folder: Path, material: Material
) -> None:
    evil = "</script><img src=x onerror=alert(2)>"
    records = [{**each, "device": evil} for each in material.shown[0].records]
    place = folder / "figure.html"
    plot.draw(plot.columns(records, x="size_bytes", y="ns_per_operation", z="device"), place)
    seen = chromium.see(place)
    assert Drawings(seen.document).marks["figure"] > 0
    assert "<img" not in seen.document.replace(str(embedding.vega_bundle()), "")
    assert seen.log == ""


def test_compressed_data_are_saved_as_they_were(
    chromium: Browser, folder: Path, material: Material
) -> None:
    large = report.page_of(replace(material, extent=EXTENTS[1]))
    page = re.sub(r"<meta http-equiv=[^>]*>", "", large)
    saved = folder / "saved.html"
    saved.write_text(f"<script>{SAVES}</script></body>".join(page.rsplit("</body>", 1)), "utf-8")
    said = re.search(r'<pre id="said">(.*?)</pre>', chromium.see(saved).document, re.DOTALL)
    assert said
    assert html.unescape(said[1]) == bottom.csv_text(material)


WORDS_MOST = 1_500
# Says how many words there are outside of what is folded.
COUNTS = """
addEventListener("load", () => {
  const count = document.body.innerText.split(/\\s+/).filter(Boolean).length;
  const said = document.body.appendChild(document.createElement("pre"));
  said.id = "said";
  said.textContent = count;
});
"""
# Clicks on both entries of a legend, and points at a mark; says what it saw.
HANDS = """
const wait = () => new Promise((done) => setTimeout(done, 300));
const touch = (place, ...names) => names.forEach((name) => place.dispatchEvent(
  new PointerEvent(name, { bubbles: true, view: window, clientX: 300, clientY: 300 })));
addEventListener("load", async () => {
  const figure = document.getElementById("figure-aes-gcm-by-size-1");
  while (!figure.dataset.drawn) await wait();
  const look = () => [...figure.querySelectorAll(".mark-line path")].map(
    (line) => getComputedStyle(line).opacity);
  const seen = [look()];
  for (const symbol of figure.querySelectorAll(".role-legend-symbol path")) {
    touch(symbol, "pointerdown", "mousedown", "pointerup", "mouseup", "click");
    await wait();
    seen.push(look());
  }
  touch(figure.querySelector(".mark-symbol.role-mark path"), "pointermove", "mousemove");
  await wait();
  seen.push(document.getElementById("vg-tooltip-element").innerText);
  const said = document.body.appendChild(document.createElement("pre"));
  said.id = "said";
  said.textContent = JSON.stringify(seen);
});
"""
# Presses the button, and says what would be saved.
SAVES = """
addEventListener("load", () => {
  URL.createObjectURL = (blob) => {
    blob.text().then((text) => {
      const said = document.body.appendChild(document.createElement("pre"));
      said.id = "said";
      said.textContent = text;
    });
    return "#";
  };
  document.getElementById("save").click();
});
"""
