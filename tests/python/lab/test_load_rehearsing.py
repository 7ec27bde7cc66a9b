"""How long batches wait, by the engine's scheduler in virtual time."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from made_load import card, device
from sealift import Engine, cards, rehearse
from sealift.lab.costs import Line
from sealift.lab.lengths import Lengths
from sealift.lab.load.device import Device, InBatches, projected
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


def test_messages_of_which_one_in_33_is_long_are_not_back_as_soon_as_mean_ones() -> None:
    made = mixed({100: 97, 1_048_576: 3}, setup_ns=300, byte_ns=0.05)
    long_ns = 300 + 0.05 * 1_048_576
    found = rehearsed(made, made.batches[0], at(made.batches[0], 0.001))
    assert found == pytest.approx(long_ns, rel=0.01)
    busy = rehearsed(made, made.batches[0], at(made.batches[0], 0.5))
    assert busy > 2 * long_ns


def test_the_longer_the_batch_the_less_its_time_differs_from_the_mean() -> None:
    made = mixed({100: 97, 1_048_576: 3}, setup_ns=300, byte_ns=0.05)
    times = [
        rehearsed(made, each, at(each, 1e-4)) / each.batch_ns.value
        for each in (made.batches[0], made.batches[3], made.largest)
    ]
    assert times == sorted(times, reverse=True)
    # 1,024 of them have 30.7 long ones, give or take 5.46.
    assert times[-1] == pytest.approx(1 + 2.33 * 5.46 / 30.7, rel=0.05)


def test_lengths_that_are_all_one_wait_as_the_engine_says() -> None:
    one = mixed({128: 1}, setup_ns=600, byte_ns=0.3)
    for workers, busy in ((1, 0.5), (2, 0.7)):
        made = replace(one, workers=workers, batches=tuple(_shared(one, workers)))
        batch = made.batches[2]
        plain = rehearsed(replace(made, lengths=None), batch, at(batch, busy))
        assert rehearsed(made, batch, at(batch, busy)) == pytest.approx(plain, rel=0.1)


def _shared(made: Device, workers: int) -> list[InBatches]:
    return [
        replace(each, per_s=replace(each.per_s, value=workers * each.per_s.value))
        for each in made.batches
    ]


def mixed(counts: Mapping[int, int], *, setup_ns: float, byte_ns: float) -> Device:
    lengths = Lengths.of(counts)
    line = Line(setup_ns, 0, byte_ns)
    size = lengths.mean_bytes
    made = device(setup_ns=setup_ns, message_ns=byte_ns * size, size=size)
    return replace(made, alone=line, line=line, lengths=lengths)
