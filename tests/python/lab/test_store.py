"""The run folder: read with care, written so that nothing is lost."""

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lab import made_up_run as made
from sealift.exit_code import ExitCode
from sealift.lab import store
from sealift.lab.machine import Fact
from sealift.lab.record import record
from sealift.lab.spec import Plot
from sealift.lab.store import names
from sealift.lab.summary import summarise


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return made.create(tmp_path / "run")


def test_plan_and_surroundings_come_back_as_they_were_written(folder: Path) -> None:
    run = store.read(folder)
    assert run.plan == made.plan()
    assert run.machine == made.SURROUNDINGS
    assert run.machine.facts["cpu_flags"] == Fact(("aes", "vaes"), None)
    assert run.ending is None
    assert run.notes == ()


def test_what_showing_a_run_needs_comes_back_from_its_plan(tmp_path: Path) -> None:
    plot = Plot(**made.plot(where={"size_bytes": 16}))
    planned = made.planned(title="By size", why="Which is faster?", plots=(plot,))
    run = store.read(made.create(tmp_path / "run", made.plan(planned)))
    (read,) = run.plan.experiments
    assert read == planned
    assert [(axis.name, axis.title) for axis in read.axes][1] == ("device", "the device")


def test_a_legend_comes_back_and_plans_of_before_there_were_any_are_read(tmp_path: Path) -> None:
    planned = made.planned(legend={"2 lengths (4f2a91)": "40x58 576x33"})
    folder = made.create(tmp_path / "run", made.plan(planned))
    assert store.read(folder).plan.experiments[0].legend == planned.legend
    plan = json.loads((folder / names.PLAN).read_text(encoding="utf-8"))
    del plan["experiments"][0]["legend"]
    (folder / names.PLAN).write_text(json.dumps(plan), encoding="utf-8")
    assert store.read(folder).plan.experiments[0].legend == {}


def test_the_devices_of_this_machine_come_back_as_they_were(tmp_path: Path) -> None:
    from sealift.lab.devices import look

    surroundings = store.Surroundings(facts={}, devices=look())
    store.create(tmp_path / "run", made.plan(), surroundings)
    assert store.read(tmp_path / "run").machine == surroundings


def test_blocks_come_back_with_their_restarts(folder: Path) -> None:
    made.add(folder, names.SAMPLES, made.block_lines(0, 0))
    made.add(folder, names.SAMPLES, made.block_lines(1, 0))
    made.add(folder, names.SAMPLES, made.block_lines(0, 1, restart=2))
    run = store.read(folder)
    assert [restart for restart, _ in run.blocks("by-size", 0)] == [0, 2]
    _, block = run.blocks("by-size", 0)[0]
    assert [sample.ns for sample in block.samples if sample] == [1_000_000, 1_001_000]
    assert (block.doubled, block.again.ns) == (0, 1_000_000)
    assert run.missing("by-size", 0) == 1
    assert run.missing("by-size", 1) == 2
    assert run.restarts == {"by-size": 3}
    assert not run.is_whole


def test_a_run_with_all_blocks_is_whole(folder: Path) -> None:
    made.fill(folder)
    assert store.read(folder).is_whole


def test_a_skipped_first_arm_gives_its_part_to_the_next_one(folder: Path) -> None:
    made.add(folder, names.VERIFY, [made.told(0, skipped="not here")])
    made.add(folder, names.SAMPLES, made.block_lines(0, 0, arms=[1]))
    run = store.read(folder)
    assert run.reference("by-size", 0) == 1
    _, block = run.blocks("by-size", 0)[0]
    assert [sample is not None for sample in block.samples] == [False, True]
    assert block.doubled == 1
    assert run.verified[0].skipped == "not here"


def test_arms_take_turns_to_be_doubled_and_the_reference_stays(folder: Path) -> None:
    made.add(folder, names.SAMPLES, made.block_lines(0, 0, arms=[1, 0]))
    made.add(folder, names.SAMPLES, made.block_lines(0, 1, arms=[0, 1]))
    run = store.read(folder)
    assert [block.doubled for _, block in run.blocks("by-size", 0)] == [1, 0]
    assert run.reference("by-size", 0) == 0


def test_a_block_without_its_reference_is_damage(folder: Path) -> None:
    made.add(folder, names.SAMPLES, made.block_lines(0, 0, arms=[0, 1]))
    made.add(folder, names.SAMPLES, made.block_lines(0, 1, arms=[1]))
    with pytest.raises(store.StoreError, match="line 5: its block lacks arm 0"):
        store.read(folder)


def test_counts_of_restarts_add_up_and_words_stay(folder: Path) -> None:
    made.add(
        folder,
        names.VERIFY,
        [
            made.told(0, facts={"opened": 3, "checked_against": "x", "seconds": 0.5}),
            made.told(0, restart=1, facts={"opened": 4, "checked_against": "x", "seconds": 0.25}),
        ],
    )
    facts = store.read(folder).verified[0].facts
    assert facts == {"opened": 7, "checked_against": "x", "seconds": 0.25}


def test_an_arm_that_was_measured_once_is_not_skipped(folder: Path) -> None:
    made.add(folder, names.SAMPLES, made.block_lines(0, 0))
    made.add(folder, names.VERIFY, [made.told(1, restart=1, skipped="no memory")])
    assert store.read(folder).verified[1].skipped == ""


def test_what_was_not_reached_says_so(folder: Path) -> None:
    assert "ended before" in store.read(folder).verified[3].skipped


def test_a_group_is_over_when_its_reference_is_wrong_or_nobody_is_there(folder: Path) -> None:
    made.add(folder, names.SAMPLES, made.block_lines(0, 0))
    lines = [
        made.told(0, wrong="a tag was wrong"),
        made.told(0, group=1, skipped="absent"),
        made.told(1, group=1, wrong="a text was wrong"),
    ]
    made.add(folder, names.VERIFY, lines)
    run = store.read(folder)
    assert run.is_whole
    assert run.wrong == {("by-size", 0, 0), ("by-size", 1, 1)}
    assert run.verified[0].wrong == "a tag was wrong"


def test_a_wrong_arm_beside_a_right_reference_leaves_its_group_going(folder: Path) -> None:
    made.add(folder, names.SAMPLES, made.block_lines(0, 0))
    made.add(folder, names.VERIFY, [made.told(1, wrong="a tag was wrong")])
    assert store.read(folder).missing("by-size", 0) == 2


def test_every_cut_of_the_samples_reads_and_mends(folder: Path) -> None:
    made.fill(folder)
    path = folder / names.SAMPLES
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    ends = [len(b"".join(lines[:index])) for index in range(0, len(lines) + 1, 3)]
    for cut in range(0, len(whole) + 1, 7):
        path.write_bytes(whole[:cut])
        run = store.read(folder)
        kept = max(end for end in ends if end <= cut)
        assert bool(run.notes) == (kept != cut), cut
        store.mend(folder)
        assert path.read_bytes() == whole[:kept]
        again = store.read(folder)
        assert again.measured == run.measured
        assert again.notes == ()


def test_torn_last_lines_of_other_files_are_left_out_and_told(folder: Path) -> None:
    made.add(folder, names.SENSORS, [{"at_s": 1.0, "values": {"load_1min": 0.5}}])
    made.add(folder, names.NOTES, [{"note": "something"}])
    made.add(folder, names.VERIFY, [made.told(0)])
    for name in (names.SENSORS, names.NOTES, names.VERIFY):
        with (folder / name).open("ab") as file:
            file.write(b'{"at_s": 2.0, "val')
    run = store.read(folder)
    assert [reading.at_s for reading in run.sensors] == [1.0]
    assert run.notes[0] == "something"
    assert len(run.notes) == 4
    store.mend(folder)
    assert store.read(folder).notes == ("something",)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"experiment": "other"}, "'other' is not in the plan"),
        ({"group": 2}, "group is 2; right would be a number under 2"),
        ({"arm": 2}, "arm is 2; right would be a number under 2"),
        ({"arm": -1}, "arm is -1; right would be 0 or more"),
        ({"arm": True}, "arm is true; right would be an integer"),
        ({"again": 1}, "again is 1; right would be true or false"),
        ({"block": 1}, "block 1 where block 0 of its group comes next"),
        ({"block": 3}, "block is 3; right would be a number under 3"),
        ({"ns": 0}, "ns is 0; right would be 1 or more"),
        ({"ns": "12"}, 'ns is "12"; right would be an integer'),
        ({"operations": 0}, "operations is 0"),
        ({"cpu_share": -1}, "cpu_share is -1; right would be a number of 0 or more"),
        ({"cpu_share": 1.5}, "cpu_share is 1.5; right would be a number from 0 to 1"),
        ({"cpu_share": 10**400}, "cpu_share is 1000"),
        ({"bytes": 10**30}, "right would be an integer of at most 64 bits"),
        ({"clock_ghz": 0}, "clock_ghz is 0; right would be a number above 0"),
        ({"again": True}, "arm 0 is doubled, and its first sample is missing"),
    ],
)
def test_a_line_that_does_not_fit_is_named(folder: Path, change: dict[str, Any], said: str) -> None:
    made.add(folder, names.SAMPLES, made.block_lines(1, 0))
    made.add(folder, names.SAMPLES, [made.line(0) | change])
    with pytest.raises(store.StoreError) as caught:
        store.read(folder)
    assert f"{names.SAMPLES}, line 4" in str(caught.value)
    assert said in str(caught.value)
    assert "resume" in str(caught.value)


def test_a_line_that_lacks_something_or_is_no_object_is_named(folder: Path) -> None:
    lacking = made.line(0)
    del lacking["ns"]
    made.add(folder, names.SAMPLES, [lacking])
    with pytest.raises(store.StoreError, match="line 1: 'ns' is missing"):
        store.read(folder)
    for text, said in (
        ("[]", r"line 1: \[\] where an object belongs"),
        ("{oh", "line 1: not JSON"),
        ('{"ns": NaN}', "line 1: not JSON .NaN is no number"),
        ("[" * 100_000, "line 1: not JSON"),
        ("\udcff", "line 1: not JSON"),
    ):
        written = f"{text}\n".encode(errors="surrogateescape")
        (folder / names.SAMPLES).write_bytes(written)
        with pytest.raises(store.StoreError, match=said):
            store.read(folder)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([made.line(0), *made.block_lines(1, 0)], "line 2: the block before it has no doubled"),
        ([made.line(0), made.line(0)], "line 2: arm 0 stands twice"),
        (
            [*made.block_lines(0, 0, restart=1), *made.block_lines(0, 1, restart=0)],
            "line 4: restart 0 after a later one",
        ),
    ],
)
def test_a_block_that_is_not_whole_and_not_the_last_is_damage(
    folder: Path, lines: list[dict[str, Any]], said: str
) -> None:
    made.add(folder, names.SAMPLES, lines)
    with pytest.raises(store.StoreError, match=said):
        store.read(folder)


def test_cutting_a_damaged_file_as_its_error_says_helps(folder: Path) -> None:
    made.fill(folder)
    path = folder / names.SAMPLES
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join([*lines[:7], "damage\n", *lines[8:]]), encoding="utf-8")
    with pytest.raises(store.StoreError, match=r"line 8: .* cut the file before this line"):
        store.read(folder)
    path.write_text("".join(lines[:7]), encoding="utf-8")
    store.mend(folder)
    assert len(store.read(folder).blocks("by-size", 0)) == 1


def _no_schema(plan: dict[str, Any]) -> None:
    del plan["schema"]


def _set(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda plan: plan.update(fields)


def _set_first(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda plan: plan["experiments"][0].update(fields)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_no_schema, "no plan of Sealift: its schema is None"),
        (_set(schema="other/1"), "no plan of Sealift: its schema is 'other/1'"),
        (_set(schema="sealift-run/2"), "written as sealift-run/2, .* or a newer one"),
        (_set(seed="1"), 'seed is "1"; right would be an integer'),
        (_set(budget_s=0), "budget_s is 0; right would be a number above 0"),
        (_set(restarts=0), "restarts is 0; right would be 1 or more"),
        (_set(threads=[0]), "threads is .0.; right would be a list of integers of 1 or more"),
        (_set(command="sealift"), "command is .*; right would be a list"),
        (_set(quick=None), "quick is null; right would be true or false"),
        (_set(experiments=[1]), r"experiments\[0\]: 1 where an object belongs"),
        (_set_first(groups=[[]]), "an empty group"),
        (_set_first(groups=[1]), r"experiments\[0\]: groups is .1.; right would be a list of"),
        (_set_first(groups=[[{"device": [1]}]]), r"groups\[0\]\[0\]: device is .1.; right would"),
        (_set_first(groups=[[{"size_bytes": 1}]]), "has other columns than the axes"),
        (_set_first(blocks=0), "blocks is 0; right would be 1 or more"),
        (_set_first(name="a/../b"), "the name 'a/../b'; right would be words-with-hyphens"),
        (_set_first(compare="who"), "its axes are to be different ones, and 'who' among them"),
        (_set_first(axes=[{"name": "ns", "title": ""}]), "results have a column of this name"),
        (_set_first(plots=[made.plot(x="siz_bytes")]), "x='siz_bytes', .* are size_bytes"),
        (_set_first(plots=[made.plot(log_x=1)]), "log_x is 1; right would be true or false"),
        (_set_first(legend=[]), r"legend is \[\]; right would be"),
        (_set_first(legend={"some": 1}), "some is 1; right would be"),
    ],
)
def test_a_plan_that_is_none_says_why(
    folder: Path, change: Callable[[dict[str, Any]], None], said: str
) -> None:
    plan = json.loads((folder / names.PLAN).read_text(encoding="utf-8"))
    change(plan)
    (folder / names.PLAN).write_text(json.dumps(plan), encoding="utf-8")
    with pytest.raises(store.StoreError, match=said) as caught:
        store.read(folder)
    assert names.PLAN in str(caught.value)


def test_an_experiment_stands_once_in_a_plan(folder: Path) -> None:
    plan = json.loads((folder / names.PLAN).read_text(encoding="utf-8"))
    plan["experiments"] *= 2
    (folder / names.PLAN).write_text(json.dumps(plan), encoding="utf-8")
    with pytest.raises(store.StoreError, match="'by-size' stands twice"):
        store.read(folder)


def test_what_is_no_run_folder_says_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(store.StoreError, match="is not there"):
        store.read(tmp_path / "none")
    with pytest.raises(store.StoreError, match="is empty"):
        store.read(tmp_path)
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(store.StoreError, match="is no folder"):
        store.read(tmp_path / "file")
    with pytest.raises(store.StoreError, match=r"has no plan\.json"):
        store.read(tmp_path)


def test_who_names_something_else_is_told_the_nearest_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("README.md").write_text("x", encoding="utf-8")
    assert store.instead(Path("README.md")) == (
        "name the folder of a run, as in runs/2026-11-21T142100Z"
    )
    for name in ("monday", "tuesday", "wednesday"):
        made.create(tmp_path / "runs" / name)
    made.create(tmp_path / "kept" / "lab")
    for given, nearest in (
        ("runs/monday/plan.json", "runs/monday"),
        ("runs/monday/plan.jsn", "runs/monday"),
        ("runs", "runs/wednesday"),
        ("kept", "kept/lab"),
        ("runs/tusday", "runs/tuesday"),
        ("README.md", "runs/wednesday"),
        ("nowhere/at/all", "runs/wednesday"),
    ):
        told = f"name the folder of a run, the nearest is {nearest}"
        assert store.instead(Path(given)) == told, given
        with pytest.raises(store.StoreError, match=f"{re.escape(told)}$"):
            store.read(Path(given))


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"facts": {"x": {"value": null}}}'])
def test_a_damaged_description_of_the_machine_is_named(folder: Path, text: str) -> None:
    (folder / names.MACHINE).write_text(text, encoding="utf-8")
    with pytest.raises(store.StoreError, match=r"machine\.json"):
        store.read(folder)


def test_endings_come_back_and_unknown_ones_are_named(folder: Path) -> None:
    ending = store.Ending(store.How.TIME_UP, "60 s were too short")
    store.write_ending(folder, ending)
    assert store.read(folder).ending == ending
    (folder / names.ENDING).write_text('{"ending": "bored", "reason": ""}', encoding="utf-8")
    with pytest.raises(store.StoreError, match="ending is 'bored'; right would be one of complete"):
        store.read(folder)


def test_a_folder_that_holds_something_is_not_taken(folder: Path, tmp_path: Path) -> None:
    before = sorted(folder.iterdir())
    with pytest.raises(store.StoreError, match="holds a run already; finish it with `sealift lab"):
        made.create(folder)
    assert sorted(folder.iterdir()) == before
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").write_text("x", encoding="utf-8")
    with pytest.raises(store.StoreError, match=r"holds thesis\.tex; name a folder"):
        made.create(other)
    with pytest.raises(store.StoreError, match="is a file"):
        made.create(other / "thesis.tex")


def test_a_folder_that_can_not_be_made_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(store.NotWrittenError, match="was not written") as caught:
        made.create(tmp_path / "file" / "run")
    assert caught.value.code == ExitCode.NOT_WRITTEN


def test_a_folder_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    with (
        store.hold(tmp_path / "run"),
        pytest.raises(store.StoreError, match="another run writes into it"),
        store.hold(tmp_path / "run"),
    ):
        pass
    with store.hold(tmp_path / "run"):
        made.create(tmp_path / "run")


def test_a_process_that_inherits_the_lock_holds_it(tmp_path: Path) -> None:
    path = tmp_path / "run"
    wait = [sys.executable, "-c", "input()"]
    with store.hold(path) as lock:
        child = subprocess.Popen(wait, stdin=subprocess.PIPE, pass_fds=(lock,))
    with pytest.raises(store.StoreError, match="another run"), store.hold(path):
        pass
    child.communicate(b"\n")
    with store.hold(path):
        pass


def test_lines_that_do_not_fit_leave_nothing_behind(folder: Path) -> None:
    # The kernel refuses to let a file of this process grow further, as a full disk would.
    script = f"""
import resource, sys
sys.path.insert(0, {str(Path(__file__).parent.parent)!r})
from pathlib import Path
from lab import made_up_run as made
from sealift.lab import store
folder = Path({str(folder)!r})
made.add(folder, "samples.jsonl", made.block_lines(0, 0))
size = (folder / "samples.jsonl").stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 300, size + 300))
try:
    made.add(folder, "samples.jsonl", made.block_lines(1, 0))
except store.NotWrittenError as error:
    print(error)
assert (folder / "samples.jsonl").stat().st_size == size
"""
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "samples.jsonl was not written: File too large; make room there" in ended.stdout
    run = store.read(folder)
    assert run.notes == ()
    assert len(run.blocks("by-size", 0)) == 1


def test_the_reserve_takes_room_and_gives_it_back(folder: Path) -> None:
    reserve = store.Reserve(folder)
    assert (folder / names.RESERVE).stat().st_blocks * 512 >= 4 * 2**20
    reserve.give_back()
    reserve.give_back()
    assert not (folder / names.RESERVE).exists()


def test_the_summary_has_the_axes_of_all_experiments(folder: Path, tmp_path: Path) -> None:
    made.fill(folder)
    other = made.create(
        tmp_path / "other",
        made.plan(
            made.planned(),
            made.planned(name="other", compare="how", groups=(({"how": "a", "level": 0.00001},),)),
        ),
    )
    (other / names.SAMPLES).write_bytes((folder / names.SAMPLES).read_bytes())
    lines = [made.line(0, experiment="other"), made.line(0, experiment="other", again=True)]
    made.add(other, names.SAMPLES, lines)
    found = summarise(store.read(other))
    rows = [row for each in found.values() for row in each.rows]
    store.write_summary(other, [record(row, "003-F5") for row in rows])
    with (other / names.SUMMARY).open(encoding="utf-8", newline="") as file:
        records = list(csv.DictReader(file))
    assert list(records[0])[:6] == ["experiment", "id", "size_bytes", "device", "how", "level"]
    assert [each["size_bytes"] for each in records] == ["16", "16", "128", "128", ""]
    assert records[0]["how"] == ""
    assert records[4]["level"] == "0.00001"
    assert records[0]["ns_per_operation"] == "1000"
    assert records[0]["origin"] == "measured"


def test_folders_are_named_after_the_time_and_never_taken_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    now = datetime(2026, 11, 21, 14, 21, tzinfo=UTC)
    first = store.default_path(now)
    assert str(first) == names.EXAMPLE
    first.mkdir(parents=True)
    assert store.default_path(now).name == "2026-11-21T142100Z-2"


def test_the_command_that_resumes_can_be_pasted(tmp_path: Path) -> None:
    said = store.resume_command(tmp_path / "my run")
    assert said == f"sealift lab run --resume '{tmp_path}/my run'"


@pytest.mark.parametrize("content", ["text\n", b"\x00bytes"])
def test_a_file_is_written_whole_and_nothing_is_left_beside_it(
    tmp_path: Path, content: str | bytes
) -> None:
    path = tmp_path / "figure.svg"
    path.write_text("old", encoding="utf-8")
    store.write_file(path, content)
    assert path.read_bytes() == (content if isinstance(content, bytes) else content.encode())
    assert [each.name for each in tmp_path.iterdir()] == ["figure.svg"]


def test_half_of_a_surrogate_pair_keeps_no_file_from_being_written(tmp_path: Path) -> None:
    store.write_file(tmp_path / "notes.txt", "a\ud800b")
    assert (tmp_path / "notes.txt").read_bytes() == b"a?b"


def test_a_link_to_a_device_keeps_its_place(tmp_path: Path) -> None:
    link = tmp_path / "page.html"
    link.symlink_to("/dev/null")
    with pytest.raises(store.NotWrittenError, match="something else than a file"):
        store.write_file(link, "text")
    assert link.is_symlink()


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine", encoding="utf-8")
    for name in ("page.html", "page.html.new"):
        (tmp_path / name).symlink_to(victim)
    store.write_file(tmp_path / "page.html", "page")
    assert victim.read_text(encoding="utf-8") == "mine"
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == "page"
    assert not (tmp_path / "page.html").is_symlink()


def test_a_file_takes_the_place_of_no_pipe_and_no_folder(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(store.NotWrittenError, match=f"{name} was not written: something else"):
            store.write_file(tmp_path / name, "text")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["folder", "pipe"]


def test_sensors_may_be_below_0(folder: Path) -> None:
    made.add(folder, names.SENSORS, [{"at_s": 1.0, "values": {"coldest_c": -12.5}}])
    assert store.read(folder).sensors[0].values == {"coldest_c": -12.5}


def test_what_failed_or_may_pass_is_missing_and_the_last_word_counts(folder: Path) -> None:
    failed = [made.told(arm, skipped="failed: KeyError", may_pass=True) for arm in (0, 1)]
    made.add(folder, names.VERIFY, failed)
    run = store.read(folder)
    assert run.missing("by-size", 0) == 3
    assert run.verified[0].skipped == "failed: KeyError"
    made.add(folder, names.VERIFY, [made.told(arm, restart=1, skipped="gone") for arm in (0, 1)])
    assert store.read(folder).missing("by-size", 0) == 0
