"""Readings of document 002: interrupt lines of the Hifn board, and time in the kernel."""

from collections.abc import Callable, Mapping

from sealift_lab.experiments.document_002 import boards, readings
from sealift_lab.model.arm import Value
from sealift_lab.model.results import Results

Compute = Callable[[str], Results]


def test_the_table_does_not_tell_how_many_lines_there_were(computed: Compute) -> None:
    facts = {str(each.cell["reading"]): each.facts for each in computed("002-X3").facts()}
    assert facts.keys() == readings.READINGS.keys()
    own, one = facts["a line for each chip"], facts["one line"]
    assert abs(float(own[readings.OFF_MEAN]) - float(one[readings.OFF_MEAN])) < 0.3
    # A line alone, without a new fit, saves the host three queries a request.
    unfitted = facts["a line for each chip, fitted as one line"]
    slower = facts["one line, fitted as a line for each chip"]
    for name, more, less in [
        (readings.SMALL_MBIT_S, unfitted, one),
        (readings.SMALL_INTERRUPTS, unfitted, one),
        (readings.SMALL_MBIT_S, own, slower),
    ]:
        assert float(more[name]) > 1.025 * float(less[name])


def test_no_order_and_no_memory_gives_both_shares_of_the_kernel(computed: Compute) -> None:
    def facts(size_bytes: int, way: str) -> Mapping[str, Value]:
        (report,) = computed("002-X4").facts(buffer_bytes=size_bytes, way=way)
        return report.facts

    def kernel(size_bytes: int, way: str) -> float:
        return float(facts(size_bytes, way)[boards.KERNEL])

    for way in readings.WAYS:
        is_near = [
            0.9 <= kernel(size, way) / kernel(size, readings.PRINT) <= 1.1
            for size in (8_192, 16_384)
        ]
        assert not all(is_near), way
        assert kernel(16_384, way) - kernel(8_192, way) < 10, "24 points in print"
    # Copies that wait keep the host busy; cards that wait leave it idle, and chain requests.
    waiting, first = facts(16_384, "rounds"), facts(16_384, "rounds, copies never wait")
    assert float(waiting[readings.IDLING]) < 1 < 10 < float(first[readings.IDLING])
    assert float(first[boards.INTERRUPTS]) < 0.5 * float(waiting[boards.INTERRUPTS])
    # What print leaves the kernel beside copies, and an interrupt, can't be one time for all.
    left = {size: facts(size, readings.PRINT) for size in (16, 8_192)}
    assert float(left[8_192][readings.KERNEL_US]) < 2 < 7 < float(left[16][readings.KERNEL_US])
    assert (
        float(left[16][readings.INTERRUPT_US]) < 3 < 25 < float(left[8_192][readings.INTERRUPT_US])
    )


def test_cards_run_out_of_work_where_applications_wait_for_all_completed_requests(
    computed: Compute,
) -> None:
    def idle(size_bytes: int, way: str) -> float:
        (report,) = computed("002-X4").facts(buffer_bytes=size_bytes, way=way)
        return float(report.facts[boards.IDLE])

    for size in (8_192, 16_384):
        assert (
            idle(size, "rounds")
            > 2 * idle(size, "in turn")
            > 2 * idle(size, "each completion first")
        )
