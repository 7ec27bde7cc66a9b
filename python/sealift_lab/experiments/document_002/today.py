"""A card of today beside the boards of 2003, each by its description alone: 002-M1."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sealift_lab.experiments.document_002.board import SIZE
from sealift_lab.experiments.notes import read_notes
from sealift_lab.model.experiment import Axis, Chart, Experiment, Scope
from sealift_lab.model.results import Origin
from sealift_lab.model.sample import Computed, Context
from sealift_lab.model.values import Cell

if TYPE_CHECKING:
    from sealift_lab._lab import Card


def _cells(scope: Scope) -> Iterable[Cell]:
    if scope.quick:
        return
    for size in SIZES:
        for name in _cards():
            yield {SIZE.name: size, CARD.name: name}


def _arm(cell: Cell, _: Context) -> Computed:
    """Predicts one request alone, and as many in flight as the card holds."""
    size_bytes, card = int(cell[SIZE.name]), _cards()[str(cell[CARD.name])]
    prediction = card.predict(1, size_bytes)
    return Computed(
        {
            MBIT_S: 8_000 * size_bytes / prediction.interval_ns,
            ALONE_US: prediction.batch_ns / 1_000,
            HOST_US: prediction.host_ns / 1_000,
            LIMIT: prediction.bound_by,
            CIPHER: card.algorithm,
            SUMMARY: card.summary,
        }
    )


def _cards() -> "dict[str, Card]":
    from sealift_lab._lab import cards

    return {card.name: card for card in cards()}


CARD = Axis("card", "card")
SIZES = (16, 64, 256, 1_024, 4_096, 16_384)
MBIT_S, ALONE_US = "projection, Mbit/s", "a request alone, us"
HOST_US, LIMIT = "host, us a request", "limited by"
CIPHER, SUMMARY = "rate published for", "what it is"

EXPERIMENT = Experiment(
    name="cards-of-today",
    id="002-M1",
    title="A card of today beside those of 2003, by their descriptions",
    question="How long would each card that comes described with Sealift take for one request, and "
    "how much would it do with as many in flight as it holds?",
    axes=(SIZE, CARD),
    compare=CARD.name,
    cells=_cells,
    arm=_arm,
    operation="request",
    charts=(
        Chart(
            x=SIZE.name,
            series=CARD.name,
            y=MBIT_S,
            title="Throughput of each card, projected from its description",
            log_x=True,
            log_y=True,
        ),
    ),
    columns={
        MBIT_S: "Mbit/s",
        ALONE_US: "alone us",
        HOST_US: "host us",
        LIMIT: "limited by",
        CIPHER: "rate of",
    },
    origin=Origin.PROJECTED,
    weight=0.1,
    estimated_s=0.2,
    notes=read_notes(__package__, "today"),
)
