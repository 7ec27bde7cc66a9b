"""Document 000's own algorithm, operation by operation, beside the two tables that time it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sealift._sealift import DpuKernelRun
from sealift.lab.dpus.kernel import kept, kernel_run
from sealift.lab.published import Comparison, Kind, Printed, counted, table
from sealift.lab.result import Found, Origin, Verified
from sealift.lab.spec import Axis, Brief, Computed, Context, Scope
from sealift.lab.units import format_measure, format_share
from sealift.lab.values import Cell, Value


@dataclass(frozen=True)
class Reading:
    """What the document's timer said of 2,048 bytes, as it would count it on the simulated DPU.

    Attributes:
        with_dma: From before the transfer out of MRAM to behind the one into it.
        without_dma: From behind the one to before the other.
    """

    with_dma: float
    without_dma: float


def literal(operation: str, counts: str) -> Reading:
    """Runs the document's algorithm once and reads its timer.

    Args:
        operation: Encryption or Decryption, as the document has it.
        counts: cycles or instructions.
    """
    begin, fetched, worked, end = _run(operation, counts).times
    return Reading(float(STEP * (end - begin)), float(STEP * (worked - fetched)))


def mnemonics(operation: str) -> Mapping[str, float]:
    """How many instructions of each mnemonic it takes a block, most frequent first."""
    counted_ = _run(operation, "cycles").mnemonics
    return {name: count / BLOCKS for name, count in counted_}


@dataclass(frozen=True)
class Encryption:
    """One of the two tables as an experiment.

    Attributes:
        id: The document's name for it.
        table: Its file.
        has_dma: Whether the transfers are inside what was timed.
    """

    id: str
    table: str
    has_dma: bool

    def cells(self, scope: Scope) -> Iterable[Cell]:
        """Both rows; none of a quick run, whose answer they don't bear on."""
        return () if scope.quick else ({OPERATION.name: name} for name in OPERATIONS)

    def arm(self, cell: Cell, _: Context) -> Computed:
        """Simulates a row."""
        operation = str(cell[OPERATION.name])
        facts: dict[str, Value] = {}
        for counts in COUNTED:
            printed, here = self._printed(operation, counts), self._here(operation, counts)
            facts[f"{counts}, published"] = printed
            facts[f"{counts}, simulated"] = here
            facts[f"{counts}, simulated / published"] = kept(here / printed)
        for origin in ("published", "simulated"):
            cycles, instructions = (float(facts[f"{name}, {origin}"]) for name in COUNTED)
            facts[f"cycles an instruction, {origin}"] = kept(cycles / instructions)
            facts[f"instructions a block, {origin}"] = kept(instructions / BLOCKS)
        facts[BY_MNEMONIC] = ", ".join(
            f"{name} {count:.1f}" for name, count in mnemonics(operation).items() if count >= LEAST
        )
        return Computed(facts)

    def published(self, found: Found) -> Sequence[Comparison]:
        """Each of the four cells beside the simulation."""
        known = {str(each.cell[OPERATION.name]): each for each in found.verified if each.facts}
        return [
            self._compared(operation, counts, known.get(operation), found)
            for operation in OPERATIONS
            for counts in COUNTED
        ]

    def says(self, found: Found) -> str:
        """How near the simulation comes, and by which instructions its two ways differ."""
        facts = [each.facts for each in found.verified if each.facts]
        if len(facts) < len(OPERATIONS):
            return ""
        of = "simulated / published"
        ratios = [float(each[f"{name}, {of}"]) for each in facts for name in COUNTED]
        off = format_share(max(abs(ratio - 1) for ratio in ratios))
        paces = [float(each["cycles an instruction, simulated"]) for each in facts]
        pace = " to ".join(dict.fromkeys(f"{each:.2f}" for each in (min(paces), max(paces))))
        there, here = (
            [format_measure(float(each[f"instructions a block, {origin}"])) for each in facts]
            for origin in ("published", "simulated")
        )
        return (
            "The document's algorithm, one instruction for each operation of its source, is "
            f"within {off} of every published cell; a block takes {here[0]} instructions to "
            f"encrypt and {here[1]} to decrypt, where printed are {there[0]} and {there[1]}, at "
            f"{pace} cycles each with one tasklet. "
            f"{_explained(facts)}."
        )

    def _printed(self, operation: str, counts: str) -> float:
        row = next(row for row in table(self.table) if row["operation"] == operation)
        return float(row[counts])

    def _here(self, operation: str, counts: str) -> float:
        reading = literal(operation, counts)
        return reading.with_dma if self.has_dma else reading.without_dma

    def _compared(
        self, operation: str, counts: str, known: Verified | None, found: Found
    ) -> Comparison:
        row = next(row for row in table(self.table) if row["operation"] == operation)
        printed = Printed(
            figure=self.id,
            what=f"{operation}, {counts} for 2,048 bytes",
            value=float(row[counts]),
            unit=counts,
            source=f"{row['source']}: {row[f'{counts}_as_printed']}",
            kind=Kind.NUMBER,
            origin=Origin.SIMULATED,
        )
        if known is None:
            return printed.beside(found.why_not(**{OPERATION.name: operation}), "not computed")
        here = float(known.facts[f"{counts}, simulated"])
        return printed.beside(counted(here, of=BLOCKS), "the same algorithm, one tasklet")


def _explained(facts: Sequence[Mapping[str, Value]]) -> str:
    """What differs between the two ways, and what a block is made of, by mnemonic."""
    encrypt, decrypt = (_counts(str(each[BY_MNEMONIC])) for each in facts)
    names = dict.fromkeys([*encrypt, *decrypt])
    apart = {name: decrypt.get(name, 0.0) - encrypt.get(name, 0.0) for name in names}
    told = ", ".join(
        f"{name} {difference:+.0f}" for name, difference in apart.items() if abs(difference) >= 1
    )
    made_of = ", ".join(f"{count:.0f} {name}" for name, count in encrypt.items() if count >= SHOWN)
    return (
        f"By mnemonic a block is decrypted with {told} beside how it is encrypted, because the "
        f"last round then looks bytes up and not words; encrypting it takes {made_of} and a few "
        "others"
    )


def _counts(text: str) -> dict[str, float]:
    return {name: float(count) for name, count in (each.split() for each in text.split(", "))}


def _run(operation: str, counts: str) -> DpuKernelRun:
    return kernel_run(
        "document-000",
        tasklets=1,
        data_bytes=LITERAL_BYTES,
        decrypts=operation == OPERATIONS[1],
        counts=counts,
    )


LITERAL_BYTES = 2_048
BLOCKS = LITERAL_BYTES // 16
# Cycles, and instructions, in which its timer counts.
STEP = 16
# Mnemonics that are no part of a block are in the program once.
LEAST = 0.5
# What is told of in a sentence.
SHOWN = 10
BY_MNEMONIC = "simulated instructions a block, by mnemonic"
OPERATION = Axis("operation", "operation")
OPERATIONS = ("Encryption", "Decryption")
COUNTED = ("cycles", "instructions")
BRIEF = Brief(
    {
        "cycles, published": "published cycles",
        "cycles, simulated": "simulated",
        "cycles, simulated / published": "ratio",
        "instructions, published": "published instr.",
        "instructions, simulated": "simulated instr.",
        "instructions, simulated / published": "instr. ratio",
        "instructions a block, simulated": "instr./block",
    }
)
