"""Instructions a block of every kernel, by mnemonic: how few they are, and why not fewer."""

from collections.abc import Iterable, Mapping, Sequence

from sealift.lab.dpus import kept, model
from sealift.lab.dpus.instructions import EVERY, Unrolled, a_block
from sealift.lab.dpus.literal import OPERATIONS, by_name, mnemonics
from sealift.lab.result import Found, Listing, Origin
from sealift.lab.spec import Axis, Brief, Computed, Context, Experiment, Scope
from sealift.lab.units import format_measure
from sealift.lab.values import Cell, Value


def _cells(scope: Scope) -> Iterable[Cell]:
    return () if scope.quick else ({KERNEL.name: title} for title in TITLES)


def _arm(cell: Cell, _: Context) -> Computed:
    title = str(cell[KERNEL.name])
    block = _unrolled(title)
    counts = a_block(block.kernel) if block else mnemonics(WRITTEN[title])
    every = sum(counts.values())
    facts: dict[str, Value] = {TAKES: kept(every)}
    if block:
        facts[UNROLLED] = float(block.instructions)
        facts[REST] = kept(every - block.instructions)
        facts[SPENT], facts[WHY] = block.parts_text, block.why
    known = [name for names in GROUPS.values() for name in names]
    for group, names in GROUPS.items():
        facts[group] = kept(sum(counts.get(name, 0.0) for name in names))
    facts[OTHER] = kept(sum(count for name, count in counts.items() if name not in known))
    facts[BY_MNEMONIC] = ", ".join(f"{name} {kept(count)}" for name, count in counts.items())
    return Computed(facts)


def _unrolled(title: str) -> Unrolled | None:
    return next((each for each in EVERY if each.kernel.title == title), None)


def _facts(found: Found) -> dict[str, Mapping[str, Value]]:
    return {str(each.cell[KERNEL.name]): each.facts for each in found.verified if each.facts}


def _says(found: Found) -> str:
    known = _facts(found)
    if len(known) < len(TITLES):
        return ""
    takes = {title: format_measure(float(facts[TAKES])) for title, facts in known.items()}
    ours = ", ".join(
        f"{each.kernel.title} {takes[each.kernel.title]} ({each.instructions} unrolled)"
        for each in EVERY
    )
    return (
        f"Instructions a block: {ours}; document 000's algorithm as it stands "
        f"{takes[TITLES[0]]}. Unrolled is what a block takes by itself; beyond it are loops and "
        "what each chunk begins with. The table says what they are spent on, and why not fewer"
    )


def _listings(found: Found) -> Sequence[Listing]:
    known = _facts(found)
    if not known:
        return ()
    return [_why(known), _mnemonics(known)]


def _why(known: Mapping[str, Mapping[str, Value]]) -> Listing:
    rows = [
        (
            each.kernel.title,
            format_measure(float(known[each.kernel.title][TAKES])),
            str(each.instructions),
            str(known[each.kernel.title][SPENT]),
            str(known[each.kernel.title][WHY]),
        )
        for each in EVERY
        if each.kernel.title in known
    ]
    columns = ("kernel", TAKES, UNROLLED, SPENT, WHY)
    return Listing("What instructions are spent on", columns, rows, numbers=columns[1:3])


def _mnemonics(known: Mapping[str, Mapping[str, Value]]) -> Listing:
    """A row for each mnemonic, a column for each kernel."""
    counts = {title: by_name(str(facts[BY_MNEMONIC])) for title, facts in known.items()}
    names = dict.fromkeys(name for each in counts.values() for name in each)
    rows = [
        (name, *(_count(each.get(name, 0.0)) for each in counts.values()))
        for name in names
        if any(each.get(name, 0.0) >= SHOWN for each in counts.values())
    ]
    columns = ("mnemonic", *counts)
    return Listing("Instructions a block, by mnemonic", columns, rows, numbers=columns[1:])


def _count(count: float) -> str:
    return f"{count:.1f}" if count else ""


KERNEL = Axis("kernel", "kernel")
WRITTEN = dict(
    zip(("document 000, encryption", "document 000, decryption"), OPERATIONS, strict=True)
)
TITLES = (*WRITTEN, *(each.kernel.title for each in EVERY))
TAKES, UNROLLED, REST = "instructions a block", "unrolled", "loops and chunks"
SPENT, WHY = "spent on, unrolled", "why not fewer"
GROUPS = {
    "bytes taken out": ("mul_ul_ul", "mul_uh_ul"),
    "loads": ("lw", "ld", "lbu"),
    "sums": ("xor",),
    "shifts and masks": ("lsr", "lsl", "and", "lsl_add"),
    "stores": ("sw", "sd", "sb"),
}
OTHER, BY_MNEMONIC = "others", "by mnemonic"
# What a block has on average at least, to be listed.
SHOWN = 0.05

EXPERIMENT = Experiment(
    name="dpu-instructions",
    id="000-P1-instructions",
    title="Instructions a block, by what they do",
    why="How few instructions do AES-128 and GHASH take of a DPU, and why not fewer?",
    axes=(KERNEL,),
    compare=KERNEL.name,
    cells=_cells,
    arm=_arm,
    operation="block",
    says=_says,
    listings=_listings,
    weight=0.02,
    origin=Origin.SIMULATED,
    takes_s=0.5,
    stands_on=model.SIMULATED,
    brief=Brief({TAKES: TAKES, **{name: name for name in (*GROUPS, OTHER)}}),
)
