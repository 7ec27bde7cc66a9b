"""Experiments that are computed: never sampled, never mixed with what was measured."""

import io
import json
import re
from collections.abc import Mapping
from pathlib import Path

import polars
import pytest

from lab.running import asked
from sealift.cli import times
from sealift.cli.ended import summary
from sealift.lab import recall, registry, report, runner, store
from sealift.lab.beside import published_record, published_text
from sealift.lab.digest import digest
from sealift.lab.export import as_bytes, sample_records, summary_records
from sealift.lab.published import Comparison, Kind, Match, Place, counted, point_kind
from sealift.lab.report import bottom
from sealift.lab.report.cells import fact_names, fact_text
from sealift.lab.report.material import gather
from sealift.lab.result import Origin, Verified
from sealift.lab.runner.planning import BLOCKS
from sealift.lab.spec import Axis, Brief, Computed, Experiment
from sealift.lab.stats import Interval
from sealift.lab.store import How, StoreError
from sealift.lab.summary import summarise
from sealift.lab.survey import this_scope
from sealift.lab.table import computed_text
from sealift.lab.values import Value

TEXT = """
from sealift.lab import Axis, Computed, Experiment, Origin, Skip

def arm(cell, context):
    if cell["how"] == "never":
        raise Skip("no model has it")
    return Computed({"sum, units": 1.5 * cell["n"], "of": cell["how"]})

EXPERIMENT = Experiment(
    name="sums",
    title="Sums",
    axes=(Axis("n", "n", (1, 2)), Axis("how", "how", ("slowly", "never"))),
    compare="how",
    arm=arm,
    origin=Origin.SIMULATED,
)
"""


@pytest.fixture(scope="module", name="sums")
def fixture_sums(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "sums.py"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture(scope="module", name="done")
def fixture_done(sums: Path, tmp_path_factory: pytest.TempPathFactory) -> runner.Done:
    return runner.run(asked(sums, out=tmp_path_factory.mktemp("runs") / "run", restarts=5))


def test_what_is_computed_ends_complete_with_facts_and_without_rows(done: runner.Done) -> None:
    run = store.read(done.path)
    assert (done.code, done.ending.how) == (0, How.COMPLETE)
    assert run.is_whole
    assert run.has_results
    assert not run.measured
    assert run.restarts == {"sums": 1}
    found = summarise(run)["sums"]
    assert not found.rows
    sums = [each.facts.get("sum, units", each.skipped) for each in found.verified]
    assert sums == [1.5, "no model has it", 3.0, "no model has it"]
    (line,) = digest(run, {"sums": found})
    assert line.said == "simulated, not measured"


def test_its_page_shows_what_was_computed_and_that_nothing_was_measured(done: runner.Done) -> None:
    page = report.page(store.read(done.path))
    assert "Nothing in this table was measured" in page
    assert '<span class="origin simulated">simulated</span>' in page
    assert "sum, units" in page
    assert "was not measured:" not in page
    assert "not sampled at all" not in page
    card = page.partition('id="answer"')[2].partition("</section>")[0]
    assert ">2 cells simulated</span>" in card
    assert ">nothing was measured</span>" in card
    assert "noise" not in card
    method = page.partition('id="method"')[2].partition("</section>")[0]
    assert "What is computed is not timed" in method
    assert "noise floor" not in method
    for place in ("absent", "sensors"):
        assert f'id="{place}"' not in page
        assert f'"#{place}"' not in page


def test_a_terminal_shows_what_was_computed(done: runner.Done) -> None:
    lines = summary(done, as_json=False).splitlines()
    at = lines.index("sums, simulated; report.html has every column:")
    assert [line.split() for line in lines[at + 1 : at + 5]] == [
        ["how", "slowly"],
        ["n", "sum,", "units", "of"],
        ["1", "1.500", "slowly"],
        ["2", "3.000", "slowly"],
    ]
    with pytest.raises(ValueError, match="no cells to show"):
        computed_text([], ["n"], Brief({"of": "of"}, where={"n": 3}))


def test_a_run_that_ended_before_the_cells_that_matter_first_shows_no_table_of_them(
    done: runner.Done, monkeypatch: pytest.MonkeyPatch
) -> None:
    briefs = [Brief({"of": "of"}, where={"n": each}) for each in (2, 3)]
    monkeypatch.setattr(recall, "brief", lambda _: briefs.pop(0))
    heading = "sums, simulated; report.html has every column:"
    assert heading in summary(done, as_json=False).splitlines()
    ended = summary(done, as_json=False)
    assert heading not in ended
    assert "sums: simulated, not measured" in ended
    assert ended.splitlines()[-1].startswith(str(done.path))


def test_how_long_it_takes_stands_in_the_plan_and_is_what_a_run_forecasts(
    done: runner.Done, tmp_path: Path
) -> None:
    assert store.read_plan(done.path).experiments[0].takes_s is None
    text = TEXT.replace("origin=", "takes_s=0.25,\n    origin=")
    path = tmp_path / "sums.py"
    path.write_text(text, encoding="utf-8")
    plan = runner.make_plan(asked(path, restarts=5))
    assert plan.experiments[0].takes_s == 0.25
    assert times.needed_s(registry.load(path), this_scope(quick=False)) == 0.25
    for wrong, said in (("0", "seconds above 0"), ("1, origin=Origin.MEASURED", "leave it out")):
        path.write_text(TEXT.replace("origin=Origin.SIMULATED", f"takes_s={wrong}"))
        with pytest.raises(ValueError, match=said):
            registry.load(path)


def test_its_cells_stand_in_the_summary_and_in_what_is_exported(done: runner.Done) -> None:
    run = store.read(done.path)
    records = summary_records(run, summarise(run))
    assert [(each["n"], each["sum, units"], each["origin"]) for each in records] == [
        (1, 1.5, "simulated"),
        (2, 3.0, "simulated"),
    ]
    written = (done.path / "summary.csv").read_text(encoding="utf-8")
    assert written == as_bytes(records, "csv").decode() == bottom.csv_text(gather(run))
    table = polars.read_parquet(io.BytesIO(as_bytes(records, "parquet")))
    assert table["sum, units"].to_list() == [1.5, 3.0]
    with pytest.raises(
        ValueError, match=r"all its experiments are computed; right would be --what"
    ):
        list(sample_records(run))


def test_a_resume_computes_nothing_again(done: runner.Done) -> None:
    assert runner.resume(done.path).code == 0
    assert store.read(done.path).restarts == {"sums": 1}


def test_its_plan_says_where_its_numbers_come_from_and_older_ones_measured(
    done: runner.Done, tmp_path: Path
) -> None:
    assert store.read_plan(done.path).experiments[0].origin is Origin.SIMULATED
    plain = json.loads((done.path / "plan.json").read_text(encoding="utf-8"))
    del plain["experiments"][0]["origin"]
    (tmp_path / "plan.json").write_text(json.dumps(plain), encoding="utf-8")
    assert store.read_plan(tmp_path).experiments[0].origin is Origin.MEASURED
    plain["experiments"][0]["origin"] = "guessed"
    (tmp_path / "plan.json").write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(StoreError, match="origin is 'guessed'; right would be one of measured"):
        store.read_plan(tmp_path)


def test_a_budget_that_is_too_short_ends_no_computing_of_which_the_time_is_known(
    tmp_path: Path,
) -> None:
    text = TEXT.replace("origin=", "takes_s=5.0,\n    origin=")
    path = tmp_path / "sums.py"
    path.write_text(text, encoding="utf-8")
    done = runner.run(asked(path, out=tmp_path / "run", budget_s=0.01))
    assert (done.code, done.ending.how) == (0, How.COMPLETE)
    assert len([each for each in store.read(done.path).verified if each.facts]) == 2


def test_it_takes_no_blocks_from_what_is_measured_however_little_time_there_is(
    sums: Path,
) -> None:
    plan = runner.make_plan(asked(sums, budget_s=0.01, restarts=5))
    assert plan.experiments[0].blocks == 1 < BLOCKS


@pytest.mark.parametrize(
    ("origin", "said"),
    [("MEASURED", "a Computed is no measurement"), ("SIMULATED", "is no Computed, and nothing")],
)
def test_what_is_computed_and_what_is_timed_are_never_taken_for_each_other(
    tmp_path: Path, origin: str, said: str
) -> None:
    text = TEXT.replace("Origin.SIMULATED", f"Origin.{origin}")
    if origin == "SIMULATED":
        text = text.replace("return Computed(", "return dict(")
    path = tmp_path / "sums.py"
    path.write_text(text, encoding="utf-8")
    done = runner.run(asked(path, out=tmp_path / "run", restarts=1))
    assert said in done.ending.reason


@pytest.mark.parametrize("origin", ["measured", "guessed", Origin.PUBLISHED])
def test_an_origin_is_one_of_those_there_are(origin: Origin) -> None:
    axis = Axis("how", "how", ("slowly",))
    with pytest.raises(ValueError, match=r"sums: its origin .*; right would be Origin.MEASURED"):
        Experiment(
            name="sums",
            title="Sums",
            axes=(axis,),
            compare="how",
            arm=lambda _, __: Computed({}),
            origin=origin,
        )


def test_what_is_computed_has_no_time_to_sample() -> None:
    with pytest.raises(TypeError, match="computed, not timed"):
        Computed({"sum": 1.0}).sample(0.1)


@pytest.mark.parametrize(
    ("kind", "here", "expected"),
    [
        (Kind.MODEL, 95.0, Match.REPRODUCED),
        (Kind.MODEL, 140.0, Match.IN_SHAPE),
        (Kind.MODEL, 70.0, Match.IN_SHAPE),
        (Kind.MODEL, 160.0, Match.CONTRADICTED),
        (Kind.MODEL, 60.0, Match.CONTRADICTED),
        (Kind.MODEL, None, Match.NOT_RUN),
        (Kind.NUMBER, 109.0, Match.REPRODUCED),
        (Kind.NUMBER, 111.0, Match.CONTRADICTED),
        (Kind.NUMBER, 89.0, Match.CONTRADICTED),
        (Kind.NUMBER, None, Match.NOT_RUN),
        (Kind.LIMIT, 109.0, Match.PROJECTED),
        (Kind.LIMIT, 111.0, Match.CONTRADICTED),
        (Kind.LIMIT, None, Match.NOT_RUN),
        (Kind.SHAPE, 1.3, Match.IN_SHAPE),
        (Kind.SHAPE, 1.001, Match.CONTRADICTED),
        (Kind.BEYOND, None, Match.BEYOND),
        (Kind.GIVEN, None, Match.GIVEN),
        (Kind.GIVEN, 200.0, Match.GIVEN),
    ],
)
def test_a_model_is_judged_by_how_near_it_comes(
    kind: Kind, here: float | None, expected: Match
) -> None:
    compared = Comparison(
        figure="002-T1",
        what="what",
        published=1.0 if kind is Kind.SHAPE else 100.0,
        unit="x",
        source="where",
        kind=kind,
        here=None if here is None else counted(here, of=30).interval,
        note="note",
        origin=Origin.SIMULATED,
    )
    assert (compared.match, compared.doubt) == (expected, "")


@pytest.mark.parametrize(
    ("kind", "published", "low", "high", "expected"),
    [
        (Kind.MODEL, 100.0, 105.0, 109.0, Match.REPRODUCED),
        (Kind.MODEL, 100.0, 105.0, 115.0, Match.UNSETTLED),
        (Kind.NUMBER, 100.0, 105.0, 109.0, Match.REPRODUCED),
        (Kind.NUMBER, 100.0, 105.0, 115.0, Match.UNSETTLED),
        (Kind.NUMBER, 100.0, 120.0, 140.0, Match.CONTRADICTED),
        (Kind.SHAPE, 1.05, 1.0025, 1.0041, Match.CONTRADICTED),
        (Kind.SHAPE, 1.0, 1.1, 1.3, Match.IN_SHAPE),
        (Kind.SHAPE, 1.0, 0.9, 1.3, Match.UNSETTLED),
    ],
)
def test_seeds_that_are_not_of_one_mind_settle_nothing(
    kind: Kind, published: float, low: float, high: float, expected: Match
) -> None:
    compared = Comparison(
        figure="002-T1",
        what="what",
        published=published,
        unit="x",
        source="where",
        kind=kind,
        here=Interval((low + high) / 2, low, high, 1.0, 3),
        note="note",
        origin=Origin.SIMULATED,
    )
    assert compared.match is expected
    assert bool(compared.doubt) == (expected is Match.UNSETTLED)


def test_a_point_has_a_shape_where_its_neighbours_stand_as_published() -> None:
    published: Mapping[Place, float] = {(1, 16): 5.0, (1, 64): 19.0, (1, 256): 18.0, (2, 16): 9.0}
    as_published: Mapping[Place, float] = {
        (1, 16): 4.0,
        (1, 64): 22.0,
        (1, 256): 20.0,
        (2, 16): 6.0,
    }
    for at in published:
        assert point_kind(at, published, as_published) is Kind.MODEL
    rises: Mapping[Place, float] = {**as_published, (1, 256): 25.0}
    kinds = {at: point_kind(at, published, rises) for at in published}
    assert {at for at, kind in kinds.items() if kind is Kind.NUMBER} == {(1, 64), (1, 256)}
    assert point_kind((1, 16), published, {(1, 16): 4.0}) is Kind.OPEN, "nothing stands beside it"


def test_a_point_has_no_known_shape_where_seeds_do_not_agree_how_its_neighbours_stand() -> None:
    published: Mapping[Place, float] = {(1,): 5.0, (2,): 6.0}

    def kind(low: float, high: float) -> Kind:
        here: Mapping[Place, float | Interval] = {
            (1.0,): Interval(5.0, 4.0, 5.5, 1.0, 3),
            (2.0,): Interval(6.0, low, high, 1.0, 3),
        }
        return point_kind((1,), published, here)

    assert kind(5.6, 6.4) is Kind.MODEL
    assert kind(5.4, 6.6) is Kind.OPEN
    assert kind(3.0, 3.9) is Kind.NUMBER
    level: Mapping[Place, float] = {(1,): 5.0, (2,): 5.0}
    assert point_kind((1,), level, {(1,): 5.0, (2,): 5.0}) is Kind.MODEL
    assert point_kind((1,), level, {(1,): 4.0, (2,): 6.0}) is Kind.NUMBER


@pytest.mark.parametrize(
    ("kind", "low", "high", "expected"),
    [
        (Kind.NUMBER, 50.0, 180.0, Match.UNSETTLED),
        (Kind.MODEL, 50.0, 180.0, Match.UNSETTLED),
        (Kind.NUMBER, 150.0, 180.0, Match.CONTRADICTED),
        (Kind.OPEN, 95.0, 105.0, Match.REPRODUCED),
        (Kind.OPEN, 120.0, 130.0, Match.UNSETTLED),
        (Kind.OPEN, 160.0, 180.0, Match.CONTRADICTED),
    ],
)
def test_what_lies_on_both_sides_of_what_was_published_settles_nothing(
    kind: Kind, low: float, high: float, expected: Match
) -> None:
    compared = beside(kind, Interval(high, low, high, 1.0, 3), 100.0, "Mbit/s")
    assert compared.match is expected
    assert bool(compared.doubt) == (expected is Match.UNSETTLED)


def beside(kind: Kind, here: Interval | None, published: float, unit: str = "x") -> Comparison:
    return Comparison(
        figure="002-X1",
        what="three over four",
        published=published,
        unit=unit,
        source="where",
        kind=kind,
        here=here,
        note="note",
        origin=Origin.SIMULATED,
    )


def test_ends_of_seeds_are_exported_as_what_they_are_and_as_no_interval() -> None:
    played = published_record(beside(Kind.SHAPE, Interval(1.003, 1.002, 1.004, 1.0, 3), 1.05))
    assert (played["here"], played["here_least"], played["here_most"]) == (1.003, 1.002, 1.004)
    assert (played["here_low95"], played["times_published_high95"]) == (None, None)
    assert played["times_published_most"] == pytest.approx(1.004 / 1.05, rel=1e-3)
    sampled = published_record(beside(Kind.VALUE, Interval(2.0, 1.9, 2.1, 0.95, 30), 1.0))
    assert (sampled["here"], sampled["here_low95"], sampled["here_high95"]) == (2.0, 1.9, 2.1)
    assert (sampled["here_least"], sampled["here_most"]) == (None, None)
    given = published_record(beside(Kind.GIVEN, None, 310, "Mbps"))
    assert list(given) == list(played) == list(sampled)
    assert (given["kind"], given["match"], given["here"]) == ("given", "given to the model", None)


def test_a_terminal_shows_what_is_claimed_and_by_what_models_are_judged() -> None:
    spread = Interval(1.003, 1.002, 1.004, 1.0, 3)
    three, above = beside(Kind.SHAPE, spread, 1.05), beside(Kind.SHAPE, spread, 1.0)
    shown = published_text([three, above, beside(Kind.GIVEN, None, 310, "Mbps")])
    assert "1.05, so above 1" in shown
    assert re.search(r"^002-X1 +above 1 +x +1\.003 \[1\.002\.\.1\.004\]", shown, re.MULTILINE)
    said = " ".join(shown.split())
    assert "more than 2 %, and contradicted elsewhere" in said
    assert "What was given to a model" in said
    assert "reproduced within 10 %" not in said, "no number was judged"
    assert "reproduced within 10 %" in published_text([beside(Kind.NUMBER, spread, 1.0)])
    narrow = published_text([three], width=60)
    assert max(map(len, narrow.splitlines())) <= 60


def test_a_page_shows_ends_beside_values_and_why_a_cell_has_none() -> None:
    facts: Mapping[str, Value] = {
        "a": 2.0,
        "a, least of 3 seeds": 1.5,
        "a, most of 3 seeds": 2.5,
        "b, why none": "few",
    }
    (cell,) = (Verified("sums", {"n": 1}, facts),)
    assert fact_names([cell]) == ["a", "b"]
    assert fact_text(facts, "a") == '2.000 <span class="interval">[1.500..2.500]</span>'
    assert fact_text(facts, "b") == '<span class="muted">few</span>'
    assert fact_text(facts, "c") == '<span class="muted"></span>'
    assert fact_text({"a": -2.0}, "a") == "-2.000"
    # What a folder holds may be anything.
    assert fact_text({**facts, "a, most of 3 seeds": "<b>"}, "a") == "2.000"
