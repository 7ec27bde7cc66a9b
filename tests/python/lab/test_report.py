"""The page as text: what stands on it, in which order, and that nothing on it is an accident."""

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from sealift.lab import registry, report, store
from sealift.lab.crowding import Load
from sealift.lab.report import bottom, markup
from sealift.lab.report.agreement import disagreements
from sealift.lab.report.material import Material, gather
from sealift.lab.stats import Verdict
from sealift.lab.store import Ending, How, NotWrittenError, Run
from sealift.lab.values import Cell
from synthetic_run import ABSENT_REASON, BLOCKS, SCOPE, made, model_ns, write_run

MINE = """
from sealift.lab import Axis, Cell, Context, Experiment, Plot, timed

def arm(cell: Cell, context: Context):
    return timed(lambda: None)

EXPERIMENT = Experiment(
    name="mine",
    title="Lists <b>and</b> tuples",
    axes=(Axis("kind", "kind", ("list", "tuple")), Axis("size_bytes", "size", (16, 1024))),
    compare="kind",
    arm=arm,
    plots=(Plot(x="size_bytes", y="payload_MB_per_s", z="kind", title="Mine & yours"),),
)
"""
RESULTS = Path(__file__).parents[3] / "results"
KEPT = sorted(str(each.parent.relative_to(RESULTS)) for each in RESULTS.glob("*/*/lab*/plan.json"))
INLINE = {"span", "code", "strong", "a"}
VOID = {"meta", "br", "link", "img"}


class Outline(HTMLParser):
    """The elements of a page, which must be closed in order, and its visible text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.headings: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.words))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        self.ids += [said["id"]] if "id" in said else []
        self.links += [said[name] for name in ("href", "src") if name in said]
        if tag not in VOID:
            self.open.append(tag)
        if tag not in INLINE:
            self.words.append(" ")
        if tag == "h2":
            self.headings.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self.open):
            self.words.append(data)
            if "h2" in self.open:
                self.headings[-1] += data


class Visible(Outline):
    """The words that a reader sees before anything is opened."""

    def __init__(self, text: str) -> None:
        self.closed = 0
        self.summaries = 0
        super().__init__(text)
        self.words = [word for each in self.words for word in each.split()]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        super().handle_starttag(tag, attrs)
        # None of a page is open at first; a summary is shown where its own fold is no deeper.
        self.closed += tag == "details"
        self.summaries += tag == "summary"

    def handle_endtag(self, tag: str) -> None:
        super().handle_endtag(tag)
        self.closed -= tag == "details"
        self.summaries -= tag == "summary"

    def handle_data(self, data: str) -> None:
        if self.closed == 0 or (self.closed == 1 and self.summaries):
            super().handle_data(data)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return store.read(write_run(tmp_path_factory.mktemp("runs") / "whole", made()))


@pytest.fixture(scope="module")
def page(run: Run) -> str:
    return report.page(run)


@pytest.fixture(scope="module")
def outline(page: str) -> Outline:
    return Outline(page)


@pytest.fixture(scope="module")
def material(run: Run) -> Material:
    return gather(run)


def outline_of(path: Path, **changes: object) -> Outline:
    """The page of a run of one experiment."""
    by_size = [registry.find("aes-gcm-by-size")]
    return Outline(report.page(store.read(write_run(path, made(**changes), by_size))))


def rewritten(path: Path) -> Iterator[dict[str, Any]]:
    """The samples of a run, which are written anew with the changes that are made to them."""
    samples = path / "samples.jsonl"
    lines = [json.loads(line) for line in samples.read_text(encoding="utf-8").splitlines()]
    yield from lines
    samples.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def test_the_page_is_well_formed_and_every_id_stands_once(outline: Outline) -> None:
    assert outline.open == []
    assert len(outline.ids) == len(set(outline.ids))


def test_the_page_goes_from_the_answer_over_sizes_and_documents_to_the_experiments(
    outline: Outline,
) -> None:
    assert outline.headings == [
        "On your CPU, with Sealift's kernels.",
        "By message size",
        "Beside what was published",
        "Not in this machine",
        "Experiments",
    ]


def test_the_first_screen_is_the_answer_with_a_bar_a_device_and_what_it_stands_on(
    page: str, material: Material
) -> None:
    card = page.split('id="answer"')[1].split("</section>")[0]
    shown = Outline(f"<div>{card.partition('>')[2]}</div>").text
    answer = material.answer
    assert answer is not None
    for told in (answer.headline, answer.figure, answer.basis, answer.noise_text, answer.machine):
        assert told
        assert told in shown
    for bar in answer.bars:
        assert f"{bar.name} {bar.text}" in shown
    assert card.count('class="bar"') == 3
    assert card.count('<b class="first" style="width:') == 1
    assert card.count("<i ") == 4
    assert "GPU none in this machine" in shown
    assert "measured in 59 s, 2026-11-21" in shown
    disturbed = re.search(r"([\d.]+) % of samples disturbed", shown)
    # A switch in 4 % of samples of a millisecond.
    assert disturbed
    assert 2 <= float(disturbed[1]) <= 7


@pytest.mark.parametrize("name", ["whole", *KEPT])
def test_the_page_shows_few_words_before_anything_is_opened(page: str, name: str) -> None:
    shown = Visible(page if name == "whole" else report.page(store.read(RESULTS / name)))
    assert 50 < len(shown.words) < 600
    assert "Every arm is checked on every message" not in " ".join(shown.words)


def test_every_experiment_is_a_fold_with_a_takeaway(page: str, material: Material) -> None:
    folds = re.findall(
        r'<details id="experiment-([\w-]+)" class="experiment"><summary><strong>[^<]+</strong> '
        r'<span class="takeaway">([^<]+)</span></summary>',
        page,
    )
    assert {name for name, _ in folds} == {each.experiment.name for each in material.shown}
    assert all(len(told) <= 140 for _, told in folds)


def test_every_published_figure_has_a_row_with_a_verdict_or_a_reason(
    outline: Outline, material: Material
) -> None:
    comparisons = [each for shown in material.shown for each in shown.comparisons]
    assert {"003-F5", "003-F6", "003-F14", "003-T4"} <= {each.figure for each in comparisons}
    for each in comparisons:
        assert each.what in outline.text
        assert each.note in outline.text
        assert each.match.value in outline.text


def test_a_device_that_is_absent_stands_there_with_its_reason(outline: Outline) -> None:
    assert f"NVIDIA GPU (cuda) {ABSENT_REASON}" in outline.text
    peer = "ipp (to compare with only) the Python package ipp-crypto is not installed"
    assert outline.text.count(peer) == 1
    assert "has a driver is present" not in outline.text


def test_what_is_no_device_by_itself_is_not_called_absent(run: Run) -> None:
    told = "it wraps another device, write fault:fail=7(cpu)"
    fault = replace(run.machine.devices[0], spec="fault", driver="fault", reason=told)
    machine = replace(run.machine, devices=(*run.machine.devices, fault))
    shown = Outline(report.page(replace(run, machine=machine))).text
    assert f"(cuda) {ABSENT_REASON}" in shown
    assert "wraps another device" not in shown


def test_where_every_driver_is_present_that_is_said_beside_the_absent_peers(run: Run) -> None:
    there = tuple(each for each in run.machine.devices if not each.reason)
    machine = replace(run.machine, devices=there)
    material = replace(gather(run), run=replace(run, machine=machine))
    shown = Outline(str(bottom.not_here(material))).text
    assert "Every device that is for work and has a driver is present." in shown
    assert "ipp (to compare with only)" in shown


def test_of_an_absent_device_the_short_reason_is_shown_and_the_whole_one_folded(run: Run) -> None:
    why = "libcuda.so.1 is not on this machine (libcuda.so.1: cannot open it); install a driver"
    devices = tuple(
        replace(each, reason=why) if each.reason else each for each in run.machine.devices
    )
    machine = replace(run.machine, devices=devices)
    text = str(bottom.not_here(replace(gather(run), run=replace(run, machine=machine))))
    assert "<td>libcuda.so.1 is not on this machine</td>" in text
    assert "<summary>What to install</summary>" in text
    assert f"<li>NVIDIA GPU (cuda): {why}</li>" in text


def test_the_page_says_how_noisy_all_of_it_was(outline: Outline) -> None:
    assert re.search(
        r"Noise ±[\d.]+ %: half of \d+ pairs of the same code differ by less, the worst by "
        r"[\d.]+ %\.",
        outline.text,
    )


def test_a_number_that_is_compared_with_has_its_name(outline: Outline) -> None:
    assert "times threads 1" in outline.text
    assert "times library" in outline.text


def test_a_row_without_a_verdict_says_why(tmp_path: Path) -> None:
    shown = outline_of(tmp_path / "noisy", noise=0.25)
    assert "UNSURE noise floor over 10 %" in shown.text


def test_a_row_that_is_the_same_says_within_what_where_the_noise_is_no_small_one(
    material: Material,
) -> None:
    first, *others = material.shown
    rows = [
        replace(row, verdict=Verdict.SAME, noise_floor=floor)
        for row, floor in zip(first.found.rows, (0.01, 0.0506), strict=False)
    ]
    changed = replace(first, found=replace(first.found, rows=rows))
    shown = Outline(report.page_of(replace(material, shown=[changed, *others]))).text
    assert " SAME 1.0 %" in shown
    assert " SAME within 5.1 % 5.1 %" in shown


def test_what_was_skipped_is_a_reason_for_care(outline: Outline) -> None:
    care = outline.text.split("Read with care")[1].split("Method")[0]
    assert "the Python package ipp-crypto is not installed" in care
    assert "virtual machine: it has no sensor for temperature and power" in care


def test_every_figure_has_its_words_and_the_command_that_draws_it(page: str) -> None:
    specs = json.loads(re.search(r'id="specs">(.*?)</script>', page, re.DOTALL)[1])  # type: ignore[index]
    figures = [place for place in specs if place.startswith("figure-")]
    assert len(figures) >= 6
    assert page.count("sealift lab plot ") == len(figures)
    assert all(f'id="{place}"' in page for place in specs)
    # The chart by size stands there drawn.
    assert page.count('role="img"') == len(specs) + 1


def test_the_page_is_one_file_that_fetches_nothing(page: str, outline: Outline) -> None:
    assert len(page.encode()) < 1_500_000
    assert all(link.startswith("#") for link in outline.links)
    assert {link[1:] for link in outline.links} <= set(outline.ids)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    assert policy[1].startswith("default-src 'none';")
    assert "unsafe-eval" not in policy[1]
    assert "http" not in policy[1]


def test_the_page_of_a_full_run_on_many_cores_is_not_too_large(tmp_path: Path) -> None:
    scope = replace(SCOPE, quick=False, cores=16)
    run = store.read(write_run(tmp_path / "full", made(blocks=8), scope=scope))
    assert sum(sum(map(len, each.groups)) for each in run.plan.experiments) > 1_400
    assert len(report.page(run).encode()) < 1_500_000


def test_text_from_data_is_text(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    path = write_run(tmp_path / "evil", made(notes=(evil,), skipped={"ipp": evil, "cpu": evil}))
    text = report.page(store.read(path))
    assert evil not in text
    assert Outline(text).text.count(evil) >= 2
    assert text.count("<script") == 4


def test_json_in_a_script_can_not_end_it(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(MINE.replace("Mine & yours", "</script><b>"), encoding="utf-8")
    text = report.page(store.read(write_run(tmp_path / "run", made(), [registry.load(file)])))
    specs = re.search(r'id="specs">(.*?)</script>', text, re.DOTALL)
    assert specs
    assert "</script><b>" in json.dumps(json.loads(specs[1]))
    assert "<" not in specs[1]
    assert Outline(text).open == []


def test_a_run_of_an_own_experiment_alone_is_a_page(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(MINE, encoding="utf-8")
    run = store.read(write_run(tmp_path / "run", made(), [registry.load(file)]))
    shown = Outline(report.page(run))
    assert "Experiments of your own" in shown.text
    assert "Lists <b>and</b> tuples" in shown.text
    assert "Beside what was published" not in shown.headings


def test_an_arm_that_computed_wrong_is_named_in_red_and_has_no_times(tmp_path: Path) -> None:
    path = write_run(tmp_path / "wrong", made(wrong={"cpu": "message 7: another tag"}))
    text = report.page(store.read(path))
    red = re.search(r'<section class="wrong"[^>]*>(.*?)</section>', text)
    assert red
    assert "aes-gcm-by-size, cpu" in red[1]
    assert "message 7: another tag" in red[1]
    assert "with Sealift's kernels" not in Outline(text).text


def test_times_of_an_arm_that_computed_wrong_later_on_are_left_out(tmp_path: Path) -> None:
    wrong = {"cpu": "message 7: another tag"}
    run = store.read(write_run(tmp_path / "wrong", made(wrong=wrong, wrong_blocks=5)))
    shown = next(each for each in gather(run).shown if each.experiment.name == "aes-gcm-by-size")
    assert any(row.wrong for row in shown.found.rows)
    article = (
        report.page(run).split('id="experiment-aes-gcm-by-size"')[1].split('id="experiment-')[0]
    )
    cpu_rows = re.findall(r"<tr>(?:(?!</tr>).)*<td>cpu</td>.*?</tr>", article)
    assert len(cpu_rows) == 7
    assert all("computed wrong" in row and "median" not in row for row in cpu_rows)


def test_a_page_without_a_wrong_result_has_nothing_red(page: str) -> None:
    assert 'class="wrong"' not in page


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"blocks": 3, "ending": Ending(How.INTERRUPTED, "Ctrl-C")},
            "incomplete: interrupted: Ctrl-C",
        ),
        ({"blocks": 3, "ending": None}, "incomplete: it was killed, or still goes on"),
        ({"blocks": 0, "ending": None}, "incomplete: it was killed, or still goes on"),
        (
            {"blocks": 0, "skipped": dict.fromkeys(("library", "cpu", "table", "ipp"), "no room")},
            "not measured: no room",
        ),
    ],
    ids=["interrupted", "killed", "nothing measured", "nothing there"],
)
def test_a_run_that_is_not_whole_is_a_page_that_says_so(
    tmp_path: Path, changes: dict[str, object], told: str
) -> None:
    shown = outline_of(tmp_path / "part", **changes)
    assert told in shown.text
    assert shown.open == []
    assert "nan" not in shown.text.lower().split()


def test_notes_of_the_run_are_reasons_for_care(tmp_path: Path) -> None:
    note = "the process that measured premise was killed by signal 11"
    assert note.capitalize() in outline_of(tmp_path / "run", notes=(note,)).text


def test_noise_is_told_where_it_takes_the_verdicts(tmp_path: Path) -> None:
    by_size = [registry.find("aes-gcm-by-size")]
    run = store.read(write_run(tmp_path / "noisy", made(noise=0.25), by_size))
    shown = Outline(report.page(run))
    assert re.search(r"\d+ of \d+ pieces of work without a verdict: the same", shown.text)


def test_the_time_between_a_run_and_its_resume_is_not_counted(tmp_path: Path) -> None:
    seconds = [*range(1, 61), *range(5_000, 5_031)]
    assert (
        "measured in 1 min 30 s, 2026-11-21"
        in outline_of(tmp_path / "resumed", seconds=seconds).text
    )


def test_drift_is_told(tmp_path: Path) -> None:
    taken = 0

    def slower(cell: Cell) -> float:
        nonlocal taken
        taken += 1
        return model_ns(cell) * (1 + taken / 200)

    shown = outline_of(tmp_path / "drift", ns=slower)
    assert "not steady: their speed or their clock drifted" in shown.text


def test_a_busy_machine_is_told(tmp_path: Path) -> None:
    shown = outline_of(tmp_path / "busy", switches=0.7)
    assert "The machine was busy: too few samples of" in shown.text


def test_threads_that_share_cores_make_no_machine_busy_and_no_sample_unclean(
    tmp_path: Path,
) -> None:
    path = write_run(tmp_path / "run", made(switches=0.0))
    plan = json.loads((path / "plan.json").read_text(encoding="utf-8"))
    groups = {each["name"]: each["groups"] for each in plan["experiments"]}
    crowded = 0
    for line in rewritten(path):
        if groups[line["experiment"]][line["group"]][line["arm"]].get("load") == Load.OVER:
            line["involuntary_switches"], crowded = 9, crowded + 1
    shown = Outline(report.page(store.read(path)))
    assert crowded > 0
    assert "The machine was busy" not in shown.text
    assert "0 % of samples disturbed" in shown.text
    assert shown.text.count("More threads than cores take turns on them by design") == 1


@pytest.mark.parametrize(
    ("slower", "disagree"), [(1.0, False), (1.01, False), (1.2, True)], ids=str
)
def test_equal_cells_of_two_experiments_that_disagree_are_a_reason_for_care(
    tmp_path: Path,
    slower: float,
    disagree: bool,  # noqa: FBT001
) -> None:
    chosen = [registry.find("aes-gcm-by-threads"), registry.find("vendor-library")]

    path = write_run(tmp_path / "run", made(), chosen)
    for line in rewritten(path):
        if line["experiment"] == "aes-gcm-by-threads":
            line["ns"] = round(line["ns"] * slower)
    shown = Outline(report.page(store.read(path)))
    told = re.search(
        r"aes-gcm-by-threads and vendor-library disagree on (\d+) of (\d+) equal cells, "
        r"most on \w+ \([^)]* B, [^)]*\d threads?, batches of 1,024\): "
        r"[\d,.]+ \[.*?\] and [\d,.]+ \[.*?\] ns/message",
        shown.text,
    )
    assert bool(told) is disagree
    if told:
        assert 0 < int(told[1]) == int(told[2])


def test_own_experiments_are_held_to_no_agreement(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(MINE, encoding="utf-8")
    mine = registry.load(file)
    pages = []
    for is_own in (True, False):
        made_run = made(ns=lambda _: 100.0)
        run = store.read(write_run(tmp_path / f"run-{is_own}", made_run, [mine]))
        one = gather(run).shown[0]
        rows = [
            replace(row, ns_per_operation=row.ns_per_operation.scaled(2)) for row in one.found.rows
        ]
        first = replace(one, is_of_the_lab=not is_own)
        other = replace(first, found=replace(one.found, rows=rows))
        pages.append(list(disagreements([first, other])))
    own, packaged = pages
    assert own == []
    assert len(packaged) == 1


def test_a_run_that_was_short_of_time_for_the_last_blocks_says_calmly_what_each_group_has(
    tmp_path: Path,
) -> None:
    time_up = Ending(How.TIME_UP, "60 s were too short for 72 of 288 blocks")
    shown = outline_of(tmp_path / "few", blocks=9, ending=time_up)
    assert re.search(
        rf"sampled in at least 9 of {BLOCKS} blocks: time was up for \d+ of all \d+\. "
        r"A verdict takes 8\.",
        shown.text,
    )
    assert "incomplete" not in shown.text


def test_a_run_whose_time_was_up_before_verdicts_can_stand_is_a_reason_for_care(
    tmp_path: Path,
) -> None:
    time_up = Ending(How.TIME_UP, "60 s were too short for 120 of 288 blocks")
    shown = outline_of(tmp_path / "few", blocks=7, ending=time_up)
    assert f"sampled in at least 7 of {BLOCKS} blocks. A verdict takes 8." in shown.text
    assert "This run is incomplete: time was up: 60 s were too short" in shown.text


def test_a_whole_run_says_how_many_blocks_each_group_has(outline: Outline) -> None:
    assert f"sampled in at least {BLOCKS} of {BLOCKS} blocks. A verdict takes 8." in outline.text


def test_the_method_tells_the_rules_of_verdicts(outline: Outline) -> None:
    method = outline.text.split(" Method ")[-1]
    for rule in (
        "or below 2 %, is never called one",
        "A verdict takes 8 blocks",
        "noise floor of 10 % only what lies wholly beyond 3 times that floor is told",
        "Holm's procedure",
        "half of all, or a quarter and 8",
    ):
        assert rule in method


def test_axes_that_follow_another_one_are_told_once(outline: Outline) -> None:
    assert "By workload: as stated is size_bytes 128, 1,024 keys, mix 50/25/25" in outline.text


def test_key_regimes_have_one_wording_on_the_page_but_in_commands_and_data(page: str) -> None:
    shown = page.split('<script type="application/json"')[0].split('<section id="data"')[0]
    words = Outline(re.sub(r"<code>.*?</code>", "", shown) + "</details></main></body></html>").text
    assert "Sealing by message size: 1,024 keys" in words
    for raw in ("sessions:1024", "keys one", "keys fresh"):
        assert raw not in words
    specs = json.loads(page.split('id="specs">')[1].split("</script>")[0])
    assert "sessions:1024" not in json.dumps(specs)


def test_the_data_are_embedded_as_csv(page: str, material: Material) -> None:
    embedded = json.loads(re.search(r'id="csv">(.*?)</script>', page, re.DOTALL)[1])  # type: ignore[index]
    assert embedded == bottom.csv_text(material)
    rows = list(csv.DictReader(io.StringIO(embedded)))
    assert len(rows) == len(material.rows)
    first = next(row for row in rows if row["experiment"] == material.rows[0].experiment)
    assert float(first["ns_per_operation"]) == pytest.approx(
        material.rows[0].ns_per_operation.median, rel=1e-3
    )


def test_the_replay_command_and_the_machine_with_reasons_stand_on_the_page(
    outline: Outline, run: Run
) -> None:
    assert outline.text.count(f"sealift lab replay {run.path}") == 1
    assert "cores quota (no cgroup on the way up sets cpu.max" in outline.text


def test_the_page_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", made(blocks=2))
    run = store.read(path)
    assert report.write(run) == path / "report.html"
    assert (path / "report.html").read_text(encoding="utf-8") == report.page(run)
    there = tmp_path / "there"
    there.mkdir()
    with pytest.raises(NotWrittenError, match="was not written"):
        report.write(run, there)
    with pytest.raises(NotWrittenError, match="was not written"):
        report.write(run, tmp_path / "nowhere" / "page.html")
    assert {each.name for each in tmp_path.iterdir()} == {"run", "there"}


def test_markup_escapes_what_is_not_markup() -> None:
    inner = markup.tag("b", "1 < 2")
    outer = markup.tag("p", inner, " & ", class_='a"b', hidden=True, open=False)
    assert outer == '<p class="a&quot;b" hidden><b>1 &lt; 2</b> &amp; </p>'
    assert markup.tag("p", f"{inner}") == "<p>&lt;b&gt;1 &amp;lt; 2&lt;/b&gt;</p>"


def test_a_whole_run_has_all_its_blocks(run: Run) -> None:
    assert run.is_whole
    assert all(len(run.blocks("aes-gcm-by-size", group)) == BLOCKS for group in range(7))
