"""What a GPU could do at most follows from counts, rates, multiprocessors and clock."""

from dataclasses import replace

import pytest

from sealift.lab.gpus import GPUS, RATES, Counts, Gpu
from sealift.lab.result import Origin

NOTHING = dict.fromkeys(
    ("issued", "alu", "fma", "wide", "shared", "global", "local", "tensor", "slow"), 0
)
H200 = next(gpu for gpu in GPUS if gpu.name == "H200")
# One block of counter mode with four tables: 160 look-ups, a block read and one written.
COUNTER_MODE = {**NOTHING, "issued": 420, "alu": 243, "shared": 160, "global": 8}


def clocks(**counts: float) -> dict[str, float]:
    return RATES["sm_90"].clocks({**NOTHING, **counts})


def limited(gpu: Gpu, counts: Counts, moved_bytes: float = 32) -> tuple[int, float, str]:
    limit = gpu.limit(counts, payload_bytes=16, moved_bytes=moved_bytes)
    return round(limit.bytes_per_s / 1e9), limit.clocks_a_block, limit.unit


def test_each_unit_takes_its_own_time() -> None:
    assert clocks(issued=512, alu=128, shared=96, tensor=8) == {
        "issue": 4,
        "alu": 2,
        "load and store": 3,
        "tensor": 0.5,
    }


def test_a_wide_product_takes_two_turns_of_the_unit_of_narrow_ones() -> None:
    assert clocks(fma=64) == {"fma": 1}
    assert clocks(wide=64) == {"fma": 2}
    assert clocks(fma=64, wide=64) == {"fma": 3}


def test_memories_share_the_way_of_loads_and_stores() -> None:
    assert clocks(shared=160, **{"global": 8}) == {"load and store": 5.25}


def test_the_unit_that_takes_longest_is_the_limit() -> None:
    assert limited(H200, COUNTER_MODE) == (797, 5.25, "load and store")
    more_logic = {**COUNTER_MODE, "alu": 483}
    assert limited(H200, more_logic) == (554, 483 / 64, "alu")
    more_of_all = {**COUNTER_MODE, "issued": 1_024}
    assert limited(H200, more_of_all) == (523, 8, "issue")


def test_memory_is_the_limit_where_it_is_slower_than_the_units() -> None:
    slow = replace(H200, memory_bytes_per_s=1e12)
    assert limited(slow, COUNTER_MODE) == (500, 5.25, "memory")
    assert limited(slow, COUNTER_MODE, moved_bytes=16) == (797, 5.25, "load and store")


def test_a_limit_goes_with_multiprocessors_and_clock() -> None:
    half = replace(H200, multiprocessors=66)
    whole = H200.limit(COUNTER_MODE, 16, 32).bytes_per_s
    assert half.limit(COUNTER_MODE, 16, 32).bytes_per_s == pytest.approx(whole / 2)
    slow = replace(H200, clock_hz=H200.clock_hz / 4)
    assert slow.limit(COUNTER_MODE, 16, 32).bytes_per_s == pytest.approx(whole / 4)


def test_shared_memory_of_turing_is_half_as_fast() -> None:
    turing = replace(H200, architecture="sm_75")
    assert limited(turing, COUNTER_MODE) == (398, 10.5, "load and store")


def test_a_limit_is_projected() -> None:
    assert H200.limit(COUNTER_MODE, 16, 32).origin is Origin.PROJECTED


def test_the_gpus_of_the_document_have_its_multiprocessors_and_every_gpu_a_source() -> None:
    found = {gpu.name: gpu.multiprocessors for gpu in GPUS}
    assert found == {"RTX 3050": 16, "RTX 4070": 36, "RTX 4060": 24, "H200": 132}
    assert all(gpu.source and RATES[gpu.architecture].source for gpu in GPUS)
