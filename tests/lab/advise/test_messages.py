"""Which cells are measured of messages of one's own, and how they are found in a run again."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.lab.advise.made_load import BATCHES, SCOPE, messages, run_of

from sealift_lab.advise.messages import batches, find_messages, quick_works, sizes_around
from sealift_lab.claim.words import conditions
from sealift_lab.cli.parse import sizes as parse_sizes
from sealift_lab.measure.plan import planned
from sealift_lab.model.workload import Lengths


@pytest.mark.parametrize(
    ("size", "wanted", "counts"),
    [
        (128, None, [1, 4, 16, 64, 256, 1_024]),
        (1 << 20, None, [1, 4, 16]),
        (16 << 20, None, [1, 4]),
        (128, 100, [1, 4, 16, 64, 100]),
        (128, 1, [1, 4]),
        (128, 4, [1, 4]),
    ],
)
def test_messages_are_measured_one_by_one_and_in_batches_up_to_a_full_one(
    size: int, wanted: int | None, counts: list[int]
) -> None:
    assert batches(size, wanted) == counts


@pytest.mark.parametrize(
    ("size", "around"),
    [
        (1, [16]),
        (16, [256]),
        (128, [16, 2_048]),
        (1_500, [188, 24_000]),
        (65_536, [8_192]),
        (16 << 20, [65_536]),
    ],
)
def test_other_sizes_lie_around_it_and_are_never_it(size: int, around: list[int]) -> None:
    assert sizes_around(size) == around


def test_own_messages_come_first_on_every_device_and_other_sizes_alone_and_in_full_batches() -> (
    None
):
    experiment = messages({40: 3, 1_500: 1}, threads=2)
    groups = experiment.groups(SCOPE)
    assert list(experiment.legend.values()) == ["40x3 1500x1"]
    assert {tuple(cell["device"] for cell in group) for group in groups} == {("library", "cpu")}
    cells = [(group[0]["workload"], group[0]["size_bytes"], group[0]["batch"]) for group in groups]
    name = Lengths.from_counts({40: 3, 1_500: 1}).name
    assert cells[:6] == [(f"AES-128 of {name}", 405, count) for count in BATCHES]
    full = {51: 1_024, 6_480: 1_024}
    assert cells[6:] == [
        ("AES-128", size, count) for size, most in full.items() for count in (1, most)
    ]
    assert {(cell["keys"], cell["threads"]) for group in groups for cell in group} == {
        ("sessions:5000", 2)
    }
    shown = conditions(experiment.preferred, planned(experiment, groups, 1))
    assert shown == "mean of 2 lengths, 405 B messages, 5,000 keys, sealed, 2 threads, batch 1,024"


def test_a_run_is_on_messages_of_ones_own_where_its_plan_begins_with_batches_of_them(
    tmp_path: Path,
) -> None:
    plan = run_of(tmp_path / "run", messages(batch=1)).plan
    found = find_messages(plan)
    assert found
    assert found[1] == {
        "workload": "AES-128",
        "size_bytes": 128,
        "keys": "sessions:5000",
        "mix": "100/0/0",
        "threads": 1,
    }
    (one,) = plan.experiments
    alone = replace(one, groups=one.groups[:1])
    foreign = replace(one, file="/tmp/mine.py")
    text = replace(one, groups=[[{**cell, "batch": "one"} for cell in one.groups[0]]])
    for other in (alone, foreign, text, replace(one, axes=one.axes[1:]), replace(one, name="x")):
        assert find_messages(replace(plan, experiments=[other])) is None


def test_sizes_are_numbers_each_once() -> None:
    assert parse_sizes("16, 4KiB,16,1k") == (16, 4_096, 1_000)


@pytest.mark.parametrize("text", ["", "16,x", "0", "16:64"])
def test_sizes_that_are_none_are_named_with_what_would_be_right(text: str) -> None:
    with pytest.raises(ValueError, match="is no size in bytes; write a whole number from 1 to"):
        parse_sizes(text)


def test_quick_works_are_published_messages_and_every_size() -> None:
    works = quick_works()
    assert len({(work.workload, work.size_bytes, work.keys) for work in works}) == 3 + 1 + 7
