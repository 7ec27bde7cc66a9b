"""Amounts in sentences, where three digits tell enough."""


def number(value: float) -> str:
    """`40,000`, `1.57 million`, `12 billion`."""
    for size, name in ((1e9, "billion"), (1e6, "million")):
        if value >= size:
            return f"{_three(value / size)} {name}"
    return f"{value:,.0f}" if value >= 1e3 else _three(value)


def time_text(ns: float) -> str:
    """`0.64 us`, `1.72 ms`, `2.5 s`."""
    for size, unit in ((1e9, "s"), (1e6, "ms")):
        if ns >= size:
            return f"{_three(ns / size)} {unit}"
    return f"{_three(ns / 1e3)} us"


def share_text(share: float) -> str:
    """`0.18 %`, `75 %`; two digits, and none of what nobody notices."""
    if 0 < share < SHARE_MIN:
        return f"under {SHARE_MIN * 100:g} %"
    return f"{_digits(share * 100, 2)} %"


def cores_text(cores: float) -> str:
    """`0.0017 cores`, `1.2 cores`, `one core`."""
    text = _digits(cores, 2)
    return "one core" if text == "1" else f"{text} cores"


def money_text(amount: float, currency: str) -> str:
    """`900 USD`, `519,000 USD`."""
    return f"{_three(amount)} {currency}".strip()


def _three(value: float) -> str:
    return _digits(value, 3)


def _digits(value: float, digits: int) -> str:
    """So many significant ones, never as a power of ten, and no 0 at the end of a fraction."""
    rounded = float(f"{value:.{digits}g}")
    if rounded >= 10 ** (digits - 1):
        return f"{rounded:,.0f}"
    text = f"{rounded:.12f}".rstrip("0").rstrip(".")
    return text or "0"


SHARE_MIN = 1e-5
