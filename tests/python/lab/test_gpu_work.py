"""What kernels of GPUs take for messages: counts of loops, times how often they are gone around."""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sealift.lab.gpus import GPUS, Gpu, Messages, Part, long_limit, message_limit, total
from sealift.lab.gpus.cells import OURS_MOST
from sealift.lab.gpus.work import (
    BOX_BYTES,
    COLUMN_BYTES,
    GROUP_BLOCKS,
    LANES,
    MULTIPLES_BYTES,
    PIECE_BLOCKS,
    REMAINDER_BYTES,
    in_order,
    machine_code,
    published_bytes,
    published_counts,
)

ROOT = Path(__file__).parents[3]
KERNELS = ROOT / "crates/sealift-gpu/kernels"
PUBLISHED = KERNELS / "lab/published.cl"
ARCHITECTURES = ("sm_75", "sm_86", "sm_90")
PARTS = [
    Part("", {"alu": 1_000}),
    Part("many.cl: ROLLED for (i = 0; i < count;) {", {"alu": 10}),
    Part("aes.h: ROLLED for (round = 1;) {", {"alu": 100, "shared": 160}),
]


def ways(key_bits: int) -> list[Callable[[Gpu], float]]:
    """Each limit of a key length, as a function of the GPU."""
    short = Messages(key_bits, 128)
    return [
        lambda gpu: message_limit(gpu, short).bytes_per_s,
        lambda gpu: message_limit(gpu, short, strict=True).bytes_per_s,
        lambda gpu: long_limit(gpu, key_bits).bytes_per_s,
        lambda gpu: long_limit(gpu, key_bits, strict=True).bytes_per_s,
    ]


def test_a_loop_counts_as_often_as_a_message_goes_around_it_and_the_rest_not() -> None:
    times = {"many.cl: ROLLED": 1, "aes.h: ROLLED": 9}
    assert total(PARTS, times) == {"alu": 910, "shared": 1_440}


def test_a_loop_of_which_nobody_said_how_often_it_is_gone_around_is_refused() -> None:
    with pytest.raises(LookupError, match=r"aes.h: ROLLED for .* Say it in sealift.lab.gpus.work"):
        total(PARTS, {"many.cl: ROLLED": 1})


@pytest.mark.parametrize(
    ("text_bytes", "blocks", "groups"),
    [(0, 0, 1), (1, 1, 1), (128, 8, 1), (129, 9, 2), (288, 18, 2), (289, 19, 3), (2048, 128, 13)],
)
def test_the_first_group_of_a_message_has_two_blocks_fewer_of_its_text(
    text_bytes: int, blocks: int, groups: int
) -> None:
    messages = Messages(128, text_bytes)
    assert (messages.blocks, messages.groups) == (blocks, groups)


def test_aad_and_lengths_are_hashed_too() -> None:
    assert Messages(128, 128).products == 9
    assert Messages(128, 128, aad_bytes=17).products == 11


def test_the_kernels_have_the_same_constants() -> None:
    text = "".join(file.read_text(encoding="utf-8") for file in KERNELS.glob("*.*"))
    ours = {"LANES": LANES, "PIECE_BLOCKS": PIECE_BLOCKS, "GROUP_BLOCKS": GROUP_BLOCKS}
    for name, value in ours.items():
        assert re.findall(rf"#define {name} (\d+)", text) == [str(value)]


def test_the_driver_takes_as_many_threads_of_a_block_as_the_lab_asks_for() -> None:
    text = (ROOT / "crates/sealift-gpu/src/message.rs").read_text(encoding="utf-8")
    assert re.findall(r"pub const GROUP_MAX: usize = (\d+);", text) == [str(OURS_MOST)]


def test_what_a_published_thread_reads_is_what_its_program_keeps_but_for_how_it_is_made() -> None:
    struct = PUBLISHED.read_text(encoding="utf-8").partition("} private_tables;")[0]
    fields = re.findall(r"^    (u8|u32|u64) (\w+)((?:\[\d+\])+);", struct, re.M)
    size_bytes = {"u8": 1, "u32": 4, "u64": 8}
    sizes = {
        name: size_bytes[kind] * math.prod(map(int, re.findall(r"\d+", dimensions)))
        for kind, name, dimensions in fields
    }
    made_only = {"reverse", "power", "logarithm", "reverse_box"}
    assert sizes.keys() == {"high", "low", "column", "remainder", "box"} | made_only
    assert (sizes["column"], sizes["box"], sizes["remainder"]) == (
        COLUMN_BYTES,
        BOX_BYTES,
        REMAINDER_BYTES,
    )
    assert sizes["high"] + sizes["low"] == MULTIPLES_BYTES
    kept = sum(sizes[name] for name in sizes.keys() - made_only)
    assert [published_bytes(bits) for bits in (128, 256)] == [kept + 16 * 11, kept + 16 * 15]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("kernel", ["replicated", "partitioned"])
def test_the_published_program_is_counted_loop_by_loop(architecture: str, kernel: str) -> None:
    """By hand: 8 blocks of text, 9 rounds in a loop, 32 nibbles a product, 9 products."""
    gpu = replace(GPUS[0], architecture=architecture)
    is_partitioned = kernel == "partitioned"
    counts = [part.counts["issued"] for part in machine_code(LAB, architecture, kernel)]
    outside, power, box, column, remainder, message, key, expanded, *rest = counts
    encrypted_key, multiples, sums, sum_, encrypted_mask, aad, of_aad, *rest = rest
    text, encrypted_text, hashed_text, hashed_lengths, zeros = rest
    assert min(aad, of_aad, zeros) > 0
    once = outside + 256 * (power + box + column) + 16 * remainder
    alone = message + 4 * key + 40 * expanded + 9 * (encrypted_key + encrypted_mask)
    alone += 4 * multiples + 3 * sums + 11 * sum_ + 32 * hashed_lengths
    of_text = 8 * (text + 9 * encrypted_text + 32 * hashed_text)
    found = published_counts(gpu, Messages(128, 128), each=10, partitioned=is_partitioned)
    assert found["issued"] == pytest.approx(once / 10 + alone + of_text)


def test_additional_data_and_longer_keys_are_more_work_of_the_published_program() -> None:
    gpu = GPUS[0]
    plain = published_counts(gpu, Messages(128, 128), each=64)["issued"]
    more = published_counts(gpu, Messages(128, 128, aad_bytes=17), each=64)["issued"]
    longer = published_counts(gpu, Messages(256, 128), each=64)["issued"]
    assert plain < more < 1.2 * plain
    assert plain < longer < 1.5 * plain


def test_loops_in_another_order_are_refused() -> None:
    times = [("", 1.0), ("many.cl: ROLLED", 1.0), ("aes.h: ROLLED", 9.0)]
    assert in_order(PARTS, times) == {"alu": 1_910, "shared": 1_440}
    with pytest.raises(LookupError, match=r"'many.cl: .*' where 'aes.h: ROLLED' is known"):
        in_order(PARTS, [times[0], times[2], times[1]])
    with pytest.raises(LookupError, match="3 loops, of 2"):
        in_order(PARTS, times[:2])


@pytest.mark.parametrize("key_bits", [128, 192, 256])
def test_every_gpu_has_a_limit_for_every_way(key_bits: int) -> None:
    for limit in ways(key_bits):
        assert all(1e9 < limit(gpu) < 2e12 for gpu in GPUS)


def test_limits_are_near_what_was_counted_by_hand() -> None:
    """Before there was machine code: messages of 128 B of their own keys, in GB/s."""
    by_name = {gpu.name: gpu for gpu in GPUS}
    for name, by_hand in (("H200", 418), ("RTX 4070", 98)):
        limit = message_limit(by_name[name], Messages(128, 128)).bytes_per_s
        assert limit / 1e9 == pytest.approx(by_hand, rel=0.25)


def test_limits_go_with_what_a_gpu_has() -> None:
    by_name = {gpu.name: gpu for gpu in GPUS}
    order = [by_name[name] for name in ("RTX 3050", "RTX 4060", "RTX 4070", "H200")]
    for limit in ways(128):
        limits = [limit(gpu) for gpu in order]
        assert limits == sorted(limits)


def test_longer_keys_take_longer() -> None:
    for gpu in GPUS:
        by_bits = ([limit(gpu) for limit in ways(bits)] for bits in (128, 192, 256))
        assert all(one > two > three for one, two, three in zip(*by_bits, strict=True))


LAB = "lab-published-aes128"
