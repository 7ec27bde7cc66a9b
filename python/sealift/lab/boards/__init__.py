"""The accelerator cards of document 002: published, by analysis and simulated, never measured."""

from sealift.lab.boards.board import BROADCOM, HIFN, REQUESTS, Board, Constants, Simulated, Spot
from sealift.lab.boards.table import SIZE, THREADS, Table

__all__ = [
    "BROADCOM",
    "HIFN",
    "REQUESTS",
    "SIZE",
    "THREADS",
    "Board",
    "Constants",
    "Simulated",
    "Spot",
    "Table",
]
