"""Document 000's own algorithm, operation by operation, beside the two tables that time it."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sealift._sealift import DpuKernelRun
from sealift.lab.dpus.kernel import kept, kernel_run
from sealift.lab.published import Comparison, Kind, Printed, Rounded, counted, table
from sealift.lab.result import Found, Listing, Origin, Verified
from sealift.lab.spec import Axis, Brief, Computed, Context, Scope
from sealift.lab.units import format_measure
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
        rounded, of_block = self._a_block(operation), facts["instructions a block, simulated"]
        facts[BY_PRINT] = f"{rounded.low:.1f} to {rounded.high:.1f}"
        facts[REASON] = " ".join(self._reasons(operation, rounded, float(of_block)))
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
        off = math.ceil(1_000 * max(abs(ratio - 1) for ratio in ratios)) / 10
        paces = [float(each["cycles an instruction, simulated"]) for each in facts]
        pace = " to ".join(dict.fromkeys(f"{each:.2f}" for each in (min(paces), max(paces))))
        there, here = (
            [format_measure(float(each[f"instructions a block, {origin}"])) for each in facts]
            for origin in ("published", "simulated")
        )
        return (
            "The document's algorithm, one instruction for each operation of its source, is "
            f"within {off} % of every published cell; a block takes {here[0]} instructions to "
            f"encrypt and {here[1]} to decrypt, where printed are {there[0]} and {there[1]}, at "
            f"{pace} cycles each with one tasklet. "
            f"{_explained(facts)}."
        )

    def listings(self, found: Found) -> Sequence[Listing]:
        """What is printed of a block beside what is simulated, and what tells them apart."""
        rows = [
            (
                str(each.cell[OPERATION.name]),
                str(each.facts[BY_PRINT]),
                format_measure(float(each.facts["instructions a block, simulated"])),
                str(each.facts[REASON]),
            )
            for each in found.verified
            if each.facts
        ]
        return [Listing(APART, APART_COLUMNS, rows)] if rows else []

    def _reasons(self, operation: str, printed: Rounded, here: float) -> Iterator[str]:
        if printed.low <= here <= printed.high:
            yield "What is printed rounds to this."
        cycles = _rounded(self._row(operation)["cycles_as_printed"])
        at_most = cycles.high / REVOLVER_CYCLES / BLOCKS
        if at_most < printed.low:
            yield (
                f"The cycles printed beside it hold {at_most:.1f} at most, because a tasklet "
                f"issues every {REVOLVER_CYCLES}th cycle at the soonest: the two figures of this "
                "row are not of one run."
            )
        if self.has_dma:
            yield _transfers_apart(printed, operation)
        elif operation == OPERATIONS[1]:
            yield self._one_reading(printed, here)

    def _one_reading(self, printed: Rounded, here: float) -> str:
        """Which mnemonics the difference may be looked for in; totals are all that is printed."""
        encrypt, decrypt = OPERATIONS
        saved = [each - (here - FUSED[decrypt]) for each in (printed.low, printed.high)]
        other = self._here(encrypt, COUNTED[1]) / BLOCKS - FUSED[encrypt]
        of_other = self._a_block(encrypt)
        told = " to ".join(f"{other + each:.1f}" for each in saved)
        return (
            f"The two ways differ in the last round alone, here by "
            f"{_apart(mnemonics(encrypt), mnemonics(decrypt))}. Only totals are printed, so that "
            "by mnemonic there is no more than a reading: where bytes are put together, an lsl and "
            f"an xor become one lsl_add ({FUSED[encrypt]} fewer to encrypt, {FUSED[decrypt]} to "
            f"decrypt), and {saved[0]:.1f} to {saved[1]:.1f} of another kind come on top, as "
            "saving registers at each call, which is not in this program. Encryption then takes "
            f"{told}; what is printed rounds {of_other.low:.1f} to {of_other.high:.1f}."
        )

    def _a_block(self, operation: str) -> Rounded:
        """Instructions a block, as printed for 128 of them."""
        return _rounded(self._row(operation)["instructions_as_printed"]).scaled(1 / BLOCKS)

    def _row(self, operation: str) -> Mapping[str, str]:
        return next(row for row in table(self.table) if row["operation"] == operation)

    def _printed(self, operation: str, counts: str) -> float:
        return float(self._row(operation)[counts])

    def _here(self, operation: str, counts: str) -> float:
        reading = literal(operation, counts)
        return reading.with_dma if self.has_dma else reading.without_dma

    def _compared(
        self, operation: str, counts: str, known: Verified | None, found: Found
    ) -> Comparison:
        row = self._row(operation)
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
    """What differs between the two ways, by mnemonic."""
    encrypt, decrypt = (by_name(str(each[BY_MNEMONIC])) for each in facts)
    return (
        f"By mnemonic a block is decrypted with {_apart(encrypt, decrypt)} beside how it is "
        "encrypted, because the last round then looks bytes up and not words"
    )


def _apart(encrypt: Mapping[str, float], decrypt: Mapping[str, float]) -> str:
    names = dict.fromkeys([*encrypt, *decrypt])
    apart = {name: decrypt.get(name, 0.0) - encrypt.get(name, 0.0) for name in names}
    return ", ".join(
        f"{name} {difference:+.0f}" for name, difference in apart.items() if abs(difference) >= 1
    )


def _transfers_apart(printed: Rounded, operation: str) -> str:
    """What transfers are in the document, where there are two instructions of them here."""
    row = next(row for row in table(WITHOUT_DMA) if row["operation"] == operation)
    without = _rounded(row["instructions_as_printed"])
    least, most = BLOCKS * printed.low - without.high, BLOCKS * printed.high - without.low
    return (
        f"With transfers and without, the printed totals are {least:,.0f} to {most:,.0f} "
        "instructions apart; here transfers are an ldma and an sdma in all, no call around them."
    )


def by_name(text: str) -> dict[str, float]:
    """Instructions by mnemonic, as facts have them."""
    return {name: float(count) for name, count in (each.split() for each in text.split(", "))}


def _rounded(text: str) -> Rounded:
    """What rounds to a figure of the tables: 99.3k are 99,250 to 99,350."""
    return Rounded.printed(f"{text[:-1]} x").scaled(MULTIPLES[text[-1]])


def _run(operation: str, counts: str) -> DpuKernelRun:
    return kernel_run(
        "document-000",
        tasklets=1,
        data_bytes=LITERAL_BYTES,
        decrypts=operation == OPERATIONS[1],
        counts=counts,
    )


MULTIPLES = {"k": 1e3, "m": 1e6}
LITERAL_BYTES = 2_048
BLOCKS = LITERAL_BYTES // 16
# Cycles, and instructions, in which its timer counts.
STEP = 16
# Mnemonics that are no part of a block are in the program once.
LEAST = 0.5
BY_PRINT = "instructions a block, by the rounding of the print"
REASON = "why printed and simulated differ"
BY_MNEMONIC = "simulated instructions a block, by mnemonic"
# A tasklet issues an instruction in so many cycles at the soonest.
REVOLVER_CYCLES = 11
# Bytes that are shifted and added where a word is put together: of loading and, to decrypt, of the
# last round three in each of four words.
FUSED = {"Encryption": 12, "Decryption": 24}
APART = "Instructions a block, printed and simulated"
APART_COLUMNS = ("operation", "printed, by its rounding", "simulated", "why they differ")
WITHOUT_DMA = "000-T2-encryption-excluding-dma"
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
