"""AEAD work as cells, and the messages that belong to a cell."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from sealift_lab.measure.crypto import (
    Work,
    crypto_arm,
    crypto_cells,
    legend_of,
    messages_for,
    of_lengths,
    one_and_all,
    sized,
    workload_of,
)
from sealift_lab.model.arm import Cell, Context
from sealift_lab.model.experiment import Scope
from sealift_lab.model.workload import (
    FRESH_KEYS,
    MESSAGES_MAX,
    ONE_KEY,
    SEAL_ONLY,
    KeyRegime,
    Keys,
    Lengths,
    Mix,
    Workload,
    of_size,
)

MIB = 1 << 20


def sessions(count: int) -> KeyRegime:
    return KeyRegime(Keys.SESSIONS, count)


def cell_of(work: Work) -> Cell:
    (cell,) = crypto_cells([work], devices=["library"])
    return json.loads(json.dumps(cell))  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("size_bytes", "batch", "regime", "messages"),
    [
        (128, 1_024, ONE_KEY, 8_192),
        (16_384, 1_024, ONE_KEY, 1_024),
        (16_384, 1_000, ONE_KEY, 2_000),
        (16_384, 1_024, sessions(1_025), 2_048),
        (128, 1_024, sessions(MESSAGES_MAX), MESSAGES_MAX),
        (MIB, 16, ONE_KEY, 16),
        (64 * MIB, 1, FRESH_KEYS, 1),
    ],
)
def test_messages_are_whole_batches_and_as_many_as_sessions(
    size_bytes: int, batch: int, regime: KeyRegime, messages: int
) -> None:
    assert messages_for(size_bytes, batch, regime) == messages


def test_a_cell_that_was_written_and_read_has_the_messages_of_its_work() -> None:
    mix = Mix(50, 25, 25)
    work = sized(1_024, sessions(50_000), mix, 256)
    workload = of_size(1_024, sessions(50_000), mix, messages=50_176, key_bits=256, seed=7)
    assert workload_of(cell_of(work), seed=7) == workload


def test_a_workload_of_an_experiments_own_is_built_by_its_name() -> None:
    def build(regime: KeyRegime, messages: int, seed: int) -> Workload:
        return replace(of_size(40, regime, SEAL_ONLY, messages=messages, seed=seed), name="mine")

    cell = cell_of(Work("mine", 40, "fresh", "50/25/25"))
    workload = workload_of(cell, 3, builders={"mine": build})
    assert workload == build(FRESH_KEYS, messages_for(40, 1_024, FRESH_KEYS), 3)
    with pytest.raises(ValueError, match="'mine'; right would be 'other', AES-128, 192 or 256"):
        workload_of(cell, 3, builders={"other": build})


def test_a_cell_names_many_lengths_and_the_legend_has_them() -> None:
    lengths = Lengths.from_counts({0: 1, 40: 4, 1_500: 3})
    cell = cell_of(of_lengths(lengths, sessions(5), key_bits=256))
    assert cell["workload"] == f"AES-256 of {lengths.name}"
    assert cell["size_bytes"] == round(lengths.mean_bytes)
    columns = workload_of(cell, 7, legend_of(lengths)).columns()
    assert Counter(columns["text_len"]) == {0: 256, 40: 1_024, 1_500: 768}
    assert set(columns["key_len"]) == {32}
    others = Lengths.from_counts({40: 3, 1_500: 4})
    for legend in ({}, legend_of(others), {lengths.name: str(others)}):
        with pytest.raises(ValueError, match=r"3 lengths \(\w+\)': the plan's legend has no such"):
            workload_of(cell, 1, legend)


def test_messages_of_many_lengths_are_measured_as_long_as_they_are() -> None:
    lengths = Lengths.from_counts({0: 1, 40: 4, 1_500: 3})
    context = Context(seed=3, folder=Path(), legend=legend_of(lengths))
    cell = cell_of(of_lengths(lengths, ONE_KEY))
    arm, messages = crypto_arm(cell, context), workload_of(cell, 3, context.legend).messages
    # A machine that paused the warm-up is taken for a slow one, of which a sample works a part.
    samples = (arm.sample(0.005) for _ in range(100))
    sample = next(sample for sample in samples if sample.operations % messages == 0)
    assert sample.bytes / sample.operations == pytest.approx(lengths.mean_bytes)


def test_one_thread_and_all_cores_give_way_to_those_asked_for() -> None:
    def counts(cores: int, *threads: int) -> tuple[int, ...]:
        return one_and_all(Scope(quick=True, cores=cores, devices=(), threads=threads))

    assert (counts(1), counts(8), counts(8, 3, 5)) == ((1,), (1, 8), (3, 5))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"workload": "as told"}, "workload 'as told'; right would be AES-128, 192 or 256"),
        ({"workload": "AES-512"}, "workload 'AES-512'; right would be"),
        ({"keys": "some"}, "keys 'some'; write one, fresh or sessions:N"),
        ({"mix": "half"}, "mix 'half'"),
    ],
)
def test_a_cell_that_was_changed_by_hand_is_refused(change: Cell, named: str) -> None:
    with pytest.raises(ValueError, match=re.escape(named)):
        workload_of({**cell_of(sized(128, ONE_KEY)), **change}, seed=1)
