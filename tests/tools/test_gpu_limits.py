"""What GPUs could do at most, beside what a run measured."""

from gpu_limits import lines, measured_lines
from sealift_lab.model.arm import Cell
from sealift_lab.model.results import ArmReport, Estimate, Results, Row


def row(experiment: str, cell: Cell, ns: float, payload_bytes: float) -> Row:
    return Row(
        experiment=experiment,
        group=0,
        arm=0,
        cell={"device": "cuda", **cell},
        compare="device",
        time=Estimate(ns),
        payload_bytes=payload_bytes,
        reference="cuda",
        ratio=None,
        verdict=None,
        reason="",
        is_winner=False,
        blocks=1,
        processes=1,
        noise=None,
        clean_share=1.0,
    )


def test_each_gpu_has_a_limit_for_each_length_of_keys_and_work() -> None:
    assert len(list(lines())) == 4 * 2 * 2 * 2


def test_messages_stand_beside_what_measured_rates_and_copies_allow() -> None:
    # An H200's, of 132 multiprocessors at 1.98 GHz.
    lanes = {"LOP3": 64, "PRMT": 32, "SHF": 64, "IMAD": 64, "IMAD.WIDE": 32, "LDS": 32}
    rates = [
        row("gpu-rates", {"instruction": name}, 1 / (a_clock * 132 * 1.98), 0)
        for name, a_clock in lanes.items()
    ]
    detail = "NVIDIA H200, 132 multiprocessors at 1980 MHz, compute capability 9.0"
    report = ArmReport("gpu-rates", rates[0].cell, {"detail": detail})
    work: Cell = {"message_bytes": 1 << 20, "key_bits": 128}
    counted: Cell = {**work, "work": "counter mode, one key"}
    cells: tuple[Cell, ...] = (
        {**counted, "s_box": "tables"},
        {**counted, "s_box": "without tables"},
    )
    copies = [
        row("gpu-copies", {"copy_bytes": size, "direction": "both at once"}, size / 80, size)
        for size in (1 << 16, 1 << 28)
    ]
    run = {
        "gpu-rates": Results(rates, [report]),
        "gpu-copies": Results(copies, []),
        "gpu-messages": Results([row("gpu-messages", each, 2632, 1 << 20) for each in cells], []),
        "gpu-host-to-host": Results([row("gpu-host-to-host", {"keys": "one"}, 4.0, 128.0)], []),
    }
    tables, without, host = measured_lines(run)
    assert tables.endswith("398.4 GB/s, 50 % of the 796.5 GB/s that loads and stores allow")
    assert without.endswith("s_box=without tables: 398.4 GB/s")
    assert host.endswith("32.0 GB/s, 80 % of the 40.0 GB/s that copies allow")
