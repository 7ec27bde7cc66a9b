"""The page: answer first, few words, no script, nothing fetched, text never taken for markup."""

import re
from collections.abc import Callable
from html.parser import HTMLParser

from sealift_lab.judge.judge import results
from sealift_lab.model.run import ReportLine
from sealift_lab.run.folder import Run
from sealift_lab.show.page import page

Make = Callable[..., Run]
THREE = {16: (100.0, 40.0), 1024: (100.0, 50.0), 16384: (100.0, 98.0)}


class Text(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags[-1:] and self.tags[-1][0] != "style":
            self.words += data.split()


def test_a_page_has_the_answer_first_and_fetches_nothing(a_run: Make) -> None:
    run = a_run(THREE)
    html = page(run, results(run))
    text = Text(html)
    assert " ".join(text.words).index("On the processor") < " ".join(text.words).index("AWS-LC [")
    assert "script" not in [tag for tag, _ in text.tags]
    links = [v for _, attrs in text.tags for n, v in attrs.items() if n in ("src", "href") and v]
    assert all(link.startswith("#") for link in links)
    assert "default-src 'none'" in html
    assert len(text.words) < 400
    assert len(html) < 60_000


def test_ids_of_drawings_are_their_own_and_ink_follows_the_text(a_run: Make) -> None:
    run = a_run(THREE)
    html = page(run, results(run))
    ids = re.findall(r'\bid="([^"]*)"', html)
    assert len({*ids}) == len(ids)
    assert {*re.findall(r"url\(#([^)]*)\)", html)} <= {*ids}
    assert "currentColor" in html


def test_text_of_a_folder_is_never_markup(a_run: Make) -> None:
    evil = ReportLine("made-up", 0, 1, 0, {}, wrong="<script>alert(1)</script>")
    run = a_run({1024: (100.0, 50.0)}, reports=[evil])
    html = page(run, results(run))
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_a_run_without_a_block_has_a_page_that_says_so(a_run: Make) -> None:
    run = a_run(THREE, processes=0 + 1, blocks=0 + 1)
    (run.path / "samples.jsonl").write_bytes(b"")
    run = Run(run.path)
    assert "Nothing was measured" in page(run, results(run))
