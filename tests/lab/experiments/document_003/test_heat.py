"""A minute of full load, on a made-up clock; and real loops for a moment."""

import multiprocessing
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.lab.experiments.document_003.made_results import compare
from tests.lab.measure.running import wait_until

from sealift_lab.experiments.document_003 import heat
from sealift_lab.experiments.document_003.heat import EXPERIMENT, BusyLoops, Course
from sealift_lab.machine.sensors import Cores, Sensors
from sealift_lab.model.experiment import Scope
from sealift_lab.model.published import Missing
from sealift_lab.model.results import ArmReport, Relation, Results

STAT = "cpu0 100 0 0 100 0 0 0 0\n"


class MadeUp:
    """A load on its own clock, which becomes slower after ten seconds."""

    now_s = 0.0

    def work(self, seconds: float) -> tuple[float, float | None]:
        self.now_s += seconds
        return (1_000.0, 3.0) if self.now_s <= 10 else (800.0, 2.4)

    def close(self) -> None: ...


@pytest.fixture
def course(tmp_path: Path) -> Course:
    for name, text in (
        ("proc/stat", STAT),
        ("proc/loadavg", "0.5 0 0 1/2 3\n"),
        ("sys/class/hwmon/hwmon0/name", "coretemp\n"),
        ("sys/class/hwmon/hwmon0/temp1_input", "51500\n"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="ascii")
    load = MadeUp()
    sensors = Sensors(tmp_path, gpus=list)
    return Course(load, (), sensors, Cores(tmp_path), lambda _: None, lambda: load.now_s)


def test_readings_come_in_order_and_each_is_of_the_time_since_the_one_before(
    course: Course,
) -> None:
    rest = course.facts_at(0)
    assert heat.RATE not in rest
    assert rest[heat.TEMPERATURE] == 51.5
    assert "as on most virtual machines" in str(rest[f"{heat.POWER}, why none"])
    assert "has a fan" in str(rest[f"{heat.FAN}, why none"])
    first = course.facts_at(1)
    assert (first[heat.RATE], first[heat.RELATIVE], first[heat.CLOCK]) == (1_000, 100, 3.0)
    # What a resume asks for is measured behind all that comes before it.
    later = course.facts_at(15)
    assert (later[heat.RATE], later[heat.RELATIVE]) == (800, 80)
    assert later[heat.CLOCK] == pytest.approx(2.4)
    assert later[heat.TEMPERATURE] == 51.5
    assert later[heat.STEAL] == 0
    assert heat.POWER not in later


def test_works_follow_each_other_and_none_is_part_of_a_quick_run() -> None:
    scope = Scope(quick=False, cores=2, devices=("library", "cpu", "cuda"))
    works = [[cell["work"] for cell in group] for group in EXPERIMENT.groups(scope)]
    assert [set(each) for each in works] == [
        {"busy loops"}, {"sealing on cpu"}, {"sealing on cuda"}
    ]  # fmt: skip
    assert [cell["loaded_s"] for cell in EXPERIMENT.groups(scope)[0]] == [*heat.MOMENTS_S]
    assert not EXPERIMENT.groups(Scope(quick=True, cores=2, devices=("cpu",)))
    assert not EXPERIMENT.is_timed


def reports(*, has_heat: bool) -> Sequence[ArmReport]:
    facts = {heat.CLOCK: 3.0, heat.LOAD: 99.0}
    before = {f"{heat.FAN}, why none": "no fan"}
    if has_heat:
        facts[heat.TEMPERATURE] = before[heat.TEMPERATURE] = 60.0
    return [
        ArmReport(EXPERIMENT.name, {"work": heat.BUSY, "threads": 2, "loaded_s": second}, of)
        for second, of in ((0, before), (10, facts))
    ]


def test_printed_figures_are_beside_those_here_or_say_which_sensor_is_missing() -> None:
    results = Results((), reports(has_heat=True))
    figures = EXPERIMENT.published(results)
    assert len(figures) == 32
    by_name = {each.what: each for each in figures}
    memory = by_name["G-RAM Frequency, GPU busy, ten seconds after"]
    assert (memory.value, memory.unit) == (8_000, "MHz")
    assert isinstance(memory.here, Missing)
    assert by_name["GPU Load, GPU busy, ten seconds after"].value == 100
    claims = {each.what: claim for each, claim in compare(EXPERIMENT, results)}
    warm = claims["CPU Temperature, CPU busy, ten seconds after"]
    assert (warm.relation, warm.figure and warm.figure.value) == (Relation.SLOWER, 60)
    fan = claims["CPU FAN Speed, CPU busy, ten seconds after"]
    assert (fan.relation, fan.reason) == (Relation.UNTESTED, "no fan")
    assert claims["CPU Load, CPU busy, ten seconds after"].relation is Relation.SAME
    assert all(claim.reason for claim in claims.values() if claim.relation is Relation.UNTESTED)


def test_loops_run_in_processes_and_end_with_their_pipes() -> None:
    loops = BusyLoops(1)
    rate, clock_ghz = loops.work(0.02)
    assert rate > 1_000
    assert clock_ghz is None or 0.3 < clock_ghz < 10
    assert multiprocessing.active_children()
    loops.close()
    wait_until(lambda: not multiprocessing.active_children())
