"""Devices, cards and runs under made-up loads, for tests that know what should come out."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from sealift import Card
from sealift.lab.costs import Line
from sealift.lab.lengths import Lengths
from sealift.lab.load.device import Device, Figure, InBatches
from sealift.lab.load.own import Own
from sealift.lab.result import Origin
from sealift.lab.spec import Scope
from sealift.lab.values import Cell
from sealift.lab.workload import SEAL_ONLY, Keys, Regime
from synthetic_run import made, write_run

BATCHES = (1, 4, 16, 64, 256, 1_024)
COSTS = {"library": Line(800, 200, 0.1), "cpu": Line(600, 30, 0.05)}
SCOPE = Scope(quick=False, cores=2, devices=("library", "cpu"))


def device(
    name: str = "cpu",
    *,
    setup_ns: float = 600,
    message_ns: float = 40,
    workers: int = 1,
    size: float = 128,
    batches: Sequence[int] = BATCHES,
) -> Device:
    """A measured device that takes so much for a batch and for each message in it."""

    def figure(value: float) -> Figure:
        return Figure(value, Origin.MEASURED, 0.99 * value, 1.01 * value)

    def in_batches(count: int) -> InBatches:
        batch_ns = setup_ns + count * message_ns
        per_s = workers * count * 1e9 / batch_ns
        return InBatches(count, figure(batch_ns), figure(batch_ns / count), figure(per_s))

    line = Line(setup_ns, message_ns, 0)
    every = tuple(map(in_batches, batches))
    return Device(name, Origin.MEASURED, workers, size, every, line, line)


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
"""
        + ("[price]\n" + "\n".join(costs) + "\n" if costs else ""),
        encoding="utf-8",
    )
    return Card.read(file)


def own(
    lengths: Mapping[int, int] | None = None,
    *,
    sessions: int = 5_000,
    devices: Sequence[str] = ("library", "cpu"),
    threads: int = 1,
    batch: int | None = None,
) -> Own:
    """Messages of one's own: 128 bytes under 5,000 keys when nothing else is said."""
    return Own(
        lengths=Lengths.of(lengths or {128: 1}),
        regime=Regime(Keys.SESSIONS, sessions),
        mix=SEAL_ONLY,
        key_bits=128,
        devices=devices,
        threads=threads,
        batch=batch,
    )


def batch_ns(cell: Cell) -> float:
    """What a message takes in a cell of a made-up run: a straight line for each device."""
    line, batch = COSTS[str(cell["device"])], int(cell["batch"])
    threads = int(cell["threads"])
    return line.batch_ns(batch, float(cell["size_bytes"])) / batch / threads


def run_of(path: Path, what: Own | None = None, **changes: object) -> Path:
    """The folder of a run that measured messages of one's own."""
    experiment, _ = (what or own()).measurement(SCOPE)
    how = made(**({"ns": batch_ns, "noise": 0.001} | changes))
    return write_run(path, how, [experiment], scope=SCOPE)
