"""The answer: one recommendation with one number, short, and never more than was shown."""

from dataclasses import replace

import pytest

from made_rows import another, found, pair
from sealift.lab.answer import Answer, answer
from sealift.lab.crowding import Load
from sealift.lab.devices import Found as Device
from sealift.lab.result import Row
from sealift.lab.stats import Interval, Verdict
from sealift.lab.store import Surroundings
from synthetic_run import SURROUNDINGS


def device(spec: str, reason: str | None = None, role: str = "real") -> Device:
    state = "absent" if reason else "present"
    return Device(spec, spec.partition(":")[0], state, role, None, None, reason, spec)


def here(*devices: Device) -> Surroundings:
    return replace(SURROUNDINGS, devices=(device("cpu"), device("library"), *devices))


def asked(rows: list[Row], *devices: Device) -> Answer:
    return answer(found(rows), here(*devices))


def test_a_winner_is_recommended_with_its_ratio_to_the_next() -> None:
    said = asked(pair(2.0, Verdict.FASTER), device("cuda", "libcuda.so.1 is missing"))
    assert said.headline == "On your CPU, with Sealift's kernels"
    assert said.figure == "2.00× AWS-LC [1.96–2.04]"
    assert said.basis.startswith("128-byte messages")
    assert [(bar.device, bar.note) for bar in said.bars] == [
        ("cpu", ""),
        ("library", ""),
        ("gpu", "none in this machine"),
    ]


def test_the_reference_is_recommended_where_it_wins() -> None:
    said = asked(pair(0.5, Verdict.SLOWER))
    assert "AWS-LC" in said.headline
    assert said.bars[0].device == "library"


def test_a_gpu_is_recommended_where_it_wins() -> None:
    library, cpu = pair(2.0, Verdict.FASTER)
    gpu = another(
        cpu,
        "cuda:0",
        ratio=Interval(4.0, 3.9, 4.1, 0.95, 30),
        ns_per_operation=Interval(25.0, 24.0, 26.0, 0.95, 30),
    )
    said = asked([library, replace(cpu, winner=False), gpu], device("cuda:0"))
    assert "GPU" in said.headline
    assert said.bars[0].device == "cuda:0"
    assert not any(bar.note == "none in this machine" for bar in said.bars)


def test_a_tie_is_called_one() -> None:
    said = asked(pair(1.0, Verdict.SAME))
    assert "differ by less than" in said.headline


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"machine_busy": True}, "machine busy"),
        ({"noise_floor": 0.2}, "noise floor over 10 %"),
        ({}, "99 % interval crosses the noise"),
    ],
)
def test_what_is_not_settled_is_called_so_with_the_reason(
    changes: dict[str, float | bool], why: str
) -> None:
    rows = [replace(row, **changes) for row in pair(1.5, Verdict.UNSURE)]  # type: ignore[arg-type]
    said = asked(rows)
    assert said.headline.startswith("Not settled: ")
    assert why in said.headline


def test_a_device_alone_is_no_winner() -> None:
    library, _ = pair(1.0, Verdict.SAME)
    said = asked([library])
    assert "the only device measured" in said.headline
    assert "messages/s" in said.figure


def test_where_nothing_was_measured_there_is_no_answer() -> None:
    assert asked([]).headline.startswith("No answer")


def test_an_open_first_piece_of_work_gives_way_to_a_settled_one_and_is_counted() -> None:
    rows = [
        replace(row, cell={**row.cell, "load": load})
        for load, some in (
            (Load.ALL, pair(1.5, Verdict.UNSURE, threads=2)),
            (Load.BELOW, pair(2.0, Verdict.FASTER)),
        )
        for row in some
    ]
    said = asked(rows)
    assert said.headline == "On your CPU, with Sealift's kernels"
    assert "Not settled: 1 of 1 other workloads." in said.care


def test_a_busy_machine_is_a_reason_for_care() -> None:
    assert (
        "The machine was busy: measure again."
        in asked(pair(2.0, Verdict.FASTER, machine_busy=True)).care
    )
    assert asked(pair(2.0, Verdict.FASTER)).care == ()


def test_it_is_under_80_words_and_at_most_15_lines_of_80_columns_whatever_is_to_be_told() -> None:
    sizes = (16, 64, 256, 1_024, 8_192, 16_384)
    rows = pair(2.5, Verdict.FASTER, machine_busy=True, steady=False, clean_share=0.7)
    for size in sizes:
        rows += pair(1.5, Verdict.UNSURE, size_bytes=size, noise_floor=0.2, steady=False)
    said = answer(
        found(rows),
        here(device("cuda", "libcuda.so.1 is missing"), device("opencl", "no loader")),
        lacking="Interrupted after about 20 of 60 s, with 30 of 200 blocks: a first guess.",
    )
    text = said.text(("Page", "runs/x/report.html"), ("Your load", "sealift advise --size 128"))
    assert len(text.split()) < 80
    assert len(text.splitlines()) <= 15
    assert max(map(len, text.splitlines())) <= 80
    assert "Interrupted after" in text
