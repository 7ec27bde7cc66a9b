"""Numbers as people read them: fixed units, four significant digits, never NaN or 0.000."""

import math
from decimal import ROUND_HALF_EVEN, Decimal
from itertools import islice

from sealift.quantities import list_parts, parse_count


def format_measure(value: float) -> str:
    """Formats a measured figure with four significant digits and grouped thousands.

    The unit is never scaled: it stands in the column header, so that a column can be compared
    by eye. 0.000412345 gives `0.0004123`, 1234567 gives `1,235,000`, an exact zero gives `0`.

    Args:
        value: In the unit of its column; finite and not negative.

    Raises:
        ValueError: If `value` is NaN, infinite or negative: no measurement gives that.
    """
    return f"{_rounded(value):,f}"


def plain_measure(value: float) -> str:
    """Formats a figure as `format_measure` does, without grouping, for CSV files."""
    return f"{_rounded(value):f}"


def format_range(low: float, high: float) -> str:
    """Formats the ends of an interval: `[2.362..2.458]`, everywhere that people read."""
    return f"[{format_measure(low)}..{format_measure(high)}]"


def format_estimate(median: float, low: float, high: float) -> str:
    """Formats a median with its interval: `2.410 [2.362..2.458]`."""
    return f"{format_measure(median)} {format_range(low, high)}"


def format_short(value: float) -> str:
    """Three significant digits, for sentences and headlines: `2.55`, `42.4`, `1,270`."""
    rounded = float(f"{_checked(value):.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:#.3g}".rstrip(".")


def format_count(value: float) -> str:
    """A large count, as a rate: `42.4 M`, `875 k`, `320`."""
    for unit, name in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= unit:
            return f"{format_short(value / unit)}{name}"
    return format_short(value)


def format_size(size_bytes: float) -> str:
    """Formats a size in bytes: `16`, `1,024`; a mean size keeps its fraction: `28.25`."""
    if size_bytes == int(_checked(size_bytes)):
        return f"{int(size_bytes):,}"
    return format_measure(size_bytes)


def as_printed(value: float) -> str:
    """With the digits it was printed with; what was computed from printed figures has many."""
    exactly = f"{value:,.10g}"
    digits = sum(character.isdigit() for character in exactly)
    return exactly if digits <= DIGITS_PRINTED or value == int(value) else format_measure(value)


def rate_unit(operation: str) -> str:
    """How operations a second are told: `messages/s`, `copies/s`; long names as `operations/s`."""
    if " " in operation:
        return "operations/s"
    is_ies = operation.endswith("y") and operation[-2:-1] not in {*"aeiou"}
    return f"{operation[:-1]}ies/s" if is_ies else f"{operation}s/s"


def format_share(share: float) -> str:
    """Formats a share of one as per cent with one decimal: 0.987 gives `98.7 %`.

    Raises:
        ValueError: If `share` is not between 0 and 1.
    """
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"a share lies between 0 and 1, not at {share}")
    return f"{share * 100:.1f} %"


def format_noise(share: float) -> str:
    """Formats a share that may be over one, as a noise floor: `11.1 %`, `140 %`, `over 1,000 %`."""
    if share > MOST_NOISE:
        return f"over {MOST_NOISE * 100:,} %"
    return format_share(share) if share <= 1 else f"{share * 100:,.0f} %"


def keys_text(keys: object) -> str:
    """A key regime in words: `1,024 keys`, `one key`, `a fresh key each`; another as it is."""
    regime = str(keys)
    name, colon, count = regime.partition(":")
    if name == "sessions" and colon and count.isdecimal():
        return f"{int(count):,} keys"
    return {"one": "one key", "fresh": "a fresh key each"}.get(regime, regime)


def axis_text(name: str, value: object) -> str:
    """The value of an axis with the axis's name, where it needs one: `mix 100/0/0`, `one key`."""
    told = keys_text(value)
    # What is no key regime is somebody's own.
    return told if name == "keys" and told != str(value) else f"{name} {value}"


def parse_sizes(text: str) -> tuple[int, ...]:
    """Reads a list of sizes in bytes, in the order given, each once.

    Parts are separated by commas. A part is a number (`16`, `1_024`, `4KiB`) or a range
    `first:last:*factor` or `first:last:+step`, whose last size is included when it is met:
    `16:128:*2` is 16, 32, 64, 128.

    Raises:
        ValueError: Naming the part that can't be read, and what would be right.
    """
    sizes: dict[int, None] = {}
    for part in list_parts(text):
        sizes.update(dict.fromkeys(_part_sizes(part)))
        if len(sizes) > MAX_SIZES:
            raise ValueError(f"part {part!r} brings the list over {MAX_SIZES:,} sizes")
    return tuple(sizes)


def _part_sizes(part: str) -> list[int]:
    if not part:
        raise ValueError("an empty part in the list of sizes; write numbers, as in 16,64,1024")
    if ":" not in part:
        return [_size(part, part)]
    fields = part.split(":")
    if len(fields) != 3 or fields[2][:1] not in ("*", "+"):
        raise ValueError(
            f"part {part!r} is not a range; write first:last:*factor (16:1024:*2) "
            "or first:last:+step (16:64:+16)"
        )
    first, last, move = _size(fields[0], part), _size(fields[1], part), _size(fields[2][1:], part)
    if last < first:
        raise ValueError(f"part {part!r} ends at {last:,}, below its first size {first:,}")
    return _scaled(first, last, move, part) if fields[2][0] == "*" else _stepped(first, last, move)


def _scaled(first: int, last: int, factor: int, part: str) -> list[int]:
    if factor < 2:
        raise ValueError(f"part {part!r} multiplies by {factor}; a factor is 2 or more")
    sizes = []
    while first <= last:
        sizes.append(first)
        first *= factor
    return sizes


def _stepped(first: int, last: int, step: int) -> list[int]:
    # One more than a list may hold is enough for the caller to refuse it.
    return list(islice(range(first, last + 1, step), MAX_SIZES + 1))


def _size(text: str, part: str) -> int:
    try:
        return parse_count(text, 1, MAX_TEXT_BYTES, "size in bytes")
    except ValueError as error:
        raise ValueError(f"part {part!r}: {error}") from error


def _rounded(value: float) -> Decimal:
    exact = Decimal(_checked(value))
    if not exact:
        return Decimal(0)
    digit = exact.adjusted() - (SIGNIFICANT_DIGITS - 1)
    rounded = exact.quantize(Decimal(1).scaleb(digit), rounding=ROUND_HALF_EVEN)
    # Rounding up to the next power of ten adds a digit: 9.9996 would become 10.000.
    if rounded.adjusted() > exact.adjusted() and digit < 0:
        rounded = rounded.quantize(Decimal(1).scaleb(digit + 1))
    return rounded


def _checked(value: float) -> float:
    if not math.isfinite(value) or value < 0:
        raise ValueError(f"{value} is no measured figure: it must be finite and not negative")
    return value


NS_PER_S = 1_000_000_000
SIGNIFICANT_DIGITS = 4
DIGITS_PRINTED = 5
# As a share; how much more than ten times it is helps nobody.
MOST_NOISE = 10
MAX_SIZES = 1_000
# The longest text of one GCM message: 2**39 - 256 bits (SP 800-38D).
MAX_TEXT_BYTES = 2**36 - 32
