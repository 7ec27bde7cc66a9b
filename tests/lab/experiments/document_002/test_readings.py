"""Parts of document 002's model changed: interrupt lines, kernel time, the convoy, and theory."""

from collections.abc import Callable, Mapping

import pytest

from sealift_lab.experiments.document_002 import boards, readings
from sealift_lab.model.arm import Cell, Value
from sealift_lab.model.results import Results

Compute = Callable[[str], Results]


def test_the_table_does_not_tell_how_many_lines_there_were(computed: Compute) -> None:
    found = {str(each.cell["reading"]): each.facts for each in computed("002-X3").facts()}
    assert found.keys() == readings.READINGS.keys()
    own, one = found["a line for each chip"], found["one line"]
    assert abs(float(own[readings.OFF_MEAN]) - float(one[readings.OFF_MEAN])) < 0.3
    # A line alone, without a new fit, saves the host three queries a request.
    unfitted = found["a line for each chip, fitted as one line"]
    slower = found["one line, fitted as a line for each chip"]
    for name, more, less in [
        (readings.SMALL_MBIT_S, unfitted, one),
        (readings.SMALL_INTERRUPTS, unfitted, one),
        (readings.SMALL_MBIT_S, own, slower),
    ]:
        assert float(more[name]) > 1.025 * float(less[name])


def facts(computed: Compute, switch: str, size_bytes: int) -> Mapping[str, Value]:
    where: Cell = {"board": "Broadcom 5820", "buffer_bytes": size_bytes, "switch": switch}
    (report,) = computed("002-X2").facts(**where)
    return report.facts


def test_no_order_and_no_memory_gives_both_shares_of_the_kernel(computed: Compute) -> None:
    def kernel(size_bytes: int, switch: str) -> float:
        return float(facts(computed, switch, size_bytes)[boards.KERNEL])

    for switch in readings.SWITCHES_OF["Broadcom 5820"]:
        is_near = [
            0.9 <= kernel(size, switch) / kernel(size, readings.PRINT) <= 1.1
            for size in (8_192, 16_384)
        ]
        assert all(is_near) == (switch == readings.PRINT), switch
        is_printed = kernel(16_384, switch) - kernel(8_192, switch) > 10
        assert is_printed == (switch == readings.PRINT), "24 points in print"
    # Copies that wait keep the host busy; cards that wait leave it idle, and chain requests.
    waiting, first = (
        facts(computed, switch, 16_384) for switch in (readings.UNCHANGED, readings.COPIES_FIRST)
    )
    assert float(waiting[boards.HOST_BUSY]) > 99 > 90 > float(first[boards.HOST_BUSY])
    assert float(first[boards.INTERRUPTS]) < 0.5 * float(waiting[boards.INTERRUPTS])
    # What print leaves the kernel beside copies, and an interrupt, can't be one time for all.
    large, small = (facts(computed, readings.PRINT, size) for size in (8_192, 16))
    assert float(large[readings.KERNEL_US]) < 2 < 7 < float(small[readings.KERNEL_US])
    assert float(small[readings.INTERRUPT_US]) < 3 < 25 < float(large[readings.INTERRUPT_US])


def test_cards_run_out_of_work_where_applications_wait_for_all_completed_requests(
    computed: Compute,
) -> None:
    for size in (8_192, 16_384):
        rounds, in_turn, first = (
            float(facts(computed, switch, size)[boards.IDLE])
            for switch in (readings.UNCHANGED, readings.IN_TURN, readings.FIRST)
        )
        assert rounds > 2 * in_turn > 2 * first


def test_switches_change_the_load_and_the_simulation_meets_theory(computed: Compute) -> None:
    (usual,) = computed("002-X2").facts(
        board="Hifn 7751", buffer_bytes=16, switch=readings.UNCHANGED
    )
    assert usual.facts[readings.TIMES] == 1
    three = facts(computed, readings.THREE, 16_384)
    assert float(three[readings.TIMES]) == pytest.approx(1, abs=0.01)
    theory = computed("002-X2").facts(switch=readings.THEORY)
    off = [float(each.facts[readings.OFF]) for each in theory]
    assert len(off) == 3
    assert max(map(abs, off)) < 2
