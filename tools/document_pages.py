"""Writes what was found about documents 000 to 004 into their pages, or checks that it is there.

Usage: python tools/document_pages.py [--check]

The source is the newest run folder of each name below results/<date>/<machine>/, as `sealift lab
run` writes it. What is written lies between `<!-- generated: NAME -->` and `<!-- end -->`, so that
no figure of these pages is older than its source. Without such a folder the place says so. Needs
nothing but Python.
"""

import argparse
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import document_000
import document_001
import document_002
import document_003_gpu
import document_004
from kept_run import Kept

Block = Callable[[Kept], str]


def main() -> int:
    """Writes, or with --check compares; 1 when something is not as it should be."""
    arguments = _arguments()
    root: Path = arguments.root.resolve()
    stale = []
    for name, blocks in PAGES.items():
        page = root / name
        try:
            before = page.read_text(encoding="utf-8")
            after = filled(name, before, root, blocks)
        except (OSError, ValueError) as error:
            print(f"document_pages: {error}", file=sys.stderr)
            return 1
        if before != after:
            stale.append(name)
        if not arguments.check:
            page.write_text(after, encoding="utf-8")
    if not arguments.check:
        print(f"{' and '.join(PAGES)}: {len(stale)} written anew")
        return 0
    for name in stale:
        print(f"{name} is not what the results say: run tools/document_pages.py")
    return int(bool(stale))


def filled(name: str, text: str, root: Path, blocks: Mapping[str, tuple[str, Block]]) -> str:
    """A page with its generated parts put in their places.

    Args:
        name: Of the page, for errors.
        text: As it is.
        root: The tree.
        blocks: By name the run folder that a part is from, and what makes it.

    Raises:
        ValueError: If the page has not each part once, or a source lacks something.
    """
    places = [match[1] for match in MARKER.finditer(text)]
    if sorted(places) != sorted(blocks):
        raise ValueError(
            f"{name} has places for {', '.join(places) or 'nothing'}; right would be each of "
            f"{', '.join(blocks)} once, from <!-- generated: NAME --> to <!-- end -->"
        )

    def block(match: re.Match[str]) -> str:
        folder, make = blocks[match[1]]
        kept = Kept.newest(root, folder)
        body = f"{make(kept)}\n\n{kept.caption}" if kept else NOTHING.format(folder=folder)
        return f"<!-- generated: {match[1]} -->\n\n{body}\n\n<!-- end -->"

    return MARKER.sub(block, text)


def _arguments() -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail when stale")
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent, help="the tree")
    return parser.parse_args()


DPUS, BESIDE, FILES = "lab-000", "lab-000-P3", "lab-001"
CARDS, CORES = "lab-002", "lab-002-R1"
GPUS = "lab-003-gpu"
COPIES, FRAMES = "lab-004-copies", "lab-004-frames"
PAGES: Mapping[str, Mapping[str, tuple[str, Block]]] = {
    "docs/document-000.md": {
        "difference": (DPUS, document_000.difference),
        "instructions": (DPUS, document_000.instructions),
        "projection": (DPUS, document_000.projection),
        "cores": (BESIDE, document_000.cores),
    },
    "docs/document-001.md": {
        "reading": (FILES, document_001.reading),
        "recommendation": (FILES, document_001.recommendation),
        "readers": (FILES, document_001.readers),
        "writing": (FILES, document_001.writing),
    },
    "docs/document-002.md": {
        "quad-hifn": (CARDS, document_002.quad_hifn),
        "four-broadcom": (CARDS, document_002.four_broadcom),
        "hand-over": (CORES, document_002.hand_over),
    },
    "docs/document-003-gpu.md": {
        "blocks": (GPUS, document_003_gpu.blocks),
        "beside": (GPUS, document_003_gpu.beside),
    },
    "docs/document-004.md": {
        "offsets": (COPIES, document_004.offsets),
        "published-way": (COPIES, document_004.published_way),
        "copies": (COPIES, document_004.copies),
        "ceiling": (COPIES, document_004.ceiling),
        "frames": (FRAMES, document_004.frames),
    },
}
NOTHING = "Nothing measured yet: there is no `results/DATE/MACHINE/{folder}`."
MARKER = re.compile(r"<!-- generated: ([\w-]+) -->\n.*?<!-- end -->", re.S)

if __name__ == "__main__":
    sys.exit(main())
