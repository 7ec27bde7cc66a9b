"""One simulated DPU: the document's tables 000-T1 to 000-T3, and what its kernels take."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache, partial
from itertools import product
from statistics import LinearRegression, linear_regression

from sealift_lab.experiments.document_000 import dpu
from sealift_lab.experiments.notes import texts
from sealift_lab.model.arm import Cell, Value
from sealift_lab.model.experiment import Axis, Chart, Experiment, Line
from sealift_lab.model.published import Fact, Kind, Published, table, table_row
from sealift_lab.model.results import Origin, Results


def _encryption(name: str, document_id: str, file: str, *, has_dma: bool) -> Experiment:
    """AES-128 beside a published table; `has_dma` as of `document_time`."""

    def facts(cell: Cell) -> Mapping[str, Value]:
        operation = str(cell["operation"])
        row = table_row(file, operation=operation)
        printed = [float(row[counts]) for counts in COUNTS]
        simulated = [dpu.document_time(operation, counts, has_dma=has_dma) for counts in COUNTS]
        facts: dict[str, Value] = {}
        for counts, one, other in zip(COUNTS, printed, simulated, strict=True):
            facts[f"{counts}, published"] = one
            facts[f"{counts}, simulated"] = other
            facts[f"{counts}, simulated / published"] = other / one
        for origin, (cycles, instructions) in (("published", printed), ("simulated", simulated)):
            facts[f"cycles an instruction, {origin}"] = cycles / instructions
            facts[f"instructions a block, {origin}"] = instructions / BLOCKS
        low, high = rounding(row["instructions_as_printed"])
        facts["instructions a block, by the rounding of the print"] = (
            f"{low / BLOCKS:.1f} to {high / BLOCKS:.1f}"
        )
        # A mnemonic that is no part of a block stands in the program once.
        frequent = [(each, n) for each, n in _mnemonics(operation).items() if n >= 0.5]
        facts["simulated instructions a block, by mnemonic"] = ", ".join(
            f"{each} {n:.1f}" for each, n in frequent
        )
        return facts

    def published(_: Results) -> Iterator[Published]:
        for operation, counts in product(OPERATIONS, COUNTS):
            row = table_row(file, operation=operation)
            yield Published(
                figure=document_id,
                what=f"{operation}, {counts} for 2,048 bytes",
                value=float(row[counts]),
                unit=counts,
                source=f"{row['source']}: {row[f'{counts}_as_printed']}",
                kind=Kind.NUMBER,
                here=Fact({"operation": operation}, f"{counts}, simulated"),
                note="the same algorithm, one tasklet",
                origin=Origin.SIMULATED,
            )

    return dpu.computed(
        **texts(__package__, name),
        id=document_id,
        axes=(Axis("operation", "operation", OPERATIONS),),
        compare="operation",
        facts=facts,
        published=published,
        columns={
            "cycles, published": "published cycles",
            "cycles, simulated": "simulated",
            "cycles, simulated / published": "ratio",
            "instructions, published": "published instr.",
            "instructions, simulated": "simulated instr.",
            "instructions, simulated / published": "instr. ratio",
            "instructions a block, simulated": "instr./block",
        },
    )


def rounding(text: str) -> tuple[float, float]:
    """The least and the most that round to a printed number: `99.3k` is 99,250 to 99,350."""
    multiple = {"k": 1_000, "m": 1_000_000}.get(text[-1], 1)
    number = Decimal(text.rstrip("km"))
    half = Decimal(1).scaleb(int(number.as_tuple().exponent)) / 2
    return float((number - half) * multiple), float((number + half) * multiple)


def _mnemonics(operation: str) -> Mapping[str, float]:
    """Instructions a block of the document's algorithm by mnemonic, most frequent first."""
    return {name: n / BLOCKS for name, n in dpu.document_run(operation, "cycles").mnemonics}


OPERATIONS, COUNTS = ("Encryption", "Decryption"), ("cycles", "instructions")
BLOCK_BYTES, ROUNDS = 16, 10
BLOCKS = dpu.BUFFER_BYTES // BLOCK_BYTES
ENCRYPTION = _encryption("dpu-encryption", "000-T1", "000-T1-encryption", has_dma=True)
WITHOUT_DMA = _encryption(
    "dpu-encryption-without-dma", "000-T2", "000-T2-encryption-excluding-dma", has_dma=False
)


def _transfer(cell: Cell) -> Mapping[str, Value]:
    direction, size = str(cell["direction"]), int(cell["transfer"])
    cycles, by_line = dpu.latency(direction, size), _at(_line_through_all(direction), size)
    return {
        LATENCY: float(cycles),
        ALONE: float(cycles - dpu.TIMER_CYCLES),
        BYTES_A_CYCLE: size / cycles,
        BY_LINE: by_line,
        "beside the line, cycles": cycles - by_line,
    }


@lru_cache(maxsize=2)
def _line_through_all(direction: str) -> LinearRegression:
    lengths = range(8, dpu.BUFFER_BYTES + 1, 8)
    return linear_regression(lengths, [dpu.latency(direction, each) for each in lengths])


def _at(line: LinearRegression, transfer_bytes: float) -> float:
    return line.intercept + line.slope * transfer_bytes


def _published_transfers(_: Results) -> Iterator[Published]:
    for row in table("000-T3-dma-latency"):
        cell: Cell = {"direction": "read", "transfer": int(row["transfer_bytes"])}
        # Only a transfer over 1 KiB goes on in a second row of MRAM.
        kind, note = (Kind.GIVEN, GIVEN) if int(cell["transfer"]) > 1_024 else (Kind.NUMBER, CHOSEN)
        printed = partial(
            Published,
            figure="000-T3",
            source=row["source"],
            kind=kind,
            origin=Origin.SIMULATED,
            is_fitted=True,
        )
        yield printed(
            what=f"read of {cell['transfer']:,} B",
            value=float(row["latency_cycles"]),
            unit=LATENCY,
            here=Fact(cell, LATENCY),
            note=note,
            series="document 000",
            at=cell,
        )
        yield printed(
            what=f"read of {cell['transfer']:,} B, bytes a cycle",
            value=float(row["bytes_per_cycle"]),
            unit="bytes/cycle",
            here=Fact(cell, BYTES_A_CYCLE),
            note="length over cycles, the column before it",
        )


def _lines_through_transfers(results: Results) -> Sequence[Line]:
    """The line through the simulated latencies of each direction."""
    lines = []
    for direction in dpu.DIRECTIONS:
        reports = list(results.facts(direction=direction))
        sizes = [float(each.cell["transfer"]) for each in reports]
        if len(sizes) < 2:
            continue
        line = linear_regression(sizes, [float(each.facts[LATENCY]) for each in reports])
        formula = f"{line.intercept:.0f} + {line.slope:.3f} x bytes"
        series = f"line through all {direction}s: {formula}"
        lines += [
            Line(series, LATENCY, _at(line, size), Origin.PROJECTED, {"transfer": size})
            for size in (min(sizes), max(sizes))
        ]
    return lines


SIZES = (8, 16, 32, 64, 128, 256, 512, 768, 1_024, 1_032, 1_280, 1_536, 1_792, 2_048)
LATENCY, ALONE = "cycles", "the transfer alone, cycles"
BYTES_A_CYCLE = "bytes a cycle"
BY_LINE = "by the line through all lengths, cycles"
GIVEN = "an input: the cost of a second row of MRAM comes from this cell"
CHOSEN = (
    "set-up and cost a byte are PrIM's; the 66 cycles of the timer's own instructions were chosen "
    "with this table at hand; the document's timer counts in steps of 16"
)
CHART = "Transfers between MRAM and WRAM, as document 000 timed them"
DMA_LATENCY = dpu.computed(
    **texts(__package__, "dpu-dma-latency"),
    id="000-T3",
    axes=(
        Axis("direction", "direction", tuple(dpu.DIRECTIONS)),
        Axis("transfer", "transfer, bytes", SIZES),
    ),
    compare="direction",
    facts=_transfer,
    published=_published_transfers,
    charts=(Chart("transfer", "direction", LATENCY, CHART),),
    lines=_lines_through_transfers,
    columns={
        LATENCY: LATENCY,
        ALONE: "transfer alone",
        BYTES_A_CYCLE: BYTES_A_CYCLE,
        BY_LINE: "by the line",
    },
)


def _by_tasklets(cell: Cell) -> Mapping[str, Value]:
    kernel, hazard = dpu.KERNELS[cell["kernel"]], cell["hazard"] == "on"
    run, data_bytes = dpu.steady(kernel, int(cell["tasklets"]), hazard=hazard)
    return {
        CYCLES: run.cycles / data_bytes,
        "instructions a byte": run.instructions / data_bytes,
        "instructions a cycle": run.instructions / run.cycles,
        "waiting for transfers, %": 100 * run.idle_dma_cycles / run.cycles,
        "lost to the hazard, %": 100 * run.idle_hazard_cycles / run.cycles,
        "checked against": run.checked_against,
    }


CYCLES = "cycles a byte"
SIXTEEN: Cell = {"tasklets": 16}
WITH_SIXTEEN = "Each kernel with 16 tasklets, with and without the hazard"
BY_TASKLETS = dpu.computed(
    **texts(__package__, "dpu-by-tasklets"),
    id="000-P1-tasklets",
    axes=(
        Axis("kernel", "kernel"),
        Axis("tasklets", "tasklets"),
        Axis("hazard", "hazard of register banks"),
    ),
    compare="hazard",
    cells=[
        {"kernel": title, "tasklets": tasklets, "hazard": hazard}
        for title, kernel in dpu.KERNELS.items()
        for tasklets in range(1 + kernel.movers, 25)
        for hazard in ("off", "on")
    ],
    facts=_by_tasklets,
    charts=(
        Chart("tasklets", "kernel", CYCLES, "Cycles a byte by tasklets", "hazard", log_y=True),
        Chart("kernel", "hazard", CYCLES, WITH_SIXTEEN, where=SIXTEEN),
    ),
    preferred=SIXTEEN,
    columns={
        CYCLES: CYCLES,
        "instructions a byte": "instructions a byte",
        "waiting for transfers, %": "waiting, %",
        "lost to the hazard, %": "hazard, %",
    },
    weight=0.2,
    estimated_s=6.5,
)


def _instructions(cell: Cell) -> Mapping[str, Value]:
    title = cell["kernel"]
    kernel = dpu.KERNELS.get(title)
    counts = instructions_a_block(kernel) if kernel else _mnemonics(WRITTEN[title])
    total = sum(counts.values())
    facts: dict[str, Value] = {TOTAL: total}
    if kernel:
        facts["unrolled"] = float(UNROLLED[kernel])
        facts["loops and chunks"] = total - UNROLLED[kernel]
    for group, names in GROUPS.items():
        facts[group] = sum(counts.get(name, 0.0) for name in names)
    grouped = {name for names in GROUPS.values() for name in names}
    facts[OTHERS] = sum((n for name, n in counts.items() if name not in grouped), 0.0)
    facts["by mnemonic"] = ", ".join(f"{name} {float(f'{n:.6g}')}" for name, n in counts.items())
    return facts


def instructions_a_block(kernel: dpu.Kernel) -> Mapping[str, float]:
    """Instructions a block by mnemonic, most frequent first: of one tasklet, in long chunks.

    They are the slope over the number of blocks.
    """
    chunk = 2_048
    few, many = (
        Counter(dict(dpu.simulate(kernel, 1, chunks * chunk, chunk_bytes=chunk).mnemonics))
        for chunks in (8, 24)
    )
    blocks = (24 - 8) * chunk / BLOCK_BYTES
    return {name: count / blocks for name, count in (many - few).most_common()}


# Instructions of one block without any loop around it, as they stand in the kernels: lookups of
# three instructions, shifts, keys and what many blocks share, data; of GHASH lookups, sums, shifts,
# data and the reduction.
CTR_UNROLLED = 3 * (5 + BLOCK_BYTES * (ROUNDS - 2)) + (1 + 4 * (ROUNDS - 2)) + 2 * (ROUNDS - 1) + 8
GHASH_UNROLLED = 3 * BLOCK_BYTES + 4 * (BLOCK_BYTES - 1) + 4 + 6 + 18
UNROLLED: Mapping[dpu.Kernel, int] = {
    dpu.ECB: 3 * ROUNDS * BLOCK_BYTES + 4 * ROUNDS + (2 * (ROUNDS + 1) + 4) + 4,
    dpu.CTR: CTR_UNROLLED,
    dpu.GHASH: GHASH_UNROLLED,
    dpu.GCM: CTR_UNROLLED + GHASH_UNROLLED,
}
WRITTEN: Mapping[Value, str] = {f"document 000, {each.lower()}": each for each in OPERATIONS}
TOTAL, OTHERS = "instructions a block", "others"
GROUPS = {
    "bytes taken out": ("mul_ul_ul", "mul_uh_ul"),
    "loads": ("lw", "ld", "lbu"),
    "sums": ("xor",),
    "shifts and masks": ("lsr", "lsl", "and", "lsl_add"),
    "stores": ("sw", "sd", "sb"),
}
INSTRUCTIONS = dpu.computed(
    **texts(__package__, "dpu-instructions"),
    id="000-P1-instructions",
    axes=(Axis("kernel", "kernel", (*WRITTEN, *(kernel.title for kernel in UNROLLED))),),
    compare="kernel",
    facts=_instructions,
    columns={name: name for name in (TOTAL, *GROUPS, OTHERS)},
)
