"""A run with one's own messages, seen as an answer to a load: who does it, and would a card pay."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

from sealift.lab.load.device import Device, projected
from sealift.lab.load.own import Seen
from sealift.lab.load.payoff import Payoff, payoff
from sealift.lab.load.ranking import Ranked, rank
from sealift.lab.load.serving import Demand, Rehearse, Served, serve
from sealift.lab.pairs import Pair, Within, pairs
from sealift.lab.result import Found, Row
from sealift.lab.store import Run
from sealift.lab.unsettled import Noise, noise

if TYPE_CHECKING:
    from sealift import Card


@dataclass(frozen=True)
class Advice:
    """What a load of one's own takes on each device.

    Attributes:
        run: Where the measured figures come from.
        found: What it found.
        seen: What it measured of these messages.
        demand: What is asked for.
        core_price: What a core costs; None where nobody said.
        ranked: The devices: those that were measured, then cards; none where nothing was measured.
        payoffs: Of each card.
        pairs: By messages a batch: from which size on one of two devices is the faster one.
        noise: Of all rows.
        about: What else there is to say of the messages, or "".
    """

    run: Run
    found: Mapping[str, Found]
    seen: Seen
    demand: Demand
    core_price: float | None
    ranked: tuple[Ranked, ...]
    payoffs: tuple[Payoff, ...]
    pairs: Mapping[int, tuple[Pair, ...]]
    noise: Noise | None
    about: str = ""

    @classmethod
    def of(
        cls,
        run: Run,
        found: Mapping[str, Found],
        demand: Demand,
        *,
        rehearse: Rehearse,
        cards: "Sequence[Card]" = (),
        core_price: float | None = None,
        about: str = "",
    ) -> "Advice":
        """What such a run allows to say.

        Args:
            run: A run folder.
            found: From `summarise(run)`.
            demand: What is asked for.
            rehearse: Works batches in virtual time.
            cards: Descriptions of what isn't here.
            core_price: What a core costs, in the currency of the cards.
            about: What else there is to say of the messages.

        Raises:
            ValueError: If the run measured no messages of one's own, or not in such batches.
        """
        seen = Seen.of(run, found).in_batches(demand.batch)
        size = seen.lengths.mean_bytes
        lengths = seen.lengths if len(seen.lengths.counts) > 1 else None

        def served(device: Device) -> Served:
            return serve(replace(device, lengths=lengths), demand, rehearse)

        real = [served(device) for device in seen.devices]
        counts = [each.messages for each in seen.devices[0].batches] if real else []
        absent = [served(projected(card, counts, size)) for card in cards if real]
        ranked = rank([*real, *absent], seen.judge)
        return cls(
            run=run,
            found=found,
            seen=seen,
            demand=demand,
            core_price=core_price,
            ranked=ranked,
            payoffs=tuple(
                payoff(
                    card,
                    ranked[0].served,
                    rate_per_s=demand.rate_per_s,
                    core_price=core_price,
                )
                for card in absent
            ),
            pairs=_pairs(ranked, seen.rows),
            noise=noise(seen.rows),
            about=about,
        )

    @property
    def best(self) -> Ranked:
        """The best of the devices that were measured."""
        return self.ranked[0]


def _pairs(ranked: Sequence[Ranked], rows: Sequence[Row]) -> dict[int, tuple[Pair, ...]]:
    """One message alone, and in the batches of the best device."""
    if len(ranked) < 2:
        return {}
    counts = sorted({1, ranked[0].served.used.batch.messages})
    devices = {each.name: each.served.device for each in ranked}
    within = Within(
        least_bytes=round(min(row.payload_bytes for row in rows)),
        most_bytes=round(max(row.payload_bytes for row in rows)),
        noise=median(row.noise_floor for row in rows),
    )
    return {
        count: pairs(
            {name: device.priced(count) for name, device in devices.items()}, count, within
        )
        for count in counts
    }
