"""What the kernels of GPUs take for messages: their machine code, and how often each part is done.

Nothing is simulated: each loop's instructions stand in `data/gpu-machine-code.json`, as compilers
made them, and here is how often a message goes around it. Where a loop has two ways, both count.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from sealift.lab.gpus.limits import BLOCK_BYTES, Counts, Gpu, Limit


@dataclass(frozen=True)
class Part:
    """A loop of a kernel, without the loops inside, or a function that it calls.

    Attributes:
        loop: The line of source that it stands in, or the name; "" is what is in no loop.
        counts: Instructions of a lane that goes around once.
    """

    loop: str
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
        """Of text."""
        return -(-self.text_bytes // BLOCK_BYTES)

    @property
    def groups(self) -> int:
        """How often a work-item that works such a message alone encrypts blocks at once."""
        return 1 + max(0, -(-(self.blocks - GROUP_BLOCKS + 2) // GROUP_BLOCKS))

    @property
    def products(self) -> int:
        """In GHASH's field."""
        return self.blocks + -(-self.aad_bytes // BLOCK_BYTES) + 1

    @property
    def moved_bytes(self) -> int:
        """Read and written for each."""
        return self.read_bytes + self.written_bytes

    @property
    def read_bytes(self) -> int:
        """Text, aad, key, nonce, and what describes it."""
        return self.text_bytes + self.aad_bytes + KEY_BYTES + BLOCK_BYTES + DESCRIBED_BYTES

    @property
    def written_bytes(self) -> int:
        """Text and result."""
        return self.text_bytes + RESULT_BYTES


def message_limit(gpu: Gpu, messages: Messages, *, strict: bool = False) -> Limit:
    """The limit of sealing messages of their own keys, each by one work-item.

    Args:
        gpu: Where they are worked.
        messages: What they are like.
        strict: Without tables.

    Raises:
        LookupError: If there is no such machine code, or a loop that is not known.
    """
    counts = message_counts(gpu, messages, strict=strict)
    return gpu.limit(counts, messages.text_bytes, messages.moved_bytes)


def message_counts(gpu: Gpu, messages: Messages, *, strict: bool = False) -> dict[str, float]:
    """The instructions of a lane that seals one of such messages.

    Args:
        gpu: Whose machine code it is.
        messages: What they are like.
        strict: Without tables.

    Raises:
        LookupError: If there is no such machine code, or a loop that is not known.
    """
    parts = _machine_code(gpu, messages.key_bits, "many", strict=strict)
    return total(parts, _times_of_a_message(messages))


def long_limit(gpu: Gpu, key_bits: int, *, strict: bool = False) -> Limit:
    """The limit of a long text, whose pieces are worked by 32 work-items each.

    Args:
        gpu: Where it is worked.
        key_bits: 128, 192 or 256.
        strict: Without tables.

    Raises:
        LookupError: If there is no such machine code, or a loop that is not known.
    """
    counts = long_counts(gpu, key_bits, strict=strict)
    return gpu.limit(counts, LANE_BYTES, 2 * LANE_BYTES)


def long_counts(gpu: Gpu, key_bits: int, *, strict: bool = False) -> dict[str, float]:
    """The instructions of one of the 32 lanes that work a piece, which has `LANE_BYTES` of text.

    Args:
        gpu: Whose machine code it is.
        key_bits: 128, 192 or 256.
        strict: Without tables.

    Raises:
        LookupError: If there is no such machine code, or a loop that is not known.
    """
    parts = _machine_code(gpu, key_bits, "long_pieces", strict=strict)
    times = _times_of_a_piece(rounds(key_bits), 2 if strict else 1)
    return total(parts, times)


def published_counts(
    gpu: Gpu, messages: Messages, *, each: float, partitioned: bool = False
) -> dict[str, float]:
    """The instructions of a lane that seals one message as document 003's program did.

    A lane makes its tables anew in each launch, so that its messages share what that takes.

    Args:
        gpu: Whose machine code it is.
        messages: What they are like.
        each: How many messages a lane works in a launch.
        partitioned: Whether each message is worked once, and its result stored.

    Raises:
        LookupError: If there is no such machine code, or it has other loops than are known.
    """
    program = f"lab-published-aes{messages.key_bits}"
    kernel = "partitioned" if partitioned else "replicated"
    parts = machine_code(program, gpu.architecture, kernel)
    return in_order(parts, _published_times(messages, 1 / each))


def published_bytes(key_bits: int) -> int:
    """What a lane of the published way of working reads of its tables while it works messages."""
    return (
        COLUMN_BYTES + BOX_BYTES + MULTIPLES_BYTES + REMAINDER_BYTES + 16 * (rounds(key_bits) + 1)
    )


def look_ups(key_bits: int) -> int:
    """The words that AES looks up for a block with tables: 16 a round."""
    return 16 * rounds(key_bits)


def total(parts: Sequence[Part], times: Mapping[str, float]) -> dict[str, float]:
    """The instructions of a lane, going around each loop so often.

    Args:
        parts: Of a kernel.
        times: How often, by how the line of source begins; what is in no loop is done once a
            work-group, for very many messages, and does not count.

    Raises:
        LookupError: If a loop is not among them.
    """
    found: dict[str, float] = {}
    for part in parts:
        often = _often(part.loop, times) if part.loop else 0
        for kind, count in part.counts.items():
            found[kind] = found.get(kind, 0) + often * count
    return found


def in_order(parts: Sequence[Part], times: Sequence[tuple[str, float]]) -> dict[str, float]:
    """The same where loops stand in the source several times, as they do in code that is inlined.

    Args:
        parts: Of a kernel, in the order of its code; what is in no loop first.
        times: How the line of source of each begins, and how often it is gone around.

    Raises:
        LookupError: If they are not of these parts.
    """
    if len(parts) != len(times):
        raise LookupError(
            f"{len(parts)} loops, of {len(times)} it is known how often they are gone around"
        )
    found: dict[str, float] = {}
    for part, (begins, often) in zip(parts, times, strict=True):
        if not part.loop.startswith(begins) or (part.loop and not begins):
            raise LookupError(
                f"a loop {part.loop!r} where {begins!r} is known; say how often in {__name__}"
            )
        for kind, count in part.counts.items():
            found[kind] = found.get(kind, 0) + often * count
    return found


def rounds(key_bits: int) -> int:
    """Of AES."""
    return key_bits // 32 + 6


@lru_cache(maxsize=64)
def machine_code(program: str, architecture: str, kernel: str) -> tuple[Part, ...]:
    """The parts of a kernel, as they were accepted.

    Args:
        program: Such as aes128-tables1-copies32.
        architecture: Such as sm_90.
        kernel: Its name.

    Raises:
        LookupError: If there is none.
    """
    document = json.loads((files("sealift.lab") / "data" / FILE).read_text(encoding="utf-8"))
    wanted = (program, architecture, kernel)
    for one in document["kernels"]:
        if (one["program"], one["architecture"], one["kernel"]) == wanted:
            kinds = document["counts"]
            return tuple(
                Part(loop, dict(zip(kinds, counts, strict=True)))
                for loop, _depth, *counts in one["loops"]
            )
    raise LookupError(f"{FILE} has no machine code of {', '.join(wanted)}")


def _machine_code(gpu: Gpu, key_bits: int, kernel: str, *, strict: bool) -> tuple[Part, ...]:
    """Of the fastest program that there is memory for."""
    tables = tables_of(gpu, strict=strict)
    copies = LANES if tables else 1
    program = f"aes{key_bits}-tables{tables}-copies{copies}"
    return machine_code(program, gpu.architecture, kernel)


def tables_of(gpu: Gpu, *, strict: bool = False) -> int:
    """How many tables the program has that a GPU works with: 4, 1, or 0 where it is strict."""
    if strict:
        return 0
    return 4 if gpu.shared_bytes >= FOUR_TABLES_BYTES else 1


def _times_of_a_message(messages: Messages) -> dict[str, float]:
    """How often `many` goes around its loops to seal a message with a nonce of 12 bytes."""
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


def _times_of_a_piece(rounds: int, state_blocks: int) -> dict[str, float]:
    """How often a lane goes around the loops of `long_pieces` for a piece.

    Args:
        rounds: Of AES.
        state_blocks: That a lane encrypts at once.
    """
    tiles = PIECE_BLOCKS / LANES / state_blocks
    return {
        FILLING: 0,
        SELDOM: 0,
        "long.cl: ROLLED for (u32 i = GLOBAL_ID()": 1,
        "long.cl: ROLLED for (u32 tile": tiles,
        "aes.h: ROUNDS_UNROLLED for (int round": tiles * (rounds - 1),
        "long.cl: ROLLED for (u32 u = 0": tiles * state_blocks,
    }


def _published_times(messages: Messages, launch: float) -> tuple[tuple[str, float], ...]:
    """How often the published way goes around its loops to seal a message with 12 bytes of nonce.

    Args:
        messages: What they are like.
        launch: The share of a launch that a message is.
    """
    again = rounds(messages.key_bits) - 1
    words, aad = messages.key_bits // 32, -(-messages.aad_bytes // BLOCK_BYTES)
    blocks, nibbles = messages.blocks, 2 * BLOCK_BYTES
    entries, encrypting = f"{_PUBLISHED} i = 0; i < 256;", f"{_PUBLISHED} round = 1;"
    hashing = f"{_PUBLISHED} i = 0; i < 32;"
    return (
        ("", launch),
        *((entries, 256 * launch) for _ in range(3)),
        (f"{_PUBLISHED} i = 0; i < 16;", 16 * launch),
        # Messages; then the key, and its multiples in GHASH's field: 1, 2, 4 and 8, and sums.
        (f"{_PUBLISHED} i = ", 1),
        (f"{_PUBLISHED} i = 0; i < KEY_WORDS;", words),
        (f"{_PUBLISHED} i = KEY_WORDS;", 4 * (again + 2) - words),
        (encrypting, again),
        (f"{_PUBLISHED} i = 8;", 4),
        (f"{_PUBLISHED} i = 2;", 3),
        (f"{_PUBLISHED} j = 1;", 1 + 3 + 7),
        # The first counter, the additional data, the text, and the lengths.
        (encrypting, again),
        (f"{_PUBLISHED} i = 0; i < aad_units;", aad),
        (hashing, nibbles * aad),
        (f"{_PUBLISHED} i = 0; i < units;", blocks),
        (encrypting, blocks * again),
        (hashing, nibbles * blocks),
        (hashing, nibbles),
        # Only where a tag is wrong.
        (f"{_PUBLISHED} i = 0; is_wrong", 0),
    )


def _often(loop: str, times: Mapping[str, float]) -> float:
    for begins, often in times.items():
        if loop.startswith(begins):
            return often
    raise LookupError(f"how often is {loop!r} gone around? Say it in {__name__}")


FILE = "gpu-machine-code.json"
# As the kernels have them.
LANES = 32
PIECE_BLOCKS = 1024
GROUP_BLOCKS = 10
LANE_BYTES = BLOCK_BYTES * PIECE_BLOCKS // LANES
DESCRIBED_BYTES = 64
KEY_BYTES = 32
RESULT_BYTES = 32
# Tables that begin at a multiple of 64 KiB.
FOUR_TABLES_BYTES = 192 * 1024
_PUBLISHED = "published.cl: ROLLED for (u32"
# Of `private_tables`, what is read when they are made: the table of each row, of SubBytes, of the
# hash key, and of what is shifted out of a hash.
COLUMN_BYTES, BOX_BYTES, MULTIPLES_BYTES, REMAINDER_BYTES = 4 * 256 * 4, 256, 2 * 16 * 8, 16 * 4
# Done once a work-group, for very many messages.
FILLING = "aes_table.h: for (u32 i = LOCAL_ID()"
# Done for few messages.
SELDOM = "seldom_product()"
