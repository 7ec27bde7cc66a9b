"""What the lab says of a folder in which `sealift-gpu` only checked devices."""

from pathlib import Path

from command import invoke
from lab.made_up_run import SURROUNDINGS, add, plan, planned
from sealift.lab import report, store
from sealift.lab.digest import headline
from sealift.lab.store import Ending, How, Run, names

ENDED = Ending(How.COMPLETE)


def checked(path: Path, *failed: str, ending: Ending = ENDED) -> Run:
    """A folder with two devices' checks, and no experiments."""
    made = plan(experiments=(), command=("sealift-gpu", "--step", "conformance"))
    store.create(path, made, SURROUNDINGS)
    checks = [(device, name) for device in ("cuda:0", "cuda:0,strict=on") for name in CHECKS]
    add(
        path,
        names.CONFORMANCE,
        [
            {"device": device, "check": name, "passed": name not in failed, "said": f"{name} said"}
            for device, name in checks
        ],
    )
    store.write_ending(path, ending)
    return store.read(path)


def test_a_run_that_only_checked_devices_has_a_page_with_the_counts(tmp_path: Path) -> None:
    run = checked(tmp_path / "run", "tags")
    told = (
        "Conformance: cuda:0 2 checks passed, 1 failed; cuda:0,strict=on 2 checks passed, 1 failed."
    )
    assert headline(run, {}) == told
    page = report.page(run)
    assert told.removesuffix(".") in page
    assert "cuda:0,strict=on, tags: tags said" in page
    assert "incomplete" not in page


def test_checks_that_all_passed_raise_no_alarm(tmp_path: Path) -> None:
    page = report.page(checked(tmp_path / "run"))
    assert "cuda:0 3 checks passed, none failed" in page
    assert 'role="alert"' not in page


def test_checks_that_were_not_reached_make_a_page_incomplete(tmp_path: Path) -> None:
    left = Ending(How.TIME_UP, "14 checks not reached")
    page = report.page(checked(tmp_path / "run", ending=left))
    assert "This run is incomplete: time was up: 14 checks not reached." in page


def test_nothing_published_stands_beside_checks(tmp_path: Path) -> None:
    run = checked(tmp_path / "run")
    ran = invoke("lab", "compare", str(run.path), "published")
    assert ran.exit_code == 3
    assert ran.stderr.startswith(f"sealift: {run.path} has no experiment, and figures were")


def test_a_run_with_neither_experiments_nor_checks_says_so(tmp_path: Path) -> None:
    store.create(tmp_path / "run", plan(experiments=()), SURROUNDINGS)
    assert headline(store.read(tmp_path / "run"), {}) == "Nothing was measured."


def test_a_first_report_warns_of_no_summary_that_the_program_never_writes(tmp_path: Path) -> None:
    run = checked(tmp_path / "run")
    summary = run.path / names.SUMMARY
    assert invoke("lab", "report", str(run.path)).stderr == ""
    summary.write_text("something else\n")
    assert "was written anew" in invoke("lab", "report", str(run.path)).stderr


def test_parts_of_the_program_are_no_experiments_of_your_own(tmp_path: Path) -> None:
    part = planned(name="gpu-rates", id="", file="sealift-gpu")
    store.create(tmp_path / "run", plan(part), SURROUNDINGS)
    page = report.page(store.read(tmp_path / "run"))
    assert ">What sealift-gpu alone measures</" in page
    assert "Experiments of your own" not in page


CHECKS = ("records", "tags", "threads")
