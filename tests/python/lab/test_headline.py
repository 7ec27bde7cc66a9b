"""Which piece of work the answer is for, what it passes over, and among which devices it is."""

from dataclasses import replace

import pytest

from made_rows import another, found, pair
from sealift.lab import reasons
from sealift.lab.answer import answer
from sealift.lab.crowding import Load
from sealift.lab.devices import Found as Device
from sealift.lab.devices import look
from sealift.lab.result import Row
from sealift.lab.stats import Verdict

ON_TWO = "Not settled: 128-byte messages, sealed under one key, 2 threads"


@pytest.mark.parametrize(
    ("open_rows", "told"),
    [
        (
            pair(1.5, Verdict.UNSURE, threads=2, machine_busy=True),
            f"{ON_TWO} (machine busy): cpu 1.500 [1.470..1.530] times as fast as library "
            "(95 % interval).",
        ),
        (
            pair(1.5, Verdict.UNSURE, threads=2, noise_floor=0.2),
            f"{ON_TWO} (noise floor over 10 %): cpu 1.500 [1.470..1.530] times as fast as library "
            "(95 % interval).",
        ),
        (
            pair(1.0, Verdict.UNSURE, threads=2),
            f"{ON_TWO} (99 % interval crosses the noise): cpu 1.000 [0.9800..1.020] times as fast "
            "as library (95 % interval).",
        ),
        (
            [replace(row, blocks=7) for row in pair(1.0, Verdict.UNSURE, threads=2)],
            f"{ON_TWO} (fewer than 8 blocks): cpu 1.000 [0.9800..1.020] times as fast as library "
            "(95 % interval).",
        ),
        (
            pair(1.0, Verdict.SAME, threads=2)[:1],
            f"{ON_TWO} (nothing to compare with): library 10.00 million [9.804..10.10] messages/s "
            "(1,280 MB/s) (95 % interval).",
        ),
    ],
    ids=["busy", "noisy", "near", "short", "alone"],
)
def test_an_open_first_piece_of_work_gives_way_to_a_settled_one_and_is_told(
    open_rows: list[Row], told: str
) -> None:
    settled = pair(2.0, Verdict.FASTER)
    rows = [
        replace(row, cell={**row.cell, "load": load})
        for load, some in ((Load.ALL, open_rows), (Load.BELOW, settled))
        for row in some
    ]
    said = answer(found(rows))
    assert said.work == "For 128-byte messages, sealed under one key, one thread:"
    assert said.where == "Run it on cpu."
    assert said.passed_over == told
    assert f"- {told}" in said.text.splitlines()


def test_of_several_open_pieces_of_work_before_the_headlines_the_others_are_counted() -> None:
    rows = [
        *pair(1.0, Verdict.UNSURE, keys="sessions:1024"),
        *pair(1.0, Verdict.UNSURE, keys="one"),
        *pair(2.0, Verdict.FASTER, size_bytes=64),
        *pair(1.0, Verdict.UNSURE, size_bytes=16),
    ]
    said = answer(found(rows))
    assert said.work.startswith("For 64-byte messages")
    assert "under 1,024 sessions" in said.passed_over
    assert said.passed_over.endswith("; nor 1 more piece of work before this one.")


def test_where_nothing_is_settled_the_first_piece_of_work_is_told() -> None:
    rows = [*pair(1.0, Verdict.UNSURE, size_bytes=16), *pair(1.0, Verdict.UNSURE)]
    said = answer(found(rows))
    assert said.work.startswith("For 128-byte messages")
    assert said.where == "Not settled here between library and cpu: longer samples are needed."
    assert said.passed_over == ""


def test_two_that_beat_the_reference_are_open_because_nothing_else_judged_them() -> None:
    library, cpu = pair(2.0, Verdict.FASTER)
    rows = [replace(library, winner=False), cpu, another(cpu, "cuda")]
    said = answer(found([*rows, *pair(2.0, Verdict.FASTER, size_bytes=16)]))
    assert "(judged by library only): cpu 2.000 [1.960..2.040]" in said.passed_over
    assert said.passed_over.endswith("(95 % intervals).")


def device(spec: str, reason: str | None = None) -> Device:
    state = "absent" if reason else "present"
    return Device(spec, spec.partition(":")[0], state, "real", None, None, reason, spec)


# As in the folder of an older run, too, which calls them absent.
INCOMPLETE = (
    device("fault", "it wraps another device, write fault:fail=7(cpu)"),
    device("cards", "it needs a description of a card: write cards:quad-hifn-7751 or cards:FILE"),
)
GPUS = {"cuda", "opencl"}
ON_THE_CPU = (device("cpu"), device("cpu:isa=aesni"), device("library"))


@pytest.mark.parametrize(
    ("devices", "told"),
    [
        (
            ON_THE_CPU,
            "No real accelerator has a driver in this version, so the answer is among what runs on "
            "the CPU: cpu and library.",
        ),
        (
            (*ON_THE_CPU, device("cuda", "libcuda.so.1 is missing"), device("qat", "no card")),
            "No accelerator is present (cuda: libcuda.so.1 is missing; qat: no card), so the "
            "answer is among what runs on the CPU: cpu and library.",
        ),
        (
            (*ON_THE_CPU, device("cuda"), device("qat", "no card")),
            "No accelerator was measured, though cuda could be, so the answer is among what runs "
            "on the CPU: cpu and library.",
        ),
        (
            (*ON_THE_CPU, *INCOMPLETE),
            "No real accelerator has a driver in this version, so the answer is among what runs on "
            "the CPU: cpu and library.",
        ),
        (
            (*ON_THE_CPU, *INCOMPLETE, device("qat", "no card")),
            "No accelerator is present (qat: no card), so the answer is among what runs on "
            "the CPU: cpu and library.",
        ),
        ((), ""),
    ],
    ids=["no driver", "absent", "not measured", "incomplete", "incomplete, absent", "not known"],
)
def test_the_answer_says_why_no_accelerator_is_in_it(
    devices: tuple[Device, ...], told: str
) -> None:
    said = answer(found(pair(2.0, Verdict.FASTER)), devices)
    assert said.accelerators == told
    assert (f"- {told}" in said.text.splitlines()) is bool(told)


def test_an_answer_with_an_accelerator_in_it_says_nothing_of_the_cpu_alone() -> None:
    library, cpu = pair(2.0, Verdict.FASTER)
    rows = [library, cpu, another(cpu, "cuda:gpu=0", verdict=Verdict.SLOWER, winner=False)]
    assert answer(found(rows), (*ON_THE_CPU, device("cuda:gpu=0"))).accelerators == ""


def test_it_is_known_of_every_driver_whether_it_works_on_the_processor() -> None:
    alone = {device.driver for device in look() if not device.is_incomplete}
    assert alone - GPUS == reasons.ON_THE_CPU


@pytest.mark.parametrize(
    ("ratio", "verdict"), [(2.0, Verdict.FASTER), (0.5, Verdict.SLOWER), (1.0, Verdict.SAME)]
)
def test_a_headline_that_a_busy_machine_measured_says_so_in_its_own_line(
    ratio: float, verdict: Verdict
) -> None:
    busy = "(The machine was busy while this was measured.)"
    assert answer(found(pair(ratio, verdict, machine_busy=True))).where.endswith(f". {busy}")
    assert busy not in answer(found(pair(ratio, verdict))).where
