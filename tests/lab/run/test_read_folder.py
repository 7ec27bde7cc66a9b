"""The run folder: read with care, whatever stands in it."""

import itertools
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest
from tests.lab.run import made_up as made

from sealift_lab.measure.write_folder import FolderError, mend, write_ending
from sealift_lab.model import run as names
from sealift_lab.model.run import Ending, Fact
from sealift_lab.run.read_folder import Run, name_instead
from sealift_lab.run.schedule import read_state

KEPT = sorted(Path(__file__).parents[3].glob("results/*/*/lab*"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return made.folder(tmp_path / "run")


def test_plan_and_machine_come_back_as_they_were_written(folder: Path) -> None:
    run = Run(folder)
    assert _json(run.plan) == _json(made.plan())
    assert _json(run.machine) == _json(made.MACHINE)
    assert run.machine.facts["cores_quota"] == Fact(None, "no quota")
    assert (run.ending, list(run.notes), run.samples.height) == (None, [], 0)


def test_samples_come_back_and_say_how_far_each_group_has_come(folder: Path) -> None:
    made.add(folder, names.SAMPLES, made.block(0, 0))
    made.add(folder, names.SAMPLES, made.block(1, 0))
    made.add(folder, names.SAMPLES, made.block(0, 1, arms=[1, 0], restart=2))
    run, state = Run(folder), read_state(Run(folder))
    assert run.samples["ns"].to_list()[:3] == [1_000_000, 1_001_000, 1_000_000]
    assert run.samples["clock_ghz"].dtype == pl.Float64
    first, second = state.groups["by-size"]
    assert (first.blocks, first.processes, first.lacking, first.reference) == (2, 2, 1, 0)
    assert (second.blocks, second.lacking) == (1, 2)
    assert state.processes["by-size"] == 3
    assert not state.is_whole


def test_a_skipped_first_arm_gives_its_part_to_the_next_one(folder: Path) -> None:
    made.add(folder, names.REPORTS, [made.report(0, skipped="not here")])
    made.add(folder, names.SAMPLES, made.block(0, 0, arms=[1]))
    group = read_state(Run(folder)).groups["by-size"][0]
    assert (group.reference, list(group.places)) == (1, [1])


def test_a_group_is_over_when_its_reference_is_wrong_or_no_arm_is_there(folder: Path) -> None:
    made.add(folder, names.SAMPLES, made.block(0, 0))
    absent = made.report(0, group=1, skipped="absent")
    wrong = made.report(0, wrong="a tag was wrong"), made.report(1, group=1, wrong="and a text")
    made.add(folder, names.REPORTS, [*wrong, absent])
    state = read_state(Run(folder))
    assert state.is_whole
    assert state.is_wrong


def test_what_may_pass_lacks_blocks_and_the_last_report_counts(folder: Path) -> None:
    passing = [made.report(arm, skipped="no memory", may_pass=True) for arm in (0, 1)]
    made.add(folder, names.REPORTS, passing)
    assert read_state(Run(folder)).groups["by-size"][0].lacking == 3
    made.add(folder, names.REPORTS, [made.report(arm, restart=1, skipped="gone") for arm in (0, 1)])
    assert read_state(Run(folder)).groups["by-size"][0].lacking == 0


def test_every_cut_of_the_samples_reads_and_mends(folder: Path) -> None:
    made.fill(folder)
    path = folder / names.SAMPLES
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    ends = [len(b"".join(lines[:index])) for index in range(0, len(lines) + 1, 3)]
    for cut in range(0, len(whole) + 1, 61):
        path.write_bytes(whole[:cut])
        run = Run(folder)
        kept = max(end for end in ends if end <= cut)
        assert bool(run.notes) == (kept != cut), cut
        mend(folder)
        assert path.read_bytes() == whole[:kept]
        assert Run(folder).samples.equals(run.samples)
        assert not Run(folder).notes


def test_torn_last_lines_of_other_files_are_left_out_with_a_note(folder: Path) -> None:
    made.add(folder, names.SENSORS, [{"at_s": 1.0, "values": {"coldest_c": -12.5}}])
    made.add(folder, names.NOTES, [{"note": "something"}])
    made.add(folder, names.REPORTS, [made.report(0)])
    for name in (names.SENSORS, names.NOTES, names.REPORTS):
        with (folder / name).open("ab") as file:
            file.write(b'{"at_s": 2.0, "val')
    run = Run(folder)
    assert [reading.values for reading in run.readings] == [{"coldest_c": -12.5}]
    assert run.notes[0] == "something"
    assert len(run.notes) == 4
    mend(folder)
    assert Run(folder).notes == ["something"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"experiment": "other"}, "'other', group 0 is not in the plan"),
        ({"group": 2}, "'by-size', group 2 is not in the plan"),
        ({"arm": 2}, "arm is 2; right would be a number under 2"),
        ({"arm": -1}, "arm: Expected `int` >= 0"),
        ({"arm": True}, "arm: Expected `int`, got `bool`"),
        ({"again": 1}, "again: Expected `bool`"),
        ({"block": 1}, "block 1 where block 0 of its group comes next"),
        ({"ns": 0}, "ns: Expected `int` >= 1"),
        ({"ns": "12"}, "ns: Expected `int`, got `str`"),
        ({"operations": 0}, "operations: Expected `int` >= 1"),
        ({"cpu_share": 1.5}, "cpu_share: Expected `float` <= 1"),
        ({"bytes": 10**30}, "bytes: "),
        ({"clock_ghz": 0}, "clock_ghz: Expected `float` > 0"),
        ({"again": True}, "arm 0 is sampled again, and its first sample is missing"),
    ],
)
def test_a_line_that_does_not_fit_is_named(folder: Path, change: dict[str, Any], text: str) -> None:
    made.add(folder, names.SAMPLES, made.block(1, 0))
    made.add(folder, names.SAMPLES, [made.line(0) | change])
    with pytest.raises(FolderError) as caught:
        _ = Run(folder).samples
    assert f"{names.SAMPLES}, line 4: " in str(caught.value)
    assert text in str(caught.value)
    assert "cut the file before this line" in str(caught.value)


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ([made.line(0), *made.block(1, 0)], "line 2: the block before it has no second sample"),
        ([made.line(0), made.line(0)], "line 2: arm 0 stands twice"),
        (
            [*made.block(0, 0, restart=1), *made.block(0, 1, restart=0)],
            "line 4: restart 0 after the later one 1",
        ),
        ([*made.block(0, 0), *made.block(0, 1, arms=[1])], "line 5: its block lacks arm 0"),
    ],
)
def test_a_block_that_does_not_fit_is_damage(
    folder: Path, lines: list[dict[str, Any]], text: str
) -> None:
    made.add(folder, names.SAMPLES, lines)
    with pytest.raises(FolderError, match=text):
        _ = Run(folder).samples


def _set(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda plan: plan.update(fields)


def _set_first(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda plan: plan["experiments"][0].update(fields)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda plan: plan.pop("schema"), "no plan of Sealift: its schema is None"),
        (_set(schema="other/1"), "no plan of Sealift: its schema is 'other/1'"),
        (_set(schema="sealift-run/3"), "written as sealift-run/3, .* or a newer one"),
        (_set(seed="1"), "seed: Expected `int`, got `str`"),
        (_set(budget_s=-1), "budget_s is -1.0; right would be 0 or more"),
        (_set(processes=0), "processes is 0; right would be 1 or more"),
        (_set(threads=[0]), "threads is 0; right would be 1 or more"),
        (_set(command="sealift"), "command: Expected `array`"),
        (_set(experiments=[1]), r"experiments\[0\]: Expected `object`"),
        (_set_first(groups=[[]]), r"experiments\[0\]: a group is empty"),
        (_set_first(groups=[[{"device": [1]}]]), r"groups\[0\]\[0\]\[...\]: Expected"),
        (_set_first(groups=[[{"size_bytes": 1}]]), "has other columns than the axes"),
        (_set_first(blocks=0), "blocks is 0; right would be 1 or more"),
        (_set_first(name="a/../b"), "experiment 'a/../b'; right would be words-with-hyphens"),
        (_set_first(compare="who"), "compare='who'; axes are size_bytes, device"),
        (_set_first(axes=[{"name": "ns", "title": ""}]), "'ns' is a column of results"),
        (_set_first(weight=0), "weight=0.0; right would be above 0"),
        (_set_first(legend={"some": 1}), "legend.*Expected `str`, got `int`"),
    ],
)
def test_a_plan_that_is_none_says_why(
    folder: Path, change: Callable[[dict[str, Any]], None], text: str
) -> None:
    plan = json.loads((folder / names.PLAN).read_text(encoding="utf-8"))
    change(plan)
    (folder / names.PLAN).write_text(json.dumps(plan), encoding="utf-8")
    with pytest.raises(FolderError, match=text) as caught:
        _ = Run(folder).plan
    assert names.PLAN in str(caught.value)


def test_endings_come_back_and_unknown_ones_are_named(folder: Path) -> None:
    write_ending(folder, Ending("time was up", "60 s were too short"))
    assert Run(folder).ending == Ending("time was up", "60 s were too short")
    text = '{"ending": "bored", "reason": ""}'
    (folder / names.ENDING).write_text(text, encoding="utf-8")
    with pytest.raises(FolderError, match="ending is 'bored'; right would be one of complete"):
        _ = Run(folder).ending


def test_what_is_no_run_folder_says_what_it_is_and_which_is_near(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "README.md").touch()
    (tmp_path / "empty").mkdir()
    for path in ("runs/tuesday", "runs/wednesday", "kept/lab"):
        made.folder(Path(path))
    for given, kind, nearest in (
        ("runs/tuesday/samples.jsonl", "is not there", "runs/tuesday"),
        ("runs", "has no plan.json", "runs/wednesday"),
        ("kept", "has no plan.json", "kept/lab"),
        ("runs/tusday", "is not there", "runs/tuesday"),
        ("README.md", "is no folder", "runs/wednesday"),
        ("empty", "is empty", "runs/wednesday"),
        ("nowhere/at/all", "is not there", "runs/wednesday"),
    ):
        hint = f"name the folder of a run, the nearest is {nearest}"
        assert name_instead(Path(given)) == hint, given
        with pytest.raises(FolderError, match=f"{re.escape(kind)}.*{re.escape(hint)}$"):
            _ = Run(Path(given)).plan


@pytest.mark.parametrize("path", KEPT, ids=lambda path: "-".join(path.parts[-3:]))
def test_kept_runs_of_either_schema_are_read(path: Path) -> None:
    run = Run(path)
    state = read_state(run)
    plain = json.loads((path / names.PLAN).read_text(encoding="utf-8"))
    assert [each.name for each in run.plan.experiments] == [e["name"] for e in plain["experiments"]]
    assert run.plan.processes == plain.get("processes", plain.get("restarts"))
    ends = (path / names.SAMPLES).read_bytes().count(b'"again":true')
    assert int(run.samples["again"].sum()) == ends
    assert run.ending is not None
    assert state.is_whole == (run.ending.ending == "complete")
    assert len(run.reports) > 0
    assert run.machine.facts["cpu_model"].value


VALUES: tuple[Any, ...] = (
    None, True, -1, 1.5, 10**400, "", "\ud800", [], {}, [{}], "a/../b", 2**63,
)  # fmt: skip
READERS: dict[str, Callable[[Run], object]] = {
    names.PLAN: lambda run: run.plan,
    names.MACHINE: lambda run: run.machine,
    names.SAMPLES: read_state,
    names.REPORTS: lambda run: run.reports,
    names.SENSORS: lambda run: run.readings,
    names.ENDING: lambda run: run.ending,
}


@pytest.mark.parametrize("name", [*READERS, "restarts"])
def test_a_folder_with_anything_in_it_is_read_or_refused_in_a_sentence(
    tmp_path: Path, name: str
) -> None:
    folder = made.folder(tmp_path / "run")
    made.fill(folder)
    made.add(folder, names.REPORTS, [made.report(0, facts={"opened": 3, "checked_against": "x"})])
    made.add(folder, names.SENSORS, [{"at_s": 1.0, "values": {"load_1min": 0.5}}])
    write_ending(folder, Ending("complete"))
    is_first, name = name == "restarts", names.PLAN if name == "restarts" else name
    text = (folder / name).read_text(encoding="utf-8")
    first, rest = (text, "") if name.endswith(".json") else text.split("\n", 1)
    plain = json.loads(first)
    if is_first:
        plain["schema"], plain["restarts"] = "sealift-run/1", plain.pop("processes")
    refused = []
    for place, value in itertools.product(filter(None, _places(plain)), VALUES):
        changed = json.loads(json.dumps(plain))
        _put(changed, place, value)
        (folder / name).write_text(f"{json.dumps(changed)}\n{rest}", encoding="utf-8")
        try:
            READERS[name](Run(folder))
        except FolderError as error:
            refused.append(str(error))
    assert refused
    assert all(text.startswith(str(folder / name)) for text in refused)


def _json(value: object) -> bytes:
    return msgspec.json.encode(value)


def _places(plain: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield place
    if isinstance(plain, dict):
        for name, value in plain.items():
            yield from _places(value, (*place, name))
    elif isinstance(plain, list):
        for index, value in enumerate(plain[:1]):
            yield from _places(value, (*place, index))


def _put(plain: Any, place: Sequence[Any], value: Any) -> None:
    for each in place[:-1]:
        plain = plain[each]
    plain[place[-1]] = value
