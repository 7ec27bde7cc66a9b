"""Pieces of crypto work as cells, and the messages that belong to a cell."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from sealift.lab.crowding import LOAD
from sealift.lab.grid import (
    MANY_KEYS,
    SIZES,
    Work,
    batch_for,
    crypto_arm,
    crypto_cells,
    legend_of,
    lengths_in,
    logged,
    messages_for,
    of_lengths,
    one_and_all,
    sized,
    stated,
    with_load,
    workload_of,
)
from sealift.lab.lengths import Lengths
from sealift.lab.spec import Context, Scope
from sealift.lab.values import Cell
from sealift.lab.workload import (
    FRESH_KEYS,
    MAX_MESSAGES,
    ONE_KEY,
    SEAL_ONLY,
    Keys,
    Mix,
    Regime,
    as_logged,
    as_stated,
    of_size,
)

MIB = 1 << 20


def sessions(count: int) -> Regime:
    return Regime(Keys.SESSIONS, count)


def cell_of(work: Work, batch: int | None = None) -> Cell:
    (cell,) = crypto_cells([work], devices=["library"], batch=batch)
    return cell


@pytest.mark.parametrize(
    ("size_bytes", "batch", "regime", "messages"),
    [
        (128, 1_024, ONE_KEY, 8_192),
        (128, 1_024, FRESH_KEYS, 8_192),
        (16_384, 1_024, ONE_KEY, 1_024),
        (16_384, 1_000, ONE_KEY, 2_000),
        (16_384, 1_024, sessions(1_025), 2_048),
        (128, 1_024, sessions(100_000), 100_352),
        (128, 1_024, sessions(MAX_MESSAGES), MAX_MESSAGES),
        (MIB, 16, ONE_KEY, 16),
        (16 * MIB, 1, FRESH_KEYS, 1),
        (64 * MIB, 1, FRESH_KEYS, 1),
    ],
)
def test_messages_are_whole_batches_and_as_many_as_sessions(
    size_bytes: int, batch: int, regime: Regime, messages: int
) -> None:
    assert messages_for(size_bytes, batch, regime) == messages


def test_large_messages_are_handed_over_few_at_once() -> None:
    assert [batch_for(size) for size in (16, 16_384, MIB, 16 * MIB, 64 * MIB)] == [
        1_024,
        1_024,
        16,
        1,
        1,
    ]


@pytest.mark.parametrize(
    ("work", "workload"),
    [
        (stated(ONE_KEY), as_stated(ONE_KEY, messages=8_192, seed=7)),
        (stated(MANY_KEYS), as_stated(MANY_KEYS, messages=8_192, seed=7)),
        (logged(), as_logged(messages=8_192, seed=7)),
        (sized(64, FRESH_KEYS), of_size(64, FRESH_KEYS, SEAL_ONLY, messages=8_192, seed=7)),
        (
            sized(1_024, sessions(50_000), Mix(50, 25, 25), 256),
            of_size(
                1_024, sessions(50_000), Mix(50, 25, 25), messages=50_176, key_bits=256, seed=7
            ),
        ),
    ],
)
def test_a_cell_that_was_written_and_read_has_the_messages_of_its_work(
    work: Work, workload: object
) -> None:
    cell = json.loads(json.dumps(cell_of(work)))
    found = workload_of(cell, seed=7)
    assert found.columns() == workload.columns()  # type: ignore[attr-defined]
    assert (found.name, found.regime) == (workload.name, workload.regime)  # type: ignore[attr-defined]
    assert cell["size_bytes"] == found.text_len_mean


def test_a_cell_names_many_lengths_and_the_legend_says_which() -> None:
    lengths = Lengths.of({0: 1, 40: 4, 1_500: 3})
    legend = json.loads(json.dumps(legend_of(lengths)))
    cell = json.loads(json.dumps(cell_of(of_lengths(lengths, sessions(5), key_bits=256))))
    assert cell["workload"] == f"AES-256 of {lengths.name}"
    assert cell["size_bytes"] == round(lengths.mean_bytes)
    assert lengths_in(cell, legend) == lengths
    columns = workload_of(cell, 7, legend).columns()
    assert Counter(columns.text_len) == {0: 256, 40: 1_024, 1_500: 768}
    assert set(columns.key_len) == {32}
    assert columns.text_len != workload_of(cell, 8, legend).columns().text_len
    assert len(set(columns.text_len[:64])) == 3


def test_other_lengths_have_another_name_and_are_refused_under_this_one() -> None:
    lengths, others = Lengths.of({40: 4, 1_500: 3}), Lengths.of({40: 3, 1_500: 4})
    assert lengths.name != others.name
    cell = cell_of(of_lengths(lengths, ONE_KEY))
    for legend in ({}, legend_of(others), {lengths.name: str(others)}):
        with pytest.raises(ValueError, match=r"2 lengths \(\w+\)': the plan's legend has no such"):
            workload_of(cell, 1, legend)


def test_one_length_from_a_file_is_the_work_of_that_size() -> None:
    assert of_lengths(Lengths.of({128: 9}), ONE_KEY) == sized(128, ONE_KEY)
    assert legend_of(Lengths.of({128: 9})) == {}
    assert lengths_in(cell_of(sized(128, ONE_KEY)), {}) is None
    assert lengths_in(cell_of(stated(ONE_KEY)), {}) is None


def test_messages_of_many_lengths_are_measured_as_long_as_they_are() -> None:
    lengths = Lengths.of({0: 1, 40: 4, 1_500: 3})
    cell = cell_of(of_lengths(lengths, ONE_KEY))
    context = Context(seed=3, folder=Path(), legend=legend_of(lengths))
    sample = crypto_arm(cell, context).sample(0.002)
    assert sample.bytes / sample.operations == pytest.approx(lengths.mean_bytes)


def test_a_mix_that_is_no_per_cent_keeps_its_weights() -> None:
    work = sized(128, ONE_KEY, Mix(1, 2, 4))
    assert work.mix == "1/2/4"
    assert workload_of(cell_of(work), seed=1).mix == Mix(1, 2, 4)


def test_every_work_runs_at_every_thread_count_on_every_device() -> None:
    works = [sized(size, MANY_KEYS) for size in SIZES]
    cells = list(crypto_cells(works, devices=("library", "cpu"), threads=(1, 2), batch=512))
    assert len(cells) == len(SIZES) * 4
    assert {(cell["device"], cell["threads"], cell["batch"]) for cell in cells} == {
        (device, threads, 512) for device in ("library", "cpu") for threads in (1, 2)
    }


def test_a_cell_says_whether_its_threads_share_cores() -> None:
    scope = Scope(quick=True, cores=2, devices=("library",))
    cells = with_load(crypto_cells([logged()], devices=["library"], threads=(1, 2, 3)), scope)
    assert [cell[LOAD.name] for cell in cells] == [
        "fewer threads than cores",
        "a thread a core",
        "more threads than cores",
    ]


def test_one_thread_and_all_cores_give_way_to_those_asked_for() -> None:
    def counts(cores: int, *threads: int) -> tuple[int, ...]:
        return one_and_all(Scope(quick=True, cores=cores, devices=(), threads=threads))

    assert (counts(1), counts(8), counts(8, 3, 5)) == ((1,), (1, 8), (3, 5))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"workload": "as told"}, "workload 'as told'; right would be 'as stated', 'as logged'"),
        ({"workload": "AES-512"}, "key_bits of 512"),
        ({"keys": "some"}, "keys 'some'; write one, fresh or sessions:N"),
        ({"mix": "half"}, "mix 'half'"),
    ],
)
def test_a_cell_that_was_changed_by_hand_is_refused(change: Cell, named: str) -> None:
    with pytest.raises(ValueError, match=re.escape(named)):
        workload_of({**cell_of(sized(128, ONE_KEY)), **change}, seed=1)
