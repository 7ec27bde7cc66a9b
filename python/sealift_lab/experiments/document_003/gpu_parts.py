"""What the parts of a GPU do: instructions, copies, and AES-GCM from its memory and the host's.

Beside document 003's grids, in which code and grid are varied, these vary what is done. Of no GPU,
on this processor, they are few and small. Not part of a quick run.
"""

from collections.abc import Iterator

from sealift_lab.experiments.combinations import axes, grid
from sealift_lab.experiments.document_003.gpus import cells
from sealift_lab.experiments.document_003.gpus.cells import PROCESSOR, device_spec
from sealift_lab.experiments.notes import texts
from sealift_lab.measure.crypto import MANY_KEYS, REGIMES
from sealift_lab.measure.native import gcm, native
from sealift_lab.model.arm import Arm, Cell, Context
from sealift_lab.model.experiment import Axis, Chart, Scope
from sealift_lab.model.workload import SEAL_ONLY, KeyRegime, of_size


def _cells_of_rates(scope: Scope) -> Iterator[Cell]:
    device = cells.device_of(scope)
    return grid(scope, {"device": device}, instruction=INSTRUCTIONS if "cuda" in device else ())


def _cells_of_copies(scope: Scope) -> Iterator[Cell]:
    device = cells.device_of(scope)
    sizes = COPIES[:2] if device == PROCESSOR else COPIES
    return grid(scope, {"device": device}, copy_bytes=sizes, direction=DIRECTIONS)


def _cells_of_messages(scope: Scope) -> Iterator[Cell]:
    device = cells.device_of(scope)
    # Each length of keys is a program of its own, which compilers for processors take seconds for.
    lengths = KEY_BITS[:1] if device == PROCESSOR else KEY_BITS
    for work, message_bytes in WORKS:
        at: Cell = {"device": device, "work": work, "message_bytes": message_bytes}
        yield from grid(scope, at, key_bits=lengths, s_box=S_BOXES)


def _messages_arm(cell: Cell, context: Context) -> Arm:
    device, message_bytes = str(cell["device"]), int(cell["message_bytes"])
    operation, keys = str(cell["work"]).split(", ")
    every_bytes = FEW_BYTES if device == PROCESSOR else MANY_BYTES
    return native(
        "gpu",
        context,
        device=device_spec(device),
        code=cells.OURS,
        mode=cells.PARTITIONED,
        data=cells.RESIDENT,
        grid=None,
        operation=operation,
        keys=keys,
        key_bits=[cell["key_bits"]],
        s_box=cell["s_box"],
        messages=max(2, every_bytes // message_bytes),
        message_bytes=message_bytes,
    )


def _cells_of_host(scope: Scope) -> Iterator[Cell]:
    device = cells.device_of(scope)
    counts = [each for each in HOST_CORES if each <= scope.cores]
    for size_bytes in HOST_BYTES:
        # Fewer messages than sessions would leave sessions without one.
        most = (HOST_FEW_BYTES if device == PROCESSOR else HOST_MANY_BYTES) // size_bytes
        least = most // counts[-1]
        regimes = [str(each) for each in REGIMES if each != MANY_KEYS or each.sessions <= least]
        at: Cell = {"device": device, "message_bytes": size_bytes}
        yield from grid(scope, at, keys=regimes, cores=counts)


def _host_arm(cell: Cell, context: Context) -> Arm:
    device, message_bytes = str(cell["device"]), int(cell["message_bytes"])
    every_bytes = HOST_FEW_BYTES if device == PROCESSOR else HOST_MANY_BYTES
    threads = int(cell["cores"])
    messages = max(1, every_bytes // message_bytes // threads)
    regime = KeyRegime.parse(str(cell["keys"]))
    workload = of_size(message_bytes, regime, SEAL_ONLY, messages=messages, seed=context.seed)
    arm = gcm(device_spec(device), workload, threads=threads, batch=messages, context=context)
    return cells.WaitingArm(arm)


INSTRUCTIONS = ("LOP3", "PRMT", "SHF", "IMAD", "IMAD.WIDE", "LDS", "BMMA")
# A launch takes a millisecond and more, beside which its start and end are little.
ROUNDS = 16_333
COPIES = tuple(1 << power for power in (16, 20, 22, 24, 26, 28))
DIRECTIONS = ("to the device", "back", "both at once")
KEY_BITS, S_BOXES = (128, 192, 256), ("tables", "without tables")
SHORT = 128
WORKS = (
    ("seal, own keys", SHORT),
    ("open, own keys", SHORT),
    ("seal, one key", 16 << 10),
    ("seal, one key", 1 << 20),
    ("counter mode, one key", 1 << 20),
)
# Of text at once: some waves over the largest GPU.
MANY_BYTES, FEW_BYTES = 128 << 20, 8 << 10
HOST_BYTES = (SHORT, 16 << 10, 1 << 20)
HOST_MANY_BYTES, HOST_FEW_BYTES = 64 << 20, 128 << 10
HOST_CORES = (1, 8)

RATES = cells.gpu_experiment(
    **texts(__package__, "gpu-rates"),
    axes=(cells.DEVICE, Axis("instruction", "instruction")),
    compare="instruction",
    cells=_cells_of_rates,
    arm=lambda cell, _: native(
        "gpu_units", device=device_spec(cell["device"]), of=cell["instruction"], rounds=ROUNDS
    ),
    operation="instruction of a lane",
    charts=(Chart("instruction", "device", "operations/s", "Instructions of a lane", log_y=True),),
    weight=0.05,
)
COPYING = cells.gpu_experiment(
    **texts(__package__, "gpu-copies"),
    axes=(cells.DEVICE, Axis("copy_bytes", "bytes of a copy"), Axis("direction", "direction")),
    compare="direction",
    cells=_cells_of_copies,
    arm=lambda cell, _: native(
        "gpu_copies",
        device=device_spec(cell["device"]),
        direction=cell["direction"],
        size_bytes=cell["copy_bytes"],
    ),
    operation="copy",
    charts=(Chart("copy_bytes", "direction", "MB/s", "Copies by size", log_x=True),),
    weight=0.1,
)
MESSAGES = cells.gpu_experiment(
    **texts(__package__, "gpu-messages"),
    axes=(
        *(cells.DEVICE, Axis("work", "what is done"), cells.MESSAGE),
        *axes(key_bits="key, bits", s_box="S-box"),
    ),
    compare="s_box",
    cells=_cells_of_messages,
    arm=_messages_arm,
    charts=tuple(
        Chart("key_bits", "s_box", "MB/s", title, "work", {"message_bytes": message_bytes})
        for title, message_bytes in (
            ("Messages of 128 B, own keys", SHORT),
            ("Messages of 16 KiB, one key", 16 << 10),
            ("Messages of 1 MiB, one key", 1 << 20),
        )
    ),
    weight=0.15,
)
HOST = cells.gpu_experiment(
    **texts(__package__, "gpu-host-to-host"),
    axes=(cells.DEVICE, cells.MESSAGE, *axes(keys="keys", cores="calling threads")),
    compare="cores",
    cells=_cells_of_host,
    arm=_host_arm,
    charts=(
        Chart("message_bytes", "cores", "MB/s", "Sealing by message size", "keys", log_x=True),
    ),
    weight=0.1,
)
