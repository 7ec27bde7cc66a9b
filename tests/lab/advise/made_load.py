"""Devices, cards and runs whose answer is known."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from sealift_lab._lab import Card
from sealift_lab.advise.load import Batch, Device
from sealift_lab.advise.messages import own_messages
from sealift_lab.judge.lines import CostLine
from sealift_lab.measure.plan import make_plan
from sealift_lab.measure.write_folder import Journal, create, write_ending
from sealift_lab.model.arm import Cell
from sealift_lab.model.experiment import Experiment, Scope
from sealift_lab.model.results import Estimate
from sealift_lab.model.run import (
    REPORTS,
    SAMPLES,
    DeviceState,
    Ending,
    Fact,
    ReportLine,
    SampleLine,
    Surroundings,
)
from sealift_lab.model.workload import SEAL_ONLY, KeyRegime, Keys, Lengths
from sealift_lab.run.read_folder import Run

BATCHES = (1, 4, 16, 64, 256, 1_024)
COSTS = {"library": CostLine(800, 200, 0.1), "cpu": CostLine(600, 30, 0.05)}
SCOPE = Scope(quick=False, cores=2, devices=("library", "cpu"))
MACHINE = Surroundings(
    facts={"cpu_model": Fact("Example 9000"), "cores_affinity": Fact(2)},
    devices=[
        DeviceState("library", "library", "present", "real"),
        DeviceState("cpu", "cpu", "present", "real"),
        DeviceState("cuda", "cuda", "absent", reason="no driver (errno 2); install one"),
    ],
)


def at_once(_: Device, batch: Batch, batches_per_s: float) -> float:
    """Batches that never wait for each other."""
    assert batches_per_s * batch.messages < batch.per_s.value
    return batch.batch_ns.value


def device(
    name: str = "cpu",
    *,
    setup_ns: float = 600,
    message_ns: float = 40,
    workers: int = 1,
    size: float = 128,
    batches: Sequence[int] = BATCHES,
) -> Device:
    """A measured device with a fixed cost for each batch and each message in it."""

    def figure(value: float) -> Estimate:
        return Estimate(value, 0.99 * value, 1.01 * value)

    def in_batches(count: int) -> Batch:
        ns = setup_ns + count * message_ns
        return Batch(count, figure(ns), figure(ns / count), figure(workers * count * 1e9 / ns))

    line = CostLine(setup_ns, message_ns, 0)
    every = tuple(map(in_batches, batches))
    lengths = Lengths.from_counts({round(size): 1})
    return Device(name, workers, size, every, line, line, lengths)


def card(
    folder: Path,
    *,
    name: str = "pretend",
    host_ns: float = 10.0,
    setup_ns: float = 20.0,
    latency_ns: float = 5_000.0,
    rate_gbit_per_s: float = 100.0,
    price: float | None = 900.0,
    watts: float | None = 25.0,
    algorithm: str = "aes-gcm",
) -> Card:
    """A card on which each message is a request, with this processor's time for each."""
    costs = [] if price is None else [f'price = {price}\ncurrency = "USD"']
    costs += [] if watts is None else [f"watts = {watts}"]
    prices = "\n".join(["[price]", *costs]) if costs else ""
    file = folder / f"{name}.toml"
    file.write_text(
        f"""
name = "{name}"
summary = "a card that never was"
source = "a test"
algorithm = "{algorithm}"
[card]
units = 1
rate_gbit_per_s = {rate_gbit_per_s}
setup_us = {setup_ns / 1_000}
slots = 64
messages_per_request = 1
[host]
request_us = {host_ns / 1_000}
copies = 0
copy_gbit_per_s = 1
[link]
gbit_per_s = 1000000
duplex = true
latency_us = {latency_ns / 1_000}
{prices}
"""
    )
    return Card.read(file)


def messages(
    lengths: Mapping[int, int] | None = None,
    *,
    devices: Sequence[str] = ("library", "cpu"),
    threads: int = 1,
    batch: int | None = None,
) -> Experiment:
    """Messages of 128 bytes under 5,000 keys, unless other lengths are given."""
    of, keys = Lengths.from_counts(lengths or {128: 1}), KeyRegime(Keys.SESSIONS, 5_000)
    return own_messages(of, keys, SEAL_ONLY, 128, devices, threads, batch)


def message_ns(cell: Cell) -> float:
    """Time of a message in a cell of a made-up run, all threads together: a line by device."""
    line, batch = COSTS[str(cell["device"])], int(cell["batch"])
    return line.batch_ns(batch, float(cell["size_bytes"])) / batch / int(cell["threads"])


def run_of(
    path: Path,
    what: Experiment | None = None,
    *,
    ns: Callable[[Cell], float] = message_ns,
    noise: float = 0.001,
    reports: Mapping[str, Mapping[str, str]] | None = None,
) -> Run:
    """A run on messages of one's own; reports have by device `wrong`, `skipped` or `role`."""
    experiment = what or messages()
    groups = experiment.groups(SCOPE)
    plan = make_plan(
        [(experiment, groups)], command=["sealift", "advise"], budget_s=0, processes=1, blocks=12
    )
    create(path, plan, MACHINE)
    random = np.random.default_rng(1)
    known = reports or {}
    with Journal(path / SAMPLES) as samples, Journal(path / REPORTS) as verified:
        for number, cells in enumerate(groups):
            at = (experiment.name, number)
            for arm, cell in enumerate(cells):
                found = known.get(str(cell["device"]), {})
                facts = {"role": found.get("role", "real")}
                skipped, wrong = found.get("skipped", ""), found.get("wrong", "")
                verified.add([asdict(ReportLine(*at, arm, 0, facts, skipped, wrong))])
            there = [
                arm
                for arm, cell in enumerate(cells)
                if not {"wrong", "skipped"} & {*known.get(str(cell["device"]), {})}
            ]
            for block in range(12):
                arms = [*there, there[block % len(there)]]
                for turn, arm in enumerate(arms):
                    took = round(1e5 * ns(cells[arm]) * float(np.exp(random.normal(0, noise))))
                    again, size = turn == len(there), 10**5 * int(cells[arm]["size_bytes"])
                    line = SampleLine(*at, arm, again, 0, block, took, 10**5, size, 0, 1.0, 0)
                    samples.add([asdict(line)])
    write_ending(path, Ending("complete"))
    return Run(path)
