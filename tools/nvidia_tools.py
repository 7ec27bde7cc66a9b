"""NVIDIA's compiler, assembler and disassembler as `make nvrtc` installs them, without a GPU."""

import ctypes
import importlib.metadata
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

MissingError = importlib.metadata.PackageNotFoundError
"""One of them is not installed."""


def compile_ptx(source: str, options: Sequence[str]) -> str:
    """The PTX that NVRTC makes of a program in CUDA C."""
    nvrtc, libc, program = _nvrtc(), ctypes.CDLL(None), ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"program.cu", 0, None, None)
    passed = (ctypes.c_char_p * len(options))(*map(str.encode, options))
    # NVRTC leaves its thread in the locale C, where Python would read files as ASCII.
    libc.uselocale.restype = ctypes.c_void_p
    locale = ctypes.c_void_p(libc.uselocale(None))
    failed = nvrtc.nvrtcCompileProgram(program, len(options), passed)
    libc.uselocale(locale)
    what, size = "ProgramLog" if failed else "PTX", ctypes.c_size_t()
    nvrtc[f"nvrtcGet{what}Size"](program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    nvrtc[f"nvrtcGet{what}"](program, text)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    if failed:
        raise ValueError(text.value.decode() or f"NVRTC failed with {failed}")
    return text.value.decode()


def assemble(ptx: str, architecture: str) -> tuple[str, str]:
    """The machine code that a driver makes of PTX for an architecture such as sm_90.

    Returns:
        What nvdisasm prints, each instruction under the source line that it is of; and what ptxas
        says of registers, frames and spills.
    """
    ptxas = _find(NVCC, "bin/ptxas")
    nvdisasm = _find(NVDISASM, "bin/nvdisasm")
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = Path(folder, "program.ptx"), Path(folder, "program.cubin")
        source.write_text(ptx, encoding="utf-8")
        options = ["--verbose", "--generate-line-info", f"--gpu-name={architecture}"]
        log = _run(ptxas, *options, f"--output-file={cubin}", str(source)).stderr
        return _run(nvdisasm, "--print-code", "--print-line-info", str(cubin)).stdout, log


def versions() -> dict[str, str]:
    """What is installed, by package."""
    return {package: importlib.metadata.version(package) for package in (NVRTC, NVCC, NVDISASM)}


@cache
def _nvrtc() -> ctypes.CDLL:
    # NVRTC opens its builtins by name only, so they have to be there before.
    ctypes.CDLL(str(_find(NVRTC, "lib/libnvrtc-builtins.so.*")), mode=ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(str(_find(NVRTC, "lib/libnvrtc.so.*")))


def _find(package: str, pattern: str) -> Path:
    files = importlib.metadata.files(package) or ()
    return Path(str(next(file.locate() for file in files if file.match(pattern))))


def _run(tool: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([str(tool), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(f"{tool.name}: {done.stderr.strip()}")
    return done


NVRTC, NVCC = "nvidia-cuda-nvrtc-cu12", "nvidia-cuda-nvcc-cu12"
NVDISASM = "nvidia-cuda-nvdisasm"
