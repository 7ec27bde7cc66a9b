"""The throughput model of GPUs: counts of loops, units, grids, and the sources of its constants."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sealift_lab.experiments.document_003.gpu_grids import rounds
from sealift_lab.experiments.document_003.gpus import cells, limits
from sealift_lab.experiments.document_003.gpus.limits import GPUS, TEXT_BYTES, Gpu, Grid

ROOT = Path(__file__).parents[4]
KERNELS = ROOT / "crates/sealift-gpu/kernels"
BY_NAME = {gpu.name: gpu for gpu in GPUS}
H200 = BY_NAME["H200"]
KINDS = ("issued", "alu", "fma", "wide", "shared", "global", "local", "tensor", "slow")
NOTHING = dict.fromkeys(KINDS, 0)
# One block of counter mode with four tables: 160 look-ups, a block read and one written.
COUNTER_MODE = {**NOTHING, "issued": 420, "alu": 243, "shared": 160, "global": 8}
LOOPS = [
    ("", {"alu": 1_000}),
    ("many.cl: ROLLED for (i = 0; i < count;) {", {"alu": 10}),
    ("aes.h: ROLLED for (round = 1;) {", {"alu": 100, "shared": 160}),
]
each_gpu = pytest.mark.parametrize("gpu", GPUS, ids=lambda gpu: gpu.name)


def limited(gpu: Gpu, counts: limits.Counts, moved_bytes: float = 32) -> int:
    whole = Grid(gpu.multiprocessors, limits.BLOCK_THREADS)
    return round(limits.limit(gpu, counts, 16, whole, moved_bytes) / 1e9)


def test_each_unit_needs_its_own_clocks() -> None:
    counts = {**NOTHING, "issued": 512, "alu": 128, "fma": 64, "wide": 64, "shared": 160}
    work = limits.units_work({**counts, "global": 8, "tensor": 8})
    clocks = limits.grid_clocks(H200, work, Grid(H200.multiprocessors, 128))
    expected = {"issue": 4, "alu": 2, "fma": 3, "load and store": 5.25, "tensor": 0.5}
    assert {unit: each / 128 for unit, each in clocks.items()} == expected


def test_the_busiest_unit_or_memory_is_the_limit() -> None:
    assert limited(H200, COUNTER_MODE) == 797
    assert limited(H200, {**COUNTER_MODE, "alu": 483}) == 554
    assert limited(H200, {**COUNTER_MODE, "issued": 1_024}) == 523
    slow = replace(H200, memory_bytes_per_s=1e12)
    assert limited(slow, COUNTER_MODE) == 500
    assert limited(slow, COUNTER_MODE, moved_bytes=16) == 797


def test_a_loop_counts_as_often_as_it_is_gone_around() -> None:
    trips = {"many.cl: ROLLED": 1, "aes.h: ROLLED": 9}
    assert limits.total(LOOPS, trips) == {"alu": 910, "shared": 1_440}
    with pytest.raises(LookupError, match=r"how often is 'aes.h: ROLLED .* gone around"):
        limits.total(LOOPS, {"many.cl: ROLLED": 1})
    several = {"": 1.0, "many.cl: ROLLED": (1.0, 5.0), "aes.h: ROLLED": 9.0}
    assert limits.total([*LOOPS, LOOPS[1]], several) == {"alu": 1_960, "shared": 1_440}


def test_the_kernels_and_the_driver_have_the_same_constants() -> None:
    text = "".join(file.read_text(encoding="utf-8") for file in KERNELS.glob("*.*"))
    # Two blocks of a group are no text.
    for name, value in {"GROUP_BLOCKS": limits.TEXT_BLOCKS + 2, "LANES": limits.LANES}.items():
        assert re.findall(rf"#define {name} (\d+)", text) == [str(value)]
    driver = (ROOT / "crates/sealift-gpu/src/message.rs").read_text(encoding="utf-8")
    found = re.findall(r"pub const GROUP_MAX: usize = (\d+);", driver)
    assert found == [str(cells.OURS_MOST)]


@pytest.mark.parametrize("architecture", ["sm_75", "sm_86", "sm_90"])
def test_the_published_program_is_counted_loop_by_loop(architecture: str) -> None:
    """By hand: 8 blocks of text, 9 rounds in a loop, 32 nibbles a product, 9 products."""
    gpu = replace(GPUS[0], architecture=architecture)
    code = limits.machine_code("lab-published-aes128", architecture, "replicated")
    counts = [loop["issued"] for _, loop in code]
    outside, power, box, column, remainder, message, key, expanded, *rest = counts
    encrypted_key, multiples, sums, sum_, encrypted_mask, _, _, *rest = rest
    text, encrypted_text, hashed_text, hashed_lengths, _ = rest
    once = outside + 256 * (power + box + column) + 16 * remainder
    alone = message + 4 * key + 40 * expanded + 9 * (encrypted_key + encrypted_mask)
    alone += 4 * multiples + 3 * sums + 11 * sum_ + 32 * hashed_lengths
    of_text = 8 * (text + 9 * encrypted_text + 32 * hashed_text)
    found = limits.published_counts(gpu, 10)
    assert found["issued"] == pytest.approx(once / 10 + alone + of_text)


@pytest.mark.parametrize("way", [limits.replicated, limits.ours], ids=lambda way: str(way.__name__))
@each_gpu
def test_lanes_without_a_thread_are_idle_and_a_fifth_warp_waits(
    gpu: Gpu, way: Callable[[Gpu, Grid], float]
) -> None:
    one, units = way(gpu, Grid(1, 1)), gpu.multiprocessors
    counts = (2, 31, 32, 33, 128)
    assert [way(gpu, Grid(1, n)) / one for n in counts] == pytest.approx(counts)
    assert way(gpu, Grid(1, 129)) < 0.6 * way(gpu, Grid(1, 128))
    assert way(gpu, Grid(1, 256)) == pytest.approx(way(gpu, Grid(1, 128)))
    blocks = (units, units + 1, 2 * units)
    found = [
        limits.replicated(gpu, Grid(n, 128)) / limits.replicated(gpu, Grid(1, 128)) for n in blocks
    ]
    assert found == pytest.approx([units, (units + 1) / 2, units])


@each_gpu
def test_no_grid_exceeds_a_block_on_each_multiprocessor(gpu: Gpu) -> None:
    most = limits.ours(gpu, Grid(gpu.multiprocessors, limits.BLOCK_THREADS))
    for grid in (Grid(1, 1), Grid(7, 100), Grid(1_000, 1_000)):
        assert limits.ours(gpu, grid) <= most * (1 + 1e-9)


def test_blocks_are_powers_of_two_below_the_first_round_and_whole_rounds() -> None:
    found = [grid.blocks for grid in rounds("", 36)]
    assert found == [1, 2, 4, 8, 16, 32, 36, 72, 108, 144]
    assert [grid.blocks for grid in rounds("", 2)] == [1, 2, 4, 6, 8]


def test_a_batch_takes_as_long_as_the_longest_of_copies_and_work() -> None:
    # A message alone takes as long as a warp of them.
    assert limits.message_ns(H200, 1) == pytest.approx(32 * limits.message_ns(H200, 32))
    bytes_there = TEXT_BYTES + 32 + 16 + 64
    assert limits.message_ns(H200, 1 << 18) == pytest.approx(
        1e9 * bytes_there / H200.link_bytes_per_s
    )


def test_types_are_projected_by_the_units_that_work_them() -> None:
    """By hand, of a whole H200: 39 instructions of floats a round, 36 doubles, 18 conversions."""
    whole = Grid(H200.multiprocessors, limits.BLOCK_THREADS)
    clocks = H200.multiprocessors * H200.clock_hz
    for name, products in {limits.FLOAT: 36 / 39 * 128, "double": 64, limits.CAST: 32}.items():
        assert limits.types_speed(H200, name, whole) == pytest.approx(products * clocks)
    # Two units convert for all four parts of sm_86; of sm_90's sixteen each part has four.
    small = limits.DOCUMENT_GPU
    alone = limits.types_speed(small, limits.CAST, Grid(1, 1))
    assert alone == pytest.approx(36 / (32 * 18 / 2) * small.clock_hz)
    assert limits.types_speed(H200, limits.CAST, Grid(1, 1)) == pytest.approx(
        36 / (32 * 18 / 4) * H200.clock_hz
    )
    assert limits.types_speed(H200, "long", whole) < limits.types_speed(H200, "int", whole)
