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
from pathlib import Path

from sealift.vectors import Planned, VectorRecord
from sealift_lab.experiments.document_003.operation_log import records


def main() -> None:
    """Writes the table, by default to its place in the package."""
    output = Path(sys.argv[1]) if len(sys.argv) > 1 else TABLE
    output.write_text(table(), encoding="utf-8", newline="")


def table() -> str:
    """The table as CSV text: one row a shape, with how many records of each kind have it."""
    counts = Counter((_shape(record), record.planned) for record in records())
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER.split())
    for shape in sorted({shape for shape, _ in counts}):
        numbers = (counts[shape, planned] for planned in Planned)
        writer.writerow((*shape, *numbers, f"gcm*{shape[0]}.rsp"))
    return out.getvalue()


def _shape(record: VectorRecord) -> tuple[int, ...]:
    lengths = (len(record.nonce), len(record.aad), record.text_len, record.tag_len)
    return 8 * len(record.key), *lengths


TABLE = Path(__file__).parents[1] / "python/sealift_lab/data/003-as-logged.csv"
HEADER = "key_bits nonce_bytes aad_bytes text_bytes tag_bytes seals opens bad source"

if __name__ == "__main__":
    main()
