"""A file of keys, as `Keyring.from_file` reads it."""

from collections.abc import Mapping
from pathlib import Path


def write_keys(path: Path, keys: Mapping[int, bytes]) -> None:
    """Writes keys by integer id, so that only their owner may read them."""
    path.touch(mode=0o600)
    lines = (f'{number} = "{key.hex()}"\n' for number, key in keys.items())
    path.write_text("[keys]\n" + "".join(lines), encoding="utf-8")
