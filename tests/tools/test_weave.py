"""The weave of a loop is read from its machine code, and one that came apart is named."""

from collections.abc import Sequence

import pytest

import weave
from accepted import differences

WOVEN = ["vaesenc", "vpclmulqdq", "vaesenc", "vaesenclast", "vpclmulqdq", "vaesenc"]
SORTED = ["vaesenc"] * 4 + ["vpclmulqdq"] * 2
ROW = "sealift_kernels::x86_64::wide::row::run"
LOOP = f"{ROW}, loop of 4 aes and 2 clmul"


def listing(names: Sequence[str], *, function: str = ROW, more: Sequence[str] = ()) -> str:
    """A function as objdump prints it, whose instructions are a loop."""
    first = 0x1000
    code = [*(f"{name} zmm1,zmm2,zmm3" for name in names), *more]
    lines = [f"0000000000000fff <{function}>:", "     fff:\tpush   rbp"]
    lines += [f"    {first + place:x}:\t{one}" for place, one in enumerate(code)]
    end = first + len(code)
    lines += [f"    {end:x}:\tjne    {first:x} <{function}+0x1>", f"    {end + 1:x}:\tret"]
    return "\n".join(lines)


def changes(before: str, *now: str) -> list[str]:
    accepted, found = (weave.woven_loops(text) for text in (before, "\n".join(now)))
    return [*differences(accepted, found, weave.GUARD.limits)]


def loop(*, aes_in_a_row: int = 2, loops: int = 1) -> dict[str, dict[str, int]]:
    rows = {"aes in a row": aes_in_a_row, "clmul in a row": loops}
    return {LOOP: {"loops": loops, **rows, "stack stores": 0}}


def test_a_loop_is_counted_with_its_end_before_its_beginning() -> None:
    assert weave.woven_loops(listing(WOVEN)) == loop()


def test_the_loop_of_long_messages_is_looked_at_and_that_of_short_ones_is_not() -> None:
    long, short = (f"sealift_kernels::x86_64::vaes512::{name}" for name in ("long", "short"))
    both = f"{listing(WOVEN, function=long)}\n{listing(SORTED, function=short)}"
    assert [*weave.woven_loops(both)] == [f"{long}, loop of 4 aes and 2 clmul"]


def test_loops_alike_are_counted_together() -> None:
    both = f"{listing(WOVEN)}\n{listing(SORTED)}"
    assert weave.woven_loops(both) == loop(aes_in_a_row=4, loops=2)


def test_a_loop_whose_instructions_are_sorted_is_named() -> None:
    of = f"{ROW}, loop of 16 aes and 8 clmul"
    assert changes(listing(WOVEN * 4), listing(SORTED[:4] * 4 + SORTED[4:] * 4)) == [
        f"{of}: 16 aes in a row found, 2 accepted, 0 to 4 allowed.",
        f"{of}: 8 clmul in a row found, 1 accepted, 0 to 3 allowed.",
    ]


def test_another_number_of_multiplications_or_loops_is_named() -> None:
    assert changes(listing(WOVEN), listing([*WOVEN, "vpclmulqdq"])) == [
        f"{LOOP}: accepted, and not found.",
        f"{ROW}, loop of 4 aes and 3 clmul: found, and not accepted.",
    ]
    assert changes(listing(WOVEN), listing(WOVEN), listing(WOVEN)) == [
        f"{LOOP}: 2 loops found, 1 accepted, 1 to 1 allowed."
    ]


@pytest.mark.parametrize(
    "spill",
    [
        "vmovdqu64 ZMMWORD PTR [rsp+0x40],zmm7",
        "vmovdqa YMMWORD PTR [rbp-0x80],ymm1",
        "vmovups XMMWORD PTR [rsp],xmm16",
    ],
)
def test_spilled_registers_are_named(spill: str) -> None:
    assert changes(listing(WOVEN), listing(WOVEN, more=[spill] * 2)) == []
    assert changes(listing(WOVEN), listing(WOVEN, more=[spill] * 3)) == [
        f"{LOOP}: 3 stack stores found, 0 accepted, 0 to 2 allowed."
    ]


@pytest.mark.parametrize(
    "other",
    [
        "vmovdqu64 ZMMWORD PTR [rdi+0x40],zmm7",
        "vmovdqu64 zmm7,ZMMWORD PTR [rsp+0x40]",
        "mov    QWORD PTR [rsp+0x8],rax",
    ],
)
def test_what_is_no_spill_of_a_vector_is_not_named(other: str) -> None:
    assert changes(listing(WOVEN), listing(WOVEN, more=[other] * 9)) == []


def test_only_the_innermost_loop_with_both_kinds_counts() -> None:
    inner = listing(WOVEN).removesuffix("    1007:\tret")
    outer = f"    1007:\tvaesenc xmm1,xmm2,xmm3\n    1008:\tjmp    fff <{ROW}>"
    assert weave.woven_loops(inner + outer) == loop()


def test_without_a_loop_of_the_wide_kernels_nothing_is_accepted() -> None:
    forward = listing(WOVEN).replace("jne    1000", "jne    1007")
    for text in (forward, listing(WOVEN, function="other::run"), listing(["vaesenc"]), ""):
        with pytest.raises(ValueError, match="no function of"):
            weave.woven_loops(text)
