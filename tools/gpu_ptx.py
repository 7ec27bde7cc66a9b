"""Compiles the GPU kernels to the PTX that sealift-gpu ships, or checks that it is of them.

Usage: python tools/gpu_ptx.py [--write]

A user of a GPU by NVIDIA needs its driver only: the crate holds the kernels as PTX, in
crates/sealift-gpu/ptx. NVRTC compiles them without a GPU; its version is pinned, so that the same
sources are the same PTX everywhere. Where NVRTC is not installed nothing is checked, and that is
said; SEALIFT_REQUIRE=nvrtc makes it an error.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gpu_programs import CRATE, Compiler, programs
from nvidia_tools import MissingError, Nvrtc, without


def main() -> int:
    """Compares, or with --write makes the files anew; 1 when one is not of its sources."""
    arguments = _arguments()
    root: Path = arguments.root.resolve()
    try:
        found = compiled(root, Nvrtc.installed())
        if arguments.write:
            return _write(root, found)
        wrong = list(differences(root, found))
    except MissingError as error:
        return without(error, "the PTX is not compared with the kernels' sources")
    except (OSError, ValueError) as error:
        print(f"gpu_ptx: {error}", file=sys.stderr)
        return 1
    for sentence in wrong:
        print(sentence)
    if wrong:
        print(f"`make gpu-ptx` makes {PTX} anew.")
    else:
        print(f"{len(found)} files of PTX are what NVRTC makes of the kernels")
    return int(bool(wrong))


def compiled(root: Path, compiler: Compiler) -> dict[str, str]:
    """The files that there have to be, by name.

    Raises:
        OSError: If a source is not there.
        ValueError: If one does not compile.
    """
    found = programs(root)
    with ThreadPoolExecutor() as pool:
        texts = pool.map(lambda program: program.ptx(root, compiler), found)
    return {f"{program.name}.ptx": text for program, text in zip(found, texts, strict=True)}


def differences(root: Path, found: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each file that is not as compiled."""
    files = {path.name: path for path in (root / PTX).glob("*")}
    for name in sorted(found.keys() | files.keys()):
        if name not in files:
            yield f"{PTX / name} is missing."
        elif name not in found:
            yield f"{PTX / name} is of no program; delete it."
        elif (line := _first_difference(files[name].read_text("utf-8"), found[name])) is not None:
            yield f"{PTX / name} is not what NVRTC makes of the kernels, from line {line} on."


def _first_difference(one: str, other: str) -> int | None:
    if one == other:
        return None
    lines = zip(one.splitlines(), other.splitlines(), strict=False)
    alike = next((n for n, (a, b) in enumerate(lines) if a != b), None)
    shorter = min(one.count("\n"), other.count("\n"))
    return 1 + (shorter if alike is None else alike)


def _write(root: Path, found: Mapping[str, str]) -> int:
    folder = root / PTX
    folder.mkdir(exist_ok=True)
    for path in folder.glob("*"):
        if path.name not in found:
            path.unlink()
    for name, text in found.items():
        (folder / name).write_text(text, encoding="utf-8")
    size = sum(len(text) for text in found.values())
    print(f"{PTX}: {len(found)} files, {size:,} bytes")
    return 0


def _arguments() -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="make the files anew")
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent, help="the tree")
    return parser.parse_args()


PTX = CRATE / "ptx"

if __name__ == "__main__":
    sys.exit(main())
