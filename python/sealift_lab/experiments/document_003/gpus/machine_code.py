"""Accepted machine code of GPU kernels, and how often a message goes around each of its loops.

Nothing is simulated: `data/gpu-machine-code.json` has the instructions of each loop as compilers
made them, and this module the trip counts. Of a loop with two branches both count.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TypedDict

from sealift_lab.experiments.document_003.gpus.limits import BLOCK_BYTES, Counts, Gpu, Limit

Trips = Sequence[tuple[str, float]]
"""How the source line of a loop begins, and how often a lane goes around it."""


@dataclass(frozen=True)
class Loop:
    """A loop of a kernel without its inner loops, or a function that it calls.

    Attributes:
        source: The line of source that begins it, or its name; "" for code outside of loops.
        counts: Instructions of a lane that goes around once.
    """

    source: str
    counts: Counts


@dataclass(frozen=True)
class Messages:
    """Messages that are alike.

    Attributes:
        key_bits: 128, 192 or 256.
        text_bytes: Of each.
        aad_bytes: Of each.
    """

    key_bits: int
    text_bytes: int
    aad_bytes: int = 0

    @property
    def blocks(self) -> int:
        """AES blocks of text."""
        return -(-self.text_bytes // BLOCK_BYTES)

    @property
    def groups(self) -> int:
        """Groups of blocks that a thread encrypts at once; two blocks of the first are no text."""
        return 1 + max(0, -(-(self.blocks - GROUP_BLOCKS + 2) // GROUP_BLOCKS))

    @property
    def products(self) -> int:
        """Products in GHASH's field."""
        return self.blocks + -(-self.aad_bytes // BLOCK_BYTES) + 1

    @property
    def moved_bytes(self) -> int:
        """Read and written for each."""
        return self.read_bytes + self.written_bytes

    @property
    def read_bytes(self) -> int:
        """Text, aad, key, nonce and descriptor."""
        return self.text_bytes + self.aad_bytes + KEY_BYTES + BLOCK_BYTES + DESCRIPTOR_BYTES

    @property
    def written_bytes(self) -> int:
        """Text and result."""
        return self.text_bytes + RESULT_BYTES


def message_limit(gpu: Gpu, messages: Messages, *, strict: bool = False) -> Limit:
    """The limit of Sealift's kernel on messages with a key each; `strict` is without tables.

    Raises:
        LookupError: If there is no such machine code, or it has an unknown loop.
    """
    counts = message_counts(gpu, messages, strict=strict)
    return gpu.limit(counts, messages.text_bytes, messages.moved_bytes)


def message_counts(gpu: Gpu, messages: Messages, *, strict: bool = False) -> dict[str, float]:
    """The instructions of a lane that seals one message; arguments as of `message_limit`."""
    loops = _fastest_code(gpu, messages.key_bits, "many", strict=strict)
    return total(loops, _message_trips(messages))


def long_limit(gpu: Gpu, key_bits: int, *, strict: bool = False) -> Limit:
    """The limit of one long text, each piece of it worked by 32 lanes; as `message_limit`."""
    return gpu.limit(long_counts(gpu, key_bits, strict=strict), LANE_BYTES, 2 * LANE_BYTES)


def long_counts(gpu: Gpu, key_bits: int, *, strict: bool = False) -> dict[str, float]:
    """The instructions of a lane for its `LANE_BYTES` of a piece; as of `long_limit`."""
    loops = _fastest_code(gpu, key_bits, "long_pieces", strict=strict)
    return total(loops, _piece_trips(rounds(key_bits), 2 if strict else 1))


def published_counts(gpu: Gpu, messages: Messages, *, each: float) -> dict[str, float]:
    """The instructions of a lane that seals one message as the document's program did.

    Args:
        gpu: Whose machine code is used.
        messages: Their shape.
        each: Messages of a lane in a launch, which share the tables that it makes.

    Raises:
        LookupError: If there is no such machine code, or it has other loops than expected.
    """
    program = f"lab-published-aes{messages.key_bits}"
    loops = machine_code(program, gpu.architecture, "replicated")
    return in_order(loops, _published_trips(messages, 1 / each))


def published_bytes(key_bits: int) -> int:
    """Bytes of tables and keys that a lane of the published program reads while it works."""
    return (
        COLUMN_BYTES + BOX_BYTES + MULTIPLES_BYTES + REMAINDER_BYTES + 16 * (rounds(key_bits) + 1)
    )


def look_ups(key_bits: int) -> int:
    """Words that AES looks up in tables for a block: 16 a round."""
    return 16 * rounds(key_bits)


def rounds(key_bits: int) -> int:
    """Rounds of AES."""
    return key_bits // 32 + 6


def tables_of(gpu: Gpu, *, strict: bool = False) -> int:
    """Tables of the program that a GPU works with: 4, 1, or 0 where it is strict."""
    if strict:
        return 0
    return 4 if gpu.shared_bytes >= FOUR_TABLES_BYTES else 1


def total(loops: Sequence[Loop], trips: Mapping[str, float]) -> dict[str, float]:
    """The instructions of a lane; code outside of loops runs once a block and doesn't count.

    Raises:
        LookupError: If a loop is not among those that trips are known of.
    """
    return _sum((loop, _trips_of(loop.source, trips) if loop.source else 0) for loop in loops)


def in_order(loops: Sequence[Loop], trips: Trips) -> dict[str, float]:
    """The same for inlined code, where one source line begins several loops: in their order.

    Raises:
        LookupError: If the trips don't belong to these loops.
    """
    if len(loops) != len(trips):
        raise LookupError(f"{len(loops)} loops, but trip counts for {len(trips)}")
    for loop, (begin, _) in zip(loops, trips, strict=True):
        if not loop.source.startswith(begin) or (loop.source and not begin):
            raise LookupError(f"a loop {loop.source!r} where {begin!r} is known; see {__name__}")
    return _sum((loop, count) for loop, (_, count) in zip(loops, trips, strict=True))


def machine_code(program: str, architecture: str, kernel: str) -> tuple[Loop, ...]:
    """The loops of a kernel as accepted: of `aes128-tables1-copies32` for `sm_90`, say.

    Raises:
        LookupError: If there is no such kernel.
    """
    document = _document()
    for one in document["kernels"]:
        if (one["program"], one["architecture"], one["kernel"]) == (program, architecture, kernel):
            return tuple(
                Loop(source, dict(zip(document["counts"], counts, strict=True)))
                for source, _depth, *counts in one["loops"]
            )
    raise LookupError(f"{FILE} has no machine code of {program}, {architecture}, {kernel}")


class _Kernel(TypedDict):
    program: str
    architecture: str
    kernel: str
    loops: list[tuple[str, int, *tuple[float, ...]]]


class _Document(TypedDict):
    counts: list[str]
    kernels: list[_Kernel]


@lru_cache(maxsize=1)
def _document() -> _Document:
    document: _Document = json.loads((files("sealift_lab") / "data" / FILE).read_text("utf-8"))
    return document


def _fastest_code(gpu: Gpu, key_bits: int, kernel: str, *, strict: bool) -> tuple[Loop, ...]:
    """Of the fastest program that the GPU has shared memory for."""
    tables = tables_of(gpu, strict=strict)
    program = f"aes{key_bits}-tables{tables}-copies{LANES if tables else 1}"
    return machine_code(program, gpu.architecture, kernel)


def _message_trips(messages: Messages) -> dict[str, float]:
    """Of `many` for one message with a nonce of 12 bytes."""
    return {
        FILLING: 0,
        SELDOM: 0,
        "many.cl: ROLLED for (u32 i = GLOBAL_ID()": 1,
        "many.cl: if (end >= units_of": messages.groups,
        "ghash.h: return UNIT(BYTES_SWAPPED": messages.groups,
        "aes.h: ROLLED for (int round": messages.groups * (rounds(messages.key_bits) - 1),
        "gcm.h: ROLLED for (u32 i": 0,
        "many.cl: ROLLED for (u32 i = 0": messages.products,
    }


def _piece_trips(rounds: int, state_blocks: int) -> dict[str, float]:
    """Of `long_pieces` for a piece, by a lane that encrypts `state_blocks` at once."""
    tiles = PIECE_BLOCKS / LANES / state_blocks
    return {
        FILLING: 0,
        SELDOM: 0,
        "long.cl: ROLLED for (u32 i = GLOBAL_ID()": 1,
        "long.cl: ROLLED for (u32 tile": tiles,
        "aes.h: ROUNDS_UNROLLED for (int round": tiles * (rounds - 1),
        "long.cl: ROLLED for (u32 u = 0": tiles * state_blocks,
    }


def _published_trips(messages: Messages, launch: float) -> Trips:
    """Of the document's program for a message, which is a share of a launch; as `many`'s."""
    again = rounds(messages.key_bits) - 1
    words, aad = messages.key_bits // 32, -(-messages.aad_bytes // BLOCK_BYTES)
    blocks, nibbles = messages.blocks, 2 * BLOCK_BYTES
    entries, encrypting = f"{PUBLISHED} i = 0; i < 256;", f"{PUBLISHED} round = 1;"
    hashing = f"{PUBLISHED} i = 0; i < 32;"
    return (
        ("", launch),
        *((entries, 256 * launch) for _ in range(3)),
        (f"{PUBLISHED} i = 0; i < 16;", 16 * launch),
        # Messages; then the key, and its multiples in GHASH's field: 1, 2, 4 and 8, and sums.
        (f"{PUBLISHED} i = ", 1),
        (f"{PUBLISHED} i = 0; i < KEY_WORDS;", words),
        (f"{PUBLISHED} i = KEY_WORDS;", 4 * (again + 2) - words),
        (encrypting, again),
        (f"{PUBLISHED} i = 8;", 4),
        (f"{PUBLISHED} i = 2;", 3),
        (f"{PUBLISHED} j = 1;", 1 + 3 + 7),
        # The first counter, the additional data, the text, and the lengths.
        (encrypting, again),
        (f"{PUBLISHED} i = 0; i < aad_units;", aad),
        (hashing, nibbles * aad),
        (f"{PUBLISHED} i = 0; i < units;", blocks),
        (encrypting, blocks * again),
        (hashing, nibbles * blocks),
        (hashing, nibbles),
        # Only where a tag is wrong.
        (f"{PUBLISHED} i = 0; is_wrong", 0),
    )


def _trips_of(source: str, trips: Mapping[str, float]) -> float:
    for begin, count in trips.items():
        if source.startswith(begin):
            return count
    raise LookupError(f"how often is {source!r} gone around? Add it in {__name__}")


def _sum(loops: Iterable[tuple[Loop, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for loop, times in loops:
        for kind, count in loop.counts.items():
            found[kind] = found.get(kind, 0) + times * count
    return found


FILE = "gpu-machine-code.json"
# As the kernels have them.
LANES = 32
PIECE_BLOCKS = 1024
GROUP_BLOCKS = 10
LANE_BYTES = BLOCK_BYTES * PIECE_BLOCKS // LANES
DESCRIPTOR_BYTES, KEY_BYTES, RESULT_BYTES = 64, 32, 32
# Tables that begin at a multiple of 64 KiB.
FOUR_TABLES_BYTES = 192 * 1024
PUBLISHED = "published.cl: ROLLED for (u32"
# Of `private_tables`, what is read once they are made: the table of each row, of SubBytes, of the
# hash key, and of what is shifted out of a hash.
COLUMN_BYTES, BOX_BYTES, MULTIPLES_BYTES, REMAINDER_BYTES = 4 * 256 * 4, 256, 2 * 16 * 8, 16 * 4
# Once a block of threads, for very many messages.
FILLING = "aes_table.h: for (u32 i = LOCAL_ID()"
# For few messages.
SELDOM = "seldom_product()"
