"""What figures of the boards stand on, as a page says it."""

from sealift.lab.boards.seeds import SEEDS

SIMULATED = (
    "Cards that share a host are played event by event in virtual time, by the engine's own "
    "scheduler: what a request takes the host, copies in and out, the bus, its card, writes to "
    "memory, and interrupts on one line. No such card was there to compare with.",
    "The model's constants are the document's own where it prints them. What a request takes the "
    "host and a card, and on the fast board the rate of a card, were fitted to the very tables; "
    "each number stands in a table with its source.",
    "Messages are 3DES here, as in the document. As devices of an engine the same boards take "
    "AES-GCM, with true bytes and the same times, as `cards:quad-hifn-7751` and the like.",
    "Times of the host are drawn, those of copies and cards are not: figures are means of plays "
    f"with {SEEDS} seeds, the run's and those behind it, and brackets hold the least and the most "
    "of them.",
)
ANALYSED = (
    *SIMULATED,
    "Analysis is exact mean-value analysis, with a class of clients for each card; nothing in it "
    "is drawn.",
)
