"""Which cells are measured of messages of one's own, and how they are found in a run again."""

from dataclasses import replace
from pathlib import Path

import pytest

from made_load import BATCHES, COSTS, SCOPE, own, run_of
from sealift.lab.costs import Line
from sealift.lab.lengths import Lengths
from sealift.lab.load.own import Seen, batches, is_own, sizes_around
from sealift.lab.stats import Verdict
from sealift.lab.store import read
from sealift.lab.summary import summarise
from sealift.lab.values import Cell
from synthetic_run import made, write_run


def seen(folder: Path) -> Seen:
    run = read(folder)
    return Seen.of(run, summarise(run))


@pytest.mark.parametrize(
    ("size", "wanted", "counts"),
    [
        (128, None, [1, 4, 16, 64, 256, 1_024]),
        (1 << 20, None, [1, 4, 16]),
        (16 << 20, None, [1, 4]),
        (128, 100, [1, 4, 16, 64, 100]),
        (128, 1, [1, 4]),
        (128, 4, [1, 4]),
    ],
)
def test_messages_are_measured_one_by_one_and_in_batches_up_to_a_full_one(
    size: int, wanted: int | None, counts: list[int]
) -> None:
    assert batches(size, wanted) == counts


@pytest.mark.parametrize(
    ("size", "around"),
    [
        (1, [16]),
        (16, [256]),
        (128, [16, 2_048]),
        (1_500, [188, 24_000]),
        (65_536, [8_192]),
        (16 << 20, [65_536]),
    ],
)
def test_other_sizes_lie_around_it_and_are_never_it(size: int, around: list[int]) -> None:
    assert sizes_around(size) == around


def test_own_messages_come_first_on_every_device_and_other_sizes_alone_and_in_full_batches() -> (
    None
):
    experiment, groups = own({40: 3, 1_500: 1}, threads=2).measurement(SCOPE)
    assert list(experiment.legend.values()) == ["40x3 1500x1"]
    assert {tuple(cell["device"] for cell in group) for group in groups} == {("library", "cpu")}
    told = [(group[0]["workload"], group[0]["size_bytes"], group[0]["batch"]) for group in groups]
    name = Lengths.of({40: 3, 1_500: 1}).name
    assert told[:6] == [(f"AES-128 of {name}", 405, count) for count in BATCHES]
    assert told[6:] == [
        ("AES-128", size, count) for size in (51, 6_480) for count in (1, _full(size))
    ]
    assert {(cell["keys"], cell["threads"]) for group in groups for cell in group} == {
        ("sessions:5000", 2)
    }


def _full(size: int) -> int:
    return min(1_024, (16 << 20) // size)


def test_devices_are_found_again_with_what_each_takes(tmp_path: Path) -> None:
    found = seen(run_of(tmp_path / "run"))
    assert [device.name for device in found.devices] == ["library", "cpu"]
    assert found.lengths.counts == ((128, 1),)
    for device in found.devices:
        line = COSTS[device.name]
        assert [each.messages for each in device.batches] == list(BATCHES)
        for each in device.batches:
            batch_ns = line.batch_ns(each.messages, 128)
            assert each.batch_ns.value == pytest.approx(batch_ns, rel=0.01)
            assert each.batch_ns.low is not None
            assert each.batch_ns.low <= each.batch_ns.value
            assert each.host_ns.value == pytest.approx(batch_ns / each.messages, rel=0.01)
            assert each.per_s.value == pytest.approx(each.messages * 1e9 / batch_ns, rel=0.01)
        assert device.line.setup_ns == pytest.approx(line.setup_ns, rel=0.02)
        assert device.line.per_message_ns == pytest.approx(line.per_message_ns, rel=0.02)
        assert device.line.per_byte_ns == pytest.approx(line.per_byte_ns, rel=0.02)
        assert device.line.worst_share < 0.01
        alone = device.alone
        assert alone.setup_ns == pytest.approx(line.setup_ns + line.per_message_ns, rel=0.02)
        assert (alone.per_message_ns, alone.worst_share < 0.01) == (0, True)
        for count in (1, 64, 1_024):
            priced = device.priced(count)
            assert isinstance(priced, Line)
            assert priced.batch_ns(count, 128) == pytest.approx(device.batch_ns(count))
            assert priced.batch_ns(count, 4_096) == pytest.approx(
                line.batch_ns(count, 4_096), rel=0.02
            )
    row = found.judge(64, "cpu", "library")
    assert row is not None
    assert row.verdict is Verdict.SLOWER
    assert found.judge(64, "cpu", "cpu") is not None


def test_what_a_message_costs_alone_is_not_taken_from_batches(tmp_path: Path) -> None:
    """In batches the processor works ahead: a byte of a message that is alone costs more."""

    def message_ns(cell: Cell) -> float:
        batch, size = int(cell["batch"]), float(cell["size_bytes"])
        return 600 + 0.2 * size if batch == 1 else 600 / batch + 30 + 0.05 * size

    (cpu,) = seen(run_of(tmp_path / "run", own(devices=("cpu",)), ns=message_ns)).devices
    alone, batch = cpu.priced(1), cpu.priced(64)
    assert isinstance(alone, Line)
    assert isinstance(batch, Line)
    assert alone.batch_ns(1, 10_000) == pytest.approx(2_600, rel=0.02)
    assert batch.batch_ns(64, 10_000) == pytest.approx(600 + 64 * 530, rel=0.02)


def test_two_threads_halve_the_time_and_not_the_processors(tmp_path: Path) -> None:
    one, two = (seen(run_of(tmp_path / str(count), own(threads=count))) for count in (1, 2))
    for single, double in zip(one.devices, two.devices, strict=True):
        assert double.workers == 2
        assert double.largest.host_ns.value == pytest.approx(single.largest.host_ns.value, rel=0.01)
        assert double.largest.per_s.value == pytest.approx(2 * single.largest.per_s.value, rel=0.01)
        assert double.line.per_message_ns == pytest.approx(single.line.per_message_ns, rel=0.02)


def test_many_lengths_are_read_from_the_legend(tmp_path: Path) -> None:
    found = seen(run_of(tmp_path / "run", own({40: 3, 1_500: 1})))
    assert found.lengths.counts == ((40, 3), (1_500, 1))
    # A made-up run counts the bytes of the cell's size, which is the mean.
    assert {device.message_bytes for device in found.devices} == {405.0}


def test_devices_that_are_no_advice_are_left_out_with_the_reason(tmp_path: Path) -> None:
    what = own(devices=("library", "table", "cpu", "cpu:isa=aesni"))
    folder = run_of(
        tmp_path / "run",
        what,
        ns=lambda cell: float(cell["size_bytes"]),
        wrong={"cpu": "message 3: the tag differs"},
        skipped={"cpu:isa=aesni": "it is not here"},
    )
    found = seen(folder)
    assert [device.name for device in found.devices] == ["library"]
    assert found.left_out == {
        "table": "is no device to run on (test only)",
        "cpu": "computed something wrong: message 3: the tag differs",
        "cpu:isa=aesni": "it is not here",
    }


def test_a_device_without_the_wanted_batch_is_left_out(tmp_path: Path) -> None:
    found = seen(run_of(tmp_path / "run"))
    library, cpu = found.devices
    short = replace(found, devices=(replace(library, batches=library.batches[:3]), cpu))
    assert [device.name for device in short.in_batches(256).devices] == ["cpu"]
    assert short.in_batches(256).left_out == {"library": "was not measured in batches of 256"}
    assert short.in_batches(16).devices == short.devices
    assert short.in_batches(None) is short
    with pytest.raises(ValueError, match=r"a batch of 5 was not measured; there are 1, 4, 16, 64"):
        short.in_batches(5)


def test_other_runs_are_none_of_ones_own(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", made())
    assert not is_one(folder)
    with pytest.raises(ValueError, match=r"no messages of one's own; .* --size N --out FOLDER"):
        seen(folder)
    assert is_one(run_of(tmp_path / "own"))
    assert is_one(run_of(tmp_path / "one", own(batch=1)))


def is_one(folder: Path) -> bool:
    run = read(folder)
    return is_own(run, summarise(run))


def test_a_run_of_another_experiment_with_the_same_name_is_none_either(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "run")
    plan = folder / "plan.json"
    plan.write_text(plan.read_text().replace('"mix"', '"mixture"'))
    assert not is_one(folder)
    other = run_of(tmp_path / "other")
    plan = other / "plan.json"
    plan.write_text(plan.read_text().replace('"batch": 1,', '"batch": "one",'))
    assert not is_one(other)
