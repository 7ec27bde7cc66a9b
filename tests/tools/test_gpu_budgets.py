"""A kernel that takes more than was accepted is told, and what spills is never accepted."""

from dataclasses import replace
from pathlib import Path

import pytest

import gpu_budgets
import nvidia_tools
from gpu_budgets import Found, Part
from machine_code import COUNTED, Resources
from made_gpu_crate import Compiler, made

NOTHING = dict.fromkeys(gpu_budgets.KINDS, 0)
LOOP = "aes.h: for (round = 1;;)"
KERNEL = Found(
    "aes128-tables1-copies32",
    "sm_90",
    "many",
    Resources(128, 0, 0, 0),
    (
        Part("", 0, {**NOTHING, "issued": 40}),
        Part(LOOP, 1, {**NOTHING, "issued": 500, "alu": 300, "shared": 160}),
        Part(LOOP, 1, {**NOTHING, "issued": 50, "alu": 30}),
    ),
)
TOLD = "aes128-tables1-copies32, sm_90, many"
VERSIONS = {"nvidia-cuda-nvrtc-cu12": "12.0"}
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


def changed(part: int, **counts: int) -> Found:
    """The kernel with other counts in one of its parts."""
    parts = list(KERNEL.parts)
    parts[part] = replace(parts[part], counts={**parts[part].counts, **counts})
    return replace(KERNEL, parts=tuple(parts))


def told(*found: Found) -> list[str]:
    return sorted(gpu_budgets.differences([KERNEL], found))


def test_counts_that_moved_a_little_are_not_told() -> None:
    assert told(KERNEL) == []
    assert told(changed(1, issued=510, alu=294, shared=164)) == []
    assert told(changed(2, issued=54, alu=26)) == []


def test_counts_that_grew_or_shrank_are_told_with_their_loop() -> None:
    assert told(changed(1, issued=511, alu=290)) == [
        f"{TOLD}, loop {LOOP}: 290 alu found, 300 expected.",
        f"{TOLD}, loop {LOOP}: 511 issued found, 500 expected.",
    ]
    assert told(changed(2, alu=35)) == [f"{TOLD}, loop {LOOP} (2): 35 alu found, 30 expected."]
    assert told(changed(0, issued=50)) == [
        f"{TOLD}, outside of loops: 50 issued found, 40 expected."
    ]


def test_more_registers_are_told_and_fewer_are_not() -> None:
    more, fewer = (replace(KERNEL, resources=Resources(n, 0, 0, 0)) for n in (129, 100))
    assert told(more) == [f"{TOLD}: 129 registers found, 128 expected."]
    assert told(fewer) == []


def test_loops_and_kernels_that_came_or_went_are_told() -> None:
    assert told(replace(KERNEL, parts=KERNEL.parts[:2])) == [
        f"{TOLD}, loop {LOOP} (2): expected, and not found."
    ]
    assert told(replace(KERNEL, kernel="long")) == [
        "aes128-tables1-copies32, sm_90, long: found, and not expected.",
        f"{TOLD}: expected, and not found.",
    ]


@pytest.mark.parametrize(
    ("resources", "said"),
    [
        (Resources(128, 0, 8, 0), "8 bytes of spilled registers, where 0 are"),
        (Resources(128, 16, 0, 0), "16 bytes of local memory, where 0 are"),
        (Resources(128, 0, 0, 1024), "1024 bytes of static shared memory, where 0 are"),
    ],
)
def test_what_is_never_allowed_is_refused(resources: Resources, said: str) -> None:
    assert list(gpu_budgets.refused([KERNEL])) == []
    found = replace(KERNEL, resources=resources)
    assert list(gpu_budgets.refused([found])) == [f"{TOLD}: {said} allowed."]


def test_the_labs_kernels_may_keep_tables_in_local_memory() -> None:
    takes = Resources(64, 11_248, 16, 32_768)
    kernel = replace(changed(1, local=70), program="lab-published-aes128", resources=takes)
    assert list(gpu_budgets.refused([kernel])) == []


def test_what_was_written_is_read(tmp_path: Path) -> None:
    gpu_budgets.write(tmp_path / "file", [KERNEL, replace(KERNEL, kernel="long")], VERSIONS)
    found, origin = gpu_budgets.read(tmp_path / "file")
    assert found == [KERNEL, replace(KERNEL, kernel="long")]
    assert origin == VERSIONS


def test_every_counted_kind_is_in_the_file() -> None:
    assert set(COUNTED) < set(gpu_budgets.KINDS)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    code = nvidia_tools.Assembled(LISTING, LOG)
    monkeypatch.setattr(nvidia_tools.Nvrtc, "installed", Compiler)
    monkeypatch.setattr(gpu_budgets, "versions", lambda: VERSIONS)
    monkeypatch.setattr(gpu_budgets, "assembled", lambda _ptx, _architecture: code)
    (tmp_path / gpu_budgets.EXPECTED).parent.mkdir(parents=True)
    return made(tmp_path)


def run(tree: Path, *more: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("sys.argv", ["gpu_budgets.py", "--root", str(tree), *more])
    return gpu_budgets.main()


def test_written_counts_are_expected_from_then_on(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tree, monkeypatch=monkeypatch) == 1
    assert "gpu-machine-code.json" in capsys.readouterr().err
    assert run(tree, "--write", monkeypatch=monkeypatch) == 0
    assert run(tree, monkeypatch=monkeypatch) == 0
    more = nvidia_tools.Assembled(LISTING, LOG.replace("40", "41"))
    monkeypatch.setattr(gpu_budgets, "assembled", lambda _ptx, _architecture: more)
    capsys.readouterr()
    assert run(tree, monkeypatch=monkeypatch) == 1
    said = capsys.readouterr().out
    assert f"{TOLD}: 41 registers found, 40 expected." in said
    assert "make gpu-budgets-accept" in said
    monkeypatch.setattr(gpu_budgets, "versions", lambda: {"nvidia-cuda-nvrtc-cu12": "13.0"})
    assert run(tree, monkeypatch=monkeypatch) == 1
    assert "nvidia-cuda-nvrtc-cu12 12.0; here is nvidia-cuda-nvrtc-cu12 13.0" in (
        capsys.readouterr().out
    )


def test_a_loop_is_called_as_its_line_of_source(tree: Path) -> None:
    found = next(gpu_budgets.read_code(tree, Compiler()))
    assert [part.loop for part in found.parts] == ["", "many.cl: for (;;) {"]


def test_what_is_never_allowed_is_not_written(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spilled = nvidia_tools.Assembled(
        LISTING, LOG.replace("0 bytes spill stores", "80 bytes spill stores")
    )
    monkeypatch.setattr(gpu_budgets, "assembled", lambda _ptx, _architecture: spilled)
    assert run(tree, "--write", monkeypatch=monkeypatch) == 1
    assert "80 bytes of spilled registers, where 0 are allowed" in capsys.readouterr().out
    assert not (tree / gpu_budgets.EXPECTED).exists()


def test_without_a_compiler_nothing_is_looked_at_unless_it_is_required(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing() -> dict[str, str]:
        raise nvidia_tools.MissingError("NVRTC is not installed here")

    monkeypatch.setattr(gpu_budgets, "versions", missing)
    monkeypatch.delenv("SEALIFT_REQUIRE", raising=False)
    assert run(tree, monkeypatch=monkeypatch) == 0
    assert "is not looked at: NVRTC is not installed here" in capsys.readouterr().err
    monkeypatch.setenv("SEALIFT_REQUIRE", "nvrtc")
    assert run(tree, monkeypatch=monkeypatch) == 1


def test_the_table_has_a_line_for_each_kernel_that_works_texts() -> None:
    short = replace(KERNEL, kernel="long_clear", parts=KERNEL.parts[:1])
    head, line = gpu_budgets.table([KERNEL, short])
    assert head.split()[:4] == ["program", "for", "kernel", "registers"]
    assert line.split(maxsplit=4) == [
        *("aes128-tables1-copies32", "sm_90", "many", "128"),
        "500 issued, 300 alu, 160 shared",
    ]
