"""A run for a terminal: the answer in 15 lines, the findings, every row."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import (
    Console,
    ConsoleOptions,
    Group,
    JustifyMethod,
    RenderableType,
    RenderResult,
)
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from sealift_lab.claim.answer import Answer, Bar
from sealift_lab.claim.replication import Pair
from sealift_lab.show.tables import Table, different_figures, summary_table


def answer_text(answer: Answer, width: int = 80) -> Group:
    """The answer in at most 15 lines and 80 words; the page has all.

    Remarks are left out from the last one on, and bars, until it fits.
    """
    console = Console(width=width, color_system=None)
    for bars, remarks in FEWER:
        group = Group(*_parts(answer, width, bars, remarks))
        with console.capture() as capture:
            console.print(group)
        text = capture.get()
        if len(text.split()) < WORDS_MOST and len(text.splitlines()) <= LINES_MOST:
            break
    return group


@dataclass(frozen=True)
class TableText:
    """A table without lines around it, of which nothing is ever cut.

    Where a terminal is narrow, texts are broken between words; where that is not enough, spare
    columns are left out and named below, and at last words are broken.
    """

    table: Table

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """From no room for spare columns to room for every text in one line."""
        every = range(len(self.table.columns))
        kept = [at for at in every if at not in self.table.spare]
        return Measurement(self._width(kept, _longest_word), self._width(every, _longest_line))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The columns that there is room for, and which there is none for."""
        kept, spare = [*range(len(self.table.columns))], [*self.table.spare]
        while spare and self._width(kept, _longest_word) > options.max_width:
            kept.remove(spare.pop(0))
        yield self._text(kept, options.max_width)
        if left_out := [each for at, each in enumerate(self.table.columns) if at not in kept]:
            yield Text(f"No room for {', '.join(left_out)}.", "dim")

    def _text(self, kept: Sequence[int], width: int) -> RichTable:
        text = RichTable(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
        for at, wide in zip(kept, self._widths(kept, width), strict=True):
            justify: JustifyMethod = "right" if at in self.table.numbers else "left"
            title = Text(self.table.columns[at])
            text.add_column(title, justify=justify, overflow="fold", width=wide)
        marks = self.table.marks or [""] * len(self.table.rows)
        for row, mark in zip(self.table.rows, marks, strict=True):
            text.add_row(*(Text(row[at]) for at in kept), style=STYLES.get(mark, ""))
        return text

    def _widths(self, kept: Sequence[int], width: int) -> Sequence[int]:
        """As wide as each column's texts, or less of those that have most: to a word, then to 1.

        Numbers are never broken, for a part of one reads as another.
        """
        widths = [self._most(at, _longest_line) for at in kept]
        words = [self._most(at, _longest_word) for at in kept]
        letters = [
            word if at in self.table.numbers else 1 for at, word in zip(kept, words, strict=True)
        ]
        for least in (words, letters):
            while sum(widths) + GAP * (len(kept) - 1) > width:
                wider = [at for at in range(len(kept)) if widths[at] > least[at]]
                if not wider:
                    break
                widths[max(wider, key=widths.__getitem__)] -= 1
        return widths

    def _width(self, kept: Sequence[int], of: Callable[[str], int]) -> int:
        return sum(self._most(at, of) for at in kept) + GAP * (len(kept) - 1)

    def _most(self, at: int, of: Callable[[str], int]) -> int:
        return max(map(of, (self.table.columns[at], *(row[at] for row in self.table.rows))))


def findings_text(findings: Mapping[str, str]) -> Group:
    """A line for each experiment: its name, and what was found."""
    return Group(*(Text.assemble((name, "bold"), f": {text}") for name, text in findings.items()))


def published_text(pairs: Sequence[Pair]) -> RenderableType:
    """Published figures by document, and which of them don't agree; nothing when there are none."""
    if not pairs:
        return ""
    note = JUDGED
    if others := different_figures(pairs):
        note += f" Different or contradicted: {', '.join(others)} (`sealift lab list` names them)."
    return _indented(
        Text("What the documents print, beside what was found here:"),
        TableText(summary_table(pairs)),
        Text(note, "dim"),
    )


def _longest_line(text: str) -> int:
    return max(map(cell_len, text.splitlines()), default=0)


def _longest_word(text: str) -> int:
    return max(map(cell_len, text.split()), default=0)


def _parts(answer: Answer, width: int, bars: int, remarks: int) -> Iterator[RenderableType]:
    yield Text(answer.question)
    yield Text()
    one = ": ".join(filter(None, (answer.advice, answer.lead)))
    lines = [one] if len(one) <= width - INDENT else [answer.advice, answer.lead]
    first, *rest = filter(None, [*lines, answer.basis])
    yield _indented(Text(first, "bold"), *map(Text, rest))
    if answer.bars:
        yield Text()
        yield _indented(_bars(answer.bars, width, bars))
    yield Text()
    said = filter(None, (answer.note, *(each.text for each in answer.remarks[:remarks])))
    texts = [f"{each[:1].upper()}{each[1:]}." for each in said]
    yield _indented(Text(" ".join(texts), "dim"))


def _bars(bars: Sequence[Bar], width: int, most: int) -> RichTable:
    """A bar for each arm; what doesn't fit is counted."""
    grid = RichTable.grid(padding=(0, 2))
    # Where a terminal is narrow, a name has two lines.
    grid.add_column(overflow="fold")
    for _ in range(2):
        grid.add_column(no_wrap=True)
    shown = bars if len(bars) <= most + 1 else bars[:most]
    fastest = max((bar.rate.value for bar in bars if bar.rate), default=1.0)
    longest = max(len(bar.claim.subject) for bar in shown)
    room = max(ROOM_LEAST, min(ROOM_MOST, width - INDENT - longest - TEXT_WIDTH))
    for bar in shown:
        if bar.rate is None:
            grid.add_row(Text(bar.claim.subject, "dim"), Text(ABSENT, "dim"))
            continue
        drawn = "█" * max(1, round(room * bar.rate.value / fastest))
        ink = "bold blue" if bar.is_winner else ""
        grid.add_row(Text(bar.claim.subject, ink), Text(drawn, ink or "dim"), Text(bar.text, ink))
    if len(shown) < len(bars):
        grid.add_row(Text(f"and {len(bars) - len(shown)} more", "dim"))
    return grid


def _indented(*parts: RenderableType) -> Padding:
    return Padding(Group(*parts), (0, 0, 0, INDENT))


INDENT = 2
# Bars and remarks.
FEWER = ((4, 5), (4, 4), (4, 3), (3, 3), (3, 2), (2, 2), (2, 1), (1, 1))
WORDS_MOST, LINES_MOST = 80, 15
ROOM_LEAST, ROOM_MOST, TEXT_WIDTH = 8, 28, 24
# Between two columns.
GAP = 2
JUDGED = (
    "Agreed: within a tenth; points of a curve within 1.5 times, counts within their rounding, "
    "which is faster by the verdict. Not independent: fitted to the figure, or our reading of a "
    "sentence. Not judged: speeds of other machines, and what a model was given or can't reach."
)
ABSENT = "not in this machine"
STYLES = {"inconclusive": "dim", "wrong": "bold red"}
