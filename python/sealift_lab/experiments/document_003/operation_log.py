"""Every operation of document 003's input file, checked and logged (document 003, figure 14).

The 37,800 records go to each real device in batches, and every byte of every result is checked. The
first pass writes `003-F14-log-DEVICE.csv` into the run's folder, one line an operation; all passes
are counted. A result that is not as planned ends the device's arm. A quick run has all of it, a
full run more passes.
"""

import re
from collections.abc import Iterator, Sequence

from sealift.errors import DeviceError, LimitError
from sealift_lab._lab import Engine
from sealift_lab.experiments.device_names import NAMES
from sealift_lab.experiments.document_003.cavp import Record, records, source
from sealift_lab.experiments.document_003.log_arm import LogArm
from sealift_lab.experiments.document_003.log_totals import ID, published
from sealift_lab.model.experiment import Axis, Chart, Experiment, Scope
from sealift_lab.model.published import table
from sealift_lab.model.sample import Arm, Context, Skip
from sealift_lab.model.values import Cell


def _cells(scope: Scope) -> Iterator[Cell]:
    return ({"device": device} for device in scope.devices)


def _arm(cell: Cell, context: Context) -> Arm:
    device = str(cell["device"])
    every = records()
    _check_printed_vectors(every)
    try:
        return LogArm(Engine([device]), every, context.folder / log_name(device))
    except (DeviceError, LimitError) as error:
        raise Skip(str(error)) from error


def log_name(device: str) -> str:
    """The file in a run's folder with every operation of a device."""
    return f"{ID}-log-{re.sub('[^A-Za-z0-9]+', '-', device).strip('-')}.csv"


def _check_printed_vectors(every: Sequence[Record]) -> None:
    """The two operations that the figure shows must be the first two, byte for byte."""
    for row in table("003-V1-vectors"):
        record = every[int(row["sequence"]) - 1]
        printed = [bytes.fromhex(row[name]) for name in ("iv", "plaintext", "ciphertext")]
        cipher = record.sealed[: record.text_len]
        # One key of the figure can't be read.
        same_key = row["key"] in ("", record.key.hex().upper())
        if [record.nonce, record.text, cipher] != printed or not same_key:
            raise Skip(f"{source()} has another operation {row['sequence']} than figure 14 shows")


EXPERIMENT = Experiment(
    name="operation-log",
    id=ID,
    title="Every operation of the input file, checked and logged",
    question="Does every device give every result as published, and fail where it must?",
    axes=(Axis("device", "device"),),
    compare="device",
    cells=_cells,
    arm=_arm,
    operation="message",
    published=published,
    charts=(
        Chart("device", "device", "operations/s", "Operations a second from Python lists, checked"),
    ),
    names=NAMES,
    weight=0.5,
    notes=(
        "The records are NIST's CAVP vectors, chosen so that their file has the size that the "
        "document prints: that its totals agree is partly by construction, and counts as no "
        "independent evidence. Half of the file is encryptions, but the log prints 1.6 G (1.65 G "
        "at most) beside 1.6546 G decryptions at least: were the last digit cut off, not rounded, "
        "half would fit. Times are those of lists of Python bytes with the checks on top; the "
        "speed of the devices alone is in the other experiments."
    ),
)
