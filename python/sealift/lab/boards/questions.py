"""What nobody could ask of four Hifn 7751 in 2003, as loads of a simulation of them.

Software is 3DES in the process itself: without a system call, a copy or a set-up, but it takes time
of the host. How fast, the document doesn't say: it is taken at three speeds of one processor.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sealift.lab.boards.board import HIFN, Simulated, Spot


@dataclass(frozen=True)
class Question:
    """What is asked.

    Attributes:
        changes: Of what a board is asked for.
        base: The question that its answer stands beside, in a load as long.
        says: What it is, for people.
        sizes: Of messages.
        times: How many times as long a load it takes.
    """

    changes: Mapping[str, object]
    base: str
    says: str
    sizes: tuple[int, ...] = (16, 1_024, 16_384)
    times: int = 1

    @property
    def messages(self) -> int:
        """Of each batch."""
        return int(str(self.changes.get("messages", 1)))

    @property
    def batches(self) -> int:
        """How many are asked: whole rounds of all clients."""
        return CLIENTS * ROUNDS[self.messages] * self.times

    def asked(self, size_bytes: int, seed: int) -> Simulated:
        """What a simulation gives for messages of a size."""
        changes = {**self.changes, "batches": self.batches, "seed": seed}
        spot = Spot(CLIENTS, size_bytes)
        if HALF_TIME not in changes:
            return HIFN.simulated(spot, **changes)
        del changes[HALF_TIME]
        whole = HIFN.simulated(spot, **changes)
        return HIFN.simulated(spot, **changes, first_dies_at_us=whole.played.span_ns / 2_000)


def alike_bytes(rate_mbit_s: float) -> float:
    """Bytes that the host encrypts in the time that it takes to hand them over."""
    copied_us = 2 * 8 / (1_000 * HIFN.constant("host.copy_gbit_per_s"))
    return HIFN.constants.host_us / (8 / rate_mbit_s - copied_us)


CLIENTS = 32
# Rounds of all clients with each seed, by messages of a batch; the ends of a load are little of it.
ROUNDS = {1: 20, 16: 11, 256: 5}
HALF_TIME = "dies at half time"
RATE = HIFN.rated_mbit_s / 1_000
UNEQUAL = (RATE / 2, RATE, RATE, 3.73 * RATE)
SOFTWARE_SIZES = (16, 64, 128, 256, 1_024, 16_384)
MEASURED_MBIT_S, MEASURED_MHZ = 1_643.86 * 8 / 1_000, 200
MEASURED_SOURCE = (
    "OpenSSL, times/091/686-200.lnx: SSLeay 0.9.0d on a Pentium Pro of 200 MHz, des ede3 in pieces "
    "of 8,192 B, 1643.86 kB a second (1998)"
)
CLOCK_TIMES = (1, 3, 6)
LEAST, COST = "least sessions, as in 2003", "cost model"
ROUND_ROBIN = "round-robin"
UNEQUAL_LEAST, UNEQUAL_ROUND = "unequal cards, least sessions", "unequal cards, round-robin"
UNEQUAL_COST = "unequal cards, cost model"
BATCHED = "of a thread are one request: handed over, told by an interrupt and taken back once"
UNEQUAL_CARDS = (
    f"cards of {', '.join(f'{1_000 * rate:.4g}' for rate in UNEQUAL)} Mbit/s, the last as many "
    "times as fast as a 7751 as a 5820 is rated"
)
BATCH_16, BATCH_256 = "batches of 16", "batches of 256"
SOFTWARE = {
    f"with software at {times * MEASURED_MBIT_S:.0f} Mbit/s": times * MEASURED_MBIT_S
    for times in CLOCK_TIMES
}
DIES = "a card dies at half time"
QUESTIONS: Mapping[str, Question] = {
    LEAST: Question(
        {}, LEAST, "each thread keeps to the card that had fewest sessions", SOFTWARE_SIZES
    ),
    ROUND_ROBIN: Question(
        {"policy": "round-robin"}, LEAST, "each request goes to the next card in turn"
    ),
    COST: Question(
        {"policy": "earliest-finish"},
        LEAST,
        "each request goes where it should be done first, by costs that are learnt",
        SOFTWARE_SIZES,
    ),
    BATCH_16: Question(
        {"messages": 16, "messages_per_request": 16, "policy": "earliest-finish"},
        COST,
        f"16 messages {BATCHED}",
    ),
    BATCH_256: Question(
        {"messages": 256, "messages_per_request": 256, "policy": "earliest-finish"},
        COST,
        f"256 messages {BATCHED}",
    ),
    **{
        name: Question(
            {"software_gbit_per_s": rate / 1_000, "policy": "earliest-finish"},
            COST,
            f"a fifth device, the host itself, without hand-over, at {rate:.3g} Mbit/s",
            SOFTWARE_SIZES,
        )
        for name, rate in SOFTWARE.items()
    },
    UNEQUAL_LEAST: Question(
        {"rates_gbit_per_s": UNEQUAL}, UNEQUAL_LEAST, f"{UNEQUAL_CARDS}; sessions as in 2003"
    ),
    UNEQUAL_ROUND: Question(
        {"rates_gbit_per_s": UNEQUAL, "policy": "round-robin"},
        UNEQUAL_LEAST,
        f"{UNEQUAL_CARDS}; the next in turn",
    ),
    UNEQUAL_COST: Question(
        {"rates_gbit_per_s": UNEQUAL, "policy": "earliest-finish"},
        UNEQUAL_LEAST,
        f"{UNEQUAL_CARDS}; by costs that are learnt",
    ),
    # Until it is noticed some milliseconds pass, which are to be little of the load.
    DIES: Question(
        {HALF_TIME: True, "policy": "earliest-finish"},
        COST,
        "the first of four equal cards falls silent in the middle of the time that the load takes "
        "with all of them, and still takes requests; what it has is overdue after a while, which "
        "is how it is noticed, and is worked by another card",
        times=4,
    ),
}
# What cells have, the most telling first.
MBIT_S, TIMES = "simulation, Mbit/s", "times that beside it"
HOST_BUSY, CARDS_BUSY = "host busy, %", "cards busy, %"
HOST_US, SOFTWARE_US = "host, us a message", "of that encrypting, us"
P99_US = "p99 of a batch, us"
