"""One's own messages: which of them are measured, and where they are found again in a run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sealift.lab import registry
from sealift.lab.fullest import BY_SIZE, WORK, alike, own_cell
from sealift.lab.grid import (
    Work,
    batch_for,
    crypto_cells,
    legend_of,
    lengths_in,
    of_lengths,
    sized,
)
from sealift.lab.lengths import Lengths
from sealift.lab.load.device import Device, measured
from sealift.lab.load.ranking import Judge
from sealift.lab.result import Found, Row
from sealift.lab.spec import Experiment, Scope
from sealift.lab.store import Run
from sealift.lab.summary import groups, rows
from sealift.lab.values import Cell
from sealift.lab.workload import Mix, Regime


@dataclass(frozen=True)
class Own:
    """One's own messages, and who works them.

    Attributes:
        lengths: Of the messages.
        regime: Under which keys.
        mix: What is done to them.
        key_bits: Size of every key.
        devices: Who does it; the first is what the others are compared with.
        threads: How many threads work.
        batch: Messages handed over at once; None for several numbers of them.
    """

    lengths: Lengths
    regime: Regime
    mix: Mix
    key_bits: int
    devices: Sequence[str]
    threads: int = 1
    batch: int | None = None

    def measurement(self, scope: Scope) -> tuple[Experiment, tuple[tuple[Cell, ...], ...]]:
        """The experiment by size with the cells of these messages, and of some sizes around."""
        cells = tuple(self._cells())
        experiment = replace(
            registry.find(BY_SIZE), cells=lambda _: cells, legend=legend_of(self.lengths)
        )
        return experiment, experiment.groups(scope)

    def _cells(self) -> Iterator[Cell]:
        work = of_lengths(self.lengths, self.regime, self.mix, self.key_bits)
        for batch in batches(work.size_bytes, self.batch):
            yield from self._of(work, batch)
        for size in sizes_around(work.size_bytes):
            other = sized(size, self.regime, self.mix, self.key_bits)
            for batch in sorted({1, batch_for(size) if self.batch is None else self.batch}):
                yield from self._of(other, batch)

    def _of(self, work: Work, batch: int) -> Iterator[Cell]:
        devices, threads = self.devices, (self.threads,)
        return crypto_cells([work], devices=devices, threads=threads, batch=batch)


def is_own(run: Run, found: Mapping[str, Found]) -> bool:
    """Whether a run measured messages of one's own.

    Args:
        run: A run folder.
        found: From `summarise(run)`.
    """
    return own_cell(run, found) is not None


def batches(size_bytes: int, wanted: int | None) -> list[int]:
    """In which batches messages of a size are measured: up to the wanted number, or a full one."""
    most = batch_for(size_bytes) if wanted is None else wanted
    # One alone and several: without both nothing tells a batch's price from a message's.
    below = [batch for batch in BATCHES if batch < most]
    return [*below, most] if below else list(BATCHES[:2])


def sizes_around(size_bytes: int) -> list[int]:
    """Sizes that lie as far below and above as tells what a byte costs."""
    wanted = (round(size_bytes * factor) for factor in (1 / 8, 16))
    within = {min(SIZE_MOST, max(SIZE_LEAST, size)) for size in wanted}
    return sorted(within - {size_bytes})


@dataclass(frozen=True)
class Seen:
    """One's own messages in a run.

    Attributes:
        cell: Of the messages: `workload`, `size_bytes`, `keys`, `mix` and `threads`.
        lengths: Of the messages, as measured.
        devices: The real devices that were measured on them.
        rows: Those that the devices stand on, one's own messages first.
        judge: Tells devices apart.
        left_out: Devices that were not measured or don't count, with the reason.
    """

    cell: Cell
    lengths: Lengths
    devices: tuple[Device, ...]
    rows: tuple[Row, ...]
    judge: Judge
    left_out: Mapping[str, str]

    @classmethod
    def of(cls, run: Run, found: Mapping[str, Found]) -> "Seen":
        """Finds them.

        Args:
            run: A run folder.
            found: From `summarise(run)`.

        Raises:
            ValueError: If the run measured no messages of one's own.
        """
        cell = own_cell(run, found)
        if cell is None:
            raise ValueError(
                f"{run.path} measured no messages of one's own; keep such a run with "
                "`sealift advise --size N --out FOLDER`"
            )
        left_out = _left_out(found[BY_SIZE])
        sound = [row for row in found[BY_SIZE].rows if str(row.subject) not in left_out]
        own = [row for row in sound if alike(row.cell, cell, WORK)]
        around = [row for row in sound if row not in own and alike(row.cell, cell, REST)]
        size = int(cell["size_bytes"])
        return cls(
            cell=cell,
            lengths=lengths_in(cell, run.plan.experiment(BY_SIZE).legend) or Lengths.of({size: 1}),
            devices=tuple(measured(own, around, int(cell["threads"]))),
            rows=(*own, *around),
            judge=_judge(run, cell),
            left_out=left_out,
        )

    def in_batches(self, wanted: int | None) -> "Seen":
        """The same with the devices only that were measured in batches of so many.

        Raises:
            ValueError: If none was; with the batches that there are.
        """
        known = {each.messages for device in self.devices for each in device.batches}
        if wanted is None or not known:
            return self
        if wanted not in known:
            there = ", ".join(f"{count:,}" for count in sorted(known))
            raise ValueError(f"a batch of {wanted:,} was not measured; there are {there}")
        lacking = {
            device.name: f"was not measured in batches of {wanted:,}"
            for device in self.devices
            if all(each.messages != wanted for each in device.batches)
        }
        left = tuple(device for device in self.devices if device.name not in lacking)
        return replace(self, devices=left, left_out={**self.left_out, **lacking})


def _left_out(found: Found) -> dict[str, str]:
    """Devices that are not for real work, were absent, or computed something wrong."""
    reasons: dict[str, str] = {}
    there = {str(row.subject) for row in found.rows}
    for each in found.verified:
        device, role = str(each.cell["device"]), str(each.facts.get("role", REAL))
        if each.wrong:
            reasons[device] = f"computed something wrong: {each.wrong}"
        elif each.skipped and device not in there:
            reasons.setdefault(device, each.skipped)
        elif role != REAL:
            reasons.setdefault(device, f"is no device to run on ({role})")
    return reasons


def _judge(run: Run, own: Cell) -> Judge:
    by_batch = {
        int(group.cells[0]["batch"]): group
        for group in groups(run, BY_SIZE)
        if alike(group.cells[0], own, WORK)
    }

    def judge(batch: int, against: str, device: str) -> Row | None:
        group = by_batch[batch]
        places = {str(cell["device"]): place for place, cell in enumerate(group.cells)}
        judged = rows(replace(group, reference=places[against]))
        return next((row for row in judged if row.subject == device), None)

    return judge


REAL = "real"
REST = ("keys", "mix", "threads")
BATCHES = (1, 4, 16, 64, 256)
"""Messages a batch that are looked at; and a full one, 1,024 where that isn't over 16 MiB."""
SIZE_LEAST, SIZE_MOST = 16, 65_536
