"""Systems of many DPUs, projected: 000-P1, 000-P1-scaling, and what transfers cost, 000-P2."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import NamedTuple

from sealift_lab._lab import DpuSystem
from sealift_lab.experiments.document_000 import dpu
from sealift_lab.experiments.notes import texts
from sealift_lab.model.arm import Cell, Value
from sealift_lab.model.experiment import Axis, Chart, Line
from sealift_lab.model.published import (
    Fact,
    Kind,
    Number,
    Published,
    Scaled,
    printed_claim,
    table,
    table_row,
)
from sealift_lab.model.results import Origin, Results


class System(NamedTuple):
    """DPUs of one clock."""

    dpus: int
    clock_hz: float


def transfer_s(dpus: int, dpu_bytes: int) -> float:
    """Seconds to bring `dpu_bytes` to each DPU and to take them back, by the SDK."""
    rates = DpuSystem.named("upmem-640-266").rates(dpus, dpu_bytes)
    return sum(dpus * dpu_bytes / rate for rate in rates)


def in_series(system: System, cycles_a_byte: float) -> float:
    """Bytes a second to the DPUs, through their work, and back."""
    # At which the SDK's transfers are fastest.
    dpu_bytes = 512 << 10
    work_s = dpu_bytes * cycles_a_byte / system.clock_hz
    return system.dpus * dpu_bytes / (work_s + transfer_s(system.dpus, dpu_bytes))


@lru_cache(maxsize=32)
def project(title: str, system: System) -> Mapping[str, Value]:
    """A kernel on a system: GB/s by where the data are, and MiB/s as the document prints."""
    tasklets, paces = _paces(title)
    facts: dict[str, Value] = {"tasklets": tasklets, CYCLES: paces[0]}
    for hazard, cycles in zip(("", HAZARD), paces, strict=False):
        facts[IN_MRAM + hazard] = system.dpus * system.clock_hz / cycles / 1e9
        facts[BY_SDK + hazard] = in_series(system, cycles) / 1e9
    facts[MIB_PER_S] = system.dpus * system.clock_hz / paces[0] / 2**20
    return facts


def _paces(title: str) -> tuple[str, Sequence[float]]:
    """Tasklets, and simulated cycles a byte of one DPU, without and with the hazard."""
    if title == ONE_TASKLET:
        return "1", [dpu.document_rate("cycles")]
    if title == MANY_TASKLETS:
        return "11 or more", [dpu.document_rate("instructions")]
    tasklets = TASKLETS + (kernel := dpu.KERNELS[title]).movers
    runs = [dpu.steady(kernel, tasklets, hazard=hazard) for hazard in (False, True)]
    return str(tasklets), [run.cycles / data_bytes for run, data_bytes in runs]


def claim_value(claim_id: str) -> float:
    """The number that a claim of the document prints."""
    return float(table_row("000-X1-claims", claim_id=claim_id)["value"])


def total_by_seconds() -> Number:
    """MiB/s of the document's DPUs, from its whole seconds for the 64 MiB of each."""
    seconds, mebibytes = claim_value("mram-time"), 64.0 * SYSTEMS[SMALL].dpus
    return Number(mebibytes / seconds, mebibytes / (seconds + 0.5), mebibytes / (seconds - 0.5))


def _published(_: Results) -> Iterator[Published]:
    """The printed total beside the simulation, and beside its own document; then corrections."""
    by_seconds = total_by_seconds()
    printed = partial(
        printed_claim, "000-P1", claim_id="dpu640", unit="MiB/s", origin=Origin.PROJECTED
    )
    yield printed(
        "total of 640 DPUs",
        kind=Kind.NUMBER,
        here=Fact(MANY_CELL, MIB_PER_S),
        note="the same algorithm with enough tasklets; one tasklet a DPU gives the print",
    )
    yield printed(
        "total of 640 DPUs against its own 64 MiB in about 12 s each",
        kind=Kind.ARITHMETIC,
        here=by_seconds,
        note="300 MiB/s rest on 550 cycles a byte, those of one tasklet; 12 s on 100k cycles "
        "for 2 KiB, split among tasklets",
        low=by_seconds.low,
        high=by_seconds.high,
    )
    corrections = {
        "one": (CYCLES, 1.0),
        "slowdown": (CYCLES, CORE_HZ / claim_value("aesni") / 500e6),
        "dpu640": (IN_MRAM, 500e6 / SYSTEMS[SMALL].clock_hz * 1e9 / 2**30),
    }
    for row in table("000-elsewhere-correction"):
        name, factor = corrections[row["claim_id"]]
        yield Published(
            figure="000-P1",
            what=f"corrected by its authors: {row['quantity']}",
            value=float(row["value"]),
            unit=row["unit"],
            source=f"{row['source']}: {row['as_printed']}",
            kind=Kind.NUMBER,
            here=Scaled(Fact(MANY_CELL, name), factor),
            note="the document's algorithm, an instruction a cycle, at 500 MHz as there; follows "
            "from the instructions of 000-T1",
            origin=Origin.PROJECTED,
            is_fitted=True,
        )


def _lines(results: Results) -> Sequence[Line]:
    """The same with the hazard of register banks."""
    return [
        Line(
            f"{each.cell['system']}{HAZARD}",
            name,
            float(each.facts[name + HAZARD]),
            Origin.PROJECTED,
            {"kernel": each.cell["kernel"]},
        )
        for each in results.facts()
        for name in PLACES
        if name + HAZARD in each.facts
    ]


TASKLETS = 16
# As the document has it.
CORE_HZ = 3e9
# Where both are published: document 000, Discussion, and document 001, Methods.
SYSTEMS: Mapping[Value, System] = {
    "640 DPUs at 267 MHz": System(640, 267e6),
    "2,560 DPUs at 350 MHz": System(2_560, 350e6),
}
SMALL = "640 DPUs at 267 MHz"
ONE_TASKLET = "document 000's ECB, one tasklet"
MANY_TASKLETS = "document 000's ECB, enough tasklets"
KERNELS = (dpu.ECB, dpu.ECB_FED, dpu.CTR, dpu.GCM, dpu.GCM_1024, dpu.GCM_128)
TITLES = (ONE_TASKLET, MANY_TASKLETS, *(kernel.title for kernel in KERNELS))
MANY_CELL: Cell = {"system": SMALL, "kernel": MANY_TASKLETS}
CYCLES, IN_MRAM, MIB_PER_S = "cycles a byte", "data in MRAM, GB/s", "data in MRAM, MiB/s"
BY_SDK = "data in host memory, GB/s, by the SDK"
PLACES = {IN_MRAM: "data in MRAM", BY_SDK: "data in host memory and back (SDK)"}
HAZARD = ", with the hazard"
PROJECTION = dpu.computed(
    **texts(__package__, "dpu-projection"),
    id="000-P1",
    axes=(Axis("system", "system", tuple(SYSTEMS)), Axis("kernel", "kernel", TITLES)),
    compare="kernel",
    facts=lambda cell: project(str(cell["kernel"]), SYSTEMS[cell["system"]]),
    published=_published,
    lines=_lines,
    charts=tuple(
        Chart("kernel", "system", name, f"Projected, without and with the hazard: {place}")
        for name, place in PLACES.items()
    ),
    preferred={"kernel": dpu.GCM.title},
    columns={
        CYCLES: "cycles/B",
        IN_MRAM: "MRAM, GB/s",
        IN_MRAM + HAZARD: "with hazard",
        BY_SDK: "host, GB/s",
        BY_SDK + HAZARD: "host, hazard",
    },
    origin=Origin.PROJECTED,
    weight=0.1,
    estimated_s=0.9,
)


def published_times() -> Mapping[int, float]:
    """Times as fast as 64 DPUs on 4 GiB, by number of DPUs.

    Printed are multiples of software on a host that is not here; only their ratios are used.
    """
    times = {
        int(row["version"].removeprefix("dpus=")): float(row["times_software_aes"])
        for row in table(SCALING_TABLE)
        if row["version"].startswith("dpus=")
    }
    return {dpus: each / times[64] for dpus, each in times.items()}


def _scaling(cell: Cell) -> Mapping[str, Value]:
    dpus, cycles = int(cell["dpus"]), dpu.document_rate("instructions")
    few, many = (in_series(System(each, MEASURED_CLOCK_HZ), cycles) for each in (64, dpus))
    printed, projected = published_times()[dpus], many / few
    return {
        f"published, {TIMES}": printed,
        TIMES: projected,
        "projected / published": projected / printed,
    }


def _published_scaling(results: Results) -> Iterator[Published]:
    here = {int(each.cell["dpus"]): float(each.facts[TIMES]) for each in results.facts()}
    values = [here[dpus] for dpus in published_times() if dpus in here]
    rises_as_published = all(one < other for one, other in pairwise(values))
    for dpus, times in published_times().items():
        if dpus == 64:
            continue
        yield Published(
            figure="000-P1-scaling",
            what=f"{dpus} DPUs against 64, 4 GiB from host memory and back",
            value=times,
            unit=TIMES,
            source=table(SCALING_TABLE)[0]["source"],
            kind=Kind.POINT if rises_as_published else Kind.NUMBER,
            here=Fact({"dpus": dpus}, TIMES),
            note="document 000's algorithm and the SDK's transfers",
            series="DPUs that ran",
            at={"dpus": dpus},
            origin=Origin.PROJECTED,
        )


# Clock of the machine that document 000 measured on.
MEASURED_CLOCK_HZ = 266e6
TIMES = "times 64 DPUs"
SCALING_TABLE = "000-elsewhere-dpus-against-host"
SCALING = dpu.computed(
    **texts(__package__, "dpu-scaling"),
    id="000-P1-scaling",
    axes=(
        Axis("algorithm", "algorithm", ("document 000's, projected",)),
        Axis("dpus", "DPUs", tuple(published_times())),
    ),
    compare="dpus",
    facts=_scaling,
    published=_published_scaling,
    charts=(Chart("dpus", "algorithm", TIMES, "4 GiB, there and back, by DPUs"),),
    origin=Origin.PROJECTED,
)


def _amount(cell: Cell) -> Mapping[str, Value]:
    (dpus, clock_hz), dpu_bytes = SYSTEMS[cell["system"]], int(cell["dpu_bytes"])
    kernel = dpu.KERNELS[cell["kernel"]]
    cycles, waiting = dpu_cycles(kernel, dpu_bytes)
    most_cycles, _ = dpu_cycles(kernel, AMOUNTS[-1])
    work_s, host_s = cycles / clock_hz, transfer_s(dpus, dpu_bytes)
    return {
        CYCLES: cycles / dpu_bytes,
        "times those of 64 MiB": cycles / dpu_bytes / (most_cycles / AMOUNTS[-1]),
        BUSY_TASKLETS: float(min(TASKLETS, dpu_bytes // chunk_bytes(dpu_bytes))),
        WAITING: 100 * waiting / cycles,
        "a DPU's work, ms": 1e3 * work_s,
        "to DPUs and back, ms": 1e3 * host_s,
        HOST_SHARE: 100 * host_s / (host_s + work_s),
        GB_PER_S: dpus * dpu_bytes / (host_s + work_s) / 1e9,
        "cycles are": "simulated" if dpu_bytes <= SIMULATED_MAX else "projected",
    }


def dpu_cycles(kernel: dpu.Kernel, dpu_bytes: int) -> tuple[float, float]:
    """Cycles of 16 tasklets, and those without an instruction while they wait for transfers.

    Beyond `SIMULATED_MAX` each byte takes what it took on average in the last half of that.
    """
    if dpu_bytes > SIMULATED_MAX:
        halves = dpu_bytes / (SIMULATED_MAX // 2) - 1
        half, whole = (dpu_cycles(kernel, each) for each in (SIMULATED_MAX // 2, SIMULATED_MAX))
        cycles, waiting = (one + halves * (two - one) for one, two in zip(half, whole, strict=True))
        return cycles, waiting
    run = dpu.simulate(kernel, TASKLETS, dpu_bytes, chunk_bytes=chunk_bytes(dpu_bytes))
    return run.cycles, run.idle_dma_cycles


def chunk_bytes(dpu_bytes: int) -> int:
    """The largest chunk of which each tasklet gets one; 32 bytes at least."""
    share = max(32, dpu_bytes // TASKLETS)
    return min(dpu.CHUNK_BYTES, 1 << (share.bit_length() - 1))


BUSY_TASKLETS, WAITING = "tasklets with a chunk", "waiting for MRAM, % of a DPU's time"
HOST_SHARE, GB_PER_S = "to DPUs and back, % of all the time", "all in all, GB/s"
AMOUNTS = (*(128 << (2 * power) for power in range(10)), 64 << 20)
SIMULATED_MAX = 128 << 10
SHOWN: Cell = {"system": SMALL}
BY_AMOUNT = dpu.computed(
    **texts(__package__, "dpu-amounts"),
    id="000-P2",
    axes=(
        Axis("system", "system", tuple(SYSTEMS)),
        Axis("kernel", "kernel", (dpu.ECB_FED.title, dpu.GCM.title)),
        Axis("dpu_bytes", "bytes for each DPU", AMOUNTS),
    ),
    compare="kernel",
    facts=_amount,
    charts=tuple(
        Chart("dpu_bytes", series, y, title, panels, where, log_x=True, log_y=y == CYCLES)
        for series, y, title, panels, where in (
            ("kernel", CYCLES, "Cycles a byte by amount", "", SHOWN),
            ("kernel", WAITING, "A DPU's wait for MRAM", "", SHOWN),
            ("system", HOST_SHARE, "Transfers from host memory and back", "kernel", {}),
        )
    ),
    preferred=SHOWN,
    columns={
        CYCLES: CYCLES,
        BUSY_TASKLETS: "tasklets",
        WAITING: "waits for MRAM, %",
        HOST_SHARE: "there and back, %",
        GB_PER_S: "GB/s",
    },
    origin=Origin.PROJECTED,
    weight=0.1,
    estimated_s=0.9,
)
