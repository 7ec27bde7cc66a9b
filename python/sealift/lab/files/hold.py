"""What this process holds from now on, because a condition says so."""

import ctypes
from collections.abc import Callable

from sealift import _sealift
from sealift.lab.files.condition import CUDA, FREED, LOADED, NONE, RANK, REAL_RANK


class AbsentError(Exception):
    """Something that can't be held here; says why, and what would help."""


class Hold:
    """A condition of this process, from when it is made."""

    def __init__(self, condition: str) -> None:
        """Takes what the condition says.

        Args:
            condition: One of `CONDITIONS`.

        Raises:
            AbsentError: If that is not here.
            NotMeasurableError: If the system refuses it.
            ValueError: If there is no such condition.
        """
        foreign = FOREIGN.get(condition)
        self._kept = foreign() if foreign else None
        self._held = _sealift.Held("nothing" if foreign else HELD.get(condition, condition))
        if condition == FREED:
            self._held.release()

    def wake(self) -> None:
        """Lets a poller or a spinner go on while a sample is taken."""
        self._held.wake()

    def rest(self) -> None:
        """Sends it to sleep: nobody else is to be measured meanwhile."""
        self._held.rest()


def _cuda_context() -> object:
    """A context on the first device, as the first call of a CUDA program makes it."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise AbsentError(
            "libcuda.so.1 is not on this machine; install NVIDIA's driver where there is such a "
            "device"
        ) from error
    device, context = ctypes.c_int(), ctypes.c_void_p()
    _check("cuInit", cuda.cuInit(0))
    _check("cuDeviceGet", cuda.cuDeviceGet(ctypes.byref(device), 0))
    retained = cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
    _check("cuDevicePrimaryCtxRetain", retained)
    _check("cuCtxSetCurrent", cuda.cuCtxSetCurrent(context))
    return cuda, context


def _check(name: str, code: int) -> None:
    if code:
        raise AbsentError(
            f"{name} gave {code}: NVIDIA's driver finds no device to use; nvidia-smi says more"
        )


def _pim_rank() -> object:
    """A rank of real processing units, allocated and not used, as in document 001."""
    library = _first_library("libdpu.so", "libdpu.so.0.0")
    # Larger than the struct of any version: a kind and two pointers.
    units = ctypes.create_string_buffer(64)
    code = library.dpu_alloc_ranks(1, b"backend=hw", units)
    if code:
        raise AbsentError(
            f"dpu_alloc_ranks gave {code}: there is no free rank; dpu-diag says what is there"
        )
    return library, units


def _first_library(*names: str) -> ctypes.CDLL:
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise AbsentError(
        f"{names[0]} is not on this machine; install UPMEM's SDK where there are its DIMMs, and "
        "put its lib folder on LD_LIBRARY_PATH"
    )


HELD = {NONE: "nothing", FREED: RANK, LOADED: RANK}
FOREIGN: dict[str, Callable[[], object]] = {CUDA: _cuda_context, REAL_RANK: _pim_rank}
