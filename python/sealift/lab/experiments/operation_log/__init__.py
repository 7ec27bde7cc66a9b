"""Every operation of document 003's input file, logged (document 003, figure 14).

The 37,800 records go to each real device in batches, and every byte of every result is checked:
that seals give the published ciphertext and tag, that opens give the text, and that those opens
fail which must. The first pass writes `003-F14-log-DEVICE.csv` into the run's folder, one line an
operation; all passes are counted. A result that is not as planned ends the device's arm.

Times are those of lists of Python bytes with the checks on top, as a script would have it; the
speed of the devices alone is in the other experiments.

Quick runs all of it, a full run more passes.
"""

import re
from collections.abc import Iterator, Sequence

from sealift import Engine
from sealift.errors import DeviceError, LimitError
from sealift.lab.cavp import Record, records, source
from sealift.lab.experiments.operation_log.compared import ID, published
from sealift.lab.experiments.operation_log.log import Log
from sealift.lab.published import table
from sealift.lab.spec import Arm, Axis, Context, Experiment, Plot, Scope, Skip
from sealift.lab.values import Cell


def _cells(scope: Scope) -> Iterator[Cell]:
    return ({"device": device} for device in scope.devices)


def _arm(cell: Cell, context: Context) -> Arm:
    device = str(cell["device"])
    all_records = records()
    _check_printed_vectors(all_records)
    try:
        engine = Engine([device])
        return Log(engine, all_records, context.folder / log_name(device))
    except (DeviceError, LimitError) as error:
        raise Skip(str(error)) from error


def log_name(device: str) -> str:
    """The file in a run's folder with every operation of a device."""
    return f"{ID}-log-{re.sub('[^A-Za-z0-9]+', '-', device).strip('-')}.csv"


def _check_printed_vectors(all_records: Sequence[Record]) -> None:
    """The two operations that the figure shows must be the first two here, byte for byte."""
    for row in table("003-V1-vectors"):
        record = all_records[int(row["sequence"]) - 1]
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
    why="Does every device give every result as published, and fail where it must? The totals are "
    "those of the document's log.",
    axes=(Axis("device", "device"),),
    compare="device",
    cells=_cells,
    arm=_arm,
    operation="message",
    published=published,
    plots=(
        Plot(
            x="device",
            y="operations_per_s",
            z="device",
            title="Operations of the log a second, from Python lists, checked",
        ),
    ),
    weight=0.5,
)
