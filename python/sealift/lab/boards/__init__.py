"""The accelerator cards of document 002: published, by analysis and simulated, never measured."""

from sealift.lab.boards.board import BROADCOM, HIFN, Board, Constants, Simulated, Spot
from sealift.lab.boards.columns import SIZE, THREADS
from sealift.lab.boards.seeds import SEEDS, kept, seeds, spread_facts, spread_in
from sealift.lab.boards.table import FAST, SLOW, Table

__all__ = [
    "BROADCOM",
    "FAST",
    "HIFN",
    "SEEDS",
    "SIZE",
    "SLOW",
    "THREADS",
    "Board",
    "Constants",
    "Simulated",
    "Spot",
    "Table",
    "kept",
    "seeds",
    "spread_facts",
    "spread_in",
]
