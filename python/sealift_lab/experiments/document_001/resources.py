"""Resources that this process holds from now on, as a condition says."""

import ctypes
from collections.abc import Callable

from sealift_lab import _lab
from sealift_lab.experiments.document_001 import condition as conditions
from sealift_lab.model.sample import Skip


class Resources:
    """A condition of this process, from when it is made."""

    def __init__(self, condition: str) -> None:
        """Acquires the resources.

        Args:
            condition: One of `CONDITIONS`.

        Raises:
            Skip: If this machine has none; with what would help.
            NotMeasurableError: If the system refuses them.
            ValueError: If there is no such condition.
        """
        acquire = FOREIGN.get(condition)
        self._foreign = acquire() if acquire else None
        self._native = _lab.Held("nothing" if acquire else NATIVE.get(condition, condition))
        if condition == conditions.FREED:
            self._native.release()
        self.wake = self._native.wake
        self.rest = self._native.rest


def _cuda_context() -> object:
    """A context on the first device, as the first call of a CUDA program makes it."""
    cuda = _library("install NVIDIA's driver where there is such a device", "libcuda.so.1")
    device, context = ctypes.c_int(), ctypes.c_void_p()
    for name, arguments in (
        ("cuInit", (0,)),
        ("cuDeviceGet", (ctypes.byref(device), 0)),
        ("cuDevicePrimaryCtxRetain", (ctypes.byref(context), device)),
        ("cuCtxSetCurrent", (context,)),
    ):
        if code := cuda[name](*arguments):
            raise Skip(
                f"{name} gave {code}: NVIDIA's driver finds no device to use; nvidia-smi says more"
            )
    return cuda, context


def _pim_rank() -> object:
    """A rank of real processing units, allocated and not used, as in document 001."""
    library = _library(
        "install UPMEM's SDK where there are its DIMMs, and put its lib folder on LD_LIBRARY_PATH",
        "libdpu.so",
        "libdpu.so.0.0",
    )
    # Larger than the struct of any version: a kind and two pointers.
    units = ctypes.create_string_buffer(64)
    if code := library.dpu_alloc_ranks(1, b"backend=hw", units):
        raise Skip(
            f"dpu_alloc_ranks gave {code}: there is no free rank; dpu-diag says what is there"
        )
    return library, units


def _library(advice: str, *names: str) -> ctypes.CDLL:
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise Skip(f"{names[0]} is not on this machine; {advice}")


RANK = conditions.RANK
NATIVE = {conditions.NONE: "nothing", conditions.FREED: RANK, conditions.LOADED: RANK}
FOREIGN: dict[str, Callable[[], object]] = {
    conditions.CUDA: _cuda_context,
    conditions.REAL_RANK: _pim_rank,
}
