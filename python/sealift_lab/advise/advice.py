"""A run that measured messages of one's own, as advice on a load: devices with ranks, and cards."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sealift_lab._lab import Card
from sealift_lab.advise.devices import Device, measured, projected
from sealift_lab.advise.latency import Latency, batch_ns_p99
from sealift_lab.advise.load import Candidate, Demand, rank, serve
from sealift_lab.advise.messages import BY_SIZE, find_messages
from sealift_lab.advise.payoff import Payoff, payoff
from sealift_lab.claim.declared import declared
from sealift_lab.judge.judge import compare_rows
from sealift_lab.judge.verdicts import Comparison
from sealift_lab.measure.crypto import lengths_in
from sealift_lab.model.lengths import Lengths
from sealift_lab.model.results import Results, Row
from sealift_lab.model.run import PlannedExperiment
from sealift_lab.model.values import Cell, fits
from sealift_lab.run.folder import Run


@dataclass(frozen=True)
class Advice:
    """What a load of one's own takes on each device.

    Attributes:
        run: Where the measured figures come from.
        results: Rows of the devices that count, one's own messages first, and all reports.
        planned: The experiment, with its names.
        work: The messages, as values of the axes `WORK`.
        lengths: Of the messages, as measured.
        demand: The load.
        candidates: By rank the devices that were measured, then cards; none where nothing was
            measured.
        payoffs: Of each card.
        left_out: Devices that were not measured or don't count, with the reason.
        about: A caveat on the messages, or "".
    """

    run: Run
    results: Results
    planned: PlannedExperiment
    work: Cell
    lengths: Lengths
    demand: Demand
    candidates: tuple[Candidate, ...]
    payoffs: tuple[Payoff, ...]
    left_out: Mapping[str, str]
    about: str = ""

    @property
    def best(self) -> Candidate:
        """The best of the devices that were measured."""
        return self.candidates[0]


def advise(
    run: Run,
    results: Mapping[str, Results],
    demand: Demand,
    *,
    cards: Sequence[Card] = (),
    about: str = "",
    latency: Latency = batch_ns_p99,
) -> Advice:
    """What a run on messages of one's own allows to say of a load.

    Args:
        run: A run folder.
        results: What was found of each of its experiments.
        demand: The load.
        cards: Descriptions of devices that are not here.
        about: A caveat on the messages.
        latency: Simulates how long batches wait.

    Raises:
        ValueError: If the run measured no messages of one's own, or not in such batches.
    """
    if (there := find_messages(run.plan)) is None:
        raise ValueError(
            f"{run.path} measured no messages of one's own; keep such a run with "
            "`sealift advise --size N --out FOLDER`"
        )
    (planned, work), found = there, results[BY_SIZE]
    one_length = Lengths.from_counts({int(work["size_bytes"]): 1})
    lengths = lengths_in(work, planned.legend) or one_length
    left_out = dict(_left_out(found))
    sound = [row for row in found.rows if str(row.subject) not in left_out]
    own = [row for row in sound if fits(row.cell, work)]
    rows = sorted(sound, key=lambda row: row not in own)
    devices = [*_devices(rows, work, lengths)]
    lacking = _without_batch(devices, demand.batch)
    devices = [each for each in devices if each.name not in lacking]
    counts = list(devices[0].by_messages) if devices else []
    devices += [projected(card, counts, lengths) for card in cards if counts]
    served = [serve(each, demand, latency) for each in devices]
    ranked = rank(served, lambda *which: _judged(run, own, *which))
    return Advice(
        run=run,
        results=Results(rows, found.reports),
        planned=declared(planned),
        work=work,
        lengths=lengths,
        demand=demand,
        candidates=ranked,
        payoffs=tuple(payoff(c, ranked[0], demand) for c in ranked if c.is_projected),
        left_out={**left_out, **lacking},
        about=about,
    )


def _left_out(results: Results) -> Iterator[tuple[str, str]]:
    """Devices that are not for real work, were absent, or computed something wrong."""
    there = {row.subject for row in results.rows}
    for each in results.reports:
        device, role = each.cell["device"], each.facts.get("role", REAL)
        if each.wrong:
            yield str(device), f"computed something wrong: {each.wrong}"
        elif role != REAL:
            yield str(device), f"is no device to run on ({role})"
        elif each.skipped and device not in there:
            yield str(device), each.skipped


def _devices(rows: Sequence[Row], work: Cell, lengths: Lengths) -> Iterator[Device]:
    """The devices that were measured on the messages."""
    for name in dict.fromkeys(row.subject for row in rows):
        of_one = [row for row in rows if row.subject == name]
        own = [row for row in of_one if fits(row.cell, work)]
        if own:
            yield measured(str(name), own, of_one, int(work["threads"]), lengths)


def _without_batch(devices: Sequence[Device], wanted: int | None) -> dict[str, str]:
    """The devices that were not measured in batches of so many, with the reason.

    Raises:
        ValueError: If none was; with the batches that there are.
    """
    known = {messages for device in devices for messages in device.by_messages}
    if wanted is None or not known:
        return {}
    if wanted not in known:
        there = ", ".join(f"{count:,}" for count in sorted(known))
        raise ValueError(f"a batch of {wanted:,} was not measured; there are {there}")
    without = (device.name for device in devices if wanted not in device.by_messages)
    return dict.fromkeys(without, f"was not measured in batches of {wanted:,}")


def _judged(
    run: Run, own: Sequence[Row], messages: int, against: str, device: str
) -> Comparison | None:
    """One device against another in batches of so many; None where one was not measured so."""
    rows = {str(row.subject): row for row in own if row.cell["batch"] == messages}
    if device not in rows or against not in rows:
        return None
    return compare_rows(run, rows[device], rows[against])


REAL = "real"
