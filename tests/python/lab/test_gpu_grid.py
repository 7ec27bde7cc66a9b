"""What GPUs could do in grids: idle lanes, idle multiprocessors, whole rounds; projected."""

from collections.abc import Callable

import pytest

from sealift.lab.gpus import GPUS, Gpu, Messages, message_limit
from sealift.lab.gpus.cells import THREAD_MESSAGES
from sealift.lab.gpus.grid import (
    PUBLISHED_FRAME_BYTES,
    Grid,
    bend_by_blocks,
    bend_by_threads,
    frame_threads,
    grid_limit,
    in_rounds,
    reading_threads,
    replicated_limit,
)
from sealift.lab.gpus.shown import document_gpu
from sealift.lab.gpus.work import published_bytes
from sealift.lab.result import Origin

MESSAGES = Messages(128, 128)
Speed = Callable[[Gpu, Grid], float]


def replicated(gpu: Gpu, grid: Grid) -> float:
    return replicated_limit(gpu, MESSAGES, grid, THREAD_MESSAGES).bytes_per_s


def ours(gpu: Gpu, grid: Grid) -> float:
    return grid_limit(gpu, MESSAGES, grid).bytes_per_s


each_gpu = pytest.mark.parametrize("gpu", GPUS, ids=lambda gpu: gpu.name)
each_way = pytest.mark.parametrize("way", [replicated, ours], ids=lambda way: str(way.__name__))


@each_way
@each_gpu
def test_lanes_without_a_thread_are_idle(gpu: Gpu, way: Speed) -> None:
    one = way(gpu, Grid(1, 1))
    assert [way(gpu, Grid(1, n)) / one for n in (2, 31, 32)] == pytest.approx([2, 31, 32])
    # A thread more begins a warp on another part, which is idle but for it.
    assert way(gpu, Grid(1, 33)) / one == pytest.approx(33)
    assert way(gpu, Grid(1, 128)) / one == pytest.approx(128)


@each_way
@each_gpu
def test_a_fifth_warp_waits_for_a_part_of_its_own(gpu: Gpu, way: Speed) -> None:
    assert way(gpu, Grid(1, 129)) < 0.6 * way(gpu, Grid(1, 128))
    assert way(gpu, Grid(1, 256)) == pytest.approx(way(gpu, Grid(1, 128)))


@each_gpu
def test_multiprocessors_without_a_block_are_idle(gpu: Gpu) -> None:
    units = gpu.multiprocessors
    one = replicated(gpu, Grid(1, 128))
    assert replicated(gpu, Grid(units, 128)) / one == pytest.approx(units)
    assert replicated(gpu, Grid(units + 1, 128)) / one == pytest.approx((units + 1) / 2)
    assert replicated(gpu, Grid(2 * units, 128)) == pytest.approx(units * one)


@each_gpu
def test_a_full_grid_reaches_the_limit_of_the_units_and_none_exceeds_it(gpu: Gpu) -> None:
    whole = Grid(gpu.multiprocessors, 128)
    limit = message_limit(gpu, MESSAGES).bytes_per_s
    assert grid_limit(gpu, MESSAGES, whole).bytes_per_s == pytest.approx(limit)
    for grid in (Grid(1, 1), Grid(7, 100), Grid(1_000, 1_000)):
        assert grid_limit(gpu, MESSAGES, grid).bytes_per_s <= limit * (1 + 1e-9)


@each_gpu
def test_messages_of_their_own_pass_memory(gpu: Gpu) -> None:
    own = grid_limit(gpu, MESSAGES, Grid(gpu.multiprocessors, 128))
    by_memory = gpu.memory_bytes_per_s * MESSAGES.text_bytes / MESSAGES.moved_bytes
    by_units = 16 * gpu.multiprocessors * gpu.clock_hz / own.clocks_a_block
    assert own.bytes_per_s == pytest.approx(min(by_memory, by_units))
    assert (own.unit == "memory") == (by_memory < by_units)
    assert own.origin is Origin.PROJECTED


@each_gpu
def test_messages_that_all_threads_work_come_out_of_caches(gpu: Gpu) -> None:
    grid = Grid(gpu.multiprocessors, 128)
    same = replicated_limit(gpu, MESSAGES, grid, THREAD_MESSAGES)
    by_units = 16 * gpu.multiprocessors * gpu.clock_hz / same.clocks_a_block
    assert same.bytes_per_s == pytest.approx(by_units)


@each_gpu
def test_what_makes_tables_anew_is_less_of_more_messages(gpu: Gpu) -> None:
    grid = Grid(gpu.multiprocessors, 128)
    few, many = (replicated_limit(gpu, MESSAGES, grid, each).bytes_per_s for each in (16, 10**6))
    share = 1 - replicated(gpu, grid) / many
    assert 0 < share < 0.03
    assert 1 - few / many > 2 * share


@each_gpu
def test_the_limit_bends_at_128_threads_and_at_the_number_of_multiprocessors(gpu: Gpu) -> None:
    by_threads = bend_by_threads(lambda grid: replicated(gpu, grid))
    by_blocks = bend_by_blocks(lambda grid: replicated(gpu, grid), gpu.multiprocessors, 128)
    assert by_threads is not None
    assert by_blocks is not None
    assert by_threads.at == pytest.approx(128, rel=0.01)
    assert by_blocks.at == pytest.approx(gpu.multiprocessors, rel=0.02)


def test_blocks_are_powers_of_two_below_the_first_round_and_whole_rounds() -> None:
    assert in_rounds(36) == [1, 2, 4, 8, 16, 32, 36, 72, 108, 144]
    assert in_rounds(2) == [1, 2, 4, 6, 8]
    assert in_rounds(32)[4:6] == [16, 32]


def test_a_cache_is_full_of_all_tables_before_it_is_of_those_that_are_read() -> None:
    gpu = document_gpu()
    assert gpu.multiprocessors == 36
    filling = frame_threads(gpu), reading_threads(gpu, 128)
    sizes = PUBLISHED_FRAME_BYTES, published_bytes(128)
    for threads, size_bytes in zip(filling, sizes, strict=True):
        assert threads * size_bytes <= gpu.cache_bytes < (threads + 1) * size_bytes
    # Between the document's smallest grid and those of its most: neither before nor at the fall.
    assert filling[0] < 36 * 128 < filling[1] < 36 * 256
