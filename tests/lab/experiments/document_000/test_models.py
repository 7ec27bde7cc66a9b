"""Document 000's models against what is printed, and against what a stored run computed."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from sealift_lab._lab import DpuSystem, dpu_systems
from sealift_lab.experiments.document_000 import EXPERIMENTS
from sealift_lab.experiments.document_000.amounts import SIMULATED_MAX, chunk_bytes, dpu_time
from sealift_lab.experiments.document_000.instructions import UNROLLED, instructions_a_block
from sealift_lab.experiments.document_000.kernel import (
    CTR,
    ECB,
    ECB_FED,
    GCM,
    GHASH,
    cycles_a_byte,
)
from sealift_lab.experiments.document_000.printed import rounding
from sealift_lab.experiments.document_000.system import transfers
from sealift_lab.experiments.document_000.transfer import Direction, fit, latency
from sealift_lab.experiments.notes import read_notes
from sealift_lab.model.published import table
from sealift_lab.model.sample import Context
from sealift_lab.model.values import Value

PACKAGE = "sealift_lab.experiments.document_000"
STORED = "results/2026-11-23/intelr-xeonr-processor-2-cores/lab-000"
# Composed texts that are Markdown now.
DROPPED = {"why printed and simulated differ", "why not fewer"}


def stored_facts() -> list[tuple[str, Mapping[str, Value], Mapping[str, Value]]]:
    folder = Path(__file__).parents[4] / STORED
    plan = json.loads((folder / "plan.json").read_text())
    groups = {each["name"]: each["groups"] for each in plan["experiments"]}
    reports = map(json.loads, (folder / "verify.jsonl").read_text().splitlines())
    return [
        (each["experiment"], groups[each["experiment"]][each["group"]][each["arm"]], each["facts"])
        for each in reports
    ]


def test_a_stored_run_is_computed_again(tmp_path: Path) -> None:
    by_name = {each.name: each for each in EXPERIMENTS}
    context = Context(seed=1, folder=tmp_path)
    compared = set()
    for name, cell, facts in stored_facts():
        if name == "dpu-by-tasklets" and cell["tasklets"] not in (2, 16):
            continue  # its 380 cells take seconds
        here = by_name[name].arm(cell, context).report()
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


def test_transfers_take_what_is_printed_and_so_does_the_line_through_them() -> None:
    printed = [
        (int(row["transfer_bytes"]), float(row["latency_cycles"]))
        for row in table("000-T3-dma-latency")
    ]
    for size, cycles in printed:
        assert abs(latency(Direction.READ, size) - cycles) <= 1
        assert latency(Direction.WRITE, size) == latency(Direction.READ, size) - 16
        assert latency(Direction.READ, size, granularity_cycles=16) % 16 == 0
    line = fit(printed)
    assert (line.overhead_cycles, line.cycles_a_byte) == pytest.approx((134.3, 0.5185), abs=0.1)
    for size in (4, 2_056, 100):
        with pytest.raises(ValueError, match="multiple of 8"):
            latency(Direction.READ, size)
    with pytest.raises(ValueError, match="two would do"):
        fit([(8, 1.0), (8, 2.0)])


def test_kernels_reach_an_instruction_a_cycle_from_eleven_tasklets_on() -> None:
    assert cycles_a_byte(ECB, 1, hazard=False) == pytest.approx(380.6, rel=0.01)
    assert cycles_a_byte(ECB, 16, hazard=False) == pytest.approx(34.5, rel=0.03)
    assert cycles_a_byte(ECB, 16, hazard=True) == pytest.approx(47.8, rel=0.03)
    for kernel in (ECB, CTR, GHASH, GCM):
        one, eleven = (cycles_a_byte(kernel, count, hazard=False) for count in (1, 11))
        assert one / eleven == pytest.approx(11, rel=0.03)
    fed = cycles_a_byte(ECB_FED, 17, hazard=False)
    assert fed == pytest.approx(cycles_a_byte(ECB, 16, hazard=False), rel=0.05)


def test_kernels_take_little_more_than_their_unrolled_blocks_and_the_notes_say_why() -> None:
    unrolled = {each.kernel.title: each.instructions for each in UNROLLED}
    assert unrolled == {"ECB": 550, "CTR": 458, "GHASH": 136, "GCM, one key": 594}
    reasons = read_notes(PACKAGE, "instructions")
    for each in UNROLLED:
        total = sum(instructions_a_block(each.kernel).values())
        assert each.instructions < total < 1.02 * each.instructions, each.kernel.title
        assert f"**, {each.instructions}" in reasons


def test_transfers_to_dpus_take_the_printed_times() -> None:
    for row in table("000-elsewhere-host-transfers"):
        path = transfers(row["path"])
        size = int(row["bytes_per_dpu"])
        rates = path.rates(size, path.dpus)
        printed = [float(row["to_dpus_s"]), float(row["from_dpus_s"])]
        assert [path.dpus * size / rate for rate in rates] == pytest.approx(printed, rel=1e-9)
        assert path.seconds(size, path.dpus) == pytest.approx(sum(printed), rel=1e-9)
    sdk = transfers("SDK")
    assert sdk.rates(128, 2_048)[0] < sdk.rates(1_024, 2_048)[0]
    assert sdk.seconds(512 << 10, 2_048) < sdk.seconds(768 << 10, 2_048)
    assert sdk.in_series(1_024, 1e9, 640) < sdk.in_series(512 << 10, 1e9, 640) < 1e9
    with pytest.raises(ValueError, match="there are SDK and direct"):
        transfers("smoke")


def test_more_dpus_are_reached_faster_as_was_printed() -> None:
    for system in dpu_systems():
        for row in table("000-elsewhere-transfers-by-dpus"):
            rates = [1e9 * float(row[f"{way}_dpus_gb_per_s"]) for way in ("to", "from")]
            assert system.rates(int(row["dpus"])) == pytest.approx(rates, rel=1e-9)
    model = DpuSystem.named("upmem-2560-350")
    rows = table("000-elsewhere-push-by-dpus")
    timed = {
        (row["bytes_per_dpu"], int(row["dpus"])): float(row["to_dpus_mib_per_s"]) for row in rows
    }
    for (size, dpus), rate in timed.items():
        share = rate / timed[size, 2_048]
        assert 0.5 < model.rates(dpus)[0] / model.rates(2_048)[0] / share < 1.3, (size, dpus)


def test_amounts_beyond_the_simulated_ones_go_on_at_their_rate() -> None:
    assert [chunk_bytes(size) for size in (128, 16 * 300, 64 << 20)] == [32, 256, 512]
    most, twice = (dpu_time(ECB_FED, size) for size in (SIMULATED_MAX, 2 * SIMULATED_MAX))
    assert twice.cycles / most.cycles == pytest.approx(2, rel=0.01)
    few = dpu_time(ECB_FED, 128)
    assert few.waiting / few.cycles > 5 * most.waiting / most.cycles


def test_the_table_in_the_notes_is_that_of_the_simulation(tmp_path: Path) -> None:
    lines = [
        line.split(" | ")
        for line in read_notes(PACKAGE, "encryption").splitlines()
        if " | " in line
    ]
    rows = {(line[0].strip("| "), line[1]): line[2:4] for line in lines if "000-" in line[0]}
    experiments = {each.id: each for each in EXPERIMENTS}
    assert len(rows) == 4
    for (table_id, operation), (printed, simulated) in rows.items():
        arm = experiments[table_id].arm({"operation": operation}, Context(1, tmp_path))
        facts = arm.report()
        assert facts["instructions a block, by the rounding of the print"] == printed
        assert f"{float(facts['instructions a block, simulated']):.1f}" == simulated
