"""The shipped PTX is that of the kernels; what they take more than was accepted is named."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

import gpu_kernels
from accepted import differences
from gpu_kernels import GUARD, refused
from machine_code import Part
from nvidia_tools import MissingError

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
NAMES = [
    *(
        f"aes{bits}-tables{tables}-copies{copies}"
        for bits in (128, 192, 256)
        for tables, copies in ((0, 1), (1, 32), (4, 32))
    ),
    "lab-types-int",
    "lab-bmma",
]
VARIANTS = """
const SOURCES: [(&str, &str); 2] = [
    ("first.h", include_str!("../kernels/first.h")),
    ("many.cl", include_str!("../kernels/many.cl")),
];
fn numbers() {
            Self::None => (0, 1),
            Self::OneForEachLane => (1, 32),
            Self::FourForEachLane => (4, 32),
            Self::OneShared => (1, 1),
}
"""

LAB = """
    "lab-types-int" for 75: "types.cl" with TYPE = 0;
    "lab-bmma" for 80: "bmma.cl" with CHAINS = 8;
"""
KERNELS = {
    "first.h": "typedef unsigned u32;\n",
    "many.cl": "void many() {\n    for (;;) {\n    }\n}\n",
    "dialect.h": "typedef unsigned u32;\n",
    "message.h": "#define LANES 32\n",
    "lab/lab.h": "#define GROUP_MAX 1024\n",
    "lab/types.cl": "void types() {\n    for (;;) {\n    }\n}\n",
    "lab/bmma.cl": "void bmma() {}\n",
}
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
    return {"counts": gpu_kernels.KINDS, "kernels": [kernel]}


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
    assert [*refused([KERNEL])] == []
    kernel = {**KERNEL, what: 16}
    assert [*refused([kernel])] == [f"{NAME}: {what} is 16, where 0 are allowed."]
    assert [*refused([{**kernel, "program": "lab-published-aes128"}])] == []


def compiled(source: str, options: Sequence[str]) -> str:
    """In place of NVRTC: its PTX is the options and the source."""
    return "\n".join([*options, source])


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A crate with kernels of GPUs."""
    monkeypatch.setattr(gpu_kernels, "compile_ptx", compiled)
    monkeypatch.setattr(gpu_kernels, "versions", lambda: {"nvidia-cuda-nvrtc-cu12": "12.0"})
    monkeypatch.setattr(gpu_kernels, "assemble", lambda *_: (LISTING, LOG))
    kernels = {gpu_kernels.KERNELS / name: text for name, text in KERNELS.items()}
    others = {gpu_kernels.VARIANTS: VARIANTS, gpu_kernels.LAB: LAB, Path(GUARD.file): ""}
    for name, text in (kernels | others).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(tree: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    def main(*more: str) -> int:
        monkeypatch.setattr("sys.argv", ["gpu_kernels.py", "--root", str(tree), *more])
        return gpu_kernels.main()

    return main


def ptx(tree: Path, name: str) -> str:
    """The PTX of a program."""
    [found] = (each for each in gpu_kernels.programs(tree) if each.name == name)
    return found.ptx(tree)


def test_what_was_accepted_is_expected_from_then_on(
    run: Callable[..., int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("ptx") == 0
    assert run("accept") == 0
    assert run() == 0
    monkeypatch.setattr(gpu_kernels, "assemble", lambda *_: (LISTING, LOG.replace("40", "41")))
    capsys.readouterr()
    assert run() == 1
    printed = capsys.readouterr().out
    assert f"{NAME}: 41 registers found, 40 accepted" in printed
    assert "make gpu-budgets-accept" in printed


def test_a_loop_is_called_as_its_line_of_source(tree: Path) -> None:
    found = gpu_kernels.read_code(tree)[0]
    assert [name for name, *_ in found["loops"]] == ["", "many.cl: for (;;) {"]
    of_lab = Part([], place=("types.cl", 2))
    assert gpu_kernels.part_name(tree, of_lab) == "types.cl: for (;;) {"


def test_what_is_never_allowed_is_not_written(
    run: Callable[..., int], tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spilled = LOG.replace("0 bytes spill stores", "80 bytes spill stores")
    monkeypatch.setattr(gpu_kernels, "assemble", lambda *_: (LISTING, spilled))
    run("ptx")
    assert run("accept") == 1
    assert (tree / GUARD.file).read_text() == ""


def test_a_program_is_made_for_each_key_length_and_kind_of_tables_but_the_one_for_tests(
    tree: Path,
) -> None:
    assert [program.name for program in gpu_kernels.programs(tree)] == NAMES


def test_sources_are_compiled_in_the_order_of_the_host_and_with_the_numbers_of_the_program(
    tree: Path,
) -> None:
    assert ptx(tree, "aes192-tables4-copies32").splitlines() == [
        "--gpu-architecture=compute_90",
        "--define-macro=KEY_WORDS=6",
        "--define-macro=TABLES=4",
        "--define-macro=COPIES=32",
        '#line 1 "first.h"',
        "typedef unsigned u32;",
        '#line 1 "many.cl"',
        "void many() {",
        "    for (;;) {",
        "    }",
        "}",
    ]


def test_a_program_of_the_lab_is_compiled_as_its_line_says(tree: Path) -> None:
    lines = ptx(tree, "lab-bmma").splitlines()
    assert lines[:3] == [
        "--gpu-architecture=compute_80",
        "--define-macro=TABLES=0",
        "--define-macro=CHAINS=8",
    ]
    assert lines[3::2] == [
        '#line 1 "dialect.h"',
        '#line 1 "message.h"',
        '#line 1 "lab/lab.h"',
        '#line 1 "lab/bmma.cl"',
    ]
    of_it = [each for each in gpu_kernels.read_code(tree) if each["program"] == "lab-bmma"]
    assert [each["architecture"] for each in of_it] == ["sm_86", "sm_90"]


def test_remarks_on_assembly_and_numbers_of_calls_are_left_out(tree: Path) -> None:
    kernel = tree / gpu_kernels.KERNELS / "many.cl"
    assembly = "\t// begin inline asm\n\tmov;\n\t// end inline asm\n// kept\n"
    call = "\t{ // callseq 6, 0\n\tcall;\n\t} // callseq 6\n// kept\n"
    kernel.write_text(assembly + call, encoding="utf-8")
    text = ptx(tree, "aes128-tables0-copies1")
    assert text.endswith('"many.cl"\n\tmov;\n// kept\n\t{\n\tcall;\n\t}\n// kept\n')


def test_what_was_written_is_as_compiled_until_a_kernel_changes(
    run: Callable[..., int], tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("accept") == 1
    assert capsys.readouterr().out.count("is not what NVRTC makes") == len(NAMES)
    assert run("ptx") == 0
    assert run("accept") == 0
    capsys.readouterr()
    kernel = tree / gpu_kernels.KERNELS / "many.cl"
    kernel.write_text(kernel.read_text("utf-8").replace("(;;)", "(;0;)"), encoding="utf-8")
    assert run() == 1
    file = gpu_kernels.PTX / f"{NAMES[0]}.ptx"
    told = f"{file} is not what NVRTC makes of the kernels: call `make gpu-ptx`"
    assert capsys.readouterr().out.splitlines()[0] == told


def test_a_file_of_no_program_is_told_and_not_written_again(
    run: Callable[..., int], tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("ptx")
    (tree / gpu_kernels.PTX / "aes512.ptx").write_text("", encoding="utf-8")
    capsys.readouterr()
    assert run("accept") == 1
    assert "aes512.ptx is not what NVRTC makes" in capsys.readouterr().out
    assert run("ptx") == 0
    assert not (tree / gpu_kernels.PTX / "aes512.ptx").exists()


def test_what_does_not_compile_is_told_with_its_program(
    run: Callable[..., int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> str:
        raise ValueError("many.cl(2): error: expected a statement")

    monkeypatch.setattr(gpu_kernels, "compile_ptx", refuse)
    assert run() == 1
    assert f"{NAMES[0]}: many.cl(2): error: expected" in capsys.readouterr().err


def test_without_a_compiler_nothing_is_compared_unless_it_is_required(
    run: Callable[..., int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing() -> dict[str, str]:
        raise MissingError("NVRTC")

    monkeypatch.setattr(gpu_kernels, "versions", missing)
    for required, code in (("cpu", 0), ("cpu,nvrtc", 1)):
        monkeypatch.setenv("SEALIFT_REQUIRE", required)
        assert run() == code
        assert "are not checked: NVRTC is not installed" in capsys.readouterr().err
