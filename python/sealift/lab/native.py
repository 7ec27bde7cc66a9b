"""The native sampler: opens devices, builds each arm's messages, has them checked, and times them.

The only module of the lab that imports the engine.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sealift._sealift import Arms, WrongResultError, drivers, effective_clock_ghz
from sealift.errors import LimitError
from sealift.lab.bench import Sample
from sealift.lab.memory import check_memory
from sealift.lab.plan import Arm, Cell

__all__ = [
    "NativeSampler",
    "Prepared",
    "Refusal",
    "WrongResultError",
    "effective_clock_ghz",
    "prepare",
]


@dataclass(frozen=True)
class Refusal:
    """A device that does not do a piece of work.

    Attributes:
        device: Its name.
        workload: The workload's name.
        reason: In the device's words.
    """

    device: str
    workload: str
    reason: str

    def __str__(self) -> str:
        """One line for people."""
        return f"{self.device} does not do {self.workload!r}: {self.reason}"


class NativeSampler:
    """Times arms that `prepare` built; implements `bench.Sampler`."""

    def __init__(self, arms: Arms, numbers: Sequence[int]) -> None:
        """Takes over prepared arms.

        Args:
            arms: The native side.
            numbers: For each arm of the plan, in its order, the number of the native arm.
        """
        self._arms = arms
        self._numbers = tuple(numbers)

    def sample(self, arm: int, seconds: float) -> Sample:
        """Runs an arm for about `seconds`; Ctrl-C is noticed within a tenth of a second.

        Args:
            arm: Its place in `Plan.arms`.
            seconds: At least a whole pass over the messages is run, unless that takes over 100 ms.

        Raises:
            WrongResultError: If other messages failed than were planned to.
        """
        return Sample(*self._arms.sample(self._numbers[arm], seconds))


@dataclass(frozen=True)
class Prepared:
    """Arms that are built, checked and warm.

    Attributes:
        cells: What can be measured: the cells asked for, without the devices that refused.
        sampler: Knows the arms of these cells in order.
        refusals: Which device does not do what.
        wrong: What devices computed wrong; nothing of it is measured.
        checked_against: For each device, those that its results were compared with; empty for a
            device that encrypts nothing.
    """

    cells: tuple[Cell, ...]
    sampler: NativeSampler
    refusals: tuple[Refusal, ...]
    wrong: tuple[str, ...]
    checked_against: dict[str, tuple[str, ...]]


def prepare(
    cells: Iterable[Cell],
    *,
    seed: int,
    started: Callable[[Arm], None] = lambda _: None,
) -> Prepared:
    """Builds all messages of some cells and checks every device on every one of them.

    Args:
        cells: What is to be measured.
        seed: Of keys, nonces, aads and texts.
        started: Called before each arm is built.

    Raises:
        MemoryError: If messages and sessions need more than half of what is free.
        UnknownDeviceError: If a device is none, with its settings.
        DeviceError: If a device is absent.
    """
    cells = tuple(cells)
    check_memory(cells)
    arms = Arms(
        _with_checkers(list(dict.fromkeys(name for cell in cells for name in cell.devices)))
    )
    kept: list[Cell] = []
    numbers: list[int] = []
    refusals: list[Refusal] = []
    wrong: list[str] = []
    checked: dict[str, set[str]] = {}
    for cell in cells:
        taking: list[str] = []
        for device in cell.devices:
            started(Arm(cell, device))
            try:
                number, checkers = _build(arms, cell, device, seed)
            except LimitError as error:
                refusals.append(Refusal(device, cell.workload.name, str(error)))
                continue
            except WrongResultError as error:
                wrong.append(f"{error} ({cell.workload.name}, keys {cell.workload.regime})")
                continue
            taking.append(device)
            numbers.append(number)
            checked.setdefault(device, set()).update(checkers)
        if taking:
            kept.append(Cell(cell.workload, cell.threads, cell.batch, tuple(taking)))
    against = {device: tuple(sorted(names)) for device, names in checked.items()}
    sampler = NativeSampler(arms, numbers)
    return Prepared(tuple(kept), sampler, tuple(refusals), tuple(wrong), against)


def _build(arms: Arms, cell: Cell, device: str, seed: int) -> tuple[int, list[str]]:
    columns = cell.workload.columns()
    return arms.prepare(
        device,
        operation=columns.operation,
        key_len=columns.key_len,
        nonce_len=columns.nonce_len,
        aad_len=columns.aad_len,
        text_len=columns.text_len,
        tag_len=columns.tag_len,
        keys=cell.workload.regime.keys.value,
        sessions=cell.workload.regime.sessions,
        batch=cell.batch,
        threads=cell.threads,
        seed=seed,
    )


def _with_checkers(devices: list[str]) -> list[str]:
    """The devices, and behind them those that tell what is right: two that share no code."""
    known = {driver.name for driver in drivers() if driver.state == "present"}
    return devices + [name for name in CHECKERS if name in known and name not in devices]


CHECKERS = ("library", "reference")
