"""Writes the generated parts of README.md and docs/*.md, and the picture beside them.

Usage: python tools/docs.py [--check] [--root FOLDER]

Generated text lies between `<!-- generated: NAME -->` and `<!-- end -->`. Its sources are files and
run folders below results/<date>/<machine>/; of each the newest counts. With --check nothing is
written, and what is out of date is named.
"""

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import docs_files as files
import docs_peers as peers
import docs_runs as runs
from docs_runs import Block, Column, Source, Values, grid, run_block


def main() -> int:
    """Writes, or with --check compares; 1 when something is not as it should be."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail when stale")
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent, help="the tree")
    arguments = parser.parse_args()
    root: Path = arguments.root.resolve()
    try:
        right = generated(root)
    except (OSError, LookupError, ValueError) as error:
        print(f"docs: {error}", file=sys.stderr)
        return 1
    there = {path: path.read_text(encoding="utf-8") for path in right if path.exists()}
    stale = [path for path, text in right.items() if there.get(path) != text]
    for path in stale:
        name = path.relative_to(root)
        if arguments.check:
            print(f"{name} is not what the results say: run tools/docs.py")
        else:
            path.write_text(right[path], encoding="utf-8")
            print(f"wrote {name}")
    return int(arguments.check and bool(stale))


def generated(root: Path) -> dict[Path, str]:
    """What pages and the picture must be."""
    texts = {root / page: _filled(root, page) for page in BLOCKS if (root / page).exists()}
    if sources := newest(root, LAB):
        texts[root / PICTURE] = runs.speed_picture(sources[-1].path)
    return texts


def newest(root: Path, name: str, page: str = "README.md") -> list[Source]:
    """The newest results/<date>/<machine>/<name> of each machine, the newest of all last.

    Several names stand apart by spaces. Links begin at the page.
    """
    found = sorted(path for each in name.split() for path in root.glob(f"results/*/*/{each}"))
    paths = sorted({path.parent.name: path for path in found}.values())
    up = "../" * page.count("/")
    return [Source(path, f"{up}{path.relative_to(root).as_posix()}") for path in paths]


def _filled(root: Path, page: str) -> str:
    """A page with its blocks; what several say of their run, its last paragraph, stands once."""
    told = set[str]()

    def block(match: re.Match[str]) -> str:
        name, make = blocks[match[1]]
        sources = newest(root, name, page) if name else []
        none = f"Nothing measured yet: there is no `results/*/*/{name}`."
        body = make(sources) if sources or not name else none
        *parts, origin = body.split("\n\n")
        if parts and origin in told:
            body = "\n\n".join([*parts, "Measured in the same run."])
        told.add(origin)
        return f"<!-- generated: {match[1]} -->\n\n{body}\n\n<!-- end -->"

    text, blocks = (root / page).read_text(encoding="utf-8"), BLOCKS[page]
    places = [match[1] for match in MARKER.finditer(text)]
    if sorted(places) != sorted(blocks) or len(places) != text.count("<!-- generated:"):
        raise ValueError(
            f"{page} has places for {', '.join(places) or 'nothing'}; right would be each of "
            f"{', '.join(blocks)} once, from <!-- generated: NAME --> to <!-- end -->"
        )
    return MARKER.sub(block, text)


def _board(experiment: str) -> tuple[str, Block]:
    figures = ("published, Mbit/s", "analysis, Mbit/s", "simulation, Mbit/s")
    cells = grid(experiment, "buffer_bytes", [Column(figures)], "threads")
    return run_block("lab-002", cells, runs.errors_of(experiment, ("analysis", "simulation")))


def _rows(
    run: str, name: str, down: str, of: str | Sequence[Column | str], across: str = "", **at: Values
) -> tuple[str, Block]:
    return run_block(run, grid(name, down, of, across, **at))


MARKER = re.compile(r"<!-- generated: ([\w-]+) -->\n.*?<!-- end -->", re.S)
LAB, PICTURE = "lab", "docs/speed-by-size.svg"
TABLES = ("dpu-encryption", "dpu-encryption-without-dma")
A_BLOCK = [
    Column((f"instructions a block, {each}",), title=each)
    for each in ("by the rounding of the print", "simulated")
]
PARTS = ("bytes taken out", "loads", "sums", "shifts and masks", "stores", "others")
IN_MRAM, FROM_HOST = (
    Column((f"{each}, with the hazard", each), title=each)
    for each in ("data in MRAM, GB/s", "data in host memory, GB/s, by the SDK")
)
READ, WRITE = "file-reading-by-condition", "file-writing-by-condition"
BESIDE = "file-reading-beside-process"
READERS = [
    Column(("µs",), {"condition": "none"}, "nothing held"),
    Column(("times as long",), {"condition": "one idle thread"}, "beside an idle thread"),
]
READ_BY = [Column(("times as long",), {"reader": each}) for each in ("getc", "read+memchr")]
WRITTEN_BY = [
    Column(("times as long",), {"writer": "putc"}),
    Column(("times as long",), {"writer": "write", "block_bytes": 4_096}),
]
HELD = ("none", "one idle thread", "touched memory", "a rank's runtime", "our engine")
WARM: Mapping[str, Values] = {"cache": "warm", "threads": 1, "condition": HELD}
LANGUAGE = [
    Column(("ns",), {"phase": "steady state"}),
    Column(("times as long",), {"phase": "steady state"}),
    Column(("ns",), {"phase": "first request"}),
]
STARTED = ("C", "Rust", "Go", "Java", "C#, release", "JavaScript", "numpy", "Python")
HEAT, MOMENTS_S = "throughput, % of the first second", (1, 5, 15, 30, 60)
STATED = {"workload": "as stated", "keys": "sessions:1024"}
GRIDS, BATCHES = (1, 4, 16, 64, 128, 132, 264, 528), (1, 256, 4_096, 65_536, 262_144)
KEY_BITS, SHORT_ALONE = (128, 256), {"threads": 1, "buffer_bytes": 16}
OURS_AT: Mapping[str, Values] = {
    "function": "ours",
    "offset": (0, 12, 16),
    "size_bytes": (4096, 2**16, 2**19),
}
CALIBRATED: Mapping[str, Values] = {
    "way": "calibrated",
    "memory": "heap",
    "threads": 1,
    "size_bytes": (16, 4_096, 65_536, 2**20, 2**24),
}
CEILING = (
    *("read, words", "write past the caches", "write, 64-byte registers", "copy past the caches"),
    *("copy by the C library", "copy by Sealift"),
)
EXAMPLES = (16, 256, 2**16)
COPIED_BY = ("glibc", "non-temporal", "apex", "ours")
BY_FUNCTION = [Column(("GB/s",), {"function": each}) for each in COPIED_BY]
THERE, STREAM = ({"pattern": each} for each in ("ping-pong", "stream"))
EXCHANGE = [Column(("µs",), THERE), Column(("GB/s",), STREAM), Column(("times as fast",), STREAM)]
COPIED, GPU = partial(_rows, "lab-004 lab-004-copies"), partial(_rows, "gpu")
BLOCKS: Mapping[str, Mapping[str, tuple[str, Block]]] = {
    "README.md": {
        "loop": ("python-loop", peers.loop_sentence),
        "picture": (LAB, peers.speed_picture_line),
        "speed": ("peers", peers.speed),
        "gpu": ("gpu", peers.gpu_sentence),
        "advise": ("advise.txt", files.console),
    },
    "docs/performance.md": {
        "peers": ("peers", peers.peers),
        "memory": ("peers-memory", peers.memory),
        "cells": ("peers-cells", peers.cells),
        "loop-against-batch": _rows(
            "python-loop", "python-loop", "caller", ["MB/s", "times as fast"]
        ),
    },
    "docs/statistics.md": {
        "drawn": ("certify.json", files.error_rates),
        "measured": ("certify-live.json", files.error_rates),
    },
    "docs/columns.md": {
        "speed": ("columns", files.column_speeds),
        "memory": ("columns", files.column_memory),
    },
    "docs/constant-time.md": {"dudect": ("dudect.json", files.dudect)},
    "docs/scheduler.md": {
        "regret": ("regret.csv", files.regret),
        "cores": ("cores.csv", files.cores),
        "framework": ("scheduler.csv", files.framework),
        "scale": ("pool-scale.csv", files.scale),
    },
    "docs/clusters.md": {"ray": ("ray.json", files.ray_nodes)},
    "docs/scale.md": {
        "bounds": ("fleet-plan.json", files.fleet_bounds),
        "runs": ("fleet-plan.json", files.fleet_runs),
    },
    "docs/document-000.md": {
        "difference": run_block("lab-000", *(grid(each, "operation", A_BLOCK) for each in TABLES)),
        "instructions": _rows(
            "lab-000", "dpu-instructions", "kernel", ["instructions a block", *PARTS]
        ),
        "projection": _rows("lab-000", "dpu-projection", "kernel", [IN_MRAM, FROM_HOST], "system"),
        "cores": _rows(
            "lab-000-P3", "memory-contention", "cipher threads", "GB/s", "streams_percent"
        ),
    },
    "docs/document-001.md": {
        "reading": _rows("lab-001", READ, "condition", READ_BY, "", **WARM),
        "recommendation": run_block("lab-001", runs.published_figures("recommendation")),
        "readers": _rows("lab-001", READ, "reader", READERS, cache="warm", threads=1),
        "beside": _rows("lab-001-beside", BESIDE, "condition", READ_BY, "", **WARM),
        "writing": _rows("lab-001", WRITE, "condition", WRITTEN_BY, fsync="no", condition=HELD),
    },
    "docs/document-002.md": {
        "quad-hifn": _board("cards-quad-hifn"),
        "four-broadcom": _board("cards-four-broadcom"),
        "hand-over": _rows(
            "lab-002-R1", "cores-as-cards", "cipher batch", "Mbit/s", "way", **SHORT_ALONE
        ),
    },
    "docs/document-003.md": {
        "threads": _rows("lab-003", "aes-gcm-by-threads", "threads", "MB/s", "device", **STATED),
        "sets": _rows("lab-003", "instruction-sets", "device", "MB/s", "threads", **STATED),
        "primitives": _rows("lab-003", "premise", "primitive", ["µs", "times as long"]),
        "log": run_block("lab-003", runs.published_figures("cryption Operations")),
        "languages": _rows("lab-003", "languages", "language", LANGUAGE),
        "starts": _rows("lab-003", "language-starts", "language", "µs", "phase", language=STARTED),
        "compilers": _rows(
            "lab-003", "compilers-by-threads", "build", ["ns", "machine code"], threads=1
        ),
        "types": _rows(
            *("lab-003-types", "cpu-data-types", "type", "ns", "form"),
            form=("products of matrices", "latency, one by one", "throughput, vectors"),
        ),
        "heat": _rows("lab-003", "heat", "loaded_s", HEAT, "work", loaded_s=MOMENTS_S),
    },
    "docs/document-003-gpu.md": {
        "projected-blocks": ("", files.gpu_limits),
        "blocks": GPU("gpu-blocks", "thread_blocks", "MB/s", "code mode data", thread_blocks=GRIDS),
        "projected-beside": ("", files.gpu_times),
        "beside": GPU(
            "gpu-beside-cpu", "batch", "µs", "device", data="host to host", batch=BATCHES
        ),
        "messages": GPU(
            "gpu-messages", "work message_bytes", "GB/s", "key_bits s_box", key_bits=KEY_BITS
        ),
        "host": GPU("gpu-host-to-host", "message_bytes keys", "GB/s", "cores"),
    },
    "docs/document-004.md": {
        "offsets": COPIED("copy-offsets", "offset", "times as fast", "size_bytes", **OURS_AT),
        "published-way": COPIED(
            *("copy-example", "size_bytes", "GB/s", "way"), function="glibc", size_bytes=EXAMPLES
        ),
        "copies": COPIED("copy-by-length", "size_bytes state", BY_FUNCTION, "", **CALIBRATED),
        "ceiling": COPIED(
            "memory-ceiling", "kernel", "GB/s", "threads", kernel=CEILING, size_bytes=2**24
        ),
        "frames": run_block(
            "lab-004 lab-004-frames",
            grid("frames-between-processes", "way", EXCHANGE, frame_bytes=65_536, batch=1),
        ),
        "wrong-frames": ("frames.json", files.wrong_frames),
    },
}

if __name__ == "__main__":
    sys.exit(main())
