"""`sealift lab`, in this process and in real ones."""

import csv
import html
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from hashlib import sha256
from importlib import util
from importlib.machinery import ModuleSpec
from pathlib import Path
from unittest.mock import Mock

import pytest

from command import invoke, process, start
from sealift.cli import times
from sealift.cli.experiments import asked_for
from sealift.lab import registry, store, survey
from sealift.lab.survey import Entry, Here
from synthetic_run import made, write_run

QUICK = ("lab", "run", "aes-gcm-by-size", "--quick", "--budget", "3")
# One process, and a second of blocks.
SHORT = ("--quick", "--budget", "1")
MINE = """
from sealift.lab import Axis, Experiment, WrongResultError, timed

def arm(cell, context):
    WHAT
    return timed(lambda: sum(range(cell["count"])), operations=cell["count"])

EXPERIMENT = Experiment(
    name="mine",
    title="Adding up",
    axes=(Axis("way", "way", ("sum", "again")), Axis("count", "numbers", (100, 1000))),
    compare="way",
    arm=arm,
    operation="number",
)
"""
LATER = """
class Later:
    def sample(self, seconds):
        raise KeyError("later")

    def verified(self):
        return {}
"""


def own_file(folder: Path, what: str = "pass") -> str:
    """An experiment file of the user's own."""
    file = folder / "mine.py"
    file.write_text(MINE.replace("WHAT", what))
    return str(file)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder of a run that was never measured, of the experiment by size."""
    folder = tmp_path_factory.mktemp("runs") / "monday"
    write_run(folder, made(), [registry.find("aes-gcm-by-size")])
    return str(folder)


def test_help_teaches_with_examples() -> None:
    shown = invoke("lab", "run", "--help").output
    assert "sealift lab run aes-gcm-by-size 003-T4 --budget 3m\n" in shown
    assert "sealift lab run ./mine.py\n" in shown


def test_the_list_tells_names_and_times_and_prepares_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(survey, "survey", lambda *_: pytest.fail("an arm was prepared"))
    listed = json.loads(invoke("lab", "list", "--json").output)
    experiments = registry.all_experiments()
    assert [each["name"] for each in listed] == [each.name for each in experiments]
    assert [each["id"] for each in listed] == [each.id for each in experiments]
    for each, of in zip(listed, experiments, strict=True):
        assert set(each) == {"name", "id", "title", "quick_seconds", "seconds"}
        assert 0 <= each["quick_seconds"] < each["seconds"]
        if not of.is_timed:
            assert each["seconds"] == of.takes_s
    lines = invoke("lab", "list").output.splitlines()
    assert re.split(" {2,}", lines[0]) == ["experiment", "id", "takes: quick, full", "measures"]
    assert [line.split()[0] for line in lines[1 : 1 + len(listed)]] == [
        each.name for each in experiments
    ]
    assert lines[-1] == "`sealift lab list --try` finds out what of them can be run here."
    (claims,) = (line for line in lines if line.startswith("dpu-claims "))
    assert re.split(" {2,}", claims)[2] == "-, under 1 s"
    assert not any(" 0 s" in line for line in lines)
    assert [times.seconds_text(each) for each in (0.0, 0.4, 1.4, 75.0)] == [
        "-",
        "under 1 s",
        "1 s",
        "75 s",
    ]


def test_with_try_the_list_tells_what_can_be_run_here_with_the_reasons_below() -> None:
    listed = json.loads(invoke("lab", "list", "--try", "--json").output)
    for each in listed:
        assert each["here"] in ("yes", "on a processor", "partly", "no")
        assert (each["here"] == "yes") == (not each["reasons"])
    entries = tuple(Entry(Here(each["here"]), tuple(each["reasons"])) for each in listed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(survey, "survey", lambda *_: entries)
        lines = invoke("lab", "list", "--try").output.splitlines()
    assert lines[0].split()[:3] == ["experiment", "id", "here"]
    reasons = [line.partition(" without ") for line in lines[1 + len(entries) : -2]]
    told = {(name, why) for names, _, why in reasons for name in names.strip().split(", ")}
    assert told == {(each["name"], why) for each in listed for why in each["reasons"]}
    assert len({why for *_, why in reasons}) == len(reasons)


def test_all_experiments_have_the_main_question_first_and_then_cheap_figures() -> None:
    asked = asked_for([], quick=False, threads=(), has_region=False)
    names = [experiment.name for experiment, _ in asked]
    quick = {
        experiment.name for experiment, _ in asked_for([], quick=True, threads=(), has_region=False)
    }
    assert names[:2] == ["aes-gcm-by-size", "aes-gcm-by-threads"]
    assert {*names[: len(quick)]} == quick
    assert names[-1] == "cores-as-cards"
    named = asked_for(["premise", "003-F5"], quick=False, threads=(), has_region=False)
    assert [experiment.name for experiment, _ in named] == ["premise", "aes-gcm-by-threads"]


def test_a_quick_run_ends_with_the_pages_path_and_everything_is_in_its_folder(
    tmp_path: Path,
) -> None:
    ran = process(*QUICK, "--seed", "7", "--threads", "1", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[0] == "Where should my bulk encryption run?"
    assert len(ran.stdout.split()) < 80
    assert len(lines) <= 15
    assert any("█" in line and line.endswith(" messages/s") for line in lines)
    assert lines[-1].split(maxsplit=2)[2].startswith("sealift advise --size ")
    page = tmp_path / lines[-2].split()[1]
    assert page.name == "report.html"
    assert page.parent.parent == tmp_path / "runs"
    assert lines[2].strip().partition(":")[0].rstrip(".") in html.unescape(page.read_text())
    rows = list(csv.DictReader((page.parent / "summary.csv").read_text().splitlines()))
    assert {row["experiment"] for row in rows} == {"aes-gcm-by-size"}
    plan = json.loads((page.parent / "plan.json").read_text())
    assert (plan["seed"], plan["quick"], plan["budget_s"], plan["threads"]) == (7, True, 3.0, [1])
    assert plan["command"][:3] == ["sealift", "lab", "run"]
    assert "aes-gcm-by-size" in ran.stderr
    assert "\x1b" not in ran.stdout + ran.stderr


def test_the_same_plan_is_replayed_into_a_new_folder(tmp_path: Path) -> None:
    mine = own_file(tmp_path)
    ran = invoke("lab", "run", mine, *SHORT, "--out", str(tmp_path / "a"), "--json")
    assert ran.exit_code == 0, ran.stderr
    document = json.loads(ran.stdout)
    assert document["schema"] == "sealift-lab-run/2"
    assert document["page"] == str(tmp_path / "a" / "report.html")
    assert {row["way"] for row in document["rows"]} == {"sum", "again"}
    again = invoke("lab", "replay", str(tmp_path / "a"), "--out", str(tmp_path / "b"))
    assert again.exit_code == 0, again.stderr
    assert again.stdout.splitlines()[-1] == str(tmp_path / "b" / "report.html")
    first, second = (store.read_plan(tmp_path / name) for name in ("a", "b"))
    assert first.experiments == second.experiments
    assert (first.seed, first.budget_s) == (second.seed, second.budget_s)
    plan = str(tmp_path / "a" / "plan.json")
    taken = invoke("lab", "replay", plan, "--out", str(tmp_path / "b"))
    assert taken.exit_code == 2
    assert "holds a run already; finish it with" in taken.stderr


def test_a_run_of_own_experiments_alone_says_what_was_measured_and_asks_nothing(
    tmp_path: Path,
) -> None:
    mine, folder = own_file(tmp_path), str(tmp_path / "run")
    ran = invoke("lab", "run", mine, *SHORT, "--out", folder)
    assert ran.exit_code == 0, ran.stderr
    first, empty, line, *_ = ran.stdout.splitlines()
    assert first.startswith("Adding up: ")
    assert empty == ""
    assert line.startswith("mine: ")
    assert "bulk encryption" not in ran.stdout + (tmp_path / "run" / "report.html").read_text()


def test_showing_a_run_runs_nothing_that_its_folder_names(tmp_path: Path) -> None:
    folder, ran = tmp_path / "run", tmp_path / "ran"
    file = Path(own_file(tmp_path))
    write_run(folder, made(ns=lambda _: 50.0), [registry.load(file)])
    file.write_text(f"open({str(ran)!r}, 'w').close()\n{file.read_text()}")
    plan = json.loads((folder / "plan.json").read_text())
    plan["experiments"][0]["file_sha256"] = sha256(file.read_bytes()).hexdigest()
    (folder / "plan.json").write_text(json.dumps(plan))
    columns = ("--x", "count", "--y", "ns_per_operation")
    for words in (
        ("report", str(folder)),
        ("plot", str(folder), *columns, "-o", str(tmp_path / "a.svg")),
        ("compare", str(folder), str(folder)),
        ("compare", str(folder), "published"),
        ("export", str(folder), "--format", "csv"),
    ):
        ended = invoke("lab", *words)
        assert ended.exit_code in (0, 3), ended.output
        assert not ran.exists(), words


def test_ctrl_c_leaves_a_page_and_a_resume_finishes_the_run(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    mine = own_file(tmp_path)
    running = start("lab", "run", mine, "--quick", "--budget", "9", "--out", str(folder))
    samples = folder / "samples.jsonl"
    while not (samples.exists() and samples.stat().st_size):
        assert running.poll() is None
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    stdout, stderr = running.communicate(timeout=120)
    assert running.returncode == 130, stderr
    assert stdout.splitlines()[-1] == str(folder / "report.html")
    assert f"sealift lab run --resume {folder}" in stderr
    assert "Traceback" not in stderr
    assert store.read(folder).ending is not None
    ran = invoke("lab", "run", "--resume", str(folder), "--json")
    assert ran.exit_code == 0, ran.stderr
    assert json.loads(ran.stdout)["ending"]["how"] == "complete"
    assert store.read(folder).is_whole


def test_a_wrong_result_is_told_in_red_words_and_ends_with_4(tmp_path: Path) -> None:
    wrong = 'if cell["way"] == "again": raise WrongResultError("two and two are five")'
    mine, out = own_file(tmp_path, wrong), str(tmp_path / "run")
    ran = invoke("lab", "run", mine, *SHORT, "--out", out)
    assert ran.exit_code == 4, ran.stderr
    assert "WRONG RESULT of again: two and two are five" in ran.stdout
    assert "two and two are five" in (tmp_path / "run" / "report.html").read_text()


def test_an_experiment_that_measures_nothing_ends_with_3(tmp_path: Path) -> None:
    skipping = 'from sealift.lab import Skip; raise Skip("no abacus is here")'
    mine, out = own_file(tmp_path, skipping), str(tmp_path / "run")
    ran = invoke("lab", "run", mine, *SHORT, "--out", out)
    assert ran.exit_code == 3, ran.stderr
    assert "mine: not measured: no abacus is here" in ran.stdout


@pytest.mark.parametrize(
    ("what", "error", "budget"),
    [
        # Told once by five processes, too.
        ('raise ValueError("no arm of mine")', "ValueError: no arm of mine", ("--budget", "2")),
        ("global timed\n    timed = lambda call, **_: Later()", "KeyError: 'later'", SHORT),
        ("1 / 0", "ZeroDivisionError: division by zero", SHORT),
    ],
)
def test_what_an_arm_raises_is_told_once_with_file_and_line(
    what: str, error: str, budget: tuple[str, ...], tmp_path: Path
) -> None:
    file = Path(own_file(tmp_path, what))
    file.write_text(f"{file.read_text()}\n{LATER}")
    line = next(
        number
        for number, text in enumerate(file.read_text().splitlines(), start=1)
        if text.strip() in (what, 'raise KeyError("later")')
    )
    ran = invoke("lab", "run", str(file), *budget, "--out", str(tmp_path / "run"))
    assert ran.exit_code == 6, ran.stderr
    assert f"{error} ({file}, line {line})\n" in ran.stderr
    assert (ran.stderr + ran.stdout).count(error) == 1
    assert ran.stderr.count(": failed in the same way") == 1
    assert "a part failed; the rest takes about " in ran.stderr
    assert "mine: not measured, because it failed" in ran.stdout


def test_a_file_that_can_not_be_run_by_the_process_that_measures_is_told_once(
    tmp_path: Path,
) -> None:
    file = Path(own_file(tmp_path))
    failing = "if 'sealift.lab.worker' in sys.orig_argv:\n    raise ValueError('not there')"
    file.write_text(f"import sys\n{failing}\n{file.read_text()}")
    ran = invoke("lab", "run", str(file), "--budget", "4", "--out", str(tmp_path / "run"))
    assert ran.exit_code == 6, ran.stderr
    assert f"mine: {file}, line 3: ValueError: not there" in ran.stderr
    assert (ran.stderr + ran.stdout).count("not there") == 1


def test_a_file_of_ones_own_that_got_worse_is_told_once_by_a_resume(tmp_path: Path) -> None:
    file, folder = Path(own_file(tmp_path)), tmp_path / "run"
    write_run(folder, made(ns=lambda _: 50.0, blocks=6), [registry.load(file)])
    file.write_text("\n\nraise ValueError('worse')\n")
    ran = invoke("lab", "run", "--resume", str(folder))
    assert ran.exit_code == 6, ran.stderr
    assert f"mine: {file}, line 3: ValueError: worse" in ran.stderr
    assert (ran.stderr + ran.stdout).count("ValueError: worse") == 1
    assert "nothing is compared with what was published" in ran.stderr


def test_a_thin_budget_is_told_in_one_line_before_anything_is_measured(tmp_path: Path) -> None:
    arms = MINE.replace("WHAT", "pass").replace("(100, 1000)", "tuple(range(1, 6))")
    file = tmp_path / "mine.py"
    file.write_text(arms)
    ran = invoke("lab", "run", str(file), *SHORT, "--out", str(tmp_path / "run"))
    first, *others = ran.stderr.splitlines()
    assert first == (
        "sealift: a budget of 1 s is thin for mine: few verdicts, wide intervals; --budget 6 "
        "would do"
    )
    assert not any("is thin" in line for line in others)
    ample = invoke("lab", "run", str(file), "--budget", "20", "--out", "/proc/self/run")
    assert "is thin" not in ample.stderr


def test_an_experiment_without_cells_here_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(MINE.replace("WHAT", "pass").replace("arm=arm", "arm=arm, cells=lambda _: ()"))
    ran = invoke("lab", "run", str(file), "--out", str(tmp_path / "run"))
    assert ran.exit_code == 3
    assert "mine has no cells for what is here, so it is left out" in ran.stderr
    assert "`sealift lab list --try` says why" in ran.stderr


def test_all_experiments_by_name_are_those_of_a_run_that_names_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    chosen = []
    for names in ((), ("all",)):
        asked = asked_for(names, quick=True, threads=(), has_region=False)
        chosen.append(([each.name for each, _ in asked], capsys.readouterr().err))
    assert chosen[0] == chosen[1]
    assert "quick run" not in chosen[0][1]


def test_the_list_looks_at_the_machine_once(monkeypatch: pytest.MonkeyPatch) -> None:
    look = Mock(wraps=survey.this_scope)
    monkeypatch.setattr(survey, "this_scope", look)
    assert invoke("lab", "list").exit_code == 0
    assert look.call_count == 1


def test_help_describes_what_is_printed() -> None:
    begin, run = (" ".join(invoke(*words, "-h").stdout.split()) for words in ((), ("lab", "run")))
    assert "a table and the answer" not in begin
    assert "all experiments in a minute" not in begin
    assert "Prints where to encrypt, or, for experiments that don't compare devices" in run


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "aes-gcm-by-sise"], "no experiment fits 'aes-gcm-by-sise'; did you mean aes-gcm"),
        (["run", "003-F55"], "003-F5"),
        (["run", "./nothing.py"], "nothing.py is no file of Python source; right would be one "),
        (["run", "/proc/version"], "/proc/version is no experiment file; right would be one that"),
        (["run", "/proc"], "defines EXPERIMENT = Experiment(...), as docs/your-own-experiment.md"),
        (["run", "--budget", "0"], "'0' is no time"),
        (["run", "--budget", "0.01"], "is too short to measure anything; allow"),
        (["run", "--threads", "0"], "'0' is no number of threads"),
        (["run", "--out", ""], "'' is no folder"),
        (["run", "--resume", "nowhere"], "nowhere is not there; name the folder of a run"),
        (["run", "--resume", "x", "--seed", "3"], "leave out --seed"),
        (["run", "premise", "--resume", "x", "--quick"], "leave out premise, --quick"),
        (["run", "--resume", ""], "--resume: '' is no folder"),
        (["report", "nowhere"], "nowhere is not there"),
        (["report", ""], "RUN: '' is no folder"),
        (["replay", "nowhere"], "nowhere is not there"),
        (["export", "nowhere", "--format", "csv"], "nowhere is not there"),
        (
            ["export", "nowhere", "--format", "cvs"],
            "--format: 'cvs' is no choice (did you mean csv?); right would be csv or jsonl or parq",
        ),
        (
            ["export", "nowhere", "--what", "sumary"],
            "--what: 'sumary' is no choice (did you mean s",
        ),
        (["export", "nowhere", "--what", "zzz"], "'zzz' is no choice; right would be samples or "),
        (["compare", "nowhere", "published"], "nowhere is not there"),
        (["compare", "a", "b", "--csv", "--json"], "give one"),
        (["compare", "a", "b", "--fail-on", "slow"], "right would be slower"),
        (["plot", "nowhere", "--x", "a", "--y", "b", "-o", "a.svg"], "nowhere is not there"),
    ],
)
def test_wrong_usage_says_what_would_be_right_and_ends_with_2(
    arguments: list[str], said: str
) -> None:
    ran = invoke("lab", *arguments)
    assert ran.exit_code == 2, ran.output
    assert said in ran.stderr
    assert ran.stdout == ""


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("x = 1\n", "defines no EXPERIMENT; end it with EXPERIMENT = Experiment(...)"),
        ("\nx = (\n", "mine.py, line 2: "),
        ("\n1 / 0\n", "mine.py, line 2: ZeroDivisionError"),
        (
            MINE.replace("WHAT", "pass").replace("arm=arm", "arm=arm, cells=lambda _: 1 / 0"),
            "mine.py: its cells can't be had: ZeroDivisionError",
        ),
    ],
)
def test_a_file_of_ones_own_that_fails_names_its_line(code: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(code)
    ran = invoke("lab", "run", str(file))
    assert ran.exit_code == 2, ran.output
    assert said in ran.stderr


def test_two_runs_into_one_folder_are_refused(tmp_path: Path, run: str) -> None:
    ran = invoke(*QUICK, "--out", run)
    assert ran.exit_code == 2
    assert "holds a run already; finish it with" in ran.stderr
    other = tmp_path / "letters"
    other.mkdir()
    (other / "dear.txt").write_text("dear")
    ran = invoke(*QUICK, "--out", str(other))
    assert ran.exit_code == 2
    assert "holds dear.txt; name a folder that is empty or not there" in ran.stderr
    assert list(other.iterdir()) == [other / "dear.txt"]


def test_a_folder_that_takes_no_files_is_told_before_anything_is_measured() -> None:
    ran = invoke(*QUICK, "--out", "/proc/self/run")
    assert ran.exit_code == 5
    assert "was not written" in ran.stderr


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("plan.json", "{", "plan.json: not JSON"),
        ("plan.json", '{"schema": "other/1"}', "no plan of Sealift"),
        ("plan.json", '{"schema": "sealift-run/99"}', "take the Sealift that wrote it"),
        ("samples.jsonl", "nonsense\n", "samples.jsonl, line 1: not JSON"),
        ("verify.jsonl", "[]\n", "verify.jsonl, line 1"),
        ("machine.json", "", "machine.json: not JSON"),
    ],
)
@pytest.mark.parametrize("command", ["report", "export", "compare", "plot", "advise"])
def test_foreign_and_damaged_results_are_told_with_their_file(
    command: str, file: str, text: str, said: str, tmp_path: Path, run: str
) -> None:
    folder = shutil.copytree(run, tmp_path / "run")
    (folder / file).write_text(text)
    path = str(folder)
    arguments = {
        "report": ("lab", "report", path),
        "export": ("lab", "export", path, "--format", "csv"),
        "compare": ("lab", "compare", path, "published"),
        "plot": ("lab", "plot", path, "--x", "a", "--y", "b", "-o", str(tmp_path / "a.svg")),
        "advise": ("advise", "--run", path),
    }[command]
    ran = invoke(*arguments)
    assert ran.exit_code == 2, ran.output
    assert said in ran.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("run", "memory-read", "--out", "NAME"),
        ("report", "NAME"),
        ("report", "RUN", "--out", "NAME"),
        ("plot", "RUN", "--x", "size_bytes", "--y", "ns_per_operation", "-o", "NAME.svg"),
        ("export", "RUN", "--format", "csv", "-o", "NAME"),
        ("compare", "RUN", "NAME"),
        ("replay", "NAME"),
    ],
)
def test_a_name_that_is_too_long_is_told_by_its_name(run: str, words: tuple[str, ...]) -> None:
    name = "n" * 300
    said = [word.replace("NAME", name).replace("RUN", run) for word in words]
    ran = invoke("lab", *said)
    assert ran.exit_code == 2
    assert f"{name[:9]}" in ran.stderr
    assert "can't be named: File name too long; take another name" in ran.stderr


def test_without_the_drawing_package_a_run_says_so_and_ends_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: str
) -> None:
    find = util.find_spec

    def lacking(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name == "vl_convert" else find(name, package)

    for module in ("run", "options"):
        monkeypatch.setattr(f"sealift.cli.{module}.find_spec", lacking)
    folder = tmp_path / "run"
    ran = invoke("lab", "run", own_file(tmp_path), *SHORT, "--out", str(folder))
    assert ran.exit_code == 0, ran.stderr
    assert "no page is made, because vl-convert-python isn't installed" in ran.stderr
    assert ran.stdout.splitlines()[-1] == str(folder)
    ran = invoke("lab", "report", run)
    assert ran.exit_code == 2
    assert "python -m pip install vl-convert-python" in ran.stderr


def test_a_full_standard_output_is_told_and_the_page_is_still_written(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with Path("/dev/full").open("w") as sink:
        ran = subprocess.run(
            [sys.executable, "-m", "sealift", "lab", "run", own_file(tmp_path), *SHORT,
             "--out", str(folder)],
            stdout=sink, stderr=subprocess.PIPE, text=True, timeout=120, check=False,
        )  # fmt: skip
    assert ran.returncode == 5, ran.stderr
    assert "No space left on device" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert (folder / "report.html").exists()


def test_thread_counts_that_change_nothing_are_told_and_not_planned(tmp_path: Path) -> None:
    file, out = own_file(tmp_path), tmp_path / "run"
    ran = invoke("lab", "run", file, "--threads", "2", *SHORT, "--out", str(out))
    assert ran.exit_code == 0, ran.stderr
    assert "--threads changes nothing in mine, which has counts of its own" in ran.stderr
    assert store.read_plan(out).threads == ()
