"""Cores as cards: cells, arms that hand over truly, and what the page says beside the document."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sealift.lab import plot
from sealift.lab.boards import HIFN, Spot
from sealift.lab.crowding import Load
from sealift.lab.experiments import cores_as_cards as cores
from sealift.lab.native import offload
from sealift.lab.published import Match
from sealift.lab.record import record
from sealift.lab.result import Found, Row, Verified
from sealift.lab.spec import Context, Scope, Skip
from sealift.lab.stats import Interval
from sealift.lab.values import Cell

CONTEXT = Context(seed=1, folder=Path())
FULL = Scope(quick=False, cores=2, devices=("library", "cpu"))
GROUPS = cores.EXPERIMENT.groups(FULL)


def row(cell: Cell, mbit_s: float) -> Row:
    size_bytes = float(cell["buffer_bytes"])
    ns = 8_000 * size_bytes / mbit_s
    return Row(
        experiment=cores.EXPERIMENT.name,
        cell=cell,
        compare="way",
        ns_per_operation=Interval(ns, ns * 0.999, ns * 1.001, 0.95, 30),
        payload_bytes=size_bytes,
        reference=cores.SLEEPING,
        ratio=None,
        verdict=None,
        winner=False,
        noise_floor=0.01,
        clean_share=1.0,
        machine_busy=False,
        steady=True,
        blocks=30,
    )


@pytest.fixture(scope="module", name="found")
def fixture_found() -> Found:
    """One thread and 16 B; twice as much where nothing is handed over, 100 times in 256."""
    times = {1: 1.0, 16: 10.0, 256: 100.0}
    cells = [
        cell
        for group in GROUPS
        for cell in group
        if (cell["threads"], cell["buffer_bytes"]) == (1, 16)
    ]
    rows = [
        row(cell, 3.0 * times[int(cell["batch"])] * (2 if cell["way"] == cores.OWN else 1))
        for cell in cells
    ]
    facts = {
        "messages_worked": 1_000,
        "batches_worked": 500,
        "sleeps_of_clients": 500,
        "sleeps_of_devices": 250,
        "preemptions": 1,
        "user_ns": 3_000_000,
        "kernel_ns": 1_000_000,
    }
    verified = [Verified(cores.EXPERIMENT.name, cell, facts) for cell in cells]
    return Found(rows, verified)


def test_the_published_table_is_asked_whole_and_what_matters_most_first() -> None:
    cells = [cell for group in GROUPS for cell in group]
    assert len(cells) == 2 * 5 * 8 * 3 * 3
    assert {Spot(int(cell["threads"]), int(cell["buffer_bytes"])) for cell in cells} >= set(
        HIFN.published
    )
    essential = GROUPS[: cores.EXPERIMENT.essential]
    for cipher in cores.CIPHERS:
        for batch in (1, 256):
            assert any(
                (cell["cipher"], cell["threads"], cell["buffer_bytes"], cell["batch"])
                == (cipher, 1, 16, batch)
                for group in essential
                for cell in group
            )
    loads = {int(cell["threads"]): cell["load"] for cell in cells}
    assert loads == {1: Load.BELOW, 2: Load.ALL, **dict.fromkeys((3, 4, 32), Load.OVER)}
    assert not cores.EXPERIMENT.groups(Scope(quick=True, cores=2, devices=()))


@pytest.mark.parametrize("way", cores.WAYS)
@pytest.mark.parametrize("cipher", cores.CIPHERS)
def test_buffers_are_handed_over_and_compared(cipher: str, way: str) -> None:
    cell = next(
        cell
        for group in GROUPS
        for cell in group
        if (cell["cipher"], cell["way"], cell["threads"], cell["buffer_bytes"], cell["batch"])
        == (cipher, way, 3, 256, 16)
    )
    # A machine of one core has one.
    arm = cores.EXPERIMENT.arm({**cell, "devices": 1}, CONTEXT)
    sample = arm.sample(0.005)
    assert sample.bytes == 256 * sample.operations
    facts = arm.verified()
    assert facts["messages_worked"] == sample.operations == 16 * int(facts["batches_worked"])
    assert int(facts["messages_checked"]) >= 16
    assert str(facts["checked_against"]).startswith("AWS-LC" if cipher == cores.TDES else "library")
    assert int(facts["user_ns"]) + int(facts["kernel_ns"]) >= 0


def test_what_takes_too_long_or_can_not_be_is_refused() -> None:
    too_long: Cell = {"cipher": cores.TDES, "way": cores.SLEEPING, "threads": 32, "devices": 1}
    with pytest.raises(Skip, match="longer than a sample may"):
        cores.EXPERIMENT.arm({**too_long, "buffer_bytes": 16_384, "batch": 256}, CONTEXT)
    usual = {"threads": 1, "devices": 1, "message_bytes": 16, "batch": 1, "context": CONTEXT}
    with pytest.raises(ValueError, match='a cipher of "des": right would be 3des-cbc'):
        offload("des", cores.SLEEPING, **usual)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match='a way to hand over of "dozing": right would be calling'):
        offload(cores.TDES, "dozing", **usual)  # type: ignore[arg-type]
    with pytest.raises(Skip, match="take fewer devices"):
        offload(cores.GCM, cores.SLEEPING, **{**usual, "devices": 1_024})  # type: ignore[arg-type]


def test_one_thread_and_16_bytes_stand_beside_the_published_value(found: Found) -> None:
    said = cores.EXPERIMENT.says(found)
    assert "published 3.06 Mbit/s" in said
    assert (
        "3des-cbc 3.000 [2.997..3.003] Mbit/s, in batches of 256 300.0 [299.7..300.3], "
        "100.0 [99.80..100.2] times as much, and 6.000 [5.994..6.006] alone; "
        "aes-128-gcm 3.000 [2.997..3.003] Mbit/s" in said
    )
    compared = cores.EXPERIMENT.published(found)
    assert len(compared) == 30 + 12
    first, second, *_ = compared
    assert (first.published, first.unit, first.match) == (3.06, "Mbit/s", Match.ALIKE)
    assert first.here is not None
    assert first.here.median == pytest.approx(3.0)
    assert second.match is Match.NOT_RUN
    assert cores.EXPERIMENT.says(Found((), ())) == ""
    assert cores.EXPERIMENT.listings(Found((), ())) == ()


def test_what_is_not_settled_says_so_and_why_beside_its_interval(found: Found) -> None:
    def said(spoil: Callable[[Row], Row], **spoilt: str | int) -> str:
        rows = [spoil(each) if spoilt.items() <= each.cell.items() else each for each in found.rows]
        return cores.EXPERIMENT.says(Found(rows, found.verified))

    def busy(row: Row) -> Row:
        return replace(row, machine_busy=True)

    assert "settled" not in cores.EXPERIMENT.says(found)
    every = said(busy, cipher=cores.TDES)
    assert "6.000 [5.994..6.006] alone (none of it settled: the machine was busy); aes" in every
    assert every.count("settled") == 1
    one = said(busy, batch=256)
    assert "3des-cbc 3.000 [2.997..3.003] Mbit/s, in batches" in one
    assert "300.0 [299.7..300.3] (not settled: the machine was busy), 100.0" in one
    assert "times as much (not settled: the machine was busy), and 6.000 [" in one
    few = Interval(1.0, 0.9, 1.1, 0.95, 5)
    short = said(lambda row: replace(row, ns_per_operation=few), way=cores.OWN)
    assert "alone (not settled: 5 blocks are too few, 8 are needed)" in short
    loud = said(lambda row: replace(row, noise_floor=0.3), way=cores.OWN)
    assert "alone (not settled: the same code differed from itself by 30 %)" in loud


def test_the_tables_of_the_document_and_what_the_system_counted_stand_on_the_page(
    found: Found,
) -> None:
    printed, counted = cores.EXPERIMENT.listings(found)
    assert printed.rows[0][:5] == ("Four Hifn 7751", "published", "1", "1", "3.06")
    here = [each for each in printed.rows if each[0].startswith(cores.TDES)]
    assert ("3des-cbc, 2 cores", cores.SLEEPING, "256", "1", "300.0") in [each[:5] for each in here]
    assert all(len(each) == len(printed.columns) for each in printed.rows)
    assert counted.rows[0] == (
        *(cores.TDES, "1", "16", "1", cores.SLEEPING),
        *("0.5000", "0.2500", "0.001000", "3.000", "1.000", "25.00"),
    )


def test_published_mbit_s_are_drawn_beside_mb_s(found: Found) -> None:
    records = [record(each, "002-R1") for each in found.rows]
    compared = cores.EXPERIMENT.published(found)
    (figure,) = plot.figures(cores.EXPERIMENT.plots[0], records, {}, compared)
    values = figure.spec["data"]["values"]
    printed = [each["y"] for each in values if each["origin"] == "published"]
    assert len(printed) == 30 + 12
    assert printed[0] == pytest.approx(3.06 / 8)
