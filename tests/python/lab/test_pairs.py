"""From which message size on one of two devices is the faster one."""

import pytest

from sealift import Engine
from sealift.lab.costs import Line
from sealift.lab.pairs import Pair, break_even, in_words, pairs


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        (Line(10, 1, 0.1), Line(10, 1, 0.1), ("always", None)),
        (Line(10, 1, 0.1), Line(20, 1, 0.1), ("always", None)),
        (Line(20, 1, 0.1), Line(10, 1, 0.1), ("never", None)),
        (Line(100, 1, 0.1), Line(10, 1, 0.2), ("from", 90.0)),
        (Line(10, 1, 0.2), Line(100, 1, 0.1), ("up to", 90.0)),
        (Line(0, 1, 5e-324), Line(1e9, 1, 0), ("always", None)),
        (Line(1e9, 1, 0), Line(0, 1, 5e-324), ("never", None)),
    ],
)
def test_two_lines_are_compared_from_which_size_on(
    one: Line, other: Line, found: tuple[str, float | None]
) -> None:
    where, size = break_even(one, other, 10)
    assert (where, size) == (found[0], pytest.approx(found[1]) if found[1] else None)


def test_a_longer_batch_spreads_the_set_up_over_more_messages() -> None:
    card, cpu = Line(50_000, 1, 0.05), Line(100, 30, 0.25)
    assert break_even(card, cpu, 1)[1] == pytest.approx((49_900 - 29) / 0.2)
    assert break_even(card, cpu, 1_000)[1] == pytest.approx((49.9 - 29) / 0.2)


def test_break_even_is_said_in_words() -> None:
    def said(is_faster: str, size: float | None) -> str:
        return in_words(Pair("cpu", "card", is_faster, size))

    assert said("always", None) == "cpu is at least as fast as card at every size"
    assert said("never", None) == "card is at least as fast as cpu at every size"
    below = "up to about 2,500 bytes a message"
    assert said("from", 2_467.0) == f"{below} card is faster than cpu, then cpu"
    assert said("up to", 2_467.0) == f"{below} cpu is faster than card, then card"
    assert said("from", 0.4) == said("always", None)
    assert said("up to", 0.4) == said("never", None)


def test_every_two_devices_are_compared_once_and_agree_with_their_costs() -> None:
    engine = Engine(["library", "reference", "null"])
    costs = {name: found.cost for name, found in engine.calibrate().devices.items()}
    found = pairs(costs, 64)
    assert [(pair.device, pair.other) for pair in found] == [
        ("library", "reference"),
        ("library", "null"),
        ("reference", "null"),
    ]
    for pair in found:
        for size in (0, 100, 10_000):
            one, other = (
                cost.setup_ns + 64 * (cost.per_message_ns + cost.per_byte_ns * size)
                for cost in (costs[pair.device], costs[pair.other])
            )
            edge = pair.message_bytes or 0.0
            faster = {
                "always": True,
                "never": False,
                "from": size >= edge,
                "up to": size <= edge,
            }
            assert faster[pair.is_faster] == (one <= other), (pair, size)
