"""The weave of a loop is read from its machine code, and one that came apart is told."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import weave

WOVEN = ["vaesenc", "vpclmulqdq", "vaesenc", "vaesenclast", "vpclmulqdq", "vaesenc"]
SORTED = ["vaesenc"] * 4 + ["vpclmulqdq"] * 2
ROW = "sealift_kernels::x86_64::wide::row::run"
TOLD = f"{ROW}, loop of 4 aes and 2 clmul"


def listing(names: Sequence[str], *, function: str = ROW, more: Sequence[str] = ()) -> str:
    """A function as objdump prints it, whose instructions are a loop."""
    first = 0x1000
    code = [*(f"{name} zmm1,zmm2,zmm3" for name in names), *more]
    lines = [f"0000000000000fff <{function}>:", "     fff:\tpush   rbp"]
    lines += [f"    {first + place:x}:\t{one}" for place, one in enumerate(code)]
    end = first + len(code)
    lines += [f"    {end:x}:\tjne    {first:x} <{function}+0x1>", f"    {end + 1:x}:\tret"]
    return "\n".join(lines)


def found(*texts: str) -> list[weave.Loops]:
    return weave.grouped(weave.woven_loops(weave.functions("\n".join(texts))))


def told(*texts: str) -> list[str]:
    return list(weave.differences(found(listing(WOVEN)), found(*texts)))


def test_a_loop_is_counted_with_its_end_before_its_beginning() -> None:
    [loop] = found(listing(WOVEN))
    assert loop == weave.Loops(ROW, 4, 2, 1, 2, 1, 0)


def test_the_loop_of_long_messages_is_looked_at_and_that_of_short_ones_is_not() -> None:
    long, short = (f"sealift_kernels::x86_64::vaes512::{name}" for name in ("long", "short"))
    loops = found(listing(WOVEN, function=long), listing(SORTED, function=short))
    assert [loop.function for loop in loops] == [long]


def test_loops_alike_are_counted_together() -> None:
    [loops] = found(listing(WOVEN), listing(SORTED))
    assert loops == weave.Loops(ROW, 4, 2, 2, 4, 2, 0)


def test_what_is_as_expected_is_not_told() -> None:
    assert told(listing(WOVEN)) == []


def test_a_loop_whose_instructions_are_sorted_is_told() -> None:
    before = found(listing(WOVEN * 4))
    now = found(listing(SORTED[:4] * 4 + SORTED[4:] * 4))
    loop = f"{ROW}, loop of 16 aes and 8 clmul"
    assert list(weave.differences(before, now)) == [
        f"{loop}: 16 aes in a row found, 2 expected, at most 4 allowed.",
        f"{loop}: 8 clmul in a row found, 1 expected, at most 3 allowed.",
    ]


def test_another_number_of_multiplications_is_told() -> None:
    assert told(listing([*WOVEN, "vpclmulqdq"])) == [
        f"{TOLD}: expected, and not found.",
        f"{ROW}, loop of 4 aes and 3 clmul: found, and not expected.",
    ]


def test_another_number_of_loops_is_told() -> None:
    assert told(listing(WOVEN), listing(WOVEN)) == [f"{TOLD}: 2 of them found, 1 expected."]


@pytest.mark.parametrize(
    "spill",
    [
        "vmovdqu64 ZMMWORD PTR [rsp+0x40],zmm7",
        "vmovdqa YMMWORD PTR [rbp-0x80],ymm1",
        "vmovups XMMWORD PTR [rsp],xmm16",
    ],
)
def test_spilled_registers_are_told(spill: str) -> None:
    assert told(listing(WOVEN, more=[spill] * 2)) == []
    assert told(listing(WOVEN, more=[spill] * 3)) == [
        f"{TOLD}: 3 vector stores to the stack found, 0 expected, at most 2 allowed."
    ]


@pytest.mark.parametrize(
    "other",
    [
        "vmovdqu64 ZMMWORD PTR [rdi+0x40],zmm7",
        "vmovdqu64 zmm7,ZMMWORD PTR [rsp+0x40]",
        "mov    QWORD PTR [rsp+0x8],rax",
    ],
)
def test_what_is_no_spill_of_a_vector_is_not_told(other: str) -> None:
    assert told(listing(WOVEN, more=[other] * 9)) == []


def test_only_the_innermost_loop_with_both_kinds_counts() -> None:
    inner = listing(WOVEN).removesuffix("    1007:\tret")
    outer = f"    1007:\tvaesenc xmm1,xmm2,xmm3\n    1008:\tjmp    fff <{ROW}>"
    [loop] = found(inner + outer)
    assert loop.aes == 4


def test_without_a_loop_of_the_wide_kernels_nothing_is_accepted() -> None:
    forward = listing(WOVEN).replace("jne    1000", "jne    1007")
    for text in (forward, listing(WOVEN, function="other::run"), listing(["vaesenc"]), ""):
        with pytest.raises(ValueError, match="no function of"):
            found(text)


def run(tree: Path, *more: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("sys.argv", ["weave.py", "--root", str(tree), *more, "a program"])
    return weave.main()


def test_written_loops_are_expected_from_then_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / weave.EXPECTED).parent.mkdir(parents=True)
    monkeypatch.setattr(weave, "_disassembled", lambda _: listing(WOVEN))
    assert run(tmp_path, monkeypatch=monkeypatch) == 1
    assert "weave.json" in capsys.readouterr().err
    assert run(tmp_path, "--write", monkeypatch=monkeypatch) == 0
    assert run(tmp_path, monkeypatch=monkeypatch) == 0
    monkeypatch.setattr(weave, "_disassembled", lambda _: listing(WOVEN[1:]))
    assert run(tmp_path, monkeypatch=monkeypatch) == 1
    assert "make weave-accept" in capsys.readouterr().out
