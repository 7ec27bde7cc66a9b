"""Keys, texts and columns that several test files of columns share."""

from typing import Any

import pyarrow

from sealift.arrow import Keyring

KEYS = {each: bytes([each]) * 32 for each in range(1, 6)}
NAMED_KEYS = {f"tenant {each}": key for each, key in KEYS.items()}
TEXTS = ["first", None, "third", "äöü", "fifth", "sixth", None, "eight", "ninth", "tenth"]
# The last key has no row, and each id has one that is not null.
IDS = [each % 4 + 1 for each in range(len(TEXTS))]
ORDERS = [f"order {each}" for each in range(len(TEXTS))]
# By their names in errors and documents; values are of five bytes or six.
KINDS = {
    "binary": pyarrow.binary(),
    "large_binary": pyarrow.large_binary(),
    "fixed_size_binary": pyarrow.binary(6),
    "binary_view": pyarrow.binary_view(),
    "string": pyarrow.string(),
    "large_string": pyarrow.large_string(),
    "string_view": pyarrow.string_view(),
}


def keyring() -> Keyring:
    """Five keys of 32 bytes, under 1 to 5."""
    return Keyring(KEYS)


def texts_of(kind: str) -> Any:
    """The texts as an array of a kind of KINDS; those of a fixed size have six bytes."""
    size = 6 if kind == "fixed_size_binary" else 0
    encoded = [None if text is None else text.encode().ljust(size) for text in TEXTS]
    return pyarrow.array(encoded, pyarrow.binary()).cast(KINDS[kind])


def as_bytes(values: Any) -> list[bytes | None]:
    """Values of a column of whatever library as bytes."""
    listed = values.to_list() if hasattr(values, "to_list") else values.to_pylist()
    return [text.encode() if isinstance(text, str) else text for text in listed]
