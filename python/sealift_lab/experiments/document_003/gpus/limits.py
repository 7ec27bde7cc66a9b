"""Upper limits of GPUs: machine code in a grid of threads, projected and never measured.

A multiprocessor has four parts. Each issues an instruction a clock to the 32 lanes of one warp,
whether every lane has a thread or not, and its units work a fixed number of lanes a clock; one unit
for loads and stores serves all parts. Blocks go to multiprocessors in turn, and a grid ends when
the fullest multiprocessor does, with the unit that needs most clocks. Waiting and caches are left
out.

Nothing is simulated: `data/gpu-machine-code.json` has the instructions of each loop as compilers
made them, and this module how often a lane goes round it. Of a loop with two branches both count.
"""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

Counts = Mapping[str, float]
"""Instructions of one lane by kind; 4-byte words where the kind is a memory."""
Loop = tuple[str, Counts]
"""A loop of a kernel without its inner loops, by the line of source that begins it, or a function
by its name; code outside of loops has ""."""


@dataclass(frozen=True)
class Gpu:
    """A GPU as the model needs it.

    `clock_hz` is the boost clock, which it need not keep; `architecture` has the machine code and
    rates that are used; `shared_bytes` one block can have; the link goes both ways at once.
    """

    name: str
    multiprocessors: int
    clock_hz: float
    architecture: str
    shared_bytes: int
    memory_bytes_per_s: float
    link_bytes_per_s: float


@dataclass(frozen=True)
class Grid:
    """Blocks of threads; OpenCL calls them work-groups of work-items."""

    blocks: int
    threads: int

    @property
    def every(self) -> int:
        """All threads."""
        return self.blocks * self.threads


def limit(
    gpu: Gpu, counts: Counts, payload_bytes: float, grid: Grid, moved_bytes: float = 0.0
) -> float:
    """Bytes a second at most of code on data in a GPU's memory, from what a lane does for its own.

    `moved_bytes` are read from memory and written for it, 0 where caches serve it.
    """
    clocks = max(grid_clocks(gpu, units_work(counts), grid).values())
    by_memory = gpu.memory_bytes_per_s * payload_bytes / moved_bytes if moved_bytes else math.inf
    return min(by_memory, grid.every * payload_bytes * gpu.clock_hz / clocks)


def units_work(counts: Counts) -> dict[str, float]:
    """Instructions of a lane by the unit that works them, with all of them as those of `issue`."""
    return {
        "issue": counts["issued"],
        "alu": counts["alu"],
        # A product of 64 bits fills two registers, one after the other.
        "fma": counts["fma"] + 2 * counts["wide"],
        "slow": counts["slow"],
        LOAD_AND_STORE: counts["shared"] + counts["global"] + counts["local"],
        "tensor": counts["tensor"],
    }


def grid_clocks(gpu: Gpu, work: Mapping[str, float], grid: Grid) -> dict[str, float]:
    """Clocks of the fullest multiprocessor by unit, until every lane did its work."""
    rates = RATES[gpu.architecture]
    warps = -(-grid.blocks // gpu.multiprocessors) * -(-grid.threads // LANES)
    # sm_86 has two units for doubles, fewer than parts. Other units belong to a part each, and the
    # part with most warps ends last.
    shared = {LOAD_AND_STORE, *(unit for unit, rate in rates.items() if rate < PARTS)}
    in_parts = PARTS * -(-warps // PARTS)
    return {
        unit: lane * LANES * (warps if unit in shared else in_parts) / rates[unit]
        for unit, lane in work.items()
        if lane
    }


@cache
def ours(gpu: Gpu, grid: Grid) -> float:
    """Bytes a second at most of Sealift's kernel, each message worked once."""
    moved_bytes = 2 * TEXT_BYTES + SENT_BYTES + RESULT_BYTES
    return limit(gpu, message_counts(gpu), TEXT_BYTES, grid, moved_bytes)


@cache
def replicated(gpu: Gpu, grid: Grid) -> float:
    """Bytes a second at most of the document's program, all threads on the same messages.

    They come out of caches, and private tables cost as much as if the first cache held them all.
    """
    counts = published_counts(gpu, THREAD_MESSAGES)
    return limit(gpu, counts, TEXT_BYTES, grid)


def message_ns(gpu: Gpu, batch: int) -> float:
    """Nanoseconds a message at least from host memory to host memory.

    Copy there, work and copy back of a batch overlap, and the longest counts; what the host does
    before and behind, and starting copies and kernels, is left out.
    """
    # Whole warps, and no larger blocks than the document's.
    threads = min(BLOCK_THREADS, LANES * -(-batch // LANES))
    grid = Grid(-(-batch // threads), threads)
    work_s = TEXT_BYTES * grid.every / ours(gpu, grid)
    copied = TEXT_BYTES + max(SENT_BYTES, RESULT_BYTES)
    return 1e9 * max(work_s / batch, copied / gpu.link_bytes_per_s)


def types_speed(gpu: Gpu, data_type: str, grid: Grid) -> float:
    """Products of small matrices of a data type, a key of `PROGRAMS`: multiplications a second."""
    loops = machine_code(f"lab-types-{PROGRAMS[data_type]}", gpu.architecture, "types")
    counts = total(loops, {"types.cl: ROLLED for (u32 round": 1})
    work = units_work(counts)
    if data_type not in INTEGERS:
        # In programs of floats `fma` counts products of floats, and `slow` conversions.
        work = units_work({**counts, "fma": 0, "slow": 0})
        work |= {"single": counts["fma"], "double": counts["double"], "converted": counts["slow"]}
    clocks = grid_clocks(gpu, work, grid)
    return PRODUCTS * grid.every * gpu.clock_hz / max(clocks.values())


def message_counts(gpu: Gpu) -> dict[str, float]:
    """The instructions of a lane that seals one message with a nonce of 12 bytes."""
    # The fastest program that the GPU has shared memory for.
    tables = 4 if gpu.shared_bytes >= FOUR_TABLES_BYTES else 1
    program = f"aes{KEY_BITS}-tables{tables}-copies{LANES}"
    trips = {
        FILLING: 0,
        SELDOM: 0,
        "many.cl: ROLLED for (u32 i = GLOBAL_ID()": 1,
        # Of so short a message all blocks are encrypted at once.
        "many.cl: if (end >= units_of": 1,
        "ghash.h: return UNIT(BYTES_SWAPPED": 1,
        "aes.h: ROLLED for (int round": ROUNDS - 1,
        "gcm.h: ROLLED for (u32 i": 0,
        # Products in GHASH's field.
        "many.cl: ROLLED for (u32 i = 0": TEXT_BLOCKS + 1,
    }
    return total(machine_code(program, gpu.architecture, "many"), trips)


def published_counts(gpu: Gpu, each: float) -> dict[str, float]:
    """The instructions of a lane that seals one message as the document's program did.

    `each` is how many messages of a lane share the tables that a launch makes.
    """
    again, words, nibbles = ROUNDS - 1, KEY_BITS // 32, 2 * BLOCK_BYTES
    trips: dict[str, float | Sequence[float]] = {
        "i = 0; i < 256;": 256 / each,
        "i = 0; i < 16;": 16 / each,
        # The key, and its multiples in GHASH's field: 1, 2, 4 and 8, and sums.
        "i = 0; i < KEY_WORDS;": words,
        "i = KEY_WORDS;": 4 * (again + 2) - words,
        "i = 8;": 4,
        "i = 2;": 3,
        "j = 1;": 1 + 3 + 7,
        # Of no additional data, and of the text.
        "i = 0; i < aad_units;": 0,
        "i = 0; i < units;": TEXT_BLOCKS,
        # The hash key, the first counter, and the text.
        "round = 1;": (again, again, TEXT_BLOCKS * again),
        # Additional data, the text, and the lengths.
        "i = 0; i < 32;": (0, nibbles * TEXT_BLOCKS, nibbles),
        # Only where a tag is wrong.
        "i = 0; is_wrong": 0,
        # Messages.
        "i = ": 1,
    }
    trips = {f"published.cl: ROLLED for (u32 {begin}": count for begin, count in trips.items()}
    program = f"lab-published-aes{KEY_BITS}"
    loops = machine_code(program, gpu.architecture, "replicated")
    return total(loops, {"": 1 / each, **trips})


def total(loops: Sequence[Loop], trips: Mapping[str, float | Sequence[float]]) -> dict[str, float]:
    """The instructions of a lane, by how often it goes round the loops whose source begins so.

    Inlined code has several loops of one source, with a count each. Code outside of loops is that
    of "", or runs once a block and doesn't count.

    Raises:
        LookupError: If a loop is not among those that trips are known of.
    """
    found: Counter[str] = Counter()
    counts: dict[str, float] = {}
    for source, loop in loops:
        begin = next((each for each in trips if each and source.startswith(each)), "")
        if source and not begin:
            raise LookupError(f"how often is {source!r} gone around? Add it in {__name__}")
        times = trips.get(begin, 0)
        if not isinstance(times, int | float):
            times = times[found[begin]]
        found[begin] += 1
        for kind, count in loop.items():
            counts[kind] = counts.get(kind, 0) + times * count
    return counts


def machine_code(program: str, architecture: str, kernel: str) -> tuple[Loop, ...]:
    """The loops of a kernel as accepted; `many` of `aes128-tables1-copies32` for `sm_90`, say."""
    return _kernels()[program, architecture, kernel]


@cache
def _kernels() -> Mapping[tuple[str, str, str], tuple[Loop, ...]]:
    file = files("sealift_lab") / "data" / "gpu-machine-code.json"
    document = json.loads(file.read_text("utf-8"))
    return {
        (each["program"], each["architecture"], each["kernel"]): tuple(
            (source, dict(zip(document["counts"], counts, strict=True)))
            for source, _depth, *counts in each["loops"]
        )
        for each in document["kernels"]
    }


BLOCK_BYTES = 16
LANES, PARTS = 32, 4
# A block of the document's grids: a thread for each core of a multiprocessor, to as many of which
# it issues in a clock.
BLOCK_THREADS = PARTS * LANES
LOAD_AND_STORE = "load and store"
# Lanes that a multiprocessor works in a clock. `alu` has logic, byte permutations, shifts and
# additions, `fma` products of 32 bits, `slow` bit counts and the like, `load and store` 4-byte
# words without bank conflicts, `tensor` products of binary matrices, of which a warp's is 32 lanes;
# then products of floats and of doubles with their sums, and conversions between the two.
# Sources: NVIDIA, CUDA C++ Programming Guide, throughput of native arithmetic instructions; for
# shared memory the GA102 whitepaper (128 bytes a clock); tensor of sm_90 as documented for A100,
# for Hopper it is not.
RATES: Mapping[str, Mapping[str, float]] = {
    architecture: {"issue": 128, "alu": 64, "fma": 64, "slow": 16, **rates}
    for architecture, rates in {
        "sm_86": {LOAD_AND_STORE: 32, "tensor": 8, "single": 128, "double": 2, "converted": 2},
        "sm_90": {LOAD_AND_STORE: 32, "tensor": 16, "single": 128, "double": 64, "converted": 16},
    }.items()
}
# PCI-SIG: 16 and 32 GT/s a lane, 128 bits of 130 for data.
PCIE_4_X8, PCIE_5_X16 = 8 * 16e9 / 8 * 128 / 130, 16 * 32e9 / 8 * 128 / 130
# The document's laptop GPUs (NVIDIA, GeForce laptop comparison: highest boost clock; eight lanes of
# PCIe 4 as its chips are specified), and an H200 (its datasheet, the Hopper architecture, and
# nvidia-smi). RTX 4070 and 4060 are Ada, for which no machine code was accepted: code and rates of
# sm_86 stand in, whose multiprocessor is the same.
GPUS = (
    Gpu("RTX 3050", 16, 1.740e9, "sm_86", 99 << 10, 192e9, PCIE_4_X8),
    Gpu("RTX 4070", 36, 2.175e9, "sm_86", 99 << 10, 256e9, PCIE_4_X8),
    Gpu("RTX 4060", 24, 2.370e9, "sm_86", 99 << 10, 256e9, PCIE_4_X8),
    Gpu("H200", 132, 1.980e9, "sm_90", 227 << 10, 4.8e12, PCIE_5_X16),
)
# Of the document's figures.
DOCUMENT_GPU = GPUS[1]
# Messages are as long as the document states them, under a key of 128 bits each.
KEY_BITS, ROUNDS, TEXT_BYTES = 128, 10, 128
TEXT_BLOCKS = TEXT_BYTES // BLOCK_BYTES
# Of each thread. The tables that a launch makes anew take as many instructions as one or two
# messages: with so many, a fortieth of all.
THREAD_MESSAGES = 64
# Descriptor, key and nonce of a message, and what comes back beside its text.
SENT_BYTES, RESULT_BYTES = 64 + 32 + 16, 32
# Tables that begin at a multiple of 64 KiB.
FOUR_TABLES_BYTES = 192 * 1024
# Loops of tables once a block of threads, for very many messages; and for few messages.
FILLING, SELDOM = "aes_table.h: for (u32 i = LOCAL_ID()", "seldom_product()"
INT, FLOAT, CAST = "int", "float", "float with double literal"
PROGRAMS = {INT: "int", "long": "long", FLOAT: "float", "double": "double", CAST: "mixed"}
INTEGERS = (INT, "long")
# Of matrices of 3 by 3, and of each of their elements by a literal.
PRODUCTS = 3**3 + 3**2
