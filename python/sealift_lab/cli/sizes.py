"""Lists and ranges of message sizes on a command line."""

from collections.abc import Iterator

from sealift.quantities import list_parts, parse_count
from sealift_lab.model.workload import TEXT_LEN_MAX


def parse_sizes(text: str) -> tuple[int, ...]:
    """Sizes in bytes, in the order given, each once: `16,64,4KiB`, `16:128:*2`, `16:64:+16`.

    The last size of a range first:last:*factor or first:last:+step is included when it is met.

    Raises:
        ValueError: Naming the part that can't be parsed, and what would be right.
    """
    sizes: dict[int, None] = {}
    for part in list_parts(text):
        if not part:
            raise ValueError("an empty part in the list of sizes; write numbers, as in 16,64,1024")
        try:
            sizes.update(dict.fromkeys(_part_sizes(part)))
        except ValueError as error:
            raise ValueError(f"part {part!r}: {error}") from error
        if len(sizes) > SIZES_MAX:
            raise ValueError(f"part {part!r} brings the list over {SIZES_MAX:,} sizes")
    return tuple(sizes)


def _part_sizes(part: str) -> Iterator[int]:
    def size(number: str) -> int:
        return parse_count(number, 1, TEXT_LEN_MAX, "size in bytes")

    first, *rest = part.split(":")
    if not rest:
        yield size(first)
        return
    if len(rest) != 2 or rest[1][:1] not in ("*", "+"):
        raise ValueError("no range; write first:last:*factor (16:1024:*2) or first:last:+step")
    at, last, move = size(first), size(rest[0]), size(rest[1][1:])
    if last < at:
        raise ValueError(f"it ends at {last:,}, below its first size {at:,}")
    if rest[1][0] == "*" and move < 2:
        raise ValueError(f"it multiplies by {move}; a factor is 2 or more")
    # One more than a list may hold is enough to refuse it.
    for _ in range(SIZES_MAX + 1):
        if at <= last:
            yield at
            at = at * move if rest[1][0] == "*" else at + move


SIZES_MAX = 1_000
