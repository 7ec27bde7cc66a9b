"""A crate with kernels of GPUs, and a compiler that makes text of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import gpu_programs
from nvidia_tools import Nvrtc

VARIANTS = """
const SOURCES: [(&str, &str); 2] = [
    ("first.h", include_str!("../kernels/first.h")),
    ("many.cl", include_str!("../kernels/many.cl")),
];
fn numbers() {
            Self::None => (0, 1),
            Self::OneForEachLane => (1, 32),
            Self::FourForEachLane => (4, 32),
            Self::OneShared => (1, 1),
}
"""

LAB = """
    "lab-types-int" for 75: "types.cl" with TYPE = 0;
    "lab-bmma" for 80: "bmma.cl" with CHAINS = 8;
"""


def made(root: Path) -> Path:
    """Writes the crate below a folder, and returns that."""
    files = {
        gpu_programs.VARIANTS: VARIANTS,
        gpu_programs.LAB: LAB,
        gpu_programs.KERNELS / "first.h": "typedef unsigned u32;\n",
        gpu_programs.KERNELS / "many.cl": "void many() {\n    for (;;) {\n    }\n}\n",
        gpu_programs.KERNELS / "dialect.h": "typedef unsigned u32;\n",
        gpu_programs.KERNELS / "message.h": "#define LANES 32\n",
        gpu_programs.KERNELS / "lab/lab.h": "#define GROUP_MAX 1024\n",
        gpu_programs.KERNELS / "lab/types.cl": "void types() {\n    for (;;) {\n    }\n}\n",
        gpu_programs.KERNELS / "lab/bmma.cl": "void bmma() {}\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


@dataclass(frozen=True)
class Compiler(Nvrtc):
    """In place of NVRTC: its PTX is what it was given."""

    folder: Path = Path()

    def ptx(self, source: str, options: Sequence[str]) -> str:
        """The options and the source."""
        return "\n".join([*options, source])
