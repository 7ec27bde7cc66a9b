"""`sealift lab report`, `plot` and `export`."""

import csv
import webbrowser
from dataclasses import replace
from pathlib import Path

import pytest

from command import invoke
from made_card import made_card
from sealift.cli import options
from sealift.lab import registry, store
from sealift.lab.plot import LINES_MOST
from synthetic_run import BLOCKS, SCOPE, made, write_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder of a run that was never measured, of the experiment by size."""
    folder = tmp_path_factory.mktemp("runs") / "monday"
    write_run(folder, made(), [registry.find("aes-gcm-by-size")])
    return str(folder)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder of a full run of all experiments."""
    folder = tmp_path_factory.mktemp("runs") / "sunday"
    return str(write_run(folder, made(blocks=2), scope=replace(SCOPE, quick=False, cores=4)))


def test_a_report_is_written_anew_where_one_wants_it(
    run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def browse(url: str) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", browse)
    ran = invoke("lab", "report", run, "--out", str(tmp_path / "page.html"), "--open")
    assert ran.exit_code == 0, ran.stderr
    assert ran.stdout == f"{tmp_path / 'page.html'}\n"
    assert opened == [(tmp_path / "page.html").as_uri()]
    assert invoke("lab", "report", run).stdout == f"{Path(run) / 'report.html'}\n"
    ran = invoke("lab", "report", run, "--out", "/proc/page.html")
    assert ran.exit_code == 5
    assert "/proc/page.html was not written" in ran.stderr


@pytest.mark.parametrize(
    ("ending", "begins"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("html", b"<")]
)
def test_any_columns_are_drawn_in_four_forms(
    ending: str, begins: bytes, run: str, tmp_path: Path
) -> None:
    file = tmp_path / f"figure.{ending}"
    ran = invoke(
        "lab", "plot", run, "--x", "size_bytes", "--y", "ns_per_operation", "--z", "device",
        "--where", "threads=1", "--where", "experiment=aes-gcm-by-size", "-o", str(file),
    )  # fmt: skip
    assert ran.exit_code == 0, ran.stderr
    assert ran.stdout == f"{file}\n"
    assert file.read_bytes().lstrip().startswith(begins)


def test_a_condition_on_numbers_takes_them_as_every_option_does(run: str, tmp_path: Path) -> None:
    figures = [tmp_path / f"{place}.svg" for place in range(3)]
    for file, size in zip(figures, ("1024", "1KiB", "1,024"), strict=True):
        ran = invoke(
            "lab", "plot", run, "--x", "device", "--y", "ns_per_operation",
            "--where", f"size_bytes={size}", "--where", "threads=1", "-o", str(file),
        )  # fmt: skip
        assert ran.exit_code == 0, ran.stderr
    assert len({file.read_text() for file in figures}) == 1


def test_several_runs_are_drawn_apart_by_the_column_run(run: str, tmp_path: Path) -> None:
    other = tmp_path / "tuesday"
    write_run(other, made(), [registry.find("aes-gcm-by-size")], seed=9)
    file = tmp_path / "both.svg"
    ran = invoke(
        "lab", "plot", run, str(other), "--x", "size_bytes", "--y", "ns_per_operation",
        "--z", "run", "--where", "device=cpu", "-o", str(file),
    )  # fmt: skip
    assert ran.exit_code == 0, ran.stderr
    assert "monday" in file.read_text()
    assert "tuesday" in file.read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--x", "size_byte"), "no column is called 'size_byte'; the nearest are size_bytes"),
        (("--y", "verdict"), "column 'verdict' has no numbers"),
        (("--z", "devise"), "no column is called 'devise'; the nearest are device"),
        (("--where", "threads=17"), "no row has threads=17; there are 1"),
        (("--where", "threads"), "'threads' is no condition; write COLUMN=VALUE, as in threads=2"),
        (("--where", "experiment=aes-by-size"), "did you mean aes-gcm-by-size?"),
        (("--where", "experiment=zzz"), "there are aes-gcm-by-size"),
        (("-o", "figure.gif"), "'figure.gif' names no form; end it in .svg, .png, .pdf, .html"),
        (("-o", "figure"), "end it in .svg, .png, .pdf, .html"),
        (("-o", ""), "'' is no file"),
    ],
)
def test_a_figure_that_cant_be_says_what_could(
    arguments: tuple[str, str], said: str, run: str, tmp_path: Path
) -> None:
    usual = {"--x": "size_bytes", "--y": "ns_per_operation", "-o": str(tmp_path / "a.svg")}
    options = [word for pair in (usual | {arguments[0]: arguments[1]}).items() for word in pair]
    ran = invoke("lab", "plot", run, *options)
    assert ran.exit_code == 2, ran.output
    assert said in ran.stderr
    assert not (tmp_path / "a.svg").exists()


EVEN = ("--x", "size_bytes", "--y", "ns_per_operation", "--z", "device")


def test_cards_are_drawn_beside_a_run_by_name_and_by_file(run: str, tmp_path: Path) -> None:
    made_card(tmp_path, name="mine")
    file = tmp_path / "even.svg"
    cards = ("--card", "quad-hifn-7751", "--card", str(tmp_path / "mine.toml"))
    ran = invoke("lab", "plot", run, *EVEN, *cards, "-o", str(file))
    assert ran.exit_code == 0, ran.stderr
    for name in ("quad-hifn-7751, projected", "mine, projected", "library", "cpu"):
        assert name in file.read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((*EVEN, "--card", "quad-hifn"), "did you mean quad-hifn-7751?"),
        ((*EVEN, "--card", "zzz"), "'zzz' is neither a card of Sealift's (there are "),
        ((*EVEN, "--card", "."), "'.' is neither a card of Sealift's"),
        ((*EVEN, "--card", "BROKEN"), "broken.toml, line 1"),
        (
            (*EVEN[:2], "--y", "operations_per_s", *EVEN[4:], "--card", "quad-hifn-7751"),
            "take --x size_bytes --y ns_per_operation --z device with it",
        ),
        (("RUN", *EVEN, "--card", "quad-hifn-7751"), "beside one run, and here are 2; name one"),
        (
            (*EVEN, "--card", "quad-hifn-7751", "--where", "threads=17"),
            "no row has threads=17; there are 1",
        ),
    ],
)
def test_a_card_that_cant_be_drawn_says_what_could(
    arguments: tuple[str, ...], said: str, run: str, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.toml"
    broken.write_text("nme = 1\n")
    words = [{"BROKEN": str(broken), "RUN": run}.get(word, word) for word in arguments]
    ran = invoke("lab", "plot", run, *words, "-o", str(tmp_path / "a.svg"))
    assert ran.exit_code == 2, ran.output
    assert said in ran.stderr
    assert not (tmp_path / "a.svg").exists()


def test_a_figure_that_cant_be_written_ends_with_5(run: str) -> None:
    ran = invoke(
        "lab", "plot", run, "--x", "size_bytes", "--y", "ns_per_operation", "-o", "/proc/a.svg"
    )
    assert ran.exit_code == 5
    assert "/proc/a.svg was not written" in ran.stderr


@pytest.mark.parametrize("left", [None, "", "experiment,id\naes-gcm", "\x00\x01", "a,b\n1,2\n"])
def test_a_report_mends_a_summary_that_is_missing_or_damaged(
    left: str | None, run: str, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    write_run(folder, made(), [registry.find("aes-gcm-by-size")])
    summary = folder / "summary.csv"
    if left is not None:
        summary.write_text(left)
    ran = invoke("lab", "report", str(folder))
    assert ran.exit_code == 0, ran.stderr
    assert f"{summary} was missing, or not what the samples say" in ran.stderr
    exported = invoke("lab", "export", run, "--what", "summary").stdout
    assert summary.read_text() == exported
    again = invoke("lab", "report", str(folder))
    assert (again.exit_code, again.stderr) == (0, "")


def test_a_report_elsewhere_and_one_of_a_run_that_goes_on_leave_the_summary_alone(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "run"
    write_run(folder, made(), [registry.find("aes-gcm-by-size")])
    ran = invoke("lab", "report", str(folder), "--out", str(tmp_path / "page.html"))
    assert (ran.exit_code, ran.stderr) == (0, "")
    with store.hold(folder):
        ran = invoke("lab", "report", str(folder))
        assert (ran.exit_code, ran.stderr) == (0, "")
    assert not (folder / "summary.csv").exists()


def test_a_summary_that_can_not_be_written_is_told_beside_the_page(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    write_run(folder, made(), [registry.find("aes-gcm-by-size")])
    (folder / "summary.csv").mkdir()
    ran = invoke("lab", "report", str(folder))
    assert ran.exit_code == 5
    assert "summary.csv was not written: something else than a file stands there" in ran.stderr
    assert ran.stdout == f"{folder / 'report.html'}\n"


@pytest.mark.parametrize("x", ["size_bytes", "threads", "device"])
def test_a_whole_run_in_one_figure_is_refused_and_what_is_suggested_is_drawn(
    x: str, everything: str, tmp_path: Path
) -> None:
    file = tmp_path / "a.svg"
    asked = ("lab", "plot", everything, "--x", x, "--y", "ns_per_operation", "-o", str(file))
    ran = invoke(*asked)
    assert ran.exit_code == 2, ran.output
    assert f" lines in one figure; {LINES_MOST} can be told apart. They differ in " in ran.stderr
    assert "experiment (" in ran.stderr
    assert not file.exists()
    suggested = ran.stderr.partition("as with ")[2].partition(", or take another --x")[0]
    assert suggested.startswith("--where experiment=")
    drawn = invoke(*asked, *suggested.split())
    assert drawn.exit_code == 0, drawn.stderr
    assert file.exists()


def test_the_examples_of_plots_help_can_be_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("monday", "tuesday"):
        write_run(tmp_path / "runs" / name, made())
    shown = invoke("lab", "plot", "--help").stdout.replace("\\\n", "")
    examples = [line.split() for line in shown.splitlines() if line.startswith("    sealift lab")]
    assert len(examples) == 3
    for words in examples:
        ran = invoke(*words[1:])
        assert ran.exit_code == 0, ran.stderr
        assert (tmp_path / words[-1]).exists()


def test_a_figure_of_the_page_is_drawn_however_many_lines_it_has(tmp_path: Path) -> None:
    many = replace(SCOPE, quick=False, cores=64, threads=(1, 2, 4, 8, 16, 32, 64))
    folder = tmp_path / "run"
    write_run(folder, made(), [registry.find("aes-gcm-by-size")], scope=many)
    own = (
        "lab", "plot", str(folder), "--x", "size_bytes", "--y", "payload_MB_per_s",
        "-o", str(tmp_path / "a.svg"), "--where", "experiment=aes-gcm-by-size",
    )  # fmt: skip
    assert invoke(*own, "--z", "device").exit_code == 0
    other = invoke(*own, "--z", "threads")
    assert other.exit_code == 2
    assert "--where keys=" in other.stderr


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("what", ["samples", "summary"])
def test_a_run_is_exported(what: str, form: str, run: str, tmp_path: Path) -> None:
    file = tmp_path / f"out.{form}"
    ran = invoke("lab", "export", run, "--format", form, "--what", what, "-o", str(file))
    assert ran.exit_code == 0, ran.stderr
    assert ran.stdout == f"{file}\n"
    written = file.read_bytes()
    assert written
    assert invoke("lab", "export", run, "--format", form, "--what", what).stdout_bytes == written


def test_an_export_that_cant_be_written_ends_with_5(run: str) -> None:
    ran = invoke("lab", "export", run, "--format", "csv", "-o", "/proc/a.csv")
    assert ran.exit_code == 5
    assert "/proc/a.csv was not written" in ran.stderr


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("a.csv", b"experiment,id,"),
        ("a.CSV", b"experiment,id,"),
        ("a", b"experiment,id,"),
        ("a.txt", b"experiment,id,"),
        ("a.jsonl", b'{"experiment": '),
        ("a.parquet", b"PAR1"),
    ],
)
def test_the_form_of_an_export_follows_from_the_files_name(
    name: str, begins: bytes, run: str, tmp_path: Path
) -> None:
    ran = invoke("lab", "export", run, "-o", str(tmp_path / name))
    assert ran.exit_code == 0, ran.stderr
    assert (tmp_path / name).read_bytes().startswith(begins)


def test_an_export_to_standard_output_is_csv_and_a_form_that_is_said_counts(
    run: str, tmp_path: Path
) -> None:
    ran = invoke("lab", "export", run)
    assert ran.exit_code == 0, ran.stderr
    assert len(list(csv.DictReader(ran.stdout.splitlines()))) == 7 * BLOCKS * 3
    file = tmp_path / "a.parquet"
    assert invoke("lab", "export", run, "--format", "csv", "-o", str(file)).exit_code == 0
    assert file.read_bytes().startswith(b"experiment,id,")


def test_a_name_of_another_form_is_refused_with_those_there_are(run: str, tmp_path: Path) -> None:
    ran = invoke("lab", "export", run, "-o", str(tmp_path / "a.xlsx"))
    assert ran.exit_code == 2
    assert "'a.xlsx' names no form that there is; end it in .csv, .jsonl, .parquet" in ran.stderr
    assert not (tmp_path / "a.xlsx").exists()


@pytest.mark.parametrize("link", ["/dev/stdout", "/dev/../dev/stderr"])
def test_a_link_of_the_systems_is_taken_for_no_file(link: str) -> None:
    assert Path(link).is_symlink()
    # Read only: should this ever pass, a command would put a file in its place.
    with pytest.raises(ValueError, match="is no file but a link of the system's; name a file"):
        options.file(link)
    assert options.file("/dev/shm/a.csv") == Path("/dev/shm/a.csv")
