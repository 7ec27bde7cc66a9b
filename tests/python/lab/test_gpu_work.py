"""What kernels of GPUs take for messages: counts of loops, times how often they are gone around."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from sealift.lab.gpus import GPUS, Gpu, Messages, Part, long_limit, message_limit, total
from sealift.lab.gpus.work import GROUP_BLOCKS, LANES, PIECE_BLOCKS

KERNELS = Path(__file__).parents[3] / "crates/sealift-gpu/kernels"
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


@pytest.mark.parametrize("key_bits", [128, 192, 256])
def test_every_gpu_has_a_limit_for_every_way(key_bits: int) -> None:
    for limit in ways(key_bits):
        assert all(1e9 < limit(gpu) < 2e12 for gpu in GPUS)


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
