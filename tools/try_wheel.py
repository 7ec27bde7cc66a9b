"""Uses the sealift that is installed here: what `make wheel` runs in its fresh environment."""

import sys
from importlib.metadata import version
from pathlib import Path

import sealift


def main() -> None:
    """Seals and opens one published message, and fails to open a changed one."""
    place = Path(sealift.__file__)
    assert place.is_relative_to(sys.prefix), f"{place} is not in the environment {sys.prefix}"
    cipher = sealift.AESGCM(bytes(16))
    sealed = cipher.encrypt(bytes(12), bytes(16), None)
    assert sealed.hex() == SEALED, f"sealing 16 zeros gave {sealed.hex()} instead of {SEALED}"
    assert cipher.decrypt(bytes(12), sealed, None) == bytes(16)
    try:
        cipher.decrypt(bytes(12), b"\xff" + sealed[1:], None)
    except sealift.InvalidTag:
        print(f"sealift {version('sealift')} seals and opens in {sys.prefix}")
    else:
        sys.exit("a changed message was opened")


# Test case 2 of the GCM specification: key, nonce and text are zeros.
SEALED = "0388dace60b6a392f328c2b971b2fe78" + "ab6e47d42cec13bdf53a67b21257bddf"

if __name__ == "__main__":
    main()
