"""`sealift advise` about a load of one's own: reads what is asked for, and shows the advice."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sealift.cli import asked, options
from sealift.cli.forms import Shown
from sealift.cli.said import fail, read
from sealift.exit_code import ExitCode

if TYPE_CHECKING:
    from sealift import Card
    from sealift.cli.advising import Forms, Measuring, View
    from sealift.lab.lengths import Lengths
    from sealift.lab.load import Demand
    from sealift.lab.result import Found
    from sealift.lab.store import Run

Given = Mapping[str, Any]
One = TypeVar("One")


@dataclass(frozen=True)
class Wanted:
    """What is asked of the messages.

    Attributes:
        demand: Rate, latency and batch.
        cards: Descriptions of what isn't here.
        core_price: What a core costs; None where nobody said.
        about: What there is to say of the messages, or "".
    """

    demand: "Demand"
    cards: "tuple[Card, ...]"
    core_price: float | None
    about: str = ""

    @property
    def is_anything(self) -> bool:
        """Whether there is more to answer than who is fastest."""
        asked = (self.demand.rate_per_s, self.demand.batch)
        return any(each is not None for each in asked) or bool(self.cards)

    def view(self, run: "Run", found: "Mapping[str, Found]", out: "Path | None") -> "Forms":
        """The advice of a run on messages of one's own."""
        from sealift.cli.advising import links
        from sealift.lab import load

        advice = load.Advice.of(
            run,
            found,
            self.demand,
            rehearse=load.rehearsed,
            cards=self.cards,
            core_price=self.core_price,
            about=self.about,
        )
        if not advice.ranked:
            return {}
        return {
            Shown.TABLE: lambda: load.answer(advice).text(*links(out, is_asked=self.is_anything)),
            Shown.CSV: lambda: load.csv(advice),
            Shown.JSON: lambda: load.json_text(advice),
        }


def asked_for(given: Given) -> "tuple[View, Measuring, tuple[int, ...]]":
    """What shows the load, what measures its messages, and how many threads do.

    Args:
        given: --size, --from and all that tells of messages, load and devices.
    """
    from sealift.lab.load import Own
    from sealift.lab.workload import ONE_KEY, SEAL_ONLY, Mix

    lengths, about = _lengths(given)
    wish = wanted(given, about)
    mix, bits = given["--mix"], given["--key-bits"]
    threads = _one("--threads", given["--threads"], options.thread_counts) or 1
    # They are the cores that may encrypt.
    asked.check_threads((threads,), a_core=1)
    own = Own(
        lengths=lengths,
        regime=_one("--keys", given["--keys"], options.regimes) or ONE_KEY,
        mix=SEAL_ONLY if mix is None else read("--mix", Mix.parse, mix),
        key_bits=128 if bits is None else read("--key-bits", options.key_bits, bits),
        devices=asked.present(given["--devices"]),
        threads=threads,
        batch=given["--batch"],
    )
    return wish.view, own.measurement, (threads,)


def wanted(given: Given, about: str = "") -> Wanted:
    """What is asked of the messages: --rate, --p99, --device, --core-price and --batch."""
    from sealift.lab.load import Demand

    rate, p99, price = given["--rate"], given["--p99"], given["--core-price"]
    cards = read("--device", asked.cards_of, given["--device"] or ())
    if p99 is not None and rate is None:
        fail(ExitCode.USAGE, f"--p99 {p99} depends on the rate; add --rate, as in --rate 40k")
    if price is not None and not cards:
        fail(ExitCode.USAGE, f"--core-price {price} is for cards; add one with --device")
    return Wanted(
        demand=Demand(
            rate_per_s=None if rate is None else read("--rate", options.rate, rate),
            p99_ns=None if p99 is None else read("--p99", options.microseconds, p99),
            batch=given["--batch"],
        ),
        cards=cards,
        core_price=None if price is None else read("--core-price", options.price, price),
        about=about,
    )


def view_of_any(wish: Wanted) -> "View":
    """Shows a run as what it is: on messages of one's own, or over a grid."""

    def view(run: "Run", found: "Mapping[str, Found]", out: "Path | None") -> "Forms":
        from sealift.cli.advising import of_a_grid
        from sealift.lab.load import is_own

        of_a_load = wish.is_anything or is_own(run, found)
        return (wish.view if of_a_load else of_a_grid)(run, found, out)

    return view


def _lengths(given: Given) -> "tuple[Lengths, str]":
    """The lengths of one's messages, and in what they differ from the file that they are from."""
    from sealift.lab.lengths import Lengths

    size, file = given["--size"], given["--from"]
    if file is None:
        return Lengths.of({size: 1}), ""
    if size is not None:
        fail(
            ExitCode.USAGE,
            f"--size {size} and --from {file} both say how long messages are; give one",
        )
    lengths = read("--from", lambda text: Lengths.read(Path(text)), file)
    about, kept = "", lengths.thinned()
    if abs(kept.mean_bytes / lengths.mean_bytes - 1) > MEAN_OFF:
        about = (
            f"Of {len(lengths.counts):,} lengths {len(kept.counts):,} were taken: "
            f"{kept.mean_bytes:,.0f} bytes on average, not {lengths.mean_bytes:,.0f}."
        )
    return kept, about


def _one(option: str, text: str | None, parse: "Callable[[str], tuple[One, ...]]") -> "One | None":
    """The one value of a list."""
    if text is None:
        return None
    values = read(option, parse, text)
    if len(values) > 1:
        fail(ExitCode.USAGE, f"{option} {text} is a list; for messages of your own give one value")
    return values[0]


# Differences under 2 % are none: docs/statistics.md.
MEAN_OFF = 0.02
# Answers while one waits.
SECONDS = 20.0
