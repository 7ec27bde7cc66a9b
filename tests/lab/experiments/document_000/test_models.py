"""Document 000's models against what is printed, and against what a stored run computed."""

import json
from pathlib import Path

import pytest

from sealift_lab._lab import DpuSystem, dpu_systems
from sealift_lab.experiments.document_000 import EXPERIMENTS, dpu
from sealift_lab.experiments.document_000.one_dpu import UNROLLED, instructions_a_block, rounding
from sealift_lab.experiments.document_000.projection import transfer_s
from sealift_lab.experiments.notes import texts
from sealift_lab.model.arm import Context
from sealift_lab.model.published import table

PACKAGE = "sealift_lab.experiments.document_000"
STORED = "results/2026-11-23/intelr-xeonr-processor-2-cores/lab-000"
# Texts that are Markdown now, and facts that nothing showed.
DROPPED = {
    *("why printed and simulated differ", "why not fewer", "spent on, unrolled"),
    *("by a timer of sixteens, cycles", "data in host memory, GB/s, direct"),
    "data in host memory, GB/s, direct, with the hazard",
}


def test_a_stored_run_is_computed_again(tmp_path: Path) -> None:
    folder = Path(__file__).parents[4] / STORED
    plan = json.loads((folder / "plan.json").read_text())
    groups = {each["name"]: each["groups"] for each in plan["experiments"]}
    by_name = {each.name: each for each in EXPERIMENTS}
    compared = set()
    for report in map(json.loads, (folder / "verify.jsonl").read_text().splitlines()):
        name, facts = report["experiment"], report["facts"]
        cell = groups[name][report["group"]][report["arm"]]
        if name == "dpu-by-tasklets" and cell["tasklets"] not in (2, 16):
            continue  # its 380 cells take seconds
        here = by_name[name].arm(cell, Context(seed=1, folder=tmp_path)).report()
        assert set(facts) - DROPPED == set(here), (name, cell)
        for fact, value in here.items():
            if (name, fact) == ("dpu-claims", "how"):
                continue  # a note, which changes
            expected = facts[fact] if isinstance(value, str) else pytest.approx(facts[fact])
            assert value == expected, (name, cell, fact)
        compared.add(name)
    assert compared == {each.name for each in EXPERIMENTS if not each.is_timed}


def test_printed_numbers_leave_the_range_that_rounds_to_them() -> None:
    assert rounding("99.3k") == (99_250, 99_350)
    assert rounding("1.12m") == (1_115_000, 1_125_000)
    assert rounding("4.2") == (4.15, 4.25)


def test_transfers_take_what_is_printed() -> None:
    for row in table("000-T3-dma-latency"):
        size, cycles = int(row["transfer_bytes"]), float(row["latency_cycles"])
        assert abs(dpu.latency("read", size) - cycles) <= 1
        assert dpu.latency("write", size) == dpu.latency("read", size) - 16


def test_kernels_take_little_more_than_their_unrolled_blocks_and_the_notes_say_why() -> None:
    unrolled = {kernel.title: count for kernel, count in UNROLLED.items()}
    assert unrolled == {"ECB": 550, "CTR": 458, "GHASH": 136, "GCM, one key": 594}
    for kernel in UNROLLED:
        least = unrolled[kernel.title]
        assert least < sum(instructions_a_block(kernel).values()) < 1.02 * least, kernel.title
        assert f"**, {least}" in texts(PACKAGE, "dpu-instructions")["notes"]


def test_transfers_to_dpus_take_the_printed_times() -> None:
    for row in table("000-elsewhere-host-transfers"):
        if row["path"] == "SDK":
            dpus, size = int(row["dpus"]), int(row["bytes_per_dpu"])
            printed = float(row["to_dpus_s"]) + float(row["from_dpus_s"])
            assert transfer_s(dpus, size) == pytest.approx(printed, rel=1e-9)


def test_more_dpus_are_reached_faster_as_was_printed() -> None:
    for system in dpu_systems():
        for row in table("000-elsewhere-transfers-by-dpus"):
            rates = [1e9 * float(row[f"{way}_dpus_gb_per_s"]) for way in ("to", "from")]
            assert system.rates(int(row["dpus"])) == pytest.approx(rates, rel=1e-9)
    model = DpuSystem.named("upmem-2560-350")
    timed = {
        (row["bytes_per_dpu"], int(row["dpus"])): float(row["to_dpus_mib_per_s"])
        for row in table("000-elsewhere-push-by-dpus")
    }
    for (size, dpus), rate in timed.items():
        share = rate / timed[size, 2_048]
        assert 0.5 < model.rates(dpus)[0] / model.rates(2_048)[0] / share < 1.3, (size, dpus)


def test_the_table_in_the_notes_is_that_of_the_simulation(tmp_path: Path) -> None:
    notes = texts(PACKAGE, "dpu-encryption")["notes"]
    lines = [line.split(" | ") for line in notes.splitlines()]
    rows = [(line[0].strip("| "), *line[1:4]) for line in lines if "000-" in line[0] and line[1:]]
    experiments = {each.id: each for each in EXPERIMENTS}
    assert len(rows) == 4
    for table_id, operation, printed, simulated in rows:
        arm = experiments[table_id].arm({"operation": operation}, Context(1, tmp_path))
        facts = arm.report()
        assert facts["instructions a block, by the rounding of the print"] == printed
        assert f"{float(facts['instructions a block, simulated']):.1f}" == simulated
