"""What GPUs could do in grids: idle lanes, idle multiprocessors, whole rounds; projected."""

import pytest

from sealift.lab.gpus import GPUS, Gpu, Messages, message_limit
from sealift.lab.gpus.breaks import document_gpu
from sealift.lab.gpus.grid import (
    PUBLISHED_FRAME_BYTES,
    Grid,
    bend_by_blocks,
    bend_by_threads,
    filling_threads,
    grid_limit,
    replicated_speed,
)
from sealift.lab.result import Origin

MESSAGES = Messages(128, 128)
each_gpu = pytest.mark.parametrize("gpu", GPUS, ids=lambda gpu: gpu.name)


def speed(gpu: Gpu, blocks: int, threads: int) -> float:
    return replicated_speed(gpu, MESSAGES, Grid(blocks, threads))


@each_gpu
def test_lanes_without_a_thread_are_idle(gpu: Gpu) -> None:
    one = speed(gpu, 1, 1)
    assert [speed(gpu, 1, n) / one for n in (2, 31, 32)] == pytest.approx([2, 31, 32])
    # A thread more begins a warp on another part, which is idle but for it.
    assert speed(gpu, 1, 33) / one == pytest.approx(33)
    assert speed(gpu, 1, 128) / one == pytest.approx(128)


@each_gpu
def test_a_fifth_warp_waits_for_a_part_of_its_own(gpu: Gpu) -> None:
    assert speed(gpu, 1, 129) < 0.6 * speed(gpu, 1, 128)
    assert speed(gpu, 1, 256) == pytest.approx(speed(gpu, 1, 128))


@each_gpu
def test_multiprocessors_without_a_block_are_idle(gpu: Gpu) -> None:
    units = gpu.multiprocessors
    one = speed(gpu, 1, 128)
    assert speed(gpu, units, 128) / one == pytest.approx(units)
    assert speed(gpu, units + 1, 128) / one == pytest.approx((units + 1) / 2)
    assert speed(gpu, 2 * units, 128) == pytest.approx(speed(gpu, units, 128))


@each_gpu
def test_a_full_grid_reaches_the_limit_of_the_units_and_none_exceeds_it(gpu: Gpu) -> None:
    whole = Grid(gpu.multiprocessors, 128)
    limit = message_limit(gpu, MESSAGES).bytes_per_s
    assert grid_limit(gpu, MESSAGES, whole).bytes_per_s == pytest.approx(limit)
    for grid in (Grid(1, 1), Grid(7, 100), Grid(1_000, 1_000)):
        assert grid_limit(gpu, MESSAGES, grid).bytes_per_s <= limit * (1 + 1e-9)


@each_gpu
def test_messages_of_their_own_pass_memory_and_the_same_ones_don_t(gpu: Gpu) -> None:
    whole = Grid(gpu.multiprocessors, 128)
    own = grid_limit(gpu, MESSAGES, whole)
    same = grid_limit(gpu, MESSAGES, whole, replicated=True)
    by_memory = gpu.memory_bytes_per_s * MESSAGES.text_bytes / MESSAGES.moved_bytes
    assert own.bytes_per_s == pytest.approx(min(by_memory, same.bytes_per_s))
    assert (own.unit == "memory") == (by_memory < same.bytes_per_s)
    assert same.origin is Origin.PROJECTED


@each_gpu
def test_the_limit_bends_at_128_threads_and_at_the_number_of_multiprocessors(gpu: Gpu) -> None:
    by_threads, by_blocks = bend_by_threads(gpu, MESSAGES), bend_by_blocks(gpu, MESSAGES, 128)
    assert by_threads is not None
    assert by_blocks is not None
    assert by_threads.at == pytest.approx(128, rel=0.01)
    assert by_blocks.at == pytest.approx(gpu.multiprocessors, rel=0.02)


def test_tables_of_their_own_fill_a_cache_before_the_published_grids_begin() -> None:
    gpu = document_gpu()
    assert gpu.multiprocessors == 36
    assert filling_threads(gpu) * PUBLISHED_FRAME_BYTES <= gpu.cache_bytes
    assert filling_threads(gpu) < 36 * 128
