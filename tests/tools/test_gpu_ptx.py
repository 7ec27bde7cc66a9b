"""The shipped PTX is compared with what the compiler makes of the kernels."""

from pathlib import Path

import pytest

import gpu_programs
import gpu_ptx
import nvidia_tools
from made_gpu_crate import Compiler, made

NAMES = [
    *(
        f"aes{bits}-tables{tables}-copies{copies}"
        for bits in (128, 192, 256)
        for tables, copies in ((0, 1), (1, 32), (4, 32))
    ),
    "lab-types-int",
    "lab-bmma",
]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(nvidia_tools.Nvrtc, "installed", Compiler)
    return made(tmp_path)


def run(tree: Path, *more: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("sys.argv", ["gpu_ptx.py", "--root", str(tree), *more])
    return gpu_ptx.main()


def test_a_program_is_made_for_each_key_length_and_kind_of_tables_but_the_one_for_tests(
    tree: Path,
) -> None:
    assert [program.name for program in gpu_programs.programs(tree)] == NAMES


def test_sources_are_compiled_in_the_order_of_the_host_and_with_the_numbers_of_the_program(
    tree: Path,
) -> None:
    lines = gpu_ptx.compile_all(tree, Compiler())["aes192-tables4-copies32.ptx"].splitlines()
    assert lines == [
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
    lines = gpu_ptx.compile_all(tree, Compiler())["lab-bmma.ptx"].splitlines()
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
    found = gpu_programs.programs(tree)[-1]
    assert found.architectures == ("sm_86", "sm_90")
    assert gpu_programs.source_line(tree, ("types.cl", 2)) == "for (;;) {"


def test_remarks_on_assembly_and_numbers_of_calls_are_left_out(tree: Path) -> None:
    kernel = tree / gpu_programs.KERNELS / "many.cl"
    assembly = "\t// begin inline asm\n\tmov;\n\t// end inline asm\n// kept\n"
    call = "\t{ // callseq 6, 0\n\tcall;\n\t} // callseq 6\n// kept\n"
    kernel.write_text(assembly + call, encoding="utf-8")
    text = gpu_ptx.compile_all(tree, Compiler())["aes128-tables0-copies1.ptx"]
    assert text.endswith('"many.cl"\n\tmov;\n// kept\n\t{\n\tcall;\n\t}\n// kept\n')


def test_what_was_written_is_as_compiled_until_a_kernel_changes(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tree, monkeypatch=monkeypatch) == 1
    assert capsys.readouterr().out.count("is missing") == len(NAMES)
    assert run(tree, "--write", monkeypatch=monkeypatch) == 0
    assert run(tree, monkeypatch=monkeypatch) == 0
    capsys.readouterr()
    kernel = tree / gpu_programs.KERNELS / "many.cl"
    kernel.write_text(kernel.read_text("utf-8").replace("(;;)", "(;0;)"), encoding="utf-8")
    assert run(tree, monkeypatch=monkeypatch) == 1
    told = capsys.readouterr().out.splitlines()
    file = gpu_ptx.PTX / f"{NAMES[0]}.ptx"
    assert told[0] == f"{file} is not what NVRTC makes of the kernels, from line 9 on."
    assert told[-1] == "`make gpu-ptx` makes crates/sealift-gpu/ptx anew."


def test_a_file_of_no_program_is_told_and_not_written_again(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(tree, "--write", monkeypatch=monkeypatch)
    (tree / gpu_ptx.PTX / "aes512.ptx").write_text("", encoding="utf-8")
    capsys.readouterr()
    assert run(tree, monkeypatch=monkeypatch) == 1
    assert "aes512.ptx is of no program" in capsys.readouterr().out
    run(tree, "--write", monkeypatch=monkeypatch)
    assert run(tree, monkeypatch=monkeypatch) == 0


def test_a_crate_without_numbers_or_sources_is_refused(tree: Path) -> None:
    variants = tree / gpu_programs.VARIANTS
    variants.write_text("Self::None => (0, 1),", encoding="utf-8")
    with pytest.raises(ValueError, match="includes no file of"):
        gpu_ptx.compile_all(tree, Compiler())
    variants.write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match="no numbers of tables"):
        gpu_programs.programs(tree)
    made(tree)
    (tree / gpu_programs.LAB).write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match="names no program"):
        gpu_programs.programs(tree)


def test_what_does_not_compile_is_told_with_its_program(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> str:
        raise ValueError("many.cl(2): error: expected a statement")

    monkeypatch.setattr(Compiler, "ptx", refuse)
    assert run(tree, monkeypatch=monkeypatch) == 1
    assert f"{NAMES[0]}: many.cl(2): error: expected" in capsys.readouterr().err


def test_without_a_compiler_nothing_is_compared_unless_it_is_required(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing() -> nvidia_tools.Nvrtc:
        raise nvidia_tools.MissingError("NVRTC")

    monkeypatch.setattr(nvidia_tools.Nvrtc, "installed", missing)
    monkeypatch.setenv("SEALIFT_REQUIRE", "cpu")
    assert run(tree, monkeypatch=monkeypatch) == 0
    assert "is not compared with the kernels' sources: NVRTC" in capsys.readouterr().err
    monkeypatch.setenv("SEALIFT_REQUIRE", "cpu,nvrtc")
    assert run(tree, monkeypatch=monkeypatch) == 1
    assert "SEALIFT_REQUIRE names nvrtc, but NVRTC is not" in capsys.readouterr().err
