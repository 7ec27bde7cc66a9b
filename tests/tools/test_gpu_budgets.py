"""A kernel that takes more than was accepted is named, and what spills is never accepted."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

import gpu_budgets
import nvidia_tools
from accepted import differences
from gpu_budgets import GUARD
from made_gpu_crate import Compiler, made

LOOP = "aes.h: for (round = 1;;)"
OTHERS = [0] * 7
KERNEL = {
    "program": "aes128-tables1-copies32",
    "architecture": "sm_90",
    "kernel": "many",
    "registers": 128,
    "frame_bytes": 0,
    "spilled_bytes": 0,
    "shared_bytes": 0,
    "loops": [
        ["", 0, 40, 0, 0, *OTHERS],
        [LOOP, 1, 500, 300, 0, *OTHERS],
        [LOOP, 1, 50, 30, 0, *OTHERS],
    ],
}
NAME = "aes128-tables1-copies32, sm_90, many"
LISTING = """
\t.section\t.text.many,"ax",@progbits
.L_x_1:
\t//## File "many.cl", line 2
        /*0000*/                   LDS R4, [R4+0x80] ;
        /*0010*/              @!P0 BRA `(.L_x_1) ;
        /*0020*/                   EXIT ;
"""
LOG = """Compiling entry function 'many' for 'sm_90'
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
    Used 40 registers, 572 bytes cmem[0]
"""


def document(kernel: Any) -> Any:
    return {"counts": gpu_budgets.KINDS, "kernels": [kernel]}


def counted(part: int, issued: int, alu: int) -> dict[str, Any]:
    """The kernel with other counts in one of its parts."""
    kernel: dict[str, Any] = deepcopy(KERNEL)
    kernel["loops"][part][2:4] = issued, alu
    return kernel


def changes(kernel: Any) -> list[str]:
    before, now = (GUARD.counts(document(each)) for each in (KERNEL, kernel))
    return [*differences(before, now, GUARD.limits)]


def test_counts_that_moved_a_little_are_not_named() -> None:
    for kernel in (KERNEL, counted(1, 510, 294), counted(2, 54, 26)):
        assert changes(kernel) == []


def test_counts_that_grew_or_shrank_are_named_with_their_loop() -> None:
    assert changes(counted(1, 511, 290)) == [
        f"{NAME}, loop {LOOP}: 511 issued found, 500 accepted, 490 to 510 allowed.",
        f"{NAME}, loop {LOOP}: 290 alu found, 300 accepted, 294 to 306 allowed.",
    ]
    assert changes(counted(2, 50, 35)) == [
        f"{NAME}, loop {LOOP} (2): 35 alu found, 30 accepted, 26 to 34 allowed."
    ]
    assert changes(counted(0, 50, 0)) == [
        f"{NAME}, outside of loops: 50 issued found, 40 accepted, 36 to 44 allowed."
    ]


def test_more_registers_are_named_and_fewer_are_not() -> None:
    assert changes({**KERNEL, "registers": 100}) == []
    assert changes({**KERNEL, "registers": 129}) == [
        f"{NAME}: 129 registers found, 128 accepted, 0 to 128 allowed."
    ]


@pytest.mark.parametrize("what", ["spilled_bytes", "frame_bytes", "shared_bytes"])
def test_what_is_never_allowed_is_refused_but_in_the_labs_kernels(what: str) -> None:
    assert [*GUARD.refused(document(KERNEL))] == []
    kernel = {**KERNEL, what: 16}
    assert [*GUARD.refused(document(kernel))] == [f"{NAME}: {what} is 16, where 0 are allowed."]
    assert [*GUARD.refused(document({**kernel, "program": "lab-published-aes128"}))] == []


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(nvidia_tools.Nvrtc, "installed", Compiler)
    monkeypatch.setattr(gpu_budgets, "versions", lambda: {"nvidia-cuda-nvrtc-cu12": "12.0"})
    monkeypatch.setattr(gpu_budgets, "assemble", lambda *_: (LISTING, LOG))
    (tmp_path / GUARD.file).parent.mkdir(parents=True)
    return made(tmp_path)


def run(tree: Path, *more: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("sys.argv", ["gpu_budgets.py", "--root", str(tree), *more])
    return gpu_budgets.main()


def test_what_was_accepted_is_expected_from_then_on(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tree, "--write", monkeypatch=monkeypatch) == 0
    assert run(tree, monkeypatch=monkeypatch) == 0
    monkeypatch.setattr(gpu_budgets, "assemble", lambda *_: (LISTING, LOG.replace("40", "41")))
    capsys.readouterr()
    assert run(tree, monkeypatch=monkeypatch) == 1
    printed = capsys.readouterr().out
    assert f"{NAME}: 41 registers found, 40 accepted" in printed
    assert "make gpu-budgets-accept" in printed


def test_a_loop_is_called_as_its_line_of_source(tree: Path) -> None:
    found = gpu_budgets.read_code(tree, Compiler())[0]
    assert [name for name, *_ in found["loops"]] == ["", "many.cl: for (;;) {"]


def test_what_is_never_allowed_is_not_written(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spilled = LOG.replace("0 bytes spill stores", "80 bytes spill stores")
    monkeypatch.setattr(gpu_budgets, "assemble", lambda *_: (LISTING, spilled))
    assert run(tree, "--write", monkeypatch=monkeypatch) == 1
    assert not (tree / GUARD.file).exists()


def test_the_table_has_a_line_for_each_kernel_that_works_texts() -> None:
    head, line = gpu_budgets.table([KERNEL, {**KERNEL, "kernel": "long_clear"}])
    assert head.split()[:4] == ["program", "for", "kernel", "registers"]
    many = ["aes128-tables1-copies32", "sm_90", "many", "128", "500 issued, 300 alu"]
    assert line.split(maxsplit=4) == many
