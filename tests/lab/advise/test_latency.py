"""How long batches wait, by the engine's scheduler in virtual time."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from scipy.optimize import brentq  # type: ignore[import-untyped]
from tests.lab.advise.made_load import card, device

from sealift_lab._lab import rehearse
from sealift_lab.advise.load import Batch, Device, batch_ns_p99, projected
from sealift_lab.judge.lines import CostLine
from sealift_lab.model.workload import Lengths


def at(batch: Batch, busy: float) -> float:
    return busy * batch.per_s.value / batch.messages


@pytest.mark.parametrize("busy", [0.3, 0.7])
def test_a_batch_waits_as_long_as_is_known_of_one_server_that_always_takes_as_long(
    busy: float,
) -> None:
    """Of waits in the M/D/1 queue the tail is known: Tijms, A First Course in Stochastic Models."""
    decay = brentq(lambda x: busy * math.expm1(x) - x, 1e-3, 10)
    weight = (1 - busy) / (busy * math.exp(decay) - 1)
    times = 1 + math.log(weight / 0.01) / decay
    batch = device().batches[0 if busy < 0.5 else -1]
    found = batch_ns_p99(device(), batch, at(batch, busy))
    assert found == pytest.approx(times * batch.batch_ns.value, rel=0.1)


def test_two_workers_wait_less_than_one_that_is_as_busy() -> None:
    one, two = (
        batch_ns_p99(each, each.largest, at(each.largest, 0.7))
        for each in (device(), device(workers=2))
    )
    assert two < 0.75 * one


def test_a_card_waits_as_it_does_when_all_its_parts_are_simulated(tmp_path: Path) -> None:
    made = card(tmp_path, setup_ns=200, latency_ns=50_000)
    model = projected(made, (1, 16), Lengths.from_counts({128: 1}))
    batch = model.largest
    parts = rehearse(
        [made], batches_per_s=at(batch, 0.7), messages=batch.messages, message_bytes=128
    )
    found = batch_ns_p99(model, batch, at(batch, 0.7))
    assert found == pytest.approx(parts.response_ns_p99, rel=0.05)


def test_messages_of_which_one_in_33_is_long_are_not_back_as_soon_as_mean_ones() -> None:
    made = mixed({100: 97, 1_048_576: 3}, setup_ns=300, byte_ns=0.05)
    long_ns = 300 + 0.05 * 1_048_576
    one = made.batches[0]
    assert batch_ns_p99(made, one, at(one, 0.001)) == pytest.approx(long_ns, rel=0.01)
    assert batch_ns_p99(made, one, at(one, 0.5)) > 2 * long_ns


def test_the_longer_the_batch_the_less_its_time_differs_from_the_mean() -> None:
    made = mixed({100: 97, 1_048_576: 3}, setup_ns=300, byte_ns=0.05)
    times = [
        batch_ns_p99(made, each, at(each, 1e-4)) / each.batch_ns.value
        for each in (made.batches[0], made.batches[3], made.largest)
    ]
    assert times == sorted(times, reverse=True)
    # 1,024 of them have 30.7 long ones, give or take 5.46.
    assert times[-1] == pytest.approx(1 + 2.33 * 5.46 / 30.7, rel=0.05)


def mixed(counts: Mapping[int, int], *, setup_ns: float, byte_ns: float) -> Device:
    lengths, line = Lengths.from_counts(counts), CostLine(setup_ns, 0, byte_ns)
    size = lengths.mean_bytes
    made = device(setup_ns=setup_ns, message_ns=byte_ns * size, size=size)
    return replace(made, alone=line, line=line, lengths=lengths)
