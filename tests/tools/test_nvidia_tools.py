"""NVIDIA's compiler and assembler are called as they want, where `make nvrtc` has put them."""

import locale
from concurrent.futures import ThreadPoolExecutor

import pytest

import machine_code
from conftest import skip
from nvidia_tools import MissingError, assemble, compile_ptx, versions
from run_report import ran

ARCHITECTURE = ["--gpu-architecture=compute_75"]
LINES = [*ARCHITECTURE, "--generate-line-info"]
SOURCE = """#line 1 "sum.cl"
extern "C" __global__ void sum(const unsigned *from, unsigned *to, unsigned count) {
    unsigned all = 0;
#pragma unroll 1
    for (unsigned i = 0; i < count; i++) all ^= from[i];
    *to = all;
}
"""


try:
    versions()
except MissingError as error:
    skip("nvrtc", str(error))
ran("nvrtc")


@pytest.mark.parametrize("architecture", ["sm_75", "sm_86", "sm_90"])
def test_a_kernel_becomes_machine_code_whose_loop_is_found_at_its_line(architecture: str) -> None:
    listing, log = assemble(compile_ptx(SOURCE, LINES), architecture)
    [kernel] = machine_code.kernels(listing)
    assert kernel.name == "sum"
    _, loop = kernel.parts()
    assert loop.place == ("sum.cl", 4)
    assert machine_code.counts(loop.code)["global"] == 1
    assert machine_code.resources(log)["sum"]["spilled_bytes"] == 0


def test_source_lines_change_no_instruction() -> None:
    listings = [assemble(compile_ptx(SOURCE, each), "sm_90")[0] for each in (ARCHITECTURE, LINES)]
    one, other = (
        [each.opcode for each in next(machine_code.kernels(text)).code] for text in listings
    )
    assert one == other


def test_a_thread_keeps_its_locale() -> None:
    def encodings() -> list[str]:
        before = locale.getpreferredencoding(do_setlocale=False)
        compile_ptx(SOURCE, ARCHITECTURE)
        return [before, locale.getpreferredencoding(do_setlocale=False)]

    # A fresh thread, which nothing compiled in before.
    with ThreadPoolExecutor(max_workers=1) as pool:
        before, after = pool.submit(encodings).result()
    assert after == before


def test_what_does_not_compile_is_told_with_its_line() -> None:
    with pytest.raises(ValueError, match=r'sum.cl\(5\): error: identifier "whole" is undefined'):
        compile_ptx(SOURCE.replace("*to = all", "*to = whole"), ARCHITECTURE)


def test_what_is_no_ptx_is_told() -> None:
    with pytest.raises(ValueError, match="ptxas: "):
        assemble("nothing of the kind", "sm_90")
