"""The published copy tool's six experiments and its file, 004-R2."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from math import inf

from sealift_lab.experiments.document_004 import copies
from sealift_lab.experiments.document_004.copies import PLACES, PUBLISHED_FUNCTIONS, REGION
from sealift_lab.experiments.notes import texts
from sealift_lab.model.arm import Arm, Cell, Context
from sealift_lab.model.experiment import Axis, Experiment, Scope
from sealift_lab.model.results import Estimate, Row


@dataclass(frozen=True)
class ToolLine:
    """One line of the tool's file, six columns of text.

    Attributes:
        experiment: Direction and memory: `App writes to host-heap`.
        size_bytes: Length of a copy.
        function: Copy function: `glibc_memcpy`.
        gb_per_s: Payload in 10**9 bytes a second, all threads together, with its 95 % interval
            where there is one; None where it was not measured.
        runs: How often the function was timed.
        threads: Workers; 0 for none.
    """

    experiment: str
    size_bytes: int
    function: str
    gb_per_s: Estimate | None
    runs: int
    threads: int


def tool_cells(
    memories: Iterable[str], sizes: Iterable[int], threads: int, content: str
) -> Iterator[Cell]:
    """The cells of some of the tool's experiments, length by length."""
    for size_bytes, memory in product(sizes, memories):
        at: Cell = {"memory": memory, "size_bytes": size_bytes}
        for function in PUBLISHED_FUNCTIONS.values():
            yield {**at, "threads": threads, "content": content, "function": function}


def source_content(value: int, *, is_found: bool = False) -> str:
    """The content of a source: byte i is i plus a value; found so, or filled."""
    return f"{FOUND if is_found else ''}{COUNTING}{value}"


def format_file(lines: Iterable[ToolLine], small_decimals: int = 9) -> str:
    """The tool's file, as the document and the tool have it.

    Small figures have more than the tool's three decimals, unless `small_decimals` is 3: of many
    it keeps 0.000.
    """
    return "".join(
        f"{text}\n" for text in (HEADER, *(_text(line, small_decimals) for line in lines))
    )


def parse_file(text: str) -> list[ToolLine]:
    """The lines of a file of the tool's, of any of its versions.

    Older ones have no threads, other spaces, and `lenth` and `Gbps` in their head, though their
    figures are GB/s, too.

    Raises:
        ValueError: If it is no such file; with the line and what would be right.
    """
    head, *lines = text.splitlines() or [""]
    first = HEADER.partition(",")[0]
    if not head.strip().startswith(first):
        raise ValueError(f"line 1: {head!r} is no head of the tool's; right would be {HEADER!r}")
    parsed = []
    for number, line in enumerate(lines, 2):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.split(",")]
        try:
            experiment, size, function, speed, runs, *threads = cells
            (count,) = threads or ["0"]
            figure = Estimate(float(speed))
            if not 0 <= figure.value < inf or int(size) < 1:
                raise ValueError
            parsed.append(ToolLine(experiment, int(size), function, figure, int(runs), int(count)))
        except ValueError:
            right = "five or six columns, as in 'App writes to host-heap,16,glibc_memcpy,5.785,5,0'"
            raise ValueError(f"line {number}: {line!r}; right would be {right}") from None
    return parsed


def lines_of(rows: Iterable[Row]) -> list[ToolLine]:
    """The rows of a run that are copies, as the tool would have named them; ValueError if none."""
    lines = [_line_of(row) for row in rows if row.cell.keys() >= NEEDED and not row.wrong]
    if not lines:
        raise ValueError(
            "no row of this run is a copy by length and function; right would be a run of "
            "copy-by-length or another experiment of document 004"
        )
    return lines


def _text(line: ToolLine, small_decimals: int) -> str:
    speed = line.gb_per_s.value if line.gb_per_s else 0.0
    decimals = 3 if speed >= SMALL_GB_PER_S or not speed else small_decimals
    cells = (line.experiment, line.size_bytes, line.function, f"{speed:.{decimals}f}")
    return ",".join(map(str, (*cells, line.runs, line.threads)))


def _line_of(row: Row) -> ToolLine:
    memory = str(row.cell.get("memory", "heap"))
    # Axes that the tool doesn't have.
    more = [str(row.cell[name]) for name in MORE_AXES if name in row.cell]
    speed, threads = row.payload_mb_per_s, int(row.cell["threads"])
    return ToolLine(
        experiment=" ".join([PLACES.get(memory, f"App writes to {memory}"), *more]),
        size_bytes=int(row.cell["size_bytes"]),
        function=tool_name(str(row.cell["function"])),
        gb_per_s=speed and speed.scaled(1 / 1_000),
        runs=row.blocks,
        threads=0 if threads == 1 else threads,
    )


def tool_name(function: str) -> str:
    """The tool's name of a copy function, with the space before its third one's."""
    return TOOL_NAMES.get(function, f"{function}_memcpy")


def _arm(cell: Cell, context: Context) -> Arm:
    content = str(cell["content"])
    source: Cell = {
        # A region is one for all threads, as there.
        "buffers": "shared" if str(cell["memory"]).endswith(REGION) else "private",
        "content": "found" if content.startswith(FOUND) else "counting",
        "seed": int(content.rpartition(" ")[2]),
    }
    return copies.copy_arm({**cell, **source}, context)


def _cells(scope: Scope) -> Iterator[Cell]:
    """All that can be done, at the tool's nine lengths, the most wanted first."""
    memories = [m for m in PLACES if REGION in scope.memories or not m.endswith(REGION)]
    sizes = sorted(copies.SIZES, key=lambda size: size not in WANTED_BYTES)
    return tool_cells(memories, () if scope.quick else sizes, 1, source_content(0))


WANTED_BYTES = (65_536, 1_048_576)
LENGTHS = (*copies.SIZES, 256 << 20)
"""The tool's ten; the last one on request."""
NAMES = tuple(PLACES.values())
"""The tool's experiments by their numbers; Sealift's region stands for its ESCAPE memory."""
MEMORIES = tuple(PLACES)
"""The other side of the copies of each experiment, by its number."""
COUNTING, FOUND = "counting from ", "found, "
TOOL_NAMES = {
    function: f" {printed}" if printed == "apex_memcpy" else printed
    for printed, function in PUBLISHED_FUNCTIONS.items()
}
HEADER = (
    "Experiment Description, Copy length (Bytes), Copy Type, Throughput (GBps), Number of Runs, "
    "Number of Threads"
)
NEEDED = {"size_bytes", "function", "threads"}
MORE_AXES = ("state", "way", "threading", "offset")
SMALL_GB_PER_S = 0.1

EXPERIMENT = Experiment(
    **texts(__package__, "copy-by-direction"),
    id="004-R2",
    axes=(
        *(copies.MEMORY, copies.SIZE, copies.COUNT, Axis("content", "what the source holds")),
        copies.FUNCTION,
    ),
    compare="function",
    cells=_cells,
    arm=_arm,
    operation="copy",
    charts=(
        copies.curves("size_bytes", "function", title="The tool's experiments", panels="memory"),
    ),
    lines_of=("memory-ceiling",),
    preferred={"memory": "heap", "size_bytes": 65_536},
    names={**copies.FUNCTIONS, **copies.MEMORIES},
    weight=0.3,
)
