"""000-T1 and 000-T2: AES-128 on one DPU, with and without its transfers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sealift_lab.experiments.document_000.kernel import six_digits
from sealift_lab.experiments.document_000.literal import BLOCKS, OPERATIONS, mnemonics, timing
from sealift_lab.experiments.document_000.printed import rounding
from sealift_lab.experiments.notes import read_notes
from sealift_lab.model.experiment import Axis, Experiment, Scope
from sealift_lab.model.figure import Fact
from sealift_lab.model.published import Kind, Published, table_row
from sealift_lab.model.results import Origin, Results
from sealift_lab.model.sample import Computed, Context
from sealift_lab.model.values import Cell, Value


@dataclass(frozen=True)
class Table:
    """One of the two tables.

    Attributes:
        id: The document's name for it.
        file: Its published rows.
        has_dma: Whether transfers are inside the timed stretch.
    """

    id: str
    file: str
    has_dma: bool

    def arm(self, cell: Cell, _: Context) -> Computed:
        """Simulates a row."""
        operation = str(cell[OPERATION.name])
        row = table_row(self.file, operation=operation)
        facts: dict[str, Value] = {}
        for counts in COUNTS:
            simulated = self._simulated(operation, counts)
            facts[f"{counts}, published"] = float(row[counts])
            facts[f"{counts}, simulated"] = simulated
            facts[f"{counts}, simulated / published"] = six_digits(simulated / float(row[counts]))
        for origin in ("published", "simulated"):
            cycles, instructions = (float(facts[f"{counts}, {origin}"]) for counts in COUNTS)
            facts[f"cycles an instruction, {origin}"] = six_digits(cycles / instructions)
            facts[f"instructions a block, {origin}"] = six_digits(instructions / BLOCKS)
        low, high = rounding(row["instructions_as_printed"])
        facts[BY_ROUNDING] = f"{low / BLOCKS:.1f} to {high / BLOCKS:.1f}"
        facts[BY_MNEMONIC] = ", ".join(
            f"{name} {count:.1f}" for name, count in mnemonics(operation).items() if count >= LEAST
        )
        return Computed(facts)

    def published(self, _: Results) -> Sequence[Published]:
        """Its four figures."""
        return [self._published(name, counts) for name in OPERATIONS for counts in COUNTS]

    def _published(self, operation: str, counts: str) -> Published:
        row = table_row(self.file, operation=operation)
        return Published(
            figure=self.id,
            what=f"{operation}, {counts} for 2,048 bytes",
            value=float(row[counts]),
            unit=counts,
            source=f"{row['source']}: {row[f'{counts}_as_printed']}",
            kind=Kind.NUMBER,
            here=Fact({OPERATION.name: operation}, f"{counts}, simulated"),
            note="the same algorithm, one tasklet",
            origin=Origin.SIMULATED,
        )

    def _simulated(self, operation: str, counts: str) -> float:
        each = timing(operation, counts)
        return each.with_dma if self.has_dma else each.without_dma


def _cells(scope: Scope) -> Iterable[Cell]:
    return () if scope.quick else ({OPERATION.name: name} for name in OPERATIONS)


def _experiment(table: Table, name: str, title: str, question: str) -> Experiment:
    return Experiment(
        name=name,
        id=table.id,
        title=title,
        question=question,
        axes=(OPERATION,),
        compare=OPERATION.name,
        cells=_cells,
        arm=table.arm,
        operation="buffer",
        published=table.published,
        columns=COLUMNS,
        origin=Origin.SIMULATED,
        weight=0.02,
        estimated_s=0.5,
        notes=read_notes(__package__, "encryption", "simulation"),
    )


OPERATION = Axis("operation", "operation")
COUNTS = ("cycles", "instructions")
BY_ROUNDING = "instructions a block, by the rounding of the print"
BY_MNEMONIC = "simulated instructions a block, by mnemonic"
# A mnemonic that is no part of a block stands in the program once.
LEAST = 0.5
COLUMNS = {
    "cycles, published": "published cycles",
    "cycles, simulated": "simulated",
    "cycles, simulated / published": "ratio",
    "instructions, published": "published instr.",
    "instructions, simulated": "simulated instr.",
    "instructions, simulated / published": "instr. ratio",
    "instructions a block, simulated": "instr./block",
}
ENCRYPTION = _experiment(
    Table("000-T1", "000-T1-encryption", has_dma=True),
    "dpu-encryption",
    "AES-128 on one DPU: published and simulated",
    "How near does a simulation by instructions come to what a UPMEM DPU took for 2,048 bytes, "
    "with the document's own algorithm?",
)
WITHOUT_DMA = _experiment(
    Table("000-T2", "000-T2-encryption-excluding-dma", has_dma=False),
    "dpu-encryption-without-dma",
    "AES-128 on one DPU without transfers: published and simulated",
    "How many cycles and instructions do the same 2,048 bytes take between the two transfers?",
)
