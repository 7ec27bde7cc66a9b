"""Instruction sets of this processor beside three generations of CPUs (document 003, table 4).

The document compared three CPUs; here one CPU plays older ones by using fewer of its instructions:
table code without any for AES, AES-NI, VAES on 256 and on 512 bits, and Intel's ippcp, which
chooses for itself. Of the document's tests, "Thread = 1" and "Threads = cores" stand beside the
table code, and "IPP" beside ippcp.

Quick runs all of it, a full run more blocks.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sealift.lab.crowding import LOAD, Load
from sealift.lab.grid import (
    AXES,
    DOCUMENT_WORK,
    MANY_KEYS,
    STATED,
    crypto_arm,
    crypto_cells,
    logged,
    one_and_all,
    stated,
    with_load,
)
from sealift.lab.published import (
    Comparison,
    Kind,
    Printed,
    conditions,
    gain_a_thread,
    payload_speed,
    table,
    table_row,
)
from sealift.lab.result import Found
from sealift.lab.spec import Experiment, Plot, Scope
from sealift.lab.values import Cell


def _cells(scope: Scope) -> Iterator[Cell]:
    works = (stated(MANY_KEYS), logged())
    return with_load(crypto_cells(works, devices=DEVICES, threads=one_and_all(scope)), scope)


def _published(found: Found) -> Sequence[Comparison]:
    both = [comparison for work in DOCUMENT_WORK for comparison in _beside(found, work)]
    return [*both, _generations()]


def _beside(found: Found, work: Cell) -> Iterator[Comparison]:
    """All nine values, and what each CPU gained by its threads."""
    messages = f"messages {work['workload']}"
    for row in table(TABLE):
        stand_in = STANDS_FOR[row["test"]]
        here = payload_speed(found, device=stand_in.device, **work, **stand_in.where)
        told = conditions(found, device=stand_in.device, **work, **stand_in.where)
        there = "" if row["test"] == ONE else f"; there {row['cores_as_printed']} threads"
        yield _value(row, work).beside(here, f"{messages}, {stand_in.words}, {told}{there}")
    one, every = ({"device": TABLE_CODE, **work, **STANDS_FOR[test].where} for test in (ONE, EVERY))
    gain = gain_a_thread(found, one, every)
    for cpu in dict.fromkeys(row["cpu"] for row in table(TABLE)):
        told = conditions(found, **every)
        yield _gain(cpu).beside(gain, f"{messages}, table code, {told} against 1, a thread a core")


def _value(row: Mapping[str, str], work: Cell) -> Printed:
    is_one = row["test"] == ONE
    return Printed(
        figure="003-T4",
        what=f"{row['cpu']}, {row['test']}",
        value=_speed(row),
        unit="MB/s",
        source=row["source"],
        kind=Kind.VALUE,
        # Drawn once, though compared with both readings of the messages.
        series=row["test"] if work["workload"] == STATED else "",
        at={
            "device": row["cpu"],
            "threads": 1 if is_one else int(row["cores_as_printed"]),
            "load": Load.BELOW if is_one else Load.ALL,
        },
    )


def _generations() -> Comparison:
    claim = table_row("003-X1-claims", claim_id="generations")
    first, second = "i7-12700H", "i7-13620H"
    speed, of_speed = (_speed(_printed(cpu, EVERY)) for cpu in (first, second))
    return Printed(
        figure="003-T4",
        what=f"{first} against {second}, {EVERY}: {speed:g}/{of_speed:g} MB/s",
        value=speed / of_speed,
        unit="x",
        source=claim["source"],
        kind=Kind.RATIO,
    ).beside(
        "the 12th and the 13th generation need a machine each; the instruction sets of one CPU are "
        "here in their place",
        f"printed: {claim['as_printed']}",
    )


def _gain(cpu: str) -> Printed:
    """What each of the threads of a CPU added: `x a thread`, for their numbers differ."""
    every, one = _printed(cpu, EVERY), _printed(cpu, ONE)
    threads = int(every["cores_as_printed"])
    return Printed(
        figure="003-T4",
        what=f"{cpu}, speed-up a thread: {_speed(every):g}/{_speed(one):g} MB/s over {threads}",
        value=_speed(every) / _speed(one) / threads,
        unit="x a thread",
        source=every["source"],
        kind=Kind.SLOPE,
    )


def _printed(cpu: str, test: str) -> Mapping[str, str]:
    return table_row(TABLE, cpu=cpu, test=test)


def _speed(row: Mapping[str, str]) -> float:
    return float(row["throughput_mb_s"])


@dataclass(frozen=True)
class _StandIn:
    """What stands here for one of the document's tests."""

    device: str
    where: Cell
    words: str


TABLE = "003-T4-cpu-generations"
TABLE_CODE, VENDOR = "table", "ipp"
DEVICES = (TABLE_CODE, "cpu:isa=aesni", "cpu:isa=vaes256", "cpu:isa=vaes512", VENDOR)
ONE, EVERY, EVERY_IPP = "Thread = 1", "Threads = cores", "Threads = cores, IPP"
STANDS_FOR = {
    ONE: _StandIn(TABLE_CODE, {"threads": 1}, "table code on 1 thread"),
    EVERY: _StandIn(TABLE_CODE, {"load": Load.ALL}, "table code, a thread a core"),
    EVERY_IPP: _StandIn(VENDOR, {"load": Load.ALL}, "ippcp, a thread a core"),
}

EXPERIMENT = Experiment(
    name="instruction-sets",
    id="003-T4",
    title="AES-GCM by instruction set, beside CPU generations",
    why="The document compared three CPUs. What did the instructions alone bring, on one CPU?",
    axes=(*AXES, LOAD),
    compare="device",
    cells=_cells,
    arm=crypto_arm,
    operation="message",
    published=_published,
    plots=(
        Plot(
            x="device",
            y="payload_MB_per_s",
            z="workload",
            title="Instruction sets here, generations as published: 1 thread",
            where={"threads": 1},
            log_y=True,
        ),
        Plot(
            x="device",
            y="payload_MB_per_s",
            z="workload",
            title="Instruction sets here, generations as published: a thread a core",
            where={"load": Load.ALL},
            log_y=True,
        ),
    ),
)
