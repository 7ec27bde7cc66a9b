#!/usr/bin/env python3
"""Regenerates python/sealift_lab/data/003-as-logged.csv from NIST's CAVP vectors.

Document 003 says "128-byte messages", but the size of its input file, to the byte, is that of
the six CAVP AES-GCM files without their PTlen=0 sections. This script counts those 37,800
records by shape. It needs the PyPI package cryptography-vectors.

Usage: python tools/make_as_logged.py [OUTPUT.csv]
"""

import csv
import io
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

Shape = tuple[int, int, int, int, int]


def main() -> int:
    """Writes the table, by default to its place in the package."""
    output = Path(sys.argv[1]) if len(sys.argv) > 1 else TABLE
    try:
        text = table()
    except ModuleNotFoundError:
        print(
            "cryptography-vectors is missing; try: pip install cryptography-vectors",
            file=sys.stderr,
        )
        return 1
    output.write_text(text, encoding="utf-8", newline="")
    print(f"{output}: {len(text.splitlines()) - 1:,} shapes", file=sys.stderr)
    return 0


def table() -> str:
    """The table as CSV text: one row a shape, with how many records of each kind have it."""
    seals, opens, bad = Counter[Shape](), Counter[Shape](), Counter[Shape]()
    for key_bits in (128, 192, 256):
        for shape, _ in records(f"gcmEncryptExtIV{key_bits}.rsp"):
            seals[shape] += 1
        for shape, fails in records(f"gcmDecrypt{key_bits}.rsp"):
            (bad if fails else opens)[shape] += 1
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    for shape in sorted(seals.keys() | opens.keys() | bad.keys()):
        source = f"gcm*{shape[0]}.rsp"
        writer.writerow((*shape, seals[shape], opens[shape], bad[shape], source))
    return out.getvalue()


def records(name: str) -> Iterator[tuple[Shape, bool]]:
    """Each record of a response file with text: its shape, and whether it must fail to open."""
    from cryptography_vectors import open_vector_file

    with open_vector_file(f"ciphers/AES/GCM/{name}", "r") as lines:
        for block in _blocks(line.strip() for line in lines):
            shape, fails = block
            if shape[3]:
                yield shape, fails


def _blocks(lines: Iterator[str]) -> Iterator[tuple[Shape, bool]]:
    section: dict[str, int] = {}
    fails: bool | None = None
    for line in lines:
        if (line.startswith(("[", "Count"))) and fails is not None:
            yield _shape(section), fails
            fails = None
        if line.startswith("["):
            name, _, value = line.strip("[]").partition(" = ")
            section[name] = int(value)
        elif line.startswith("Count"):
            fails = False
        elif line == "FAIL":
            fails = True
    if fails is not None:
        yield _shape(section), fails


def _shape(section: dict[str, int]) -> Shape:
    lengths = (section[name] // 8 for name in ("IVlen", "AADlen", "PTlen", "Taglen"))
    nonce, aad, text, tag = lengths
    return section["Keylen"], nonce, aad, text, tag


TABLE = Path(__file__).parents[1] / "python/sealift_lab/data/003-as-logged.csv"
HEADER = (
    "key_bits",
    "nonce_bytes",
    "aad_bytes",
    "text_bytes",
    "tag_bytes",
    "seals",
    "opens",
    "bad",
    "source",
)

if __name__ == "__main__":
    sys.exit(main())
