"""The page in a real browser that can resolve no name."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import skip
from run_report import ran
from sealift_lab.judge.rows import results
from sealift_lab.run.read_folder import Run
from sealift_lab.show.page import page

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
if not BROWSER:
    skip("chromium", "no Chromium is installed (apt install chromium)")
ran("chromium")

# A frame of each width, and what a reader finds in it: sizes in pixels, words, broken references.
READER = """<!doctype html><body><pre id="seen"></pre><script>
const frame = document.createElement('iframe');
frame.style = 'border:0;height:900px;width:WIDTHpx';
frame.onload = () => {
  const page = frame.contentDocument;
  const ids = [...page.querySelectorAll('[id]')].map(each => each.id);
  document.getElementById('seen').textContent = JSON.stringify({
    wide: page.documentElement.scrollWidth,
    charts: [...page.querySelectorAll('svg')]
      .filter(each => each.checkVisibility() && each.getBoundingClientRect().width > 100).length,
    twice: ids.filter((id, at) => ids.indexOf(id) !== at),
    words: page.body.innerText.split(/\\s+/).length,
    scripts: page.scripts.length,
    ink: getComputedStyle(page.body).color, paper: getComputedStyle(page.body).backgroundColor,
  });
};
frame.src = 'page.html';
document.body.append(frame);
</script>"""
RUN = Path(__file__).parents[3] / "results/2026-11-23/intelr-xeonr-processor-2-cores/lab"
WORDS_MOST, BYTES_MOST = 1_000, 300_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # Chromium as a snap sees no folder whose path begins with a dot.
    place = tmp_path_factory.mktemp("page")
    run = Run(RUN)
    (place / "page.html").write_text(page(run, results(run)), encoding="utf-8")
    return place


def look(folder: Path, width: int, *switches: str) -> dict[str, object]:
    reader = folder / f"reader-{width}.html"
    reader.write_text(READER.replace("WIDTH", str(width)), encoding="utf-8")
    command = [
        BROWSER, "--headless", "--hide-scrollbars", "--no-sandbox", "--disable-gpu",
        "--allow-file-access-from-files",
        "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder / 'profile'}",
        "--virtual-time-budget=5000", "--window-size=1400,1000", *switches, "--dump-dom",
        reader.as_uri(),
    ]  # fmt: skip
    shown = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    seen = re.search(r'<pre id="seen">(\{.*?\})</pre>', shown.stdout)
    assert seen, shown.stdout[-2_000:]
    found: dict[str, object] = json.loads(seen[1])
    return found


@pytest.mark.parametrize("width", [1_200, 500])
def test_charts_are_drawn_and_nothing_is_wider_than_the_window(folder: Path, width: int) -> None:
    seen = look(folder, width)
    assert seen["wide"] == width
    assert seen["charts"] == 4  # one, and one for each way to hold keys
    assert seen["scripts"] == 0
    assert seen["twice"] == []


def test_a_reader_sees_few_words_before_anything_is_opened(folder: Path) -> None:
    seen = look(folder, 1_200)
    assert isinstance(seen["words"], int)
    assert 100 < seen["words"] <= WORDS_MOST
    assert (folder / "page.html").stat().st_size <= BYTES_MOST


def test_dark_readers_get_light_ink_on_dark_paper(folder: Path) -> None:
    def brightness(colour: object) -> int:
        return sum(map(int, re.findall(r"\d+", str(colour))[:3]))

    light = look(folder, 1_200)
    dark = look(folder, 1_200, "--blink-settings=preferredColorScheme=0")
    paper: Callable[[dict[str, object]], int] = lambda seen: brightness(seen["paper"])  # noqa: E731
    assert paper(light) > 600
    assert brightness(light["ink"]) < 200
    assert paper(dark) < 200
    assert brightness(dark["ink"]) > 500
