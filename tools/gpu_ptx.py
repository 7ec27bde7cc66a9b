"""Compiles the GPU kernels to the PTX that sealift-gpu ships, or checks that it is of them.

Usage: python tools/gpu_ptx.py [--write]

A user of a GPU by NVIDIA needs its driver only: the crate holds the kernels as PTX, in
crates/sealift-gpu/ptx. NVRTC compiles them without a GPU; its version is pinned, so that the same
sources are the same PTX everywhere. Where NVRTC is not installed nothing is checked, and that is
said; SEALIFT_REQUIRE=nvrtc makes it an error.
"""

import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path

from accepted import arguments, fail
from gpu_programs import CRATE, programs
from nvidia_tools import MissingError, Nvrtc, without


def main() -> int:
    """Compares, or with --write makes the files anew; 1 when one is not of its sources."""
    asked = arguments(__doc__)
    try:
        found = compile_all(asked.root, Nvrtc.installed())
        if asked.write:
            _write(asked.root / PTX, found)
        wrong = [*differences(asked.root, found)]
    except MissingError as error:
        return without(error, "the PTX is not compared with the kernels' sources")
    except (OSError, ValueError) as error:
        return fail(error)
    if wrong:
        print(*wrong, f"`make gpu-ptx` makes {PTX} anew.", sep="\n")
    else:
        print(f"{len(found)} files of PTX are what NVRTC makes of the kernels")
    return int(bool(wrong))


def compile_all(root: Path, compiler: Nvrtc) -> dict[str, str]:
    """The files that there have to be, by name."""
    found = programs(root)
    with ThreadPoolExecutor() as pool:
        texts = pool.map(lambda program: program.ptx(root, compiler), found)
    return {f"{program.name}.ptx": text for program, text in zip(found, texts, strict=True)}


def differences(root: Path, found: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each file that is not as compiled."""
    files = {path.name: path.read_text("utf-8") for path in (root / PTX).glob("*")}
    for name in sorted(found.keys() | files.keys()):
        if name not in files:
            yield f"{PTX / name} is missing."
        elif name not in found:
            yield f"{PTX / name} is of no program; delete it."
        elif files[name] != found[name]:
            lines = zip_longest(*(text[name].splitlines() for text in (files, found)))
            line = next((n for n, (one, other) in enumerate(lines, 1) if one != other), 1)
            yield f"{PTX / name} is not what NVRTC makes of the kernels, from line {line} on."


def _write(folder: Path, found: Mapping[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    for path in folder.glob("*"):
        if path.name not in found:
            path.unlink()
    for name, text in found.items():
        (folder / name).write_text(text, encoding="utf-8")


PTX = CRATE / "ptx"

if __name__ == "__main__":
    sys.exit(main())
