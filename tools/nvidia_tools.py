"""NVIDIA's compiler, assembler and disassembler as `make nvrtc` installs them, without a GPU."""

import ctypes
import importlib.metadata
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import run_report

MissingError = importlib.metadata.PackageNotFoundError
"""One of them is not installed."""


@dataclass(frozen=True)
class Nvrtc:
    """The compiler from CUDA C to PTX, by the folder of its libraries."""

    folder: Path

    @classmethod
    def installed(cls) -> "Nvrtc":
        """The one in this environment."""
        return cls(_find(NVRTC, "lib/libnvrtc.so.*").parent)

    def ptx(self, source: str, options: Sequence[str]) -> str:
        """The PTX of a program in CUDA C."""
        program = ctypes.c_void_p()
        name = b"program.cu"
        self._call("CreateProgram", ctypes.byref(program), source.encode(), name, 0, None, None)
        try:
            passed = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
            with _own_locale():
                failed = self._library.nvrtcCompileProgram(program, len(options), passed)
            if failed:
                raise ValueError(self._text(program, "ProgramLog"))
            return self._text(program, "PTX")
        finally:
            self._call("DestroyProgram", ctypes.byref(program))

    def _text(self, program: ctypes.c_void_p, what: str) -> str:
        size = ctypes.c_size_t()
        self._call(f"Get{what}Size", program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        self._call(f"Get{what}", program, text)
        return text.value.decode()

    def _call(self, name: str, *arguments: object) -> None:
        if failed := getattr(self._library, f"nvrtc{name}")(*arguments):
            raise ValueError(f"nvrtc{name} failed with {failed}")

    @cached_property
    def _library(self) -> ctypes.CDLL:
        # NVRTC opens its builtins by name only, so they have to be there before.
        for library in self.folder.glob("libnvrtc-builtins.so.*"):
            ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
        return ctypes.CDLL(str(next(self.folder.glob("libnvrtc.so.*"))))


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


def without(error: MissingError, left_out: str) -> int:
    """Says what is not done where one is missing; 1 where SEALIFT_REQUIRE names nvrtc, else 0."""
    reason = f"{error.name} is not installed here: `make nvrtc` installs it"
    run_report.skipped("nvrtc", reason)
    required = "nvrtc" in run_report.required()
    print(
        "SEALIFT_REQUIRE names nvrtc, but" if required else f"{left_out}:", reason, file=sys.stderr
    )
    return int(required)


@contextmanager
def _own_locale() -> Iterator[None]:
    """NVRTC leaves its thread in the locale C, where Python would read files as ASCII."""
    libc = ctypes.CDLL(None)
    libc.uselocale.restype = ctypes.c_void_p
    own = libc.uselocale(None)
    try:
        yield
    finally:
        libc.uselocale(ctypes.c_void_p(own))


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
