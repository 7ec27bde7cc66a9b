"""How long batches wait, by the engine's scheduler in virtual time."""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from made_load import card, device
from sealift import Engine, cards, rehearse
from sealift.lab.load.device import InBatches, projected
from sealift.lab.load.rehearsing import rehearsed


def at(batch: InBatches, busy: float) -> float:
    return busy * batch.per_s.value / batch.messages


def test_a_batch_waits_as_long_as_is_known_of_one_server_that_always_takes_as_long() -> None:
    """Of waits in the M/D/1 queue the tail is known: Tijms, A First Course in Stochastic Models."""
    for busy in (0.3, 0.5, 0.7):
        decay = _root(partial(_tail, busy), 1e-3, 10.0)
        weight = (1 - busy) / (busy * math.exp(decay) - 1)
        times = 1 + math.log(weight / 0.01) / decay
        for messages in (1, 1_024):
            batch = next(each for each in device().batches if each.messages == messages)
            found = rehearsed(device(), batch, at(batch, busy))
            assert found == pytest.approx(times * batch.batch_ns.value, rel=0.1), (busy, messages)


def _tail(busy: float, decay: float) -> float:
    return busy * (math.exp(decay) - 1) - decay


def _root(of: Callable[[float], float], low: float, high: float) -> float:
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if of(middle) > 0 else (middle, high)
    return low


def test_two_workers_wait_less_than_one_that_is_as_busy() -> None:
    one, two = device(), device(workers=2)
    waits = [rehearsed(each, each.largest, at(each.largest, 0.7)) for each in (one, two)]
    assert waits[1] < 0.75 * waits[0]


def test_scaled_times_are_those_of_a_rehearsal_of_the_batches_themselves() -> None:
    engine = Engine(["library"])
    cost = engine.costs()["library"]
    message_ns = cost.per_message_ns + 128 * cost.per_byte_ns
    for workers, busy in ((1, 0.2), (1, 0.6), (2, 0.7)):
        made = device("library", setup_ns=cost.setup_ns, message_ns=message_ns, workers=workers)
        batch = made.batches[2]
        itself = rehearse(
            [("library", cost, workers)],
            batches_per_s=at(batch, busy),
            messages=batch.messages,
            message_bytes=128,
        )
        assert itself.lost == 0
        found = rehearsed(made, batch, at(batch, busy))
        assert found == pytest.approx(itself.response_ns_p99, rel=0.03), (workers, busy)


def test_a_card_waits_as_it_does_when_all_its_parts_are_rehearsed(tmp_path: Path) -> None:
    many = [*cards(), card(tmp_path, setup_ns=200, latency_ns=50_000)]
    for each in many:
        made = projected(each, (1, 16), 128.0)
        batch = made.largest
        for busy in (0.2, 0.7):
            parts = rehearse(
                [each],
                batches_per_s=at(batch, busy),
                messages=batch.messages,
                message_bytes=128,
            )
            found = rehearsed(made, batch, at(batch, busy))
            assert found == pytest.approx(parts.response_ns_p99, rel=0.02), (each.name, busy)
